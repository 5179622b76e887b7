// SPDX-License-Identifier: BSD-3-Clause
// Bricks are encoded page of the index by page of the index, in parallel, and written in order.
#include "bat/bricks/write.hpp"

#include "bat/error.hpp"
#include "bricks/format/codec.hpp"
#include "bricks/format/header.hpp"
#include "bricks/format/layout.hpp"
#include "bricks/format/value_range.hpp"
#include "common/arena.hpp"
#include "common/io/atomic_file.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace bat::bricks
{
namespace
{
// Bytes of a section with its checksums and padding.
std::vector<std::byte> in_pages(const format::PagedSection& section, const std::byte* raw)
{
  std::vector<std::byte> stored(section.stored_bytes());
  for (std::uint64_t page = 0; page != section.pages(); ++page)
  {
    const std::uint64_t bytes = section.bytes_of_page(page);
    std::byte* const to = stored.data() + (section.page_in_file(page) - section.offset);
    std::memcpy(to, raw + page * format::kPageBytes, bytes);
    const std::uint64_t sum = format::seeded_checksum(to, bytes, section.seed + page);
    std::memcpy(to + bytes, &sum, 8);
  }
  return stored;
}

// The values of a brick, packed.
void gather(const BrickGrid& grid, const std::array<std::int64_t, 3>& place,
  const std::array<int, 3>& points, const std::byte* values, std::vector<std::byte>& packed)
{
  const std::size_t row = static_cast<std::size_t>(points[0]) * grid.point_bytes();
  packed.resize(format::points_of_brick(grid, place) * grid.point_bytes());
  std::byte* to = packed.data();
  for (int z = 0; z != points[2]; ++z)
  {
    for (int y = 0; y != points[1]; ++y, to += row)
    {
      const std::int64_t first = place[0] * grid.edge +
        grid.points[0] * (place[1] * grid.edge + y + grid.points[1] * (place[2] * grid.edge + z));
      std::memcpy(to, values + static_cast<std::size_t>(first) * grid.point_bytes(), row);
    }
  }
}

struct Scratch
{
  std::vector<std::byte> packed;
  format::BrickEncoder encoder;
  format::ValueRange range;
};
}

WriteReport write(const std::filesystem::path& path, const Header& given, const void* data,
  std::size_t bytes, const WriteOptions& options)
{
  Header header = given;
  format::check_header(header, path.string());
  const BrickGrid& grid = header.grid;
  WriteReport report;
  report.bricks = grid.brick_count();
  report.value_bytes = grid.point_bytes();
  for (const std::int64_t points : grid.points)
  {
    // At most 2^36 bricks of 2^15 points: no product is too large.
    report.value_bytes *= static_cast<std::uint64_t>(points);
  }
  if (report.value_bytes != bytes || (bytes != 0 && !data))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "{}: values of {} bytes for a grid of {}", path.string(), bytes, report.value_bytes));
  }
  const auto* const values = static_cast<const std::byte*>(data);
  const format::FileLayout layout(grid, header.field.size() + header.metadata.size());
  io::AtomicFile file(path);
  std::vector<std::byte> preview(layout.preview.raw_bytes);
  std::vector<std::uint64_t> index(layout.order.slot_count());
  const std::uint64_t of_page = layout.order.slots_of_page();
  std::vector<std::vector<std::byte>> stored(of_page);
  std::vector<std::byte> run;
  std::uint64_t end = 0;
  tbb::enumerable_thread_specific<Scratch> scratch;
  in_arena(options.threads,
    [&]
    {
      for (std::uint64_t page = 0; page != layout.order.page_count(); ++page)
      {
        if (options.progress &&
          !options.progress(
            static_cast<double>(page) / static_cast<double>(layout.order.page_count())))
        {
          throw Error(ErrorCode::Cancelled, path.string() + ": the caller gave the write up");
        }
        tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, of_page, 8),
          [&](const auto& slots)
          {
            Scratch& own = scratch.local();
            for (std::uint64_t i = slots.begin(); i != slots.end(); ++i)
            {
              stored[i].clear();
              const auto place = layout.order.place(page * of_page + i);
              if (place[0] >= grid.bricks(0) || place[1] >= grid.bricks(1) ||
                place[2] >= grid.bricks(2))
              {
                continue;
              }
              const std::array<int, 3> points{ grid.brick_points(0, place[0]),
                grid.brick_points(1, place[1]), grid.brick_points(2, place[2]) };
              const std::uint64_t brick = grid.brick_number(place);
              gather(grid, place, points, values, own.packed);
              own.range.add(grid, own.packed.data(), own.packed.size() / grid.point_bytes());
              std::memcpy(
                preview.data() + brick * grid.point_bytes(), own.packed.data(), grid.point_bytes());
              own.encoder.encode(
                grid, points, own.packed.data(), options.compress, layout.id + brick, stored[i]);
            }
          });
        run.clear();
        const std::uint64_t begin = end;
        for (std::uint64_t i = 0; i != of_page; ++i)
        {
          if (!stored[i].empty())
          {
            index[page * of_page + i] =
              format::BrickEntry{ end, static_cast<std::uint32_t>(stored[i].size()) }.encode();
            run.insert(run.end(), stored[i].begin(), stored[i].end());
            run.resize(format::align8(run.size()));
            end = begin + run.size();
          }
        }
        file.write(layout.bricks_offset + begin, run.data(), run.size());
        file.begin_flush(layout.bricks_offset + begin, run.size());
      }
    });
  format::ValueRange range;
  for (const Scratch& own : scratch)
  {
    range.add(own.range);
  }
  range.copy_to(header);
  const std::vector<std::byte> preview_pages = in_pages(layout.preview, preview.data());
  file.write(layout.preview.offset, preview_pages.data(), preview_pages.size());
  const std::vector<std::byte> index_pages =
    in_pages(layout.index, reinterpret_cast<const std::byte*>(index.data()));
  file.write(layout.index.offset, index_pages.data(), index_pages.size());
  report.file_bytes = layout.bricks_offset + end;
  const std::vector<std::byte> head = format::encode_header(header, report.file_bytes);
  file.write(0, head.data(), head.size());
  file.commit(options.flush);
  std::uint64_t stored_bricks = 0;
  for (const std::uint64_t word : index)
  {
    stored_bricks += word != 0;
  }
  report.blank_bricks = report.bricks - stored_bricks;
  return report;
}
}
