// SPDX-License-Identifier: BSD-3-Clause
// Parses rows of numbers in text into columns of values, for which Python is too slow.

#include "capi/handles.hpp"
#include "capi/status.hpp"

#include "bat/text_table.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace bat::capi
{
namespace
{
std::vector<TextColumn> make_columns(std::uint64_t count, const int* types, void* const* values,
  const std::size_t* strides, std::uint64_t max_rows)
{
  need_at_most(static_cast<std::int64_t>(count), 1 << 20, "the column count");
  if (count == 0)
  {
    refuse("a table without columns");
  }
  need(types, "type list");
  need(values, "column list");
  std::vector<TextColumn> columns(count);
  for (std::size_t i = 0; i != count; ++i)
  {
    if (types[i] == 0)
    {
      continue;
    }
    const std::string what = fmt::format("column {}", i);
    columns[i].type = type_of(types[i]);
    columns[i].values = static_cast<std::byte*>(values[i]);
    columns[i].stride = stride_of(strides ? strides[i] : 0, bat_type_size(types[i]), what);
    if (max_rows != 0)
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
  const int* types, void* const* values, const size_t* strides, uint64_t max_rows, int64_t threads,
  bat_parsed* out)
{
  return guard(
    [&]
    {
      need(out, "result pointer") = bat_parsed{};
      out->bad_column = -2;
      need_size(bytes, "the byte count");
      need_size(max_rows, "the row count");
      if (bytes != 0)
      {
        need(text, "text");
      }
      if (delimiter <= 0 || delimiter > 127 || delimiter == '\n' || delimiter == '\r')
      {
        refuse(fmt::format(
          "the delimiter is {}; allowed are ASCII characters that do not end a line", delimiter));
      }
      const bat::ParsedRows parsed =
        bat::parse_text_table({ bytes ? text : "", bytes }, static_cast<char>(delimiter),
          make_columns(columns, types, values, strides, max_rows), max_rows, threads_of(threads));
      if (parsed.problem)
      {
        const bat::TextProblem& problem = *parsed.problem;
        out->bad_row = problem.row;
        out->bad_column = problem.column;
        out->bad_place = problem.place;
        refuse(problem.column < 0
            ? fmt::format("row {} does not have {} fields", problem.row, columns)
            : fmt::format("row {}, column {}: '{}' is not a valid {}", problem.row, problem.column,
                problem.what, name_of(type_of(types[problem.column]))));
      }
      out->rows = parsed.rows;
      out->used = parsed.used;
    });
}
