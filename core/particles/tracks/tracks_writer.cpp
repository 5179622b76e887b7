// SPDX-License-Identifier: BSD-3-Clause
// A tracks file grows by blocks of one sample, and becomes blocks of many.

#include "bat/error.hpp"
#include "bat/text.hpp"
#include "common/fail.hpp"
#include "common/io/append_file.hpp"
#include "common/io/atomic_file.hpp"
#include "common/io/lock_file.hpp"
#include "common/numbers.hpp"
#include "particles/format/checksum.hpp"
#include "particles/format/layout.hpp"
#include "particles/tracks/tracks_file.hpp"
#include "particles/write/check_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <set>

namespace bat
{
namespace
{
/// Maximum payload of a block with many samples; a history costs one read per block.
constexpr std::uint64_t kMaxPayload = std::uint64_t{ 1 } << 26;

void check_name(const std::filesystem::path& path)
{
  if (!is_tracks(path))
  {
    refuse(fmt::format(
      "'{}' is not a tracks file name; use a name ending in .tracks.bat", path.string()));
  }
}

void check_schema(const TrackSchema& schema)
{
  if (schema.position_type != ScalarType::Float32 && schema.position_type != ScalarType::Float64)
  {
    refuse(fmt::format(
      "positions are {}; allowed are float32 and float64", name_of(schema.position_type)));
  }
  if (schema.attributes.size() > format::kMaxAttributes)
  {
    refuse(fmt::format(
      "{} attributes; at most {} are allowed", schema.attributes.size(), format::kMaxAttributes));
  }
  std::set<std::string> names;
  const auto add = [&](const std::string& name)
  {
    if (name.empty() || name.size() > 65535 || name.find('\0') != std::string::npos ||
      !is_utf8(name))
    {
      refuse(fmt::format("an attribute name has {} bytes; allowed are 1 to 65535 bytes of UTF-8 "
                         "without zero bytes",
        name.size()));
    }
    if (!names.insert(name).second)
    {
      refuse(fmt::format("attribute '{}' occurs twice; names must differ", name));
    }
  };
  add(schema.id_attribute);
  if (!schema.second_attribute.empty())
  {
    add(schema.second_attribute);
  }
  for (const Attribute& attribute : schema.attributes)
  {
    add(attribute.name);
    if (attribute.components < 1 || attribute.components > kMaxComponents)
    {
      refuse(fmt::format("attribute '{}' has {} components; allowed are 1 to {}", attribute.name,
        attribute.components, kMaxComponents));
    }
  }
}

// Returns an id as stored: 0 has only one form.
std::uint64_t stored_id(std::uint64_t bits, ScalarType type, const std::string& name)
{
  if (value_class(type) == ValueClass::Float)
  {
    const auto value = from_bits<double>(bits);
    if (std::isnan(value))
    {
      refuse(fmt::format("a value of '{}' is NaN; ids must be numbers", name));
    }
    bits = value == 0 ? 0 : bits;
  }
  if (!format::can_hold_id(type, bits))
  {
    refuse(fmt::format("a value of '{}' is {}; allowed are values of {}", name,
      to_string(number_from_bits(bits, value_class(type))), name_of(type)));
  }
  return bits;
}

void check_sample(const TrackSample& sample)
{
  check_schema(sample.schema);
  const bool has_second = !sample.schema.second_attribute.empty();
  if (sample.second.size() != (has_second ? sample.ids.size() : 0))
  {
    refuse(fmt::format("{} ids, but {} values of '{}'", sample.ids.size(), sample.second.size(),
      sample.schema.second_attribute));
  }
  const std::size_t bytes = sample.ids.size() * track_bytes(sample.schema);
  if (sample.values.size() != bytes)
  {
    refuse(fmt::format("{} particles have {} bytes of values; expected {}", sample.ids.size(),
      sample.values.size(), bytes));
  }
  if (sample.time && std::isnan(*sample.time))
  {
    refuse(fmt::format("the time of step {} is NaN; times must be numbers", sample.step));
  }
  if (sample.ids.size() > std::numeric_limits<std::uint32_t>::max() ||
    sample.metadata.size() > std::numeric_limits<std::uint32_t>::max())
  {
    refuse(fmt::format("step {} has {} particles and {} bytes of metadata; at most {} of each are "
                       "allowed",
      sample.step, sample.ids.size(), sample.metadata.size(),
      std::numeric_limits<std::uint32_t>::max()));
  }
  if (!sample.metadata.empty())
  {
    write::check_metadata(sample.metadata);
  }
}

/// Samples that become one block.
class Merged
{
public:
  [[nodiscard]] bool takes(const ListedBlock& block, std::uint64_t rows) const
  {
    const std::uint64_t bytes = rows * (sizeof(std::uint32_t) + track_bytes(block.schema));
    return this->samples_.empty() ||
      (this->payload_ + bytes <= kMaxPayload &&
        (rows == 0 || !this->has_rows_ || format::same_schema(this->schema_, block.schema)));
  }

