// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/read_record.hpp"

#include "bat/error.hpp"

#include <algorithm>

namespace bat::io
{
namespace
{
constexpr std::uint64_t kMaxBytes = std::uint64_t{ 64 } << 20; ///< of the pages of a record
}

KnownReads& known_reads()
{
  static auto* const known = new KnownReads; // threads may read until the process ends
  return *known;
}

bool is_recording() noexcept
{
  return known_reads().record_count != 0;
}

void note_opened(const OpenedFile& file) noexcept
{
  (void)attempt(
    [&]
    {
      const std::lock_guard<std::mutex> lock(known_reads().mutex);
      for (ReadRecord* const record : known_reads().records)
      {
        if (record->bytes + file.whole.size() <= kMaxBytes)
        {
          record->opened[file.address] = file;
          record->bytes += file.whole.size();
        }
      }
    });
}

void note_page(const std::string& key, bool is_shared, std::uint64_t file_bytes,
  std::uint64_t index, const ReadRecord::Page& page) noexcept
{
  (void)attempt(
    [&]
    {
      const std::lock_guard<std::mutex> lock(known_reads().mutex);
      for (ReadRecord* const record : known_reads().records)
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

bool is_holding() noexcept
{
  return known_reads().held_count != 0;
}

void hold(const OpenedFile& file, const std::vector<std::uint64_t>& pages) noexcept
{
  (void)attempt(
    [&]
    {
      const std::lock_guard<std::mutex> lock(known_reads().mutex);
      for (Held* const held : known_reads().held)
      {
        HeldFile& own = (*held)[{ file.address, file.key }];
        own.file = file;
        std::uint64_t count = 0;
        for (const auto& [name, other] : *held)
        {
          count += other.pages.size();
        }
        const std::uint64_t room = kMaxSharedPages - std::min(kMaxSharedPages, count);
        own.pages.insert(pages.begin(),
          pages.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(room, pages.size())));
      }
    });
}

std::shared_ptr<const OpenedFile> find_replayed(const std::string& address)
{
  const std::lock_guard<std::mutex> lock(known_reads().mutex);
  for (const Opened* opened : known_reads().replayed)
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
