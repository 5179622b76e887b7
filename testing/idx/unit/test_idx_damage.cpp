// SPDX-License-Identifier: BSD-3-Clause
// Damaged, truncated and missing files of samples: an error that names file, field, block, found
// and allowed, or the default value where nothing was ever written.

#include "bat/error.hpp"
#include "bat/idx/dataset.hpp"
#include "bat/idx/write.hpp"
#include "idx/format/block_file.hpp"
#include "idx/unit/idx_grids.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace bat::idx;
using bat::ErrorCode;
using bat::ScalarType;

namespace
{
// One file of 8 blocks of 64 samples, two fields.
class IdxDamage : public ::testing::Test
{
protected:
  IdxDamage()
    : made({ 8, 8, 8 })
  {
    this->made.add("a", ScalarType::Float32, 1, true);
    this->made.add("b", ScalarType::UInt16, 1, true);
  }

  void write_as(Codec codec, Dialect dialect = Dialect::OpenVisus)
  {
    WriteOptions options;
    options.codec = codec;
    options.dialect = dialect;
    options.bits_per_block = 6;
    options.flush = false;
    write(this->path(), this->made.grid, options);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(this->folder / "n"))
    {
      this->file = entry.is_regular_file() ? entry.path() : this->file;
    }
    this->bytes = read_bytes(this->file);
    this->header = Dataset::open(this->path()).header();
  }

  [[nodiscard]] std::filesystem::path path() const { return this->folder / "n.idx"; }
  [[nodiscard]] std::size_t record_at(std::size_t field, std::uint64_t block) const
  {
    return format::header_offset(this->header, field, block);
  }
  [[nodiscard]] format::BlockRecord record(std::size_t field, std::uint64_t block) const
  {
    return format::decode_record(6, this->bytes.data() + this->record_at(field, block));
  }

  // The file with another record of block 3 of field b.
  void with_record(const std::function<void(format::BlockRecord&)>& change)
  {
    format::BlockRecord changed = this->record(1, 3);
    change(changed);
    auto copy = this->bytes;
    format::encode_record(changed, copy.data() + this->record_at(1, 3));
    write_bytes(this->file, copy);
  }

  void expect_refused(ErrorCode code, const std::vector<std::string>& words)
  {
    const Dataset dataset = Dataset::open(this->path());
    // Field a, and levels that do not need block 3, are not affected.
    EXPECT_EQ(read_all(dataset, { 0, 9, {}, 0 }), this->made.values[0]);
    EXPECT_EQ(
      read_all(dataset, { 1, 6, {}, 0 }), this->made.part(1, dataset.distance(6), dataset.box()));
    EXPECT_EQ(dataset.check(0, 0).absent_blocks, 0u);
    const auto checked = bat::attempt([&] { (void)dataset.check(1, 0); });
    try
    {
      (void)read_all(dataset, { 1, 9, {}, 0 });
      ADD_FAILURE() << "no error with " << words.front();
    }
    catch (const bat::Error& error)
    {
      EXPECT_TRUE(checked && std::string(checked->what()) == error.what());
      EXPECT_EQ(error.code(), code) << error.what();
      for (const std::string& word :
        { this->file.string(), std::string("field 'b'"), std::string("block 3") })
      {
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
      }
      for (const std::string& word : words)
      {
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << error.what() << "\nsays nothing of " << word;
      }
    }
  }

  const TempDir folder;
  MadeGrid made;
  std::filesystem::path file;
  std::vector<std::byte> bytes;
  Header header;
};
}

