// SPDX-License-Identifier: BSD-3-Clause
// Packs and unpacks what a process has read:
//
//   count, { address, version, key, is_shared, is_whole, whole }...    files that were opened
//   count, { key, size, is_shared, count, { index, bytes }... }...     pages that were read
//
// and what it has held: count, { file as above, count, index... }...
#include "bat/recorded_reads.hpp"

#include "common/fail.hpp"
#include "common/io/remote/engine.hpp"
#include "common/io/remote/read_record.hpp"
#include "common/io/remote/remote_file.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
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

std::vector<std::byte> pack(const ReadRecord& record)
{
  Packer packer;
  if (record.opened.empty() && record.files.empty())
  {
    return {};
  }
  packer.number(record.opened.size());
  for (const auto& [address, file] : record.opened)
  {
    pack(file, packer);
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

Held unpack_held(const std::vector<std::byte>& packed)
{
  Held held;
  if (packed.empty())
  {
    return held;
  }
  Unpacker bytes(packed);
  for (std::uint64_t files = bytes.number(); files != 0; --files)
  {
    HeldFile file;
    file.file = unpack_opened(bytes);
    for (std::uint64_t pages = bytes.number(); pages != 0; --pages)
    {
      file.pages.insert(file.pages.end(), bytes.number());
    }
    held[{ file.file.address, file.file.key }] = std::move(file);
  }
  return held;
}

/// Consecutive pages of the same file that one process reads.
struct Share
{
  OpenedFile file;
  std::vector<std::uint64_t> pages;
};

// Returns the share of a process: the pages of all files in order, cut into equal parts.
std::vector<Share> find_share(const Held& all, std::size_t process, std::size_t processes)
{
  std::uint64_t total = 0;
  for (const auto& [name, file] : all)
  {
    total += file.pages.size();
  }
  total = std::min(total, kMaxSharedPages);
  const std::uint64_t begin = total * process / processes;
  const std::uint64_t end = total * (process + 1) / processes;
  std::vector<Share> shares;
  std::uint64_t at = 0;
  for (const auto& [name, file] : all)
  {
    Share share{ file.file, {} };
    for (const std::uint64_t page : file.pages)
    {
      if (at >= begin && at < end)
      {
        share.pages.push_back(page);
      }
      ++at;
    }
    if (!share.pages.empty())
    {
      shares.push_back(std::move(share));
    }
  }
  return shares;
}

// Reads pages one after another, and packs them for the processes that need them.
class ShareReader
{
public:
  ShareReader(const std::vector<Held>& held, std::size_t process)
    : held_(held)
    , process_(process)
    , parcels_(held.size())
  {
  }

  void read(const std::vector<Share>& shares)
  {
    std::vector<std::unique_ptr<RemoteFile>> files;
    for (const Share& share : shares)
    {
      files.push_back(std::make_unique<RemoteFile>(share.file));
      std::vector<ByteRange> ranges;
      for (const std::uint64_t page : share.pages)
      {
        ranges.push_back({ page * kPageBytes, kPageBytes });
      }
      files.back()->prefetch(ranges);
    }
    for (std::size_t i = 0; i != shares.size(); ++i)
    {
      const std::vector<std::uint64_t>& pages = shares[i].pages;
      for (std::size_t begin = 0; begin != pages.size();)
      {
        std::size_t end = begin + 1;
        while (end != pages.size() && end - begin != kMaxRunPages &&
          pages[end] == pages[begin] + (end - begin))
        {
          ++end;
        }
        this->read_run(shares[i].file, *files[i], pages[begin], end - begin);
        begin = end;
      }
    }
  }

  [[nodiscard]] std::vector<std::vector<std::byte>> pack() const
  {
    std::vector<std::vector<std::byte>> packed;
    for (const ReadRecord& parcel : this->parcels_)
    {
      packed.push_back(io::pack(parcel));
    }
    return packed;
  }

private:
  static constexpr std::size_t kMaxRunPages = 1024;

  // Reads consecutive pages.
  void read_run(
    const OpenedFile& file, const RemoteFile& from, std::uint64_t first, std::size_t count)
  {
    const std::uint64_t begin = first * kPageBytes;
    std::vector<std::byte> bytes(std::min(count * kPageBytes, from.size() - begin));
    from.read(begin, bytes.data(), bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += kPageBytes)
    {
      const auto page = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      this->add(file, first + at / kPageBytes,
        { page,
          page +
            static_cast<std::ptrdiff_t>(std::min<std::size_t>(kPageBytes, bytes.size() - at)) });
    }
  }

  void add(const OpenedFile& file, std::uint64_t page, std::vector<std::byte> bytes)
  {
    const auto data = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    for (std::size_t i = 0; i != this->held_.size(); ++i)
    {
      const auto found = this->held_[i].find({ file.address, file.key });
      if (i != this->process_ && found != this->held_[i].end() &&
        found->second.pages.count(page) != 0)
      {
        ReadRecord::Pages& pages = this->parcels_[i].files[file.key];
        pages.file_bytes = file.version.size;
        pages.is_shared = file.is_shared;
        pages.pages[page] = data;
      }
    }
  }

  const std::vector<Held>& held_;
  std::size_t process_;
  std::vector<ReadRecord> parcels_;
};
}
}

