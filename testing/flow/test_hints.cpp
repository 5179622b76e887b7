// SPDX-License-Identifier: BSD-3-Clause
// Hints: results do not depend on them; what is learned is found again; files that are damaged,
// belong to others, are in the way, or are written concurrently.
#include "bat/flow/streak_surface.hpp"
#include "bat/flow/trace.hpp"
#include "flow/hints/store.hpp"
#include "flow/sampled_flow.hpp"
#include "support/file_size_limit.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <random>
#include <sys/stat.h>
#include <thread>

namespace
{
using namespace bat;
using sampled_flow::Source;
using Path = std::filesystem::path;

std::shared_ptr<Source> abc(double first_time = 0, bool cyclic = false)
{
  BrickGrid grid;
  grid.points.fill(48);
  grid.spacing.fill(6.283185307179586 / 48);
  grid.cyclic.fill(cyclic);
  std::vector<double> times;
  for (int i = 0; i != 9; ++i)
  {
    times.push_back(first_time + 0.1 * i);
  }
  return std::make_shared<Source>(grid, times, sampled_flow::abc);
}

std::vector<flow::Seed> make_seeds(std::size_t count, unsigned number, double time = 0)
{
  std::mt19937_64 random(number);
  std::vector<flow::Seed> seeds(count);
  for (flow::Seed& s : seeds)
  {
    for (double& x : s.position)
    {
      x = 2.2 + 0.9 * (static_cast<double>(random() >> 11) * 0x1p-53);
    }
    s.time = time;
  }
  return seeds;
}

flow::Cache cache_of(const std::shared_ptr<Source>& source, const Path& hints,
  std::uint64_t bytes = std::uint64_t{ 1 } << 28, int io_threads = 4)
{
  flow::CacheOptions options;
  options.bytes = bytes;
  options.io_threads = io_threads;
  options.hints_file = hints;
  return flow::Cache(source, options);
}

flow::TraceOptions with(flow::Hints hints)
{
  flow::TraceOptions options;
  options.hints = hints;
  return options;
}

flow::PathLines trace(const std::shared_ptr<Source>& source, const Path& file, flow::Hints hints,
  const std::vector<flow::Seed>& seeds)
{
  return flow::trace(cache_of(source, file), seeds, with(hints));
}

std::optional<flow::HintGraph> read(const Path& file, const Source& source)
{
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  auto graph = flow::read_hints(descriptor, flow::hints_id(source), flow::max_transitions(source));
  ::close(descriptor);
  return graph;
}

// Uses a test folder as the user's cache folder.
class Hints : public ::testing::Test
{
protected:
  Hints() { ::setenv("XDG_CACHE_HOME", (this->folder / "cache").c_str(), 1); }
  [[nodiscard]] std::vector<std::string> in_cache_folder() const
  {
    const Path own = this->folder / "cache/parabat";
    return std::filesystem::exists(own) ? names_in(own) : std::vector<std::string>{};
  }

  TempDir folder;
  Path data = [this]
  {
    std::filesystem::create_directory(this->folder / "data");
    return this->folder / "data";
  }();
  Path file = this->data / "wind.bricks.hints";
  std::shared_ptr<Source> source = abc();
  std::vector<flow::Seed> seeds = make_seeds(200, 1);
};
}

TEST_F(Hints, names_are_beside_the_series)
{
  EXPECT_EQ(flow::hints_beside("a/wind.bricks.series"), "a/wind.bricks.hints");
  EXPECT_EQ(flow::hints_beside("a/wind.bricks"), "a/wind.bricks.hints");
}

