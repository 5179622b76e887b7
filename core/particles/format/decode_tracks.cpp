// SPDX-License-Identifier: BSD-3-Clause
// Decodes tracks files: header, starts and heads of blocks, histories.

#include "bat/text.hpp"
#include "common/numbers.hpp"
#include "common/round_up.hpp"
#include "particles/format/checksum.hpp"
#include "particles/format/decode.hpp"
#include "particles/format/decode_parts.hpp"
#include "particles/format/tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace bat::format
{
namespace
{
bool is_type(std::uint8_t code)
{
  return code >= 1 && code <= 10;
}

// Returns the start at `offset`; empty if the block does not exist yet.
std::optional<BlockStart> read_start(const io::RandomAccessFile& file, std::uint64_t offset)
{
  BlockStart start;
  // The first read may have returned bytes from before a write together with the checksum from
  // after it; a second read is then consistent.
  for (int attempt = 0; attempt != 2; ++attempt)
  {
    file.read(offset, &start, sizeof(start));
    if (start.start_checksum == 0)
    {
      return std::nullopt;
    }
    if (checksum(&start, offsetof(BlockStart, start_checksum)) == start.start_checksum)
    {
      return start;
    }
  }
  corrupt(file, fmt::format("the start of the block at {} has a wrong checksum", offset));
}

// Adds up without overflow.
class Sum
{
public:
  void add(std::uint64_t count, std::uint64_t bytes)
  {
    const bool fits = bytes == 0 || count <= (kMaxCountedBytes - this->sum_) / bytes;
    this->sum_ = fits ? this->sum_ + count * bytes : kMaxCountedBytes;
  }
  [[nodiscard]] std::uint64_t value() const { return this->sum_; }

private:
  static constexpr std::uint64_t kMaxCountedBytes = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t sum_ = 0;
};

// Returns whether `id` is the stored form of a value of type T.
template <class T>
bool is_stored_as(std::uint64_t id)
{
  const auto wide = from_bits<ClassOf<T>>(id);
  if constexpr (std::is_floating_point_v<T>)
  {
    return !std::isnan(wide) && (wide != 0 || id == 0) &&
      (std::isinf(wide) ||
        (std::abs(wide) <= std::numeric_limits<T>::max() && static_cast<T>(wide) == wide));
  }
  else
  {
    return wide >= std::numeric_limits<T>::min() && wide <= std::numeric_limits<T>::max();
  }
}

// Returns the first id that is not above the previous one; otherwise their number.
std::size_t first_unsorted(const TrackBlock& block)
{
  return dispatch(value_class(block.schema.id_type),
    [&](auto example)
    {
      using V = decltype(example);
      for (std::size_t i = 1; i < block.ids.size(); ++i)
      {
        const auto before = from_bits<V>(block.ids[i - 1]);
        const auto here = from_bits<V>(block.ids[i]);
        const bool ascends = before < here ||
          (before == here && !block.second.empty() &&
            compare_ids(block.second[i - 1], block.second[i], block.schema.second_type) < 0);
        if (!ascends)
        {
          return i;
        }
      }
      return block.ids.size();
    });
}

/// Reads a head front to back; throws Error{Corrupt} for any violation of section 19.
class HeadReader
{
public:
  HeadReader(const io::RandomAccessFile& file, const BlockStart& start)
    : file_(file)
    , start_(start)
    , bytes_(start.head_bytes)
  {
    file.read(start.offset + sizeof(start), this->bytes_.data(), this->bytes_.size());
    this->need(checksum(this->bytes_.data(), this->bytes_.size()) == start.head_checksum,
      "its head has a wrong checksum");
  }

  TrackBlock read()
  {
    this->head_ = this->next<BlockHead>();
    this->check_head();
    TrackBlock block;
    block.payload_offset = this->start_.offset + sizeof(BlockStart) + this->start_.head_bytes;
    block.payload_bytes = this->start_.payload_bytes;
    std::vector<std::uint32_t> name_bytes = this->read_attributes(block);
    this->need(block.row_bytes() == this->head_.row_bytes,
      fmt::format("its rows have {} bytes; expected {}", this->head_.row_bytes, block.row_bytes()));
    Sum payload;
    payload.add(this->head_.row_count, block.row_bytes());
    this->need(payload.value() == block.payload_bytes,
      fmt::format("its payload has {} bytes; expected {}", block.payload_bytes, payload.value()));
    std::vector<SampleRecord> samples = this->take<SampleRecord>(this->head_.sample_count);
    this->read_ids(block);
    block.page_sums = this->take<std::uint32_t>(this->pages());
    this->read_names(block, name_bytes);
    this->read_samples(block, samples);
    this->need(std::all_of(this->bytes_.begin() + static_cast<std::ptrdiff_t>(this->at_),
                 this->bytes_.end(), [](std::byte b) { return b == std::byte{}; }),
      "bytes follow its texts");
    return block;
  }

private:
  void need(bool good, const std::string& what) const
  {
    if (!good)
    {
      corrupt(this->file_, fmt::format("block at {}: {}", this->start_.offset, what));
    }
  }

  template <class T>
  std::vector<T> take(std::uint64_t count)
  {
    std::vector<T> values(count); // check_head() has checked the number
    if (count != 0)
    {
      std::memcpy(values.data(), this->bytes_.data() + this->at_, count * sizeof(T));
    }
    this->at_ += count * sizeof(T);
    return values;
  }
  template <class T>
  T next()
  {
    this->need(this->bytes_.size() - this->at_ >= sizeof(T), "its head is too short");
    return this->take<T>(1).front();
  }
  std::string text(std::uint64_t bytes)
  {
    this->need(bytes <= this->texts_end_ - this->at_, "its texts are too short");
    std::string text(reinterpret_cast<const char*>(this->bytes_.data()) + this->at_, bytes);
    this->at_ += bytes;
    return text;
  }

  [[nodiscard]] std::uint64_t pages() const
  {
    return this->start_.payload_bytes / kPageBytes +
      (this->start_.payload_bytes % kPageBytes != 0 ? 1 : 0);
  }

  void check_head()
  {
    const BlockHead& head = this->head_;
    this->need(head.sample_count != 0, "it has no samples");
    this->need(head.attribute_count <= kMaxAttributes, "it has too many attributes");
    this->need(head.reserved == 0 && is_zero(head.reserved2, sizeof(head.reserved2)),
      "reserved bytes of its head are not zero");
    this->need(head.position_type == static_cast<std::uint8_t>(ScalarType::Float32) ||
        head.position_type == static_cast<std::uint8_t>(ScalarType::Float64),
      fmt::format("its position type is {}; allowed are 9 and 10", head.position_type));
    this->need(is_type(head.id_type) && (head.second_type == 0 || is_type(head.second_type)),
      "its id type is invalid");
    this->need(head.id_name_bytes != 0 && (head.second_name_bytes != 0) == (head.second_type != 0),
      "its ids have no name");
    this->need(head.id_name_bytes <= 65535 && head.second_name_bytes <= 65535,
      fmt::format("its id names have {} and {} bytes; at most 65535 are allowed",
        head.id_name_bytes, head.second_name_bytes));
    Sum bytes;
    bytes.add(1, sizeof(BlockHead));
    bytes.add(head.attribute_count, sizeof(TrackAttributeRecord));
    bytes.add(head.sample_count, sizeof(SampleRecord));
    bytes.add(head.id_count, 8 + 4);
    bytes.add(head.second_type != 0 ? head.id_count : 0, 8);
    bytes.add(this->pages(), sizeof(std::uint32_t));
    bytes.add(head.text_bytes, 1);
    this->need(bytes.value() <= this->bytes_.size() && this->bytes_.size() - bytes.value() < 8,
      fmt::format("its head has {} bytes; expected {}", this->bytes_.size(), bytes.value()));
    this->texts_end_ = bytes.value();
  }

  std::vector<std::uint32_t> read_attributes(TrackBlock& block)
  {
    const BlockHead& head = this->head_;
    block.schema.position_type = static_cast<ScalarType>(head.position_type);
    block.schema.id_type = static_cast<ScalarType>(head.id_type);
    if (head.second_type != 0)
    {
      block.schema.second_type = static_cast<ScalarType>(head.second_type);
    }
    std::vector<std::uint32_t> name_bytes;
    for (const auto& record : this->take<TrackAttributeRecord>(head.attribute_count))
    {
      this->need(is_type(record.type) && record.components >= 1 &&
          record.components <= kMaxComponents && record.reserved == 0 && record.reserved2 == 0 &&
          record.name_bytes != 0 && record.name_bytes <= 65535,
        fmt::format("attribute {} is invalid", name_bytes.size()));
      Attribute attribute;
      attribute.type = static_cast<ScalarType>(record.type);
      attribute.components = record.components;
      attribute.role = record.role;
      attribute.host_type = record.host_type;
      block.schema.attributes.push_back(std::move(attribute));
      name_bytes.push_back(record.name_bytes);
    }
    return name_bytes;
  }

  void read_ids(TrackBlock& block)
  {
    const BlockHead& head = this->head_;
    block.ids = this->take<std::uint64_t>(head.id_count);
    block.second = this->take<std::uint64_t>(head.second_type != 0 ? head.id_count : 0);
    this->check_ids(block.ids, block.schema.id_type);
    this->check_ids(block.second, block.schema.second_type);
    const std::size_t unsorted = first_unsorted(block);
    this->need(unsorted == block.ids.size(),
      fmt::format("id {} is not greater than the previous one", unsorted));
    block.first_row.reserve(head.id_count + 1);
    block.first_row.push_back(0);
    for (const std::uint32_t rows : this->take<std::uint32_t>(head.id_count))
    {
      this->need(rows != 0, "an id has no rows");
      block.first_row.push_back(block.first_row.back() + rows);
    }
    this->need(block.first_row.back() == head.row_count,
      fmt::format("its ids have {} rows; expected {}", block.first_row.back(), head.row_count));
  }

  // Returns numbers of their type; zero is +0.
  void check_ids(const std::vector<std::uint64_t>& ids, ScalarType type) const
  {
    const bool good = dispatch(type,
      [&](auto example)
      {
        using T = decltype(example);
        return std::all_of(ids.begin(), ids.end(), is_stored_as<T>);
      });
    this->need(good, "an id is not a number of its type");
  }

  void read_names(TrackBlock& block, const std::vector<std::uint32_t>& name_bytes)
  {
    block.schema.id_attribute = this->text(this->head_.id_name_bytes);
    block.schema.second_attribute = this->text(this->head_.second_name_bytes);
    std::set<std::string> names = { block.schema.id_attribute };
    const auto add = [&](const std::string& name)
    { this->need(names.insert(name).second, fmt::format("two attributes are called '{}'", name)); };
    if (!block.second.empty() || this->head_.second_type != 0)
    {
      add(block.schema.second_attribute);
    }
    for (std::size_t k = 0; k != name_bytes.size(); ++k)
    {
      block.schema.attributes[k].name = this->text(name_bytes[k]);
      add(block.schema.attributes[k].name);
    }
    for (const std::string& name : names)
    {
      this->need(is_utf8(name) && name.find('\0') == std::string::npos,
        "an attribute name is not valid UTF-8, or contains zero bytes");
    }
  }

  void read_samples(TrackBlock& block, const std::vector<SampleRecord>& records)
  {
    std::uint64_t rows = 0;
    for (const SampleRecord& record : records)
    {
      const std::size_t s = block.samples.size();
      this->need((record.flags & ~std::uint32_t{ kSampleHasTime | kSameMetadata }) == 0,
        fmt::format("sample {} has flags {}", s, record.flags));
      this->need(s == 0 || record.step > block.samples.back().step,
        fmt::format("sample {} is not after the previous one", s));
      const bool has_time = (record.flags & kSampleHasTime) != 0;
      const bool same = (record.flags & kSameMetadata) != 0;
      std::uint64_t time_bits;
      std::memcpy(&time_bits, &record.time, sizeof(time_bits));
      this->need(has_time ? !std::isnan(record.time) : time_bits == 0,
        fmt::format("the time of sample {} is invalid", s));
      this->need(!same || (s != 0 && record.metadata_bytes == 0),
        fmt::format("the metadata of sample {} is invalid", s));
      this->need(record.rows <= this->head_.row_count - rows,
        fmt::format("its samples have more than {} rows", this->head_.row_count));
      rows += record.rows;
      BlockSample sample;
      sample.step = record.step;
      sample.time = has_time ? std::optional(record.time) : std::nullopt;
      sample.rows = record.rows;
      sample.metadata = same
        ? block.samples.back().metadata
        : std::make_shared<const std::string>(this->text(record.metadata_bytes));
      block.samples.push_back(std::move(sample));
    }
    this->need(rows == this->head_.row_count,
      fmt::format("its samples have {} rows; expected {}", rows, this->head_.row_count));
    this->need(this->at_ == this->texts_end_, "bytes follow its texts");
  }

  const io::RandomAccessFile& file_;
  const BlockStart& start_;
  std::vector<std::byte> bytes_;
  std::uint64_t at_ = 0;
  std::uint64_t texts_end_ = 0;
  BlockHead head_{};
};
}

bool can_hold_id(ScalarType type, std::uint64_t id) noexcept
{
  return dispatch(type, [&](auto example) { return is_stored_as<decltype(example)>(id); });
}

bool same_schema(const TrackSchema& a, const TrackSchema& b) noexcept
{
  return a.id_attribute == b.id_attribute && a.id_type == b.id_type &&
    a.second_attribute == b.second_attribute &&
    (a.second_attribute.empty() || a.second_type == b.second_type) &&
    a.position_type == b.position_type &&
    std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(), b.attributes.end(),
      [](const Attribute& x, const Attribute& y)
      {
        return x.name == y.name && x.type == y.type && x.components == y.components &&
          x.role == y.role && x.host_type == y.host_type;
      });
}

