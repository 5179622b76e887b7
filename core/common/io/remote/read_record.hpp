// SPDX-License-Identifier: BSD-3-Clause
// What a process has read of remote files, for other processes.
#pragma once

#include "common/io/remote/response.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bat::io
{
/// A version of a file that some process has opened, by the address that it was opened with.
struct OpenedFile
{
  std::string address; ///< with secrets
  RemoteVersion version;
  std::string key;        ///< RemoteSource::key
  bool is_shared = false; ///< RemoteSource::is_shared
  bool is_whole = false;
  std::vector<std::byte> whole; ///< the bytes of the file, if the server has no ranges
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

/// Files with the pages that were held, in an order that is the same on all processes.
struct HeldFile
{
  OpenedFile file;
  std::set<std::uint64_t> pages;
};
using Held = std::map<std::pair<std::string, std::string>, HeldFile>; ///< by address and key

using Opened = std::vector<std::shared_ptr<const OpenedFile>>;

/// Largest number of pages of 4096 bytes that processes share at a time.
constexpr std::uint64_t kMaxSharedPages = 24576;

/// What all RecordedReads, ReplayedReads and HeldPrefetches (bat/recorded_reads.hpp) of the process
/// have. The mutex guards the lists and what they point to.
struct KnownReads
{
  std::mutex mutex;
  std::vector<ReadRecord*> records;
  std::atomic<std::size_t> record_count{ 0 };
  std::vector<const Opened*> replayed;
  std::vector<Held*> held;
  std::atomic<std::size_t> held_count{ 0 };
};
[[nodiscard]] KnownReads& known_reads();

/// Whether any RecordedReads exists.
[[nodiscard]] bool is_recording() noexcept;
/// Adds a file or a page to all RecordedReads. Never fails: other processes ask the server for what
/// is not noted.
void note_opened(const OpenedFile& file) noexcept;
void note_page(const std::string& key, bool is_shared, std::uint64_t file_bytes,
  std::uint64_t index, const std::shared_ptr<const std::vector<std::byte>>& page) noexcept;

/// Whether prefetches are held.
[[nodiscard]] bool is_holding() noexcept;
/// Adds pages of a file to all HeldPrefetches. Never fails, as note_page().
void hold(const OpenedFile& file, const std::vector<std::uint64_t>& pages) noexcept;

/// Returns what another process has opened at the address, if a ReplayedReads knows it.
[[nodiscard]] std::shared_ptr<const OpenedFile> find_replayed(const std::string& address);
}
