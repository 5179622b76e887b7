// SPDX-License-Identifier: BSD-3-Clause
// Refines streak surfaces in passes. A timeline consists of the particles released at one time.
// Timelines get more particles where neighbours are far apart, and surfaces get more timelines.
// Particles are always followed from the line, whereas Krishnan, Garth and Joy (Time and streak
// surfaces for flow visualization, 2009) insert them on the moving front. The result therefore does
// not depend on an order of steps, and uses bricks that neighbours have already read.
#include "bat/flow/streak_surface.hpp"

#include "common/fail.hpp"
#include "flow/hints/store.hpp"
#include "flow/products/trace_part.hpp"
#include "flow/schedule/frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

namespace bat::flow
{
namespace
{
using Point = std::array<double, 3>;

constexpr int kHalvings = 10;
constexpr std::int64_t kParts = std::int64_t{ 1 } << kHalvings; // parts between two given points
constexpr std::int64_t kMaxFirstIntervals = 64;                 // between first timelines
constexpr double kCosMaxTurn = 0.8660254037844386;              // 30 degrees
constexpr double kCosStraight = 0.9659258262890683;             // 15 degrees
constexpr double kMinTurningShare = 0.5;  // edges that are shorter, of max_edge, may turn
constexpr double kMaxDiagonalShare = 2;   // relative to max_edge: diagonals are not halved
constexpr double kMinEdgeShare = 1.0 / 3; // edges that are shorter, of max_edge, may go

Point difference(const Point& a, const Point& b)
{
  return { a[0] - b[0], a[1] - b[1], a[2] - b[2] };
}

double dot(const Point& a, const Point& b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Point cross(const Point& a, const Point& b)
{
  return { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0] };
}

double distance(const Point& a, const Point& b)
{
  const Point d = difference(a, b);
  return std::sqrt(dot(d, d));
}

// Returns whether the path from a by b to c turns by more than the angle with that cosine.
bool turns(const Point& a, const Point& b, const Point& c, double cosine)
{
  const Point u = difference(b, a);
  const Point v = difference(c, b);
  return dot(u, v) < cosine * std::sqrt(dot(u, u) * dot(v, v));
}

// Line positions and release times are counted in kParts of the interval between given ones.
struct Vertex
{
  std::int64_t s = 0;
  bool is_there = false; // exists at the time of the surface
  Point at{};            // then, or where it has ended
};

struct Timeline
{
  std::int64_t tau = 0;
  std::vector<Vertex> vertices; // sorted by s
};

struct Request
{
  std::int64_t s = 0;
  std::int64_t tau = 0;

