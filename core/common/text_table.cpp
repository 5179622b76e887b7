// SPDX-License-Identifier: BSD-3-Clause
// Rows of numbers in text to columns of values, in parallel.

#include "bat/text_table.hpp"

#include "common/arena.hpp"
#include "common/numbers.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <locale.h>
#include <memory>
#include <system_error>
#include <tuple>
#include <utility>

namespace bat
{
namespace
{
constexpr std::size_t kPieceBytes = std::size_t{ 1 } << 18;

struct Piece
{
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint64_t rows = 0;
  std::uint64_t first_row = 0;
  std::unique_ptr<TextProblem> problem;
};

[[nodiscard]] bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

[[nodiscard]] const char* end_of_line(const char* begin, const char* end)
{
  const void* found =
    begin == end ? nullptr : std::memchr(begin, '\n', static_cast<std::size_t>(end - begin));
  return found ? static_cast<const char*>(found) : end;
}

[[nodiscard]] const char* without_blanks(const char* begin, const char* end)
{
  while (begin != end && is_blank(*begin))
  {
    ++begin;
  }
  return begin;
}

/// std::from_chars gives no value where the nearest one is 0 or below the smallest normal number.
bool parse_tiny(const char* begin, const char* end, double& value)
{
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  value = strtod_l(std::string(begin, end).c_str(), nullptr, c_locale);
  return std::isfinite(value);
}

bool parse_tiny(const char* begin, const char* end, float& value)
{
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  value = strtof_l(std::string(begin, end).c_str(), nullptr, c_locale);
  return std::isfinite(value);
}

template <class T>
bool parse(const char* begin, const char* end, std::byte* out)
{
  if (begin != end && *begin == '+' && end - begin > 1 && begin[1] != '-')
  {
    ++begin;
  }
  T value{};
  const std::from_chars_result result = std::from_chars(begin, end, value);
  bool is_known = result.ec == std::errc{};
  if constexpr (std::is_floating_point_v<T>)
  {
    is_known =
      is_known || (result.ec == std::errc::result_out_of_range && parse_tiny(begin, end, value));
  }
  if (!is_known || result.ptr != end)
  {
    return false;
  }
  std::memcpy(out, &value, sizeof(value));
  return true;
}

class Table
{
public:
  Table(std::string_view text, char delimiter, std::vector<TextColumn> columns)
    : text_(text)
    , delimiter_(delimiter)
    , columns_(std::move(columns))
  {
  }

  /// Pieces that begin and end at lines, with their numbers of rows: as many as have `most` rows.
  [[nodiscard]] std::vector<Piece> cut(std::uint64_t most) const
  {
    std::vector<Piece> pieces;
    std::uint64_t rows = 0;
    std::size_t begin = 0;
    // Twice as many each time: of a long text, a few rows are found at once.
    for (std::size_t wave = 1; begin != text_.size() && rows < most; wave *= 2)
    {
      const std::size_t first = pieces.size();
      for (std::size_t i = 0; i != wave && begin != text_.size(); ++i)
      {
        const std::size_t least = std::min(kPieceBytes, text_.size() - begin);
        const char* end =
          end_of_line(text_.data() + begin + least - 1, text_.data() + text_.size());
        Piece piece;
        piece.begin = begin;
        piece.end = std::min(text_.size(), static_cast<std::size_t>(end - text_.data()) + 1);
        begin = piece.end;
        pieces.push_back(std::move(piece));
      }
      tbb::parallel_for(first, pieces.size(),
        [&](std::size_t i)
        {
          for_each_row(pieces[i],
            [&](const char*, const char*)
            {
              ++pieces[i].rows;
              return true;
            });
        });
      for (std::size_t i = first; i != pieces.size(); ++i)
      {
        rows += pieces[i].rows;
      }
    }
    return pieces;
  }

