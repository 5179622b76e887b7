// SPDX-License-Identifier: BSD-3-Clause
// Reads ranges of bytes of a file, of a file at an address, or of memory.
#pragma once

#include "common/io/byte_range.hpp"
#include "common/io/open_files.hpp"
#include "common/io/remote/hints.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bat::io
{
class RemoteFile;

enum class Access
{
  Read, ///< a file that is cut short while open gives an error
  Map   ///< the same if noticed before its bytes are used, else a signal; as Read at an address
};

/// const functions may be called concurrently.
class RandomAccessFile
{
public:
  /// Opens a path, or an address as is_address() defines it. Throws Error: NotFound, CannotOpen;
  /// for an address as RemoteFile().
  explicit RandomAccessFile(const std::filesystem::path& path, Access access = Access::Read);
  /// The same; an address brings these parts of the file when it is opened.
  RandomAccessFile(const std::filesystem::path& path, const RemoteHints& hints);
  /// A file in a folder. Throws as the other constructor.
  RandomAccessFile(const std::string& name, const std::shared_ptr<const Folder>& folder);
  /// Takes ownership of a vector of bytes.
  template <class Vector>
  RandomAccessFile(Vector&& bytes, std::string name)
    : name_(std::move(name))
    , size_(bytes.size())
  {
    const auto owner = std::make_shared<const std::decay_t<Vector>>(std::forward<Vector>(bytes));
    this->memory_ = { owner, owner->data() };
  }
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;
  ~RandomAccessFile();

  /// The path, or the address without secrets: for messages.
  [[nodiscard]] const std::string& name() const noexcept { return this->name_; }
  /// What it was opened by, for opening files that it names.
  [[nodiscard]] const std::string& path() const noexcept
  {
    return this->remote_ ? this->address_ : this->name_;
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return this->size_; }
  /// The current size of a growing file; size() is the size when it was opened.
  [[nodiscard]] std::uint64_t size_now() const;
  /// Returns whether the name still leads to the opened file; true for memory. For an address, asks
  /// the server for the version; false if it does not answer.
  [[nodiscard]] bool is_as_opened() const noexcept;
  /// Throws Error{Truncated} if the file ends before offset + bytes, CannotOpen if it cannot be
  /// read.
  void read(std::uint64_t offset, void* to, std::size_t bytes) const;

  /// As RemoteFile's; empty unless the file is at an address.
  [[nodiscard]] std::optional<std::int64_t> last_modified() const;
  [[nodiscard]] std::string header(const std::string& name) const;

  [[nodiscard]] bool is_remote() const noexcept { return this->remote_ != nullptr; }
  [[nodiscard]] bool is_mapped() const noexcept { return this->memory_ && this->file_; }
  /// Returns bytes of a mapped file, which count as read. Throws as read() does.
  [[nodiscard]] const std::byte* view(std::uint64_t offset, std::size_t bytes) const;
  /// Throws Error{Truncated} if the mapped file has become shorter.
  void check_length() const;

  /// Hints to the system that reads will be short and far apart, so that it does not read ahead.
  /// Never fails. Call it before other threads use the file.
  void expect_scattered_reads() noexcept { this->scattered_ = true; }

  /// Hints to the system that these bytes are needed soon. Never fails.
  void prefetch(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  /// The same for ranges that will be read together.
  void prefetch(const std::vector<ByteRange>& ranges) const noexcept;

  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return this->bytes_read_; }
  void set_observer(std::function<void(std::uint64_t, std::uint64_t)> observer)
  {
    this->observer_ = std::move(observer);
  }

private:
  RandomAccessFile(const std::filesystem::path& path, Access access, const RemoteHints& hints);
  void map();
  void check_range(std::uint64_t offset, std::size_t bytes, std::uint64_t end) const;
  void note_read(std::uint64_t offset, std::size_t bytes) const;

  std::string name_;
  std::string address_;                      ///< with secrets
  std::unique_ptr<OpenFile> file_;           ///< null for bytes in memory or at an address
  std::shared_ptr<const RemoteFile> remote_; ///< null unless at an address
  std::uint64_t size_ = 0;
  std::shared_ptr<const std::byte> memory_;
  std::function<void(std::uint64_t, std::uint64_t)> observer_;
  bool scattered_ = false;
  mutable std::atomic<int> reported_{ -1 }; ///< the descriptor of which the system knows that
  mutable std::atomic<std::uint64_t> bytes_read_{ 0 };
};
}
