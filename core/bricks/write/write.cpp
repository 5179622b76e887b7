// SPDX-License-Identifier: BSD-3-Clause
// Encodes bricks in parallel, one page of the index at a time, and writes them in order.
#include "bat/bricks/write.hpp"

#include "bat/error.hpp"
#include "bricks/format/header.hpp"
#include "bricks/format/layout.hpp"
#include "bricks/write/page_encoder.hpp"
#include "common/arena.hpp"
#include "common/io/atomic_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace bat::bricks
{
WriteReport write(const std::filesystem::path& path, const Header& given, const void* data,
  std::size_t bytes, const WriteOptions& options)
{
  Header header = given;
  if (options.settle)
  {
    options.settle(header);
  }
  format::check_header(header, path.string());
  const BrickGrid& grid = header.grid;
  WriteReport report;
  report.bricks = grid.brick_count();
  report.value_bytes = value_bytes(grid);
  if (report.value_bytes != bytes || (bytes != 0 && !data))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "{}: values of {} bytes for a grid of {}", path.string(), bytes, report.value_bytes));
  }
  const Window all{ static_cast<const std::byte*>(data), {}, grid.points };
  const format::FileLayout layout(grid, header.field.size() + header.metadata.size());
  io::AtomicFile file(path);
  std::vector<std::byte> preview(layout.preview.raw_bytes);
  std::vector<std::uint64_t> index;
  index.reserve(layout.order.slot_count());
  PageEncoder encoder(grid, layout, options.compress);
  EncodedPage encoded;
  std::uint64_t end = 0;
  in_arena(options.threads,
    [&]
    {
      for (std::uint64_t page = 0; page != layout.order.page_count(); ++page)
      {
        if (options.progress &&
          !options.progress(
            static_cast<double>(page) / static_cast<double>(layout.order.page_count())))
        {
          throw Error(ErrorCode::Cancelled, path.string() + ": cancelled");
        }
        encoder.encode(page, all, encoded);
        encoder.add_to_preview(page, encoded.first_points.data(), preview.data());
        append_index(encoded, end, index);
        file.write(layout.bricks_offset + end, encoded.bytes.data(), encoded.bytes.size());
        file.begin_flush(layout.bricks_offset + end, encoded.bytes.size());
        end += encoded.bytes.size();
      }
    });
  report.file_bytes =
    write_front(file, layout, { header, encoder.range(), preview.data(), index.data(), end });
  if (options.before_rename)
  {
    options.before_rename();
  }
  file.commit(options.flush);
  io::remove_abandoned_of(path);
  report.blank_bricks = report.bricks - stored_bricks(index);
  return report;
}
}
