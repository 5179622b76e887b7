// SPDX-License-Identifier: BSD-3-Clause
// Malicious files: numbers in header, tables and index are changed, and all checksums corrected.
// The answers do not matter, but none may crash, hang, read out of bounds or request excessive
// memory.

#include "support/allocation_limit.hpp"
#include "support/clouds.hpp"
#include "support/damage.hpp"
#include "support/memory_limit.hpp"
#include "support/sanitizers.hpp"
#include "support/temp_dir.hpp"
#include "support/thread_time.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace
{
namespace format = bat::format;
using format::SectionKind;

damage::Bytes golden(const std::string& name)
{
  return read_bytes(std::string(BAT_GOLDEN_FOLDER) + "/" + name + ".bat");
}

TEST(Hostile, repair_leaves_a_sound_file_as_it_is)
{
  for (const char* name : { "seventeen", "not_finite_dictionary", "written_3000", "empty",
         "dataset", "several_pages", "written_chunks" })
  {
    damage::Bytes file = golden(name);
    const damage::Bytes before = file;
    damage::repair_checksums(file);
    EXPECT_TRUE(file == before) << name;
  }
}

TEST(Hostile, repair_gets_changed_values_past_every_checksum)
{
  damage::Bytes file = golden("seventeen");
  const auto record = damage::load<format::SectionRecord>(
    file, damage::section_record(file, SectionKind::Attribute, 1));
  damage::store<std::int64_t>(file, record.offset, 1234567);
  EXPECT_FALSE(damage::ask(file).parts[2]) << "the checksum must refuse it";
  damage::repair_checksums(file);
  const bat::File open = bat::File::from_memory(file, "changed.bat");
  std::int64_t value = 0;
  open.read_attribute(1, { { { 0, 1 } }, 1, 0 }, &value);
  EXPECT_EQ(value, 1234567);
}

// Pages are read together with the unneeded ones between them.
TEST(Hostile, a_damaged_page_is_met_by_who_needs_it_only)
{
  const bat::Bytes sound = bat::encode(clouds::uniform(5000, 3).view(), {});
  damage::Bytes file(sound.begin(), sound.end());
  const bat::File whole = bat::File::from_memory(file, "whole.bat");
  const std::size_t id = whole.attribute_index("id");
  const auto record = damage::load<format::SectionRecord>(
    file, damage::section_record(file, SectionKind::Attribute, static_cast<std::uint32_t>(id)));
  ASSERT_EQ(record.encoding, format::kRaw);
  const std::uint64_t of_page = format::kPageBytes / sizeof(std::int64_t);
  damage::flip(file, 8 * (record.offset + format::kPageBytes));

  TempDir folder;
  write_bytes(folder / "damaged.bat", file);
  bat::OpenOptions mapped;
  mapped.map = true;
  for (const bat::OpenOptions& how : { bat::OpenOptions(), mapped })
  {
    const bat::File damaged = bat::File::open(folder / "damaged.bat", how);
    const auto read = [&](const bat::File& from, const bat::Selection& some)
    {
      std::vector<std::int64_t> values(some.count);
      from.read_attribute(id, some, values.data());
      return values;
    };
    const bat::Selection around{ { { 1, 2 }, { 2 * of_page + 1, of_page + 4 } }, of_page + 6, 0 };
    EXPECT_EQ(read(damaged, around), read(whole, around));
    const bat::Selection all{ { { 1, 2 }, { of_page + 7, 1 }, { 2 * of_page, 1 } }, 4, 0 };
    try
    {
      (void)read(damaged, all);
      ADD_FAILURE() << "the page is damaged";
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), bat::ErrorCode::Corrupt);
      EXPECT_NE(std::string(error.what()).find("page 1 of attribute 'id'"), std::string::npos)
        << error.what();
    }
  }
}

