// SPDX-License-Identifier: BSD-3-Clause
// Opens files and reads bricks. A page of the index is read when one of its bricks is first
// requested.
#include "bat/bricks/file.hpp"

#include "bat/error.hpp"
#include "bat/scoped_stop.hpp"
#include "bricks/format/codec.hpp"
#include "bricks/format/header.hpp"
#include "bricks/format/layout.hpp"
#include "bricks/format/value_range.hpp"
#include "common/arena.hpp"
#include "common/io/random_access_file.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range3d.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

namespace bat::bricks
{
namespace
{
/// Bricks at positions `lower` to `upper`, without `upper`.
struct BrickBox
{
  std::array<std::int64_t, 3> lower{};
  std::array<std::int64_t, 3> upper{};

  /// The bricks that a box of points touches.
  BrickBox(const BrickGrid& grid, const std::array<std::int64_t, 3>& first,
    const std::array<std::int64_t, 3>& count)
  {
    for (std::size_t a = 0; a != 3; ++a)
    {
      this->lower[a] = first[a] / grid.edge;
      this->upper[a] = (first[a] + count[a] - 1) / grid.edge + 1;
    }
  }
  BrickBox(const std::array<std::int64_t, 3>& begin, const std::array<std::int64_t, 3>& end)
    : lower(begin)
    , upper(end)
  {
  }

  [[nodiscard]] std::vector<std::uint64_t> numbers(const BrickGrid& grid) const
  {
    std::vector<std::uint64_t> numbers;
    this->for_each([&](const auto& place) { numbers.push_back(grid.brick_number(place)); });
    return numbers;
  }
  template <class Function>
  void for_each(const Function& function) const
  {
    for (std::int64_t z = this->lower[2]; z != this->upper[2]; ++z)
    {
      for (std::int64_t y = this->lower[1]; y != this->upper[1]; ++y)
      {
        for (std::int64_t x = this->lower[0]; x != this->upper[0]; ++x)
        {
          function(std::array<std::int64_t, 3>{ x, y, z });
        }
      }
    }
  }
};
}

struct File::Impl
{
  template <class... Arguments>
  explicit Impl(Arguments&&... arguments)
    : file(std::forward<Arguments>(arguments)...)
    , header(format::read_header(file))
    , layout(header.grid, header.field.size() + header.metadata.size())
  {
    this->file.expect_scattered_reads();
  }

