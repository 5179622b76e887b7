// SPDX-License-Identifier: BSD-3-Clause
// Pages of remote files in a folder on disk, which processes may share.
//
// One sparse file holds the pages of one version of a remote file:
//
//   header     4096 bytes: magic, page size, size of the remote file, key, checksum
//   group 0    512 checksums of 8 bytes (0: the page is absent), then 512 pages of 4096 bytes
//   group 1    ...
//
// A page is written before its checksum, and it counts only if the checksum is right. A process
// that is killed, a disk that loses writes, and two processes that write the same page therefore
// never make a wrong page. Files are open only while they are read or written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace bat::io
{
constexpr std::size_t kPageBytes = 4096;

/// All functions may be called concurrently. Faults of the disk count as absent pages.
class DiskPages
{
public:
  /// Creates the folder if necessary. `key` has 32 hexadecimal digits. Throws Error{CannotOpen} if
  /// the folder cannot be created or written.
  DiskPages(const std::filesystem::path& folder, std::uint64_t max_bytes, const std::string& key,
    std::uint64_t file_size);

  struct Page
  {
    std::uint64_t index;
    std::shared_ptr<const std::vector<std::byte>> data;
  };
  /// Returns those of the pages that exist. `indices` are in increasing order.
  [[nodiscard]] std::vector<Page> load(const std::vector<std::uint64_t>& indices) const noexcept;
  /// Returns those of the indices for which a checksum exists. The pages may still be damaged.
  [[nodiscard]] std::vector<std::uint64_t> find(
    const std::vector<std::uint64_t>& indices) const noexcept;
  /// Stores consecutive pages. Only the last page of the file may be shorter than a page.
  void store(std::uint64_t first, const std::byte* data, std::size_t bytes) const noexcept;
  /// Removes all pages. store() does nothing from then on.
  void erase() const noexcept;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return this->path_; }

  /// Removes whole files, least recently used first, until those that remain have at most 90 % of
  /// `max_bytes` if they have more than `max_bytes`.
  static void trim(const std::filesystem::path& folder, std::uint64_t max_bytes) noexcept;

private:
  class Descriptor;

  [[nodiscard]] std::vector<std::byte> header() const;
  [[nodiscard]] std::size_t page_size(std::uint64_t index) const noexcept;
  [[nodiscard]] bool has_header(int descriptor) const;
  void open_to_write(Descriptor& file) const;
  std::vector<std::uint64_t> read_checksums(int descriptor, std::uint64_t group) const;
  template <class Function>
  void for_each_stored(
    int descriptor, const std::vector<std::uint64_t>& indices, const Function& function) const;

  std::filesystem::path folder_;
  std::filesystem::path path_;
  std::uint64_t max_bytes_;
  mutable std::mutex writing_; ///< so that no store() ends after an erase()
  mutable bool is_erased_ = false;
  std::string key_;
  std::uint64_t file_size_;
};
}
