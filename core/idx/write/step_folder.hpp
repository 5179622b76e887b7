// SPDX-License-Identifier: BSD-3-Clause
// A folder of files that appears under its name complete or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace bat::idx
{
/// Files go to a temporary folder beside `target`; commit() puts it in the target's place by one
/// rename, and keep() ends the matter. Without keep(), the destructor restores what was there
/// before. Throws Error: CannotOpen, NoSpace, WriteFailed.
class StepFolder
{
public:
  /// Makes the folders above it that are missing, and removes what killed writers of the same
  /// folder left.
  explicit StepFolder(std::filesystem::path target);
  StepFolder(const StepFolder&) = delete;
  StepFolder& operator=(const StepFolder&) = delete;
  ~StepFolder();

  /// The folder in which files are written.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return this->temporary_; }
  /// `flush`: the names are on disk before this returns.
  void commit(bool flush);
  /// Removes what the target was before.
  void keep() noexcept;
  /// The target is what it was before commit().
  void restore() noexcept;

private:
  void make_parents();
  void remove_made() noexcept;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::vector<std::filesystem::path> made_; ///< folders above, outermost first
  int descriptor_ = -1;                     ///< holds a lock while the writer lives
  bool committed_ = false;
  bool exchanged_ = false; ///< what was there before is in temporary_
};

/// Removes the folders below `folder` whose names are wanted, but for those that a writer which
/// lives has made. `is_requested` must not throw.
void remove_abandoned(const std::filesystem::path& folder,
  const std::function<bool(const std::string& name)>& is_requested) noexcept;
/// Those that killed writers of `target` left.
void remove_abandoned(const std::filesystem::path& folder, const std::string& target) noexcept;

/// The step and the text that names it, one after the other; neither if one of them fails. Unless
/// empty, `without` is the text meanwhile: it does not name the step, whose files are exchanged.
void commit_step(StepFolder& step, const std::filesystem::path& path, const std::string& text,
  const std::string& without, bool flush);
}
