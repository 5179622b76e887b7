// SPDX-License-Identifier: BSD-3-Clause
#include "particles/parallel/read_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bat::mpi
{
namespace
{
// Measured by read_modes_bench (MPI.md, Reading): the bytes that a direct read takes beyond three
// times its answer, and the bytes per request.
constexpr double kExtraBytes = 2 << 20;
constexpr double kMaxAmplification = 3;
constexpr double kBytesPerRequest = 8 << 10;
// The rate at which a rank reads from memory for itself, and the rate at which a reader reads and
// sends to others.
constexpr double kDirectBytesPerSecond = 1.5e9;
constexpr double kServedBytesPerSecond = 0.8e9;
// Requests answered faster than this come from the machine's own memory, where each rank is fastest
// on its own.
constexpr double kCachedRequest = 20e-6;
constexpr double kCachedBytesPerSecond = 1e9;
// The model may be wrong by a factor, so direct reads are abandoned only for a clear gain.
constexpr double kMinDirectGain = 2;
// A file is read whole if its requests would take as long as reading this much of it.
constexpr double kWholeBytesPerRequest = 16 << 20;
constexpr double kMaxWholeFileAmplification = 30;
// A longer list of values is looked up locally instead of being sent to every reader.
constexpr std::uint64_t kQueryBytes = 1 << 20;

double mib(double bytes)
{
  return bytes / (1 << 20);
}
}

double direct_bytes(double share, double columns, double file_bytes)
{
  return share <= 0
    ? 0
    : std::min(file_bytes, columns * (kExtraBytes + kMaxAmplification * share * file_bytes));
}

bool reads_whole(std::uint64_t requests, double shares, double columns, double file_bytes)
{
  return columns *
    (static_cast<double>(requests) * kWholeBytesPerRequest +
      kMaxWholeFileAmplification * shares * file_bytes) >=
    file_bytes;
}

std::string reason_for_direct(const ReadDemand& demand, std::uint64_t memory_bytes)
{
  if (demand.ranks == 1)
  {
    return "single rank";
  }
  if (demand.opens <= demand.leaf_files)
  {
    return "no leaf file is requested by several ranks";
  }
  if (demand.query_bytes > kQueryBytes)
  {
    return fmt::format("a query is longer than {:.1f} MiB", mib(static_cast<double>(kQueryBytes)));
  }
  if (demand.largest_leaf > memory_bytes && !demand.is_remote)
  {
    return fmt::format("a leaf file of {:.1f} MiB exceeds the {:.1f} MiB that a rank may hold",
      mib(static_cast<double>(demand.largest_leaf)), mib(static_cast<double>(memory_bytes)));
  }
  return "";
}

std::string reason_for_aggregated(const ReadDemand& demand)
{
  return demand.is_remote
    ? fmt::format("{:.1f} ranks per leaf file, and each part is requested from the server once",
        static_cast<double>(demand.opens) / static_cast<double>(demand.leaf_files))
    : "";
}

ReadChoice choose_read_mode(const ReadDemand& demand, const StorageSpeed& storage)
{
  if (storage.request_s < kCachedRequest && storage.bytes_per_s > kCachedBytesPerSecond)
  {
    return { ReadMode::Direct,
      fmt::format("leaf files are cached in memory: requests take {:.3f} ms plus {:.0f} MB/s",
        1e3 * storage.request_s, storage.bytes_per_s / 1e6) };
  }
  const auto ranks = static_cast<double>(demand.ranks);
  const double readers = std::min(ranks, static_cast<double>(demand.leaf_files));
  const double busy = std::min(ranks, static_cast<double>(demand.opens));
  const double direct =
    (static_cast<double>(demand.opens) * storage.open_s +
      demand.direct_bytes / kBytesPerRequest * storage.request_s +
      demand.direct_bytes / storage.bytes_per_s + demand.answer_bytes / kDirectBytesPerSecond) /
    busy;
  const double aggregated =
    (static_cast<double>(demand.leaf_files) * (storage.open_s + storage.request_s) +
      demand.file_bytes / storage.bytes_per_s + demand.answer_bytes / kServedBytesPerSecond) /
    readers;
  const bool gain = aggregated * kMinDirectGain < direct;
  return { gain ? ReadMode::Aggregated : ReadMode::Direct,
    fmt::format("{:.1f} ranks per leaf file, {:.2f} MiB per rank; opening a leaf file takes "
                "{:.2f} ms, a request {:.3f} ms plus {:.0f} MB/s: about {:.3f} s direct, {:.3f} "
                "s aggregated, which {} half",
      static_cast<double>(demand.opens) / static_cast<double>(demand.leaf_files),
      mib(demand.answer_bytes) / ranks, 1e3 * storage.open_s, 1e3 * storage.request_s,
      storage.bytes_per_s / 1e6, direct, aggregated, gain ? "is less than" : "is not less than") };
}

std::uint32_t assign_readers(
  std::vector<ReadTask>& tasks, const NodeLayout& layout, std::uint64_t memory_bytes)
{
  const std::uint64_t readers = std::min<std::uint64_t>(tasks.size(), layout.rank_count());
  const std::vector<std::uint32_t> ranks =
    spread_over_nodes(layout, static_cast<std::uint32_t>(readers));
  double total = 0;
  for (const ReadTask& task : tasks)
  {
    total += static_cast<double>(task.file_bytes);
  }
  std::uint32_t rounds = 0;
  std::uint64_t held = 0;
  std::uint64_t reader = 0;
  std::uint64_t files = 0; // files of this reader
  double before = 0;
  for (std::size_t i = 0; i != tasks.size(); ++i)
  {
    ReadTask& task = tasks[i];
    // Moves to the next reader when this one has its share of the bytes, or as many readers are
    // left as files.
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
    task.reader = static_cast<int>(ranks[reader]);
    rounds = std::max(rounds, task.round + 1);
    before += static_cast<double>(task.file_bytes);
    ++files;
  }
  return rounds;
}
}
