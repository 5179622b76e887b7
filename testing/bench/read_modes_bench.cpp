// SPDX-License-Identifier: BSD-3-Clause
// Times reads of one dataset by many ranks: direct, through aggregators, and as `auto` chooses.
// mpirun -np N read_modes_bench [--files F ...] [--boxes tile small] [--slow MB/s]
//
// The dataset is written by as many ranks as it has leaf files ("file per rank written at another
// number of ranks"), and opened again for each read. Slow storage is simulated: all ranks share one
// link of --slow MB/s, and each request waits --latency ms longer.
#include "bat/mpi.hpp"
#include "support/clouds.hpp"
#include "support/temp_dir.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
#include <new>
#include <thread>

namespace
{
using bat::mpi::ReadMode;
using nlohmann::json;

struct Options
{
  std::uint64_t particles = 1000000;
  int attributes = 7; ///< 8-byte attributes
  std::vector<int> files{ 2, 4, 16 };
  std::vector<std::string> boxes{ "tile", "small" };
  double edge = 0.1;  ///< side of a small box, relative to that of all
  double slow = 0;    ///< MB/s; 0: unlimited
  double latency = 1; ///< ms, with --slow
  int repeat = 5;
  std::string folder;
  bool as_json = false;
};

int rank()
{
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int ranks()
{
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

/// One link that all ranks of this machine share.
class SlowLink
{
public:
  SlowLink(double megabytes_per_second, double latency_ms)
    : ns_per_byte_(megabytes_per_second > 0 ? 1e3 / megabytes_per_second : 0)
    , latency_(static_cast<std::int64_t>(latency_ms * 1e6))
  {
    void* memory = nullptr;
    MPI_Win_allocate_shared(rank() == 0 ? sizeof(*this->free_at_) : 0, 1, MPI_INFO_NULL,
      MPI_COMM_WORLD, &memory, &this->window_);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(this->window_, 0, &size, &unit, &memory);
    this->free_at_ = static_cast<std::atomic<std::int64_t>*>(memory);
    if (rank() == 0)
    {
      ::new (memory) std::atomic<std::int64_t>(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  SlowLink(const SlowLink&) = delete;
  SlowLink& operator=(const SlowLink&) = delete;
  ~SlowLink() { MPI_Win_free(&this->window_); }

  void take(std::uint64_t bytes)
  {
    ++this->requests_;
    this->bytes_ += bytes;
    if (this->ns_per_byte_ == 0)
    {
      return;
    }
    const auto takes = static_cast<std::int64_t>(static_cast<double>(bytes) * this->ns_per_byte_);
    std::int64_t free = this->free_at_->load();
    std::int64_t done = 0;
    do
    {
      done = std::max(free, now()) + takes;
    } while (!this->free_at_->compare_exchange_weak(free, done));
    std::this_thread::sleep_for(
      std::chrono::nanoseconds(std::max<std::int64_t>(0, done + this->latency_ - now())));
  }
  /// Since the last call, over all ranks.
  std::array<std::uint64_t, 2> requests_and_bytes()
  {
    std::array<std::uint64_t, 2> sums{ this->requests_.exchange(0), this->bytes_.exchange(0) };
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sums;
  }

private:
  static std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

  double ns_per_byte_;
  std::int64_t latency_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::atomic<std::int64_t>* free_at_ = nullptr;
  std::atomic<std::uint64_t> requests_{ 0 };
  std::atomic<std::uint64_t> bytes_{ 0 };
};

double median(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Bytes on this rank: positions of 12 bytes, attributes of 8.
clouds::Cloud make_cloud(std::uint64_t count, int attributes)
{
  clouds::Random random(static_cast<std::uint64_t>(rank()) + 1);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::uniform_positions<float>(count, random));
  for (int i = 0; i != attributes; ++i)
  {
    std::vector<double> values(count);
    for (double& value : values)
    {
      value = clouds::unit(random);
    }
    cloud.add(fmt::format("a{}", i), bat::ScalarType::Float64, values);
  }
  return cloud;
}

bat::Query query_of(const Options& options, const bat::Box& bounds, const std::string& boxes)
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  bat::Query query;
  query.half_open = true;
  query.box = bat::Box{ { -inf, -inf, -inf }, { inf, inf, inf } };
  if (boxes == "tile")
  {
    // Slabs of equal numbers of particles, across the cuts of the leaf files.
    const auto cut = [&](int i)
    {
      return i == 0    ? -inf
        : i == ranks() ? inf
                       : bounds.lower[2] + (bounds.upper[2] - bounds.lower[2]) * i / ranks();
    };
    query.box->lower[2] = cut(rank());
    query.box->upper[2] = cut(rank() + 1);
    return query;
  }
  clouds::Random random(static_cast<std::uint64_t>(rank()) + 100);
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const double all = bounds.upper[axis] - bounds.lower[axis];
    query.box->lower[axis] = bounds.lower[axis] + clouds::unit(random) * (1 - options.edge) * all;
    query.box->upper[axis] = query.box->lower[axis] + options.edge * all;
  }
  return query;
}

std::uint64_t checksum(const bat::mpi::Particles& particles)
{
  std::uint64_t sum = particles.count;
  const auto add = [&](const std::vector<std::byte>& bytes)
  {
    for (std::size_t i = 0; i != bytes.size(); ++i)
    {
      sum = (sum ^ static_cast<std::uint64_t>(bytes[i])) * 1099511628211u;
    }
  };
  add(particles.positions);
  for (const auto& column : particles.columns)
  {
    add(column.values);
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

struct Figures
{
  std::vector<double> seconds;
  std::array<std::uint64_t, 2> requests_and_bytes{};
  bat::mpi::ReadReport report;
  std::uint64_t checksum = 0;
};

void measure(const Options& options, const std::string& path, const std::string& boxes,
  ReadMode mode, SlowLink& link, Figures& figures)
{
  bat::OpenOptions open;
  open.on_read = [&](std::uint64_t, std::uint64_t bytes) { link.take(bytes); };
  const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, path, open);
  const bat::Query query = query_of(options, dataset.bounds().value(), boxes);
  bat::mpi::ReadOptions read;
  read.mode = mode;
  (void)link.requests_and_bytes();
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  const bat::mpi::Particles particles =
    bat::mpi::read_particles(MPI_COMM_WORLD, dataset, query, {}, read, &figures.report);
  figures.seconds.push_back(MPI_Wtime() - start);
  figures.requests_and_bytes = link.requests_and_bytes();
  figures.checksum = checksum(particles);
}

json compare(
  const Options& options, const std::string& path, const std::string& boxes, SlowLink& link)
{
  const std::array<ReadMode, 3> modes{ ReadMode::Direct, ReadMode::Aggregated, ReadMode::Auto };
  std::array<Figures, 3> figures;
  for (int i = -1; i != options.repeat; ++i)
  {
    for (std::size_t m = 0; m != modes.size(); ++m)
    {
      measure(options, path, boxes, modes[m], link, figures[m]);
      if (i == -1)
      {
        figures[m].seconds.clear(); // the first way pays for warming up the others
      }
    }
  }
  const auto ratio = [&](std::size_t m)
  {
    std::vector<double> pairs;
    for (std::size_t i = 0; i != figures[m].seconds.size(); ++i)
    {
      pairs.push_back(figures[m].seconds[i] / figures[0].seconds[i]);
    }
    return median(pairs);
  };
  const bat::Dataset dataset = bat::Dataset::open(path);
  json row{ { "ranks", ranks() }, { "leaf_files", dataset.leaves().size() }, { "boxes", boxes },
    { "slow_mb_per_s", options.slow }, { "particles", figures[0].report.particles },
    { "direct_s", median(figures[0].seconds) }, { "aggregated_over_direct", ratio(1) },
    { "auto_over_direct", ratio(2) }, { "auto_mode", name_of(figures[2].report.mode) },
    { "reason", figures[2].report.reason },
    { "same_answer",
      figures[0].checksum == figures[1].checksum && figures[0].checksum == figures[2].checksum } };
  for (std::size_t m = 0; m != 2; ++m)
  {
    const bat::mpi::ReadReport& report = figures[m].report;
    row[name_of(modes[m])] = { { "opens", report.opens },
      { "requests", figures[m].requests_and_bytes[0] },
      { "bytes_over_dataset",
        static_cast<double>(figures[m].requests_and_bytes[1]) /
          static_cast<double>(dataset.file_bytes()) },
      { "messages", report.messages.within + report.messages.between },
      { "load_s", report.seconds.load }, { "select_s", report.seconds.select },
      { "fetch_s", report.seconds.fetch } };
  }
  return row;
}

void print(const json& row)
{
  fmt::print("{:>3} {:>3} {:>6} {:>8} {:>8.4f} {:>7.2f} {:>7.2f} {:>10} {:>5} {:>5} {:>6} {:>6} "
             "{:>6.2f} {:>6.2f} {}\n",
    row["ranks"].get<int>(), row["leaf_files"].get<int>(), row["boxes"].get<std::string>(),
    row["particles"].get<std::uint64_t>(), row["direct_s"].get<double>(),
    row["aggregated_over_direct"].get<double>(), row["auto_over_direct"].get<double>(),
    row["auto_mode"].get<std::string>(), row["direct"]["opens"].get<int>(),
    row["aggregated"]["opens"].get<int>(), row["direct"]["requests"].get<int>(),
    row["aggregated"]["requests"].get<int>(), row["direct"]["bytes_over_dataset"].get<double>(),
    row["aggregated"]["bytes_over_dataset"].get<double>(),
    row["same_answer"].get<bool>() ? "same" : "DIFFERENT");
}

// Written by `files` of the ranks, each with one leaf file.
void write(const Options& options, const std::string& path, int files)
{
  const int writers = std::min(files, ranks());
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank() < writers ? 0 : MPI_UNDEFINED, rank(), &comm);
  if (comm != MPI_COMM_NULL)
  {
    const clouds::Cloud cloud =
      make_cloud(options.particles / static_cast<std::uint64_t>(writers), options.attributes);
    bat::mpi::WriteOptions write;
    write.target_bytes = options.particles *
        (12 + 8 * static_cast<std::uint64_t>(options.attributes)) /
        static_cast<std::uint64_t>(files) +
      1;
    bat::mpi::write_dataset(comm, path, cloud.view(), write);
    MPI_Comm_free(&comm);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int run(int argc, char** argv)
{
  Options options;
  CLI::App app{ "Times reads by many ranks: direct, aggregated, auto" };
  app.add_option("--particles", options.particles, "of all ranks");
  app.add_option("--attributes", options.attributes, "of 8 bytes each, beside 12 of the position");
  app.add_option("--files", options.files, "numbers of leaf files");
  app.add_option(
    "--boxes", options.boxes, "tile: slabs that tile space; small: one small box each");
  app.add_option("--edge", options.edge, "of a small box, of that of all");
  app.add_option(
    "--slow", options.slow, "MB/s of a pretended link to storage, shared by all ranks");
  app.add_option("--latency", options.latency, "ms that a request takes longer, with --slow");
  app.add_option("--repeat", options.repeat, "reads of each kind, by turns");
  app.add_option("--folder", options.folder, "for the dataset; a temporary one without it");
  app.add_flag("--json", options.as_json, "a line of JSON per row instead of a table");
  CLI11_PARSE(app, argc, argv);
  std::optional<TempDir> own;
  std::array<char, 4096> folder{};
  if (rank() == 0)
  {
    if (options.folder.empty())
    {
      own.emplace();
      options.folder = own->path().string();
    }
    options.folder.copy(folder.data(), folder.size() - 1);
  }
  MPI_Bcast(folder.data(), static_cast<int>(folder.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  const std::string path = std::string(folder.data()) + "/read_modes.bat";
  SlowLink link(options.slow, options.latency);
  if (rank() == 0 && !options.as_json)
  {
    fmt::print("ranks, leaf files, boxes, particles, direct s, aggregated / direct, auto / direct, "
               "auto, opens and requests (direct, aggregated), bytes / dataset (both)\n");
  }
  for (const int files : options.files)
  {
    write(options, path, files);
    for (const std::string& boxes : options.boxes)
    {
      const json row = compare(options, path, boxes, link);
      if (rank() == 0)
      {
        options.as_json ? fmt::print("{}\n", row.dump()) : print(row);
        std::fflush(stdout);
      }
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int failed = 1;
  try
  {
    failed = run(argc, argv);
  }
  catch (const std::exception& error)
  {
    fmt::print(stderr, "{}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return failed;
}