  friend bool operator<(const Request& a, const Request& b)
  {
    return std::tie(a.s, a.tau) < std::tie(b.s, b.tau);
  }
  friend bool operator==(const Request& a, const Request& b)
  {
    return a.s == b.s && a.tau == b.tau;
  }
};

template <class T, class Mix>
T value_at(const std::vector<T>& values, std::int64_t place, const Mix& mix)
{
  const auto before = static_cast<std::size_t>(place / kParts);
  const std::int64_t parts = place % kParts;
  return parts == 0 ? values[before]
                    : mix(values[before], values[before + 1], static_cast<double>(parts) / kParts);
}

double between(double a, double b, double share)
{
  return a + share * (b - a);
}

Point between(const Point& a, const Point& b, double share)
{
  return { between(a[0], b[0], share), between(a[1], b[1], share), between(a[2], b[2], share) };
}

// Returns the position of a timeline at place s, exact or interpolated between two particles;
// nothing outside of them.
std::optional<Vertex> find(const Timeline& timeline, std::int64_t s)
{
  const auto after = std::lower_bound(timeline.vertices.begin(), timeline.vertices.end(), s,
    [](const Vertex& vertex, std::int64_t place) { return vertex.s < place; });
  if (after == timeline.vertices.end())
  {
    return std::nullopt;
  }
  if (after->s == s)
  {
    return *after;
  }
  if (after == timeline.vertices.begin() || !after->is_there || !(after - 1)->is_there)
  {
    return std::nullopt;
  }
  const Vertex& before = *(after - 1);
  const double share = static_cast<double>(s - before.s) / static_cast<double>(after->s - before.s);
  return Vertex{ s, true, between(before.at, after->at, share) };
}

// Returns whether one of two vertices in neighbouring timelines is next to the other along the
// line.
bool may_join(
  const std::vector<Vertex>& a, std::size_t i, const std::vector<Vertex>& b, std::size_t k)
{
  const auto isBeside = [](const std::vector<Vertex>& v, std::size_t at, std::int64_t s)
  { return (at == 0 || v[at - 1].s <= s) && (at + 1 >= v.size() || s <= v[at + 1].s); };
  return i < a.size() && k < b.size() && (isBeside(b, k, a[i].s) || isBeside(a, i, b[k].s));
}

class Surface
{
public:
  Surface(const Cache& cache, const std::vector<Point>& line, double time,
    const StreakSurfaceOptions& options)
    : cache_(cache)
    , line_(line)
    , time_(time)
    , options_(options)
    , max_(options.max_edge)
  {
    this->check();
    this->walk_ = options.trace;
    this->walk_.end_time = time;
    this->walk_.destination.reset();
    this->walk_.max_age = std::numeric_limits<double>::infinity();
    this->walk_.keep_points = false;
    if (options.trace.progress)
    {
      this->walk_.progress = [this](double done)
      { return this->options_.trace.progress(this->done_ + done * (1 - this->done_) / 2); };
    }
  }

  StreakSurface make()
  {
    this->follow(this->first());
    for (;;)
    {
      const std::vector<Request> requests = this->refinements();
      if (requests.empty())
      {
        break;
      }
      if (this->options_.stops_at_max &&
        this->surface_.followed + requests.size() > this->options_.max_vertices)
      {
        this->surface_.is_refined = false;
        break;
      }
      this->follow(requests);
    }
    this->cache_.hints().save();
    this->thin_timelines();
    for (Timeline& timeline : this->timelines_)
    {
      this->thin(timeline);
    }
    this->join();
    if (this->options_.trace.progress)
    {
      (void)this->options_.trace.progress(1); // too late to cancel: other ranks are done
    }
    return std::move(this->surface_);
  }

private:
  void check()
  {
    const bool backward = this->options_.trace.backward;
    const std::vector<double> times = run_times(this->cache_.source(), this->time_, backward);
    const double start = this->options_.start.value_or(backward ? times.back() : times.front());
    if (this->line_.size() < 2)
    {
      refuse(fmt::format("a line needs at least 2 points, found {}", this->line_.size()));
    }
    for (std::size_t i = 0; i != this->line_.size(); ++i)
    {
      const std::array<double, 3>& p = this->line_[i];
      if (!std::isfinite(p[0]) || !std::isfinite(p[1]) || !std::isfinite(p[2]))
      {
        refuse(fmt::format(
          "point {} of the line is at {} {} {}; positions must be finite", i, p[0], p[1], p[2]));
      }
    }
    if (!(this->max_ > 0 && std::isfinite(this->max_)))
    {
      refuse(fmt::format("the maximum edge is {}; it must be finite and above 0", this->max_));
    }
    if (!(this->options_.tear >= 1))
    {
      refuse(fmt::format("the surface tears at edges {} times the maximum; at least 1 is required",
        this->options_.tear));
    }
    if (!(start >= times.front() && start <= times.back() && this->time_ >= times.front() &&
          this->time_ <= times.back() && (backward ? start >= this->time_ : start <= this->time_)))
    {
      refuse(fmt::format("releases from time {} to {}{}; the source has times from {} to {}, and "
                         "the first release must not be {} the last",
        start, this->time_, backward ? " backwards" : "", times.front(), times.back(),
        backward ? "before" : "after"));
    }
    const Collective& collective = this->options_.collective;
    if (!(collective.rank >= 0 && collective.rank < collective.ranks &&
          (collective.ranks == 1 || collective.gather)))
    {
      refuse(fmt::format("rank {} of {}; ranks start at 0 and collect particles", collective.rank,
        collective.ranks));
    }
    this->releases_ = { start };
    for (const double t : times)
    {
      if (backward ? t < start && t > this->time_ : t > start && t < this->time_)
      {
        this->releases_.push_back(t);
      }
    }
    if (backward)
    {
      std::reverse(this->releases_.begin() + 1, this->releases_.end());
    }
    if (start != this->time_)
    {
      this->releases_.push_back(this->time_);
    }
  }

