// SPDX-License-Identifier: BSD-3-Clause
// Sections that are written one after the other, and what a reader finds; ranges of positions.

#include "bat/error.hpp"
#include "common/numbers.hpp"
#include "particles/format/decode.hpp"
#include "particles/format/page_reader.hpp"
#include "particles/write/output.hpp"
#include "particles/write/position_ranges.hpp"
#include "particles/write/section_writer.hpp"
#include "support/dataset_files.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

namespace
{
using bat::format::SectionKind;

// Twelve pages and a bit.
std::vector<std::uint32_t> column_values()
{
  std::vector<std::uint32_t> values(12 * 1024 + 100);
  std::iota(values.begin(), values.end(), 7u);
  return values;
}

void write_all(bat::write::Output& output)
{
  bat::write::SectionWriter sections(output);
  const std::vector<std::uint32_t> values = column_values();
  const std::uint64_t bytes = 4 * values.size();
  std::memcpy(sections.begin_column(
                SectionKind::Attribute, 3, { bat::ScalarType::UInt32, 1 }, values.size(), {}),
    values.data(), bytes);
  sections.end_column();
  const std::uint64_t with_column = sections.file_bytes();
  EXPECT_EQ(sections.column_bytes(), bytes);
  sections.write_paged(SectionKind::BlockBoxes, 0, values.data(), 13);
  sections.write_plain(SectionKind::Levels, 0, values.data(), 20);
  sections.write_paged(SectionKind::SortedIndex, 0, nullptr, 0);
  EXPECT_EQ(sections.column_bytes(), bytes);
  EXPECT_GT(sections.file_bytes(), with_column + 33);
  sections.write_page_checksums();
  sections.finish(5, 1.5, std::nullopt);
}

bat::Bytes in_memory()
{
  bat::write::MemoryOutput output(1000, 0);
  write_all(output);
  return output.take();
}
}

TEST(SectionWriter, what_is_written_is_what_a_reader_finds)
{
  const bat::io::RandomAccessFile file(in_memory(), "memory");
  const bat::format::Header header = bat::format::read_header(file);
  EXPECT_EQ(header.particle_count, 5U);
  EXPECT_EQ(header.time, 1.5);
  EXPECT_EQ(header.flags, bat::format::kHasTime);
  const auto sections = bat::format::read_sections(file, header);
  ASSERT_EQ(sections.size(), 4U);
  const std::vector<std::uint32_t> values = column_values();

  const auto plain = bat::format::read_records<std::uint32_t>(
    file, *bat::format::find_section(sections, SectionKind::Levels));
  EXPECT_EQ(plain, std::vector<std::uint32_t>(values.begin(), values.begin() + 5));
  for (const SectionKind kind :
    { SectionKind::Attribute, SectionKind::BlockBoxes, SectionKind::SortedIndex })
  {
    const bat::format::SectionRecord& record =
      *bat::format::find_section(sections, kind, kind == SectionKind::Attribute ? 3 : 0);
    const bat::format::PagedSection paged(file, record, 1, "it");
    EXPECT_NO_THROW(paged.check());
    std::vector<std::byte> bytes(record.bytes);
    const bat::Span all{ 0, record.bytes };
    bat::format::PageReader(paged).gather(&all, 1, bytes.data());
    EXPECT_TRUE(bytes.empty() || std::memcmp(bytes.data(), values.data(), record.bytes) == 0);
  }
  EXPECT_EQ(
    bat::format::find_section(sections, SectionKind::Attribute, 3)->bytes, 4 * values.size());
}

TEST(SectionWriter, files_and_memory_get_the_same_bytes)
{
  const bat::Bytes expected = in_memory();
  for (const bool flush : { false, true })
  {
    const std::filesystem::path path = testing::TempDir() + "section_writer.bat";
    bat::io::AtomicFile file(path);
    bat::write::FileOutput output(file, flush);
    write_all(output);
    file.commit(flush);
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> bytes{ std::istreambuf_iterator<char>(in), {} };
    ASSERT_EQ(bytes.size(), expected.size());
    EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0);
    std::filesystem::remove(path);
  }
}

TEST(SectionWriter, check_looks_at_every_page)
{
  const bat::Bytes good = in_memory();
  const bat::io::RandomAccessFile file(good, "memory");
  const auto sections = bat::format::read_sections(file, bat::format::read_header(file));
  const bat::format::SectionRecord& record =
    *bat::format::find_section(sections, SectionKind::Attribute, 3);
  for (std::uint64_t byte = 5; byte < record.bytes; byte += 4096)
  {
    bat::Bytes bad = good;
    bad[record.offset + byte] ^= std::byte{ 1 };
    const bat::io::RandomAccessFile damaged(bad, "memory");
    const bat::format::PagedSection section(damaged, record, 4, "it");
    try
    {
      section.check();
      ADD_FAILURE() << "byte " << byte;
    }
    catch (const bat::Error& error)
    {
      const std::string page = "page " + std::to_string(byte / 4096) + " of it ";
      EXPECT_NE(std::string(error.what()).find(page), std::string::npos) << error.what();
    }
  }
}

TEST(PositionRanges, are_those_of_all_positions_but_nan)
{
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> some{ 3, -4, -0.0, nan, 1, 2 };
  const std::vector<double> others{ -1, 0, 12 };
  bat::write::PositionRanges ranges;
  for (const std::vector<double>& positions : { some, others })
  {
    bat::write::PositionRanges part;
    part.add(bat::ScalarType::Float64, reinterpret_cast<const std::byte*>(positions.data()),
      positions.size() / 3);
    ranges.add(part);
  }
  const auto records = ranges.records();
  const double minimum[] = { -1, -4, 0, 5 };
  const double maximum[] = { 3, 1, 12, std::sqrt(145.0) };
  for (std::size_t k = 0; k != records.size(); ++k)
  {
    EXPECT_EQ(bat::from_bits<double>(records[k].minimum), minimum[k]);
    EXPECT_EQ(bat::from_bits<double>(records[k].maximum), maximum[k]);
    EXPECT_FALSE(std::signbit(bat::from_bits<double>(records[k].minimum)) && minimum[k] == 0);
    EXPECT_EQ(records[k].flags, k == 0 || k == 3 ? bat::format::kHasNaN : 0U);
  }
}
