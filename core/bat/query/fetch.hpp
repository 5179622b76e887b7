// Copies a column's values of selected particles to the caller's memory.
#pragma once

#include "bat/file.hpp"
#include "bat/format/decode.hpp"
#include "bat/format/page_reader.hpp"

namespace bat::query
{
/// In parallel. Throws Error{InvalidArgument} if the selection is not of this file.
void fetch(const File::Impl& file, const format::PagedSection& column, std::uint64_t tuple_bytes,
  const Selection& selection, std::byte* out, const QueryOptions& options);

/// The first `count` values of a column of a mapped file, where they lie; pages are checked in
/// parallel. Throws Error: InvalidArgument if the file is not mapped or has fewer
/// particles.
[[nodiscard]] const std::byte* map_column(const File::Impl& file,
  const format::PagedSection& column, std::uint64_t tuple_bytes, std::uint64_t count,
  const QueryOptions& options);

/// Asks for the pages of the selected particles' positions and attributes, and does not wait.
void prefetch(
  const File::Impl& file, const Selection& selection, const std::vector<std::size_t>& attributes);
}