  // Creates the first particles: for points of the line, except those near their neighbours and not
  // at a bend, and for releases that are far enough apart.
  [[nodiscard]] std::vector<Request> first() const
  {
    std::vector<std::int64_t> places{ 0 };
    for (std::size_t i = 1; i + 1 < this->line_.size(); ++i)
    {
      const Point& before = this->line_[static_cast<std::size_t>(places.back() / kParts)];
      const bool is_near = distance(before, this->line_[i + 1]) <= this->max_ &&
        !turns(before, this->line_[i], this->line_[i + 1], kCosMaxTurn);
      if (!is_near)
      {
        places.push_back(static_cast<std::int64_t>(i) * kParts);
      }
    }
    places.push_back(static_cast<std::int64_t>(this->line_.size() - 1) * kParts);
    const auto intervals = static_cast<std::int64_t>(this->releases_.size()) - 1;
    const std::int64_t timelines = std::min(intervals, kMaxFirstIntervals);
    std::vector<Request> requests;
    for (const std::int64_t s : places)
    {
      for (std::int64_t i = 0; i <= timelines; ++i)
      {
        requests.push_back({ s, (timelines == 0 ? 0 : i * intervals / timelines) * kParts });
      }
    }
    return requests; // sorted
  }

  // Follows particles that are in no timeline yet; requests are in their order.
  void follow(const std::vector<Request>& requests)
  {
    this->surface_.followed += requests.size();
    if (this->surface_.followed > this->options_.max_vertices)
    {
      refuse(fmt::format("the surface has more than {} vertices with edges of at most {}; use "
                         "longer edges or more closely spaced times",
        this->options_.max_vertices, this->max_));
    }
    const Collective& collective = this->options_.collective;
    const auto end_of = [&](int parts)
    {
      return requests.size() * static_cast<std::size_t>(parts) /
        static_cast<std::size_t>(collective.ranks);
    };
    std::vector<Line> lines;
    std::optional<Error> error = attempt(
      [&]()
      {
        std::vector<Seed> seeds;
        for (std::size_t i = end_of(collective.rank); i != end_of(collective.rank + 1); ++i)
        {
          seeds.push_back({ this->place(requests[i].s), this->release(requests[i].tau) });
        }
        PathLines ends = trace_touching(this->cache_, seeds, this->walk_, this->touched_);
        this->count(ends.statistics);
        lines = std::move(ends.lines);
      });
    if (collective.ranks > 1)
    {
      lines = collective.gather(std::move(lines), error);
    }
    else if (error)
    {
      throw Error(*error);
    }
    this->done_ += (1 - this->done_) / 2;
    this->insert(requests, lines);
  }

  [[nodiscard]] Point place(std::int64_t s) const
  {
    return value_at(this->line_, s,
      [](const Point& a, const Point& b, double share) { return between(a, b, share); });
  }

  [[nodiscard]] double release(std::int64_t tau) const
  {
    return value_at(
      this->releases_, tau, [](double a, double b, double share) { return between(a, b, share); });
  }

  void count(const Statistics& more)
  {
    Statistics& all = this->surface_.statistics;
    Statistics sum = more;
    sum.hits += all.hits;
    sum.read += all.read;
    sum.prefetched += all.prefetched;
    sum.prefetches_used += all.prefetches_used;
    sum.prefetches_wasted += all.prefetches_wasted;
    sum.hinted += all.hinted;
    sum.hints_used += all.hints_used;
    sum.bytes_read += all.bytes_read;
    sum.waits += all.waits;
    sum.wait_seconds += all.wait_seconds;
    sum.cells += all.cells;
    sum.steps += all.steps;
    all = sum;
  }

