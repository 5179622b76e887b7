// SPDX-License-Identifier: BSD-3-Clause
#include "idx/write/series.hpp"

#include "bat/error.hpp"
#include "common/io/atomic_file.hpp"
#include "common/io/random_access_file.hpp"
#include "idx/format/names.hpp"
#include "idx/read/step_list.hpp"
#include "idx/write/plan.hpp"
#include "idx/write/step_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace bat::idx
{
namespace
{
constexpr std::size_t kDigitsOfShape = 8;

std::optional<Header> read_header(const std::filesystem::path& path)
{
  const io::RandomAccessFile file(path);
  std::string text(std::min<std::uint64_t>(file.size(), (std::uint64_t{ 1 } << 20) + 1), '\0');
  file.read(0, text.data(), text.size());
  return parse_header(text, path.string());
}

// All steps at one distance, or runs of neighbours.
std::vector<StepRange> compute_ranges(const std::set<std::int64_t>& steps)
{
  std::vector<std::int64_t> all(steps.begin(), steps.end());
  if (all.size() > 2)
  {
    const std::int64_t by = all[1] - all[0];
    bool even = true;
    for (std::size_t i = 1; i != all.size(); ++i)
    {
      even = even && all[i] - all[i - 1] == by;
    }
    if (even)
    {
      return { { all.front(), all.back(), by } };
    }
  }
  std::vector<StepRange> ranges;
  for (const std::int64_t step : all)
  {
    if (!ranges.empty() && ranges.back().last + 1 == step)
    {
      ranges.back().last = step;
      continue;
    }
    ranges.push_back({ step, step, 1 });
  }
  return ranges;
}

// Recognizes files that this library wrote: FOLDER/XXXXXXXX/time_..., or PIDX's names.
std::filesystem::path find_step_folder(
  const std::filesystem::path& path, const Header& header, std::int64_t step)
{
  const format::FileNames names(header, folder_name(path));
  return path.parent_path() / std::filesystem::path(names.file(step, 0)).parent_path();
}

bool is_step_of_ours(const std::string& name)
{
  const std::string digits = name.substr(0, 5) == "time_" ? name.substr(5) : "";
  return digits.size() >= 6 && digits.find_first_not_of("0123456789") == std::string::npos;
}

bool is_ours(const std::filesystem::path& path, const Header& header)
{
  const std::string folder = "./" + folder_name(path) + "/";
  const std::string& name = header.filename_template;
  if (header.arco != 0 || header.time.listed || name.compare(0, folder.size(), folder) != 0)
  {
    return false;
  }
  const std::string rest = name.substr(folder.size());
  return !header.pidx && header.time.name_template == "time_%06d/" &&
    rest.find_first_not_of("0123456789abcdef") == kDigitsOfShape && rest[kDigitsOfShape] == '/' &&
    rest.find('/', kDigitsOfShape + 1) == std::string::npos;
}
}

// Otherwise, steps that another process adds meanwhile would be missing in the text that replaces
// this one.
Series::Series(std::filesystem::path path)
  : path_(std::move(path))
{
  std::error_code unmade; // the write of the step reports it
  if (!this->path_.parent_path().empty())
  {
    std::filesystem::create_directories(this->path_.parent_path(), unmade);
  }
  this->lock_ = std::make_unique<const io::LockFile>(io::lock_path(this->path_));
  if (this->lock_->state() == io::LockFile::State::Taken)
  {
    throw Error(ErrorCode::CannotOpen,
      fmt::format("{}: another process is writing this dataset; try again when it has finished",
        this->path_.string()));
  }
}

Series Series::of(const std::filesystem::path& path)
{
  Series series(path);
  try
  {
    series.there_ = read_header(path);
  }
  catch (const Error& error)
  {
    if (error.code() == ErrorCode::CannotOpen)
    {
      throw;
    }
    series.problem_ = error.code() == ErrorCode::NotFound ? "" : error.what();
  }
  return series;
}

void Series::fail(const WriteOptions& options, const std::string& what) const
{
  // The caller gave a step and may not know about modes.
  const bool is_implied = options.mode == WriteMode::Auto && options.step;
  throw Error(ErrorCode::InvalidArgument,
    fmt::format("{}: {}{}", this->path_.string(), what,
      is_implied ? "; mode=\"replace\" replaces the whole dataset with this step" : ""));
}

Header Series::with_step(Header step, const WriteOptions& options) const
{
  const WriteMode mode = options.effective_mode();
  if (!this->problem_.empty() && mode != WriteMode::Replace)
  {
    this->fail(options,
      fmt::format("the step cannot be added to the existing dataset ({})", this->problem_));
  }
  if (!this->there_)
  {
    return step;
  }
  const auto files = [&](ShapeFolder which)
  { return filename_template(step, folder_name(this->path_), which); };
  const std::string& files_there = this->there_->filename_template;
  if (files_there == files(ShapeFolder::Second))
  {
    step.filename_template = files_there;
  }
  const std::string other = difference(*this->there_, step);
  if (mode == WriteMode::AddStep && !other.empty())
  {
    this->fail(options, fmt::format("the step cannot be added: in the dataset, {}", other));
  }
  if (this->steps_kept(options).empty())
  {
    // The dialect prescribes the names, and the new files would replace the old ones.
    if (step.pidx && !other.empty())
    {
      this->fail(options,
        fmt::format(
          "a different dataset exists ({}); for PIDX, remove it and its folder first", other));
    }
    if (files_there == step.filename_template && names_step(*this->there_, options.step_number()))
    {
      const bool is_first = files_there == files(ShapeFolder::First);
      step.filename_template = files(is_first ? ShapeFolder::Second : ShapeFolder::First);
    }
    return step;
  }
  if (!other.empty())
  {
    this->fail(options, fmt::format("the step cannot be added: in the dataset, {}", other));
  }
  return this->added(std::move(step), options);
}

std::set<std::int64_t> Series::steps_kept(const WriteOptions& options) const
{
  const WriteMode mode = options.effective_mode();
  std::set<std::int64_t> kept;
  for (const std::int64_t step : this->steps())
  {
    if ((mode == WriteMode::AddStep && step != options.step_number()) ||
      (mode == WriteMode::Continue && step < options.step_number()))
    {
      kept.insert(step);
    }
  }
  return kept;
}

std::string Series::text_without(const Header& now, const WriteOptions& options) const
{
  if (!this->there_ || this->there_->filename_template != now.filename_template ||
    !names_step(*this->there_, options.step_number()))
  {
    return {};
  }
  const std::set<std::int64_t> kept = this->steps_kept(options);
  if (kept.empty())
  {
    return {};
  }
  Header left = *this->there_;
  const std::vector<std::int64_t> all = this->steps();
  left.times.clear();
  for (std::size_t i = 0; i != std::min(all.size(), this->there_->times.size()); ++i)
  {
    if (kept.count(all[i]) != 0)
    {
      left.times.push_back(this->there_->times[i]);
    }
  }
  left.time.ranges = compute_ranges(kept);
  return to_text(left);
}

std::vector<std::int64_t> Series::steps() const
{
  const format::FileNames names(*this->there_, folder_name(this->path_));
  return list_steps(*this->there_, names, this->path_.parent_path());
}

std::size_t Series::steps_before(std::int64_t step) const
{
  const std::vector<std::int64_t> all = this->steps();
  return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), step) - all.begin());
}

