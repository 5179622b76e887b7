// SPDX-License-Identifier: BSD-3-Clause
#include "bat/idx/dataset.hpp"

#include "bat/error.hpp"
#include "bat/nearest_name.hpp"
#include "common/io/random_access_file.hpp"
#include "common/io/remote/address.hpp"
#include "idx/format/geometry.hpp"
#include "idx/format/order.hpp"
#include "idx/format/scatter.hpp"
#include "idx/read/block_reader.hpp"
#include "idx/read/step_list.hpp"
#include "idx/read/visus_address.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace bat::idx
{
namespace
{
/// The part of a file in which can_open() looks for the keys.
constexpr std::uint64_t kTextBegin = std::uint64_t{ 64 } << 10;
/// Reading a text stops at the size that parse_header() refuses.
constexpr std::uint64_t kMaxReadBytes = kMaxTextBytes + 1;

struct Text
{
  std::string text;
  std::optional<std::int64_t> changed; ///< when, according to the server
};

Text read_text(const std::filesystem::path& path, std::uint64_t maximum)
{
  const io::RandomAccessFile file(path, { kTextBegin, 0 });
  Text read{ std::string(std::min(file.size(), maximum), '\0'), file.last_modified() };
  file.read(0, read.text.data(), read.text.size());
  return read;
}

std::uint64_t saturated(unsigned __int128 value)
{
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  return value > kMax ? kMax : static_cast<std::uint64_t>(value);
}

LogicalBox intersection(const LogicalBox& a, const LogicalBox& b)
{
  LogicalBox box;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box.lower[axis] = std::max(a.lower[axis], b.lower[axis]);
    box.upper[axis] = std::min(a.upper[axis], b.upper[axis]);
  }
  return box;
}
}

struct Dataset::Impl
{
  Impl(const VisusAddress& address, Text whole)
    : name(address.name)
    , text(std::move(whole.text))
    , header(parse_header(this->text, this->name))
    , source(address, this->text, this->header, whole.changed)
    , order(this->source.order)
  {
  }

  void check_level(int level) const
  {
    if (level < 0 || level > this->order.levels())
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: level {} is out of range; allowed are 0 to {}", this->name, level,
          this->order.levels()));
    }
  }

  [[nodiscard]] const Field& field(std::size_t index) const
  {
    if (index >= this->header.fields.size())
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: field {} is out of range; the file has {}", this->name, index,
          this->header.fields.size()));
    }
    return this->header.fields[index];
  }

  [[nodiscard]] Lattice lattice(int level, const std::optional<LogicalBox>& box) const
  {
    this->check_level(level);
    const LogicalBox inside = box ? intersection(*box, this->header.box) : this->header.box;
    if (inside.is_empty())
    {
      Lattice none;
      none.distance = this->order.distance(level);
      return none;
    }
    return this->order.lattice(level, inside);
  }

  [[nodiscard]] std::int64_t step_of(const Query& query, const Dataset& dataset) const
  {
    if (!query.step)
    {
      const std::vector<std::int64_t> steps = dataset.steps();
      if (steps.empty())
      {
        throw Error(ErrorCode::NotFound, fmt::format("{}: no time steps yet", this->name));
      }
      return steps.front();
    }
    if (!names_step(this->header, *query.step))
    {
      const std::vector<std::int64_t> steps = dataset.steps();
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: unknown time step {}; the file has {}, from {} to {}", this->name,
          *query.step, steps.size(), steps.front(), steps.back()));
    }
    return *query.step;
  }

  // Returns the samples that an array of a coarser level provides, and the level up to which blocks
  // are known.
  [[nodiscard]] int use_coarse(const CoarseSamples& coarse, const Query& query,
    const Lattice& lattice, const Field& field, std::byte* values) const
  {
    if (coarse.level < 0 || coarse.level > query.level)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: samples of level {} are not contained in level {}", this->name,
          coarse.level, query.level));
    }
    if (coarse.level < this->order.bits_per_block() && coarse.level != query.level)
    {
      return -1; // block 0 has more levels than that
    }
    const Lattice known = this->lattice(coarse.level, query.box);
    if (known.samples() != 0)
    {
      format::LevelBlocks one;
      one.origin = known.first;
      one.distance = known.distance;
      one.counts = known.count;
      copy_samples<Direction::ToArray>(this->order.common(one, {}, lattice), known.count, nullptr,
        field.sample_bytes(), static_cast<const std::byte*>(coarse.values), values,
        compute_strides(lattice.count));
    }
    return std::max(coarse.level, this->order.bits_per_block());
  }

  std::string name;
  std::string text;
  Header header;
  Source source;
  const format::Order& order; ///< of the source
};

