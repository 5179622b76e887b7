// SPDX-License-Identifier: BSD-3-Clause
// Of validate(): what is the same for the sections of a leaf file and of a top file. All throw
// Error{Corrupt}.
#pragma once

#include "common/io/random_access_file.hpp"
#include "particles/format/decode.hpp"

#include <vector>

namespace bat
{
/// That nothing overlaps, and that what lies between is zero.
void check_layout(const io::RandomAccessFile& source, const format::Header& header,
  const std::vector<format::SectionRecord>& sections);

/// Checks all sections, even those that nothing else reads.
void check_checksums(const io::RandomAccessFile& source,
  const std::vector<format::SectionRecord>& sections, const format::Schema& schema);

/// That the kind of the section belongs in a file of this kind, and that its number is one that the
/// schema has.
void check_place(const io::RandomAccessFile& source, const format::SectionRecord& section,
  const format::Schema& schema, format::FileKind kind);

void check_metadata(
  const io::RandomAccessFile& source, const std::vector<format::SectionRecord>& sections);
}
