// SPDX-License-Identifier: BSD-3-Clause
// The phases of a collective write, and of opening: each ends in an agreement.
#include "bat/idx/parallel.hpp"

#include "bat/error.hpp"
#include "bat/ranks.hpp"
#include "common/arena.hpp"
#include "common/fail.hpp"
#include "common/io/atomic_file.hpp"
#include "idx/format/names.hpp"
#include "idx/parallel/assignment.hpp"
#include "idx/parallel/file_exchange.hpp"
#include "idx/write/block_file_writer.hpp"
#include "idx/write/plan.hpp"
#include "idx/write/series.hpp"
#include "idx/write/step_folder.hpp"
#include "idx/write/value_range.hpp"
#include "parallel/comm.hpp"
#include "parallel/nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace bat::idx
{
namespace
{
using bat::mpi::collective;
using bat::mpi::OwnComm;

std::string fields_text(const std::vector<FieldValues>& fields)
{
  std::string text;
  for (const FieldValues& field : fields)
  {
    text += fmt::format(
      "{}{} {}[{}]", text.empty() ? "" : ", ", field.name, name_of(field.type), field.components);
  }
  return text;
}

constexpr std::int64_t kMaxCoordinate = std::int64_t{ 1 } << 62;

void check_box(const LogicalBox& box)
{
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    if (box.lower[axis] < 0 || box.upper[axis] < box.lower[axis] ||
      box.upper[axis] >= kMaxCoordinate)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("a piece has the box {}; boxes must contain samples and start at 0 or above",
          format_text(box)));
    }
  }
}

void check_pieces(const GridPieces& local)
{
  for (const Piece& piece : local.pieces)
  {
    check_box(piece.box);
    const std::string problem =
      piece.stored ? find_stored_problem(*piece.stored, piece.box) : std::string();
    if (!problem.empty())
    {
      throw Error(ErrorCode::InvalidArgument, "a piece has " + problem);
    }
    if (piece.values.size() != local.fields.size() ||
      std::count(piece.values.begin(), piece.values.end(), nullptr) != 0)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("a piece has {} arrays, {} of them null; expected one for each of {} fields",
          piece.values.size(), std::count(piece.values.begin(), piece.values.end(), nullptr),
          local.fields.size()));
    }
  }
}

class CollectiveWriter
{
public:
  CollectiveWriter(MPI_Comm comm, const std::filesystem::path& path, const GridPieces& local,
    const WriteOptions& options)
    : comm_(comm)
    , local_(local)
    , options_(options)
    , path_(path)
    , threads_(bat::mpi::threads_per_rank(comm_.get()))
  {
    this->threads_ = options.threads > 0 ? options.threads : this->threads_;
  }

  WriteReport run()
  {
    collective(this->comm_.get(), [&] { check_pieces(this->local_); });
    this->agree_on_shape();
    this->gather_boxes();
    this->make_header();
    this->begin();
    this->write_files();
    this->commit();
    return this->report_;
  }

private:
  [[nodiscard]] bool is_root() const { return this->comm_.rank() == 0; }

