// SPDX-License-Identifier: BSD-3-Clause
// Lets a program read files of stores that the library does not know, by a function of its own.
#pragma once

#include "bat/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace bat
{
/// The bytes that a RemoteReader is asked for.
struct RemotePart
{
  std::uint64_t first = 0;
  std::uint64_t count = 0;  ///< at least 1; a smaller file has fewer
  bool is_from_end = false; ///< the last `count` bytes; `first` is 0
};

/// What it returned.
struct RemoteAnswer
{
  std::size_t bytes = 0;  ///< that were read: `count`, or all of a smaller file
  std::uint64_t size = 0; ///< of the file, in bytes
  /// Identifies the version of the file, for example by an ETag. The bytes must be of this version.
  /// Empty: changes are noticed only by the size.
  std::string version;
};

/// A temporary failure, with ErrorCode::CannotOpen: the request is repeated, at most
/// PARABAT_REMOTE_RETRIES times.
class PassingError : public Error
{
public:
  using Error::Error;
};

/// Reads part of a file into `to`, which has space for part.count bytes. `path` is the path of the
/// address, with the escapes and the query that the address has, and without the first '/'. Called
/// concurrently from threads of the library, at most PARABAT_REMOTE_REQUESTS at a time: must be
/// thread-safe. Throws Error{NotFound}, Error{CannotOpen}, or PassingError if a retry may succeed.
/// The message must not contain secrets or the name of the file, which the library adds.
using RemoteReadFunction =
  std::function<RemoteAnswer(const std::string& path, const RemotePart& part, std::byte* to)>;

/// While it exists, the files at address() + PATH are read by its function: datasets and their leaf
/// files, grids, velocity fields and series, as files at an http address. Pages are kept in memory
/// and not in the disk cache. Files that are open when it is destroyed can no longer be read. After
/// fork(), the child may use it only if the function works in the child. In a library that was
/// built with BAT_WITH_CURL=OFF, opening such a file throws Error{CannotOpen}. Thread-safe.
class RemoteReader
{
public:
  /// `shown` replaces address() in messages, for example "gs://".
  RemoteReader(RemoteReadFunction read, std::string shown);
  RemoteReader(const RemoteReader&) = delete;
  RemoteReader& operator=(const RemoteReader&) = delete;
  /// Waits until the function, if it runs, has returned.
  ~RemoteReader();

  /// "reader://1/" for the first one of the process.
  [[nodiscard]] const std::string& address() const noexcept { return this->address_; }

private:
  std::string address_;
};
}
