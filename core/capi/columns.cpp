// Rows of numbers in text to columns of values: what Python is too slow for.

#include "capi/handles.hpp"
#include "capi/status.hpp"

#include "common/arena.hpp"
#include "common/numbers.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <locale.h>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

namespace bat::capi
{
namespace
{
constexpr std::size_t kPieceBytes = std::size_t{ 1 } << 18;

struct Column
{
  int type = 0; ///< of bat_type; 0 for a column that is not kept
  std::byte* values = nullptr;
  std::size_t stride = 0;
};

/// Where a text is not as its columns say.
struct Problem
{
  std::uint64_t row = 0;
  std::int64_t column = 0; ///< -1: the row has another number of fields
  std::size_t place = 0;   ///< of its line in the text
  std::string what;
};

struct Piece
{
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint64_t rows = 0;
  std::uint64_t first_row = 0;
  std::unique_ptr<Problem> problem;
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
  Table(std::string_view text, char delimiter, std::vector<Column> columns)
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
        Problem problem;
        problem.row = row;
        problem.column = column;
        problem.place = static_cast<std::size_t>(begin - text_.data());
        problem.what = std::string(field.substr(0, 60));
        piece.problem = std::make_unique<Problem>(std::move(problem));
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
      if (i < count && columns_[i].type != 0 && !parse_field(columns_[i], row, begin, field_end))
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
    const Column& column, std::uint64_t row, const char* begin, const char* end)
  {
    std::byte* const out = column.values + row * column.stride;
    return dispatch(static_cast<ScalarType>(column.type),
      [&](auto sample) { return parse<decltype(sample)>(begin, end, out); });
  }

  std::string_view text_;
  char delimiter_;
  std::vector<Column> columns_;
};

std::vector<Column> columns_of(std::uint64_t count, const int* types, void* const* values,
  const std::size_t* strides, std::uint64_t most_rows)
{
  need_at_most(static_cast<std::int64_t>(count), 1 << 20, "the number of columns");
  if (count == 0)
  {
    refuse("a table without columns");
  }
  need(types, "list of types");
  need(values, "list of columns");
  std::vector<Column> columns(count);
  for (std::size_t i = 0; i != count; ++i)
  {
    if (types[i] == 0)
    {
      continue;
    }
    const std::string what = fmt::format("column {}", i);
    columns[i].type = static_cast<int>(type_of(types[i]));
    columns[i].values = static_cast<std::byte*>(values[i]);
    columns[i].stride = stride_of(strides ? strides[i] : 0, bat_type_size(types[i]), what);
    if (most_rows != 0)
    {
      need(columns[i].values, what.c_str());
    }
  }
  return columns;
}
}
}

using namespace bat::capi;

int bat_parse_columns(const char* text, size_t bytes, int delimiter, uint64_t columns,
  const int* types, void* const* values, const size_t* strides, uint64_t most_rows, int64_t threads,
  bat_parsed* out)
{
  return guard(
    [&]
    {
      need(out, "result pointer") = bat_parsed{};
      out->bad_column = -2;
      need_size(bytes, "the number of bytes");
      need_size(most_rows, "the number of rows");
      if (bytes != 0)
      {
        need(text, "text");
      }
      if (delimiter <= 0 || delimiter > 127 || delimiter == '\n' || delimiter == '\r')
      {
        refuse(fmt::format(
          "the delimiter is {}; allowed are characters of ASCII that end no line", delimiter));
      }
      const Table table({ bytes ? text : "", bytes }, static_cast<char>(delimiter),
        columns_of(columns, types, values, strides, most_rows));
      bat::in_arena(threads_of(threads),
        [&]
        {
          std::vector<Piece> pieces = table.cut(most_rows);
          const auto [rows, used] = table.limit(pieces, most_rows);
          table.parse_all(pieces);
          for (const Piece& piece : pieces)
          {
            if (piece.problem)
            {
              const Problem& problem = *piece.problem;
              out->bad_row = problem.row;
              out->bad_column = problem.column;
              out->bad_place = problem.place;
              refuse(problem.column < 0
                  ? fmt::format("row {} does not have {} fields", problem.row, columns)
                  : fmt::format("row {}, column {}: '{}' is no {}", problem.row, problem.column,
                      problem.what, name_of(type_of(types[problem.column]))));
            }
          }
          out->rows = rows;
          out->used = used;
        });
    });
}
