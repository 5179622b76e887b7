// SPDX-License-Identifier: BSD-3-Clause
// Writes a dataset of several leaf files from one process.
#pragma once

#include "bat/particles.hpp"
#include "common/io/atomic_file.hpp"
#include "particles/dataset/dataset_folder.hpp"
#include "particles/dataset/top_writer.hpp"
#include "particles/dataset/unfinished.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace bat
{
/// Writes leaf files one by one, then the top file, which replaces the old dataset by one rename.
/// Without finish(), nothing is left. While it lives, no other writer writes leaf files of the
/// dataset.
class LeafFilesWriter
{
public:
  /// `path`: links are followed; `schema`: of the particles. Throws Error: CannotOpen, also if
  /// another writer writes the dataset; NoSpace.
  LeafFilesWriter(const std::filesystem::path& path, const ParticleView& schema, bool flush);
  LeafFilesWriter(const LeafFilesWriter&) = delete;
  LeafFilesWriter& operator=(const LeafFilesWriter&) = delete;
  /// Adds the next leaf file, which `write` writes without committing. Consecutive files are
  /// neighbours in space.
  void add(const std::function<void(io::AtomicFile&)>& write);

  /// Writes the top file after at least one leaf file, and removes the leaf files of the replaced
  /// dataset. Returns the bytes of the top file. Throws Error: CannotOpen, NoSpace, WriteFailed.
  std::uint64_t finish();

private:
  void name_leaf_files(std::set<std::string>& names);

  std::filesystem::path path_;
  std::filesystem::path folder_;
  bool flush_;
  LeavesLock lock_;
  std::uint64_t id_ = 0; ///< id of this write, part of temporary leaf file names
  std::set<std::string> replaced_;
  TopContents top_;
  std::vector<std::filesystem::path> written_;
  Unfinished unfinished_;
};
}
