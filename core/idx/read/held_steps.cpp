// SPDX-License-Identifier: BSD-3-Clause
#include "idx/read/held_steps.hpp"

#include "bat/error.hpp"
#include "common/io/random_access_file.hpp"
#include "common/io/remote/address.hpp"
#include "idx/read/step_list.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bat::idx
{
namespace
{
// Formats the part of a header that does not depend on the existing steps.
std::string format_meaning(Header header)
{
  header.time.ranges.clear();
  header.times.clear();
  for (Field& field : header.fields)
  {
    field.minimum.clear();
    field.maximum.clear();
  }
  return to_text(header);
}
}

HeldSteps::HeldSteps(std::filesystem::path path, const std::string& text, const Header& header,
  const format::FileNames& names)
  : path_(std::move(path))
  , text_(text)
  , header_(header)
  , names_(names)
{
}

std::shared_ptr<const io::Folder> HeldSteps::folder(std::int64_t step) const
{
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    const auto found = std::find_if(this->open_.begin(), this->open_.end(),
      [step](const Open& open) { return open.first == step; });
    if (found != this->open_.end())
    {
      this->open_.splice(this->open_.begin(), this->open_, found);
      return found->second;
    }
  }
  std::shared_ptr<const io::Folder> folder;
  try
  {
    folder =
      std::make_shared<const io::Folder>(this->path_.parent_path() / this->names_.folder(step));
  }
  catch (const Error& error)
  {
    if (error.code() != ErrorCode::NotFound)
    {
      throw;
    }
    return nullptr;
  }
  const std::lock_guard<std::mutex> lock(this->mutex_);
  const auto [known, is_new] = this->known_.emplace(step, folder->identity());
  if (!is_new && !(known->second == folder->identity()))
  {
    this->fail_as_replaced(step);
  }
  this->open_.emplace_front(step, folder);
  if (this->open_.size() > kMaxOpen)
  {
    this->open_.pop_back();
  }
  return folder;
}

void HeldSteps::check_not_replaced(
  std::int64_t step, const std::shared_ptr<const io::Folder>& folder) const
{
  const bool same_text = this->names_still(step, folder != nullptr);
  if (same_text && folder && !std::filesystem::exists(folder->path()))
  {
    throw Error(ErrorCode::NotFound,
      fmt::format("{}: no longer exists; time step {} was replaced or removed after the dataset "
                  "was opened",
        folder->path(), step));
  }
  if (!same_text || (folder && !folder->is_as_opened()))
  {
    this->fail_as_replaced(step);
  }
}

bool HeldSteps::are_as_opened() const noexcept
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  return std::all_of(this->open_.begin(), this->open_.end(),
    [](const Open& open) { return open.second->is_as_opened(); });
}

// Returns whether the current text has the step in the same folder, with the same meaning.
bool HeldSteps::names_still(std::int64_t step, bool is_there) const
{
  std::string text;
  const auto unread = attempt(
    [&]
    {
      const io::RandomAccessFile file(this->path_, io::RemoteHints{ this->text_.size() + 1, 0 });
      text.resize(std::min<std::uint64_t>(file.size(), 2 * kMaxTextBytes));
      file.read(0, text.data(), text.size());
    });
  if (unread)
  {
    // A text that was never written to disk says nothing about replacement.
    return unread->code() == ErrorCode::NotFound && !is_there;
  }
  if (text == this->text_)
  {
    return true;
  }
  bool names = false;
  (void)attempt(
    [&]
    {
      const Header now = parse_header(text, this->path_.string());
      names = format_meaning(now) == format_meaning(this->header_) && names_step(now, step);
    });
  return names;
}

void HeldSteps::fail_as_replaced(std::int64_t step) const
{
  throw Error(ErrorCode::CannotOpen,
    fmt::format("{}: time step {} was replaced or removed after the dataset was opened; open it "
                "again",
      display_name(this->path_), step));
}
}