bool same_ids(const TrackSchema& a, const TrackSchema& b) noexcept
{
  return a.id_attribute == b.id_attribute && value_class(a.id_type) == value_class(b.id_type) &&
    a.second_attribute == b.second_attribute &&
    (a.second_attribute.empty() || value_class(a.second_type) == value_class(b.second_type));
}

std::string ids_text(const TrackSchema& schema)
{
  std::string text = fmt::format("'{}' {}", schema.id_attribute, name_of(schema.id_type));
  if (!schema.second_attribute.empty())
  {
    text += fmt::format(" and '{}' {}", schema.second_attribute, name_of(schema.second_type));
  }
  return text;
}

int compare_ids(std::uint64_t a, std::uint64_t b, ScalarType type) noexcept
{
  return dispatch(value_class(type),
    [&](auto example)
    {
      using V = decltype(example);
      const auto x = from_bits<V>(a);
      const auto y = from_bits<V>(b);
      return x < y ? -1 : x > y ? 1 : 0;
    });
}

namespace
{
// Throws Error: Truncated, NotABatFile, UnsupportedVersion, Corrupt.
void check_tracks_header(const io::RandomAccessFile& file)
{
  TracksHeader header{};
  const std::uint64_t there = std::min<std::uint64_t>(file.size(), sizeof(header));
  file.read(0, &header, there);
  const std::size_t magic = std::min<std::size_t>(there, sizeof(kTracksMagic));
  if (std::memcmp(header.magic, kTracksMagic, magic) != 0)
  {
    throw Error(ErrorCode::NotABatFile, fmt::format("{}: is not a tracks file", file.name()));
  }
  if (there >= offsetof(TracksHeader, header_bytes) && header.version_major != kTracksVersionMajor)
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format("{}: tracks format version {}; this library reads version {}", file.name(),
        header.version_major, kTracksVersionMajor));
  }
  if (file.size() < kTracksHeaderBytes)
  {
    throw Error(ErrorCode::Truncated,
      fmt::format("{}: has {} bytes, but the tracks header has {}", file.name(), file.size(),
        kTracksHeaderBytes));
  }
  if (checksum(&header, offsetof(TracksHeader, header_checksum)) != header.header_checksum)
  {
    corrupt(file, "the tracks header has a wrong checksum");
  }
  if (header.required_features != 0)
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format("{}: needs features {:#x}, which this library does not support", file.name(),
        header.required_features));
  }
  if (header.header_bytes != kTracksHeaderBytes ||
    !is_zero(header.reserved, sizeof(header.reserved)))
  {
    corrupt(file,
      fmt::format("the tracks header has {} bytes, or reserved bytes that are not zero; expected "
                  "{}",
        header.header_bytes, kTracksHeaderBytes));
  }
}