TEST(Hostile, damage_of_an_attribute_names_it)
{
  const damage::Bytes sound = golden("seventeen");
  const std::vector<bat::Attribute> attributes =
    bat::File::from_memory(sound, "sound.bat").attributes();
  ASSERT_GT(attributes.size(), 1U);
  for (const auto& [kind, index, name] :
    std::vector<std::tuple<SectionKind, std::uint32_t, std::string>>{
      { SectionKind::Attribute, 0, "attribute '" + attributes[0].name + "'" },
      { SectionKind::Attribute, 1, "attribute '" + attributes[1].name + "'" },
      { SectionKind::BinEdges, 0, "BIN_EDGES of '" + attributes[0].name + "'" },
      { SectionKind::TreeletKeys, 0, "TREELET_KEYS of '" + attributes[0].name + "'" } })
  {
    damage::Bytes file = sound;
    const auto record =
      damage::load<format::SectionRecord>(file, damage::section_record(file, kind, index));
    damage::flip(file, 8 * record.offset);
    const bat::File open = bat::File::from_memory(file, "damaged.bat");
    try
    {
      bat::Query query;
      query.ranges.push_back({ attributes[0].name, std::nullopt, 0.0, 1.0 });
      const bat::Selection selection = open.select(query);
      std::vector<std::byte> values(1 << 16);
      open.read_attribute(index, selection, values.data());
      ADD_FAILURE() << name << " is damaged and nothing is said";
    }
    catch (const bat::Error& error)
    {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
}

// Not inlined, as the compiler would warn of a seemingly uninitialized optional.
[[gnu::noinline]] bool mapped_answers_are(const damage::Answers& answers, const damage::Bytes& file)
{
  return damage::ask_mapped(file) == answers;
}

class HostileFile : public testing::TestWithParam<const char*>
{
};

TEST_P(HostileFile, random_lies_end_in_an_error_or_an_answer_of_the_right_shape)
{
  const damage::Bytes whole = golden(GetParam());
  const std::size_t limit = 64 * whole.size() + (4U << 20);
  const std::uint64_t cases =
    sanitizers::some_of(std::min<std::uint64_t>(8000, 100'000'000 / whole.size()));
  std::uint64_t opened = 0;
  std::uint64_t answered = 0;
  allocations::take_largest();
  for (std::uint64_t seed = 0; seed != cases; ++seed)
  {
    damage::Random random(seed);
    damage::Bytes file = whole;
    for (std::uint64_t lies = 1 + random() % 3; lies != 0; --lies)
    {
      const damage::Region region = damage::random_region(file, random);
      damage::poke(file, region.begin, region.bytes, random);
      // Only the first table stays readable for the following checks.
      damage::repair_checksums(file);
    }
    const bool map = seed % 4 == 0 && !damage::is_top(file);
    const damage::Bytes kept = map ? file : damage::Bytes();
    const double begin = thread_seconds();
    damage::Answers answers;
    ASSERT_NO_THROW(answers = damage::ask(std::move(file))) << "seed " << seed;
    ASSERT_LT(thread_seconds() - begin, 10.0) << "seed " << seed;
    ASSERT_LE(allocations::take_largest(), limit) << "seed " << seed;
    bool alike = true;
    ASSERT_NO_THROW(alike = !map || mapped_answers_are(answers, kept)) << "seed " << seed;
    ASSERT_TRUE(alike) << "seed " << seed;
    opened += !answers.refused;
    answered += std::any_of(answers.parts.begin() + (answers.refused ? 0 : 2), answers.parts.end(),
      [](const auto& part) { return part.has_value(); });
  }
  // Without particles, nearly everything that can be changed is read at opening.
  const bool empty = std::string("empty") == GetParam();
  EXPECT_GT(opened, empty ? cases / 50 : cases / 4)
    << "too few lies get past opening to test anything";
  EXPECT_GT(answered, empty ? 0 : cases / 8) << "too few lies get as far as an answer";
}

INSTANTIATE_TEST_SUITE_P(, HostileFile,
  testing::Values("written_7", "written_3000", "seventeen", "small", "not_finite_dictionary",
    "bitmap_bytes_1", "bitmap_bytes_2", "bitmap_bytes_4", "all_types", "levels_5", "empty",
    "written_dataset", "dataset", "sorted_index", "written_index", "aliases", "dataset_aliases",
    "several_pages", "written_chunks", "written_chunks_small", "stable", "written_stable",
    "written_view", "written_view_dataset"),
  [](const auto& info) { return std::string(info.param); });

/// Sets one field of a section's record, or of the header, in a file of many treelets.
class Lie : public testing::Test
{
protected:
  template <class T>
  void in_section(SectionKind kind, std::uint32_t index, std::uint64_t at, T value)
  {
    const auto record = damage::load<format::SectionRecord>(
      this->file, damage::section_record(this->file, kind, index));
    ASSERT_LE(at + sizeof(T), record.bytes);
    damage::store(this->file, record.offset + at, value);
    damage::repair_checksums(this->file);
  }

  template <class T>
  void in_table(SectionKind kind, std::uint32_t index, std::size_t at, T value)
  {
    damage::store(this->file, damage::section_record(this->file, kind, index) + at, value);
    damage::repair_checksums(this->file);
  }

  /// The text of the Error that rejects opening or everything after it; empty if nothing is
  /// rejected.
  std::string refusal(bat::ErrorCode expected = bat::ErrorCode::Corrupt)
  {
    try
    {
      const bat::File open = bat::File::from_memory(this->file, "lie.bat");
      for (const bat::Query& query : damage::queries_for(open))
      {
        (void)damage::digest_of_query(open, query);
        (void)damage::digest_of_look_up(open, query);
      }
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), expected) << error.what();
      EXPECT_EQ(std::string(error.what()).rfind("lie.bat: ", 0), 0U) << error.what();
      return error.what();
    }
    return {};
  }

  damage::Bytes file = golden("written_3000");
};

TEST_F(Lie, offset_and_size_that_wrap_around_are_outside_of_the_file)
{
  this->in_table<std::uint64_t>(
    SectionKind::Positions, 0, offsetof(format::SectionRecord, offset), ~std::uint64_t{ 7 });
  EXPECT_NE(this->refusal().find("POSITIONS"), std::string::npos);
}

TEST_F(Lie, page_checksums_that_wrap_around_are_outside_of_the_file)
{
  this->in_table<std::uint64_t>(SectionKind::Positions, 0,
    offsetof(format::SectionRecord, checksums_offset), ~std::uint64_t{ 7 });
  EXPECT_NE(this->refusal().find("page checksums of POSITIONS"), std::string::npos);
}

TEST_F(Lie, a_section_table_that_wraps_around_is_outside_of_the_file)
{
  auto header = damage::load<format::Header>(this->file, 0);
  header.section_table_offset = ~std::uint64_t{ 7 };
  damage::store(this->file, 0, header);
  damage::repair_checksums(this->file);
  EXPECT_NE(this->refusal().find("section table"), std::string::npos);
}