TEST_F(IdxDamage, headers_of_blocks_are_checked)
{
  this->write_as(Codec::Raw);
  using R = format::BlockRecord&;
  const std::string size = std::to_string(this->bytes.size());
  this->with_record([](R r) { r.bytes = 127; });
  this->expect_refused(ErrorCode::Corrupt, { "127", "128" });
  this->with_record([](R r) { r.bytes = 0xffffffff; });
  this->expect_refused(ErrorCode::Corrupt, { "4294967295", "128" });
  this->with_record([&](R r) { r.offset = this->bytes.size() - 100; });
  this->expect_refused(ErrorCode::Truncated, { "+128", size });
  this->with_record([](R r) { r.offset = ~std::uint64_t{ 0 } - 10; });
  this->expect_refused(ErrorCode::Truncated, { "18446744073709551605", size });
  this->with_record([](R r) { r.offset = 40; });
  this->expect_refused(ErrorCode::Corrupt, { "at 40", "680" });
  for (const std::uint32_t codec : { 4u, 6u, 8u, 5u })
  {
    this->with_record([&](R r) { r.codec = codec; });
    this->expect_refused(
      ErrorCode::UnsupportedVersion, { format::name_of_codec(codec), "raw, zip and lz4" });
  }
  this->with_record([](R r) { r.codec = format::kStoredZip; });
  this->expect_refused(ErrorCode::Corrupt, { "zlib" });
  this->with_record([](R r) { r.codec = format::kStoredLz4; });
  this->expect_refused(ErrorCode::Corrupt, { "LZ4" });
  this->with_record(
    [](R r)
    {
      r.codec = format::kStoredZip;
      r.bytes = 2 * 128 + 4097;
    });
  this->expect_refused(ErrorCode::Corrupt, { "4353", "4352" });
}

TEST_F(IdxDamage, packed_blocks_unpack_to_exactly_their_size)
{
  for (const Codec codec : { Codec::Zip, Codec::Lz4 })
  {
    this->write_as(codec);
    const format::BlockRecord small = this->record(1, 3);
    ASSERT_NE(small.codec, format::kStoredRaw);
    // A block of field a has twice the bytes; truncated, it has fewer.
    this->with_record(
      [&](format::BlockRecord& r)
      {
        const format::BlockRecord large = this->record(0, 3);
        r.offset = large.offset;
        r.bytes = large.bytes;
      });
    this->expect_refused(ErrorCode::Corrupt, { "128" });
    this->with_record([](format::BlockRecord& r) { r.bytes -= 3; });
    this->expect_refused(ErrorCode::Corrupt, { "128" });
    // Every bit of it.
    for (std::size_t bit = 0; bit != 8 * small.bytes; ++bit)
    {
      auto copy = this->bytes;
      copy[small.offset + bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      write_bytes(this->file, copy);
      try
      {
        const auto values = read_all(Dataset::open(this->path()), { 1, 9, {}, 0 });
        // zlib has a checksum, LZ4 has none.
        EXPECT_TRUE(codec == Codec::Lz4 || values == this->made.values[1]) << bit;
      }
      catch (const bat::Error& error)
      {
        EXPECT_EQ(error.code(), ErrorCode::Corrupt) << error.what();
      }
    }
  }
  // Bytes after a zlib stream are legal.
  this->write_as(Codec::Zip);
  this->with_record([](format::BlockRecord& r) { r.bytes += 1; });
  EXPECT_EQ(read_all(Dataset::open(this->path()), { 1, 9, {}, 0 }), this->made.values[1]);
}

TEST_F(IdxDamage, every_cut_is_an_error)
{
  this->write_as(Codec::Raw);
  const std::vector<std::byte> whole = this->bytes;
  for (std::size_t size = 0; size < whole.size(); size += 41)
  {
    write_bytes(this->file, { whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size) });
    const Dataset dataset = Dataset::open(this->path());
    for (const std::size_t field : { 0u, 1u })
    {
      try
      {
        EXPECT_EQ(read_all(dataset, { field, 9, {}, 0 }), this->made.values[field]);
        EXPECT_EQ(field, 0u);
      }
      catch (const bat::Error& error)
      {
        EXPECT_EQ(error.code(), ErrorCode::Truncated) << error.what();
      }
    }
  }
}