bool has_sizes_that_fit(const BlockStart& start)
{
  if (start.block_bytes < sizeof(BlockStart) || start.block_bytes % kBlockAlignment != 0)
  {
    return false;
  }
  const std::uint64_t behind = start.block_bytes - sizeof(BlockStart);
  return start.head_bytes % 8 == 0 && start.head_bytes <= behind &&
    start.payload_bytes <= behind - start.head_bytes &&
    behind - start.head_bytes - start.payload_bytes < kBlockAlignment;
}

bool is_sound(const TracksEnd& end)
{
  return checksum(&end, offsetof(TracksEnd, checksum)) == end.checksum;
}

// Returns the newer one of the two that is undamaged.
void read_ends(const io::RandomAccessFile& file, TrackBlocks& blocks)
{
  TracksEnd ends[2];
  // A writer may be writing one of them; a second read is then consistent.
  for (int attempt = 0; attempt != 3; ++attempt)
  {
    file.read(sizeof(TracksHeader), ends, sizeof(ends));
    blocks.has_both_ends = is_sound(ends[0]) && is_sound(ends[1]);
    if (blocks.has_both_ends)
    {
      break;
    }
  }
  if (!is_sound(ends[0]) && !is_sound(ends[1]))
  {
    corrupt(file, "both end records have a wrong checksum");
  }
  const bool is_first =
    !is_sound(ends[1]) || (is_sound(ends[0]) && ends[0].sequence >= ends[1].sequence);
  blocks.known = ends[is_first ? 0 : 1];
  const TracksEnd& known = blocks.known;
  if (known.reserved != 0 || known.is_finished > 1 || known.end < kTracksHeaderBytes ||
    known.end % kBlockAlignment != 0)
  {
    corrupt(
      file, fmt::format("the end record has invalid values: {}, {}", known.end, known.is_finished));
  }
}

