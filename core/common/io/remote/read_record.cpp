// SPDX-License-Identifier: BSD-3-Clause
// Packs and unpacks what a process has read:
//
//   count, { address, version, key, is_shared, is_whole, whole }...    files that were opened
//   count, { key, size, is_shared, count, { index, bytes }... }...     pages that were read
#include "common/io/remote/read_record.hpp"

#include "bat/recorded_reads.hpp"
#include "common/fail.hpp"
#include "common/io/remote/engine.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace bat::io
{
namespace
{
class Packer
{
public:
  void number(std::uint64_t value) { this->append(&value, sizeof(value)); }
  template <class Range>
  void range(const Range& values)
  {
    this->number(values.size());
    this->append(values.data(), values.size());
  }

  std::vector<std::byte> bytes;

private:
  void append(const void* from, std::size_t size)
  {
    const auto* const begin = static_cast<const std::byte*>(from);
    this->bytes.insert(this->bytes.end(), begin, begin + size);
  }
};

class Unpacker
{
public:
  explicit Unpacker(const std::vector<std::byte>& bytes)
    : at_(bytes.data())
    , end_(bytes.data() + bytes.size())
  {
  }

  std::uint64_t number()
  {
    std::uint64_t value = 0;
    this->take(&value, sizeof(value));
    return value;
  }
  template <class Range>
  Range range()
  {
    const std::uint64_t size = this->number();
    this->check(size);
    Range values(static_cast<std::size_t>(size), {});
    this->take(values.data(), values.size());
    return values;
  }

private:
  void check(std::uint64_t size) const
  {
    if (size > static_cast<std::uint64_t>(this->end_ - this->at_))
    {
      fail(ErrorCode::Internal, "reads of another process", "are cut short");
    }
  }
  void take(void* to, std::size_t size)
  {
    this->check(size);
    std::copy_n(this->at_, size, static_cast<std::byte*>(to));
    this->at_ += size;
  }

  const std::byte* at_;
  const std::byte* end_;
};

/// Files that were opened, and pages that were read.
struct ReadRecord
{
  using Page = std::shared_ptr<const std::vector<std::byte>>;
  struct Pages
  {
    std::uint64_t file_bytes = 0;
    bool is_shared = false;
    std::map<std::uint64_t, Page> pages; ///< by index
  };

  std::map<std::string, OpenedFile> opened; ///< by address
  std::map<std::string, Pages> files;       ///< by key
  std::uint64_t bytes = 0;                  ///< of all pages
};

using Opened = std::vector<std::shared_ptr<const OpenedFile>>;

/// All RecordedReads and ReplayedReads of the process.
struct Known
{
  std::mutex mutex;
  std::vector<ReadRecord*> records;
  std::atomic<std::size_t> record_count{ 0 };
  std::vector<const Opened*> replayed;
};

Known& known()
{
  static Known known;
  return known;
}

constexpr std::uint64_t kMaxBytes = std::uint64_t{ 64 } << 20; ///< of the pages of a record

void pack(const OpenedFile& file, Packer& packer)
{
  packer.range(file.address);
  packer.number(file.version.size);
  packer.range(file.version.etag);
  packer.range(file.version.last_modified);
  packer.range(file.key);
  packer.number(file.is_shared ? 1 : 0);
  packer.number(file.is_whole ? 1 : 0);
  packer.range(file.whole);
}

OpenedFile unpack_opened(Unpacker& packed)
{
  OpenedFile file;
  file.address = packed.range<std::string>();
  file.version.size = packed.number();
  file.version.etag = packed.range<std::string>();
  file.version.last_modified = packed.range<std::string>();
  file.key = packed.range<std::string>();
  file.is_shared = packed.number() != 0;
  file.is_whole = packed.number() != 0;
  file.whole = packed.range<std::vector<std::byte>>();
  return file;
}

void unpack_pages(Unpacker& packed)
{
  RemoteSource source;
  source.key = packed.range<std::string>();
  source.version.size = packed.number();
  source.is_shared = packed.number() != 0;
  for (std::uint64_t count = packed.number(); count != 0; --count)
  {
    const std::uint64_t index = packed.number();
    RemoteEngine::get().add_page(source, index,
      std::make_shared<const std::vector<std::byte>>(packed.range<std::vector<std::byte>>()));
  }
}
}

bool is_recording() noexcept
{
  return known().record_count != 0;
}

void note_opened(const OpenedFile& file) noexcept
{
  (void)attempt(
    [&]
    {
      const std::lock_guard<std::mutex> lock(known().mutex);
      for (ReadRecord* const record : known().records)
      {
        record->opened[file.address] = file;
      }
    });
}

void note_page(const std::string& key, bool is_shared, std::uint64_t file_bytes,
  std::uint64_t index, const ReadRecord::Page& page) noexcept
{
  (void)attempt(
    [&]
    {
      const std::lock_guard<std::mutex> lock(known().mutex);
      for (ReadRecord* const record : known().records)
      {
        if (record->bytes + page->size() > kMaxBytes)
        {
          continue;
        }
        ReadRecord::Pages& file = record->files[key];
        file.file_bytes = file_bytes;
        file.is_shared = is_shared;
        if (file.pages.emplace(index, page).second)
        {
          record->bytes += page->size();
        }
      }
    });
}

std::shared_ptr<const OpenedFile> find_replayed(const std::string& address)
{
  const std::lock_guard<std::mutex> lock(known().mutex);
  for (const Opened* opened : known().replayed)
  {
    for (const std::shared_ptr<const OpenedFile>& file : *opened)
    {
      if (file->address == address)
      {
        return file;
      }
    }
  }
  return nullptr;
}
}