  [[nodiscard]] std::string describe(std::uint64_t brick) const
  {
    const auto at = this->header.grid.brick_place(brick);
    return fmt::format("brick {} (at {}, {}, {})", brick, at[0], at[1], at[2]);
  }
  [[nodiscard]] std::vector<std::byte> page(
    const format::PagedSection& section, std::uint64_t number, const char* name) const
  {
    const std::uint64_t bytes = section.bytes_of_page(number);
    std::vector<std::byte> page(bytes + 8);
    this->file.read(section.page_in_file(number), page.data(), page.size());
    std::uint64_t stored = 0;
    std::memcpy(&stored, page.data() + bytes, 8);
    page.resize(bytes);
    const std::uint64_t sum =
      format::seeded_checksum(page.data(), page.size(), section.seed + number);
    if (sum != stored)
    {
      corrupt(this->file.name(),
        fmt::format("page {} of the {} (offset {}) does not match its checksum", number, name,
          section.page_in_file(number)));
    }
    return page;
  }
  [[nodiscard]] std::uint64_t index_word(std::uint64_t slot) const
  {
    const std::uint64_t of_page = this->layout.order.slots_of_page();
    const std::uint64_t number = slot / of_page;
    {
      const std::lock_guard<std::mutex> lock(this->mutex);
      if (const auto found = this->pages.find(number); found != this->pages.end())
      {
        return found->second[slot % of_page];
      }
    }
    // Two threads may read the same page, which costs less than waiting for each other.
    const std::vector<std::byte> bytes = this->page(this->layout.index, number, "index");
    std::vector<std::uint64_t> words(bytes.size() / 8);
    std::memcpy(words.data(), bytes.data(), 8 * words.size());
    const std::lock_guard<std::mutex> lock(this->mutex);
    return this->pages.emplace(number, std::move(words)).first->second[slot % of_page];
  }
  [[nodiscard]] format::BrickEntry entry(std::uint64_t brick) const
  {
    if (brick >= this->header.grid.brick_count())
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: brick {} is out of range; the file has {}", this->file.name(), brick,
          this->header.grid.brick_count()));
    }
    const auto place = this->header.grid.brick_place(brick);
    const auto entry = format::BrickEntry::decode(this->index_word(this->layout.order.slot(place)));
    const std::uint64_t maximum = format::max_stored_bytes(
      format::points_of_brick(this->header.grid, place) * this->header.grid.point_bytes());
    const std::uint64_t section = this->file.size() - this->layout.bricks_offset;
    const bool has_none = entry.bytes == 0 &&
      (entry.offset == format::BrickEntry::kNoFlow || entry.offset == format::BrickEntry::kAtRest);
    if (has_none)
    {
      return entry;
    }
    if (entry.bytes > maximum || entry.bytes == 0 ||
      (entry.bytes != 0 && entry.bytes <= format::kBrickHead) || entry.offset > section ||
      entry.bytes > section - entry.offset)
    {
      corrupt(this->file.name(),
        fmt::format(
          "the index places {} with {} bytes at offset {} of the bricks; allowed are {} to {} "
          "bytes, or none at 0 or 8, within {}",
          this->describe(brick), entry.bytes, entry.offset, format::kBrickHead + 1, maximum,
          section));
    }
    return entry;
  }
  [[nodiscard]] std::array<int, 3> points_of(std::uint64_t brick) const
  {
    const auto place = this->header.grid.brick_place(brick);
    return { this->header.grid.brick_points(0, place[0]),
      this->header.grid.brick_points(1, place[1]), this->header.grid.brick_points(2, place[2]) };
  }

  void prefetch(const std::vector<std::uint64_t>& bricks) const;
  /// Requests a section of a remote file that is about to be read completely.
  void prefetch_section(const format::PagedSection& section) const
  {
    if (this->file.is_remote())
    {
      this->file.prefetch(section.offset, section.raw_bytes + 8 * section.pages());
    }
  }
  [[nodiscard]] std::vector<io::ByteRange> missing_index_pages(
    const std::vector<std::uint64_t>& bricks) const;

  io::RandomAccessFile file;
  Header header;
  format::FileLayout layout;
  mutable std::mutex mutex;
  mutable std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> pages; ///< index pages
};

std::vector<io::ByteRange> File::Impl::missing_index_pages(
  const std::vector<std::uint64_t>& bricks) const
{
  std::set<std::uint64_t> index_pages;
  for (const std::uint64_t brick : bricks)
  {
    index_pages.insert(this->layout.order.slot(this->header.grid.brick_place(brick)) /
      this->layout.order.slots_of_page());
  }
  std::vector<io::ByteRange> ranges;
  const std::lock_guard<std::mutex> lock(this->mutex);
  for (const std::uint64_t page : index_pages)
  {
    if (this->pages.count(page) == 0)
    {
      ranges.push_back(
        { this->layout.index.page_in_file(page), this->layout.index.bytes_of_page(page) + 8 });
    }
  }
  return ranges;
}

// Requests bricks of a remote file, and first the index pages that tell where they are.
void File::Impl::prefetch(const std::vector<std::uint64_t>& bricks) const
{
  this->file.prefetch(this->missing_index_pages(bricks));
  std::vector<io::ByteRange> ranges;
  for (const std::uint64_t brick : bricks)
  {
    const format::BrickEntry entry = this->entry(brick);
    ranges.push_back({ this->layout.bricks_offset + entry.offset, entry.bytes });
  }
  this->file.prefetch(ranges);
}