// Throws Error if the file lacks blocks that a writer knew.
void check_end(const io::RandomAccessFile& file, const TrackBlocks& blocks)
{
  const TracksEnd& known = blocks.known;
  if (file.size() < known.end && file.size_now() < known.end)
  {
    throw Error(ErrorCode::Truncated,
      fmt::format("{}: has {} bytes, but its blocks had {}", file.name(), file.size(), known.end));
  }
  if (known.is_finished != 0 && file.size() > known.end)
  {
    corrupt(
      file, fmt::format("has {} bytes, but had {} when it was finished", file.size(), known.end));
  }
}

[[noreturn]] void refuse_start(
  const io::RandomAccessFile& file, std::uint64_t at, const std::string& what)
{
  corrupt(file, fmt::format("the start of the block at {} {}", at, what));
}

// Checks that the bytes at an offset are the start of a block that was written there.
void check_identity(const io::RandomAccessFile& file, std::uint64_t at, const BlockStart& start)
{
  if (start.kind != kSamplesBlock)
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format("{}: the block at {} has unknown kind {}", file.name(), at, start.kind));
  }
  if (start.offset != at)
  {
    refuse_start(file, at, fmt::format("belongs to a block at {}", start.offset));
  }
  if (start.reserved != 0 || start.reserved2 != 0)
  {
    refuse_start(file, at, "has reserved bytes that are not zero");
  }
}