  void add(const io::RandomAccessFile& file, const ListedBlock& listed, std::uint64_t rows)
  {
    const auto first = static_cast<std::uint32_t>(this->samples_.size());
    this->samples_.insert(this->samples_.end(), listed.samples.begin(),
      listed.samples.begin() + static_cast<std::ptrdiff_t>(listed.valid));
    if (!this->has_rows_ || rows != 0)
    {
      this->schema_ = listed.schema;
    }
    if (rows != 0)
    {
      this->has_rows_ = true;
      this->payload_ += rows * (sizeof(std::uint32_t) + track_bytes(listed.schema));
      this->add_rows(file, format::read_block(file, listed.start), listed.valid, first);
    }
  }

  [[nodiscard]] bool is_empty() const { return this->samples_.empty(); }

  [[nodiscard]] std::vector<std::byte> encode(std::uint64_t offset)
  {
    return format::encode_block(offset, this->schema_, this->samples_, this->rows_, this->values_);
  }

private:
  void add_rows(const io::RandomAccessFile& file, const format::TrackBlock& block,
    std::size_t valid, std::uint32_t first_sample)
  {
    const std::vector<std::byte> payload =
      format::read_payload(file, block, 0, block.payload_bytes);
    std::vector<std::size_t> columns = { tuple_bytes(block.schema.position_type, 3) };
    for (const Attribute& attribute : block.schema.attributes)
    {
      columns.push_back(tuple_bytes(attribute.type, attribute.components));
    }
    const std::size_t row_bytes = track_bytes(block.schema);
    for (std::size_t i = 0; i != block.ids.size(); ++i)
    {
      const std::byte* const history = payload.data() + history_of(block, i).first;
      const std::vector<std::uint32_t> samples = format::samples_of(file, block, i, history);
      // Rows of the valid samples come first.
      const auto count = static_cast<std::size_t>(
        std::lower_bound(samples.begin(), samples.end(), valid) - samples.begin());
      std::size_t at = this->values_.size();
      this->values_.resize(at + count * row_bytes);
      for (std::size_t row = 0; row != count; ++row)
      {
        this->rows_.push_back({ block.ids[i], block.second.empty() ? 0 : block.second[i],
          first_sample + samples[row], at + row * row_bytes });
      }
      const std::byte* from = history + samples.size() * sizeof(std::uint32_t);
      for (const std::size_t bytes : columns)
      {
        for (std::size_t row = 0; row != count; ++row)
        {
          std::memcpy(&this->values_[at + row * row_bytes], from + row * bytes, bytes);
        }
        at += bytes;
        from += samples.size() * bytes;
      }
    }
  }