File::File(std::unique_ptr<const Impl> impl)
  : impl_(std::move(impl))
{
}
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

File File::open(const std::filesystem::path& path)
{
  io::RemoteHints hints;
  hints.tail = 0; // the end of a file has only bricks
  return File(std::make_unique<const Impl>(path, hints));
}

File File::from_memory(std::vector<std::byte> bytes, std::string name)
{
  return File(std::make_unique<const Impl>(std::move(bytes), std::move(name)));
}

bool File::can_open(const std::filesystem::path& path) noexcept
{
  try
  {
    unsigned char magic[sizeof(format::kMagic)] = {};
    const io::RandomAccessFile file(path, io::RemoteHints{ sizeof(magic), 0 });
    file.read(0, magic, sizeof(magic));
    return std::memcmp(magic, format::kMagic, sizeof(magic)) == 0;
  }
  catch (const std::exception&)
  {
    return false;
  }
}

const std::string& File::name() const noexcept
{
  return this->impl_->file.name();
}
const Header& File::header() const noexcept
{
  return this->impl_->header;
}
std::uint64_t File::grid_id() const noexcept
{
  return this->impl_->layout.id;
}
std::uint64_t File::file_bytes() const noexcept
{
  return this->impl_->file.size();
}

bool File::is_as_opened() const noexcept
{
  return this->impl_->file.is_as_opened();
}

std::uint64_t File::stored_bytes(std::uint64_t brick) const
{
  return this->impl_->entry(brick).bytes;
}

BrickCounts File::count_bricks() const
{
  this->impl_->prefetch_section(this->impl_->layout.index);
  BrickCounts counts;
  counts.bricks = this->grid().brick_count();
  for (std::uint64_t brick = 0; brick != counts.bricks; ++brick)
  {
    const format::BrickEntry entry = this->impl_->entry(brick);
    const bool has_none = entry.bytes == 0;
    counts.blank += has_none && entry.offset == format::BrickEntry::kNoFlow;
    counts.at_rest += has_none && entry.offset == format::BrickEntry::kAtRest;
    counts.stored_bytes += entry.bytes;
  }
  return counts;
}

std::uint64_t File::read(std::uint64_t brick, BrickMemory to) const
{
  const Impl& impl = *this->impl_;
  const format::BrickEntry entry = impl.entry(brick);
  const std::array<int, 3> points = impl.points_of(brick);
  if (entry.bytes == 0)
  {
    (entry.offset == format::BrickEntry::kAtRest ? format::fill_with_zeros : format::fill_with_nan)(
      impl.header.grid, points, to);
    return 0;
  }
  thread_local std::vector<std::byte> stored;
  thread_local format::BrickDecoder decoder;
  stored.resize(entry.bytes);
  impl.file.read(impl.layout.bricks_offset + entry.offset, stored.data(), stored.size());
  const std::string fault = decoder.decode(
    impl.header.grid, points, stored.data(), stored.size(), impl.layout.id + brick, to);
  if (!fault.empty())
  {
    corrupt(this->name(),
      fmt::format("{} at offset {} {}", impl.describe(brick),
        impl.layout.bricks_offset + entry.offset, fault));
  }
  return entry.bytes;
}

void File::prefetch(const std::vector<std::uint64_t>& bricks) const noexcept
{
  if (this->impl_->file.is_remote())
  {
    (void)attempt([&] { this->impl_->prefetch(bricks); });
  }
}

void File::prefetch_box(
  const std::array<std::int64_t, 3>& first, const std::array<std::int64_t, 3>& count) const noexcept
{
  (void)attempt(
    [&] { this->prefetch(BrickBox(this->grid(), first, count).numbers(this->grid())); });
}