// Checks a start against itself and against the end that a writer knew.
void check_sizes(
  const io::RandomAccessFile& file, const TrackBlocks& blocks, const BlockStart& start)
{
  if (!has_sizes_that_fit(start))
  {
    refuse_start(file, blocks.end,
      fmt::format("has sizes that do not match: block {}, head {}, payload {}", start.block_bytes,
        start.head_bytes, start.payload_bytes));
  }
  if (blocks.end < blocks.known.end && start.block_bytes > blocks.known.end - blocks.end)
  {
    refuse_start(
      file, blocks.end, fmt::format("extends beyond {}, where a block ended", blocks.known.end));
  }
}
}

void find_blocks(const io::RandomAccessFile& file, TrackBlocks& blocks)
{
  check_tracks_header(file);
  read_ends(file, blocks);
  blocks.end = kTracksHeaderBytes;
  bool lacks_checksum = false; // for the start at the end
  while (file.size() - blocks.end >= sizeof(BlockStart))
  {
    const std::optional<BlockStart> start = read_start(file, blocks.end);
    if (!start)
    {
      lacks_checksum = true;
      break;
    }
    check_identity(file, blocks.end, *start);
    if (start->block_bytes > file.size() - blocks.end)
    {
      if (file.size_now() > file.size())
      {
        check_end(file, blocks);
        return; // it has come since the file was opened
      }
      throw Error(ErrorCode::Truncated,
        fmt::format("{}: the block at {} has {} bytes, but the file ends at {}", file.name(),
          blocks.end, start->block_bytes, file.size()));
    }
    check_sizes(file, blocks, *start);
    blocks.starts.push_back(*start);
    blocks.end += start->block_bytes;
  }
  check_end(file, blocks);
  if (lacks_checksum && blocks.end < blocks.known.end)
  {
    corrupt(file,
      fmt::format("the start of the block at {} has no valid checksum, but blocks extend to {}",
        blocks.end, blocks.known.end));
  }
}

