// SPDX-License-Identifier: BSD-3-Clause
// Lets processes request each part of a remote file only once, by one of them.
//
// What all processes read, one reads for all:
//   one process:   RecordedReads, open and query  --->  pack()  --- broadcast --->  all processes
//   the others:    ReplayedReads, open and query, without requests
//
// What each process reads for itself may overlap:
//   all processes: HeldPrefetches, prefetch  --->  pack()  --- gather on all --->
//                  read_share()              --->  one parcel for each process --->
//                  ReplayedReads for each parcel, read, without requests
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

/// While it exists, opening a file that another process has opened uses the recorded version and
/// sends no request. The recorded pages remain in the cache for remote files.
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

/// While it lives, prefetches of the process from servers are noted and not sent.
class HeldPrefetches
{
public:
  HeldPrefetches();
  HeldPrefetches(const HeldPrefetches&) = delete;
  HeldPrefetches& operator=(const HeldPrefetches&) = delete;
  ~HeldPrefetches();

  /// Returns the files and the parts of them that are in no cache. The files' addresses contain
  /// their secrets. Empty if there are none.
  [[nodiscard]] std::vector<std::byte> pack() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads this process's share of the pages that all processes recorded with HeldPrefetches. `held`
/// has the result of HeldPrefetches::pack() of each process, the same on all. Shares have equal
/// size and total at most 96 MiB; pages beyond that are not read here. Returns an array of bytes, a
/// parcel, for each process, for its ReplayedReads. If the server fails, the parcels contain what
/// arrived before, and the error is thrown when a missing page is read. Throws Error{Internal} as
/// ReplayedReads.
[[nodiscard]] std::vector<std::vector<std::byte>> read_share(
  const std::vector<std::vector<std::byte>>& held, std::size_t process);
}
