// SPDX-License-Identifier: BSD-3-Clause
// Measures the exchange of a write in all its ways, for pieces of many sizes; each rank has equally
// much for every other.
//
// Usage: mpirun ... exchange_bench [--rounds N] [--ranks-per-node N] [--bytes A,B,...]
//   --rounds          of each way, by turns (15); medians are printed
//   --ranks-per-node  as the option of a write (0: those of the machine)
//   --bytes           that each rank has for each other one (64 to 65536)
//   --receivers       ranks that receive, spread over nodes (all)
//
// Prints one line of JSON per size. Fails unless all ways bring the same.
#include "particles/parallel/exchange.hpp"

#include "bat/error.hpp"
#include "parallel/nodes.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace
{
using bat::Route;

struct Way
{
  const char* name;
  Route route;
  int leaders;
};
constexpr Way kWays[] = { { "flat", Route::Flat, 1 }, { "leaders", Route::Leaders, 1 },
  { "two leaders", Route::Leaders, 2 }, { "auto", Route::Auto, 1 } };
constexpr std::uint64_t kRowBytes = 64;

/// Rows of 64 bytes: a position, six doubles and a number.
struct Rows
{
  explicit Rows(std::uint64_t count)
    : positions(3 * count)
    , values(6 * count)
    , numbers(count)
  {
    for (std::uint64_t i = 0; i != count; ++i)
    {
      this->numbers[i] = static_cast<std::uint32_t>(i * 2654435761u);
      this->values[6 * i] = static_cast<double>(i);
    }
    this->view.count = count;
    this->view.positions =
      bat::ArrayView::packed(bat::ScalarType::Float32, 3, this->positions.data());
    this->view.attributes.push_back(
      { "values", bat::ArrayView::packed(bat::ScalarType::Float64, 6, this->values.data()) });
    this->view.attributes.push_back(
      { "number", bat::ArrayView::packed(bat::ScalarType::UInt32, 1, this->numbers.data()) });
  }
  std::vector<float> positions;
  std::vector<double> values;
  std::vector<std::uint32_t> numbers;
  bat::ParticleView view;
};

double median(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::uint64_t checksum(const bat::mpi::ExchangeResult& result)
{
  std::uint64_t sum = 0;
  for (const bat::mpi::AggregatedLeaf& leaf : result.leaves)
  {
    for (const auto& column : leaf.columns)
    {
      for (std::size_t i = 0; i != column.size(); ++i)
      {
        sum = sum * 1099511628211u + static_cast<std::uint64_t>(column[i]);
      }
    }
  }
  return sum;
}

class Bench
{
public:
  Bench(int rounds, int ranks_per_node, int receivers)
    : comm_(MPI_COMM_WORLD)
    , nodes_(this->comm_, ranks_per_node)
    , rounds_(rounds)
    , receivers_(bat::mpi::spread_over_nodes(this->nodes_.layout(),
        static_cast<std::uint32_t>(receivers > 0 ? receivers : this->comm_.size())))
  {
  }

  // Returns false if the ways delivered different bytes.
  bool run(std::uint64_t bytes)
  {
    const std::uint64_t each = std::max<std::uint64_t>(1, bytes / kRowBytes);
    const auto leaves = static_cast<std::uint32_t>(this->receivers_.size());
    const Rows rows(each * leaves);
    const bat::mpi::RankParticles particles({ { rows.view, {} } });
    bat::mpi::LeafAssignment leaf_of;
    for (std::uint64_t i = 0; i != rows.view.count; ++i)
    {
      leaf_of.each.push_back(static_cast<std::uint32_t>(i % leaves));
    }
    nlohmann::ordered_json json{ { "ranks", this->comm_.size() },
      { "nodes", this->nodes_.layout().node_count() }, { "receivers", leaves },
      { "bytes_per_pair", each * kRowBytes } };
    std::vector<std::vector<double>> seconds(std::size(kWays));
    std::vector<std::uint64_t> sums;
    std::vector<bat::mpi::NodeTraffic> traffic(std::size(kWays));
    std::string taken;
    for (int round = -1; round != this->rounds_; ++round) // the first one warms up
    {
      for (std::size_t turn = 0; turn != std::size(kWays); ++turn)
      {
        // The ways take turns to begin a round, since each finds in the caches what the previous
        // one left.
        const std::size_t w =
          (turn + static_cast<std::size_t>(std::max(0, round))) % std::size(kWays);
        const Way& way = kWays[w];
        MPI_Barrier(this->comm_.get());
        const double begin = MPI_Wtime();
        const bat::mpi::ExchangeResult result = bat::mpi::exchange(this->comm_, this->nodes_,
          particles, leaf_of, leaves, this->receivers_, { way.route, way.leaders, 0 });
        double time = MPI_Wtime() - begin;
        MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, this->comm_.get());
        if (round < 0)
        {
          sums.push_back(checksum(result));
          traffic[w] = bat::mpi::compute_sum(this->comm_, result.messages.of_nodes());
        }
        else
        {
          seconds[w].push_back(time);
          if (way.route == Route::Auto)
          {
            taken = result.route == Route::Flat ? "flat" : "leaders";
          }
        }
      }
    }
    for (std::size_t w = 0; w != std::size(kWays); ++w)
    {
      json[kWays[w].name] = { { "ms", 1e3 * median(seconds[w]) },
        { "messages_between", traffic[w].messages_between },
        { "bytes_between", traffic[w].bytes_between } };
    }
    json["auto"]["takes"] = taken;
    int same = std::all_of(sums.begin(), sums.end(), [&](std::uint64_t s) { return s == sums[0]; });
    MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, this->comm_.get());
    json["same"] = same != 0;
    if (this->comm_.rank() == 0)
    {
      std::printf("%s\n", json.dump().c_str());
      std::fflush(stdout);
    }
    return same != 0;
  }

private:
  bat::mpi::OwnComm comm_;
  bat::mpi::Nodes nodes_;
  int rounds_;
  std::vector<std::uint32_t> receivers_;
};

int run(int argc, char** argv)
{
  int rounds = 15;
  int ranks_per_node = 0;
  int receivers = 0;
  std::vector<std::uint64_t> bytes{ 64, 256, 1024, 4096, 16384, 65536 };
  CLI::App app("The exchange of a write by the ways it may take");
  app.add_option("--rounds", rounds)->check(CLI::PositiveNumber);
  app.add_option("--ranks-per-node", ranks_per_node)->check(CLI::NonNegativeNumber);
  app.add_option("--receivers", receivers)->check(CLI::NonNegativeNumber);
  app.add_option("--bytes", bytes)->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  Bench bench(rounds, ranks_per_node, receivers);
  bool same = true;
  for (const std::uint64_t size : bytes)
  {
    same = bench.run(size) && same;
  }
  return same ? 0 : 1;
}
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
