// SPDX-License-Identifier: BSD-3-Clause
#include "idx/read/visus_cache.hpp"

#include "bat/error.hpp"
#include "common/io/atomic_file.hpp"
#include "common/io/random_access_file.hpp"
#include "idx/format/order.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace bat::idx
{
namespace
{
std::filesystem::path find_folder()
{
  if (const char* const folder = std::getenv("VISUS_CACHE"); folder && *folder != '\0')
  {
    return folder;
  }
  const char* const home = std::getenv("HOME");
  return home && *home != '\0' ? std::filesystem::path(home) / "visus" / "cache"
                               : std::filesystem::path();
}

// The text of the same grid with one file for each block.
Header make_copy(Header header, Codec codec)
{
  std::uint64_t sample = 1;
  for (Field& field : header.fields)
  {
    field.codec = codec;
    sample = std::max(sample, field.sample_bytes());
  }
  header.version = 6;
  header.blocks_per_file = 1;
  header.interleave = 1;
  header.arco = sample << header.bits_per_block;
  return header;
}

bool is_same_grid(const Header& a, const Header& b)
{
  const auto is_same_field = [](const Field& x, const Field& y)
  {
    return x.name == y.name && x.type == y.type && x.components == y.components &&
      x.layout == y.layout;
  };
  return a.box.lower == b.box.lower && a.box.upper == b.box.upper && a.bits == b.bits &&
    a.bits_per_block == b.bits_per_block &&
    std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(), is_same_field);
}

// In seconds since 1970.
std::optional<std::int64_t> read_time(const std::filesystem::path& path)
{
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 ? std::optional<std::int64_t>(status.st_mtime)
                                            : std::nullopt;
}

// `time` is when the version was made of which this is a copy; the file gets this time.
void write_file(const std::filesystem::path& path, const void* data, std::size_t bytes,
  std::optional<std::int64_t> time)
{
  std::filesystem::create_directories(path.parent_path());
  io::AtomicFile file(path);
  file.write(0, data, bytes);
  if (time)
  {
    const struct timespec both[2] = { { *time, 0 }, { *time, 0 } };
    if (::utimensat(AT_FDCWD, file.temporary().c_str(), both, 0) != 0)
    {
      return; // without the time it would look newer than it is
    }
  }
  file.commit(/*flush=*/false); // a copy that a crash of the system damages is fetched again
}

// Whether a name of a field or a file is one folder in a path.
bool is_segment(const std::string& name)
{
  return !name.empty() && name != "." && name != ".." &&
    name.find_first_of(std::string("/\0", 2)) == std::string::npos;
}
}

VisusCache::VisusCache(
  const VisusAddress& address, const Header& header, std::optional<std::int64_t> changed)
  : folder_(find_folder())
  , address_(address.file)
  , stem_(address.cache_stem)
  , codec_(address.cache_codec)
  , header_(make_copy(header, address.cache_codec))
  , names_(this->header_, address.cache_stem)
  , changed_(changed)
{
  const bool are_segments = is_segment(this->stem_) &&
    std::all_of(header.fields.begin(), header.fields.end(),
      [](const Field& field) { return is_segment(field.name); });
  if (this->folder_.empty() || !are_segments)
  {
    this->may_read_ = this->may_write_ = false;
  }
  this->folder_ /= address.cache_folder;
}

std::filesystem::path VisusCache::path_of(
  std::int64_t step, const Field& field, std::uint64_t block) const
{
  return this->folder_ / this->names_.arco_file(step, field.name, block);
}

// Compares the text in the cache with that of the server, and leaves one if there is none.
void VisusCache::prepare() const
{
  if (!this->changed_)
  {
    (void)attempt([&] { // without the time, copies are used as OpenVisus uses them
      this->changed_ =
        io::RandomAccessFile(this->address_, io::RemoteHints{ 1, 0 }).last_modified();
    });
  }
  const std::filesystem::path path = this->folder_ / (this->stem_ + ".idx");
  const std::optional<std::int64_t> time = read_time(path);
  if (time)
  {
    bool is_same = false;
    (void)attempt(
      [&]
      {
        const io::RandomAccessFile file(path);
        std::string text(std::min(file.size(), kMaxTextBytes), '\0');
        file.read(0, text.data(), text.size());
        is_same = is_same_grid(parse_header(text, path.string()), this->header_);
      });
    if (is_same)
    {
      return;
    }
    // Copies older than the .idx on the server are not used anyway.
    this->may_read_ = this->may_write_ = this->changed_ && *time < *this->changed_;
  }
  if (this->may_write_)
  {
    const std::string text = to_text(this->header_);
    if (attempt([&] { write_file(path, text.data(), text.size(), this->changed_); }))
    {
      this->may_write_ = false;
    }
  }
}

bool VisusCache::read(std::int64_t step, const Field& field, std::uint64_t block,
  std::uint64_t max_bytes, Bytes& packed) const noexcept
{
  bool is_read = false;
  (void)attempt(
    [&]
    {
      std::call_once(this->once_, [&] { this->prepare(); });
      const std::filesystem::path path = this->path_of(step, field, block);
      const std::optional<std::int64_t> time = this->may_read_ ? read_time(path) : std::nullopt;
      if (!time || *time < this->changed_.value_or(*time))
      {
        return;
      }
      const io::RandomAccessFile file(path);
      if (file.size() <= max_bytes)
      {
        packed.resize(file.size());
        file.read(0, packed.data(), packed.size());
        is_read = true;
      }
    });
  return is_read;
}

void VisusCache::write(std::int64_t step, const Field& field, std::uint64_t block,
  const std::byte* packed, std::size_t bytes) const noexcept
{
  if (this->may_write_ &&
    attempt([&] { write_file(this->path_of(step, field, block), packed, bytes, this->changed_); }))
  {
    this->may_write_ = false;
  }
}
}
