// SPDX-License-Identifier: BSD-3-Clause
// A file that appears under its name complete or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace bat::io
{
/// Writes to a temporary file next to `target`; commit() renames it to the target. Without commit()
/// the destructor removes the temporary and the target stays as it was. Throws Error: CannotOpen,
/// NoSpace, WriteFailed.
class AtomicFile
{
public:
  /// A replaced file keeps its permissions. A new one gets `permissions`; by default those that the
  /// process gives to new files.
  explicit AtomicFile(const std::filesystem::path& target,
    std::optional<std::filesystem::perms> permissions = std::nullopt);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// The path of the data until commit(), for callers that read it before.
  [[nodiscard]] const std::string& temporary() const noexcept { return this->temporary_; }

  /// Gaps that are never written read as zeros.
  void write(std::uint64_t offset, const void* data, std::size_t bytes);
  /// Starts writing the bytes to disk without waiting, so that a later commit with flush waits
  /// less.
  void begin_flush(std::uint64_t offset, std::uint64_t bytes) noexcept;
  /// With `flush`, the data are on disk before the file gets its name, and the name is on disk
  /// before this returns.
  void commit(bool flush = true);

private:
  bool hold();

  std::filesystem::path target_;
  std::string temporary_;
  int descriptor_ = -1;
};

/// Lets another process write into the temporary of an AtomicFile before it is committed. Throws
/// Error as AtomicFile does, with the name of `target`.
class PartOfFile
{
public:
  PartOfFile(const std::string& temporary, std::filesystem::path target);
  PartOfFile(const PartOfFile&) = delete;
  PartOfFile& operator=(const PartOfFile&) = delete;
  ~PartOfFile();

  void write(std::uint64_t offset, const void* data, std::size_t bytes);
  /// Waits until what this process has written is on disk.
  void flush();

private:
  std::filesystem::path target_;
  int descriptor_ = -1;
};

/// Throws Error{InvalidArgument} if the path contains a zero byte: the system would end it there
/// and open another file.
void check_path(const std::filesystem::path& path);

/// Makes renames inside a folder durable. Ignores file systems that cannot do so.
void flush_folder(const std::filesystem::path& folder) noexcept;

/// Returns the file to which a path leads. Links are followed, so that the file, not the link, is
/// replaced or created. Throws as check_path() does.
[[nodiscard]] std::filesystem::path follow_links(std::filesystem::path path);

/// Returns the permissions of the file to which a path leads; empty if it does not exist.
[[nodiscard]] std::optional<std::filesystem::perms> read_permissions(
  const std::filesystem::path& path) noexcept;

/// Returns whether a file name is that of a temporary for `target` (a file name), or for any
/// target.
[[nodiscard]] bool is_temporary_of(const std::string& name, const std::string& target);
[[nodiscard]] bool is_temporary(const std::string& name);

/// Removes a temporary whose writer was killed. One that is being written stays.
void remove_if_abandoned(const std::filesystem::path& temporary) noexcept;
/// The same for all temporaries of `target` in its folder.
void remove_abandoned_of(const std::filesystem::path& target) noexcept;
/// The same for all temporaries in a folder whose target names satisfy `is_requested`.
void remove_abandoned_in(const std::filesystem::path& folder,
  const std::function<bool(const std::string& target)>& is_requested) noexcept;
}