TEST_F(Lie, a_section_of_exabytes_is_refused_before_memory_is_asked_for)
{
  allocations::take_largest();
  this->in_table<std::uint64_t>(
    SectionKind::Schema, 0, offsetof(format::SectionRecord, bytes), std::uint64_t{ 1 } << 60);
  EXPECT_NE(this->refusal().find("SCHEMA"), std::string::npos);
  EXPECT_LE(allocations::take_largest(), 64 * this->file.size());
}

TEST_F(Lie, billions_of_sections_are_refused_before_memory_is_asked_for)
{
  auto header = damage::load<format::Header>(this->file, 0);
  header.section_count = 0xFFFFFFFF;
  damage::store(this->file, 0, header);
  damage::repair_checksums(this->file);
  allocations::take_largest();
  EXPECT_NE(this->refusal().find("4294967295"), std::string::npos);
  EXPECT_LE(allocations::take_largest(), 64 * this->file.size());
}

TEST_F(Lie, billions_of_particles_are_refused_before_memory_is_asked_for)
{
  auto header = damage::load<format::Header>(this->file, 0);
  header.particle_count = format::kMaxParticles;
  damage::store(this->file, 0, header);
  damage::repair_checksums(this->file);
  allocations::take_largest();
  EXPECT_NE(this->refusal().find("expected"), std::string::npos);
  EXPECT_LE(allocations::take_largest(), 64 * this->file.size());
}

// A file with a few bytes per thousand identical particles.
TEST(Hostile, particles_that_memory_does_not_hold_are_refused_before_they_are_checked)
{
  if (sanitizers::kPresent)
  {
    GTEST_SKIP() << "the sanitizer has all addresses";
  }
  constexpr std::size_t kCount = 3000000;
  const std::vector<float> positions(3 * kCount, 0.5f);
  bat::ParticleView view;
  view.count = kCount;
  view.positions = bat::ArrayView::packed(bat::ScalarType::Float32, 3, positions.data());
  bat::BuildOptions options;
  options.compression = bat::Compression::Lossless;
  const bat::Bytes encoded = bat::encode(view, options);
  EXPECT_LT(encoded.size(), kCount);
  const bat::File file =
    bat::File::from_memory(damage::Bytes(encoded.begin(), encoded.end()), "alike.bat");
  EXPECT_NO_THROW(bat::validate(file));
  const MemoryLimit limit(std::uint64_t{ 16 } << 20);
  allocations::take_largest();
  const auto refused = bat::attempt([&] { bat::validate(file); });
  EXPECT_LE(allocations::take_largest(), std::size_t{ 1 } << 20);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->code(), bat::ErrorCode::OutOfMemory);
  const std::string text = refused->what();
  EXPECT_EQ(text.rfind("alike.bat: the checks of 3000000 particles need 45.8 MiB; ", 0), 0u)
    << text;
  EXPECT_NE(text.find("MiB of memory are free"), std::string::npos) << text;
}

TEST_F(Lie, treelets_that_add_up_to_other_particles_are_corrupt)
{
  this->in_section<std::uint32_t>(SectionKind::Treelets, 0, 0, 0xFFFFFFFF);
  EXPECT_NE(this->refusal().find("TREELETS"), std::string::npos);
}

TEST_F(Lie, a_treelet_without_particles_is_corrupt)
{
  this->in_section<std::uint32_t>(SectionKind::Treelets, 0, 8, 0);
  EXPECT_NE(this->refusal().find("TREELETS"), std::string::npos);
}

TEST_F(Lie, a_tree_that_goes_in_circles_is_corrupt)
{
  for (const std::uint32_t skip : { 0U, 1U, 2U, 28U, 30U, 0xFFFFFFFFU })
  {
    SCOPED_TRACE(skip);
    this->file = golden("written_3000");
    this->in_section<std::uint32_t>(SectionKind::ShallowTree, 0,
      sizeof(format::NodeRecord) + offsetof(format::NodeRecord, skip), skip);
    EXPECT_NE(this->refusal().find("SHALLOW_TREE"), std::string::npos);
  }
}

TEST_F(Lie, two_nodes_that_agree_on_a_place_outside_of_the_tree_are_corrupt)
{
  // The second names the right child of the first.
  this->in_section<std::uint32_t>(SectionKind::ShallowTree, 0,
    sizeof(format::NodeRecord) + offsetof(format::NodeRecord, skip), 0xFFFFFFFE);
  this->in_section<std::uint32_t>(SectionKind::ShallowTree, 0,
    2 * sizeof(format::NodeRecord) + offsetof(format::NodeRecord, skip), 0xFFFFFFF0);
  EXPECT_NE(this->refusal().find("SHALLOW_TREE"), std::string::npos);
}

TEST_F(Lie, a_section_with_the_checksum_of_something_else_is_corrupt)
{
  const damage::Bytes whole = this->file;
  for (const std::uint64_t record : damage::section_records(whole))
  {
    this->file = whole;
    const auto section = damage::load<format::SectionRecord>(whole, record);
    damage::store(
      this->file, record + offsetof(format::SectionRecord, checksum), section.checksum ^ 1);
    damage::repair_table(this->file);
    EXPECT_FALSE(damage::ask(this->file).sound)
      << "section of kind " << section.kind << ", index " << section.index;
  }
}

