// SPDX-License-Identifier: BSD-3-Clause
#include "idx/read/block_reader.hpp"

#include "bat/bytes.hpp"
#include "bat/error.hpp"
#include "common/arena.hpp"
#include "common/io/random_access_file.hpp"
#include "common/io/remote/address.hpp"
#include "common/stop_relay.hpp"
#include "idx/format/block_file.hpp"
#include "idx/format/codec.hpp"
#include "idx/format/field_text.hpp"
#include "idx/format/scatter.hpp"

#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace bat::idx
{
namespace
{
using format::BlockRecord;

/// Approximate number of unpacked bytes that a task reads, from one file.
constexpr std::uint64_t kTaskBytes = std::uint64_t{ 4 } << 20;
/// Each thread holds a block and its packed bytes, so the number of threads is limited to blocks of
/// this many bytes.
constexpr std::uint64_t kMaxThreadBytes = std::uint64_t{ 256 } << 20;
constexpr int kMaxThreads = 1024;
/// Number of tasks between two calls of a progress function.
constexpr std::size_t kTasksPerBatch = 16;
constexpr std::size_t kRemoteTasksPerBatch = 256;
/// Threads that wait for a server.
constexpr std::size_t kMaxWaiting = 32;
/// Number of blocks per list when all blocks are checked, whatever the text claims.
constexpr std::size_t kBlocksPerBatch = std::size_t{ 1 } << 16;
/// Neighbouring blocks are read together, up to this many bytes.
constexpr std::uint64_t kMaxRunBytes = std::uint64_t{ 1 } << 20;
/// Rows of headers that are read together rather than with a second read.
constexpr std::uint64_t kRowGap = 256;
/// zlib level of copies that are packed here, which is fast.
constexpr int kCopyLevel = 1;

struct RequestedBlock
{
  std::uint64_t block = 0;
  format::BlockPlace place;
};

// Blocks of one file.
struct Task
{
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct FoundBlock
{
  std::uint64_t block = 0;
  BlockRecord record;
};

// The state that a thread keeps from one block to the next.
struct Scratch
{
  Bytes packed;
  Bytes raw;
  Bytes headers;
  std::vector<FoundBlock> found;
  std::vector<RequestedBlock> missing; ///< in the cache of copies
  std::optional<format::Packer> packer;
  Bytes copy;
};

// A block as it came from a file or a server.
struct PackedBlock
{
  std::uint64_t block = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  Codec codec = Codec::Raw;
  Layout layout = Layout::RowMajor;
};

class BlockReader
{
public:
  BlockReader(const Source& source, const BlockRead& read)
    : source_(source)
    , read_(read)
    , field_(source.header.fields[read.field])
    , sample_bytes_(static_cast<std::size_t>(this->field_.sample_bytes()))
    , raw_bytes_(this->sample_bytes_ << source.header.bits_per_block)
    , swapped_(format::swapped_word(source.header, this->field_))
    , strides_(compute_strides(read.lattice.count))
    , default_(this->sample_bytes_)
    , orders_(source.order)
    , folder_(source.remote ? nullptr : source.steps.folder(read.step))
    , folder_name_(source.names.folder(read.step))
  {
    // check() is for what the server has.
    if (source.cache && read.array && this->swapped_ == 1 && !source.header.pidx)
    {
      this->cache_ = &*source.cache;
    }
    const std::size_t one = size_of(this->field_.type);
    for (std::size_t at = 0; at != this->sample_bytes_; at += one)
    {
      (void)format::store_number(
        this->field_.default_value, this->field_.type, this->default_.data() + at);
    }
    const int b = source.order.bits_per_block();
    for (int level = b; level <= std::max(read.level, b); ++level)
    {
      this->levels_.push_back(source.order.blocks_of_level(level));
    }
  }

  ReadReport read(const ReadOptions& options)
  {
    if ((!this->folder_ && !this->source_.remote) || this->wants_many())
    {
      this->check_begin();
    }
    this->run_all(this->requested_blocks(), options, [](double share) { return share; });
    return this->report(options);
  }

  /// Checks blocks as read() of all levels would, but without an array. Blocks are checked a few at
  /// a time, and blocks in missing folders are skipped, since a text may claim any number of
  /// blocks.
  ReadReport check(const ReadOptions& options)
  {
    for (const format::LevelBlocks& level : this->levels_)
    {
      const format::BlockRange range = this->source_.order.blocks_with(level, this->read_.lattice);
      this->block_count_ += range.count();
      const int digits = std::max(0, level.level - this->source_.order.bits_per_block() - 1);
      const std::uint64_t first =
        level.level == this->source_.order.bits_per_block() ? 0 : std::uint64_t{ 1 } << digits;
      if (range.count() != 0)
      {
        this->check_blocks(level, range, first, digits, options);
      }
    }
    this->run_checked(this->source_.order.block_count(), options);
    return this->report(options);
  }

  void check_not_replaced() const
  {
    this->source_.steps.check_not_replaced(this->read_.step, this->folder_);
  }

private:
  template <class Fraction>
  void run_all(
    const std::vector<RequestedBlock>& blocks, const ReadOptions& options, const Fraction& fraction)
  {
    if (this->read_.array)
    {
      this->block_count_ = blocks.size();
    }
    const std::vector<Task> tasks = this->make_tasks(blocks);
    tbb::enumerable_thread_specific<Scratch> scratch;
    const auto maximum = static_cast<int>(
      std::clamp<std::uint64_t>(kMaxThreadBytes / this->raw_bytes_, 1, kMaxThreads));
    const bool is_free = options.threads == 0 && maximum == kMaxThreads;
    const int threads = is_free ? 0
      : options.threads == 0    ? maximum
                                : std::min(maximum, options.threads);
    const std::size_t at_once = !options.progress ? tasks.size()
      : this->source_.remote                      ? kRemoteTasksPerBatch
                                                  : kTasksPerBatch;
    for (std::size_t begin = 0; begin < tasks.size(); begin += at_once)
    {
      report_progress(
        options, fraction(static_cast<double>(begin) / static_cast<double>(tasks.size())));
      const std::size_t end = std::min(tasks.size(), begin + at_once);
      const auto run = [&](std::size_t i)
      { this->run(blocks.data() + tasks[i].begin, blocks.data() + tasks[i].end, scratch.local()); };
      if (end - begin == 1)
      {
        run(begin); // too small for an arena
      }
      else if (this->source_.remote)
      {
        run_waiting(begin, end, run);
      }
      else
      {
        in_arena(threads, [&] { tbb::parallel_for(begin, end, run); });
      }
    }
  }

  // Runs tasks that mostly wait for a server in more threads than there are processors.
  template <class Run>
  static void run_waiting(std::size_t begin, std::size_t end, const Run& run)
  {
    std::atomic<std::size_t> next{ begin };
    run_in_threads(std::min(kMaxWaiting, end - begin),
      [&]
      {
        const auto failure = attempt(
          [&]
          {
            for (std::size_t i = next++; i < end; i = next++)
            {
              run(i);
            }
          });
        if (failure)
        {
          next = end;
          throw Error(*failure);
        }
      });
  }

  // Adds those of the 2^digits blocks from `first` on that are in the range.
  void check_blocks(const format::LevelBlocks& level, const format::BlockRange& range,
    std::uint64_t first, int digits, const ReadOptions& options)
  {
    const std::uint64_t end = first + (std::uint64_t{ 1 } << digits);
    if (end <= this->checked_until_)
    {
      return;
    }
    const format::Point lower = this->source_.order.place_of(level, first);
    const format::Point upper = this->source_.order.place_of(level, end - 1);
    bool all = true;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      if (upper[axis] < range.lower[axis] || lower[axis] > range.upper[axis])
      {
        return;
      }
      all = all && lower[axis] >= range.lower[axis] && upper[axis] <= range.upper[axis];
    }
    if (!all)
    {
      this->check_blocks(level, range, first, digits - 1, options);
      this->check_blocks(level, range, first + (end - first) / 2, digits - 1, options);
      return;
    }
    for (std::uint64_t block = std::max(first, this->checked_until_); block < end;)
    {
      const std::uint64_t next = this->after_missing_folder(block);
      this->missed_file_ = this->missed_file_ || next != block;
      if (next == block)
      {
        this->checked_.push_back({ block, format::place_of_block(this->source_.header, block) });
      }
      block = std::max(next, block + 1);
      this->checked_until_ = block;
      if (this->checked_.size() == kBlocksPerBatch)
      {
        this->run_checked(block, options);
      }
    }
  }

  // Blocks before `end` are then done.
  void run_checked(std::uint64_t end, const ReadOptions& options)
  {
    const auto all = static_cast<double>(this->source_.order.block_count());
    const double from = this->checked_share_;
    const double to = static_cast<double>(end) / all;
    sort_by_place(this->checked_);
    this->run_all(
      this->checked_, options, [&](double share) { return from + share * (to - from); });
    this->checked_.clear();
    this->checked_share_ = to;
  }

  [[nodiscard]] ReadReport report(const ReadOptions& options) const
  {
    if (this->missed_file_)
    {
      this->check_not_replaced();
    }
    if (this->block_count_ != 0 && !this->found_file_)
    {
      this->check_something_exists();
    }
    report_progress(options, 1);
    ReadReport report;
    report.samples = this->read_.lattice.samples();
    report.blocks = this->block_count_;
    report.absent_blocks = this->block_count_ - this->present_blocks_;
    report.bytes_read = this->bytes_read_;
    return report;
  }

  // Returns the first block in another folder if this one begins a file in a missing folder;
  // otherwise this block.
  [[nodiscard]] std::uint64_t after_missing_folder(std::uint64_t block)
  {
    const Header& header = this->source_.header;
    const auto file = [&](std::uint64_t of)
    { return header.arco != 0 ? of : format::place_of_block(header, of).file; };
    if (this->source_.remote || header.interleave > 1 || file(block) != block)
    {
      return block;
    }
    std::filesystem::path folder = this->path_of(block).parent_path();
    std::error_code none;
    if (folder == this->known_folder_ || std::filesystem::exists(folder, none))
    {
      this->known_folder_ = folder;
      return block;
    }
    while (folder.has_parent_path() && folder.parent_path() != folder &&
      !std::filesystem::exists(folder.parent_path(), none))
    {
      folder = folder.parent_path();
    }
    // Digits of the number that are not in the folder's name are at the end of the file name.
    const auto is_below = [&](std::uint64_t number)
    {
      const std::filesystem::path path = this->path_of(number);
      return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
        folder.end();
    };
    std::uint64_t next = block + 1;
    for (unsigned bits = 4; bits < 64; bits += 4)
    {
      const std::uint64_t last = block | ((std::uint64_t{ 1 } << bits) - 1);
      if (!is_below(last & ~((std::uint64_t{ 1 } << bits) - 1)) || !is_below(last))
      {
        break;
      }
      next = last + 1;
    }
    if (block == 0)
    {
      this->check_step_exists({ 0, {} }, this->path_of(0));
    }
    return next;
  }

  static void sort_by_place(std::vector<RequestedBlock>& blocks)
  {
    std::sort(blocks.begin(), blocks.end(),
      [](const RequestedBlock& a, const RequestedBlock& b) {
        return a.place.file != b.place.file ? a.place.file < b.place.file
                                            : a.place.row < b.place.row;
      });
  }

  static void report_progress(const ReadOptions& options, double fraction)
  {
    if (options.progress && !options.progress(fraction))
    {
      throw Error(ErrorCode::Cancelled, "the read was cancelled");
    }
  }

  [[nodiscard]] std::size_t index_of_level(std::uint64_t block) const
  {
    return static_cast<std::size_t>(
      this->source_.order.level_of_block(block) - this->source_.order.bits_per_block());
  }

  // Sorts by file, then by row in it.
  [[nodiscard]] std::vector<RequestedBlock> requested_blocks() const
  {
    std::vector<RequestedBlock> requested;
    for (const format::LevelBlocks& level : this->levels_)
    {
      if (level.level <= this->read_.known_level)
      {
        continue;
      }
      const format::BlockRange range = this->source_.order.blocks_with(level, this->read_.lattice);
      for (std::int64_t z = range.lower[2]; z <= range.upper[2]; ++z)
      {
        for (std::int64_t y = range.lower[1]; y <= range.upper[1]; ++y)
        {
          for (std::int64_t x = range.lower[0]; x <= range.upper[0]; ++x)
          {
            const std::uint64_t block = this->source_.order.block_at(level, { x, y, z });
            requested.push_back({ block, format::place_of_block(this->source_.header, block) });
          }
        }
      }
    }
    sort_by_place(requested);
    return requested;
  }

  [[nodiscard]] std::vector<Task> make_tasks(const std::vector<RequestedBlock>& blocks) const
  {
    std::size_t maximum = std::max<std::size_t>(1, kTaskBytes / this->raw_bytes_);
    if (this->source_.server)
    {
      maximum = std::min(maximum, BlockServer::kMaxBlocks);
    }
    std::vector<Task> tasks;
    for (std::size_t i = 0; i != blocks.size(); ++i)
    {
      if (tasks.empty() || i - tasks.back().begin == maximum ||
        (!this->source_.server && blocks[i].place.file != blocks[i - 1].place.file))
      {
        tasks.push_back({ i, i });
      }
      tasks.back().end = i + 1;
    }
    return tasks;
  }

  // Relative to the folder of the .idx.
  [[nodiscard]] std::string name_of(std::uint64_t file) const
  {
    return this->source_.header.arco != 0
      ? this->source_.names.arco_file(this->read_.step, this->field_.name, file)
      : this->source_.names.file(this->read_.step, file);
  }

  [[nodiscard]] std::filesystem::path path_of(std::uint64_t file) const
  {
    if (this->source_.server)
    {
      return this->source_.server->name();
    }
    return this->source_.folder / this->name_of(file);
  }

  // Relative to the folder of the step.
  [[nodiscard]] std::string name_in_folder(std::uint64_t file) const
  {
    const std::size_t begin = this->folder_name_.empty() ? 0 : this->folder_name_.size() + 1;
    return this->name_of(file).substr(begin);
  }

  // Empty if the file does not exist.
  [[nodiscard]] std::shared_ptr<const io::RandomAccessFile> open(std::uint64_t file)
  {
    if (this->source_.remote)
    {
      auto opened = this->source_.remote->open(this->name_of(file));
      this->missed_file_ = this->missed_file_ || !opened;
      return opened;
    }
    try
    {
      if (this->folder_)
      {
        return std::make_shared<const io::RandomAccessFile>(
          this->name_in_folder(file), this->folder_);
      }
    }
    catch (const Error& error)
    {
      if (error.code() != ErrorCode::NotFound)
      {
        throw;
      }
    }
    this->missed_file_ = true;
    return nullptr;
  }

  void run(const RequestedBlock* begin, const RequestedBlock* end, Scratch& scratch)
  {
    if (this->cache_)
    {
      scratch.missing.clear();
      std::copy_if(begin, end, std::back_inserter(scratch.missing),
        [&](const RequestedBlock& requested) { return !this->use_copy(requested.block, scratch); });
      begin = scratch.missing.data();
      end = begin + scratch.missing.size();
      if (begin == end)
      {
        return;
      }
    }
    if (this->source_.server)
    {
      this->query(begin, end, scratch);
      return;
    }
    const std::shared_ptr<const io::RandomAccessFile> file = this->open(begin->place.file);
    if (!file)
    {
      this->check_step_exists(*begin, this->path_of(begin->place.file));
      std::for_each(
        begin, end, [this](const RequestedBlock& requested) { this->fill(requested.block); });
      return;
    }
    this->found_file_ = true;
    const std::uint64_t bytes_before = file->bytes_read();
    if (this->source_.header.arco != 0)
    {
      scratch.found.assign(1, { begin->block, this->arco_record(*file, begin->block) });
      ++this->present_blocks_;
    }
    else
    {
      this->check_offsets_fit(*file);
      this->find(*file, begin, end, scratch);
    }
    this->read_found(*file, scratch);
    this->bytes_read_ += file->bytes_read() - bytes_before;
  }

  // Returns false if the cache of copies has no usable one.
  bool use_copy(std::uint64_t block, Scratch& scratch)
  {
    const std::uint64_t maximum = format::max_packed_bytes(this->raw_bytes_);
    if (!this->cache_->read(this->read_.step, this->field_, block, maximum, scratch.packed))
    {
      return false;
    }
    const PackedBlock copy{ block, scratch.packed.data(), scratch.packed.size(),
      this->cache_->codec(), this->field_.layout };
    std::byte* raw = nullptr;
    if (!this->unpack(copy, scratch, raw).empty())
    {
      return false;
    }
    this->found_file_ = true;
    ++this->present_blocks_;
    this->bytes_read_ += copy.bytes;
    this->place(block, raw, copy.layout);
    return true;
  }

  void leave_copy(const PackedBlock& block, const std::byte* raw, Scratch& scratch)
  {
    // The layout of copies is that of the field, as in arco.
    if (!this->cache_ || block.layout != this->field_.layout)
    {
      return;
    }
    const Codec codec = this->cache_->codec();
    const auto write = [&](const std::byte* data, std::size_t bytes)
    { this->cache_->write(this->read_.step, this->field_, block.block, data, bytes); };
    if (block.codec == codec)
    {
      write(block.data, block.bytes);
      return;
    }
    if (codec == Codec::Raw)
    {
      write(raw, this->raw_bytes_);
      return;
    }
    if (!scratch.packer)
    {
      scratch.packer.emplace();
    }
    scratch.packer->pack_always(codec, kCopyLevel, raw, this->raw_bytes_, scratch.copy);
    write(scratch.copy.data(), scratch.copy.size());
  }

  void query(const RequestedBlock* begin, const RequestedBlock* end, Scratch& scratch)
  {
    const BlockServer& server = *this->source_.server;
    std::vector<std::uint64_t> blocks;
    std::transform(begin, end, std::back_inserter(blocks),
      [](const RequestedBlock& requested) { return requested.block; });
    BlockAnswer answer = server.query(this->field_, this->read_.step, blocks);
    this->bytes_read_ += answer.body.size();
    for (std::size_t i = 0; i != blocks.size(); ++i)
    {
      const BlockAnswer::Part& part = answer.parts[i];
      if (!part.is_there)
      {
        this->missed_file_ = true;
        this->check_step_exists(begin[i], server.name());
        this->fill(blocks[i]);
        continue;
      }
      const PackedBlock block{ blocks[i], answer.body.data() + part.offset, part.bytes, part.codec,
        part.layout };
      std::byte* raw = nullptr;
      const std::string problem = this->unpack(block, scratch, raw);
      if (!problem.empty())
      {
        throw Error(ErrorCode::Corrupt,
          fmt::format(
            "{}: field '{}': block {} {}", server.name(), this->field_.name, block.block, problem));
      }
      this->found_file_ = true;
      ++this->present_blocks_;
      if (this->read_.array)
      {
        this->place(block.block, raw, block.layout);
        this->leave_copy(block, raw, scratch);
      }
    }
  }

  // Returns the fault in a block, or an empty text and where its samples are. `raw` points into the
  // block or the scratch.
  std::string unpack(const PackedBlock& block, Scratch& scratch, std::byte*& raw) const
  {
    if (block.codec == Codec::Raw)
    {
      raw = block.data;
      return block.bytes == this->raw_bytes_
        ? std::string()
        : fmt::format("has {} bytes; a raw block of {} samples has {}", block.bytes,
            std::uint64_t{ 1 } << this->source_.header.bits_per_block, this->raw_bytes_);
    }
    scratch.raw.resize(this->raw_bytes_);
    raw = scratch.raw.data();
    return format::unpack(block.codec, block.data, block.bytes, raw, this->raw_bytes_);
  }

  // Copies the samples of an unpacked block into the array.
  void place(std::uint64_t block, const std::byte* raw, Layout layout)
  {
    const std::size_t level = this->index_of_level(block);
    const format::BlockOrder* order =
      layout == Layout::HZ ? &this->orders_.of(this->levels_[level]) : nullptr;
    copy_samples<Direction::ToArray>(this->common(block), this->levels_[level].counts, order,
      this->sample_bytes_, raw, this->read_.array, this->strides_);
  }

  // Blocks may be absent, but a step does not exist without its first file (in arco, its folder).
  void check_step_exists(const RequestedBlock& first, const std::filesystem::path& path) const
  {
    if (first.block == 0 && !this->has_arco_folder())
    {
      this->fail_as_not_there(path);
    }
  }

  // Returns whether listing the blocks takes noticeable time.
  [[nodiscard]] bool wants_many() const
  {
    std::uint64_t count = 0;
    for (const format::LevelBlocks& level : this->levels_)
    {
      const std::uint64_t more =
        this->source_.order.blocks_with(level, this->read_.lattice).count();
      count += std::min<std::uint64_t>(more, kBlocksPerBatch);
    }
    return count >= kBlocksPerBatch;
  }

  // Checked before blocks are listed, because a text may claim any number. A level includes block
  // 0, unless it is known.
  void check_begin()
  {
    const std::uint64_t first = format::place_of_block(this->source_.header, 0).file;
    const bool wants_first = this->read_.known_level < this->levels_.front().level &&
      this->source_.order.blocks_with(this->levels_.front(), this->read_.lattice).count() != 0;
    if (this->source_.remote)
    {
      if (wants_first && !this->has_remote(first))
      {
        this->fail_as_not_there(this->path_of(first));
      }
      return;
    }
    if (!this->folder_ ||
      (wants_first && this->source_.header.arco == 0 &&
        !this->folder_->has(this->name_in_folder(first))))
    {
      this->fail_as_not_there(this->path_of(first));
    }
  }

  // `first` is the file of block 0.
  [[nodiscard]] bool has_remote(std::uint64_t first) const
  {
    return this->source_.server
      ? this->source_.server->query(this->field_, this->read_.step, { 0 }).parts.front().is_there
      : this->source_.remote->open(this->name_of(first)) != nullptr;
  }

  // Runs after a read that found no file at all and may not have tried the first one. The first
  // file is not written if block 0 lies outside the box; its folder then exists.
  void check_something_exists() const
  {
    const std::uint64_t first = format::place_of_block(this->source_.header, 0).file;
    const format::Order& order = this->source_.order;
    const bool is_written =
      order
        .blocks_with(this->levels_.front(), order.lattice(order.levels(), this->source_.header.box))
        .count() != 0;
    if (this->source_.remote)
    {
      if (is_written && !this->has_remote(first))
      {
        this->fail_as_not_there(this->path_of(first));
      }
      return;
    }
    std::string name = this->name_in_folder(first);
    name.resize(is_written ? name.size() : name.rfind('/') + 1);
    if (!this->has_arco_folder() &&
      (!this->folder_ || (!name.empty() && !this->folder_->has(name))))
    {
      this->fail_as_not_there(this->path_of(first));
    }
  }

  [[nodiscard]] bool has_arco_folder() const
  {
    return this->source_.header.arco != 0 && (this->folder_ || this->source_.remote);
  }

  [[noreturn]] void fail_as_not_there(const std::filesystem::path& path) const
  {
    const std::filesystem::path folder = this->source_.folder / this->folder_name_;
    const bool is_folder_meant = this->source_.header.arco != 0 && !this->source_.remote;
    throw Error(ErrorCode::NotFound,
      fmt::format("{}: does not exist; time step {} has not been written, or not yet",
        is_folder_meant ? folder.string() : path.string(), this->read_.step));
  }

  [[noreturn]] void fail(const io::RandomAccessFile& file, std::uint64_t block, ErrorCode code,
    const std::string& what) const
  {
    throw Error(code,
      fmt::format("{}: field '{}': block {} {}", file.name(), this->field_.name, block, what));
  }

  // PIDX cuts offsets to 32 bits.
  void check_offsets_fit(const io::RandomAccessFile& file) const
  {
    if (!this->source_.header.pidx || file.size() <= std::uint64_t{ 1 } << 32)
    {
      return;
    }
    Bytes headers(format::headers_bytes(this->source_.header));
    file.read(0, headers.data(), headers.size());
    for (std::size_t at = 40; at < headers.size(); at += 40)
    {
      if (format::decode_record(6, headers.data() + at).offset >> 32 != 0)
      {
        return;
      }
    }
    throw Error(ErrorCode::Corrupt,
      fmt::format(
        "{}: has {} bytes, but block offsets only up to 4 GiB: its writer, PIDX, truncated them "
        "to 32 bits, so later blocks cannot be located",
        file.name(), file.size()));
  }

  // Reads the records of existing blocks, and fills the places of absent ones.
  void find(const io::RandomAccessFile& file, const RequestedBlock* begin,
    const RequestedBlock* end, Scratch& scratch)
  {
    const Header& header = this->source_.header;
    const std::uint64_t headers_end = format::headers_bytes(header);
    if (file.size() < headers_end)
    {
      fail(file, begin->block, ErrorCode::Truncated,
        fmt::format(
          "cannot be found: the headers of {} blocks of {} fields end at {}, but the file ends "
          "at {}",
          header.blocks_per_file, header.fields.size(), headers_end, file.size()));
    }
    scratch.found.clear();
    const std::uint64_t row_bytes = format::header_sizes(header.version).block;
    for (const RequestedBlock* at = begin; at != end;)
    {
      const RequestedBlock* last = at;
      while (last + 1 != end && last[1].place.row - last->place.row <= kRowGap)
      {
        ++last;
      }
      scratch.headers.resize((last->place.row - at->place.row + 1) * row_bytes);
      file.read(format::header_offset(header, this->read_.field, at->place.row),
        scratch.headers.data(), scratch.headers.size());
      const std::uint64_t first_row = at->place.row;
      for (; at != last + 1; ++at)
      {
        const BlockRecord record = format::decode_record(
          header.version, scratch.headers.data() + (at->place.row - first_row) * row_bytes);
        if (record.is_absent())
        {
          this->fill(at->block);
          continue;
        }
        this->check(file, at->block, record, headers_end);
        ++this->present_blocks_;
        scratch.found.push_back({ at->block, record });
      }
    }
  }

  BlockRecord arco_record(const io::RandomAccessFile& file, std::uint64_t block) const
  {
    BlockRecord record;
    record.bytes = file.size();
    record.layout = this->field_.layout;
    const bool raw = file.size() == this->raw_bytes_ || this->field_.codec == Codec::Raw;
    record.codec = raw                   ? format::kStoredRaw
      : this->field_.codec == Codec::Zip ? format::kStoredZip
                                         : format::kStoredLz4;
    this->check(file, block, record, 0);
    return record;
  }

  void check(const io::RandomAccessFile& file, std::uint64_t block, const BlockRecord& record,
    std::uint64_t headers_end) const
  {
    const bool raw = record.codec == format::kStoredRaw;
    if (!raw && record.codec != format::kStoredZip && record.codec != format::kStoredLz4)
    {
      this->fail(file, block, ErrorCode::UnsupportedVersion,
        fmt::format(
          "has codec {}; supported are raw, zip and lz4", format::name_of_codec(record.codec)));
    }
    const std::uint64_t maximum = format::max_packed_bytes(this->raw_bytes_);
    if (raw ? record.bytes != this->raw_bytes_ : record.bytes > maximum)
    {
      this->fail(file, block, ErrorCode::Corrupt,
        raw ? fmt::format("has {} bytes; a raw block of {} samples has {}", record.bytes,
                std::uint64_t{ 1 } << this->source_.header.bits_per_block, this->raw_bytes_)
            : fmt::format("has {} packed bytes; at most {} are allowed", record.bytes, maximum));
    }
    if (record.offset < headers_end)
    {
      this->fail(file, block, ErrorCode::Corrupt,
        fmt::format(
          "starts at {}, inside the headers, which end at {}", record.offset, headers_end));
    }
    const bool may_be_cut = this->source_.header.pidx && raw;
    if (record.offset > file.size() || (!may_be_cut && record.bytes > file.size() - record.offset))
    {
      this->fail(file, block, ErrorCode::Truncated,
        fmt::format("lies at [{}, +{}), outside the file of {} bytes", record.offset, record.bytes,
          file.size()));
    }
  }

  void read_found(const io::RandomAccessFile& file, Scratch& scratch)
  {
    auto& found = scratch.found;
    std::sort(found.begin(), found.end(),
      [](const FoundBlock& a, const FoundBlock& b) { return a.record.offset < b.record.offset; });
    if (this->source_.remote)
    {
      std::vector<io::ByteRange> ranges;
      for (const FoundBlock& block : found)
      {
        const std::uint64_t offset = std::min(block.record.offset, file.size());
        ranges.push_back({ offset, std::min(block.record.bytes, file.size() - offset) });
      }
      file.prefetch(ranges);
    }
    if (this->read_.only_prefetch)
    {
      return;
    }
    for (std::size_t i = 0; i != found.size();)
    {
      const std::uint64_t begin = found[i].record.offset;
      std::uint64_t end = begin;
      std::size_t last = i;
      for (; last != found.size(); ++last)
      {
        const BlockRecord& next = found[last].record;
        // In a hostile file, two blocks may overlap.
        const std::uint64_t next_end =
          std::max(end, std::min(next.offset + next.bytes, file.size()));
        if (last != i && (next.offset > end || next_end - begin > kMaxRunBytes))
        {
          break;
        }
        end = next_end;
      }
      scratch.packed.resize(end - begin);
      file.read(begin, scratch.packed.data(), scratch.packed.size());
      for (; i != last; ++i)
      {
        this->put(file, found[i], scratch.packed.data() + (found[i].record.offset - begin),
          end - found[i].record.offset, scratch);
      }
    }
  }

  // `available` is the number of bytes present, of which the block has record.bytes.
  void put(const io::RandomAccessFile& file, const FoundBlock& found, std::byte* packed,
    std::uint64_t available, Scratch& scratch)
  {
    PackedBlock block{ found.block, packed, found.record.bytes, Codec::Raw, found.record.layout };
    std::byte* raw = packed;
    if (found.record.codec != format::kStoredRaw)
    {
      block.codec = found.record.codec == format::kStoredZip ? Codec::Zip : Codec::Lz4;
      const std::string problem = this->unpack(block, scratch, raw);
      if (!problem.empty())
      {
        this->fail(file, found.block, ErrorCode::Corrupt,
          fmt::format("at [{}, +{}) {}", found.record.offset, found.record.bytes, problem));
      }
    }
    else if (available < this->raw_bytes_)
    {
      this->check_cut(file, found, available);
    }
    if (!this->read_.array)
    {
      return;
    }
    if (this->swapped_ != 1)
    {
      if (raw == packed) // two hostile blocks may overlap
      {
        scratch.raw.assign(packed, packed + std::min<std::uint64_t>(available, this->raw_bytes_));
        raw = scratch.raw.data();
      }
      format::swap_words(raw, scratch.raw.size(), this->swapped_);
    }
    this->place(found.block, raw, block.layout);
    this->leave_copy(block, raw, scratch);
  }

  // A PIDX block ends with the last sample in the box.
  void check_cut(
    const io::RandomAccessFile& file, const FoundBlock& found, std::uint64_t available) const
  {
    const format::LevelBlocks& level = this->levels_[this->index_of_level(found.block)];
    const format::BlockOrder* order =
      found.record.layout == Layout::HZ ? &this->orders_.of(level) : nullptr;
    const format::StepsOfAxes steps = this->common(found.block);
    const Strides rows = compute_strides(level.counts);
    std::uint64_t needed = 0;
    for_each_row(steps, this->strides_,
      [&](std::int64_t y, std::int64_t z, std::int64_t)
      {
        for (std::int64_t i = 0; i != steps[0].count; ++i)
        {
          const std::int64_t x = steps[0].block + i * steps[0].block_step;
          const std::uint64_t place = order
            ? order->place(order->row(y, z), x)
            : static_cast<std::uint64_t>(z * rows.z + y * rows.y + x);
          needed = std::max(needed, (place + 1) * this->sample_bytes_);
        }
      });
    if (needed > available)
    {
      this->fail(file, found.block, ErrorCode::Truncated,
        fmt::format("at offset {} has {} bytes of samples in the box, but the file ends after {}",
          found.record.offset, needed, available));
    }
  }

  [[nodiscard]] format::StepsOfAxes common(std::uint64_t block) const
  {
    const format::LevelBlocks& level = this->levels_[this->index_of_level(block)];
    return this->source_.order.common(
      level, this->source_.order.place_of(level, block), this->read_.lattice);
  }

  void fill(std::uint64_t block)
  {
    if (!this->read_.array)
    {
      return;
    }
    fill_samples(this->common(block), this->default_.data(), this->sample_bytes_, this->read_.array,
      this->strides_);
  }

  const Source& source_;
  const BlockRead& read_;
  const Field& field_;
  std::size_t sample_bytes_;
  std::size_t raw_bytes_;
  std::size_t swapped_; ///< bytes of the words that have to be swapped, or 1
  Strides strides_;
  std::vector<std::byte> default_;
  std::vector<format::LevelBlocks> levels_; ///< starting at bits_per_block
  format::BlockOrders orders_;
  std::shared_ptr<const io::Folder> folder_; ///< folder of the step; null if it does not exist
  std::string folder_name_;                  ///< relative to that of the .idx
  const VisusCache* cache_ = nullptr;        ///< of copies, if this read may use it
  std::atomic<bool> found_file_{ false };
  std::atomic<bool> missed_file_{ false };
  std::uint64_t block_count_ = 0; ///< requested blocks
  std::atomic<std::uint64_t> present_blocks_{ 0 };
  std::filesystem::path known_folder_; ///< an existing folder
  // State of check(): the next block to check, before which all blocks in the box are done, and the
  // completed share.
  std::vector<RequestedBlock> checked_;
  std::uint64_t checked_until_ = 0;
  double checked_share_ = 0;
  std::atomic<std::uint64_t> bytes_read_{ 0 };
};
}

Source::Source(const VisusAddress& address, const std::string& text, const Header& of_text,
  std::optional<std::int64_t> changed)
  : folder(std::filesystem::path(display_name(address.file)).parent_path())
  , header(of_text)
  , order(of_text)
  , names(of_text, std::filesystem::path(file_name(address.file)).stem().string())
  , steps(address.file, text, of_text, this->names)
{
  if (is_address(address.file.string()))
  {
    this->remote.emplace(address.file, of_text);
  }
  if (address.is_server)
  {
    this->server.emplace(
      address.file.string(), address.name, address.compression, of_text.bits_per_block);
  }
  if (!address.cache_folder.empty())
  {
    this->cache.emplace(address, of_text, changed);
  }
}

ReadReport read_blocks(const Source& source, const BlockRead& read, const ReadOptions& all_options)
{
  ReadOptions options = all_options;
  StoppableProgress progress(all_options.progress, source.remote.has_value());
  if (all_options.progress)
  {
    options.progress = [&](double fraction) { return progress(fraction); };
  }
  BlockReader reader(source, read);
  try
  {
    return read.array ? reader.read(options) : reader.check(options);
  }
  catch (const Error& error)
  {
    // Missing files are due to another writer, which is not damage.
    if (error.code() != ErrorCode::Cancelled && error.code() != ErrorCode::OutOfMemory)
    {
      reader.check_not_replaced();
    }
    throw;
  }
}
}
