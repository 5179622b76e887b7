// SPDX-License-Identifier: BSD-3-Clause
// Selects the particles that match a query, exactly, or estimates their number.
//
//   conditions -> block filter -> intervals of ordinals -> pieces of file positions -> spans
//                                 (per block or treelet)   (per level of detail)       (matches)
//
// A piece is a run of file positions together with the conditions that the index left undecided. An
// interval becomes one piece in each level of detail, cut to the query's qualities. A piece without
// undecided conditions goes to the answer as it is. The other pieces are grouped into jobs of about
// 65,536 particles; tasks read only the columns of their undecided conditions and test each value.
// Pieces that lie close together are tested as one span, which takes less time.
//
// A sorted index replaces the test of its key if looking up the values costs less than testing. An
// estimate tests only a sample of the undecided particles: whole coarse levels, and rows of
// particles at even distances if these are too few.

#include "particles/query/select.hpp"

#include "bat/bytes.hpp"
#include "common/arena.hpp"
#include "particles/format/layout.hpp"
#include "particles/query/block_filter.hpp"
#include "particles/query/range_test.hpp"
#include "particles/query/sorted_lookup.hpp"
#include "particles/tree/file_impl.hpp"
#include "particles/tree/ordinal_runs.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace bat::query
{
namespace
{
constexpr std::size_t kIntervalsPerTask = 1024;
constexpr std::uint64_t kTestedPerTask = 1 << 16;
constexpr std::uint64_t kMaxJoinedGap = 16; // particles
// Limits for an estimate: the number of coarse particles that suffices, otherwise the length of the
// rows to test; the cost of a page, in tests of particles; and the number of blocks to read.
constexpr std::uint64_t kMinCoarseParticles = 4096;
constexpr std::uint64_t kTestedPerRun = 64;
constexpr std::uint64_t kPageCost = 128;
constexpr std::uint64_t kMaxBlocks = 1 << 17;

/// Consecutive file positions with the conditions that are still undecided for them.
struct Piece
{
  Span span;
  std::uint64_t undecided = 0;
};

std::uint64_t undecided_particles(const std::vector<Piece>& pieces)
{
  std::uint64_t count = 0;
  for (const Piece& piece : pieces)
  {
    count += piece.undecided == 0 ? 0 : piece.span.count;
  }
  return count;
}

// Calls f(level, piece) for the parts of intervals [begin, end) in each level of the progressive
// step.
template <class F>
void for_each_piece(const File::Impl& file, const std::vector<Interval>& intervals,
  const Conditions& conditions, std::size_t begin, std::size_t end, const F& f)
{
  OrdinalRuns runs(file);
  for (std::size_t i = begin; i != end; ++i)
  {
    const Interval& interval = intervals[i];
    runs.for_each_run(interval.begin, interval.end,
      [&](std::size_t level, std::uint64_t position, std::uint64_t, std::uint64_t count)
      {
        const std::uint64_t first = std::max(position, conditions.first_position);
        const std::uint64_t last = std::min(position + count, conditions.end_position);
        if (first < last)
        {
          f(level, Piece{ { first, last - first }, interval.undecided });
        }
      });
  }
}

// Converts intervals of ordinals to file positions, in file order, limited to the progressive step.
// The first pass counts the pieces, because there are many and growing memory would take longer.
std::vector<Piece> to_pieces(
  const File::Impl& file, const std::vector<Interval>& intervals, const Conditions& conditions)
{
  const LevelTable& levels = file.schema.levels;
  if (intervals.size() == 1 && intervals[0].begin == 0 && intervals[0].end == levels.end.back())
  {
    const std::uint64_t first = conditions.first_position;
    return { { { first, conditions.end_position - first }, intervals[0].undecided } };
  }
  const std::size_t tasks = (intervals.size() + kIntervalsPerTask - 1) / kIntervalsPerTask;
  const auto for_each_task = [&](const auto& f)
  {
    tbb::parallel_for(std::size_t{ 0 }, tasks,
      [&](std::size_t task)
      {
        for_each_piece(file, intervals, conditions, task * kIntervalsPerTask,
          std::min(intervals.size(), (task + 1) * kIntervalsPerTask),
          [&](std::size_t level, const Piece& piece) { f(task, level, piece); });
      });
  };
  // Per task and level: first the number of pieces, then the index of the next one.
  std::vector<std::array<std::size_t, format::kMaxLevels>> next(tasks);
  // Looking up stored levels twice takes longer than keeping the pieces.
  const bool is_kept = !file.schema.sample_ids.empty();
  std::vector<std::vector<std::pair<std::size_t, Piece>>> kept(is_kept ? tasks : 0);
  for_each_task(
    [&](std::size_t task, std::size_t level, const Piece& piece)
    {
      ++next[task][level];
      if (is_kept)
      {
        kept[task].emplace_back(level, piece);
      }
    });
  std::size_t total = 0;
  for (std::size_t level = 0; level != levels.size(); ++level)
  {
    for (auto& of_task : next)
    {
      total += std::exchange(of_task[level], total);
    }
  }
  std::vector<Piece> pieces(total);
  const auto put = [&](std::size_t task, std::size_t level, const Piece& piece)
  { pieces[next[task][level]++] = piece; };
  if (!is_kept)
  {
    for_each_task(put);
    return pieces;
  }
  tbb::parallel_for(std::size_t{ 0 }, tasks,
    [&](std::size_t task)
    {
      for (const auto& [level, piece] : kept[task])
      {
        put(task, level, piece);
      }
    });
  return pieces;
}

/// Consecutive pieces that one task tests.
struct Job
{
  std::size_t first_piece = 0;
  std::size_t piece_count = 0;
};

// The gap between two undecided pieces, if they lie so close together that they are tested as one.
std::optional<std::uint64_t> gap_between(const Piece& piece, const Piece& next)
{
  const std::uint64_t gap = next.span.first - (piece.span.first + piece.span.count);
  const bool joined = piece.undecided != 0 && next.undecided != 0 && gap <= kMaxJoinedGap;
  return joined ? std::optional<std::uint64_t>(gap) : std::nullopt;
}

bool is_long(const Piece& piece)
{
  return piece.undecided != 0 && piece.span.count > kTestedPerTask;
}

// Cuts undecided pieces, of `tested` particles in all, to at most kTestedPerTask particles each.
void cut_long(std::vector<Piece>& pieces, std::uint64_t tested)
{
  if (std::none_of(pieces.begin(), pieces.end(), is_long))
  {
    return;
  }
  std::vector<Piece> cut;
  cut.reserve(pieces.size() + tested / kTestedPerTask);
  for (const Piece& piece : pieces)
  {
    Span rest = piece.span;
    while (is_long({ rest, piece.undecided }))
    {
      cut.push_back({ { rest.first, kTestedPerTask }, piece.undecided });
      rest.first += kTestedPerTask;
      rest.count -= kTestedPerTask;
    }
    cut.push_back({ rest, piece.undecided });
  }
  pieces = std::move(cut);
}

// Makes jobs that test kTestedPerTask particles and the rest of their last piece.
std::vector<Job> make_jobs(const std::vector<Piece>& pieces)
{
  std::vector<Job> jobs;
  std::uint64_t tested = kTestedPerTask;
  for (std::size_t i = 0; i != pieces.size(); ++i)
  {
    if (tested >= kTestedPerTask)
    {
      jobs.push_back({ i, 0 });
      tested = 0;
    }
    ++jobs.back().piece_count;
    tested += pieces[i].undecided == 0 ? 0 : pieces[i].span.count;
    tested += i == 0 ? 0 : gap_between(pieces[i - 1], pieces[i]).value_or(0);
  }
  return jobs;
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
    const std::uint64_t undecided = this->divide(pieces, count);
    if ((undecided & 1) != 0)
    {
      this->test_places();
    }
    for (std::size_t r = 0; r != this->conditions_.keys.size(); ++r)
    {
      if ((undecided & key_bit(r)) != 0)
      {
        this->test_key(this->conditions_.keys[r]);
      }
    }
    out.reserve(this->spans_.size() + this->decided_.size());
    this->matches_.rewind();
    auto decided = this->decided_.begin();
    for (const Span& span : this->spans_)
    {
      for (; decided != this->decided_.end() && decided->first < span.first; ++decided)
      {
        append(out, *decided);
      }
      append_matches(span, this->matches_, out);
    }
    for (; decided != this->decided_.end(); ++decided)
    {
      append(out, *decided);
    }
  }

private:
  // Undecided pieces that lie close together are tested as one span, which takes less time; the
  // gaps between them are excluded. Returns the conditions that are undecided.
  std::uint64_t divide(const Piece* pieces, std::size_t count)
  {
    this->spans_.clear();
    this->gaps_.clear();
    this->decided_.clear();
    std::uint64_t undecided = 0;
    std::uint64_t tested = 0;
    for (std::size_t i = 0; i != count; ++i)
    {
      const Span& next = pieces[i].span;
      if (pieces[i].undecided == 0)
      {
        append(this->decided_, next);
        continue;
      }
      undecided |= pieces[i].undecided;
      const auto gap = i != 0 ? gap_between(pieces[i - 1], pieces[i]) : std::nullopt;
      if (gap)
      {
        if (*gap != 0)
        {
          this->gaps_.push_back({ tested, *gap });
        }
        this->spans_.back().count += *gap + next.count;
        tested += *gap;
      }
      else
      {
        this->spans_.push_back(next);
      }
      tested += next.count;
    }
    this->matches_.reset(tested);
    std::uint64_t at = 0;
    for (const Span& gap : this->gaps_)
    {
      this->matches_.skip(gap.first - at);
      this->matches_.keep(gap.count, 0); // at most kMaxJoinedGap
      at = gap.first + gap.count;
    }
    return undecided;
  }

  // Calls match(parts, count) for the elements of a column that are to be tested, some at a time.
  template <class F>
  void test(format::SectionKind kind, std::size_t index, const F& match)
  {
    this->matches_.rewind();
    format::ColumnReader(this->file_.column(kind, static_cast<std::uint32_t>(index)))
      .visit(this->spans_.data(), this->spans_.size(), match);
  }

  void test_places()
  {
    const auto type = static_cast<ScalarType>(this->file_.schema.head.position_type);
    this->test(format::SectionKind::Positions, 0,
      [&](const Elements* parts, std::size_t count)
      { match_places(type, parts, count, this->conditions_.places, this->matches_); });
  }

  void test_key(const KeyCondition& condition)
  {
    if (condition.of_positions)
    {
      Attribute positions;
      positions.type = static_cast<ScalarType>(this->file_.schema.head.position_type);
      positions.components = 3;
      this->test(format::SectionKind::Positions, 0,
        [&](const Elements* parts, std::size_t count)
        { match_key(positions, parts, count, condition, this->matches_); });
      return;
    }
    const Attribute& attribute = this->file_.schema.attributes[condition.attribute];
    this->test(format::SectionKind::Attribute, condition.attribute,
      [&](const Elements* parts, std::size_t count)
      { match_key(attribute, parts, count, condition, this->matches_); });
  }

  const File::Impl& file_;
  const Conditions& conditions_;
  std::vector<Span> spans_;   ///< spans to test
  std::vector<Span> gaps_;    ///< among the particles to test
  std::vector<Span> decided_; ///< matching spans
  Matches matches_;           ///< bits of the particles to test
};

// Joins lists in order. Only the last span of one and the first of the next may touch.
std::vector<Span> joined(std::vector<std::vector<Span>> lists)
{
  if (lists.size() == 1)
  {
    return std::move(lists.front());
  }
  std::size_t maximum = 0;
  for (const std::vector<Span>& list : lists)
  {
    maximum += list.size();
  }
  std::vector<Span> all;
  all.reserve(maximum);
  for (const std::vector<Span>& list : lists)
  {
    if (!list.empty())
    {
      append(all, list.front());
      all.insert(all.end(), list.begin() + 1, list.end());
    }
  }
  return all;
}

// Requests all that the tests of pieces will read from a remote file, at the same time.
void prefetch_tested(
  const File::Impl& file, const Conditions& conditions, const std::vector<Piece>& pieces)
{
  if (!file.source->is_remote())
  {
    return;
  }
  const auto prefetch = [&](std::uint64_t bit, const format::ColumnSection& column)
  {
    std::vector<Span> spans;
    for (const Piece& piece : pieces)
    {
      if ((piece.undecided & bit) != 0)
      {
        spans.push_back(piece.span);
      }
    }
    column.prefetch(spans);
  };
  const format::ColumnSection& positions = file.column(format::SectionKind::Positions);
  prefetch(1, positions);
  for (std::size_t r = 0; r != conditions.keys.size(); ++r)
  {
    const KeyCondition& key = conditions.keys[r];
    prefetch(key_bit(r),
      key.of_positions
        ? positions
        : file.column(format::SectionKind::Attribute, static_cast<std::uint32_t>(key.attribute)));
  }
}

Selection select_pieces(
  const File::Impl& file, const Conditions& conditions, std::vector<Piece> pieces)
{
  Selection selection;
  selection.tested = undecided_particles(pieces);
  if (selection.tested == 0)
  {
    selection.spans.reserve(pieces.size());
    for (const Piece& piece : pieces)
    {
      append(selection.spans, piece.span);
    }
  }
  else
  {
    cut_long(pieces, selection.tested);
    const std::vector<Job> jobs = make_jobs(pieces);
    std::vector<std::vector<Span>> found(jobs.size());
    prefetch_tested(file, conditions, pieces);
    tbb::parallel_for(std::size_t{ 0 }, jobs.size(),
      [&](std::size_t j) {
        Tester(file, conditions).run(&pieces[jobs[j].first_piece], jobs[j].piece_count, found[j]);
      });
    selection.spans = joined(std::move(found));
  }
  for (const Span& span : selection.spans)
  {
    selection.count += span.count;
  }
  return selection;
}

void append_piece(std::vector<Piece>& pieces, const Piece& next)
{
  if (!pieces.empty() && pieces.back().undecided == next.undecided &&
    pieces.back().span.first + pieces.back().span.count == next.span.first)
  {
    pieces.back().span.count += next.span.count;
    return;
  }
  pieces.push_back(next);
}

// Returns the rest of `pieces` if only the particles at `positions` satisfy the condition with this
// bit.
std::vector<Piece> cut_to(const std::vector<Piece>& pieces,
  const std::vector<std::uint32_t>& positions, std::uint64_t condition)
{
  std::vector<Piece> cut;
  cut.reserve(positions.size());
  auto piece = pieces.begin();
  for (const std::uint64_t position : positions)
  {
    while (piece != pieces.end() && piece->span.first + piece->span.count <= position)
    {
      ++piece;
    }
    if (piece == pieces.end())
    {
      break;
    }
    if (piece->span.first <= position)
    {
      append_piece(cut, { { position, 1 }, piece->undecided & ~condition });
    }
  }
  return cut;
}

// Uses a sorted index for the first condition that it answers faster than a test of the undecided
// particles of `pieces`.
bool use_sorted_index(const File::Impl& file, const Conditions& conditions, std::uint64_t max_cost,
  std::vector<Piece>& pieces)
{
  constexpr std::size_t kConditionBits = 62; // further conditions share one
  for (std::size_t r = 0; r != std::min(conditions.keys.size(), kConditionBits); ++r)
  {
    const KeyCondition& condition = conditions.keys[r];
    if (condition.of_positions || !file.has_sorted_index(condition.key))
    {
      continue;
    }
    const std::uint64_t tested = std::min(max_cost, undecided_particles(pieces));
    if (const auto positions = look_up(file, condition, tested))
    {
      pieces = cut_to(pieces, *positions, key_bit(r));
      return true;
    }
  }
  return false;
}

/// Limits on the effort of finding pieces.
struct Effort
{
  std::uint64_t blocks = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t index_cost = std::numeric_limits<std::uint64_t>::max(); ///< cost of look_up
};

std::vector<Piece> find_pieces(
  const File::Impl& file, const Conditions& conditions, const Effort& effort = {})
{
  if (conditions.nothing())
  {
    return {};
  }
  if (conditions.none())
  {
    return to_pieces(file, { { conditions.first_ordinal, conditions.end_ordinal, 0 } }, conditions);
  }
  // Reading treelets and blocks takes longer than looking up a few ids in an index.
  const bool is_alone = conditions.keys.size() == 1 && conditions.places.everywhere() &&
    !conditions.keys[0].of_positions && file.has_sorted_index(conditions.keys[0].key);
  std::vector<Piece> pieces;
  if (is_alone)
  {
    pieces = to_pieces(
      file, { { conditions.first_ordinal, conditions.end_ordinal, key_bit(0) } }, conditions);
    if (use_sorted_index(file, conditions, effort.index_cost, pieces))
    {
      return pieces;
    }
  }
  pieces = to_pieces(file, classify(file, conditions, effort.blocks), conditions);
  if (!is_alone)
  {
    (void)use_sorted_index(file, conditions, effort.index_cost, pieces);
  }
  return pieces;
}

// Only the pieces to be tested, so that a sample of them contains only particles that it counts.
std::vector<Piece> undecided_pieces(const std::vector<Piece>& pieces)
{
  std::vector<Piece> undecided;
  for (const Piece& piece : pieces)
  {
    if (piece.undecided != 0)
    {
      undecided.push_back(piece);
    }
  }
  return undecided;
}

// Returns the widest column that conditions read; positions if they read none.
const format::ColumnSection& widest_column(const File::Impl& file, const Conditions& conditions)
{
  const format::ColumnSection& positions = file.column(format::SectionKind::Positions);
  const format::ColumnSection* widest = conditions.places.everywhere() ? nullptr : &positions;
  for (const KeyCondition& key : conditions.keys)
  {
    const format::ColumnSection& column = key.of_positions
      ? positions
      : file.column(format::SectionKind::Attribute, static_cast<std::uint32_t>(key.attribute));
    if (!widest || column.element_bytes() > widest->element_bytes())
    {
      widest = &column;
    }
  }
  return widest ? *widest : positions;
}

/// The cost of testing spans in ascending order.
class Cost
{
public:
  Cost(const format::ColumnSection& column, std::uint64_t maximum)
    : column_(&column)
    , max_(maximum)
  {
  }

  /// Adds a span; returns false and adds nothing if that exceeds the maximum.
  [[nodiscard]] bool add(const Span& span)
  {
    const auto [first, end] = this->column_->pages_of(span);
    const std::uint64_t pages = end - std::max(first, std::min(end, this->end_page_));
    const Span read = this->column_->read_merged(span);
    const std::uint64_t end_read = read.first + read.count;
    const std::uint64_t particles =
      end_read - std::max(read.first, std::min(end_read, this->end_particle_));
    const std::uint64_t cost = std::max({ span.count, particles, pages * kPageCost });
    if (cost > this->max_ - this->cost_)
    {
      return false;
    }
    this->cost_ += cost;
    this->end_page_ = end;
    this->end_particle_ = this->column_->has_chunks() ? end_read : 0;
    return true;
  }
  [[nodiscard]] std::uint64_t left() const noexcept { return this->max_ - this->cost_; }

private:
  const format::ColumnSection* column_;
  std::uint64_t max_;
  std::uint64_t cost_ = 0;
  std::uint64_t end_page_ = 0;     ///< after the last page
  std::uint64_t end_particle_ = 0; ///< after the last chunk
};

// Takes from the front of `pieces`, which are undecided, those of the coarsest levels that are
// within the cost. Levels are taken completely, because a part of one covers only a part of space.
std::vector<Piece> take_coarse(const LevelTable& levels, std::vector<Piece>& pieces, Cost& cost)
{
  std::vector<Piece> coarse;
  std::vector<Piece> rest = pieces;
  for (std::size_t level = 0; level != levels.size() && !rest.empty(); ++level)
  {
    const std::uint64_t end = levels.end[level];
    std::vector<Piece> behind;
    Cost with_level = cost;
    bool fits = true;
    const std::size_t count = coarse.size();
    for (const Piece& piece : rest)
    {
      const std::uint64_t in_level =
        std::min(piece.span.count, end - std::min(end, piece.span.first));
      if (in_level != 0 && fits)
      {
        coarse.push_back({ { piece.span.first, in_level }, piece.undecided });
        fits = with_level.add(coarse.back().span);
      }
      if (in_level != piece.span.count)
      {
        behind.push_back(
          { { piece.span.first + in_level, piece.span.count - in_level }, piece.undecided });
      }
      if (!fits)
      {
        break;
      }
    }
    if (!fits)
    {
      coarse.resize(count);
      break;
    }
    cost = with_level;
    rest = std::move(behind);
  }
  pieces = std::move(rest);
  return coarse;
}

// Takes particles from all over `pieces`: short rows at even distances.
std::vector<Piece> take_rows(const std::vector<Piece>& pieces, Cost& cost)
{
  const std::uint64_t particles = undecided_particles(pieces);
  // A row may span several pieces, each of them on its own page or at the end of one.
  const std::uint64_t pages_per_row =
    2 + kTestedPerRun * pieces.size() / std::max<std::uint64_t>(particles, 1);
  const std::uint64_t rows = cost.left() / (kPageCost * pages_per_row);
  std::vector<Piece> taken;
  if (rows == 0)
  {
    return taken;
  }
  const std::uint64_t step = std::max(kTestedPerRun, particles / rows);
  std::uint64_t before = 0;      // particles in the pieces before
  std::uint64_t next = step / 2; // the next one to take, of all
  next -= std::min(next, kTestedPerRun / 2);
  std::uint64_t in_row = 0;
  for (const Piece& piece : pieces)
  {
    while (next < before + piece.span.count)
    {
      const std::uint64_t offset = next - before;
      const std::uint64_t count = std::min(kTestedPerRun - in_row, piece.span.count - offset);
      const Piece part = { { piece.span.first + offset, count }, piece.undecided };
      if (!cost.add(part.span))
      {
        return taken;
      }
      append_piece(taken, part);
      in_row += count;
      next += count;
      if (in_row == kTestedPerRun)
      {
        next += step - kTestedPerRun;
        in_row = 0;
      }
    }
    before += piece.span.count;
  }
  return taken;
}
}