TEST_F(IdxDamage, a_block_of_pidx_ends_with_the_last_sample_in_the_box)
{
  // 8 blocks in 7 x 7 x 7: the last sample of the last block is outside.
  MadeGrid odd({ 7, 7, 7 });
  odd.add("a", ScalarType::Float32);
  WriteOptions options;
  options.dialect = Dialect::PIDX;
  options.bits_per_block = 6;
  options.flush = false;
  write(this->folder / "p.idx", odd.grid, options);
  const std::filesystem::path name = this->folder / "p/time000000000/0.bin";
  const std::vector<std::byte> whole = read_bytes(name);
  std::size_t minimum = whole.size();
  const Dataset dataset = Dataset::open(this->folder / "p.idx");
  for (std::size_t cut = 0; cut <= 252; cut += 4)
  {
    write_bytes(name, { whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(cut) });
    try
    {
      EXPECT_EQ(read_all(dataset, { 0, 9, {}, 0 }), odd.values[0]) << cut;
      minimum = whole.size() - cut;
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), ErrorCode::Truncated) << error.what();
      EXPECT_NE(std::string(error.what()).find("in the box"), std::string::npos) << error.what();
    }
  }
  EXPECT_LT(minimum, whole.size());       // missing padding is no error
  EXPECT_GT(minimum, whole.size() - 256); // missing samples are
}

TEST_F(IdxDamage, absent_blocks_have_the_default_value_and_are_told)
{
  this->write_as(Codec::Raw);
  std::string text(reinterpret_cast<const char*>(read_bytes(this->path()).data()),
    std::filesystem::file_size(this->path()));
  text.replace(text.find("b uint16"), 8, "b uint16 default_value(513)");
  std::ofstream(this->path()) << text;
  this->with_record([](format::BlockRecord& r) { r.offset = 0; });
  const Dataset dataset = Dataset::open(this->path());
  std::vector<std::uint16_t> values(512);
  const ReadReport report = dataset.read({ 1, 9, {}, 0 }, values.data(), 1024);
  EXPECT_EQ(report.blocks, 8u);
  EXPECT_EQ(report.absent_blocks, 1u);
  EXPECT_EQ(dataset.check(1, 0).absent_blocks, 1u);
  EXPECT_EQ(report.samples, 512u);
  std::size_t other = 0;
  for (std::size_t i = 0; i != 512; ++i)
  {
    std::uint16_t written = 0;
    std::memcpy(&written, this->made.values[1].data() + 2 * i, 2);
    EXPECT_TRUE(values[i] == written || values[i] == 513);
    other += values[i] != written;
  }
  EXPECT_EQ(other, 64u);

  std::filesystem::remove(this->file);
  try
  {
    (void)read_all(dataset, { 1, 9, {}, 0 });
    ADD_FAILURE() << "a step without files was read";
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), ErrorCode::NotFound);
    EXPECT_NE(std::string(error.what()).find("time step 0"), std::string::npos) << error.what();
  }
}

// Tables of the sample order would take 64 MiB for each of 17 levels.
TEST_F(IdxDamage, a_text_alone_takes_no_memory)
{
  const std::string text = "(version)\n6\n(box)\n0 1099511627775\n(fields)\na uint8\n(bits)\nV" +
    std::string(40, '0') +
    "\n(bitsperblock)\n24\n(blocksperfile)\n1\n(filename_template)\n./a/%04x.bin\n";
  const Dataset dataset = Dataset::from_text(this->path(), text);
  const auto max_memory = []
  {
    struct rusage used;
    ::getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss; // KiB
  };
  const auto before = max_memory();
  Query query;
  query.level = dataset.levels();
  query.box = LogicalBox{ { 1, 0, 0 }, { 1, 0, 0 } };
  const auto problem = bat::attempt([&] { (void)read_all(dataset, query); });
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->code(), ErrorCode::NotFound) << problem->what();
  EXPECT_LT(max_memory() - before, 128 << 10);
}

TEST_F(IdxDamage, files_that_are_none_are_errors)
{
  this->write_as(Codec::Raw);
  const auto expect_code = [&](ErrorCode code)
  {
    const auto problem = bat::attempt(
      [&] {
        (void)read_all(Dataset::open(this->path()), { 0, 9, {}, 0 });
      });
    ASSERT_TRUE(problem.has_value());
    EXPECT_EQ(problem->code(), code) << problem->what();
  };
  std::filesystem::remove(this->file);
  ASSERT_EQ(::mkfifo(this->file.c_str(), 0600), 0);
  expect_code(ErrorCode::CannotOpen);
  std::filesystem::remove(this->file);
  std::filesystem::create_directory(this->file);
  expect_code(ErrorCode::CannotOpen);
  std::filesystem::remove(this->file);
  std::filesystem::create_symlink("/dev/zero", this->file);
  expect_code(ErrorCode::CannotOpen);
}