  TrackSchema schema_;
  bool has_rows_ = false;
  std::uint64_t payload_ = 0;
  std::vector<format::BlockSample> samples_;
  std::vector<format::NewRow> rows_;
  std::vector<std::byte> values_;
};

std::uint64_t valid_rows(const ListedBlock& block)
{
  std::uint64_t rows = 0;
  for (std::size_t s = 0; s != block.valid; ++s)
  {
    rows += block.samples[s].rows;
  }
  return rows;
}

// Returns whether the blocks are already packed.
bool is_packed(const TracksList& list)
{
  for (std::size_t b = 0; b != list.blocks.size(); ++b)
  {
    const ListedBlock& block = list.blocks[b];
    if (block.valid != block.samples.size())
    {
      return false;
    }
    const std::uint64_t both =
      b == 0 ? 0 : list.blocks[b - 1].start.payload_bytes + block.start.payload_bytes;
    if (b != 0 && both <= kMaxPayload &&
      (format::same_schema(list.blocks[b - 1].schema, block.schema) ||
        block.start.payload_bytes == 0 || list.blocks[b - 1].start.payload_bytes == 0))
    {
      return false;
    }
  }
  return true;
}

// `is_finished` applies to the new file.
void pack(const io::RandomAccessFile& file, const TracksList& list,
  const std::filesystem::path& out, bool is_finished, bool flush)
{
  io::AtomicFile packed(out);
  std::uint64_t end = format::kTracksHeaderBytes;
  Merged merged;
  const auto write = [&]
  {
    if (!merged.is_empty())
    {
      const std::vector<std::byte> block = merged.encode(end);
      packed.write(end, block.data(), block.size());
      end += block.size();
      merged = Merged();
    }
  };
  for (const ListedBlock& block : list.blocks)
  {
    if (block.valid == 0)
    {
      continue;
    }
    const std::uint64_t rows = valid_rows(block);
    if (!merged.takes(block, rows))
    {
      write();
    }
    merged.add(file, block, rows);
  }
  write();
  const std::vector<std::byte> header =
    format::encode_tracks_header(format::make_tracks_end(1, end, is_finished));
  packed.write(0, header.data(), header.size());
  packed.commit(flush);
}

// Creates the file unless another process has just done so; otherwise its samples would be removed.
void begin_file(const std::filesystem::path& path, bool flush)
{
  const io::LockFile lock(io::lock_path(path));
  if (lock.state() == io::LockFile::State::Taken)
  {
    throw Error(ErrorCode::CannotOpen, path.string() + ": another writer has it open");
  }
  if (std::filesystem::exists(path))
  {
    return;
  }
  io::AtomicFile file(path); // an error reports faults of the folder
  const std::vector<std::byte> header =
    format::encode_tracks_header(format::make_tracks_end(1, format::kTracksHeaderBytes, false));
  file.write(0, header.data(), header.size());
  file.commit(flush);
}

std::vector<format::NewRow> make_rows(const TrackSample& sample)
{
  const TrackSchema& schema = sample.schema;
  const std::size_t row_bytes = track_bytes(schema);
  std::vector<format::NewRow> rows(sample.ids.size());
  for (std::size_t i = 0; i != rows.size(); ++i)
  {
    rows[i].id = stored_id(sample.ids[i], schema.id_type, schema.id_attribute);
    rows[i].second = sample.second.empty()
      ? 0
      : stored_id(sample.second[i], schema.second_type, schema.second_attribute);
    rows[i].values = i * row_bytes;
  }
  return rows;
}
}

struct TracksWriter::Impl
{
  std::filesystem::path path;
  bool flush = true;
  std::unique_ptr<io::AppendFile> file; ///< null after it is closed
  std::uint64_t end = 0;
  format::TracksEnd known{};         ///< as stored in the file
  std::optional<TrackSchema> schema; ///< schema of the last sample with particles

  /// Tells readers and later writers that blocks reach to `end`.
  void write_end(bool is_finished)
  {
    const format::TracksEnd record =
      format::make_tracks_end(this->known.sequence + 1, this->end, is_finished);
    this->file->write(format::offset_of_end(record.sequence), &record, sizeof(record));
    this->known = record;
  }

  /// Writes a block after the others. It counts once its checksum is written, which is one write of
  /// 8 bytes.
  void write_block(std::vector<std::byte>& bytes)
  {
    constexpr std::size_t kCommit = offsetof(format::BlockStart, start_checksum);
    std::uint64_t commit;
    std::memcpy(&commit, &bytes[kCommit], sizeof(commit));
    std::memset(&bytes[kCommit], 0, sizeof(commit));
    try
    {
      if (this->known.is_finished != 0)
      {
        this->write_end(false); // before anything follows the end of a finished file
      }
      this->file->write(this->end, bytes.data(), bytes.size());
      if (this->flush)
      {
        this->file->flush();
      }
      this->file->write(this->end + kCommit, &commit, sizeof(commit));
      if (this->flush)
      {
        this->file->flush();
      }
    }
    catch (const Error&)
    {
      if (attempt([&] { this->file->cut(this->end); }))
      {
        this->file.reset(); // the partial sample stays, and nothing may follow it
      }
      throw;
    }
  }

