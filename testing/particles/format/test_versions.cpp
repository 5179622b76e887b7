// SPDX-License-Identifier: BSD-3-Clause
// Additions of later versions are ignored or rejected as FORMAT.md section 14 requires, never
// misread.

#include "support/damage.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

namespace
{
namespace format = bat::format;
using bat::ErrorCode;

class Version : public testing::Test
{
protected:
  damage::Bytes file = read_bytes(std::string(BAT_GOLDEN_FOLDER) + "/small.bat");

  template <class T>
  void in_header(std::size_t at, T value)
  {
    damage::store(this->file, at, value);
    damage::repair_checksums(this->file);
  }

  /// Moves the table to the end, with one more record of 8 bytes of content.
  void add_section(std::uint32_t kind, std::uint32_t flags, std::uint32_t encoding = 0)
  {
    auto header = damage::load<format::Header>(this->file, 0);
    const auto table =
      this->file.begin() + static_cast<std::ptrdiff_t>(header.section_table_offset);
    const std::size_t table_bytes = header.section_count * sizeof(format::SectionRecord);
    const damage::Bytes records(table, table + static_cast<std::ptrdiff_t>(table_bytes));
    std::fill(table, table + static_cast<std::ptrdiff_t>(table_bytes), std::byte{ 0 });
    this->file.resize((this->file.size() + 7) / 8 * 8);
    format::SectionRecord added{};
    added.kind = kind;
    added.flags = flags;
    added.offset = this->file.size();
    added.encoding = encoding;
    added.bytes = 8;
    added.raw_bytes = encoding == 0 ? 8 : 1000;
    this->file.insert(this->file.end(), 8, std::byte{ 42 });
    header.section_table_offset = this->file.size();
    header.section_count += 1;
    this->file.insert(this->file.end(), records.begin(), records.end());
    const auto* bytes = reinterpret_cast<const std::byte*>(&added);
    this->file.insert(this->file.end(), bytes, bytes + sizeof(added));
    header.file_bytes = this->file.size();
    damage::store(this->file, 0, header);
    damage::repair_checksums(this->file);
  }

