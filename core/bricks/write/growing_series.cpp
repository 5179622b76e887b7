// SPDX-License-Identifier: BSD-3-Clause
#include "bat/bricks/growing_series.hpp"

#include "bat/bricks/file.hpp"
#include "bat/error.hpp"
#include "bricks/format/layout.hpp"
#include "common/io/atomic_file.hpp"
#include "common/text.hpp"
#include "series/series_list.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

namespace bat::bricks
{
namespace
{
constexpr double kRounding = 1e-3; ///< maximum difference between levels, in spacings

std::optional<File> open_if_sound(const std::filesystem::path& path)
{
  try
  {
    return File::open(path);
  }
  catch (const Error&)
  {
    return std::nullopt;
  }
}

// A notice that cannot be printed is not a failure.
void print(const std::string& notice)
{
  (void)std::fprintf(stderr, "bat: %s\n", notice.c_str());
}

GrowingSeries::FileOfStep files_beside(const std::filesystem::path& list)
{
  const std::string end = ".bricks.series";
  const std::string name = list.filename().string();
  if (name.size() <= end.size() || name.compare(name.size() - end.size(), end.size(), end) != 0)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: the name of a series must end in {}", list.string(), end));
  }
  return [folder = list.parent_path(), stem = name.substr(0, name.size() - end.size())](
           std::int64_t step, double)
  { return folder / fmt::format("{}_{:06}.bricks", stem, step); };
}

series::OwnTime read_own_time(const std::filesystem::path& path)
{
  const std::optional<File> file = open_if_sound(path);
  return file ? series::OwnTime{ file->header().time, file->header().step } : series::OwnTime{};
}

void remove_file(const std::filesystem::path& file)
{
  std::error_code none; // no list names it any more
  std::filesystem::remove(file, none);
}
}

void match_level(Header& header, const std::filesystem::path& other)
{
  const std::optional<File> file = open_if_sound(other);
  if (!file)
  {
    return; // readers of the series report a damaged file
  }
  const auto time_of = [](const Header& of)
  { return of.time ? fmt::format(" (time {})", *of.time) : std::string(); };
  if (header.field != file->header().field)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "the step{} has field '{}', but '{}'{} in its series has '{}'; a series has one field: "
        "use another name for a different one",
        time_of(header), header.field, other.string(), time_of(file->header()),
        file->header().field));
  }
  BrickGrid& grid = header.grid;
  if (file->grid_id() == format::grid_id(grid))
  {
    return;
  }
  // A simulation that restarts on other ranks may round its positions differently.
  BrickGrid same = grid;
  bool is_near = true;
  for (std::size_t a = 0; a != 3; ++a)
  {
    const double maximum = kRounding * file->grid().spacing[a];
    same.origin[a] = file->grid().origin[a];
    same.spacing[a] = file->grid().spacing[a];
    is_near = is_near && std::abs(same.origin[a] - grid.origin[a]) <= maximum &&
      std::abs(same.spacing[a] - grid.spacing[a]) * static_cast<double>(grid.points[a]) <= maximum;
  }
  if (is_near && file->grid_id() == format::grid_id(same))
  {
    grid = same;
    return;
  }
  const auto text = [](const BrickGrid& of)
  {
    return fmt::format("{} x {} x {} points, edge {}, {}, {} components, origin {} {} {}, "
                       "spacing {} {} {}, periodic {:d} {:d} {:d}",
      of.points[0], of.points[1], of.points[2], of.edge, name_of(of.type), of.components,
      of.origin[0], of.origin[1], of.origin[2], of.spacing[0], of.spacing[1], of.spacing[2],
      of.cyclic[0], of.cyclic[1], of.cyclic[2]);
  };
  throw Error(ErrorCode::InvalidArgument,
    fmt::format("the step{} has a grid of {}, but '{}'{} in its series has {}; a series has one "
                "grid: use another name for a different one",
      time_of(header), text(grid), other.string(), time_of(file->header()), text(file->grid())));
}

struct GrowingSeries::Impl
{
  std::filesystem::path path;
  FileOfStep file_of_step;
  series::List list;
  bool is_clean = false; ///< leftovers of killed runs have been removed
};

GrowingSeries::GrowingSeries(
  std::filesystem::path list, FileOfStep file_of_step, bool flush, Notice notice)
  : impl_(std::make_unique<Impl>(Impl{ list, file_of_step,
      series::List(list, { &read_own_time, file_of_step, &remove_file }, flush,
        notice ? std::move(notice) : Notice(&print)) }))
{
}
GrowingSeries::GrowingSeries(const std::filesystem::path& list, bool flush, Notice notice)
  : GrowingSeries(list, files_beside(list), flush, std::move(notice))
{
}
GrowingSeries::~GrowingSeries() = default;
GrowingSeries::GrowingSeries(GrowingSeries&&) noexcept = default;
GrowingSeries& GrowingSeries::operator=(GrowingSeries&&) noexcept = default;

std::filesystem::path GrowingSeries::file_of(const Header& header) const
{
  const std::string list = this->impl_->path.string();
  if (!header.step || !header.time || !std::isfinite(*header.time))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: a step has {} and {}; steps of a running simulation need a step number "
                  "and a finite time",
        list, header.step ? fmt::format("step {}", *header.step) : "no step",
        header.time ? fmt::format("time {}", *header.time) : "no time"));
  }
  std::filesystem::path file = this->impl_->file_of_step(*header.step, *header.time);
  if (!is_utf8(file.string()))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: the file name of step {} is not valid UTF-8, as required in lists", list,
        *header.step));
  }
  return file;
}

WriteOptions GrowingSeries::with_list(const Header& header, WriteOptions options)
{
  series::List& list = this->impl_->list;
  const std::int64_t step = *header.step;
  const double time = *header.time;
  options.settle = [&list, step, time, before = options.settle](Header& written)
  {
    if (before)
    {
      before(written);
    }
    if (const auto other = list.last_beside(step, time))
    {
      match_level(written, *other);
    }
  };
  options.before_rename = [&list, step, time, before = options.before_rename]
  {
    if (before)
    {
      before();
    }
    list.make_way(step, time);
  };
  return options;
}

void GrowingSeries::add(const Header& header)
{
  Impl& impl = *this->impl_;
  impl.list.add(*header.step, *header.time);
  if (!impl.is_clean)
  {
    impl.is_clean = true;
    const std::filesystem::path folder =
      impl.file_of_step(*header.step, *header.time).parent_path();
    io::remove_abandoned_in(folder,
      [](const std::string& target)
      { return std::filesystem::path(target).extension() == ".bricks"; });
    io::remove_abandoned_of(impl.path);
  }
}

WriteReport GrowingSeries::write(
  const Header& header, const void* values, std::size_t bytes, const WriteOptions& options)
{
  const WriteReport report =
    bricks::write(this->file_of(header), header, values, bytes, this->with_list(header, options));
  this->add(header);
  return report;
}
}
