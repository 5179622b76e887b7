// SPDX-License-Identifier: BSD-3-Clause
// Keeps step folders open, so that reads see the same folders whatever becomes of their names.
#pragma once

#include "bat/idx/header.hpp"
#include "common/io/open_files.hpp"
#include "idx/format/names.hpp"

#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace bat::idx
{
/// The steps of one dataset. A writer replaces a step by putting another folder under its name, and
/// before it empties an old folder, it writes a text that does not name it (IDX.md section 8).
/// Therefore a missing file was never written if, checked afterwards, the folder still has its name
/// and the text names it; otherwise the dataset was replaced. All functions may be called
/// concurrently.
class HeldSteps
{
public:
  /// `path` is the path of the .idx, which has this text. The referenced objects outlive this one.
  HeldSteps(std::filesystem::path path, const std::string& text, const Header& header,
    const format::FileNames& names);

  /// Returns the folder of a step, or null if it does not exist. Throws Error{CannotOpen}, also if
  /// it differs from that of an earlier call.
  [[nodiscard]] std::shared_ptr<const io::Folder> folder(std::int64_t step) const;

  /// Throws Error{CannotOpen} if the dataset was replaced since `folder` was opened or, if that is
  /// null, since the text was read; NotFound if the folder was removed.
  void check_not_replaced(std::int64_t step, const std::shared_ptr<const io::Folder>& folder) const;

  /// Returns false if the path of an open folder now leads to another one, or nowhere.
  [[nodiscard]] bool are_as_opened() const noexcept;

private:
  /// Maximum number of folders kept open for later reads; of others, only the identity is kept.
  static constexpr std::size_t kMaxOpen = 8;
  using Open = std::pair<std::int64_t, std::shared_ptr<const io::Folder>>;

  [[nodiscard]] bool names_still(std::int64_t step, bool is_there) const;
  [[noreturn]] void fail_as_replaced(std::int64_t step) const;

  std::filesystem::path path_;
  const std::string& text_;
  const Header& header_;
  const format::FileNames& names_;
  mutable std::mutex mutex_;
  mutable std::list<Open> open_; ///< most recently used first
  mutable std::map<std::int64_t, io::Folder::Identity> known_;
};
}