std::vector<std::byte> File::preview() const
{
  const format::PagedSection& section = this->impl_->layout.preview;
  this->impl_->prefetch_section(section);
  std::vector<std::byte> all;
  all.reserve(section.raw_bytes);
  for (std::uint64_t page = 0; page != section.pages(); ++page)
  {
    const std::vector<std::byte> bytes = this->impl_->page(section, page, "preview");
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

namespace
{
// Checks that a box of points is inside the grid and matches the buffer size.
void check_box(const std::string& file, const BrickGrid& grid,
  const std::array<std::int64_t, 3>& first, const std::array<std::int64_t, 3>& count,
  std::size_t bytes)
{
  std::uint64_t requested = grid.point_bytes();
  for (std::size_t a = 0; a != 3; ++a)
  {
    if (first[a] < 0 || count[a] < 1 || first[a] >= grid.points[a] ||
      count[a] > grid.points[a] - first[a])
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: {} points along {} starting at {} are out of range; the file has {}", file,
          count[a], "xyz"[a], first[a], grid.points[a]));
    }
    requested *= static_cast<std::uint64_t>(count[a]);
  }
  if (requested != bytes)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: a buffer of {} bytes for a box of {}", file, bytes, requested));
  }
}

// Reads the values in a box of points, x fastest.
struct BoxOfValues
{
  std::array<std::int64_t, 3> first;
  std::array<std::int64_t, 3> count;
  std::byte* values;
};

// Reads a brick and copies the points that it shares with the box.
void copy_brick(const File& file, const std::array<std::int64_t, 3>& place, const BoxOfValues& box)
{
  const BrickGrid& grid = file.grid();
  const std::size_t point = grid.point_bytes();
  const auto edge = static_cast<std::size_t>(grid.edge);
  thread_local std::vector<std::byte> brick;
  brick.resize(edge * edge * edge * point);
  file.read(grid.brick_number(place), { brick.data(), edge * point, edge * edge * point });
  std::array<std::int64_t, 3> from{};
  std::array<std::int64_t, 3> to{};
  for (std::size_t a = 0; a != 3; ++a)
  {
    from[a] = std::max(box.first[a], place[a] * grid.edge);
    to[a] =
      std::min(box.first[a] + box.count[a], place[a] * grid.edge + grid.brick_points(a, place[a]));
  }
  for (std::int64_t z = from[2]; z != to[2]; ++z)
  {
    for (std::int64_t y = from[1]; y != to[1]; ++y)
    {
      const std::int64_t in_box = (from[0] - box.first[0]) +
        box.count[0] * ((y - box.first[1]) + box.count[1] * (z - box.first[2]));
      const std::int64_t in_brick = (from[0] - place[0] * grid.edge) +
        grid.edge * ((y - place[1] * grid.edge) + grid.edge * (z - place[2] * grid.edge));
      std::memcpy(box.values + static_cast<std::size_t>(in_box) * point,
        brick.data() + static_cast<std::size_t>(in_brick) * point,
        static_cast<std::size_t>(to[0] - from[0]) * point);
    }
  }
}

void copy_bricks(const File& file, const BrickBox& bricks, const BoxOfValues& box, int threads)
{
  const auto& lower = bricks.lower;
  const auto& upper = bricks.upper;
  in_arena(threads,
    [&]
    {
      tbb::parallel_for(tbb::blocked_range3d<std::int64_t>(
                          lower[2], upper[2], lower[1], upper[1], lower[0], upper[0]),
        [&](const auto& part)
        {
          const BrickBox some({ part.cols().begin(), part.rows().begin(), part.pages().begin() },
            { part.cols().end(), part.rows().end(), part.pages().end() });
          some.for_each([&](const auto& place) { copy_brick(file, place, box); });
        });
    });
}
}