  /// Cuts off the bytes after the blocks, or commits them if they are a complete block. Throws
  /// Error{Corrupt} if no writer can have left them.
  void settle_tail(const io::RandomAccessFile& source, format::TrackBlocks& blocks)
  {
    switch (format::judge_tail(source, blocks))
    {
      case format::TracksTail::None:
        return;
      case format::TracksTail::Unfinished:
        this->file->cut(blocks.end);
        return;
      case format::TracksTail::Whole:
      {
        format::BlockStart start{};
        source.read(blocks.end, &start, sizeof(start));
        start.start_checksum =
          format::checksum(&start, offsetof(format::BlockStart, start_checksum));
        this->file->write(blocks.end, &start, sizeof(start));
        blocks.end += start.block_bytes;
        return;
      }
      case format::TracksTail::Unknown:
        throw Error(ErrorCode::Corrupt,
          fmt::format("{}: the {} bytes after the last block, at {}, are not an unfinished "
                      "sample and were not overwritten; move the file away to start a new one",
            this->path.string(), source.size() - blocks.end, blocks.end));
    }
  }
};

TracksWriter::TracksWriter(const std::filesystem::path& path, bool flush)
  : impl_(std::make_unique<Impl>())
{
  check_name(path);
  Impl& impl = *this->impl_;
  impl.path = path;
  impl.flush = flush;
  if (!std::filesystem::exists(path))
  {
    begin_file(path, flush);
  }
  impl.file = std::make_unique<io::AppendFile>(path);
  {
    const io::RandomAccessFile file(path);
    format::TrackBlocks blocks;
    format::find_blocks(file, blocks);
    impl.settle_tail(file, blocks);
  }
  TracksList list;
  {
    const io::RandomAccessFile file(path);
    list = list_tracks(file);
    if (!is_packed(list))
    {
      pack(file, list, path, false, flush);
    }
  }
  for (const ListedBlock& block : list.blocks)
  {
    if (block.valid != 0 && block.start.payload_bytes != 0)
    {
      impl.schema = block.schema;
    }
  }
  // The path may lead to another file by now.
  impl.file.reset();
  impl.file = std::make_unique<io::AppendFile>(path);
  const io::RandomAccessFile file(path);
  format::TrackBlocks blocks;
  format::find_blocks(file, blocks);
  impl.end = blocks.end;
  impl.known = blocks.known;
  if (!blocks.has_both_ends || blocks.known.end != blocks.end)
  {
    impl.write_end(false);
  }
}

TracksWriter::TracksWriter(TracksWriter&&) noexcept = default;
TracksWriter& TracksWriter::operator=(TracksWriter&&) noexcept = default;
TracksWriter::~TracksWriter() = default;

void TracksWriter::append(const TrackSample& sample)
{
  Impl& impl = *this->impl_;
  if (!impl.file)
  {
    refuse(fmt::format("{}: the writer is closed", impl.path.string()));
  }
  check_sample(sample);
  const TrackSchema& schema = sample.schema;
  if (impl.schema && !sample.ids.empty() && !format::same_ids(*impl.schema, schema))
  {
    refuse(fmt::format("{}: its ids are {}, but those of step {} are {}; they must be the same",
      impl.path.string(), format::ids_text(*impl.schema), sample.step, format::ids_text(schema)));
  }
  std::vector<format::NewRow> rows = make_rows(sample);
  std::vector<std::byte> bytes = format::encode_block(impl.end, schema,
    { { sample.step, sample.time, rows.size(),
      std::make_shared<const std::string>(sample.metadata) } },
    rows, sample.values);
  impl.write_block(bytes);
  impl.end += bytes.size();
  if (!sample.ids.empty())
  {
    impl.schema = schema;
  }
  // Runs only now, so that the block is on disk whenever this is.
  impl.write_end(false);
}

TracksWriter::Ids TracksWriter::ids_before(std::int64_t step) const
{
  const io::RandomAccessFile file(this->impl_->path);
  TrackIds ids;
  TrackSchema schema;
  for (const ListedBlock& block : list_tracks(file).blocks)
  {
    const auto before = static_cast<std::size_t>(std::count_if(block.samples.begin(),
      block.samples.begin() + static_cast<std::ptrdiff_t>(block.valid),
      [&](const format::BlockSample& sample) { return sample.step < step; }));
    if (before != 0 && block.start.payload_bytes != 0)
    {
      schema = block.schema;
      add_ids(file, block.start, before, ids);
    }
  }
  sort_ids(ids, schema);
  Ids result;
  for (const auto& [id, second] : ids)
  {
    result.ids.push_back(id);
    if (!schema.second_attribute.empty())
    {
      result.second.push_back(second);
    }
  }
  return result;
}

void TracksWriter::finish()
{
  Impl& impl = *this->impl_;
  std::unique_ptr<io::AppendFile> held = std::move(impl.file); // until the file is replaced
  if (!held)
  {
    return; // is closed
  }
  const io::RandomAccessFile file(impl.path);
  const TracksList list = list_tracks(file);
  if (!is_packed(list))
  {
    pack(file, list, impl.path, true, impl.flush);
    return;
  }
  if (impl.known.is_finished == 0)
  {
    impl.file = std::move(held);
    impl.write_end(true);
    impl.write_end(true);
    if (impl.flush)
    {
      impl.file->flush();
    }
    impl.file.reset();
  }
}

void repack_tracks(const std::filesystem::path& in, const std::filesystem::path& out, bool flush)
{
  check_name(out);
  std::unique_ptr<io::AppendFile> held; // no writer continues a file that is replaced
  if (std::filesystem::is_regular_file(out))
  {
    held = std::make_unique<io::AppendFile>(out);
  }
  const io::RandomAccessFile file(in);
  pack(file, list_tracks(file), out, true, flush);
}
}