TEST_F(Lie, a_node_of_a_treelet_that_does_not_exist_is_corrupt)
{
  this->in_section<std::uint32_t>(
    SectionKind::ShallowTree, 0, offsetof(format::NodeRecord, first_treelet), 0xFFFFFFFF);
  EXPECT_NE(this->refusal().find("SHALLOW_TREE"), std::string::npos);
}

TEST_F(Lie, a_node_whose_box_has_nan_is_corrupt)
{
  this->in_section<double>(
    SectionKind::ShallowTree, 0, 0, std::numeric_limits<double>::quiet_NaN());
  EXPECT_NE(this->refusal().find("SHALLOW_TREE"), std::string::npos);
}

TEST_F(Lie, bins_beyond_the_edges_are_corrupt)
{
  this->in_section<std::uint16_t>(
    SectionKind::TreeletKeys, 0, offsetof(format::TreeletKeyRecord, last_bin), 65535);
  EXPECT_NE(this->refusal().find("TREELET_KEYS 0"), std::string::npos);
}

TEST_F(Lie, edges_that_do_not_ascend_are_corrupt)
{
  this->in_section<double>(SectionKind::BinEdges, 0, 8, -std::numeric_limits<double>::infinity());
  EXPECT_NE(this->refusal().find("BIN_EDGES 0"), std::string::npos);
}

TEST_F(Lie, dictionary_numbers_beyond_the_dictionary_are_corrupt)
{
  this->file = golden("bitmap_bytes_1");
  const auto record = damage::load<format::SectionRecord>(
    this->file, damage::section_record(this->file, SectionKind::BlockBitmaps, 0));
  std::fill_n(this->file.begin() + static_cast<std::ptrdiff_t>(record.offset), record.bytes,
    std::byte{ 255 });
  damage::repair_checksums(this->file);
  EXPECT_NE(this->refusal().find("dictionary"), std::string::npos);
}

TEST_F(Lie, levels_of_treelets_that_do_not_add_up_are_corrupt)
{
  for (const std::uint32_t count : { 0U, 200U, 0xFFFFFFFFU })
  {
    this->file = golden("stable");
    this->in_section<std::uint32_t>(SectionKind::TreeletLevels, 0, 0, count);
    EXPECT_NE(this->refusal().find("TREELET_LEVELS: treelet 0"), std::string::npos) << count;
  }
  // Two treelets, each of which still adds up.
  this->file = golden("stable");
  const auto levels = static_cast<std::uint32_t>(
    bat::File::from_memory(this->file, "stable.bat").level_ends().size());
  const auto record = damage::load<format::SectionRecord>(
    this->file, damage::section_record(this->file, SectionKind::TreeletLevels, 0));
  const std::uint64_t last = record.offset + 4 * (levels - 1);
  ASSERT_GT(damage::load<std::uint32_t>(this->file, last), 0U);
  damage::store(this->file, last, damage::load<std::uint32_t>(this->file, last) - 1);
  damage::store(this->file, last - 4, damage::load<std::uint32_t>(this->file, last - 4) + 1);
  damage::repair_checksums(this->file);
  EXPECT_NE(this->refusal().find("TREELET_LEVELS: level"), std::string::npos);
}

TEST_F(Lie, levels_of_blocks_that_are_not_those_of_their_treelets_are_corrupt)
{
  for (const int byte : { 0, 255, 1 })
  {
    this->file = golden("stable");
    this->in_section<std::uint8_t>(SectionKind::BlockLevels, 0, 0, static_cast<std::uint8_t>(byte));
    EXPECT_NE(this->refusal().find("BLOCK_LEVELS"), std::string::npos) << byte;
  }
}

TEST_F(Lie, samples_of_what_is_no_attribute_of_integers_are_corrupt)
{
  this->file = golden("stable");
  this->in_section<std::uint32_t>(SectionKind::SampleIds, 0, 8, 0); // floating-point
  EXPECT_NE(this->refusal().find("SAMPLE_IDS: id 0: attribute"), std::string::npos);
  this->file = golden("stable");
  this->in_section<std::uint32_t>(SectionKind::SampleIds, 0, 8, 99);
  EXPECT_NE(this->refusal().find("SAMPLE_IDS: id 0: attribute"), std::string::npos);
  this->file = golden("stable");
  this->in_section<std::int16_t>(SectionKind::SampleIds, 0, 12, 1);
  EXPECT_NE(this->refusal().find("SAMPLE_IDS: id 0: component"), std::string::npos);
  this->file = golden("stable");
  this->in_section<std::uint32_t>(SectionKind::SampleIds, 0, 0, 64);
  EXPECT_NE(this->refusal().find("SAMPLE_IDS ends"), std::string::npos);
  for (const std::uint32_t count : { 0u, 65u, 0xFFFFFFFFu })
  {
    this->file = golden("stable");
    this->in_section<std::uint32_t>(SectionKind::SampleIds, 0, 0, count);
    EXPECT_NE(this->refusal().find("1 to 64"), std::string::npos) << this->refusal();
  }
}

