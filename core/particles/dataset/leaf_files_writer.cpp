// SPDX-License-Identifier: BSD-3-Clause
#include "particles/dataset/leaf_files_writer.hpp"

#include <random>
#include <system_error>

namespace bat
{
namespace fs = std::filesystem;

namespace
{
// Throws Error if the target cannot be replaced.
const fs::path& replaceable(const fs::path& path)
{
  const io::AtomicFile probe(path);
  return path;
}
}

LeafFilesWriter::LeafFilesWriter(const fs::path& path, const ParticleView& schema, bool flush)
  : path_(io::follow_links(path))
  , folder_(leaves_folder(path_))
  , flush_(flush)
  , lock_(replaceable(path_))
  , replaced_(list_leaf_files(path_))
  , top_(make_contents(schema))
{
  std::random_device random;
  this->id_ = (std::uint64_t{ random() } << 32) | random();
}

void LeafFilesWriter::add(const std::function<void(io::AtomicFile&)>& write)
{
  const auto number = static_cast<std::uint32_t>(this->top_.leaves.size());
  const fs::path path = this->folder_ / leaf_file_name(number, this->id_);
  io::AtomicFile file(path, io::read_permissions(this->path_));
  this->unfinished_.add(path);
  write(file);
  file.commit(this->flush_);
  this->written_.push_back(path);
  LeafEntry entry = describe_leaf(path, {});
  const std::string name = free_leaf_name(this->folder_, number, entry.record.header_checksum,
    this->lock_.is_exclusive() ? this->replaced_ : std::set<std::string>());
  entry.name = this->folder_.filename().string() + "/" + name;
  entry.record.name_bytes = static_cast<std::uint32_t>(entry.name.size());
  this->top_.sample_ids = entry.sample_ids;
  this->top_.leaves.push_back(std::move(entry));
}

// Renames leaf files to the names in the top file.
void LeafFilesWriter::name_leaf_files(std::set<std::string>& names)
{
  for (std::size_t i = 0; i != this->written_.size(); ++i)
  {
    const fs::path name = fs::path(this->top_.leaves[i].name).filename();
    const fs::path file = this->folder_ / name;
    std::error_code unknown;
    const bool is_new = !fs::exists(file, unknown);
    fs::rename(this->written_[i], file);
    this->unfinished_.forget(this->written_[i]);
    if (is_new)
    {
      this->unfinished_.add(file);
    }
    names.insert(name.string());
  }
  if (this->flush_)
  {
    io::flush_folder(this->folder_); // names are on disk before the top file refers to them
  }
}

std::uint64_t LeafFilesWriter::finish()
{
  std::set<std::string> names;
  this->name_leaf_files(names);
  const std::vector<std::byte> contents = encode_top(this->top_);
  io::AtomicFile file(this->path_);
  file.write(0, contents.data(), contents.size());
  file.commit(this->flush_);
  this->unfinished_.keep_all();
  for (const LeafEntry& leaf : this->top_.leaves)
  {
    check_leaf_file(this->path_, this->folder_.parent_path() / leaf.name, leaf.record);
  }
  remove_leftovers(this->path_, names, this->replaced_, &this->lock_);
  return contents.size();
}
}
