// SPDX-License-Identifier: BSD-3-Clause
// Settings for remote files, which hold for the whole process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace bat::io
{
struct RemoteSettings
{
  /// Requests in flight per host; further ones wait. PARABAT_REMOTE_REQUESTS, 1 to 256.
  std::size_t max_requests = 16;
  /// Largest gap, in bytes, that is fetched to merge two requests. PARABAT_REMOTE_GAP.
  std::uint64_t max_gap = 104 << 10;
  /// Largest request, in bytes.
  std::uint64_t max_request = 8 << 20;
  /// Memory, in bytes, for cached pages of all remote files. PARABAT_REMOTE_MEMORY.
  std::uint64_t memory = 256 << 20;
  /// Largest file, in bytes, to load whole from a server without ranges. PARABAT_REMOTE_WHOLE.
  std::uint64_t max_whole = 64 << 20;
  /// A request fails after this time without a byte. PARABAT_REMOTE_TIMEOUT, in seconds.
  std::chrono::milliseconds stall_timeout{ 30000 };
  std::chrono::milliseconds connect_timeout{ 10000 };
  /// Further attempts after a failure that may pass. PARABAT_REMOTE_RETRIES, 0 to 100.
  int max_retries = 4;
  /// The pause before the first further attempt; it doubles with each attempt and varies by half.
  std::chrono::milliseconds first_pause{ 250 };
  /// The longest pause that a server may ask for by Retry-After; it is shortened to this.
  std::chrono::milliseconds max_pause{ 30000 };
  /// The folder of the disk cache, none if empty, and its size in bytes. PARABAT_CACHE as "FOLDER"
  /// or "FOLDER:SIZE".
  std::filesystem::path cache_folder;
  std::uint64_t cache_bytes = std::uint64_t{ 16 } << 30;
};

/// Returns the current settings. The first call reads the environment. Throws
/// Error{InvalidArgument} if a variable is invalid. Thread-safe.
[[nodiscard]] const RemoteSettings& remote_settings();

/// Replaces the settings, for tests. Requests in flight keep the old ones. Thread-safe.
void set_remote_settings(const RemoteSettings& settings);

/// Reads the settings from the environment. Throws Error{InvalidArgument}.
[[nodiscard]] RemoteSettings read_remote_settings();

/// Converts "65536", "64K", "8M", "1.5G" or "2T" (powers of 1024) to bytes. Throws
/// Error{InvalidArgument} that begins with `subject`.
[[nodiscard]] std::uint64_t parse_byte_size(const std::string& text, const std::string& subject);
}