TEST_F(Lie, levels_that_do_not_follow_the_hashes_are_found_by_validate)
{
  this->file = golden("stable");
  EXPECT_NO_THROW(bat::validate(bat::File::from_memory(this->file, "stable.bat")));
  // Another integer attribute has other hashes.
  this->in_section<std::uint32_t>(SectionKind::SampleIds, 0, 8, 2);
  EXPECT_EQ(this->refusal(), "");
  try
  {
    bat::validate(bat::File::from_memory(this->file, "lie.bat"));
    ADD_FAILURE() << "valid";
  }
  catch (const bat::Error& error)
  {
    EXPECT_NE(std::string(error.what()).find("SAMPLE_IDS"), std::string::npos) << error.what();
  }
}

TEST_F(Lie, a_name_that_is_not_utf8_is_corrupt)
{
  this->file = golden("seventeen");
  const auto record = damage::load<format::SectionRecord>(
    this->file, damage::section_record(this->file, SectionKind::Schema));
  this->in_section(SectionKind::Schema, 0, record.bytes - 1, std::uint8_t{ 0xff });
  EXPECT_NE(this->refusal().find("not valid UTF-8"), std::string::npos);
}

TEST_F(Lie, block_boxes_that_say_nothing_in_another_way_are_a_complaint)
{
  this->file = golden("not_finite");
  const bat::File before = bat::File::from_memory(this->file, "lie.bat");
  EXPECT_NO_THROW(bat::validate(before));
  const std::uint64_t last = before.block_count() - 1; // such treelets come last
  this->in_section(
    SectionKind::BlockBoxes, 0, last * sizeof(format::BlockBoxRecord) + 4, std::uint8_t{ 254 });
  EXPECT_EQ(this->refusal(), "");
  try
  {
    bat::validate(bat::File::from_memory(this->file, "lie.bat"));
    ADD_FAILURE() << "is sound";
  }
  catch (const bat::Error& error)
  {
    EXPECT_NE(std::string(error.what()).find("0 to 254 on the y axis; expected 0 to 255"),
      std::string::npos)
      << error.what();
  }
}

TEST_F(Lie, two_attributes_of_one_name_are_corrupt)
{
  this->file = golden("names");
  const auto record = damage::load<format::SectionRecord>(
    this->file, damage::section_record(this->file, SectionKind::Schema));
  auto head = damage::load<format::SchemaHead>(this->file, record.offset);
  ASSERT_GE(head.attribute_count, 2U);
  // Both names get the length of the first, and one letter each.
  std::uint64_t name = record.offset + sizeof(format::SchemaHead) +
    head.attribute_count * sizeof(format::AttributeRecord) +
    head.key_count * sizeof(format::KeyRecord);
  std::uint64_t spare = 0;
  for (std::uint64_t k = 0; k != head.attribute_count; ++k)
  {
    const std::uint64_t at =
      record.offset + sizeof(format::SchemaHead) + k * sizeof(format::AttributeRecord);
    auto attribute = damage::load<format::AttributeRecord>(this->file, at);
    const std::uint32_t bytes = attribute.name_bytes;
    attribute.name_bytes = 1;
    spare += bytes - 1;
    damage::store(this->file, at, attribute);
    damage::store(this->file, name + k, 'x');
  }
  const std::uint64_t at = damage::section_record(this->file, SectionKind::Schema);
  auto shorter = record;
  shorter.bytes = shorter.raw_bytes = record.bytes - spare;
  damage::store(this->file, at, shorter);
  damage::repair_checksums(this->file);
  EXPECT_NE(this->refusal().find("occurs twice"), std::string::npos);
}

/// For 1500 particles: a page of 5 values, then 5 pages of entries.
class IndexLie : public Lie
{
protected:
  IndexLie() { this->file = golden("written_index"); }

  static constexpr std::uint32_t kId = 1; ///< key
  static constexpr std::uint64_t entry(std::uint64_t i)
  {
    return (1 + i / format::kIndexEntries) * format::kPageBytes +
      i % format::kIndexEntries * sizeof(format::IndexEntry);
  }

  /// The validator's verdict.
  std::string complaint()
  {
    try
    {
      bat::validate(bat::File::from_memory(this->file, "lie.bat"));
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), bat::ErrorCode::Corrupt);
      return error.what();
    }
    return {};
  }
};

TEST_F(IndexLie, the_truth_is_accepted)
{
  EXPECT_EQ(this->refusal(), "");
  EXPECT_EQ(this->complaint(), "");
}

TEST_F(IndexLie, file_positions_beyond_the_file_are_corrupt)
{
  for (const std::uint32_t position : { 1500U, 0xFFFFFFFFU })
  {
    this->in_section(SectionKind::SortedIndex, kId, entry(0) + 8, position); // smallest id
    EXPECT_NE(this->refusal().find("SORTED_INDEX 1: file position"), std::string::npos);
    EXPECT_NE(this->complaint().find("SORTED_INDEX 1: entry 0"), std::string::npos);
  }
}

TEST_F(IndexLie, a_file_position_that_is_there_twice_is_corrupt)
{
  const auto record = damage::load<format::SectionRecord>(
    this->file, damage::section_record(this->file, SectionKind::SortedIndex, kId));
  const auto smallest = damage::load<std::uint32_t>(this->file, record.offset + entry(0) + 8);
  this->in_section(SectionKind::SortedIndex, kId, entry(1499) + 8, smallest);
  EXPECT_NE(this->refusal().find("SORTED_INDEX 1: file position"), std::string::npos);
  EXPECT_NE(this->complaint().find("SORTED_INDEX 1: entry 1499"), std::string::npos);
}

