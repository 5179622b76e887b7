// SPDX-License-Identifier: BSD-3-Clause
// In each round, every rank encodes one page of the index, and the ranks write their pages one
// after another. No rank holds more than a page.
#include "bat/bricks/parallel.hpp"

#include "bat/error.hpp"
#include "bat/ranks.hpp"
#include "bricks/format/header.hpp"
#include "bricks/parallel/page_exchange.hpp"
#include "bricks/write/page_encoder.hpp"
#include "common/arena.hpp"
#include "common/box_in_arrays.hpp"
#include "common/fail.hpp"
#include "common/io/atomic_file.hpp"
#include "common/rank_boxes.hpp"
#include "parallel/comm.hpp"
#include "parallel/nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

namespace bat::bricks
{
namespace
{
using bat::mpi::collective;
using bat::mpi::OwnComm;

// The properties on which ranks with pieces agree.
struct Shape
{
  std::array<double, 3> origin{};
  std::array<double, 3> spacing{};
  std::array<std::int64_t, 6> numbers{}; ///< components, type, edge, cyclic along x, y, z

  static Shape of(const BrickGrid& grid)
  {
    Shape shape;
    shape.origin = grid.origin;
    shape.spacing = grid.spacing;
    shape.numbers = { grid.components, static_cast<std::int64_t>(grid.type), grid.edge,
      grid.cyclic[0], grid.cyclic[1], grid.cyclic[2] };
    return shape;
  }
  [[nodiscard]] std::string text() const
  {
    return fmt::format("{} components of type {}, edge {}, periodic {} {} {}, origin {} {} {}, "
                       "spacing {} {} {}",
      this->numbers[0], name_of(static_cast<ScalarType>(this->numbers[1])), this->numbers[2],
      this->numbers[3], this->numbers[4], this->numbers[5], this->origin[0], this->origin[1],
      this->origin[2], this->spacing[0], this->spacing[1], this->spacing[2]);
  }
  [[nodiscard]] bool is_like(const Shape& other) const
  {
    for (std::size_t a = 0; a != 3; ++a)
    {
      const double maximum = 1e-6 * std::abs(other.spacing[a]);
      if (!(std::abs(this->origin[a] - other.origin[a]) <= maximum) ||
        !(std::abs(this->spacing[a] - other.spacing[a]) <= maximum))
      {
        return false;
      }
    }
    return this->numbers == other.numbers;
  }
};

void check_piece(const Piece& piece)
{
  for (std::size_t a = 0; a != 3; ++a)
  {
    if (piece.box.lower[a] < 0 || piece.box.upper[a] < piece.box.lower[a] ||
      piece.box.upper[a] >= BrickGrid::max_points)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("a piece has the box {}; boxes must contain points from 0 to {}",
          format_text(piece.box), BrickGrid::max_points - 1));
    }
  }
  const std::string problem =
    piece.stored ? find_stored_problem(*piece.stored, piece.box) : std::string();
  if (!problem.empty())
  {
    throw Error(ErrorCode::InvalidArgument, "a piece has " + problem);
  }
  if (!piece.values)
  {
    throw Error(ErrorCode::InvalidArgument, "a piece has no velocity array");
  }
}

// Finds a point in a box that disjoint parts do not cover.
std::array<std::int64_t, 3> missing_point(std::vector<RankBox> parts, const LogicalBox& whole)
{
  constexpr std::int64_t kNobody = -1;
  parts.push_back({ kNobody, 0, whole });
  return disjoint_parts(parts).back().box.lower; // a point that no other box has
}

class CollectiveWriter
{
public:
  CollectiveWriter(MPI_Comm comm, const std::filesystem::path& path, const Header& header,
    const std::vector<Piece>& pieces, const WriteOptions& options)
    : comm_(comm)
    , path_(path)
    , header_(header)
    , pieces_(pieces)
    , options_(options)
    , threads_(bat::mpi::threads_per_rank(comm_.get()))
  {
    this->threads_ = options.threads > 0 ? options.threads : this->threads_;
  }

