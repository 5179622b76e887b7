// SPDX-License-Identifier: BSD-3-Clause
// Reads ranges of bytes of a file at an http://, https:// or s3:// address.
//
// Opening asks for the head and the tail of the file at the same time: one round trip gives its
// size, its version and the parts that formats need first. Later reads ask for what is in no cache,
// in pages. See ../REMOTE.md for servers, settings and errors.
#pragma once

#include "common/io/remote/engine.hpp"
#include "common/io/remote/hints.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bat::io
{
struct OpenedFile;

/// One version of a remote file: reads never mix versions. const functions may be called
/// concurrently. Files of the same version share their cached pages.
///
/// Errors: NotFound; CannotOpen if the server refuses, fails or is silent, or if the file has
/// changed since it was opened; Cancelled by a ScopedStop of the calling thread. Failures that may
/// pass are retried first.
class RemoteFile
{
public:
  /// Waits for the server. Throws also InvalidArgument: for the address, a setting or a profile.
  explicit RemoteFile(const std::string& address, const RemoteHints& hints = {});
  /// A version that another process has opened, to read for other processes. Does not ask the
  /// server, and leaves its pages in the cache.
  explicit RemoteFile(const OpenedFile& known);
  RemoteFile(const RemoteFile&) = delete;
  RemoteFile& operator=(const RemoteFile&) = delete;
  ~RemoteFile();

  [[nodiscard]] std::uint64_t size() const noexcept { return this->source_->version.size; }
  /// The address without secrets.
  [[nodiscard]] const std::string& name() const noexcept { return this->source_->name; }
  /// The strong ETag, else Last-Modified with the size. Empty if the server sends neither; changes
  /// are then noticed only by the size.
  [[nodiscard]] const std::string& version() const noexcept { return this->version_; }
  /// When the file was last changed according to the server, in seconds since 1970; empty if it
  /// does not say so.
  [[nodiscard]] std::optional<std::int64_t> last_modified() const;
  /// A header that the server sent when the file was opened, if the hints say so; "" if it did not.
  /// `name` is in lower case.
  [[nodiscard]] std::string header(const std::string& name) const;

  /// Waits for bytes that are in no cache. Throws also Truncated if the file ends before
  /// offset + bytes.
  void read(std::uint64_t offset, void* to, std::size_t bytes) const;
  /// Starts to load ranges without waiting. Never fails: parts outside the file, and what exceeds
  /// half the memory for cached pages, are ignored; other faults appear when the bytes are read.
  void prefetch(const std::vector<ByteRange>& ranges) const noexcept;
  /// Removes the pages of this version from memory and disk, for a caller that found wrong bytes.
  void forget() const noexcept;

private:
  void check_range(std::uint64_t offset, std::size_t bytes) const;

  void use(const OpenedFile& known);

  std::string address_; ///< with secrets
  std::shared_ptr<const RemoteSource> source_;
  std::string version_;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::vector<std::byte> whole_; ///< the file, if the server has no ranges
  bool is_whole_ = false;
  bool is_for_others_ = false;
};

/// Counts of all remote files of the process, for tests and benchmarks.
[[nodiscard]] RemoteStatistics remote_statistics();
}
