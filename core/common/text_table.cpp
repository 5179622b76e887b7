// SPDX-License-Identifier: BSD-3-Clause
// Parses rows of numbers in text into columns of values, in parallel.

#include "bat/text_table.hpp"

#include "common/arena.hpp"
#include "common/numbers.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <locale.h>
#include <memory>
#include <system_error>
#include <tuple>
#include <utility>

namespace bat
{
namespace
{
constexpr std::size_t kPieceBytes = std::size_t{ 1 } << 16;
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "digits are read eight at a time");

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

[[nodiscard]] const char* find_line_end(const char* begin, const char* end)
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

/// std::from_chars returns no value if the nearest one is 0 or below the smallest normal number.
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

/// Returns the number whose digits are the bytes of `digits`, each 0 to 9, the lowest byte first.
[[nodiscard]] std::uint64_t number_of_digits(std::uint64_t digits)
{
  constexpr std::uint64_t kPairs = 0x000000ff000000ff;
  digits = digits * 10 + (digits >> 8);
  return ((digits & kPairs) * (100 + (std::uint64_t{ 1000000 } << 32)) +
           ((digits >> 16) & kPairs) * (1 + (std::uint64_t{ 10000 } << 32))) >>
    32;
}

/// Appends the digits at `place` to `value`, which overflows beyond 19 digits; returns where they
/// end.
[[nodiscard]] const char* read_digits(const char* place, const char* end, std::uint64_t& value)
{
  constexpr std::uint64_t kPowers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000,
    100000000 };
  while (end - place >= 8)
  {
    std::uint64_t text = 0;
    std::memcpy(&text, place, sizeof(text));
    text ^= 0x3030303030303030;
    // The high bit of the first byte that is not a digit; a carry affects only bytes beyond it.
    const std::uint64_t others = ((text + 0x7676767676767676) | text) & 0x8080808080808080;
    const int count = others ? __builtin_ctzll(others) / 8 : 8;
    if (count == 0)
    {
      return place;
    }
    value = value * kPowers[count] + number_of_digits(text << (64 - 8 * count));
    place += count;
    if (count != 8)
    {
      return place;
    }
  }
  for (; place != end && *place >= '0' && *place <= '9'; ++place)
  {
    value = value * 10 + static_cast<std::uint64_t>(*place - '0');
  }
  return place;
}

/// Adds the exponent at `place`, if present, to `exponent`; returns null if it is invalid.
[[nodiscard]] const char* read_exponent(const char* place, const char* end, std::int64_t& exponent)
{
  if (place == end || (*place != 'e' && *place != 'E'))
  {
    return place;
  }
  ++place;
  const bool is_negative = place != end && *place == '-';
  if (is_negative || (place != end && *place == '+'))
  {
    ++place;
  }
  std::uint64_t value = 0;
  const char* const first = place;
  place = read_digits(place, end, value);
  if (place == first || place - first > 4)
  {
    return nullptr;
  }
  exponent += is_negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return place;
}