  void insert(const std::vector<Request>& requests, const std::vector<Line>& lines)
  {
    std::vector<std::pair<std::int64_t, Vertex>> all; // with their tau
    for (std::size_t i = 0; i != requests.size(); ++i)
    {
      const Line& line = lines[i];
      const bool is_there = line.end_time == this->time_ &&
        (line.reason == Reason::EndTime || line.reason == Reason::Stagnation);
      all.emplace_back(requests[i].tau, Vertex{ requests[i].s, is_there, line.end });
    }
    for (const Timeline& timeline : this->timelines_)
    {
      for (const Vertex& vertex : timeline.vertices)
      {
        all.emplace_back(timeline.tau, vertex);
      }
    }
    std::sort(all.begin(), all.end(),
      [](const auto& a, const auto& b)
      { return std::tie(a.first, a.second.s) < std::tie(b.first, b.second.s); });
    this->timelines_.clear();
    for (const auto& [tau, vertex] : all)
    {
      if (this->timelines_.empty() || this->timelines_.back().tau != tau)
      {
        this->timelines_.push_back({ tau, {} });
      }
      this->timelines_.back().vertices.push_back(vertex);
    }
  }

  // Returns whether an edge is too long. A particle that has ended counts at its end, so that a
  // border is as fine as an edge.
  [[nodiscard]] bool is_long(const Vertex& a, const Vertex& b) const
  {
    return (a.is_there || b.is_there) && distance(a.at, b.at) > this->max_;
  }

  // Returns whether particles between two points of the line may continue although both have ended.
  [[nodiscard]] bool may_hide(const Vertex& a, const Vertex& b) const
  {
    if (a.is_there || b.is_there)
    {
      return false;
    }
    const Point from = this->place(a.s);
    const Point to = this->place(b.s);
    return distance(from, to) > this->max_ && this->may_be_within(from, to);
  }

