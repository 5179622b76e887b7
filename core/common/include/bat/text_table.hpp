// SPDX-License-Identifier: BSD-3-Clause
// Tables of numbers in text: rows to columns of values.
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
/// Where the values of a column go: `stride` bytes from one row's to the next one's.
struct TextColumn
{
  std::optional<ScalarType> type; ///< none for a column that may be any text and is not kept
  std::byte* values = nullptr;
  std::size_t stride = 0;
};

/// The first row of a piece of the text that is not as its columns say.
struct TextProblem
{
  std::uint64_t row = 0;
  std::int64_t column = 0; ///< -1: the row has another number of fields
  std::size_t place = 0;   ///< of its line in the text
  std::string what;        ///< the field, or its beginning
};

struct ParsedRows
{
  std::uint64_t rows = 0;
  std::size_t used = 0; ///< bytes of the text up to the end of the last row
  std::optional<TextProblem> problem;
};

/// Numbers in the lines of `text` to arrays of the caller, at most `max_rows` rows, in as many
/// threads (0: as there are). `delimiter`: a space stands for any number of spaces and tabs. Lines
/// without any field are passed over. Integers must be integers that the type holds; other numbers
/// become the nearest ones of their type. After a problem, what the arrays hold is not defined.
[[nodiscard]] ParsedRows parse_text_table(std::string_view text, char delimiter,
  const std::vector<TextColumn>& columns, std::uint64_t max_rows, int threads);
}
