// Copies a column's values of selected particles to the caller's memory.
#pragma once

#include "bat/file.hpp"
#include "format/decode.hpp"

namespace bat::query
{
/// In parallel. Throws Error{InvalidArgument} if the selection is not of this file.
void fetch(const File::Impl& file, const format::PagedSection& column, std::uint64_t tuple_bytes,
  const Selection& selection, std::byte* out, const QueryOptions& options);

/// Asks for the pages of the selected particles' positions and attributes, and does not wait.
void prefetch(const File::Impl& file, const Selection& selection,
  const std::vector<std::size_t>& attributes);
}
