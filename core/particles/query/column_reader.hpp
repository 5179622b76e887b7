// SPDX-License-Identifier: BSD-3-Clause
// Copies a column's values of selected particles to the caller's memory.
#pragma once

#include "bat/file.hpp"
#include "particles/format/column.hpp"
#include "particles/format/decode.hpp"

namespace bat::query
{
/// The location of values: a part of each element in a column.
struct Column
{
  const format::ColumnSection& section;
  std::uint64_t offset_bytes; ///< offset of the value in it
  std::uint64_t value_bytes;
};

/// Copies values in parallel. Throws Error{InvalidArgument} if the selection belongs to another
/// file.
void fetch(const File::Impl& file, const Column& column, const Selection& selection, std::byte* out,
  const QueryOptions& options);

/// Returns the first `count` elements in a column of a mapped file, in place; pages are
/// checked in parallel. Throws Error: InvalidArgument if the file is not mapped or has fewer
/// particles.
[[nodiscard]] const std::byte* map_column(
  const File::Impl& file, const Column& column, std::uint64_t count, const QueryOptions& options);

/// Prefetches the pages of the selected particles' positions and attributes without waiting.
void prefetch(
  const File::Impl& file, const Selection& selection, const std::vector<std::size_t>& attributes);
}