/// Parses a number at `place` that needs only a few exact operations: an integer of up to 18
/// digits, or digits and a power of ten that are both exact in T, so that one multiplication or
/// division gives the nearest T. Returns where it ends, or null if parse() must read it.
template <class T>
[[nodiscard]] const char* read_usual(const char* place, const char* end, std::byte* out)
{
  const bool is_negative = place != end && *place == '-';
  place += is_negative ? 1 : 0;
  std::uint64_t digits = 0;
  const char* const first = place;
  place = read_digits(place, end, digits);
  std::ptrdiff_t count = place - first;
  T value{};
  if constexpr (std::is_integral_v<T>)
  {
    if (count == 0 || count > 18 || (is_negative && std::is_unsigned_v<T>))
    {
      return nullptr;
    }
    const auto number = static_cast<std::int64_t>(digits);
    value = static_cast<T>(is_negative ? -number : number);
    if (static_cast<std::int64_t>(value) != (is_negative ? -number : number))
    {
      return nullptr;
    }
  }
  else
  {
    // With more bits than T has, the result would be rounded twice.
    constexpr bool kIsRoundedOnce = FLT_EVAL_METHOD == 0;
    constexpr bool kIsDouble = sizeof(T) == 8;
    constexpr std::int64_t kMaxExponent = kIsDouble ? 22 : 10;
    constexpr T kPowers[] = { T(1e0), T(1e1), T(1e2), T(1e3), T(1e4), T(1e5), T(1e6), T(1e7),
      T(1e8), T(1e9), T(1e10), T(1e11), T(1e12), T(1e13), T(1e14), T(1e15), T(1e16), T(1e17),
      T(1e18), T(1e19), T(1e20), T(1e21), T(1e22) };
    std::int64_t exponent = 0;
    if (place != end && *place == '.')
    {
      const char* const fraction = ++place;
      place = read_digits(place, end, digits);
      exponent = fraction - place;
      count += place - fraction;
    }
    place = read_exponent(place, end, exponent);
    if (!kIsRoundedOnce || !place || count == 0 || count > 19 ||
      digits > std::uint64_t{ 1 } << std::numeric_limits<T>::digits || exponent > kMaxExponent ||
      exponent < -kMaxExponent)
    {
      return nullptr;
    }
    value = static_cast<T>(static_cast<std::int64_t>(digits));
    value = exponent < 0 ? value / kPowers[-exponent] : value * kPowers[exponent];
    value = is_negative ? -value : value;
  }
  std::memcpy(out, &value, sizeof(value));
  return place;
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

  /// Splits the text at line ends into pieces with row counts, as many as contain `maximum` rows.
  [[nodiscard]] std::vector<Piece> cut(std::uint64_t maximum) const
  {
    std::vector<Piece> pieces;
    std::uint64_t rows = 0;
    std::size_t begin = 0;
    // The number of pieces grows as needed for `maximum` rows, so that a few rows of a long text
    // are found quickly.
    std::uint64_t wave = 1;
    while (begin != text_.size() && rows < maximum)
    {
      const std::size_t first = pieces.size();
      for (std::size_t i = 0; i != wave && begin != text_.size(); ++i)
      {
        const std::size_t minimum = std::min(kPieceBytes, text_.size() - begin);
        const char* end =
          find_line_end(text_.data() + begin + minimum - 1, text_.data() + text_.size());
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
      const std::uint64_t rows_of_piece = std::max<std::uint64_t>(1, rows / pieces.size());
      wave = rows < maximum ? (maximum - rows) / rows_of_piece + 1 : 0;
    }
    return pieces;
  }

  /// Keeps at most `maximum` rows; returns their number and the end of the text that contains them.
  [[nodiscard]] std::pair<std::uint64_t, std::size_t> limit(
    std::vector<Piece>& pieces, std::uint64_t maximum) const
  {
    std::uint64_t rows = 0;
    std::size_t end = 0;
    std::size_t kept = 0;
    for (; kept != pieces.size() && rows != maximum; ++kept)
    {
      Piece& piece = pieces[kept];
      piece.first_row = rows;
      if (piece.rows > maximum - rows)
      {
        std::uint64_t left = maximum - rows;
        for_each_row(piece,
          [&](const char*, const char* line_end)
          {
            piece.end =
              std::min(text_.size(), static_cast<std::size_t>(line_end - text_.data()) + 1);
            return --left != 0;
          });
        piece.rows = maximum - rows;
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
      const char* line_end = find_line_end(place, end);
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
    const char* place = text_.data() + piece.begin;
    const char* const end = text_.data() + piece.end;
    while (place != end)
    {
      if (const char* const next = parse_usual(place, end, row))
      {
        place = next;
        ++row;
        continue;
      }
      const char* const line_end = find_line_end(place, end);
      std::int64_t column = 0;
      std::string_view field;
      if (without_blanks(place, line_end) != line_end)
      {
        if (!parse_row(place, line_end, row, column, field))
        {
          TextProblem problem;
          problem.row = row;
          problem.column = column;
          problem.place = static_cast<std::size_t>(place - text_.data());
          problem.what = std::string(field.substr(0, 60));
          piece.problem = std::make_unique<TextProblem>(std::move(problem));
          return;
        }
        ++row;
      }
      place = line_end == end ? end : line_end + 1;
    }
  }

  /// Parses the line at `place` if read_usual() reads all of its fields; returns the beginning of
  /// the next line, or null if parse_row() must read it.
  const char* parse_usual(const char* place, const char* end, std::uint64_t row) const
  {
    const char* const first = without_blanks(place, end);
    if (first == end || *first == '\n')
    {
      return nullptr;
    }
    for (std::size_t i = 0; i != columns_.size(); ++i)
    {
      if (delimiter_ != ' ' && i != 0)
      {
        if (place == end || *place != delimiter_)
        {
          return nullptr;
        }
        ++place;
      }
      place = without_around(place, end);
      const char* const begin = place;
      place =
        columns_[i].type ? read_field(columns_[i], row, place, end) : find_text_end(place, end);
      if (!place || (delimiter_ == ' ' && place == begin))
      {
        return nullptr;
      }
      const char* const field_end = place;
      place = without_around(place, end);
      if (delimiter_ == ' ' && place == field_end && place != end && *place != '\n')
      {
        return nullptr;
      }
    }
    if (place == end)
    {
      return end;
    }
    return *place == '\n' ? place + 1 : nullptr;
  }

  static const char* read_field(
    const TextColumn& column, std::uint64_t row, const char* place, const char* end)
  {
    std::byte* const out = column.values + row * column.stride;
    return dispatch(
      *column.type, [&](auto sample) { return read_usual<decltype(sample)>(place, end, out); });
  }

  /// Finds the end of a field that may be any text.
  [[nodiscard]] const char* find_text_end(const char* place, const char* end) const
  {
    while (place != end && *place != '\n' &&
      (delimiter_ == ' ' ? !is_blank(*place) : *place != delimiter_))
    {
      ++place;
    }
    return place;
  }

  [[nodiscard]] const char* without_around(const char* place, const char* end) const
  {
    while (place != end && is_around_fields(*place))
    {
      ++place;
    }
    return place;
  }

  bool parse_row(const char* place, const char* end, std::uint64_t row, std::int64_t& column,
    std::string_view& field) const
  {
    const std::size_t count = columns_.size();
    std::size_t i = 0;
    for (;; ++i)
    {
      place = without_around(place, end);
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
  const std::vector<TextColumn>& columns, std::uint64_t max_rows, int threads)
{
  ParsedRows parsed;
  const Table table(text, delimiter, columns);
  in_arena(threads,
    [&]
    {
      std::vector<Piece> pieces = table.cut(max_rows);
      std::tie(parsed.rows, parsed.used) = table.limit(pieces, max_rows);
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
