// SPDX-License-Identifier: BSD-3-Clause
// What a process has read of remote files, for other processes.
#pragma once

#include "common/io/remote/response.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
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