  /// Keeps at most `most` rows; returns their number and where the text ends that has them.
  [[nodiscard]] std::pair<std::uint64_t, std::size_t> limit(
    std::vector<Piece>& pieces, std::uint64_t most) const
  {
    std::uint64_t rows = 0;
    std::size_t end = 0;
    std::size_t kept = 0;
    for (; kept != pieces.size() && rows != most; ++kept)
    {
      Piece& piece = pieces[kept];
      piece.first_row = rows;
      if (piece.rows > most - rows)
      {
        std::uint64_t left = most - rows;
        for_each_row(piece,
          [&](const char*, const char* line_end)
          {
            piece.end =
              std::min(text_.size(), static_cast<std::size_t>(line_end - text_.data()) + 1);
            return --left != 0;
          });
        piece.rows = most - rows;
      }
      rows += piece.rows;
      end = piece.end;
    }
    pieces.resize(kept);
    return { rows, end };
  }

  void parse_all(std::vector<Piece>& pieces) const
  {
    tbb::parallel_for(
      std::size_t{ 0 }, pieces.size(), [&](std::size_t i) { parse_piece(pieces[i]); });
  }

private:
  /// Calls f(begin, end) for each line that is not blank, until it returns false.
  template <class F>
  void for_each_row(const Piece& piece, F&& f) const
  {
    const char* place = text_.data() + piece.begin;
    const char* const end = text_.data() + piece.end;
    while (place != end)
    {
      const char* line_end = end_of_line(place, end);
      if (without_blanks(place, line_end) != line_end && !f(place, line_end))
      {
        return;
      }
      place = line_end == end ? end : line_end + 1;
    }
  }

  void parse_piece(Piece& piece) const
  {
    std::uint64_t row = piece.first_row;
    for_each_row(piece,
      [&](const char* begin, const char* end)
      {
        std::int64_t column = 0;
        std::string_view field;
        if (parse_row(begin, end, row, column, field))
        {
          ++row;
          return true;
        }
        TextProblem problem;
        problem.row = row;
        problem.column = column;
        problem.place = static_cast<std::size_t>(begin - text_.data());
        problem.what = std::string(field.substr(0, 60));
        piece.problem = std::make_unique<TextProblem>(std::move(problem));
        return false;
      });
  }

  bool parse_row(const char* place, const char* end, std::uint64_t row, std::int64_t& column,
    std::string_view& field) const
  {
    const std::size_t count = columns_.size();
    std::size_t i = 0;
    for (;; ++i)
    {
      while (place != end && is_around_fields(*place))
      {
        ++place;
      }
      if (delimiter_ == ' ' && place == end)
      {
        break;
      }
      const char* const begin = place;
      while (place != end && (delimiter_ == ' ' ? !is_blank(*place) : *place != delimiter_))
      {
        ++place;
      }
      const char* field_end = place;
      while (delimiter_ != ' ' && field_end != begin && is_around_fields(field_end[-1]))
      {
        --field_end;
      }
      if (i < count && columns_[i].type && !parse_field(columns_[i], row, begin, field_end))
      {
        column = static_cast<std::int64_t>(i);
        field = { begin, static_cast<std::size_t>(field_end - begin) };
        return false;
      }
      if (place == end)
      {
        i += 1;
        break;
      }
      ++place;
    }
    column = -1;
    return i == count;
  }

  [[nodiscard]] bool is_around_fields(char c) const
  {
    return is_blank(c) && (c != delimiter_ || c == ' ');
  }

  static bool parse_field(
    const TextColumn& column, std::uint64_t row, const char* begin, const char* end)
  {
    std::byte* const out = column.values + row * column.stride;
    return dispatch(
      *column.type, [&](auto sample) { return parse<decltype(sample)>(begin, end, out); });
  }

  std::string_view text_;
  char delimiter_;
  std::vector<TextColumn> columns_;
};
}

ParsedRows parse_text_table(std::string_view text, char delimiter,
  const std::vector<TextColumn>& columns, std::uint64_t most_rows, int threads)
{
  ParsedRows parsed;
  const Table table(text, delimiter, columns);
  in_arena(threads,
    [&]
    {
      std::vector<Piece> pieces = table.cut(most_rows);
      std::tie(parsed.rows, parsed.used) = table.limit(pieces, most_rows);
      table.parse_all(pieces);
      for (const Piece& piece : pieces)
      {
        if (piece.problem)
        {
          parsed.problem = *piece.problem;
          return;
        }
      }
    });
  return parsed;
}
}
