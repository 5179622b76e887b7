// SPDX-License-Identifier: BSD-3-Clause
// The top file of a dataset of several leaf files (FORMAT.md section 15).
#pragma once

#include "bat/file.hpp"
#include "common/io/random_access_file.hpp"
#include "particles/format/decode.hpp"
#include "particles/format/layout.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

namespace bat
{
class TopFile
{
public:
  explicit TopFile(std::unique_ptr<io::RandomAccessFile> opened);

  /// Read at the first call. Throws Error: Corrupt, Truncated.
  const format::LeafFiles& leaf_files() const;

  std::unique_ptr<io::RandomAccessFile> source;
  format::Header header;
  std::vector<format::SectionRecord> sections;
  format::Schema schema;

private:
  mutable std::once_flag loaded_;
  mutable format::LeafFiles leaf_files_;
};

/// Checks everything that can be checked without the leaf files; throws the Error for the first
/// fault.
void validate_top(const TopFile& top);
}