void File::read_box(const std::array<std::int64_t, 3>& first,
  const std::array<std::int64_t, 3>& count, void* values, std::size_t bytes, int threads) const
{
  const BrickGrid& grid = this->grid();
  check_box(this->name(), grid, first, count, bytes);
  const BoxOfValues box{ first, count, static_cast<std::byte*>(values) };
  const BrickBox bricks(grid, first, count);
  if (!this->impl_->file.is_remote())
  {
    copy_bricks(*this, bricks, box, threads);
    return;
  }
  // One layer is requested while the one before is read.
  const auto layer = [&](std::int64_t z)
  {
    BrickBox part = bricks;
    part.lower[2] = z;
    part.upper[2] = z + 1;
    return part;
  };
  const auto prefetch = [&](std::int64_t z) { this->prefetch(layer(z).numbers(grid)); };
  prefetch(bricks.lower[2]);
  for (std::int64_t z = bricks.lower[2]; z != bricks.upper[2]; ++z)
  {
    if (z + 1 != bricks.upper[2])
    {
      prefetch(z + 1);
    }
    copy_bricks(*this, layer(z), box, threads);
  }
}

// Validation checks more than reading does: padding must be zero, bricks must follow one another,
// bricks that can be omitted must not be stored, and preview and ranges must match the values.
class File::Validation
{
public:
  Validation(const File& file, const Impl& impl)
    : file_(file)
    , impl_(impl)
    , grid_(file.grid())
    , preview_(file.preview())
  {
    const auto edge = static_cast<std::size_t>(this->grid_.edge);
    this->values_.resize(edge * edge * edge * this->grid_.point_bytes());
    this->filled_.resize(this->values_.size());
  }

  void check_header_padding() const
  {
    const auto& preview = this->impl_.layout.preview;
    const auto& index = this->impl_.layout.index;
    const std::uint64_t text_end = sizeof(format::HeaderRecord) + this->impl_.header.field.size() +
      this->impl_.header.metadata.size();
    this->check_zeros(text_end, preview.offset);
    this->check_zeros(preview.offset + preview.raw_bytes + 8 * preview.pages(), index.offset);
    this->check_zeros(
      index.offset + index.raw_bytes + 8 * index.pages(), this->impl_.layout.bricks_offset);
  }

  /// Requests what follows in a remote file: bricks are stored in the order of their slots.
  void read_ahead()
  {
    constexpr std::uint64_t kWindowBytes = std::uint64_t{ 16 } << 20;
    if (this->impl_.file.is_remote() && this->end_ + kWindowBytes / 2 > this->requested_)
    {
      this->impl_.file.prefetch(this->impl_.layout.bricks_offset + this->requested_, kWindowBytes);
      this->requested_ += kWindowBytes;
    }
  }

  void check_slot(std::uint64_t slot)
  {
    const auto place = this->impl_.layout.order.place(slot);
    if (place[0] >= this->grid_.bricks(0) || place[1] >= this->grid_.bricks(1) ||
      place[2] >= this->grid_.bricks(2))
    {
      if (this->impl_.index_word(slot) != 0)
      {
        this->refuse(fmt::format("slot {} of the index is outside the grid and not 0", slot));
      }
      return;
    }
    this->check_brick(place);
  }

  [[nodiscard]] Checked finish() const
  {
    const std::uint64_t bricks_bytes = this->impl_.file.size() - this->impl_.layout.bricks_offset;
    if (this->end_ != bricks_bytes)
    {
      this->refuse(fmt::format(
        "the last brick ends {} bytes before the file does", bricks_bytes - this->end_));
    }
    if (!this->range_.is_of(this->impl_.header))
    {
      this->refuse("the ranges or maximum speed in the header do not match the values");
    }
    return this->checked_;
  }

private:
  [[noreturn]] void refuse(const std::string& what) const { corrupt(this->file_.name(), what); }

  /// The remaining bytes are fewer than 8.
  void check_zeros(std::uint64_t begin, std::uint64_t end) const
  {
    std::uint64_t padding = 0;
    this->impl_.file.read(begin, &padding, static_cast<std::size_t>(end - begin));
    if (padding != 0)
    {
      this->refuse(fmt::format("padding at offset {} is not zero", begin));
    }
  }

