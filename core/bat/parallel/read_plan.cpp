#include "bat/parallel/read_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bat::mpi
{
namespace
{
// Figures of `read_bench --rule`, MPI.md: where the ranks' own opens and looks into the index begin
// to cost more than sending what was found.
constexpr double kRanksPerLeaf = 2.0;
constexpr double kBytesPerOpen = 256.0 * 1024;
// A longer list of values is rather looked up where it is than sent to every reader.
constexpr std::uint64_t kQueryBytes = 1 << 20;

double mib(double bytes)
{
  return bytes / (1 << 20);
}

// Which of `readers` reads task i of n: the only place that knows where readers are.
int rank_of_reader(std::uint64_t reader, std::uint64_t readers, int ranks)
{
  return static_cast<int>(reader * static_cast<std::uint64_t>(ranks) / readers);
}
}

ReadChoice choose_read_mode(const ReadDemand& demand, std::uint64_t memory_bytes)
{
  const double opens = static_cast<double>(demand.opens);
  const double ranks_per_leaf =
    opens / static_cast<double>(std::max<std::uint64_t>(1, demand.leaf_files));
  const double bytes_per_open = demand.bytes / std::max(1.0, opens);
  const std::string facts =
    fmt::format("{:.1f} ranks per leaf file and {:.3f} MiB per rank and leaf file", ranks_per_leaf,
      mib(bytes_per_open));
  if (demand.ranks == 1)
  {
    return { ReadMode::Direct, "there is one rank" };
  }
  if (demand.query_bytes > kQueryBytes)
  {
    return { ReadMode::Direct,
      fmt::format("a query of {:.1f} MiB is longer than {:.1f}",
        mib(static_cast<double>(demand.query_bytes)), mib(static_cast<double>(kQueryBytes))) };
  }
  if (demand.largest_leaf > memory_bytes)
  {
    return { ReadMode::Direct,
      fmt::format("a leaf file of {:.1f} MiB is larger than the {:.1f} MiB that a rank may hold",
        mib(static_cast<double>(demand.largest_leaf)), mib(static_cast<double>(memory_bytes))) };
  }
  if (ranks_per_leaf < kRanksPerLeaf)
  {
    return { ReadMode::Direct,
      fmt::format("{}; fewer than {:.1f} ranks per leaf file", facts, kRanksPerLeaf) };
  }
  if (bytes_per_open > kBytesPerOpen)
  {
    return { ReadMode::Direct, fmt::format("{}; more than {:.3f} MiB", facts, mib(kBytesPerOpen)) };
  }
  return { ReadMode::Aggregated,
    fmt::format("{}; {:.1f} ranks or more, and {:.3f} MiB or less", facts, kRanksPerLeaf,
      mib(kBytesPerOpen)) };
}

std::uint32_t assign_readers(std::vector<ReadTask>& tasks, int ranks, std::uint64_t memory_bytes)
{
  const std::uint64_t readers =
    std::min<std::uint64_t>(tasks.size(), static_cast<std::uint64_t>(ranks));
  double total = 0;
  for (const ReadTask& task : tasks)
  {
    total += static_cast<double>(task.file_bytes);
  }
  std::uint32_t rounds = 0;
  std::uint64_t held = 0;
  std::uint64_t reader = 0;
  std::uint64_t files = 0; // of the reader
  double before = 0;
  for (std::size_t i = 0; i != tasks.size(); ++i)
  {
    ReadTask& task = tasks[i];
    // To the next one when this one has its share of the bytes, or as many are left as files.
    const double share = total * static_cast<double>(reader + 1) / static_cast<double>(readers);
    const double middle = before + 0.5 * static_cast<double>(task.file_bytes);
    const bool must = tasks.size() - i <= readers - reader - 1;
    if (i != 0 && files != 0 && reader + 1 != readers && (must || middle > share))
    {
      ++reader;
      files = 0;
    }
    const std::uint64_t weight = task.file_bytes <= memory_bytes ? task.file_bytes : 0;
    const bool first = files == 0;
    const bool fits = !first && weight <= memory_bytes - held;
    task.round = first ? 0 : tasks[i - 1].round + (fits ? 0 : 1);
    held = first || !fits ? weight : held + weight;
    task.reader = rank_of_reader(reader, readers, ranks);
    rounds = std::max(rounds, task.round + 1);
    before += static_cast<double>(task.file_bytes);
    ++files;
  }
  return rounds;
}
}