TEST_F(IndexLie, values_that_do_not_ascend_end_in_an_answer_and_a_complaint)
{
  for (const std::int64_t value : { std::int64_t{ 0 }, INT64_MAX, INT64_MIN })
  {
    for (const std::uint64_t at : { std::uint64_t{ 0 }, std::uint64_t{ 16 }, entry(0), entry(700) })
    {
      this->file = golden("written_index");
      this->in_section(SectionKind::SortedIndex, kId, at, value);
      (void)this->refusal();
      EXPECT_NE(this->complaint().find("SORTED_INDEX 1: "), std::string::npos);
    }
  }
}

TEST_F(IndexLie, nan_in_front_of_other_values_ends_in_an_answer_and_a_complaint)
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::uint64_t at : { std::uint64_t{ 0 }, std::uint64_t{ 16 }, entry(0), entry(700) })
  {
    this->file = golden("written_index");
    this->in_section(SectionKind::SortedIndex, 0, at, nan);
    (void)this->refusal();
    EXPECT_NE(this->complaint().find("SORTED_INDEX 0: "), std::string::npos);
  }
}

TEST_F(IndexLie, bytes_between_pages_that_are_not_zero_are_a_complaint)
{
  for (const std::uint64_t at : { std::uint64_t{ 40 }, std::uint64_t{ 4095 }, entry(341) - 1 })
  {
    this->file = golden("written_index");
    this->in_section(SectionKind::SortedIndex, kId, at, std::byte{ 1 });
    EXPECT_EQ(this->refusal(), "");
    EXPECT_NE(this->complaint().find("SORTED_INDEX 1: bytes"), std::string::npos);
  }
}

TEST_F(IndexLie, of_a_key_that_does_not_exist_is_corrupt)
{
  // The last one, so that the table stays in order.
  this->in_table<std::uint32_t>(
    SectionKind::SortedIndex, 4, offsetof(format::SectionRecord, index), 5);
  EXPECT_NE(this->refusal().find("SORTED_INDEX 5: the file has 5 keys"), std::string::npos);
}

TEST_F(IndexLie, of_another_size_is_corrupt)
{
  for (const std::uint64_t bytes : { 0U, 4096U, 22111U, 22113U })
  {
    this->file = golden("written_index");
    const std::uint64_t at = damage::section_record(this->file, SectionKind::SortedIndex, kId);
    auto record = damage::load<format::SectionRecord>(this->file, at);
    record.bytes = record.raw_bytes = bytes;
    damage::store(this->file, at, record);
    damage::repair_checksums(this->file);
    EXPECT_NE(this->refusal().find("SORTED_INDEX 1"), std::string::npos) << bytes;
  }
}

/// False information about columns in chunks: of positions, 'odd' (float32), 'same' (int16) and
/// others.
class ChunkLie : public Lie
{
protected:
  ChunkLie() { this->file = golden("written_chunks"); }

  /// The column number of an attribute.
  [[nodiscard]] std::uint32_t column(const std::string& name) const
  {
    return 1 +
      static_cast<std::uint32_t>(
        bat::File::from_memory(this->file, "whole.bat").attribute_index(name));
  }

  [[nodiscard]] format::SectionRecord record(SectionKind kind, std::uint32_t index) const
  {
    return damage::load<format::SectionRecord>(
      this->file, damage::section_record(this->file, kind, index));
  }

  [[nodiscard]] std::uint32_t frame_bytes(std::uint32_t column, std::size_t chunk) const
  {
    return damage::load<std::uint32_t>(
      this->file, this->record(SectionKind::ChunkTable, column).offset + frame_at(chunk));
  }

  /// Offset in CHUNK_TABLE.
  static std::size_t frame_at(std::size_t chunk)
  {
    return sizeof(format::ChunkTableHead) + chunk * sizeof(std::uint32_t);
  }

  /// Expects that opening the current file or using it afterwards is rejected, that the validator
  /// rejects it too, and that no more memory is requested than the file justifies.
  void is_refused(const std::string& part, bat::ErrorCode expected = bat::ErrorCode::Corrupt)
  {
    allocations::take_largest();
    const std::string text = this->refusal(expected);
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_FALSE(damage::ask(this->file).sound);
    EXPECT_LE(allocations::take_largest(), 64 * this->file.size());
    this->file = golden("written_chunks");
  }
};

TEST_F(ChunkLie, about_the_size_and_number_of_chunks)
{
  using Head = format::ChunkTableHead;
  for (const std::uint32_t lie : { 0U, 65537U, 0xFFFFFFFFU })
  {
    this->in_section(SectionKind::ChunkTable, 0, offsetof(Head, chunk_particles), lie);
    this->is_refused("CHUNK_TABLE 0, of POSITIONS: chunk_particles is " + std::to_string(lie));
  }
  for (const std::uint32_t lie : { 199U, 300U, 65536U })
  {
    this->in_section(SectionKind::ChunkTable, 0, offsetof(Head, chunk_particles), lie);
    this->is_refused("chunk_count is 3");
  }
  for (const std::uint32_t lie : { 0U, 2U, 4U, 0xFFFFFFFFU })
  {
    this->in_section(SectionKind::ChunkTable, 0, offsetof(Head, chunk_count), lie);
    this->is_refused("chunk_count is " + std::to_string(lie));
  }
  // The same number of chunks, with other particles.
  this->in_section(SectionKind::ChunkTable, 0, offsetof(Head, chunk_particles), 255U);
  this->is_refused("chunk 0 of ");
  this->in_section(SectionKind::ChunkTable, 0, offsetof(Head, reserved), 1U);
  this->is_refused("reserved is 1");
}

