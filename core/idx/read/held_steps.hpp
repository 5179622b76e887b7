// SPDX-License-Identifier: BSD-3-Clause
// The folders of steps, which stay those that were looked at first whatever becomes of their names.
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
/// Of one dataset. A step is replaced by another folder under its name, and before an old folder is
/// emptied, a text that does not name it is in place (IDX.md section 8). So a file that is not
/// there was never written if, after that was seen, the folder still has its name and the text
/// names it; else the dataset was replaced. All functions may be called concurrently.
class HeldSteps
{
public:
  /// `path`: of the .idx, which has this text. The things referred to outlive this.
  HeldSteps(std::filesystem::path path, const std::string& text, const Header& header,
    const format::FileNames& names);

  /// The folder of a step, or null if it is not there. Throws Error{CannotOpen}, also if it is
  /// another one than in a call before.
  [[nodiscard]] std::shared_ptr<const io::Folder> folder(std::int64_t step) const;

  /// Throws Error{CannotOpen} if the dataset was replaced since `folder` was opened, or, where that
  /// is null, since the text was read; NotFound if the folder was removed.
  void check_not_replaced(std::int64_t step, const std::shared_ptr<const io::Folder>& folder) const;

  /// False if the path of a folder that is open leads to another one, or nowhere.
  [[nodiscard]] bool are_as_opened() const noexcept;

private:
  /// Most folders that are open for later reads; of others it is known which they were.
  static constexpr std::size_t kMaxOpen = 8;
  using Open = std::pair<std::int64_t, std::shared_ptr<const io::Folder>>;

  [[nodiscard]] bool names_still(std::int64_t step, bool is_there) const;
  [[noreturn]] void fail_as_replaced(std::int64_t step) const;

  std::filesystem::path path_;
  const std::string& text_;
  const Header& header_;
  const format::FileNames& names_;
  mutable std::mutex mutex_;
  mutable std::list<Open> open_; ///< that was used last in front
  mutable std::map<std::int64_t, io::Folder::Identity> known_;
};
}