Dataset::Dataset(std::unique_ptr<const Impl> impl)
  : impl_(std::move(impl))
{
}
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

Dataset Dataset::open(const std::filesystem::path& path)
{
  const VisusAddress address = parse_visus_address(path);
  return Dataset(std::make_unique<const Impl>(address, read_text(address.file, kMaxReadBytes)));
}

Dataset Dataset::from_text(const std::filesystem::path& path, std::string text)
{
  return Dataset(
    std::make_unique<const Impl>(parse_visus_address(path), Text{ std::move(text), {} }));
}

bool Dataset::can_open(const std::filesystem::path& path) noexcept
{
  try
  {
    const std::string text = read_text(parse_visus_address(path).file, kTextBegin).text;
    const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
    return (has("(version)") && has("(bits)")) || text.compare(0, 8, "<dataset") == 0;
  }
  catch (...)
  {
    return false;
  }
}

const std::string& Dataset::name() const noexcept
{
  return this->impl_->name;
}

const Header& Dataset::header() const noexcept
{
  return this->impl_->header;
}

const std::string& Dataset::text() const noexcept
{
  return this->impl_->text;
}

std::size_t Dataset::field_index(std::string_view name) const
{
  std::vector<std::string_view> names;
  for (const Field& field : this->fields())
  {
    if (field.name == name)
    {
      return names.size();
    }
    names.push_back(field.name);
  }
  throw Error(ErrorCode::InvalidArgument,
    fmt::format("{}: unknown field '{}'{}", this->name(), name,
      bat::available(name, fmt::format("{}", fmt::join(names, ", ")))));
}

Geometry Dataset::geometry() const
{
  return format::compute_geometry(this->header());
}

std::vector<std::int64_t> Dataset::steps() const
{
  if (this->impl_->source.remote && this->header().time.listed)
  {
    throw Error(ErrorCode::CannotOpen,
      fmt::format("{}: has '*' in (time), so its time steps are found by listing a folder, but "
                  "servers do not list folders; request a step by its number, or list the steps in "
                  "(time)",
        this->name()));
  }
  return list_steps(this->impl_->header, this->impl_->source.names, this->impl_->source.folder);
}

std::vector<double> Dataset::times() const
{
  const std::vector<std::int64_t> steps = this->steps();
  const std::vector<double>& times = this->header().times;
  if (times.empty())
  {
    return { steps.begin(), steps.end() };
  }
  if (times.size() != steps.size())
  {
    throw Error(ErrorCode::Corrupt,
      fmt::format("{}: (parabat_times) has {} times for {} time steps", this->name(), times.size(),
        steps.size()));
  }
  return times;
}

std::array<std::int64_t, 3> Dataset::distance(int level) const
{
  this->impl_->check_level(level);
  return this->impl_->order.distance(level);
}

Lattice Dataset::lattice(int level, const std::optional<LogicalBox>& box) const
{
  return this->impl_->lattice(level, box);
}

LogicalBox Dataset::box_of_extent(int level, const std::array<int, 6>& extent) const
{
  const std::array<std::int64_t, 3> distance = this->distance(level);
  LogicalBox box;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    // Beyond every box, and far from overflow: a distance has at most 62 bits.
    const auto coordinate = [&](int number)
    {
      constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / 2;
      const __int128 exact = static_cast<__int128>(number) * distance[axis];
      return static_cast<std::int64_t>(std::clamp<__int128>(exact, -kMax, kMax));
    };
    box.lower[axis] = coordinate(extent[2 * axis]);
    box.upper[axis] = coordinate(extent[2 * axis + 1]);
  }
  return box;
}

LogicalBox Dataset::box_of(const Box& physical) const
{
  const Geometry geometry = this->geometry();
  LogicalBox box = this->box();
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const auto position = [&](std::int64_t p)
    { return geometry.origin[axis] + static_cast<double>(p) * geometry.spacing[axis]; };
    // Positions ascend; bisection finds the first that is not below, and the first above.
    const auto first_that = [&](const auto& holds)
    {
      std::int64_t from = this->box().lower[axis];
      std::int64_t to = this->box().upper[axis] + 1;
      while (from < to)
      {
        const std::int64_t middle = from + (to - from) / 2;
        holds(position(middle)) ? to = middle : from = middle + 1;
      }
      return from;
    };
    box.lower[axis] = first_that([&](double x) { return x >= physical.lower[axis]; });
    box.upper[axis] = first_that([&](double x) { return x > physical.upper[axis]; }) - 1;
  }
  return box;
}