TEST_F(ChunkLie, about_the_bound)
{
  using Head = format::ChunkTableHead;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double lie : { std::numeric_limits<double>::quiet_NaN(), -1.0, infinity, -infinity })
  {
    this->in_section(SectionKind::ChunkTable, this->column("odd"), offsetof(Head, bound), lie);
    this->is_refused("bound is ");
  }
  this->in_section(SectionKind::ChunkTable, this->column("same"), offsetof(Head, bound), 0.5);
  this->is_refused("bound is 0.5");
}

TEST_F(ChunkLie, about_the_bytes_of_frames)
{
  const std::uint32_t odd = this->column("odd");
  const std::uint32_t first = this->frame_bytes(odd, 0);
  const std::uint32_t second = this->frame_bytes(odd, 1);
  for (const std::uint32_t lie : { first - 1, first + 1, 0xFFFFFFFFU })
  {
    this->in_section(SectionKind::ChunkTable, odd, frame_at(0), lie);
    this->is_refused("the frames have ");
  }
  const auto moved = [&](std::uint32_t bytes)
  {
    this->in_section(SectionKind::ChunkTable, odd, frame_at(0), first + bytes);
    this->in_section(SectionKind::ChunkTable, odd, frame_at(1), second - bytes);
  };
  moved(0U - first);
  this->is_refused("the frame of chunk 0 is empty");
  moved(second);
  this->is_refused("the frame of chunk 1 is empty");
  moved(1);
  this->is_refused("chunk 0 of attribute 'odd'");
  moved(0U - 1U);
  this->is_refused("chunk 0 of attribute 'odd'");
}

TEST_F(ChunkLie, in_the_section_table)
{
  using Record = format::SectionRecord;
  const std::uint32_t odd = this->column("odd");
  const Record table = this->record(SectionKind::ChunkTable, odd);
  for (const std::uint64_t lie : { std::uint64_t{ 0 }, std::uint64_t{ 24 } })
  {
    // Both, as this section must not be compressed.
    this->in_table(SectionKind::ChunkTable, odd, offsetof(Record, bytes), lie);
    this->in_table(SectionKind::ChunkTable, odd, offsetof(Record, raw_bytes), lie);
    this->is_refused("CHUNK_TABLE " + std::to_string(odd) + " has " + std::to_string(lie));
  }
  for (const std::uint64_t lie : { table.bytes - 4, table.bytes + 4 })
  {
    this->in_table(SectionKind::ChunkTable, odd, offsetof(Record, bytes), lie);
    this->in_table(SectionKind::ChunkTable, odd, offsetof(Record, raw_bytes), lie);
    this->is_refused(lie < table.bytes ? "bytes is 32; " : "model_bytes is 0; ");
  }
  const Record column = this->record(SectionKind::Attribute, odd - 1);
  for (const std::uint64_t lie :
    { std::uint64_t{ 0 }, column.raw_bytes + 4, ~std::uint64_t{ 0 }, std::uint64_t{ 1 } << 40 })
  {
    this->in_table(SectionKind::Attribute, odd - 1, offsetof(Record, raw_bytes), lie);
    this->is_refused("expected");
  }
  this->in_table(SectionKind::Attribute, odd - 1, offsetof(Record, bytes), column.bytes - 1);
  this->is_refused("the frames have ");
  this->in_table(SectionKind::Attribute, odd - 1, offsetof(Record, encoding), format::kRaw);
  this->is_refused(" is raw, but has ");
  this->in_table(SectionKind::Attribute, odd - 1, offsetof(Record, encoding), 2U);
  this->is_refused("encoding 2", bat::ErrorCode::UnsupportedVersion);
  this->in_table(SectionKind::ChunkTable, odd, offsetof(Record, encoding), format::kChunks);
  this->is_refused("encoding 1", bat::ErrorCode::UnsupportedVersion);
  damage::store(this->file, offsetof(format::Header, required_features), std::uint64_t{ 0 });
  damage::repair_checksums(this->file);
  this->is_refused("does not have feature 1");
  // The last table becomes that of a column that has none.
  const std::uint32_t last = this->column("velocity");
  this->in_table(SectionKind::ChunkTable, last, offsetof(Record, index), last + 1);
  this->is_refused("CHUNK_TABLE " + std::to_string(last) + " is missing");
}

TEST_F(ChunkLie, a_table_of_a_column_that_is_raw_is_refused_by_the_validator)
{
  const std::uint32_t bits = this->column("bits");
  ASSERT_EQ(this->record(SectionKind::Attribute, bits - 1).encoding, format::kRaw);
  const format::SectionRecord column = this->record(SectionKind::Attribute, bits - 2);
  ASSERT_EQ(column.encoding, format::kChunks);
  // The table of the previous column gets its number, and that column becomes raw.
  this->in_table(SectionKind::ChunkTable, bits - 1, offsetof(format::SectionRecord, index), bits);
  this->in_table(
    SectionKind::Attribute, bits - 2, offsetof(format::SectionRecord, encoding), format::kRaw);
  EXPECT_FALSE(damage::ask(this->file).sound);
}