  // False if a stretch of the line is outside of the domain, beyond one of its faces.
  [[nodiscard]] bool may_be_within(const Point& a, const Point& b) const
  {
    const BrickGrid& grid = this->cache_.source().grid();
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      // The tolerance is one cell, for rounding.
      const double low = grid.origin[axis] - grid.spacing[axis];
      const double high =
        grid.origin[axis] + static_cast<double>(grid.points[axis]) * grid.spacing[axis];
      if (!grid.cyclic[axis] &&
        (std::max(a[axis], b[axis]) < low || std::min(a[axis], b[axis]) > high))
      {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool may_not_turn(const Vertex& a, const Vertex& b) const
  {
    return distance(a.at, b.at) > kMinTurningShare * this->max_;
  }

  static bool turns_at(const Vertex& a, const Vertex& b, const Vertex& c, double cosine)
  {
    return a.is_there && b.is_there && c.is_there && turns(a.at, b.at, c.at, cosine);
  }

  // Requests particles between those that are far apart, in the order of requests.
  [[nodiscard]] std::vector<Request> refinements() const
  {
    std::vector<Request> requests;
    for (const Timeline& timeline : this->timelines_)
    {
      this->refine_along(timeline, requests);
    }
    const std::vector<bool> isWide = this->wide_intervals();
    for (std::size_t i = 0; i + 1 < this->timelines_.size(); ++i)
    {
      const Timeline& a = this->timelines_[i];
      const Timeline& b = this->timelines_[i + 1];
      if (!isWide[i] || b.tau - a.tau < 2)
      {
        continue;
      }
      for (const Timeline* timeline : { &a, &b })
      {
        for (const Vertex& vertex : timeline->vertices)
        {
          requests.push_back({ vertex.s, a.tau + (b.tau - a.tau) / 2 });
        }
      }
    }
    std::sort(requests.begin(), requests.end());
    requests.erase(std::unique(requests.begin(), requests.end()), requests.end());
    return requests;
  }

  void refine_along(const Timeline& timeline, std::vector<Request>& requests) const
  {
    const std::vector<Vertex>& v = timeline.vertices;
    for (std::size_t i = 0; i + 1 < v.size(); ++i)
    {
      const bool turns = (i > 0 && turns_at(v[i - 1], v[i], v[i + 1], kCosMaxTurn)) ||
        (i + 2 < v.size() && turns_at(v[i], v[i + 1], v[i + 2], kCosMaxTurn));
      const bool isRequested = this->is_long(v[i], v[i + 1]) || this->may_hide(v[i], v[i + 1]) ||
        (turns && this->may_not_turn(v[i], v[i + 1]));
      if (isRequested && v[i + 1].s - v[i].s > 1)
      {
        requests.push_back({ v[i].s + (v[i + 1].s - v[i].s) / 2, timeline.tau });
      }
    }
  }

  // Returns whether some place on the line has particles far apart in two timelines.
  [[nodiscard]] std::vector<bool> wide_intervals() const
  {
    std::vector<bool> isWide(this->timelines_.size(), false);
    for (std::size_t i = 0; i != this->timelines_.size(); ++i)
    {
      for (const Vertex& vertex : this->timelines_[i].vertices)
      {
        const auto before =
          i > 0 ? find(this->timelines_[i - 1], vertex.s) : std::optional<Vertex>{};
        const auto after = i + 1 < this->timelines_.size() ? find(this->timelines_[i + 1], vertex.s)
                                                           : std::optional<Vertex>{};
        const bool turns = before && after && turns_at(*before, vertex, *after, kCosMaxTurn);
        const auto look = [&](const std::optional<Vertex>& other, std::size_t interval)
        {
          if (other &&
            (this->is_long(*other, vertex) || (turns && this->may_not_turn(*other, vertex))))
          {
            isWide[interval] = true;
          }
        };
        look(before, i - 1);
        look(after, i);
      }
    }
    return isWide;
  }

  // Returns whether b can be dropped: it is near the others, on a straight path.
  [[nodiscard]] bool may_go(const Vertex& a, const Vertex& b, const Vertex& c) const
  {
    const double minimum = kMinEdgeShare * this->max_;
    return a.is_there && b.is_there && c.is_there && distance(a.at, b.at) < minimum &&
      distance(b.at, c.at) < minimum && !turns_at(a, b, c, kCosStraight);
  }

  void thin_timelines()
  {
    std::vector<Timeline> kept;
    for (std::size_t i = 0; i != this->timelines_.size(); ++i)
    {
      Timeline& timeline = this->timelines_[i];
      bool mayGo = i > 0 && i + 1 < this->timelines_.size();
      for (std::size_t k = 0; mayGo && k != timeline.vertices.size(); ++k)
      {
        const Vertex& vertex = timeline.vertices[k];
        const std::optional<Vertex> before = find(kept.back(), vertex.s);
        const std::optional<Vertex> after = find(this->timelines_[i + 1], vertex.s);
        mayGo = before && after &&
          (this->may_go(*before, vertex, *after) ||
            !(before->is_there || vertex.is_there || after->is_there));
      }
      if (!mayGo)
      {
        kept.push_back(std::move(timeline));
      }
    }
    this->timelines_ = std::move(kept);
  }

  void thin(Timeline& timeline) const
  {
    std::vector<Vertex> kept;
    const std::vector<Vertex>& all = timeline.vertices;
    for (std::size_t i = 0; i != all.size(); ++i)
    {
      if (i == 0 || i + 1 == all.size() || !this->may_go(kept.back(), all[i], all[i + 1]))
      {
        kept.push_back(all[i]);
      }
    }
    timeline.vertices = std::move(kept);
  }

  // Builds strips of triangles between neighbouring timelines. A strip advances along the shorter
  // diagonal of those that may_join(), since at folds near vertices may be far apart along the
  // line.
  void join()
  {
    std::size_t count = 0;
    for (const Timeline& timeline : this->timelines_)
    {
      this->first_.push_back(count);
      count += timeline.vertices.size();
    }
    this->number_.assign(count, kNone);
    for (std::size_t i = 0; i + 1 < this->timelines_.size(); ++i)
    {
      this->join(i);
    }
    StreakSurface& surface = this->surface_;
    for (Point& normal : surface.normals)
    {
      const double length = std::sqrt(dot(normal, normal));
      for (double& part : normal)
      {
        part = length > 0 ? part / length : 0;
      }
    }
  }

  void join(std::size_t strip)
  {
    const std::vector<Vertex>& a = this->timelines_[strip].vertices;
    const std::vector<Vertex>& b = this->timelines_[strip + 1].vertices;
    std::size_t i = 0;
    std::size_t k = 0;
    while (i + 1 < a.size() || k + 1 < b.size())
    {
      bool isAlongA = may_join(a, i + 1, b, k);
      if (isAlongA && may_join(a, i, b, k + 1))
      {
        // Ended particles have no diagonals: both sides advance to the same places.
        const bool isWhole =
          a[i].is_there && b[k].is_there && a[i + 1].is_there && b[k + 1].is_there;
        isAlongA = isWhole ? distance(a[i + 1].at, b[k].at) <= distance(a[i].at, b[k + 1].at)
                           : a[i + 1].s <= b[k + 1].s;
      }
      if (isAlongA)
      {
        this->add({ { { strip, i }, { strip, i + 1 }, { strip + 1, k } } });
        ++i;
      }
      else
      {
        this->add({ { { strip, i }, { strip + 1, k + 1 }, { strip + 1, k } } });
        ++k;
      }
    }
  }

  struct Corner
  {
    std::size_t timeline;
    std::size_t vertex;
  };

  void add(const std::array<Corner, 3>& corners)
  {
    std::array<const Vertex*, 3> v{};
    for (std::size_t c = 0; c != 3; ++c)
    {
      v[c] = &this->timelines_[corners[c].timeline].vertices[corners[c].vertex];
      if (!v[c]->is_there)
      {
        return;
      }
    }
    for (std::size_t c = 0; c != 3; ++c)
    {
      const double edge = distance(v[c]->at, v[(c + 1) % 3]->at);
      if (!(edge > 0 && edge <= std::max(this->options_.tear, kMaxDiagonalShare) * this->max_))
      {
        return;
      }
    }
    // The normal is as long as the area, so that large triangles weigh more.
    const Point normal = cross(difference(v[1]->at, v[0]->at), difference(v[2]->at, v[0]->at));
    StreakSurface& surface = this->surface_;
    std::array<std::uint32_t, 3> triangle{};
    for (std::size_t c = 0; c != 3; ++c)
    {
      std::uint32_t& number = this->number_[this->first_[corners[c].timeline] + corners[c].vertex];
      if (number == kNone)
      {
        number = static_cast<std::uint32_t>(surface.positions.size());
        surface.positions.push_back(v[c]->at);
        surface.normals.push_back({});
        surface.line_places.push_back(static_cast<double>(v[c]->s) / kParts);
        surface.release_times.push_back(this->release(this->timelines_[corners[c].timeline].tau));
      }
      triangle[c] = number;
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        surface.normals[number][axis] += normal[axis];
      }
    }
    surface.triangles.push_back(triangle);
  }

  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  const Cache& cache_;
  const std::vector<Point>& line_;
  double time_;
  const StreakSurfaceOptions& options_;
  double max_;
  TraceOptions walk_;
  std::vector<double> releases_; // from the first release to the time of the surface
  double done_ = 0;
  KeySet touched_;
  std::vector<Timeline> timelines_; // sorted by tau
  std::vector<std::size_t> first_;  // index of each timeline's first vertex among all
  std::vector<std::uint32_t> number_;
  StreakSurface surface_;
};
}

StreakSurface streak_surface(const Cache& cache, const std::vector<std::array<double, 3>>& line,
  double time, const StreakSurfaceOptions& options)
{
  return Surface(cache, line, time, options).make();
}
}
