// SPDX-License-Identifier: BSD-3-Clause
#include "bat/idx/write.hpp"

#include "bat/error.hpp"
#include "common/arena.hpp"
#include "common/box_in_arrays.hpp"
#include "common/io/atomic_file.hpp"
#include "idx/format/names.hpp"
#include "idx/format/order.hpp"
#include "idx/format/scatter.hpp"
#include "idx/write/block_file_writer.hpp"
#include "idx/write/plan.hpp"
#include "idx/write/series.hpp"
#include "idx/write/step_folder.hpp"
#include "idx/write/value_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace bat::idx
{
namespace
{
class GridBlocks
{
public:
  GridBlocks(const Header& header, const format::Order& order, const Grid& grid)
    : header_(header)
    , order_(order)
    , grid_(grid)
    , whole_(order.lattice(order.levels(), header.box))
    , place_(place_in(grid.stored ? *grid.stored : header.box, header.box))
    , orders_(order)
  {
    for (int level = order.bits_per_block(); level <= order.levels(); ++level)
    {
      this->levels_.push_back(order.blocks_of_level(level));
    }
  }

  void take(std::size_t field, std::uint64_t block, Bytes& raw) const
  {
    const auto level =
      static_cast<std::size_t>(this->order_.level_of_block(block) - this->order_.bits_per_block());
    const format::LevelBlocks& blocks = this->levels_[level];
    const Field& about = this->header_.fields[field];
    raw.resize(about.sample_bytes() << this->header_.bits_per_block);
    const format::StepsOfAxes steps =
      this->order_.common(blocks, this->order_.place_of(blocks, block), this->whole_);
    if (steps[0].count * steps[1].count * steps[2].count !=
      std::int64_t{ 1 } << this->header_.bits_per_block)
    {
      std::fill(raw.begin(), raw.end(), std::byte{ 0 }); // padding
    }
    copy_samples<Direction::ToBlock>(steps, blocks.counts,
      about.layout == Layout::HZ ? &this->orders_.of(blocks) : nullptr, about.sample_bytes(),
      raw.data(),
      static_cast<const std::byte*>(this->grid_.fields[field].values) +
        static_cast<std::size_t>(this->place_.first) * about.sample_bytes(),
      compute_strides(this->place_.dimensions));
  }

  // Ranges of fields with one component, the only ones that the text can hold.
  [[nodiscard]] std::vector<std::pair<double, double>> ranges() const
  {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, double>> found;
    for (const FieldValues& field : this->grid_.fields)
    {
      const auto* first = static_cast<const std::byte*>(field.values) +
        static_cast<std::size_t>(this->place_.first) * size_of(field.type);
      found.push_back(field.components == 1
          ? value_range(field.type, first, this->grid_.dimensions, this->place_.dimensions)
          : std::pair(kInfinity, -kInfinity));
    }
    return found;
  }

private:
  const Header& header_;
  const format::Order& order_;
  const Grid& grid_;
  Lattice whole_;
  BoxInArrays place_;
  std::vector<format::LevelBlocks> levels_;
  format::BlockOrders orders_;
};

void report_progress(const WriteOptions& options, double fraction)
{
  if (options.progress && !options.progress(fraction))
  {
    throw Error(ErrorCode::Cancelled, "the write was cancelled");
  }
}
}

WriteReport write(const std::filesystem::path& path, const Grid& grid, const WriteOptions& options)
{
  const std::filesystem::path target = io::follow_links(path);
  Header header = plan_header(target, grid, options);
  const std::uint64_t samples = static_cast<std::uint64_t>(grid.dimensions[0]) *
    static_cast<std::uint64_t>(grid.dimensions[1]) * static_cast<std::uint64_t>(grid.dimensions[2]);
  for (const FieldValues& field : grid.fields)
  {
    if (!field.values)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: field '{}' has no values", path.string(), field.name));
    }
  }
  const format::Order order(header);
  set_ranges(
    header, in_arena(options.threads, [&] { return GridBlocks(header, order, grid).ranges(); }));
  const Series before = Series::of(target);
  header = before.with_step(header, options);

  const format::FileNames names(header, folder_name(target));
  const std::filesystem::path folder = target.parent_path() /
    std::filesystem::path(names.file(options.step_number(), 0)).parent_path();
  const std::string text = to_text(header);
  (void)parse_header(text, target.string()); // checks that the text can be read

  StepFolder step(folder);
  const GridBlocks blocks(header, order, grid);
  const std::vector<FileBlocks> files = blocks_of_files(header, order);
  WriteReport report;
  report.samples = samples;
  report.files = files.size();
  for (const FileBlocks& file : files)
  {
    report_progress(
      options, static_cast<double>(&file - files.data()) / static_cast<double>(files.size()));
    const std::filesystem::path name(names.file(options.step_number(), file.number));
    report.file_bytes += in_arena(options.threads,
      [&]
      {
        return write_block_file(
          step.path() / name.filename(), header, options.zip_level, file,
          [&](std::size_t field, std::uint64_t block, Bytes& raw)
          { blocks.take(field, block, raw); },
          options.flush);
      });
    report.blocks += header.fields.size() * file.blocks.size();
  }
  report_progress(options, 1);
  commit_step(step, target, text, before.text_without(header, options), options.flush);
  before.remove_what_is_not_in(header);
  return report;
}
}