TEST_F(ChunkLie, in_models)
{
  using Head = format::ChunkTableHead;
  const std::uint32_t velocity = this->column("velocity");
  const format::SectionRecord table = this->record(SectionKind::ChunkTable, velocity);
  const std::size_t begin =
    frame_at(damage::load<std::uint32_t>(this->file, table.offset + offsetof(Head, chunk_count)));
  const auto model_bytes = static_cast<std::uint32_t>(table.bytes - begin);
  ASSERT_GT(model_bytes, sizeof(double) + 3);
  const std::string name = "CHUNK_TABLE " + std::to_string(velocity) + ", of attribute 'velocity'";
  for (const std::uint32_t lie : { 0U, model_bytes - 1, model_bytes + 1, 0xFFFFFFFFU })
  {
    this->in_section(SectionKind::ChunkTable, velocity, offsetof(Head, model_bytes), lie);
    this->is_refused(name + ": model_bytes is " + std::to_string(lie));
  }
  const auto with_model = [&](std::size_t at, auto value, const std::string& part)
  {
    this->in_section(SectionKind::ChunkTable, velocity, begin + at, value);
    this->is_refused(name);
    this->in_section(SectionKind::ChunkTable, velocity, begin + at, value);
    this->is_refused(part);
  };
  constexpr std::size_t kKind = sizeof(double);
  for (const double lie :
    { std::numeric_limits<double>::quiet_NaN(), -1.0, std::numeric_limits<double>::infinity() })
  {
    with_model(0, lie, "has step ");
  }
  with_model(kKind, std::uint8_t{ 3 }, "a stream ");
  with_model(kKind + 1, std::uint16_t{ 0 }, "a stream has components 0x0");
  with_model(kKind + 1, std::uint16_t{ 8 }, "a stream has components 0x8");
  with_model(kKind + 1, std::uint16_t{ 0xFFFF }, "a stream has components 0xffff");
  // Changes every byte of it: it is rejected, or chunks are, or they have other values.
  for (std::size_t at = 0; at != model_bytes; ++at)
  {
    const auto old = damage::load<std::uint8_t>(this->file, table.offset + begin + at);
    for (const unsigned lie : { old ^ 1U, 255U })
    {
      this->in_section(
        SectionKind::ChunkTable, velocity, begin + at, static_cast<std::uint8_t>(lie));
      allocations::take_largest();
      (void)damage::ask(this->file);
      EXPECT_LE(allocations::take_largest(), 64 * this->file.size());
    }
    this->file = golden("written_chunks");
  }
}

TEST_F(ChunkLie, in_frames)
{
  const std::uint32_t material = this->column("material");
  const format::SectionRecord record = this->record(SectionKind::Attribute, material - 1);
  const std::uint32_t bytes = this->frame_bytes(material, 0);
  const auto with_frame = [&](const std::vector<int>& begin)
  {
    ASSERT_GE(bytes, begin.size());
    for (std::size_t i = 0; i != begin.size(); ++i)
    {
      this->file[record.offset + i] = static_cast<std::byte>(begin[i]);
    }
    damage::repair_checksums(this->file);
  };
  for (const int method : { 0, 1, 3, 4, 255 })
  {
    with_frame({ method });
    this->is_refused("chunk 0 of attribute 'material'");
  }
  // Zstandard frames that declare 2^60 bytes, 2^32 - 1, 255, none, or no size.
  with_frame({ 2, 0, 0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0x10 });
  this->is_refused("chunk 0 of attribute 'material'");
  with_frame({ 2, 0, 0x28, 0xB5, 0x2F, 0xFD, 0xA0, 255, 255, 255, 255 });
  this->is_refused("chunk 0 of attribute 'material'");
  with_frame({ 2, 0, 0x28, 0xB5, 0x2F, 0xFD, 0x20, 255 });
  this->is_refused("chunk 0 of attribute 'material'");
  with_frame({ 2, 0, 0x28, 0xB5, 0x2F, 0xFD, 0x20, 0, 1, 0, 0 });
  this->is_refused("chunk 0 of attribute 'material'");
  with_frame({ 2, 0, 0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xF8 });
  this->is_refused("chunk 0 of attribute 'material'");
}

// A decompression bomb: a chunk of the maximum size consists of one frame of a few bytes.
TEST(Chunks, that_are_larger_than_the_file_take_the_memory_of_its_particles)
{
  bat::BuildOptions options;
  options.compression = bat::Compression::Lossless;
  options.chunk_particles = format::kMaxChunkParticles;
  clouds::Cloud cloud = clouds::uniform(100, 1);
  std::vector<double> wide(900, 0.5);
  wide[899] = 1.5;
  cloud.add("wide", bat::ScalarType::Float64, wide, 9);
  const bat::File file = bat::File::from_memory(bat::encode(cloud.view(), options), "wide.bat");
  ASSERT_TRUE(
    file.impl()
      .column(SectionKind::Attribute, static_cast<std::uint32_t>(file.attribute_index("wide")))
      .has_chunks());
  allocations::take_largest();
  bat::Query query;
  query.ranges.push_back({ "wide", 8, 0.0, 1.0 });
  EXPECT_EQ(file.select(query).count, 99U);
  EXPECT_NO_THROW(bat::validate(file));
  EXPECT_LE(allocations::take_largest(), 1U << 20);
}
}
