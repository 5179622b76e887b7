// SPDX-License-Identifier: BSD-3-Clause
// The previous dataset under a name, and the header after a step is added.
#pragma once

#include "bat/idx/write.hpp"
#include "common/io/lock_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bat::idx
{
class Series
{
public:
  /// Locks the series of the text at `path`, which is read if it exists and is valid. Other
  /// processes cannot write the dataset until this is destroyed. Throws Error: CannotOpen, also if
  /// another process is writing it; NoSpace.
  [[nodiscard]] static Series of(const std::filesystem::path& path);

  /// Returns the header of all steps after one is written. Throws Error{InvalidArgument} if the
  /// step has another shape or times do not ascend.
  [[nodiscard]] Header with_step(Header step, const WriteOptions& options) const;

  /// Returns the text without the replaced steps, which is used while their files are exchanged;
  /// empty if the new step has its own files.
  [[nodiscard]] std::string text_without(const Header& now, const WriteOptions& options) const;

  /// Removes folders of the old dataset that the new one does not name, and leftovers of killed
  /// writers of datasets of any shape, if this library made them and no other .idx next to it names
  /// them.
  void remove_what_is_not_in(const Header& now) const noexcept;

private:
  [[noreturn]] void fail(const WriteOptions& options, const std::string& what) const;
  explicit Series(std::filesystem::path path);
  [[nodiscard]] Header added(Header step, const WriteOptions& options) const;
  // The header of there_.
  [[nodiscard]] std::vector<std::int64_t> steps() const;
  [[nodiscard]] std::size_t steps_before(std::int64_t step) const;
  [[nodiscard]] std::set<std::int64_t> steps_kept(const WriteOptions& options) const;
  [[nodiscard]] bool has_copies() const;
  void remove_steps(const Header& now) const;
  void remove_leftovers(const Header& now) const;

  std::filesystem::path path_;
  std::unique_ptr<const io::LockFile> lock_;
  std::optional<Header> there_;
  std::string problem_; ///< why there_ is empty although a file exists
};
}