  // Fields and position in space come from the first rank that has samples.
  void agree_on_shape()
  {
    int first = this->local_.pieces.empty() ? this->comm_.size() : this->comm_.rank();
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, this->comm_.get());
    if (first == this->comm_.size())
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: no rank has samples", this->path_.string())); // all ranks agree on this
    }
    std::vector<std::string> names;
    std::vector<std::int64_t> types;
    std::array<double, 6> place{};
    if (this->comm_.rank() == first)
    {
      for (const FieldValues& field : this->local_.fields)
      {
        names.push_back(field.name);
        types.push_back(static_cast<std::int64_t>(field.type));
        types.push_back(field.components);
      }
      std::copy(this->local_.origin.begin(), this->local_.origin.end(), place.begin());
      std::copy(this->local_.spacing.begin(), this->local_.spacing.end(), place.begin() + 3);
    }
    std::string joined;
    for (const std::string& name : names)
    {
      joined += name + '\n';
    }
    bat::mpi::broadcast_text(this->comm_, joined, first);
    bat::mpi::broadcast_records(this->comm_, types, first);
    MPI_Bcast(place.data(), 6, MPI_DOUBLE, first, this->comm_.get());
    collective(this->comm_.get(),
      [&]
      {
        std::size_t at = 0;
        for (std::size_t i = 0; i + 1 < types.size(); i += 2)
        {
          const std::size_t end = joined.find('\n', at);
          this->shape_.fields.push_back({ joined.substr(at, end - at),
            static_cast<ScalarType>(types[i]), static_cast<int>(types[i + 1]), nullptr });
          at = end + 1;
        }
        std::copy_n(place.begin(), 3, this->shape_.origin.begin());
        std::copy_n(place.begin() + 3, 3, this->shape_.spacing.begin());
        this->check_same(first);
      });
  }

  void check_same(int first) const
  {
    if (this->local_.pieces.empty())
    {
      return;
    }
    const std::string here = fields_text(this->local_.fields);
    const std::string there = fields_text(this->shape_.fields);
    if (here != there)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: rank {} has the fields {}, but rank {} has {}", this->path_.string(),
          this->comm_.rank(), here, first, there));
    }
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const double tolerance = 1e-6 * std::abs(this->shape_.spacing[axis]);
      const auto differ = [&](double a, double b) { return !(std::abs(a - b) <= tolerance); };
      if (differ(this->local_.origin[axis], this->shape_.origin[axis]) ||
        differ(this->local_.spacing[axis], this->shape_.spacing[axis]))
      {
        throw Error(ErrorCode::InvalidArgument,
          fmt::format("{}: along axis {}, rank {} has origin {} and spacing {}, but rank {} has "
                      "{} and {}",
            this->path_.string(), axis, this->comm_.rank(), this->local_.origin[axis],
            this->local_.spacing[axis], first, this->shape_.origin[axis],
            this->shape_.spacing[axis]));
      }
    }
  }

  void gather_boxes()
  {
    std::vector<RankBox> boxes;
    collective(this->comm_.get(),
      [&]
      {
        for (std::size_t i = 0; i != this->local_.pieces.size(); ++i)
        {
          boxes.push_back(
            { this->comm_.rank(), static_cast<std::int64_t>(i), this->local_.pieces[i].box });
        }
      });
    boxes = bat::mpi::gather_records(this->comm_, boxes);
    bat::mpi::broadcast_records(this->comm_, boxes);
    collective(this->comm_.get(), [&] { this->parts_ = disjoint_parts(boxes); });
    LogicalBox whole = boxes.front().box;
    for (const RankBox& box : boxes)
    {
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        whole.lower[axis] = std::min(whole.lower[axis], box.box.lower[axis]);
        whole.upper[axis] = std::max(whole.upper[axis], box.box.upper[axis]);
      }
    }
    this->shape_.first = whole.lower;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      this->shape_.dimensions[axis] = whole.upper[axis] - whole.lower[axis] + 1;
    }
  }

  // Ranges of the fields with one component.
  std::vector<std::pair<double, double>> ranges()
  {
    const std::size_t fields = this->shape_.fields.size();
    std::vector<double> ends; // smallest, and negative largest
    collective(this->comm_.get(),
      [&]
      {
        ends.assign(2 * fields, std::numeric_limits<double>::infinity());
        in_arena(this->threads_, [&] { this->own_ranges(ends); });
      });
    MPI_Allreduce(MPI_IN_PLACE, ends.data(), static_cast<int>(ends.size()), MPI_DOUBLE, MPI_MIN,
      this->comm_.get());
    std::vector<std::pair<double, double>> ranges;
    for (std::size_t f = 0; f != fields; ++f)
    {
      ranges.emplace_back(ends[2 * f], -ends[2 * f + 1]);
    }
    return ranges;
  }

  // Only written samples count, so that the range does not depend on the division into pieces.
  void own_ranges(std::vector<double>& ends) const
  {
    for (const RankBox& part : this->parts_)
    {
      if (part.rank != this->comm_.rank())
      {
        continue;
      }
      const Piece& piece = this->local_.pieces[static_cast<std::size_t>(part.piece)];
      const BoxInArrays place = place_in(piece, part.box);
      for (std::size_t f = 0; f != this->shape_.fields.size(); ++f)
      {
        const FieldValues& field = this->shape_.fields[f];
        if (field.components == 1)
        {
          const auto* values = static_cast<const std::byte*>(piece.values[f]) +
            static_cast<std::size_t>(place.first) * size_of(field.type);
          const auto [minimum, maximum] =
            value_range(field.type, values, make_lattice(part.box).count, place.dimensions);
          ends[2 * f] = std::min(ends[2 * f], minimum);
          ends[2 * f + 1] = std::min(ends[2 * f + 1], -maximum);
        }
      }
    }
  }

  // Rank 0 knows the previous dataset, and decides.
  void make_header()
  {
    std::string text;
    std::string target;
    Header header;
    collective(this->comm_.get(),
      [&]
      {
        if (this->is_root())
        {
          this->path_ = io::follow_links(this->path_);
          header = plan_header(this->path_, this->shape_, this->options_);
        }
      });
    const auto found = this->ranges();
    collective(this->comm_.get(),
      [&]
      {
        if (this->is_root())
        {
          set_ranges(header, found);
          this->before_.emplace(Series::of(this->path_));
          header = this->before_->with_step(std::move(header), this->options_);
          text = to_text(header);
          target = this->path_.string();
          this->step_ = this->options_.step_number();
        }
      });
    bat::mpi::broadcast_text(this->comm_, text);
    bat::mpi::broadcast_text(this->comm_, target);
    MPI_Bcast(&this->step_, 1, MPI_INT64_T, 0, this->comm_.get());
    std::array<int, 6> flags{ this->options_.flush, this->options_.zip_level,
      static_cast<int>(this->options_.missing), static_cast<int>(this->options_.routing.route),
      this->options_.routing.leaders_per_node, this->options_.routing.ranks_per_node };
    MPI_Bcast(flags.data(), static_cast<int>(flags.size()), MPI_INT, 0, this->comm_.get());
    this->options_.flush = flags[0] != 0;
    this->options_.zip_level = flags[1];
    this->options_.missing = static_cast<MissingSamples>(flags[2]);
    this->options_.routing = { static_cast<Route>(flags[3]), flags[4], flags[5] };
    collective(this->comm_.get(),
      [&]
      {
        this->path_ = target;
        this->text_ = text;
        this->header_ = parse_header(text, target);
      });
  }

  void begin()
  {
    std::string folder;
    this->nodes_ = &bat::mpi::find_nodes(this->comm_, this->options_.routing.ranks_per_node);
    collective(this->comm_.get(),
      [&]
      {
        this->names_.emplace(this->header_, folder_name(this->path_));
        this->order_.emplace(this->header_);
        this->shapes_.emplace(*this->order_);
        this->files_ = blocks_of_files(this->header_, *this->order_);
        this->makers_ = bat::mpi::spread_over_nodes(this->nodes_->layout(),
          makers_of_files(this->files_, this->parts_, *this->shapes_, this->comm_.size()));
        if (this->is_root())
        {
          const std::filesystem::path name(this->names_->file(this->step_, 0));
          this->folder_.emplace(this->path_.parent_path() / name.parent_path());
          folder = this->folder_->path().string();
        }
      });
    bat::mpi::broadcast_text(this->comm_, folder);
    this->writing_ = folder;
  }

  void write_files()
  {
    // Each rank makes its next file, round by round.
    std::vector<std::vector<const FileBlocks*>> rounds;
    std::vector<std::size_t> next(static_cast<std::size_t>(this->comm_.size()), 0);
    collective(this->comm_.get(),
      [&]
      {
        for (std::size_t i = 0; i != this->files_.size(); ++i)
        {
          const std::size_t maker = this->makers_[i];
          const std::size_t round = next[maker]++;
          if (round == rounds.size())
          {
            rounds.emplace_back(next.size(), nullptr);
          }
          rounds[round][maker] = &this->files_[i];
        }
      });
    const ExchangeSource source{ this->comm_, *this->nodes_, this->options_.routing, this->header_,
      *this->shapes_, this->parts_, this->local_.pieces };
    if (this->options_.missing == MissingSamples::Refuse && !cover(this->parts_, this->header_.box))
    {
      collective(this->comm_.get(), [&] { this->check_files(source); });
    }
    bat::mpi::NodeTraffic traffic;
    for (std::size_t round = 0; round != rounds.size(); ++round)
    {
      collective(this->comm_.get(),
        [&] {
          this->report_progress(static_cast<double>(round) / static_cast<double>(rounds.size()));
        });
      FileSamples samples = exchange_round(source, rounds[round], traffic);
      collective(this->comm_.get(),
        [&]
        {
          const FileBlocks* file = rounds[round][static_cast<std::size_t>(this->comm_.rank())];
          if (file)
          {
            this->write_file(*file, samples);
          }
        });
    }
    this->report_.messages_within = traffic.messages_within;
    this->report_.bytes_within = traffic.bytes_within;
    this->report_.messages_between = traffic.messages_between;
    this->report_.bytes_between = traffic.bytes_between;
    collective(this->comm_.get(), [&] { this->report_progress(1); });
  }

  void report_progress(double fraction) const
  {
    if (this->options_.progress && !call_user([&] { return this->options_.progress(fraction); }))
    {
      throw Error(ErrorCode::Cancelled, "the write was cancelled");
    }
  }

  // Checked before any message is in transit.
  void check_files(const ExchangeSource& source) const
  {
    for (std::size_t i = 0; i != this->files_.size(); ++i)
    {
      if (this->makers_[i] == static_cast<std::uint32_t>(this->comm_.rank()))
      {
        check_complete(source, this->files_[i]);
      }
    }
  }

  void write_file(const FileBlocks& file, FileSamples& samples)
  {
    const std::filesystem::path name(this->names_->file(this->step_, file.number));
    this->report_.file_bytes += in_arena(this->threads_,
      [&]
      {
        return write_block_file(
          this->writing_ / name.filename(), this->header_, this->options_.zip_level, file,
          [&](std::size_t field, std::uint64_t block, Bytes& raw)
          { raw = samples.take(field, block); },
          this->options_.flush);
      });
    ++this->report_.files;
    this->report_.blocks += this->header_.fields.size() * file.blocks.size();
  }

  void commit()
  {
    collective(this->comm_.get(),
      [&]
      {
        if (this->is_root())
        {
          commit_step(*this->folder_, this->path_, this->text_,
            this->before_->text_without(this->header_, this->options_), this->options_.flush);
          this->before_->remove_what_is_not_in(this->header_);
        }
      });
    std::array<std::uint64_t, 7> sums{ this->report_.files, this->report_.file_bytes,
      this->report_.blocks, this->report_.messages_within, this->report_.bytes_within,
      this->report_.messages_between, this->report_.bytes_between };
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_SUM,
      this->comm_.get());
    this->report_ = { make_lattice(this->header_.box).samples(), sums[0], sums[1], sums[2], sums[3],
      sums[4], sums[5], sums[6] };
  }

  OwnComm comm_;
  const GridPieces& local_;
  WriteOptions options_;
  std::filesystem::path path_;
  int threads_;
  Grid shape_;                 ///< the whole grid, without values
  std::vector<RankBox> parts_; ///< parts on all ranks, disjoint
  bat::mpi::Nodes* nodes_ = nullptr;
  std::optional<Series> before_;     ///< rank 0
  std::optional<StepFolder> folder_; ///< rank 0
  std::string text_;
  Header header_;
  std::int64_t step_ = 0;
  std::optional<format::FileNames> names_;
  std::optional<format::Order> order_;
  std::optional<BlockShapes> shapes_;
  std::vector<FileBlocks> files_;
  std::vector<std::uint32_t> makers_; ///< per file
  std::filesystem::path writing_;
  WriteReport report_;
};
}

WriteReport write_collective(MPI_Comm comm, const std::filesystem::path& path,
  const GridPieces& pieces, const WriteOptions& options)
{
  return CollectiveWriter(comm, path, pieces, options).run();
}

Dataset open_collective(MPI_Comm comm, const std::filesystem::path& path)
{
  const OwnComm own(comm);
  std::string text;
  std::string source;
  collective(own.get(),
    [&]
    {
      if (own.rank() == 0)
      {
        text = Dataset::open(path).text();
        source = path.string();
      }
    });
  bat::mpi::broadcast_text(own, text);
  bat::mpi::broadcast_text(own, source);
  std::optional<Dataset> dataset;
  collective(own.get(), [&] { dataset.emplace(Dataset::from_text(source, text)); });
  return std::move(*dataset);
}
}