namespace bat
{
struct HeldPrefetches::Impl
{
  io::Held held;
};

HeldPrefetches::HeldPrefetches()
  : impl_(std::make_unique<Impl>())
{
  const std::lock_guard<std::mutex> lock(io::known_reads().mutex);
  io::known_reads().held.push_back(&this->impl_->held);
  ++io::known_reads().held_count;
}

HeldPrefetches::~HeldPrefetches()
{
  const std::lock_guard<std::mutex> lock(io::known_reads().mutex);
  auto& all = io::known_reads().held;
  all.erase(std::remove(all.begin(), all.end(), &this->impl_->held), all.end());
  --io::known_reads().held_count;
}

std::vector<std::byte> HeldPrefetches::pack() const
{
  const std::lock_guard<std::mutex> lock(io::known_reads().mutex);
  io::Packer packer;
  if (this->impl_->held.empty())
  {
    return {};
  }
  packer.number(this->impl_->held.size());
  for (const auto& [name, file] : this->impl_->held)
  {
    io::pack(file.file, packer);
    packer.number(file.pages.size());
    for (const std::uint64_t page : file.pages)
    {
      packer.number(page);
    }
  }
  return std::move(packer.bytes);
}

std::vector<std::vector<std::byte>> read_share(
  const std::vector<std::vector<std::byte>>& held, std::size_t process)
{
  std::vector<io::Held> all;
  io::Held combined;
  for (const std::vector<std::byte>& packed : held)
  {
    all.push_back(io::unpack_held(packed));
    for (const auto& [name, file] : all.back())
    {
      io::HeldFile& both = combined[name];
      both.file = file.file;
      both.pages.insert(file.pages.begin(), file.pages.end());
    }
  }
  io::ShareReader reader(all, process);
  (void)attempt([&] { reader.read(io::find_share(combined, process, held.size())); });
  return reader.pack();
}

struct RecordedReads::Impl
{
  io::ReadRecord record;
};

RecordedReads::RecordedReads()
  : impl_(std::make_unique<Impl>())
{
  const std::lock_guard<std::mutex> lock(io::known_reads().mutex);
  io::known_reads().records.push_back(&this->impl_->record);
  ++io::known_reads().record_count;
}

RecordedReads::~RecordedReads()
{
  const std::lock_guard<std::mutex> lock(io::known_reads().mutex);
  auto& all = io::known_reads().records;
  all.erase(std::remove(all.begin(), all.end(), &this->impl_->record), all.end());
  --io::known_reads().record_count;
}

std::vector<std::byte> RecordedReads::pack() const
{
  const std::lock_guard<std::mutex> lock(io::known_reads().mutex);
  return io::pack(this->impl_->record);
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
  const std::lock_guard<std::mutex> lock(io::known_reads().mutex);
  io::known_reads().replayed.push_back(&this->impl_->opened);
}

ReplayedReads::~ReplayedReads()
{
  const std::lock_guard<std::mutex> lock(io::known_reads().mutex);
  auto& all = io::known_reads().replayed;
  all.erase(std::remove(all.begin(), all.end(), &this->impl_->opened), all.end());
}
}
