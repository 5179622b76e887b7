// SPDX-License-Identifier: BSD-3-Clause
// Lets one process read from a server what many processes need.
//
//   one process:   RecordedReads, open and query  --->  pack()  --- broadcast --->  all processes
//   the others:    ReplayedReads, open and query, without requests
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace bat
{
/// Notes which files at addresses the process opens while it lives, and which of their bytes it
/// reads, at most 64 MiB of them.
class RecordedReads
{
public:
  RecordedReads();
  RecordedReads(const RecordedReads&) = delete;
  RecordedReads& operator=(const RecordedReads&) = delete;
  ~RecordedReads();

  /// Returns the versions of the files and the bytes. They contain the addresses with their
  /// secrets. Empty if nothing was read from a server.
  [[nodiscard]] std::vector<std::byte> pack() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// While it lives, opening a file that another process has opened gives the same version without
/// asking the server. The bytes stay in the cache for remote files as if they had been read.
class ReplayedReads
{
public:
  /// `packed` comes from RecordedReads::pack() of the same version of this library. Throws
  /// Error{Internal} if it does not.
  explicit ReplayedReads(const std::vector<std::byte>& packed);
  ReplayedReads(const ReplayedReads&) = delete;
  ReplayedReads& operator=(const ReplayedReads&) = delete;
  ~ReplayedReads();

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
}