  WriteReport run()
  {
    collective(this->comm_.get(),
      [&] { std::for_each(this->pieces_.begin(), this->pieces_.end(), check_piece); });
    this->agree_on_shape();
    this->gather_boxes();
    this->begin();
    this->write_pages();
    this->commit();
    return this->report_;
  }

private:
  [[nodiscard]] bool is_root() const { return this->comm_.rank() == 0; }

  void agree_on_shape()
  {
    int first = this->pieces_.empty() ? this->comm_.size() : this->comm_.rank();
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, this->comm_.get());
    if (first == this->comm_.size())
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: no rank has points", this->path_.string())); // all ranks agree on this
    }
    std::vector<Shape> shape{ Shape::of(this->header_.grid) };
    bat::mpi::broadcast_records(this->comm_, shape, first);
    collective(this->comm_.get(),
      [&]
      {
        const Shape local = Shape::of(this->header_.grid);
        if (!this->pieces_.empty() && !local.is_like(shape[0]))
        {
          throw Error(ErrorCode::InvalidArgument,
            fmt::format("{}: rank {} has {}, but rank {} has {}", this->path_.string(),
              this->comm_.rank(), local.text(), first, shape[0].text()));
        }
      });
    BrickGrid& grid = this->header_.grid;
    grid.origin = shape[0].origin;
    grid.spacing = shape[0].spacing;
    grid.components = static_cast<int>(shape[0].numbers[0]);
    grid.type = static_cast<ScalarType>(shape[0].numbers[1]);
    grid.edge = static_cast<int>(shape[0].numbers[2]);
    for (std::size_t a = 0; a != 3; ++a)
    {
      grid.cyclic[a] = shape[0].numbers[3 + a] != 0;
    }
  }

  void gather_boxes()
  {
    std::vector<RankBox> boxes;
    collective(this->comm_.get(),
      [&]
      {
        for (std::size_t i = 0; i != this->pieces_.size(); ++i)
        {
          boxes.push_back(
            { this->comm_.rank(), static_cast<std::int64_t>(i), this->pieces_[i].box });
        }
      });
    boxes = bat::mpi::gather_records(this->comm_, boxes);
    bat::mpi::broadcast_records(this->comm_, boxes);
    this->whole_ = boxes.front().box;
    for (const RankBox& box : boxes)
    {
      for (std::size_t a = 0; a != 3; ++a)
      {
        this->whole_.lower[a] = std::min(this->whole_.lower[a], box.box.lower[a]);
        this->whole_.upper[a] = std::max(this->whole_.upper[a], box.box.upper[a]);
      }
    }
    BrickGrid& grid = this->header_.grid;
    for (std::size_t a = 0; a != 3; ++a)
    {
      grid.points[a] = this->whole_.upper[a] - this->whole_.lower[a] + 1;
      grid.origin[a] += static_cast<double>(this->whole_.lower[a]) * grid.spacing[a];
    }
    collective(this->comm_.get(),
      [&]
      {
        this->parts_ = disjoint_parts(boxes);
        if (const std::string fault = find_fault(grid); !fault.empty())
        {
          throw Error(ErrorCode::InvalidArgument, this->path_.string() + ": " + fault);
        }
        if (!cover(this->parts_, this->whole_))
        {
          const auto p = missing_point(this->parts_, this->whole_);
          throw Error(ErrorCode::InvalidArgument,
            fmt::format("{}: no rank has the point {} {} {}, but the box of all pieces is {}: "
                        "pieces must cover it",
              this->path_.string(), p[0], p[1], p[2], format_text(this->whole_)));
        }
      });
  }

  // Rank 0 creates the file; the others write into it.
  void begin()
  {
    this->nodes_ = &bat::mpi::find_nodes(this->comm_);
    std::string temporary;
    std::string target;
    std::uint64_t text_bytes = 0;
    collective(this->comm_.get(),
      [&]
      {
        if (this->is_root())
        {
          if (this->options_.settle)
          {
            this->options_.settle(this->header_);
          }
          format::check_header(this->header_, this->path_.string());
          this->file_.emplace(this->path_);
          temporary = std::filesystem::absolute(this->file_->temporary()).string();
          target = this->path_.string();
          text_bytes = this->header_.field.size() + this->header_.metadata.size();
        }
      });
    BrickGrid& grid = this->header_.grid;
    MPI_Bcast(grid.origin.data(), 3, MPI_DOUBLE, 0, this->comm_.get());
    MPI_Bcast(grid.spacing.data(), 3, MPI_DOUBLE, 0, this->comm_.get());
    bat::mpi::broadcast_text(this->comm_, temporary);
    bat::mpi::broadcast_text(this->comm_, target);
    std::array<std::uint64_t, 3> numbers{ text_bytes, this->options_.compress,
      this->options_.flush };
    MPI_Bcast(numbers.data(), static_cast<int>(numbers.size()), MPI_UINT64_T, 0, this->comm_.get());
    this->options_.compress = numbers[1] != 0;
    this->options_.flush = numbers[2] != 0;
    collective(this->comm_.get(),
      [&]
      {
        this->path_ = target;
        this->layout_.emplace(this->header_.grid, numbers[0]);
        this->part_.emplace(temporary, target);
        this->preview_.resize(this->is_root() ? this->layout_->preview.raw_bytes : 0);
      });
  }

  void write_pages()
  {
    const BrickGrid& grid = this->header_.grid;
    PageEncoder encoder(grid, *this->layout_, this->options_.compress);
    const PageSource source{ this->comm_, *this->nodes_, grid.point_bytes(), this->whole_,
      this->parts_, this->pieces_ };
    const std::uint64_t pages = this->layout_->order.page_count();
    const auto ranks = static_cast<std::uint64_t>(this->comm_.size());
    const auto me = static_cast<std::uint64_t>(this->comm_.rank());
    std::vector<Window> windows(ranks);
    EncodedPage encoded;
    for (std::uint64_t first = 0; first < pages; first += ranks)
    {
      collective(this->comm_.get(),
        [&]
        {
          this->report_progress(static_cast<double>(first) / static_cast<double>(pages));
          for (std::uint64_t r = 0; r != ranks; ++r)
          {
            windows[r] = first + r < pages ? encoder.points_of(first + r) : Window{};
          }
        });
      const std::vector<std::byte> values = exchange_pages(source, windows);
      encoded = {};
      collective(this->comm_.get(),
        [&]
        {
          if (first + me < pages)
          {
            windows[me].values = values.data();
            in_arena(this->threads_, [&] { encoder.encode(first + me, windows[me], encoded); });
          }
        });
      const std::vector<std::uint64_t> entries = this->write_page(encoded);
      const auto points = bat::mpi::gather_records(this->comm_, encoded.first_points);
      collective(this->comm_.get(),
        [&]
        {
          this->index_.insert(this->index_.end(), entries.begin(), entries.end());
          const std::size_t of_page = points.size() / std::min(ranks, pages - first);
          for (std::uint64_t r = 0; this->is_root() && r != std::min(ranks, pages - first); ++r)
          {
            encoder.add_to_preview(first + r, points.data() + r * of_page, this->preview_.data());
          }
        });
      std::uint64_t bytes = encoded.bytes.size();
      MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_SUM, this->comm_.get());
      this->end_ += bytes;
    }
    collective(this->comm_.get(), [&] { this->report_progress(1); });
    this->range_ = encoder.range();
  }

  // Writes this rank's page after those of lower ranks. Returns the index entries of all ranks to
  // the root.
  std::vector<std::uint64_t> write_page(const EncodedPage& encoded)
  {
    const std::uint64_t bytes = encoded.bytes.size();
    std::uint64_t before = 0;
    MPI_Exscan(&bytes, &before, 1, MPI_UINT64_T, MPI_SUM, this->comm_.get());
    before = this->is_root() ? 0 : before; // MPI_Exscan() leaves it undefined on rank 0
    std::vector<std::uint64_t> entries;
    collective(this->comm_.get(),
      [&]
      {
        this->part_->write(
          this->layout_->bricks_offset + this->end_ + before, encoded.bytes.data(), bytes);
        append_index(encoded, this->end_ + before, entries);
      });
    return bat::mpi::gather_records(this->comm_, entries);
  }

  void report_progress(double fraction) const
  {
    if (this->options_.progress && !call_user([&] { return this->options_.progress(fraction); }))
    {
      throw Error(ErrorCode::Cancelled, this->path_.string() + ": cancelled");
    }
  }

  void commit()
  {
    std::vector<format::ValueRange> ranges;
    collective(this->comm_.get(),
      [&]
      {
        ranges.push_back(this->range_);
        if (this->options_.flush)
        {
          this->part_->flush();
        }
        this->part_.reset();
      });
    ranges = bat::mpi::gather_records(this->comm_, ranges);
    collective(this->comm_.get(),
      [&]
      {
        if (!this->is_root())
        {
          return;
        }
        format::ValueRange range;
        for (const format::ValueRange& of_rank : ranges)
        {
          range.add(of_rank);
        }
        const BrickGrid& grid = this->header_.grid;
        this->report_.bricks = grid.brick_count();
        this->report_.blank_bricks = grid.brick_count() - stored_bricks(this->index_);
        this->report_.value_bytes = value_bytes(grid);
        this->report_.file_bytes = write_front(*this->file_, *this->layout_,
          { this->header_, range, this->preview_.data(), this->index_.data(), this->end_ });
        if (this->options_.before_rename)
        {
          this->options_.before_rename();
        }
        this->file_->commit(this->options_.flush);
        io::remove_abandoned_of(this->path_);
      });
    std::array<std::uint64_t, 4> report{ this->report_.bricks, this->report_.blank_bricks,
      this->report_.value_bytes, this->report_.file_bytes };
    MPI_Bcast(report.data(), static_cast<int>(report.size()), MPI_UINT64_T, 0, this->comm_.get());
    this->report_ = { report[0], report[1], report[2], report[3] };
  }

  OwnComm comm_;
  std::filesystem::path path_;
  Header header_; ///< its grid: of the whole
  const std::vector<Piece>& pieces_;
  WriteOptions options_;
  int threads_;
  LogicalBox whole_;
  std::vector<RankBox> parts_; ///< parts on all ranks, disjoint
  bat::mpi::Nodes* nodes_ = nullptr;
  std::optional<io::AtomicFile> file_; ///< rank 0
  std::optional<io::PartOfFile> part_;
  std::optional<format::FileLayout> layout_;
  std::vector<std::byte> preview_;   ///< rank 0
  std::vector<std::uint64_t> index_; ///< rank 0
  std::uint64_t end_ = 0;            ///< end of the bricks
  format::ValueRange range_;
  WriteReport report_;
};
}

WriteReport write_collective(MPI_Comm comm, const std::filesystem::path& path, const Header& header,
  const std::vector<Piece>& pieces, const WriteOptions& options)
{
  return CollectiveWriter(comm, path, header, pieces, options).run();
}

WriteReport write_collective(MPI_Comm comm, GrowingSeries& series, const Header& header,
  const std::vector<Piece>& pieces, const WriteOptions& options)
{
  const OwnComm own(comm);
  const bool is_root = own.rank() == 0;
  std::filesystem::path file;
  collective(own.get(), [&] { file = is_root ? series.file_of(header) : file; });
  const WriteReport report = write_collective(
    own.get(), file, header, pieces, is_root ? series.with_list(header, options) : options);
  collective(own.get(),
    [&]
    {
      if (is_root)
      {
        series.add(header);
      }
    });
  return report;
}
}