TracksTail judge_tail(const io::RandomAccessFile& file, const TrackBlocks& blocks)
{
  const std::uint64_t bytes = file.size() - blocks.end;
  if (bytes == 0)
  {
    return TracksTail::None;
  }
  BlockStart start{};
  const auto have = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, sizeof(start)));
  file.read(blocks.end, &start, have);
  if (is_zero(reinterpret_cast<const std::uint8_t*>(&start), have))
  {
    return TracksTail::Unfinished;
  }
  // The existing bytes must be those of a block at this offset.
  BlockStart expected{};
  expected.kind = kSamplesBlock;
  expected.offset = blocks.end;
  constexpr std::size_t kFixedBytes = offsetof(BlockStart, block_bytes);
  if (std::memcmp(&start, &expected, std::min(have, kFixedBytes)) != 0 || start.start_checksum != 0)
  {
    return TracksTail::Unknown;
  }
  if (have < sizeof(start))
  {
    return TracksTail::Unfinished;
  }
  if (!has_sizes_that_fit(start) || start.reserved != 0 || start.reserved2 != 0 ||
    start.block_bytes < bytes)
  {
    return TracksTail::Unknown;
  }
  if (start.block_bytes > bytes)
  {
    return TracksTail::Unfinished;
  }
  const std::optional<Error> damage = attempt(
    [&]
    {
      const TrackBlock block = read_block(file, start);
      (void)read_payload(file, block, 0, block.payload_bytes);
    });
  if (damage && damage->code() != ErrorCode::Corrupt)
  {
    throw Error(*damage);
  }
  return damage ? TracksTail::Unfinished : TracksTail::Whole;
}

TrackBlock read_block(const io::RandomAccessFile& file, const BlockStart& start)
{
  return HeadReader(file, start).read();
}

std::vector<std::byte> read_payload(
  const io::RandomAccessFile& file, const TrackBlock& block, std::uint64_t begin, std::uint64_t end)
{
  const std::uint64_t first = begin / kPageBytes * kPageBytes;
  const std::uint64_t last = std::min(block.payload_bytes, round_up(end, kPageBytes));
  std::vector<std::byte> bytes(end > begin ? last - first : 0);
  file.read(block.payload_offset + first, bytes.data(), bytes.size());
  for (std::uint64_t at = 0; at < bytes.size(); at += kPageBytes)
  {
    const std::uint64_t page = (first + at) / kPageBytes;
    if (page_checksum(bytes.data() + at, std::min<std::uint64_t>(kPageBytes, bytes.size() - at)) !=
      block.page_sums[page])
    {
      corrupt(file,
        fmt::format(
          "page {} of the values at {} has a wrong checksum", page, block.payload_offset));
    }
  }
  if (bytes.empty() || (begin == first && end == last))
  {
    return bytes;
  }
  bytes.resize(end - first);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(begin - first));
  return bytes;
}

std::vector<std::uint32_t> samples_of(const io::RandomAccessFile& file, const TrackBlock& block,
  std::size_t i, const std::byte* history)
{
  std::vector<std::uint32_t> samples(block.first_row[i + 1] - block.first_row[i]);
  std::memcpy(samples.data(), history, samples.size() * sizeof(samples[0]));
  const bool ascending = std::is_sorted(samples.begin(), samples.end());
  if (!ascending || samples.back() >= block.samples.size())
  {
    corrupt(file,
      fmt::format("the samples of id {} in the values at {} are invalid", i, block.payload_offset));
  }
  return samples;
}
}
