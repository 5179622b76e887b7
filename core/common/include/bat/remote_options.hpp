// SPDX-License-Identifier: BSD-3-Clause
// Settings of remote files that a program may choose in place of the environment.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace bat
{
/// Members that keep their default values use the environment variables instead
/// (core/common/io/REMOTE.md, Settings).
struct RemoteOptions
{
  std::filesystem::path cache_folder; ///< of the cache on disk
  std::uint64_t cache_bytes = 0;      ///< maximum size of the cache on disk
  std::chrono::seconds timeout{ 0 };  ///< a request fails after this time without a byte
};

/// Sets the options for the whole process. The cache applies to files that are opened or read after
/// the call, the time-out to all new requests. Throws Error{InvalidArgument} if a variable of the
/// environment is invalid. Thread-safe.
void set_remote_options(const RemoteOptions& options);
}