namespace bat
{
struct RecordedReads::Impl
{
  io::ReadRecord record;
};

RecordedReads::RecordedReads()
  : impl_(std::make_unique<Impl>())
{
  const std::lock_guard<std::mutex> lock(io::known().mutex);
  io::known().records.push_back(&this->impl_->record);
  ++io::known().record_count;
}

RecordedReads::~RecordedReads()
{
  const std::lock_guard<std::mutex> lock(io::known().mutex);
  auto& all = io::known().records;
  all.erase(std::remove(all.begin(), all.end(), &this->impl_->record), all.end());
  --io::known().record_count;
}

std::vector<std::byte> RecordedReads::pack() const
{
  const std::lock_guard<std::mutex> lock(io::known().mutex);
  const io::ReadRecord& record = this->impl_->record;
  io::Packer packer;
  if (record.opened.empty() && record.files.empty())
  {
    return {};
  }
  packer.number(record.opened.size());
  for (const auto& [address, file] : record.opened)
  {
    io::pack(file, packer);
  }
  packer.number(record.files.size());
  for (const auto& [key, file] : record.files)
  {
    packer.range(key);
    packer.number(file.file_bytes);
    packer.number(file.is_shared ? 1 : 0);
    packer.number(file.pages.size());
    for (const auto& [index, page] : file.pages)
    {
      packer.number(index);
      packer.range(*page);
    }
  }
  return std::move(packer.bytes);
}

struct ReplayedReads::Impl
{
  io::Opened opened;
};

ReplayedReads::ReplayedReads(const std::vector<std::byte>& packed)
  : impl_(std::make_unique<Impl>())
{
  if (packed.empty())
  {
    return;
  }
  io::Unpacker bytes(packed);
  for (std::uint64_t count = bytes.number(); count != 0; --count)
  {
    this->impl_->opened.push_back(std::make_shared<const io::OpenedFile>(io::unpack_opened(bytes)));
  }
  for (std::uint64_t count = bytes.number(); count != 0; --count)
  {
    io::unpack_pages(bytes);
  }
  const std::lock_guard<std::mutex> lock(io::known().mutex);
  io::known().replayed.push_back(&this->impl_->opened);
}

ReplayedReads::~ReplayedReads()
{
  const std::lock_guard<std::mutex> lock(io::known().mutex);
  auto& all = io::known().replayed;
  all.erase(std::remove(all.begin(), all.end(), &this->impl_->opened), all.end());
}
}