TEST_F(IdxDamage, queries_are_checked)
{
  this->write_as(Codec::Raw);
  const Dataset dataset = Dataset::open(this->path());
  std::vector<std::byte> values(2048);
  const auto refused = [&](const Query& query, std::size_t bytes, const char* word)
  {
    const auto problem = bat::attempt([&] { (void)dataset.read(query, values.data(), bytes); });
    ASSERT_TRUE(problem.has_value()) << word;
    EXPECT_EQ(problem->code(), ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(problem->what()).find(word), std::string::npos) << problem->what();
  };
  refused({ 2, 9, {}, 0 }, 2048, "field 2");
  refused({ 0, 10, {}, 0 }, 2048, "level 10");
  refused({ 0, -1, {}, 0 }, 2048, "level -1");
  refused({ 0, 9, {}, 1 }, 2048, "step 1");
  refused({ 0, 9, {}, 0 }, 2047, "2047 bytes");
  const LogicalBox outside{ { 9, 0, 0 }, { 12, 7, 7 } };
  EXPECT_EQ(dataset.read({ 0, 9, outside, 0 }, values.data(), 0).samples, 0u);
  EXPECT_FALSE(dataset.first_level(outside).has_value());
  EXPECT_EQ(dataset.first_level({ { 1, 0, 0 }, { 1, 7, 7 } }).value(), 7);
  EXPECT_EQ(dataset.first_level({ { 0, 0, 0 }, { 7, 7, 7 } }).value(), 0);
  EXPECT_EQ(
    dataset.box_of_extent(6, { 1, 2, 0, 3, -1, 5 }), (LogicalBox{ { 2, 0, -2 }, { 4, 6, 10 } }));
  int calls = 0;
  ReadOptions options;
  options.progress = [&](double) { return ++calls < 2; };
  const auto cancelled = bat::attempt(
    [&] {
      (void)dataset.read({ 0, 9, {}, 0 }, values.data(), 2048, options);
    });
  ASSERT_TRUE(cancelled.has_value());
  EXPECT_EQ(cancelled->code(), ErrorCode::Cancelled);
}

TEST_F(IdxDamage, cost_is_what_a_read_takes)
{
  this->write_as(Codec::Raw);
  const Dataset dataset = Dataset::open(this->path());
  for (int level = 0; level <= 9; ++level)
  {
    const Cost cost = dataset.cost({ 0, 1 }, level);
    EXPECT_EQ(cost.samples, std::uint64_t{ 1 } << level);
    EXPECT_EQ(cost.bytes, cost.samples * 6);
    std::vector<std::byte> values(cost.samples * 4);
    const ReadReport report = dataset.read({ 0, level, {}, 0 }, values.data(), values.size());
    EXPECT_EQ(2 * report.blocks, cost.blocks);
    EXPECT_EQ(cost.block_bytes, report.blocks * 64 * 6);
    EXPECT_LE(report.bytes_read, report.blocks * (64 * 4 + 40));
  }
  EXPECT_EQ(dataset.finest_level({ 0 }, 9, 2048), 9);
  EXPECT_EQ(dataset.finest_level({ 0 }, 9, 2047), 8);
  EXPECT_EQ(dataset.finest_level({ 0, 1 }, 9, 100), 4);
  EXPECT_EQ(dataset.finest_level({ 0, 1 }, 3, 1000000), 3);
  EXPECT_EQ(dataset.finest_level({ 0, 1 }, 9, 0), 0);
}

