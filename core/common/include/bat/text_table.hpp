// SPDX-License-Identifier: BSD-3-Clause
// Parses text tables of numbers: rows to columns of values.
#pragma once

#include "bat/types.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bat
{
/// The destination of a column's values: `stride` bytes from one row to the next.
struct TextColumn
{
  std::optional<ScalarType> type; ///< unset for a column of any text that is not kept
  std::byte* values = nullptr;
  std::size_t stride = 0;
};

/// The first row that does not match the columns.
struct TextProblem
{
  std::uint64_t row = 0;
  std::int64_t column = 0; ///< -1: the row has another number of fields
  std::size_t place = 0;   ///< beginning of its line in the text
  std::string what;        ///< the field, or its beginning
};

struct ParsedRows
{
  std::uint64_t rows = 0;
  std::size_t used = 0; ///< bytes of the text up to the end of the last row
  std::optional<TextProblem> problem;
};

/// Parses at most `max_rows` lines of `text` into the caller's arrays, with `threads` threads (0:
/// all available). A space as `delimiter` stands for any number of spaces and tabs. Lines without
/// any field are skipped. Integers must fit their type; other numbers become the nearest ones of
/// their type. After a problem the contents of the arrays are undefined.
[[nodiscard]] ParsedRows parse_text_table(std::string_view text, char delimiter,
  const std::vector<TextColumn>& columns, std::uint64_t max_rows, int threads);
}
