// SPDX-License-Identifier: BSD-3-Clause
// Streak surfaces against formulas and brute force: vertex positions, connectivity, area, tears;
// bitwise identical results on any number of ranks.
#include "bat/flow/streak_surface.hpp"
#include "flow/sampled_flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

namespace
{
using namespace bat;
using sampled_flow::Point;
using sampled_flow::Source;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Point minus(const Point& a, const Point& b)
{
  return { a[0] - b[0], a[1] - b[1], a[2] - b[2] };
}

Point cross(const Point& a, const Point& b)
{
  return { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0] };
}

double length(const Point& a)
{
  return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

std::shared_ptr<Source> source_of(std::vector<double> times, const sampled_flow::Field& field)
{
  BrickGrid grid;
  grid.points = { 33, 33, 33 };
  grid.spacing.fill(6.283185307179586 / 32);
  grid.type = ScalarType::Float64;
  return std::make_shared<Source>(grid, std::move(times), field);
}

std::shared_ptr<Source> wind(const Point& v)
{
  return source_of({ 0, 0.5, 2 }, [v](const Point&, double) { return v; });
}

std::shared_ptr<Source> abc()
{
  return source_of({ 0, 0.25, 0.5, 0.75, 1 }, sampled_flow::abc);
}

flow::StreakSurfaceOptions edges_of(double maximum)
{
  flow::StreakSurfaceOptions options;
  options.max_edge = maximum;
  return options;
}

struct Measure
{
  double area = 0;
  double longest = 0;
  std::size_t sharp = 0; // pairs of neighbouring triangles that turn by more than 60 degrees
  std::int64_t euler = 0;
};

// Checks that each vertex belongs to a triangle and that edges have one triangle or two,
// consistently oriented.
Measure measure(const flow::StreakSurface& surface)
{
  Measure m;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Point> sides; // edge to triangle normal
  std::vector<bool> isUsed(surface.positions.size(), false);
  for (const auto& t : surface.triangles)
  {
    const Point normal = cross(minus(surface.positions[t[1]], surface.positions[t[0]]),
      minus(surface.positions[t[2]], surface.positions[t[0]]));
    m.area += length(normal) / 2;
    for (std::size_t c = 0; c != 3; ++c)
    {
      const auto side = std::make_pair(t[c], t[(c + 1) % 3]);
      m.longest = std::max(
        m.longest, length(minus(surface.positions[side.first], surface.positions[side.second])));
      EXPECT_TRUE(sides.emplace(side, normal).second) << "two triangles on one side of an edge";
      isUsed[t[c]] = true;
    }
  }
  EXPECT_EQ(std::count(isUsed.begin(), isUsed.end(), false), 0);
  std::int64_t edges = 0;
  for (const auto& [side, normal] : sides)
  {
    const auto other = sides.find({ side.second, side.first });
    edges += other == sides.end() || side.first < side.second ? 1 : 0;
    if (other != sides.end() && side.first < side.second)
    {
      const Point& n = other->second;
      const double cosine = normal[0] * n[0] + normal[1] * n[1] + normal[2] * n[2];
      m.sharp += cosine < 0.5 * length(normal) * length(n) ? 1 : 0;
    }
  }
  m.euler = static_cast<std::int64_t>(surface.positions.size()) - edges +
    static_cast<std::int64_t>(surface.triangles.size());
  return m;
}

Point on_line(const std::vector<Point>& line, double place)
{
  const auto before = std::min(static_cast<std::size_t>(place), line.size() - 2);
  const double share = place - static_cast<double>(before);
  Point at = line[before];
  for (std::size_t a = 0; a != 3; ++a)
  {
    at[a] += share * (line[before + 1][a] - line[before][a]);
  }
  return at;
}

bool is_same(const flow::StreakSurface& a, const flow::StreakSurface& b)
{
  return a.positions == b.positions && a.normals == b.normals && a.line_places == b.line_places &&
    a.release_times == b.release_times && a.triangles == b.triangles && a.followed == b.followed;
}

// Ranks simulated by threads.
class Ranks
{
public:
  explicit Ranks(int count)
    : parts_(static_cast<std::size_t>(count))
    , errors_(static_cast<std::size_t>(count))
  {
  }

  flow::Collective of(int rank)
  {
    const int ranks = static_cast<int>(this->parts_.size());
    return { rank, ranks,
      [this, rank](std::vector<flow::Line> local, const std::optional<Error>& error)
      { return this->gather(static_cast<std::size_t>(rank), std::move(local), error); } };
  }

private:
  std::vector<flow::Line> gather(
    std::size_t rank, std::vector<flow::Line> local, const std::optional<Error>& error)
  {
    std::unique_lock lock(this->mutex_);
    this->parts_[rank] = std::move(local);
    this->errors_[rank] = error;
    const std::size_t all = this->parts_.size();
    const std::size_t round = this->arrived_ / all;
    ++this->arrived_;
    this->changed_.notify_all();
    this->changed_.wait(lock, [&]() { return this->arrived_ / all > round; });
    std::vector<flow::Line> lines;
    std::optional<Error> first;
    for (std::size_t r = 0; r != all; ++r)
    {
      lines.insert(lines.end(), this->parts_[r].begin(), this->parts_[r].end());
      first = first ? first : this->errors_[r];
    }
    // No rank begins the next round before all have this one's results.
    ++this->left_;
    this->changed_.notify_all();
    this->changed_.wait(lock, [&]() { return this->left_ / all > round; });
    if (first)
    {
      throw Error(*first);
    }
    return lines;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<flow::Line>> parts_;
  std::vector<std::optional<Error>> errors_;
  std::size_t arrived_ = 0;
  std::size_t left_ = 0;
};
}

TEST(StreakSurface, a_steady_wind_makes_a_flat_sheet)
{
  const flow::Cache cache(wind({ 1, 0, 0 }));
  const std::vector<Point> line{ { 1, 1, 2 }, { 1, 2, 2 }, { 1, 3.5, 2 } };
  for (const bool backward : { false, true })
  {
    auto options = edges_of(0.2);
    options.trace.backward = backward;
    options.start = backward ? 1.9 : 0.25;
    const double time = backward ? 1.0 : 1.75;
    std::vector<double> shares;
    options.trace.progress = [&](double share)
    {
      shares.push_back(share);
      return true;
    };
    const auto surface = flow::streak_surface(cache, line, time, options);
    const double extent = backward ? 0.9 : 1.5;
    const Measure m = measure(surface);
    EXPECT_NEAR(m.area, 2.5 * extent, 1e-6);
    EXPECT_LE(m.longest, 0.4);
    EXPECT_EQ(m.euler, 1);
    const double minimum = 2.5 * extent / (0.2 * 0.2);
    EXPECT_GT(static_cast<double>(surface.triangles.size()), 2 * minimum * 0.9);
    EXPECT_LT(static_cast<double>(surface.triangles.size()), 2 * minimum * 8);
    for (std::size_t i = 0; i != surface.positions.size(); ++i)
    {
      Point expected = on_line(line, surface.line_places[i]);
      expected[0] += time - surface.release_times[i];
      EXPECT_LT(length(minus(surface.positions[i], expected)), 1e-6);
      EXPECT_NEAR(std::abs(surface.normals[i][2]), 1, 1e-9);
      EXPECT_EQ(surface.normals[i][2], surface.normals[0][2]);
    }
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_EQ(shares.back(), 1);
    options.tear = 1; // diagonals are not tears
    EXPECT_EQ(flow::streak_surface(cache, line, time, options).triangles, surface.triangles);
  }
  // Nothing has been released yet except the line itself.
  auto options = edges_of(0.2);
  options.start = 1;
  EXPECT_TRUE(flow::streak_surface(cache, line, 1, options).triangles.empty());
}

TEST(StreakSurface, particles_that_rest_move_on_when_the_wind_does)
{
  BrickGrid grid;
  grid.points = { 9, 9, 9 };
  const auto source = std::make_shared<Source>(grid, std::vector<double>{ 0, 1, 2, 3 },
    [](const Point&, double t) {
      return Point{ t == 1 || t == 2 ? 0.0 : 1.0, 0, 0 };
    });
  const std::vector<Point> line{ { 1, 1, 2 }, { 1, 3, 2 } };
  // Particles released in the pause are at one place, and ahead of them are the earlier ones.
  const auto surface = flow::streak_surface(flow::Cache(source), line, 3, edges_of(0.2));
  EXPECT_NEAR(measure(surface).area, 2 * 1, 1e-5);
  for (std::size_t i = 0; i != surface.positions.size(); ++i)
  {
    const double t = surface.release_times[i];
    const double before = t < 1 ? (1 - t) * (1 - t) / 2 : 0;
    const double after = t < 2 ? 0.5 : 0.5 - (t - 2) * (t - 2) / 2;
    EXPECT_NEAR(surface.positions[i][0], 1 + before + after, 1e-5) << t;
  }
}

TEST(StreakSurface, vertices_are_particles_and_the_area_is_that_of_brute_force)
{
  const auto source = abc();
  const flow::Cache cache(source);
  const double cell = source->grid().spacing[0];
  const std::vector<Point> line{ { 3, 2, 3 }, { 3, 3, 3.5 } };
  auto options = edges_of(0.12);
  options.trace.max_error = 1e-8;
  options.start = 0.1;
  const double time = 0.8;
  const auto surface = flow::streak_surface(cache, line, time, options);
  const Measure m = measure(surface);
  EXPECT_EQ(m.euler, 1);
  EXPECT_LE(m.longest, 0.24);
  EXPECT_EQ(m.sharp, 0u);
  for (std::size_t i = 0; i < surface.positions.size(); i += 17)
  {
    const Point end = sampled_flow::follow(
      *source, on_line(line, surface.line_places[i]), surface.release_times[i], time, 200);
    EXPECT_LT(length(minus(surface.positions[i], end)), 2e-4 * cell) << i;
  }
  // The same sheet from particles released at equal intervals.
  constexpr std::size_t n = 200;
  std::vector<flow::Seed> seeds;
  for (std::size_t i = 0; i <= n; ++i)
  {
    for (std::size_t k = 0; k <= n; ++k)
    {
      seeds.push_back({ on_line(line, static_cast<double>(k) / n),
        0.1 + (time - 0.1) * static_cast<double>(i) / n });
    }
  }
  flow::TraceOptions walk;
  walk.end_time = time;
  walk.keep_points = false;
  const auto ends = flow::trace(cache, seeds, walk);
  double area = 0;
  for (std::size_t i = 0; i != n; ++i)
  {
    for (std::size_t k = 0; k != n; ++k)
    {
      const auto at = [&](std::size_t di, std::size_t dk)
      { return ends.lines[(i + di) * (n + 1) + k + dk].end; };
      area += length(cross(minus(at(1, 0), at(0, 0)), minus(at(0, 1), at(0, 0)))) / 2;
      area += length(cross(minus(at(1, 0), at(1, 1)), minus(at(0, 1), at(1, 1)))) / 2;
    }
  }
  EXPECT_NEAR(m.area, area, 0.01 * area);
  EXPECT_GT(area, 0.7);
  // Finer edges give a closer result.
  EXPECT_NEAR(measure(flow::streak_surface(cache, line, time, edges_of(0.03))).area,
    measure(flow::streak_surface(cache, line, time, edges_of(0.015))).area, 0.002 * area);
}

TEST(StreakSurface, is_torn_at_what_stands_in_its_way_and_at_the_domain)
{
  // Cells with NaN from y = 2 to 3 and from x = 3 on cast a shadow.
  const auto source = source_of({ 0, 1, 2, 4 },
    [](const Point& p, double)
    {
      const bool isIn = p[0] > 2.99 && p[0] < 3.6 && p[1] > 2 && p[1] < 3;
      return Point{ isIn ? kNaN : 1.0, 0, 0 };
    });
  const flow::Cache cache(source);
  const std::vector<Point> line{ { 1, 1, 2 }, { 1, 5, 2 } };
  const auto surface = flow::streak_surface(cache, line, 4, edges_of(0.1));
  const Measure m = measure(surface);
  EXPECT_LE(m.longest, 0.2);
  double front = 0;
  double low = 10;
  double high = 0;
  for (std::size_t i = 0; i != surface.positions.size(); ++i)
  {
    const Point& p = surface.positions[i];
    if (p[1] > 2.2 && p[1] < 2.8)
    {
      front = std::max(front, p[0]);
    }
    if (p[0] > 4)
    {
      low = p[1] < 2.5 ? std::max(low == 10 ? 0 : low, p[1]) : low;
      high = p[1] > 2.5 ? (high == 0 ? p[1] : std::min(high, p[1])) : high;
    }
  }
  // Cells that touch NaN end particles: one cell of 0.196 in front and at the sides. Borders are as
  // fine as edges.
  EXPECT_GT(front, 2.75 - 0.1);
  EXPECT_LT(front, 3.0);
  EXPECT_GT(low, 1.8 - 0.1);
  EXPECT_LT(low, 2.0);
  EXPECT_GT(high, 3.0);
  EXPECT_LT(high, 3.2 + 0.1);
  EXPECT_NEAR(m.area, 4 * 4 - (5 - front) * (high - low), 0.25);

  // Leaves the domain at x = 2 pi; a part of the line is outside.
  const flow::Cache windy(wind({ 3, 0, 0 }));
  const auto out = flow::streak_surface(windy, { { 1, 1, 2 }, { 1, 8, 2 } }, 2, edges_of(0.1));
  double maximum = 0;
  double widest = 0;
  for (const Point& p : out.positions)
  {
    maximum = std::max(maximum, p[0]);
    widest = std::max(widest, p[1]);
  }
  EXPECT_LE(maximum, 6.2832);
  EXPECT_GT(maximum, 6.1832);
  EXPECT_LE(widest, 6.2832);
  EXPECT_GT(widest, 6.27);
  EXPECT_NEAR(measure(out).area, 5.283 * 5.283, 1);

  // Particles separate at the plane x = 3, faster than ten halvings follow: the sheet is torn
  // there.
  const auto part = source_of({ 0, 10 },
    [](const Point& p, double) {
      return Point{ std::clamp(20 * (p[0] - 3.0), -2.0, 2.0), 0.2, 0 };
    });
  const flow::Cache parts(part);
  auto options = edges_of(0.05);
  options.start = 8;
  const auto torn = flow::streak_surface(parts, { { 2.5, 1, 2 }, { 3.49, 1, 2 } }, 9.2, options);
  EXPECT_LE(measure(torn).longest, 4 * 0.05);
  options.tear = 1000;
  const auto whole = flow::streak_surface(parts, { { 2.5, 1, 2 }, { 3.49, 1, 2 } }, 9.2, options);
  EXPECT_GT(measure(whole).longest, 4 * 0.05);
  EXPECT_EQ(measure(whole).euler, 1);
}

TEST(StreakSurface, sheets_of_lines_that_turn_back_are_whole)
{
  // Both sides of a fold are close together; triangles must not connect them.
  const flow::Cache cache(abc());
  std::mt19937 random(1);
  const auto step = [&]() { return static_cast<double>(random() % 1000) * 6e-4 - 0.3; };
  for (int i = 0; i != 20; ++i)
  {
    std::vector<Point> line{ { 3, 3, 3 } };
    while (line.size() != 20)
    {
      const Point& p = line.back();
      line.push_back({ p[0] + step(), p[1] + step(), p[2] + step() });
    }
    auto options = edges_of(0.25);
    options.start = 0.2;
    const auto sheet = flow::streak_surface(cache, line, 0.5, options);
    const Measure m = measure(sheet);
    EXPECT_EQ(m.euler, 1) << i;
    EXPECT_LE(m.longest, 2 * 0.25) << i;
    options.tear = 1000;
    EXPECT_EQ(
      flow::streak_surface(cache, line, 0.5, options).triangles.size(), sheet.triangles.size());
  }
}

TEST(StreakSurface, what_goes_on_between_ends_of_a_line_that_do_not_is_found)
{
  // Both ends outside; then ends that meet cells without flow next to an open gate.
  const auto out = flow::streak_surface(
    flow::Cache(wind({ 1, 0, 0 })), { { 1, -1, 2 }, { 1, 8, 2 } }, 2, edges_of(0.1));
  EXPECT_NEAR(measure(out).area, 2 * 6.2832, 2 * 0.1);
  // A line that is entirely outside the domain is ignored.
  const auto none = flow::streak_surface(
    flow::Cache(wind({ 1, 0, 0 })), { { 1, 7, 2 }, { 1, 99, 2 } }, 2, edges_of(0.1));
  EXPECT_TRUE(none.triangles.empty());
  EXPECT_EQ(none.followed, 2u * 3);
  const auto gate = source_of({ 0, 0.5, 2 },
    [](const Point& p, double)
    {
      const bool isIn = p[0] > 2 && (p[1] < 1.6 || p[1] > 4.4);
      return Point{ isIn ? kNaN : 1.0, 0, 0 };
    });
  const auto through =
    flow::streak_surface(flow::Cache(gate), { { 1, 1, 2 }, { 1, 5, 2 } }, 2, edges_of(0.1));
  const Measure m = measure(through);
  double low = 10;
  double high = 0;
  for (const Point& p : through.positions)
  {
    low = p[0] > 2.5 ? std::min(low, p[1]) : low;
    high = p[0] > 2.5 ? std::max(high, p[1]) : high;
  }
  // Cells of 0.196 that touch NaN are closed, too.
  EXPECT_GT(high - low, 2.8 - 2 * (0.2 + 0.1));
  EXPECT_LT(high - low, 2.8);
  EXPECT_GT(m.area, 4 * 0.7 + (high - low) * 1.2);
  EXPECT_LT(m.area, 4 * 1 + (high - low));
}

TEST(StreakSurface, the_same_bits_for_any_threads_cache_ranks_and_prefetching)
{
  const auto source = abc();
  const std::vector<Point> line{ { 3, 2, 3 }, { 3, 2.5, 3 }, { 2.5, 3, 3.5 } };
  auto options = edges_of(0.1);
  options.trace.threads = 1;
  options.trace.prefetch = flow::Prefetch::None;
  const auto expected = flow::streak_surface(flow::Cache(source), line, 0.9, options);
  EXPECT_EQ(measure(expected).euler, 1);
  EXPECT_GT(expected.triangles.size(), 300u);
  // Each brick is read once, and counted once.
  EXPECT_EQ(expected.statistics.read, expected.statistics.touched);
  EXPECT_EQ(expected.statistics.bytes_read, 100 * expected.statistics.read);
  EXPECT_LT(expected.statistics.touched, expected.statistics.bricks);

  flow::CacheOptions small;
  small.bytes = 1;
  options.trace.threads = 3;
  options.trace.prefetch = flow::Prefetch::Velocity;
  EXPECT_TRUE(
    is_same(flow::streak_surface(flow::Cache(source, small), line, 0.9, options), expected));

  for (const int count : { 2, 3 })
  {
    Ranks ranks(count);
    std::vector<flow::StreakSurface> found(static_cast<std::size_t>(count));
    std::vector<std::thread> threads;
    for (int rank = 0; rank != count; ++rank)
    {
      threads.emplace_back(
        [&, rank]()
        {
          auto own = options;
          own.collective = ranks.of(rank);
          found[static_cast<std::size_t>(rank)] =
            flow::streak_surface(flow::Cache(source), line, 0.9, own);
        });
    }
    for (std::thread& thread : threads)
    {
      thread.join();
    }
    for (const flow::StreakSurface& surface : found)
    {
      EXPECT_TRUE(is_same(surface, expected)) << count;
      EXPECT_LT(surface.statistics.cells, expected.statistics.cells);
      EXPECT_GT(surface.statistics.cells, 0u);
    }
  }
}

TEST(StreakSurface, errors_are_all_ranks_and_what_cannot_be_is_refused)
{
  const auto source = abc();
  const std::vector<Point> line{ { 3, 2, 3 }, { 3, 3, 3 } };
  // If one rank cancels, all do.
  Ranks ranks(2);
  std::vector<ErrorCode> codes(2, ErrorCode::NotFound);
  std::vector<std::thread> threads;
  for (int rank = 0; rank != 2; ++rank)
  {
    threads.emplace_back(
      [&, rank]()
      {
        auto own = edges_of(0.1);
        own.collective = ranks.of(rank);
        own.trace.progress = [rank](double) { return rank == 0; };
        const auto error =
          attempt([&]() { (void)flow::streak_surface(flow::Cache(source), line, 0.9, own); });
        codes[static_cast<std::size_t>(rank)] = error ? error->code() : ErrorCode::NotFound;
      });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(codes, std::vector<ErrorCode>(2, ErrorCode::Cancelled));

  const flow::Cache cache(source);
  const auto refuses = [&](const std::vector<Point>& points, double time,
                         const flow::StreakSurfaceOptions& options, const std::string& word)
  {
    const auto error = attempt([&]() { (void)flow::streak_surface(cache, points, time, options); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(error->what()).find(word), std::string::npos) << error->what();
  };
  refuses({ { 3, 2, 3 } }, 0.9, edges_of(0.1), "found 1");
  refuses({ { 3, 2, 3 }, { 3, kNaN, 3 } }, 0.9, edges_of(0.1), "point 1 of the line is at 3 nan 3");
  refuses(line, 0.9, edges_of(0), "above 0");
  refuses(line, 0.9, edges_of(kNaN), "above 0");
  refuses(line, 1.5, edges_of(0.1), "from 0 to 1");
  auto options = edges_of(0.1);
  options.start = 0.95;
  refuses(line, 0.9, options, "after");
  options = edges_of(0.1);
  options.tear = 0.5;
  refuses(line, 0.9, options, "tears");
  options = edges_of(0.1);
  options.max_vertices = 100;
  refuses(line, 0.9, options, "more than 100 vertices");
  options.stops_at_max = true;
  options.tear = 20;
  const auto coarse = flow::streak_surface(cache, line, 0.9, options);
  EXPECT_FALSE(coarse.is_refined);
  EXPECT_LE(coarse.followed, 100u);
  EXPECT_GT(coarse.triangles.size(), 10u);
  options.max_vertices = 5;
  refuses(line, 0.9, options, "more than 5 vertices"); // before any refining
  options = edges_of(0.1);
  options.collective.ranks = 2;
  refuses(line, 0.9, options, "rank 0 of 2");
  options = edges_of(0.1);
  options.trace.max_error = 0;
  refuses(line, 0.9, options, "error");
}
