// Index first, then the particles that it cannot decide.

#include "query/select.hpp"

#include "file_impl.hpp"
#include "query/classify.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace bat::query
{
namespace
{
constexpr std::size_t kIntervalsPerTask = 1024;
constexpr std::uint64_t kTestedPerTask = 1 << 16;

/// Consecutive file positions with what is still undecided about them.
struct Piece
{
  Span span;
  std::uint64_t undecided = 0;
};

void append(std::vector<Piece>& pieces, const Piece& next)
{
  if (!pieces.empty() && pieces.back().undecided == next.undecided &&
    pieces.back().span.first + pieces.back().span.count == next.span.first)
  {
    pieces.back().span.count += next.span.count;
    return;
  }
  pieces.push_back(next);
}

void append(std::vector<Span>& spans, const Span& next)
{
  if (!spans.empty() && spans.back().first + spans.back().count == next.first)
  {
    spans.back().count += next.count;
    return;
  }
  spans.push_back(next);
}

// File positions of intervals of ranks, in file order, cut to the progressive step.
std::vector<Piece> to_pieces(
  const LevelTable& levels, const std::vector<Interval>& intervals, const Conditions& conditions)
{
  if (intervals.size() == 1 && intervals[0].begin == 0 && intervals[0].end == levels.end.back())
  {
    const std::uint64_t first = conditions.first_position;
    return { { { first, conditions.end_position - first }, intervals[0].undecided } };
  }
  const std::size_t tasks = (intervals.size() + kIntervalsPerTask - 1) / kIntervalsPerTask;
  std::vector<std::vector<std::vector<Piece>>> by_task(tasks);
  tbb::parallel_for(std::size_t{ 0 }, tasks,
    [&](std::size_t task)
    {
      std::vector<std::vector<Piece>>& by_level = by_task[task];
      by_level.resize(levels.size());
      const std::size_t end = std::min(intervals.size(), (task + 1) * kIntervalsPerTask);
      for (std::size_t i = task * kIntervalsPerTask; i != end; ++i)
      {
        const Interval& interval = intervals[i];
        for_each_run(levels, interval.begin, interval.end,
          [&](std::size_t level, std::uint64_t position, std::uint64_t, std::uint64_t count)
          {
            const std::uint64_t first = std::max(position, conditions.first_position);
            const std::uint64_t last = std::min(position + count, conditions.end_position);
            if (first < last)
            {
              append(by_level[level], { { first, last - first }, interval.undecided });
            }
          });
      }
    });
  std::vector<Piece> pieces;
  for (std::size_t level = 0; level != levels.size(); ++level)
  {
    for (const std::vector<std::vector<Piece>>& by_level : by_task)
    {
      for (const Piece& piece : by_level[level])
      {
        append(pieces, piece);
      }
    }
  }
  return pieces;
}

/// Consecutive pieces that one task tests.
struct Job
{
  std::size_t first_piece = 0;
  std::size_t piece_count = 0;
};

// Cuts pieces so that no job tests much more than kTestedPerTask particles.
std::vector<Job> make_jobs(std::vector<Piece>& pieces)
{
  std::vector<Piece> cut;
  std::vector<Job> jobs;
  std::uint64_t tested = kTestedPerTask;
  for (const Piece& piece : pieces)
  {
    Span rest = piece.span;
    while (rest.count != 0)
    {
      if (tested >= kTestedPerTask)
      {
        jobs.push_back({ cut.size(), 0 });
        tested = 0;
      }
      const std::uint64_t count =
        piece.undecided == 0 ? rest.count : std::min(rest.count, kTestedPerTask - tested);
      cut.push_back({ { rest.first, count }, piece.undecided });
      ++jobs.back().piece_count;
      tested += piece.undecided == 0 ? 0 : count;
      rest.first += count;
      rest.count -= count;
    }
  }
  pieces = std::move(cut);
  return jobs;
}

// Ends of a range in the type of the attribute: v >= lower in T exactly where it holds on the real
// line.
template <class T, class V>
bool narrow(const ClassRange<V>& range, T& lower, T& upper)
{
  if constexpr (std::is_same_v<T, float>)
  {
    constexpr float inf = std::numeric_limits<float>::infinity();
    lower = static_cast<float>(range.lower);
    lower = static_cast<double>(lower) < range.lower ? std::nextafter(lower, inf) : lower;
    upper = static_cast<float>(range.upper);
    upper = static_cast<double>(upper) > range.upper ? std::nextafter(upper, -inf) : upper;
    return true;
  }
  else if constexpr (std::is_same_v<T, V>)
  {
    lower = range.lower;
    upper = range.upper;
    return true;
  }
  else
  {
    constexpr V least = std::numeric_limits<T>::min();
    constexpr V most = std::numeric_limits<T>::max();
    if (range.lower > most || range.upper < least)
    {
      return false;
    }
    lower = static_cast<T>(std::max(range.lower, least));
    upper = static_cast<T>(std::min(range.upper, most));
    return true;
  }
}

/// Tests the particles of one job; one per task.
class Tester
{
public:
  Tester(const File::Impl& file, const Conditions& conditions)
    : file_(file)
    , conditions_(conditions)
  {
  }

  void run(const Piece* pieces, std::size_t count, std::vector<Span>& out)
  {
    this->spans_.clear();
    std::uint64_t undecided = 0;
    std::uint64_t tested = 0;
    for (std::size_t i = 0; i != count; ++i)
    {
      if (pieces[i].undecided != 0)
      {
        this->spans_.push_back(pieces[i].span);
        undecided |= pieces[i].undecided;
        tested += pieces[i].span.count;
      }
    }
    this->match_.assign(tested, 1);
    if ((undecided & 1) != 0)
    {
      this->test_box();
    }
    for (std::size_t r = 0; r != this->conditions_.ranges.size(); ++r)
    {
      if ((undecided & range_bit(r)) != 0)
      {
        this->test_range(this->conditions_.ranges[r]);
      }
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i != count; ++i)
    {
      const Span& span = pieces[i].span;
      if (pieces[i].undecided == 0)
      {
        append(out, span);
        continue;
      }
      this->append_matches(span, at, out);
      at += span.count;
    }
  }

private:
  template <class T>
  const T* values(format::SectionKind kind, std::uint32_t index, std::size_t components)
  {
    this->bytes_.resize(this->match_.size() * components * sizeof(T));
    format::PageReader reader(this->file_.paged(kind, index));
    reader.gather(
      this->spans_.data(), this->spans_.size(), components * sizeof(T), this->bytes_.data());
    return reinterpret_cast<const T*>(this->bytes_.data());
  }

  void test_box()
  {
    const Box& box = *this->conditions_.box;
    dispatch(static_cast<ScalarType>(this->file_.schema.head.position_type),
      [&](auto value)
      {
        using T = decltype(value);
        if constexpr (std::is_floating_point_v<T>)
        {
          T lower[3];
          T upper[3];
          for (std::size_t axis = 0; axis != 3; ++axis)
          {
            narrow<T, double>({ box.lower[axis], box.upper[axis] }, lower[axis], upper[axis]);
          }
          const T* p = this->values<T>(format::SectionKind::Positions, 0, 3);
          std::uint8_t* match = this->match_.data();
          for (std::size_t i = 0; i != this->match_.size(); ++i)
          {
            const T x = p[3 * i];
            const T y = p[3 * i + 1];
            const T z = p[3 * i + 2];
            match[i] &= static_cast<std::uint8_t>((x >= lower[0]) & (x <= upper[0]) &
              (y >= lower[1]) & (y <= upper[1]) & (z >= lower[2]) & (z <= upper[2]));
          }
        }
      });
  }

  void test_range(const RangeCondition& condition)
  {
    const Attribute& attribute = this->file_.schema.attributes[condition.attribute];
    const auto components = static_cast<std::size_t>(attribute.components);
    dispatch(attribute.type,
      [&](auto value)
      {
        using T = decltype(value);
        const T* v = this->values<T>(format::SectionKind::Attribute,
          static_cast<std::uint32_t>(condition.attribute), components);
        if (condition.component < 0)
        {
          this->test_magnitude(v, components, std::get<ClassRange<double>>(condition.range));
          return;
        }
        T lower{};
        T upper{};
        if (!narrow(std::get<ClassRange<ClassOf<T>>>(condition.range), lower, upper))
        {
          std::fill(this->match_.begin(), this->match_.end(), std::uint8_t{ 0 });
          return;
        }
        v += condition.component;
        std::uint8_t* match = this->match_.data();
        if (components == 1)
        {
          for (std::size_t i = 0; i != this->match_.size(); ++i)
          {
            match[i] &= static_cast<std::uint8_t>((v[i] >= lower) & (v[i] <= upper));
          }
          return;
        }
        for (std::size_t i = 0; i != this->match_.size(); ++i)
        {
          const T x = v[i * components];
          match[i] &= static_cast<std::uint8_t>((x >= lower) & (x <= upper));
        }
      });
  }

  template <class T>
  void test_magnitude(const T* v, std::size_t components, const ClassRange<double>& range)
  {
    for (std::size_t i = 0; i != this->match_.size(); ++i)
    {
      const double m = magnitude(v + i * components, components);
      this->match_[i] &= static_cast<std::uint8_t>((m >= range.lower) & (m <= range.upper));
    }
  }

  // match_[at, at + span.count) tells of the particles of span.
  void append_matches(const Span& span, std::size_t at, std::vector<Span>& out) const
  {
    const std::uint8_t* match = this->match_.data() + at;
    std::uint64_t i = 0;
    while (i != span.count)
    {
      std::uint64_t eight = 0;
      if (span.count - i >= 8)
      {
        std::memcpy(&eight, match + i, 8);
        if (eight == 0)
        {
          i += 8;
          continue;
        }
      }
      if (!match[i])
      {
        ++i;
        continue;
      }
      const std::uint64_t first = i;
      while (i != span.count && match[i])
      {
        ++i;
      }
      append(out, Span{ span.first + first, i - first });
    }
  }

  const File::Impl& file_;
  const Conditions& conditions_;
  std::vector<Span> spans_;
  std::vector<std::uint8_t> match_;
  std::vector<std::byte> bytes_;
};

Selection select_pieces(
  const File::Impl& file, const Conditions& conditions, std::vector<Piece> pieces)
{
  Selection selection;
  for (const Piece& piece : pieces)
  {
    selection.tested += piece.undecided == 0 ? 0 : piece.span.count;
  }
  if (selection.tested == 0)
  {
    for (const Piece& piece : pieces)
    {
      append(selection.spans, piece.span);
    }
  }
  else
  {
    const std::vector<Job> jobs = make_jobs(pieces);
    std::vector<std::vector<Span>> found(jobs.size());
    tbb::parallel_for(std::size_t{ 0 }, jobs.size(),
      [&](std::size_t j) {
        Tester(file, conditions).run(&pieces[jobs[j].first_piece], jobs[j].piece_count, found[j]);
      });
    for (const std::vector<Span>& spans : found)
    {
      for (const Span& span : spans)
      {
        append(selection.spans, span);
      }
    }
  }
  for (const Span& span : selection.spans)
  {
    selection.count += span.count;
  }
  return selection;
}

std::vector<Piece> find_pieces(const File::Impl& file, const Conditions& conditions)
{
  if (conditions.nothing)
  {
    return {};
  }
  if (conditions.none())
  {
    return to_pieces(
      file.schema.levels, { { conditions.first_rank, conditions.end_rank, 0 } }, conditions);
  }
  return to_pieces(file.schema.levels, classify(file, conditions), conditions);
}

Conditions conditions_of(const File& file, const Query& query, const RankInterval& ranks)
{
  return make_conditions(file.name(), file.attributes(), file.particle_count(), ranks, query);
}
}

Selection select(
  const File& file, const Query& query, const RankInterval& ranks, const QueryOptions& options)
{
  const Conditions conditions = conditions_of(file, query, ranks);
  Selection selection;
  tbb::task_arena arena(options.threads > 0 ? options.threads : tbb::task_arena::automatic);
  arena.execute([&]
    { selection = select_pieces(file.impl(), conditions, find_pieces(file.impl(), conditions)); });
  return selection;
}

std::uint64_t upper_bound(const File& file, const Query& query, const RankInterval& ranks)
{
  std::uint64_t count = 0;
  for (const Piece& piece : find_pieces(file.impl(), conditions_of(file, query, ranks)))
  {
    count += piece.span.count;
  }
  return count;
}
}