Header Series::added(Header step, const WriteOptions& options) const
{
  const Header& there = *this->there_;
  const std::int64_t number = options.step_number();
  const bool keeps_later = options.effective_mode() != WriteMode::Continue;
  std::vector<std::int64_t> before = this->steps();
  const std::size_t of_times = before.size();
  before.resize(keeps_later ? before.size() : this->steps_before(number));
  std::set<std::int64_t> steps(before.begin(), before.end());
  const bool is_new = steps.insert(number).second;
  const auto at = std::distance(steps.begin(), steps.find(number));
  if (options.time.has_value() == there.times.empty())
  {
    this->fail(options,
      there.times.empty() ? "the existing steps have no times, but the new one has"
                          : "the existing steps have times, but the new one has none");
  }
  if (options.time)
  {
    std::vector<double> times = there.times;
    if (times.size() != of_times)
    {
      this->fail(options,
        "the number of times in (parabat_times) differs from the number of "
        "steps");
    }
    times.resize(before.size());
    is_new ? void(times.insert(times.begin() + at, *options.time))
           : void(times[static_cast<std::size_t>(at)] = *options.time);
    if (!std::is_sorted(times.begin(), times.end()))
    {
      this->fail(options,
        fmt::format("the time {} of step {} is not between those of the neighbouring steps",
          *options.time, number));
    }
    step.times = std::move(times);
  }
  step.time.ranges = compute_ranges(steps);
  for (std::size_t i = 0; i != step.fields.size(); ++i)
  {
    Field& field = step.fields[i];
    const Field& old = there.fields[i];
    if (old.minimum.size() == 1 && old.maximum.size() == 1)
    {
      const bool has = !field.minimum.empty();
      field.minimum = { has ? std::min(field.minimum[0], old.minimum[0]) : old.minimum[0] };
      field.maximum = { has ? std::max(field.maximum[0], old.maximum[0]) : old.maximum[0] };
    }
  }
  return step;
}