// Two of 2^40 blocks exist, in folders far apart: these are inspected, and the others counted.
TEST(IdxClaims, any_number_of_absent_blocks_takes_no_time_and_no_memory)
{
  const TempDir folder;
  const auto put_text = [&](const std::string& name, const std::string& box)
  {
    std::ofstream(folder / (name + ".idx"))
      << "(version)\n6\n(box)\n"
      << box << "\n(fields)\np float32\n(bits)\n"
      << "V0101010101010101012012012012012012012012012012012012\n(bitsperblock)\n12\n"
      << "(blocksperfile)\n256\n(filename_template)\n./big/%02x/%04x.bin\n";
    return Dataset::open(folder / (name + ".idx"));
  };
  constexpr std::uint64_t kBlocks = std::uint64_t{ 1 } << 40;
  constexpr std::size_t kHeaders = 40 + 40 * 256;
  constexpr std::size_t kBlockBytes = 4 << 12;
  std::vector<std::byte> file(kHeaders + kBlockBytes);
  format::BlockRecord record;
  record.offset = kHeaders;
  record.bytes = kBlockBytes;
  record.layout = Layout::RowMajor;
  format::encode_record(record, file.data() + 40); // the first block's
  const std::string far = "big/7f/3c/1200.bin";
  std::filesystem::create_directories(folder / "big/00");
  std::filesystem::create_directories((folder / far).parent_path());
  const Dataset whole = put_text("whole", "0 1048575 0 1048575 0 4095");
  ASSERT_EQ(whole.levels(), 52);
  EXPECT_THROW((void)whole.check(0, 0), bat::Error); // the step has no files
  write_bytes(folder / "big/00/0000.bin", file);
  write_bytes(folder / far, file);
  std::size_t reported = 0;
  ReadOptions options;
  options.progress = [&](double) { return ++reported != 0; };
  const ReadReport report = whole.check(0, 0, options);
  EXPECT_EQ(report.blocks, kBlocks);
  EXPECT_EQ(report.absent_blocks, kBlocks - 2);
  EXPECT_GT(report.bytes_read, 2 * kBlockBytes);
  EXPECT_GT(reported, 1u);
  EXPECT_LT(reported, 1000u);

  // Few blocks among as many, and an error in one of those that exist.
  const Dataset line = put_text("line", "0 1048575 0 0 0 0");
  const ReadReport few = line.check(0, 0);
  EXPECT_EQ(few.blocks, line.cost({ 0 }, 52).blocks);
  EXPECT_EQ(few.absent_blocks, few.blocks - 1);
  file.pop_back();
  write_bytes(folder / far, file);
  try
  {
    (void)whole.check(0, 0);
    ADD_FAILURE();
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), ErrorCode::Truncated);
    EXPECT_NE(std::string(error.what()).find("1200.bin"), std::string::npos) << error.what();
  }
}

// A list of the blocks would have 2^26 of them.
TEST(IdxClaims, a_step_that_is_not_there_is_told_before_blocks_are_listed)
{
  const TempDir folder;
  std::ofstream(folder / "many.idx")
    << "(version)\n6\n(box)\n0 4294967295\n(fields)\na uint8\n(bits)\nV" << std::string(32, '0')
    << "\n(bitsperblock)\n6\n(blocksperfile)\n256\n(filename_template)\n./many/%04x.bin\n";
  const Dataset dataset = Dataset::open(folder / "many.idx");
  const std::size_t bytes = std::size_t{ 1 } << 32;
  // Address space only: none of it is touched.
  void* const memory = ::mmap(
    nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  struct rusage before;
  ::getrusage(RUSAGE_SELF, &before);
  for (const bool has_folder : { false, true })
  {
    if (has_folder)
    {
      std::filesystem::create_directory(folder / "many");
    }
    const auto problem = bat::attempt([&] { (void)dataset.read({ 0, 32, {}, 0 }, memory, bytes); });
    ASSERT_TRUE(problem.has_value());
    EXPECT_EQ(problem->code(), ErrorCode::NotFound) << problem->what();
    EXPECT_NE(
      std::string(problem->what()).find("time step 0 has not been written"), std::string::npos)
      << problem->what();
  }
  struct rusage after;
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 << 10); // KiB
  ::munmap(memory, bytes);
}
