// SPDX-License-Identifier: BSD-3-Clause
// Limits the number of descriptors: files not used for a while are closed and reopened.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <utility>

namespace bat::io
{
/// A folder that stays the opened one even if its name changes. Holds a descriptor as long as it
/// lives. const functions may be called concurrently.
class Folder
{
public:
  /// Throws Error: NotFound, CannotOpen.
  explicit Folder(const std::filesystem::path& path);
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  [[nodiscard]] const std::string& path() const noexcept { return this->path_; }
  [[nodiscard]] int descriptor() const noexcept { return this->descriptor_; }
  /// Returns whether the folder has an entry with this name, which may be a path below it.
  [[nodiscard]] bool has(const std::string& name) const noexcept;
  /// Returns whether the path used to open the folder still leads to it.
  [[nodiscard]] bool is_as_opened() const noexcept;

  /// Distinguishes a folder from earlier and later ones with the same name.
  struct Identity
  {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    std::int64_t made_s = 0; ///< time of creation, if the file system knows it
    std::int64_t made_ns = 0;

    friend bool operator==(const Identity& a, const Identity& b) noexcept
    {
      return a.device == b.device && a.number == b.number && a.made_s == b.made_s &&
        a.made_ns == b.made_ns;
    }
  };
  [[nodiscard]] const Identity& identity() const noexcept { return this->identity_; }

private:
  std::string path_;
  std::string absolute_;
  int descriptor_ = -1;
  Identity identity_;
};

/// A file that is open for reading whenever it is in use. Together, all such files of the process
/// have about a quarter of the descriptors that it may have (its soft limit), 1024 at most, or as
/// many as are in use at the same time; beyond that, the least recently used file is closed. const
/// functions may be called concurrently.
class OpenFile
{
public:
  /// Throws Error: NotFound, CannotOpen.
  explicit OpenFile(std::string path);
  /// A file in a folder, wherever that folder is by now.
  OpenFile(std::shared_ptr<const Folder> folder, std::string name);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  /// The status of the file when it was first opened.
  [[nodiscard]] const struct stat& status() const noexcept { return this->status_; }

  /// The descriptor, which stays open as long as this lives.
  class Use
  {
  public:
    explicit Use(const OpenFile& file)
      : file_(&file)
    {
    }
    Use(Use&& other) noexcept
      : file_(std::exchange(other.file_, nullptr))
    {
    }
    Use& operator=(Use&&) = delete;
    ~Use()
    {
      if (this->file_)
      {
        this->file_->state_.fetch_sub(1, std::memory_order_release);
      }
    }
    [[nodiscard]] int descriptor() const noexcept { return this->file_->descriptor_; }

  private:
    const OpenFile* file_;
  };

  /// Opens the file again if it was closed. Throws Error: NotFound if it no longer exists,
  /// Truncated if it is shorter than when it was first opened, CannotOpen if it cannot be opened,
  /// or has been replaced or changed since.
  [[nodiscard]] Use use() const;

  /// Returns whether the name still leads to the file that was first opened, unchanged. False if
  /// unknown.
  [[nodiscard]] bool is_as_opened() const noexcept;

  /// Returns the length of the file that was first opened, if it is open or still has its name.
  [[nodiscard]] std::optional<std::uint64_t> length_now() const;

private:
  friend class OpenFiles;

  void open();

  std::string path_;
  std::string absolute_;                 ///< for reopening from any working directory
  std::shared_ptr<const Folder> folder_; ///< folder that contains absolute_, if not null
  struct stat status_
  {
  };
  mutable int descriptor_ = -1;
  mutable std::atomic<std::uint32_t> state_; ///< users; and a bit while the descriptor is closed
  mutable std::atomic<std::uint64_t> last_use_{ 0 };
};

/// The current number of descriptors of all OpenFiles, for tests.
[[nodiscard]] std::size_t open_descriptors();
}