  void expect_refused(ErrorCode code, const std::string& words)
  {
    try
    {
      (void)bat::File::from_memory(this->file, "later.bat");
      FAIL() << "was opened";
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_EQ(std::string(error.what()).rfind("later.bat: ", 0), 0U) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }

  void expect_sound()
  {
    EXPECT_NO_THROW(bat::validate(bat::File::from_memory(this->file, "later.bat")));
  }
};

TEST_F(Version, a_newer_major_version_is_refused_and_named)
{
  this->in_header<std::uint16_t>(8, 2);
  this->expect_refused(ErrorCode::UnsupportedVersion, "2.0");
}

TEST_F(Version, a_newer_major_version_is_refused_as_such_whatever_else_changed)
{
  // Its header may have another size, another checksum, another everything.
  damage::Bytes later(64, std::byte{ 0xA5 });
  std::copy_n(this->file.begin(), 8, later.begin());
  this->file = later;
  damage::store<std::uint16_t>(this->file, 8, 7);
  this->expect_refused(ErrorCode::UnsupportedVersion, "version 7.");
}

TEST_F(Version, major_version_0_is_refused)
{
  this->in_header<std::uint16_t>(8, 0);
  this->expect_refused(ErrorCode::UnsupportedVersion, "0.0");
}

TEST_F(Version, a_newer_minor_version_is_read)
{
  this->in_header<std::uint16_t>(10, 9);
  EXPECT_EQ(bat::File::from_memory(this->file, "later.bat").format_version(), "1.9");
  this->expect_sound();
}

TEST_F(Version, required_features_are_refused_by_name)
{
  const damage::Bytes before = this->file;
  this->in_header<std::uint64_t>(24, 1);
  this->expect_refused(ErrorCode::UnsupportedVersion, "several leaf files");
  this->file = before;
  this->in_header<std::uint64_t>(24, 4);
  this->expect_refused(ErrorCode::Corrupt, "SAMPLE_IDS is missing");
  this->file = before;
  this->in_header<std::uint64_t>(24, 8);
  this->expect_refused(ErrorCode::UnsupportedVersion, "features 0x8,");
  this->file = before;
  this->in_header<std::uint64_t>(24, std::uint64_t{ 1 } << 40);
  this->expect_refused(ErrorCode::UnsupportedVersion, "0x10000000000");
}

TEST_F(Version, optional_features_are_ignored)
{
  this->in_header(32, ~std::uint64_t{ 0 });
  this->expect_sound();
}

TEST_F(Version, sections_of_unknown_kinds_are_ignored)
{
  this->add_section(77, 0);
  this->expect_sound();
}

TEST_F(Version, encodings_of_sections_of_unknown_kinds_are_ignored)
{
  this->add_section(77, 0, 5);
  this->expect_sound();
  this->add_section(static_cast<std::uint32_t>(format::SectionKind::ChunkTable) + 70, 0, 1);
  this->expect_sound();
}

TEST_F(Version, a_section_that_must_be_understood_and_is_not_is_refused)
{
  this->add_section(77, format::kMustUnderstand);
  this->expect_refused(ErrorCode::UnsupportedVersion, "77");
}

TEST_F(Version, the_feature_of_chunks_does_not_ask_for_any)
{
  this->in_header<std::uint64_t>(24, format::kCompressedChunks);
  this->expect_sound();
}

TEST_F(Version, chunks_need_their_feature_and_their_table)
{
  const std::uint64_t at = damage::section_record(this->file, format::SectionKind::Attribute, 1);
  damage::store<std::uint32_t>(
    this->file, at + offsetof(format::SectionRecord, encoding), format::kChunks);
  damage::repair_checksums(this->file);
  this->expect_refused(ErrorCode::Corrupt, "ATTRIBUTE 1 is in chunks, but the header");
  this->in_header<std::uint64_t>(24, format::kCompressedChunks);
  this->expect_refused(
    ErrorCode::Corrupt, "CHUNK_TABLE 2 is missing, but ATTRIBUTE 1 is in chunks");
}

TEST_F(Version, a_sorted_index_is_refused_if_it_is_not_as_it_should_be)
{
  this->add_section(static_cast<std::uint32_t>(format::SectionKind::SortedIndex), 0);
  this->expect_refused(ErrorCode::Corrupt, "SORTED_INDEX 0 must be paged");
}

TEST_F(Version, a_section_of_the_other_kind_of_file_is_found_by_the_validator)
{
  this->add_section(static_cast<std::uint32_t>(format::SectionKind::LeafFiles), 0);
  const bat::File open = bat::File::from_memory(this->file, "later.bat");
  try
  {
    bat::validate(open);
    FAIL() << "is valid";
  }
  catch (const bat::Error& error)
  {
    EXPECT_STREQ(error.what(), "later.bat: LEAF_FILES does not belong in a leaf file");
  }
}

TEST_F(Version, an_unknown_section_is_still_checked_by_the_validator)
{
  this->add_section(77, 0);
  const auto header = damage::load<format::Header>(this->file, 0);
  damage::flip(this->file, 8 * (header.section_table_offset - 1));
  const bat::File open = bat::File::from_memory(this->file, "later.bat");
  EXPECT_THROW(bat::validate(open), bat::Error);
}

TEST_F(Version, an_encoding_that_is_not_implemented_is_refused_by_name)
{
  const std::uint64_t at = damage::section_record(this->file, format::SectionKind::Attribute, 1);
  damage::store<std::uint32_t>(this->file, at + offsetof(format::SectionRecord, encoding), 3);
  damage::repair_checksums(this->file);
  this->expect_refused(ErrorCode::UnsupportedVersion, "ATTRIBUTE 1 has encoding 3");
}

TEST_F(Version, reserved_bytes_that_are_set_are_refused)
{
  const damage::Bytes before = this->file;
  this->in_header<std::uint8_t>(100, 1);
  this->expect_refused(ErrorCode::Corrupt, "reserved");
  this->file = before;
  this->in_header<std::uint32_t>(60, 0x80);
  this->expect_refused(ErrorCode::Corrupt, "reserved");
}
}
