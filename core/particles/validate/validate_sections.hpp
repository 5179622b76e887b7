// SPDX-License-Identifier: BSD-3-Clause
// Parts of validate() that are the same for sections of leaf files and of top files. All throw
// Error{Corrupt}.
#pragma once

#include "common/io/random_access_file.hpp"
#include "particles/format/decode.hpp"
#include "particles/format/hdf5_view.hpp"

#include <functional>
#include <vector>

namespace bat
{
/// Checks that nothing overlaps, and that bytes in between are zero.
void check_layout(const io::RandomAccessFile& source, const format::Header& header,
  const std::vector<format::SectionRecord>& sections);

/// Checks all sections, even those that nothing else reads.
void check_checksums(const io::RandomAccessFile& source,
  const std::vector<format::SectionRecord>& sections, const format::Schema& schema);

/// Checks that the kind of the section belongs in a file of this kind, and that the schema has its
/// number.
void check_place(const io::RandomAccessFile& source, const format::SectionRecord& section,
  const format::Schema& schema, format::FileKind kind);

void check_metadata(
  const io::RandomAccessFile& source, const std::vector<format::SectionRecord>& sections);

/// Checks that the HDF5 view, if the file has one, has the objects that `expected` returns.
void check_hdf5_view(const io::RandomAccessFile& source, const format::Header& header,
  const std::vector<format::SectionRecord>& sections,
  const std::function<format::Hdf5Objects()>& expected);
}