TEST_F(Hints, change_no_bit_of_an_answer)
{
  for (const bool backward : { false, true })
  {
    for (const bool rk4 : { false, true })
    {
      const auto flow = abc(0, rk4);
      const auto begin = make_seeds(200, 1, backward ? 0.8 : 0.03);
      flow::TraceOptions options;
      options.backward = backward;
      options.integrator = rk4 ? flow::Integrator::RungeKutta4 : flow::Integrator::CellByCell;
      options.prefetch = flow::Prefetch::None;
      options.hints = flow::Hints::Off;
      const std::uint64_t expected = flow::trace(cache_of(flow, {}), begin, options).checksum();
      options.prefetch = flow::Prefetch::Velocity;
      for (const auto hints : { flow::Hints::Learn, flow::Hints::Read, flow::Hints::Learn })
      {
        options.hints = hints;
        for (const std::uint64_t bytes : { 1u << 28, 400'000u })
        {
          options.threads = bytes == 400'000u ? 1 : 2;
          EXPECT_EQ(
            flow::trace(cache_of(flow, this->file, bytes), begin, options).checksum(), expected);
        }
      }
    }
  }
  // Hints that no run could have learned: any path from any brick, with any count.
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> transitions;
  for (std::uint64_t interval = 0; interval != 10; ++interval)
  {
    for (std::uint64_t brick = 0; brick != 230; ++brick) // only 216 exist
    {
      for (unsigned step = random() % 40; step < flow::hint_step::kEnd; step += 1 + random() % 40)
      {
        transitions.push_back(*flow::hint_node(false, interval, brick) << flow::kStepBits | step);
      }
    }
  }
  std::vector<std::uint16_t> counts(transitions.size());
  for (std::uint16_t& count : counts)
  {
    count = static_cast<std::uint16_t>(1 + random() % 65535);
  }
  const auto graph = flow::HintGraph::of(std::move(transitions), std::move(counts));
  ASSERT_TRUE(graph);
  write_bytes(this->file, flow::encode_hints(*graph, flow::hints_id(*this->source)));
  const auto expected = trace(this->source, {}, flow::Hints::Off, this->seeds);
  for (const std::uint64_t bytes : { 1u << 28, 400'000u })
  {
    const auto lines =
      flow::trace(cache_of(this->source, this->file, bytes), this->seeds, with(flow::Hints::Read));
    EXPECT_EQ(lines.checksum(), expected.checksum());
    EXPECT_GT(lines.statistics.hinted, 0u);
  }
}

TEST_F(Hints, are_found_again_and_nearly_all_of_use)
{
  (void)trace(this->source, this->file, flow::Hints::Off, this->seeds);
  const auto first = trace(this->source, this->file, flow::Hints::Read, this->seeds);
  EXPECT_EQ(first.statistics.hinted, 0u);
  EXPECT_TRUE(names_in(this->data).empty()); // only learning runs write
  EXPECT_TRUE(this->in_cache_folder().empty());
  const auto learning = trace(this->source, this->file, flow::Hints::Learn, this->seeds);
  EXPECT_EQ(learning.statistics.hinted, 0u);
  EXPECT_EQ(names_in(this->data), std::vector<std::string>{ this->file.filename() });
  const auto bytes = read_bytes(this->file);

  flow::TraceOptions without = with(flow::Hints::Read);
  without.prefetch = flow::Prefetch::None;
  EXPECT_EQ(
    flow::trace(cache_of(this->source, this->file), this->seeds, without).statistics.prefetched,
    0u);
  EXPECT_EQ(trace(this->source, this->file, flow::Hints::Off, this->seeds).statistics.hinted, 0u);
  // The same seeds, and others in the same region.
  for (const unsigned number : { 1u, 2u })
  {
    const flow::Statistics s =
      trace(this->source, this->file, flow::Hints::Read, make_seeds(200, number)).statistics;
    EXPECT_GT(s.hinted, s.touched / 10);
    EXPECT_GT(10 * s.hints_used, 7 * s.hinted);
    EXPECT_GE(s.prefetched, s.hinted);
  }
  EXPECT_EQ(read_bytes(this->file), bytes);
  // Hints also work in the cache alone, without a file.
  const flow::Cache cache = cache_of(this->source, {});
  (void)flow::trace(cache, this->seeds, with(flow::Hints::Learn));
  cache.clear();
  EXPECT_GT(flow::trace(cache, this->seeds, with(flow::Hints::Read)).statistics.hinted, 0u);
  EXPECT_EQ(names_in(this->data).size(), 1u);
}

// When a wind turns, it no longer blows where it has blown before.
TEST_F(Hints, with_a_slow_disk_less_is_waited_for)
{
  const double h = this->source->grid().spacing[0];
  const auto wind = std::make_shared<Source>(this->source->grid(), this->source->times(),
    [h](const sampled_flow::Point&, double t)
    {
      const auto level = static_cast<int>(std::lround(10 * t));
      const double speed = 110 * h; // 11 cells in an interval
      return sampled_flow::Point{ level % 4 == 0 ? speed : 0, level % 4 == 1 ? speed : 0,
        level % 4 == 2 ? -speed : 0 };
    });
  (void)trace(wind, this->file, flow::Hints::Learn, make_seeds(800, 2));
  wind->before_read = [](std::size_t, std::uint64_t)
  { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  const auto reads = [&](flow::Prefetch prefetch, flow::Hints hints)
  {
    flow::TraceOptions options = with(hints);
    options.prefetch = prefetch;
    options.threads = 1;
    const flow::Cache cache = cache_of(wind, this->file, std::uint64_t{ 1 } << 28, 32);
    return flow::trace(cache, this->seeds, options).statistics.read;
  };
  const auto none = reads(flow::Prefetch::None, flow::Hints::Off);
  const auto velocity = reads(flow::Prefetch::Velocity, flow::Hints::Off);
  const auto hints = reads(flow::Prefetch::Velocity, flow::Hints::Read);
  EXPECT_LT(velocity, none);
  EXPECT_LT(hints, velocity);
}

TEST_F(Hints, streak_surfaces_learn_and_read)
{
  flow::StreakSurfaceOptions options;
  options.max_edge = 0.2;
  options.trace.hints = flow::Hints::Learn;
  const std::vector<sampled_flow::Point> line{ { 2, 2, 2 }, { 2, 3, 2 } };
  const auto first = flow::streak_surface(cache_of(this->source, this->file), line, 0.8, options);
  ASSERT_TRUE(read(this->file, *this->source));
  options.trace.hints = flow::Hints::Read;
  const auto second = flow::streak_surface(cache_of(this->source, this->file), line, 0.8, options);
  EXPECT_GT(second.statistics.hinted, 0u);
  EXPECT_EQ(second.positions, first.positions);
  EXPECT_EQ(second.triangles, first.triangles);
}

TEST_F(Hints, files_that_are_damaged_are_ignored_and_replaced)
{
  const auto lines = trace(this->source, this->file, flow::Hints::Learn, this->seeds);
  const auto sound = read_bytes(this->file);
  ASSERT_TRUE(read(this->file, *this->source));
  std::vector<std::size_t> lengths{ 0, 1, 7, 8, 10, 63, 64, sound.size() - 1 };
  for (std::size_t i = 100; i < sound.size(); i += 997)
  {
    lengths.push_back(i);
  }
  for (const std::size_t length : lengths)
  {
    write_bytes(this->file, { sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(length) });
    ASSERT_FALSE(read(this->file, *this->source)) << length;
  }
  for (std::size_t at = 0; at < sound.size(); at += at < 64 ? 1 : 501)
  {
    if (at == 10 || at == 11)
    {
      continue; // minor version, except for its checksum
    }
    auto bytes = sound;
    bytes[at] ^= static_cast<std::byte>(1u << at % 8);
    write_bytes(this->file, bytes);
    ASSERT_FALSE(read(this->file, *this->source)) << at;
  }
  auto more = sound;
  more.push_back({});
  write_bytes(this->file, more);
  EXPECT_FALSE(read(this->file, *this->source));
  // Like a trace: ignores the file, and replaces it when learning.
  const auto again = trace(this->source, this->file, flow::Hints::Read, this->seeds);
  EXPECT_EQ(again.statistics.hinted, 0u);
  EXPECT_EQ(again.checksum(), lines.checksum());
  EXPECT_EQ(read_bytes(this->file), more);
  (void)trace(this->source, this->file, flow::Hints::Learn, this->seeds);
  EXPECT_TRUE(read(this->file, *this->source));
  // A decompression bomb: more than the maximum.
  const auto maximum = flow::max_transitions(*this->source);
  std::vector<std::uint64_t> transitions(maximum + 1);
  for (std::size_t i = 0; i != transitions.size(); ++i)
  {
    transitions[i] = i << flow::kStepBits;
  }
  const auto large =
    flow::HintGraph::of(std::move(transitions), std::vector<std::uint16_t>(maximum + 1, 1));
  write_bytes(this->file, flow::encode_hints(*large, flow::hints_id(*this->source)));
  EXPECT_FALSE(read(this->file, *this->source));
}

TEST_F(Hints, of_another_series_are_ignored_and_replaced)
{
  const auto other = abc(7);
  (void)trace(other, this->file, flow::Hints::Learn, make_seeds(200, 1, 7));
  ASSERT_TRUE(read(this->file, *other));
  EXPECT_EQ(trace(this->source, this->file, flow::Hints::Read, this->seeds).statistics.hinted, 0u);
  EXPECT_TRUE(read(this->file, *other));
  (void)trace(this->source, this->file, flow::Hints::Learn, this->seeds);
  EXPECT_FALSE(read(this->file, *other));
  EXPECT_TRUE(read(this->file, *this->source));
}

TEST_F(Hints, what_is_not_theirs_is_left_alone_and_the_cache_folder_taken)
{
  const auto expected = trace(this->source, {}, flow::Hints::Off, this->seeds).checksum();
  const auto check = [&](const std::string& what)
  {
    SCOPED_TRACE(what);
    std::filesystem::remove_all(this->folder / "cache");
    const auto learned = trace(this->source, this->file, flow::Hints::Learn, this->seeds);
    EXPECT_EQ(learned.checksum(), expected);
    const auto names = this->in_cache_folder();
    ASSERT_EQ(names.size(), 1u);
    EXPECT_NE(names[0].find("-wind.bricks.hints"), std::string::npos);
    EXPECT_GT(
      trace(this->source, this->file, flow::Hints::Read, this->seeds).statistics.hinted, 0u);
  };
  const std::string text = "notes of somebody";
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  const std::vector<std::byte> notes(first, first + text.size());
  write_bytes(this->file, notes);
  check("something else");
  EXPECT_EQ(read_bytes(this->file), notes);
  auto later = flow::encode_hints({}, flow::hints_id(*this->source));
  later[8] = std::byte{ 2 };
  write_bytes(this->file, later);
  check("a later version");
  EXPECT_EQ(read_bytes(this->file), later);
  std::filesystem::remove(this->file);
  std::filesystem::create_directory(this->file);
  check("a folder");
  std::filesystem::remove(this->file);
  ASSERT_EQ(::mkfifo(this->file.c_str(), 0600), 0);
  check("a pipe");
  std::filesystem::remove(this->file);
  std::filesystem::create_symlink("nowhere/at/all", this->file);
  check("a link to nothing");
  std::filesystem::remove(this->file);
  std::filesystem::create_symlink(this->data / "elsewhere", this->file);
  {
    const FileSizeLimit full(10);
    EXPECT_EQ(
      trace(this->source, this->file, flow::Hints::Learn, this->seeds).checksum(), expected);
  }
  EXPECT_EQ(names_in(this->data), std::vector<std::string>{ "wind.bricks.hints" });
  EXPECT_TRUE(std::filesystem::is_symlink(this->file));
  std::filesystem::remove(this->file);
  this->file = this->folder / "no folder/wind.bricks.hints";
  check("no folder");
  // Without a cache folder either.
  std::filesystem::remove_all(this->folder / "cache");
  write_bytes(this->folder / "cache", notes);
  EXPECT_EQ(trace(this->source, this->file, flow::Hints::Learn, this->seeds).checksum(), expected);
  EXPECT_EQ(names_in(this->folder.path()), (std::vector<std::string>{ "cache", "data" }));
}

TEST_F(Hints, of_runs_one_after_another_and_at_once_are_added)
{
  (void)trace(this->source, this->file, flow::Hints::Learn, this->seeds);
  // Where particles went; what they needed there depends on the threads' timing.
  const auto ways = [this]
  {
    std::map<std::uint64_t, unsigned> found;
    const auto graph = read(this->file, *this->source);
    for (std::size_t i = 0; graph && i != graph->size(); ++i)
    {
      if (graph->step(i) < flow::hint_step::kLeave)
      {
        found[graph->transitions()[i]] = graph->counts()[i];
      }
    }
    return found;
  };
  const auto one = ways();
  ASSERT_GT(one.size(), 100u);
  const auto times = [&one](unsigned runs)
  {
    auto all = one;
    for (auto& way : all)
    {
      way.second *= runs;
    }
    return all;
  };
  (void)trace(this->source, this->file, flow::Hints::Learn, this->seeds);
  EXPECT_EQ(ways(), times(2));
  std::vector<std::thread> threads;
  for (int n = 0; n != 4; ++n)
  {
    threads.emplace_back(
      [&]
      {
        for (int i = 0; i != 5; ++i)
        {
          (void)trace(this->source, this->file, flow::Hints::Learn, this->seeds);
        }
      });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  // A run that has waited too long for others adds nothing, but never a part.
  const auto all = ways();
  ASSERT_FALSE(all.empty());
  const unsigned runs = all.begin()->second / one.begin()->second;
  EXPECT_GT(runs, 2u);
  EXPECT_LE(runs, 22u);
  EXPECT_EQ(all, times(runs));
  EXPECT_EQ(names_in(this->data).size(), 1u); // no temporaries
  EXPECT_TRUE(this->in_cache_folder().empty());
}

TEST_F(Hints, counts_stay_within_limits)
{
  flow::HintLog log(100);
  std::mt19937_64 random(3);
  for (int i = 0; i != 100'000; ++i)
  {
    log.add(*flow::hint_node(i % 2 != 0, random() % 5, random() % 50), random() % 61, 1 + i % 7);
  }
  for (std::uint64_t step = 0; step != 5; ++step)
  {
    log.add(*flow::hint_node(false, 0, 1), static_cast<unsigned>(step), 1'000'000'000'000 << step);
  }
  const flow::HintGraph graph = log.take();
  EXPECT_LE(graph.size(), 100u);
  const auto [first, end] = graph.find(*flow::hint_node(false, 0, 1));
  ASSERT_GE(end - first, 5u);
  for (unsigned step = 0; step != 4; ++step) // shares are kept, except for rounding
  {
    EXPECT_EQ(graph.step(first + step), step);
    EXPECT_EQ(graph.counts()[first + step], graph.counts()[first + step + 1] / 2);
  }
  EXPECT_LE(graph.merged(graph, 20).size(), 20u);
  EXPECT_EQ(graph.merged(graph, 100).transitions(), graph.transitions());
  EXPECT_EQ(graph.merged({}, 100).counts(), graph.counts());
  EXPECT_FALSE(flow::hint_node(false, std::size_t{ 1 } << 21, 0));
  EXPECT_FALSE(flow::hint_node(false, 0, std::uint64_t{ 1 } << 36));
  EXPECT_FALSE(flow::HintGraph::of({ 5, 5 }, { 1, 1 }));
  EXPECT_FALSE(flow::HintGraph::of({ 5, 6 }, { 1, 0 }));
  EXPECT_FALSE(flow::HintGraph::of({ 5, 61 }, { 1, 1 }));
  EXPECT_FALSE(flow::HintGraph::of({ 5, 6 }, { 1 }));
}
