// SPDX-License-Identifier: BSD-3-Clause
// A folder of files that appears under its name complete or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace bat::idx
{
/// Files go to a temporary folder next to `target`; commit() moves it to the target by one rename,
/// and keep() makes this final. Without keep(), the destructor restores the previous state. Throws
/// Error: CannotOpen, NoSpace, WriteFailed.
class StepFolder
{
public:
  /// Creates missing parent folders, and removes leftovers of killed writers of the same
  /// folder.
  explicit StepFolder(std::filesystem::path target);
  StepFolder(const StepFolder&) = delete;
  StepFolder& operator=(const StepFolder&) = delete;
  ~StepFolder();

  /// The folder in which files are written.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return this->temporary_; }
  /// With `flush`, the names are on disk before this returns.
  void commit(bool flush);
  /// Removes the previous target.
  void keep() noexcept;
  /// Restores the target to its state before commit().
  void restore() noexcept;

private:
  void make_parents();
  void remove_made() noexcept;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::vector<std::filesystem::path> made_; ///< folders above, outermost first
  int descriptor_ = -1;                     ///< holds a lock while the writer lives
  bool committed_ = false;
  bool exchanged_ = false; ///< temporary_ holds the previous content
};

/// Removes the folders below `folder` whose names satisfy `is_requested`, except those of live
/// writers. `is_requested` must not throw.
void remove_abandoned(const std::filesystem::path& folder,
  const std::function<bool(const std::string& name)>& is_requested) noexcept;
/// Removes leftovers of killed writers of `target`.
void remove_abandoned(const std::filesystem::path& folder, const std::string& target) noexcept;

/// Replaces the step and the text that names it, one after the other; neither if one of them fails.
/// Unless empty, `without` is the interim text, which does not name the step while its files are
/// exchanged.
void commit_step(StepFolder& step, const std::filesystem::path& path, const std::string& text,
  const std::string& without, bool flush);
}