// The folder may belong to another text that was copied from this one.
bool Series::has_copies() const
{
  for (const auto& entry : std::filesystem::directory_iterator(
         this->path_.parent_path().empty() ? "." : this->path_.parent_path()))
  {
    if (entry.path().extension() != ".idx" || entry.path().filename() == this->path_.filename())
    {
      continue;
    }
    const std::optional<Error> unread = attempt(
      [&]
      {
        const std::string name = read_header(entry.path())->filename_template;
        const std::string folder = folder_name(this->path_) + "/";
        if (name.compare(name.compare(0, 2, "./") == 0 ? 2 : 0, folder.size(), folder) == 0)
        {
          throw Error(ErrorCode::Cancelled, "refers to the same folder");
        }
      });
    if (unread && unread->code() == ErrorCode::Cancelled)
    {
      return true;
    }
  }
  return false;
}

void Series::remove_steps(const Header& now) const
{
  const Header& there = *this->there_;
  std::set<std::filesystem::path> shapes;
  for (const std::int64_t step : this->steps())
  {
    const std::filesystem::path folder = find_step_folder(this->path_, there, step);
    if (there.filename_template != now.filename_template || !names_step(now, step))
    {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
      remove_abandoned(folder.parent_path(), folder.filename().string());
      shapes.insert(folder.parent_path());
    }
  }
  for (const std::filesystem::path& shape : shapes)
  {
    std::error_code ignored;
    std::filesystem::remove(shape, ignored); // only if empty
  }
}

// A killed writer may have left a partly filled folder, or a complete one that no text names yet.
void Series::remove_leftovers(const Header& now) const
{
  const std::filesystem::path folder = this->path_.parent_path() / folder_name(this->path_);
  const auto is_filled = [](const std::string& name) { return io::is_temporary(name); };
  remove_abandoned(folder, is_filled); // in PIDX's dialect
  const std::filesystem::path named =
    find_step_folder(this->path_, now, now.time.ranges.front().first).parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(folder))
  {
    const std::string name = entry.path().filename().string();
    if (name.size() != kDigitsOfShape ||
      name.find_first_not_of("0123456789abcdef") != std::string::npos)
    {
      continue;
    }
    if (entry.path() == named)
    {
      remove_abandoned(entry.path(), is_filled);
      continue;
    }
    remove_abandoned(entry.path(),
      [&](const std::string& step) { return io::is_temporary(step) || is_step_of_ours(step); });
    std::error_code ignored;
    std::filesystem::remove(entry.path(), ignored); // only if empty
  }
}

void Series::remove_what_is_not_in(const Header& now) const noexcept
{
  (void)attempt(
    [&]
    {
      const bool ours = this->there_ && is_ours(this->path_, *this->there_);
      const bool nobodys = !this->there_ && this->problem_.empty();
      const bool pidx = this->there_ && this->there_->pidx && now.pidx;
      if (!(ours || nobodys || pidx) || this->has_copies())
      {
        return;
      }
      if (ours)
      {
        this->remove_steps(now);
      }
      this->remove_leftovers(now);
    });
}
}