std::optional<int> Dataset::first_level(const LogicalBox& box) const
{
  for (int level = 0; level <= this->levels(); ++level)
  {
    if (this->lattice(level, box).samples() != 0)
    {
      return level;
    }
  }
  return std::nullopt;
}

Cost Dataset::cost(
  const std::vector<std::size_t>& fields, int level, const std::optional<LogicalBox>& box) const
{
  const Impl& impl = *this->impl_;
  const Lattice lattice = impl.lattice(level, box);
  Cost cost;
  cost.samples = lattice.samples();
  std::uint64_t blocks = 0;
  const int b = impl.order.bits_per_block();
  for (int l = b; l <= std::max(level, b); ++l)
  {
    blocks += impl.order.blocks_with(impl.order.blocks_of_level(l), lattice).count();
  }
  unsigned __int128 bytes = 0;
  unsigned __int128 block_bytes = 0;
  for (const std::size_t index : fields)
  {
    const std::uint64_t sample = impl.field(index).sample_bytes();
    bytes += static_cast<unsigned __int128>(cost.samples) * sample;
    block_bytes += static_cast<unsigned __int128>(blocks) * sample << b;
  }
  cost.bytes = saturated(bytes);
  cost.blocks = saturated(static_cast<unsigned __int128>(blocks) * fields.size());
  cost.block_bytes = saturated(block_bytes);
  return cost;
}

int Dataset::finest_level(const std::vector<std::size_t>& fields, int maximum,
  std::uint64_t budget_bytes, const std::optional<LogicalBox>& box) const
{
  int level = maximum;
  while (this->cost(fields, level, box).bytes > budget_bytes && level > 0)
  {
    --level;
  }
  return level;
}

ReadReport Dataset::read(
  const Query& query, void* values, std::size_t bytes, const ReadOptions& options) const
{
  const Impl& impl = *this->impl_;
  const Field& field = impl.field(query.field);
  const Lattice lattice = impl.lattice(query.level, query.box);
  const auto needed = static_cast<unsigned __int128>(lattice.samples()) * field.sample_bytes();
  if (needed != bytes)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: field '{}' at level {} has {} samples of {} bytes, but the array has {} "
                  "bytes",
        impl.name, field.name, query.level, lattice.samples(), field.sample_bytes(), bytes));
  }
  BlockRead read;
  read.field = query.field;
  read.step = impl.step_of(query, *this);
  read.lattice = lattice;
  read.level = query.level;
  read.array = static_cast<std::byte*>(values);
  if (lattice.samples() == 0)
  {
    return {};
  }
  if (options.coarse)
  {
    read.known_level = impl.use_coarse(*options.coarse, query, lattice, field, read.array);
  }
  return read_blocks(impl.source, read, options);
}

void Dataset::prefetch(const Query& query) const
{
  const Impl& impl = *this->impl_;
  BlockRead read;
  read.field = query.field;
  read.lattice = impl.lattice(query.level, query.box);
  // Blocks of a server and copies are not in the cache for remote files.
  if (!impl.source.remote || impl.source.server || impl.source.cache || impl.header.arco != 0 ||
    read.lattice.samples() == 0)
  {
    return;
  }
  (void)impl.field(query.field);
  read.step = impl.step_of(query, *this);
  read.level = query.level;
  read.only_prefetch = true;
  (void)read_blocks(impl.source, read, {});
}

bool Dataset::is_as_opened() const noexcept
{
  const Impl& impl = *this->impl_;
  return impl.source.remote ? impl.source.remote->is_text(impl.text)
                            : impl.source.steps.are_as_opened();
}

ReadReport Dataset::check(std::size_t field, std::int64_t step, const ReadOptions& options) const
{
  const Impl& impl = *this->impl_;
  (void)impl.field(field);
  BlockRead read;
  read.field = field;
  read.level = this->levels();
  read.lattice = impl.lattice(read.level, {});
  read.step = impl.step_of({ field, read.level, {}, step }, *this);
  return read_blocks(impl.source, read, options);
}
}