  void check_place(std::uint64_t brick, const format::BrickEntry& entry)
  {
    if (entry.offset != this->end_)
    {
      this->refuse(fmt::format("{} is at offset {} of the bricks, but the previous one ends at {}",
        this->impl_.describe(brick), entry.offset, this->end_));
    }
    const std::uint64_t bricks_offset = this->impl_.layout.bricks_offset;
    this->end_ = format::align8(entry.offset + entry.bytes);
    if (this->end_ > this->impl_.file.size() - bricks_offset)
    {
      this->refuse("the padding after the last brick is missing");
    }
    this->check_zeros(bricks_offset + entry.offset + entry.bytes, bricks_offset + this->end_);
  }

  /// A constant brick that the index describes is not stored.
  void check_is_needed(std::uint64_t brick, const format::BrickEntry& entry,
    const std::array<int, 3>& points, std::size_t row, std::size_t plane, std::size_t bytes)
  {
    using Fill = std::pair<decltype(&format::fill_with_nan), const char*>;
    for (const auto& [fill, value] :
      { Fill(&format::fill_with_nan, "the quiet NaN"), Fill(&format::fill_with_zeros, "0") })
    {
      fill(this->grid_, points, { this->filled_.data(), row, plane });
      if (std::memcmp(this->filled_.data(), this->values_.data(), bytes) == 0)
      {
        this->refuse(
          fmt::format("{} has {} stored bytes, but contains only {}; such bricks must not be "
                      "stored",
            this->impl_.describe(brick), entry.bytes, value));
      }
    }
  }

  void check_brick(const std::array<std::int64_t, 3>& place)
  {
    const std::uint64_t brick = this->grid_.brick_number(place);
    const format::BrickEntry entry = this->impl_.entry(brick);
    if (entry.bytes != 0)
    {
      this->check_place(brick, entry);
    }
    const std::array<int, 3> points = this->impl_.points_of(brick);
    const std::size_t row = static_cast<std::size_t>(points[0]) * this->grid_.point_bytes();
    const std::size_t plane = row * static_cast<std::size_t>(points[1]);
    this->file_.read(brick, { this->values_.data(), row, plane });
    const std::size_t count = format::points_of_brick(this->grid_, place);
    if (entry.bytes != 0)
    {
      this->check_is_needed(brick, entry, points, row, plane, count * this->grid_.point_bytes());
    }
    this->range_.add(this->grid_, this->values_.data(), count);
    if (std::memcmp(this->preview_.data() + brick * this->grid_.point_bytes(), this->values_.data(),
          this->grid_.point_bytes()) != 0)
    {
      this->refuse(
        fmt::format("the preview of {} is not its first point", this->impl_.describe(brick)));
    }
    ++this->checked_.bricks;
    this->checked_.blank_bricks += entry.bytes == 0 && entry.offset == format::BrickEntry::kNoFlow;
    this->checked_.brick_bytes += entry.bytes;
    this->checked_.value_bytes += count * this->grid_.point_bytes();
  }

  const File& file_;
  const Impl& impl_;
  const BrickGrid& grid_;
  std::vector<std::byte> preview_;
  std::vector<std::byte> values_; ///< values of one brick
  std::vector<std::byte> filled_; ///< a brick of one value
  std::uint64_t end_ = 0;         ///< end of the bricks so far
  std::uint64_t requested_ = 0;   ///< end of the bricks that were requested ahead
  format::ValueRange range_;
  Checked checked_;
};

Checked File::validate(const std::function<bool(double)>& progress) const
{
  const Impl& impl = *this->impl_;
  StoppableProgress report(progress, impl.file.is_remote());
  Validation validation(*this, impl);
  validation.check_header_padding();
  const std::uint64_t slots = impl.layout.order.slot_count();
  for (std::uint64_t slot = 0; slot != slots; ++slot)
  {
    if (slot % 512 == 0 && !report(static_cast<double>(slot) / static_cast<double>(slots)))
    {
      throw Error(ErrorCode::Cancelled, this->name() + ": cancelled");
    }
    validation.read_ahead();
    validation.check_slot(slot);
  }
  return validation.finish();
}
}