std::uint64_t estimate_share(std::uint64_t count, std::uint64_t matches, std::uint64_t tested)
{
  // Without a sample, any share is possible.
  const double share =
    tested == 0 ? 0.5 : static_cast<double>(matches) / static_cast<double>(tested);
  return std::min(
    count, static_cast<std::uint64_t>(std::llround(share * static_cast<double>(count))));
}

CountEstimate estimate_count(
  const File::Impl& file, const Conditions& conditions, std::uint64_t sampled)
{
  const std::vector<Piece> pieces = find_pieces(file, conditions, { kMaxBlocks, 2 * sampled });
  std::vector<Piece> rest = undecided_pieces(pieces);
  CountEstimate estimate;
  for (const Piece& piece : pieces)
  {
    estimate.minimum += piece.undecided == 0 ? piece.span.count : 0;
  }
  Cost cost(widest_column(file, conditions), sampled);
  std::uint64_t open = undecided_particles(rest);
  std::uint64_t tested = 0;
  std::uint64_t matches = 0;
  const auto test = [&](std::vector<Piece> sample)
  {
    const std::uint64_t count = undecided_particles(sample);
    tested += count;
    open -= count;
    matches += select_pieces(file, conditions, std::move(sample)).count;
  };
  test(take_coarse(file.schema.levels, rest, cost));
  if (open != 0 && tested < kMinCoarseParticles)
  {
    test(take_rows(rest, cost));
  }
  estimate.minimum += matches;
  estimate.likely = estimate.minimum + estimate_share(open, matches, tested);
  estimate.maximum = estimate.minimum + open;
  return estimate;
}

Selection select(const File::Impl& file, const Conditions& conditions, const QueryOptions& options)
{
  Selection selection;
  in_arena(options.threads,
    [&] { selection = select_pieces(file, conditions, find_pieces(file, conditions)); });
  return selection;
}

std::uint64_t upper_bound(const File::Impl& file, const Conditions& conditions)
{
  std::uint64_t count = 0;
  for (const Piece& piece : find_pieces(file, conditions))
  {
    count += piece.span.count;
  }
  return count;
}

std::vector<Region> regions(const File::Impl& file)
{
  const SpatialIndex& index = file.spatial_index();
  std::vector<Region> found;
  for (std::size_t t = 0; t != index.treelets.size(); ++t)
  {
    const format::NodeRecord& node = index.nodes[index.leaf_nodes[t]];
    if ((index.treelets[t].flags & format::kNonFinite) == 0)
    {
      found.push_back({ { { node.lower[0], node.lower[1], node.lower[2] },
                          { node.upper[0], node.upper[1], node.upper[2] } },
        index.treelets[t].count });
    }
  }
  return found;
}
}
