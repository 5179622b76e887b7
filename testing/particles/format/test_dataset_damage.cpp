// SPDX-License-Identifier: BSD-3-Clause
// Datasets of several leaf files that are damaged, incomplete, moved, or inconsistent: an error, or
// exactly the particles that were written.

#include "particles/golden/golden_clouds.hpp"
#include "support/allocation_limit.hpp"
#include "support/damage.hpp"
#include "support/dataset_files.hpp"
#include "support/sanitizers.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace
{
namespace fs = std::filesystem;
namespace format = bat::format;
using format::SectionKind;

const fs::path kGolden = BAT_GOLDEN_FOLDER;

bool has(const std::string& text, const std::string& part)
{
  return text.find(part) != std::string::npos;
}

/// A copy of a golden dataset, and the answers of the intact one.
class DamagedDataset : public testing::Test
{
protected:
  DamagedDataset()
  {
    dataset_files::copy(kGolden / "written_dataset.bat", this->top);
    const bat::Dataset dataset = bat::Dataset::open(this->top);
    for (const bat::LeafInfo& leaf : dataset.leaves())
    {
      this->leaves.push_back(leaf.path);
    }
    this->queries = damage::queries_for(dataset);
    this->expected = this->ask();
  }

  [[nodiscard]] std::vector<std::optional<std::uint64_t>> ask() const
  {
    std::vector<std::optional<std::uint64_t>> answers(this->queries.size());
    try
    {
      const bat::Dataset dataset = bat::Dataset::open(this->top);
      for (std::size_t i = 0; i != this->queries.size(); ++i)
      {
        try
        {
          answers[i] = damage::digest_of_query(dataset, this->queries[i]);
        }
        catch (const bat::Error&)
        {
        }
      }
    }
    catch (const bat::Error&)
    {
    }
    return answers;
  }

  /// The first answer that is neither an error nor the right one, or -1.
  [[nodiscard]] int wrong_answer() const
  {
    const auto found = this->ask();
    for (std::size_t i = 0; i != found.size(); ++i)
    {
      if (found[i] && found[i] != this->expected[i])
      {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  [[nodiscard]] bool is_sound() const
  {
    try
    {
      bat::validate(this->top);
      return true;
    }
    catch (const bat::Error&)
    {
      return false;
    }
  }

  /// The text of the error that rejects a query for everything; it names both files.
  [[nodiscard]] std::string refusal(bat::ErrorCode code, const fs::path& leaf) const
  {
    const bat::Dataset dataset = bat::Dataset::open(this->top);
    EXPECT_FALSE(this->is_sound());
    EXPECT_EQ(this->wrong_answer(), -1);
    try
    {
      (void)dataset.select({});
      ADD_FAILURE() << "was answered";
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_TRUE(has(error.what(), leaf.string())) << error.what();
      EXPECT_TRUE(has(error.what(), this->top.string())) << error.what();
      return error.what();
    }
    return {};
  }

  TempDir folder;
  fs::path top = folder / "written_dataset.bat";
  damage::Bytes whole = read_bytes(kGolden / "written_dataset.bat");
  std::vector<fs::path> leaves;
  std::vector<bat::Query> queries;
  std::vector<std::optional<std::uint64_t>> expected;
};

TEST_F(DamagedDataset, is_sound_and_answers_as_long_as_it_is_not_damaged)
{
  EXPECT_TRUE(this->is_sound());
  EXPECT_GE(this->queries.size(), 6U);
  for (const auto& answer : this->expected)
  {
    EXPECT_TRUE(answer);
  }
}

TEST_F(DamagedDataset, a_flipped_bit_of_the_top_file_is_an_error_or_harmless)
{
  for (std::size_t bit = 0; bit != 8 * this->whole.size(); ++bit)
  {
    damage::Bytes file = this->whole;
    damage::flip(file, bit);
    // If the list of leaf files is rejected, some cases are enough; test_bitflip covers all.
    const damage::Answers alone = damage::ask(file);
    if (bit % 7 != 0 && (alone.refused || !alone.parts[2]))
    {
      continue;
    }
    write_bytes(this->top, file);
    ASSERT_EQ(this->wrong_answer(), -1) << "bit " << bit;
    ASSERT_FALSE(this->is_sound()) << "bit " << bit;
  }
}

TEST_F(DamagedDataset, a_top_file_cut_anywhere_gives_no_answer)
{
  for (std::size_t size = 0; size != this->whole.size(); ++size)
  {
    write_bytes(this->top, damage::cut(this->whole, size));
    try
    {
      (void)bat::Dataset::open(this->top);
      FAIL() << "opened when cut at " << size;
    }
    catch (const bat::Error& error)
    {
      ASSERT_EQ(error.code(), bat::ErrorCode::Truncated) << error.what();
    }
  }
}

TEST_F(DamagedDataset, a_flipped_bit_of_a_leaf_file_is_an_error_or_harmless)
{
  const damage::Bytes sound = read_bytes(this->leaves[2]);
  for (std::size_t bit = 0; bit < 8 * sound.size(); bit += 13)
  {
    damage::Bytes file = sound;
    damage::flip(file, bit);
    write_bytes(this->leaves[2], file);
    ASSERT_EQ(this->wrong_answer(), -1) << "bit " << bit;
  }
}

TEST_F(DamagedDataset, a_flipped_bit_of_a_compressed_leaf_file_is_an_error_or_harmless)
{
  golden::DatasetCase c = golden::four_leaf_files();
  c.options.compression = bat::Compression::Lossless;
  dataset_files::write(this->top, c.views, c.options);
  EXPECT_TRUE(this->is_sound());
  EXPECT_TRUE(this->ask() == this->expected) << "compressed files answer otherwise";
  const fs::path leaf = bat::Dataset::open(this->top).leaves()[0].path;
  const damage::Bytes sound = read_bytes(leaf);
  const auto header = damage::load<format::Header>(sound, 0);
  ASSERT_NE(header.required_features & format::kCompressedChunks, 0U);
  for (std::size_t bit = 0; bit < 8 * sound.size(); bit += 37)
  {
    damage::Bytes file = sound;
    damage::flip(file, bit);
    write_bytes(leaf, file);
    ASSERT_EQ(this->wrong_answer(), -1) << "bit " << bit;
  }

  // A caller that requests it is informed of the chunk, and gets the other leaf files.
  write_bytes(leaf, sound);
  const bat::Dataset dataset = bat::Dataset::open(this->top);
  const bat::DatasetSelection all = dataset.select({});
  const std::size_t id = dataset.attribute_index("id");
  std::vector<std::int64_t> whole(all.count);
  dataset.read_attribute(id, all, whole.data());
  const auto record = damage::load<format::SectionRecord>(
    sound, damage::section_record(sound, SectionKind::Attribute, static_cast<std::uint32_t>(id)));
  ASSERT_EQ(record.encoding, format::kChunks);
  damage::Bytes file = sound;
  damage::flip(file, 8 * record.offset + 3);
  write_bytes(leaf, file);
  std::vector<std::string> reported;
  bat::QueryOptions options;
  options.on_damage = [&](std::size_t number, const bat::Error& error)
  {
    EXPECT_EQ(number, 0U);
    reported.emplace_back(error.what());
  };
  std::vector<std::int64_t> rest(all.count);
  const bat::Dataset damaged = bat::Dataset::open(this->top);
  damaged.read_attribute(id, all, rest.data(), options);
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_TRUE(has(reported[0], "attribute 'id'") && has(reported[0], "chunk 0")) << reported[0];
  const auto first = static_cast<std::ptrdiff_t>(all.parts[0].selection.count);
  EXPECT_TRUE(std::equal(rest.begin() + first, rest.end(), whole.begin() + first));
}

TEST_F(DamagedDataset, a_top_file_that_lies_gives_an_error_or_fewer_particles_never_others)
{
  const std::size_t limit = 64 * this->whole.size() + (4U << 20);
  std::uint64_t opened = 0;
  std::uint64_t sound = 0;
  for (std::uint64_t seed = 0; seed != sanitizers::some_of(6000); ++seed)
  {
    damage::Random random(seed);
    damage::Bytes file = this->whole;
    for (std::uint64_t lies = 1 + random() % 3; lies != 0; --lies)
    {
      const damage::Region region = damage::random_region(file, random);
      damage::poke(file, region.begin, region.bytes, random);
      damage::repair_checksums(file);
    }
    write_bytes(this->top, file);
    allocations::take_largest();
    try
    {
      const bat::Dataset dataset = bat::Dataset::open(this->top);
      for (std::size_t i = 0; i != this->queries.size(); ++i)
      {
        try
        {
          (void)damage::digest_of_query(dataset, this->queries[i]);
          ++opened;
        }
        catch (const bat::Error&)
        {
        }
      }
      bat::validate(dataset);
      ++sound;
      // A dataset that the validator accepts has the same leaf files, and therefore the same
      // particles.
      ASSERT_EQ(this->wrong_answer(), -1) << "seed " << seed;
    }
    catch (const bat::Error&)
    {
    }
    ASSERT_LE(allocations::take_largest(), limit) << "seed " << seed;
  }
  EXPECT_GT(opened, sanitizers::some_of(1000));
  std::printf("%llu answers, %llu sound files\n", static_cast<unsigned long long>(opened),
    static_cast<unsigned long long>(sound));
}

TEST_F(DamagedDataset, a_missing_leaf_file_is_not_found)
{
  for (std::size_t i = 0; i != this->leaves.size(); ++i)
  {
    fs::rename(this->leaves[i], this->folder / "kept");
    const std::string text = this->refusal(bat::ErrorCode::NotFound, this->leaves[i]);
    EXPECT_TRUE(has(text, "leaf file " + std::to_string(i + 1) + " of 4")) << text;
    fs::rename(this->folder / "kept", this->leaves[i]);
  }
  EXPECT_TRUE(this->is_sound());
}

TEST_F(DamagedDataset, swapped_leaf_files_are_found_out)
{
  fs::rename(this->leaves[0], this->folder / "kept");
  fs::rename(this->leaves[1], this->leaves[0]);
  fs::rename(this->folder / "kept", this->leaves[1]);
  (void)this->refusal(bat::ErrorCode::Corrupt, this->leaves[0]);
}

TEST_F(DamagedDataset, a_leaf_file_of_another_dataset_is_found_out)
{
  for (const char* other : { "small.bat", "empty.bat", "written_7.bat" })
  {
    fs::copy_file(kGolden / other, this->leaves[1], fs::copy_options::overwrite_existing);
    EXPECT_TRUE(
      has(this->refusal(bat::ErrorCode::Corrupt, this->leaves[1]), "differs from the file"));
  }
}

TEST_F(DamagedDataset, the_same_particles_of_another_time_step_are_found_out)
{
  golden::DatasetCase again = golden::four_leaf_files();
  again.views[0].step = 5;
  bat::write_file(this->leaves[0], again.views[0], again.options);
  EXPECT_TRUE(
    has(this->refusal(bat::ErrorCode::Corrupt, this->leaves[0]), "differs from the file"));
}

TEST_F(DamagedDataset, a_leaf_file_that_is_a_top_file_is_refused)
{
  fs::remove(this->leaves[1]);
  fs::copy_file(this->top, this->leaves[1]);
  EXPECT_TRUE(has(
    this->refusal(bat::ErrorCode::UnsupportedVersion, this->leaves[1]), "top file of a dataset"));
}

TEST_F(DamagedDataset, a_leaf_file_that_is_a_folder_or_nothing_of_the_kind_is_refused)
{
  fs::remove(this->leaves[1]);
  fs::create_directory(this->leaves[1]);
  (void)this->refusal(bat::ErrorCode::CannotOpen, this->leaves[1]);
  fs::remove(this->leaves[1]);
  write_bytes(this->leaves[1], {});
  (void)this->refusal(bat::ErrorCode::Truncated, this->leaves[1]);
  write_bytes(this->leaves[1], damage::Bytes(500, std::byte{ 'x' }));
  (void)this->refusal(bat::ErrorCode::NotABatFile, this->leaves[1]);
}

TEST_F(DamagedDataset, a_top_file_as_a_leaf_file_says_what_it_is)
{
  try
  {
    (void)bat::File::open(this->top);
    FAIL() << "was opened";
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), bat::ErrorCode::UnsupportedVersion);
    EXPECT_TRUE(has(error.what(), "top file of a dataset with several leaf files")) << error.what();
  }
}

TEST_F(DamagedDataset, a_top_file_without_its_leaf_files_describes_and_does_not_answer)
{
  fs::create_directory(this->folder / "alone");
  fs::rename(this->top, this->folder / "alone/x.bat");
  this->top = this->folder / "alone/x.bat";
  const bat::Dataset dataset = bat::Dataset::open(this->top);
  EXPECT_EQ(dataset.particle_count(), 124U);
  EXPECT_EQ(dataset.leaves().size(), 4U);
  (void)this->refusal(bat::ErrorCode::NotFound, dataset.leaves()[0].path.parent_path());
}

TEST_F(DamagedDataset, works_elsewhere_renamed_and_through_links)
{
  const auto same = [&] { return this->is_sound() && this->ask() == this->expected; };
  fs::create_directories(this->folder / "a/b");
  fs::rename(this->top, this->folder / "a/b/written_dataset.bat");
  fs::rename(this->top.string() + ".leaves", this->folder / "a/b/written_dataset.bat.leaves");
  this->top = this->folder / "a/b/written_dataset.bat";
  EXPECT_TRUE(same());
  fs::rename(this->top, this->folder / "a/b/renamed.bat");
  this->top = this->folder / "a/b/renamed.bat";
  EXPECT_TRUE(same());
  fs::create_symlink("a/b/renamed.bat", this->folder / "relative.bat");
  fs::create_symlink(this->folder / "relative.bat", this->folder / "a/absolute.bat");
  fs::create_directory_symlink("a/b", this->folder / "c");
  for (const char* path : { "relative.bat", "a/absolute.bat", "c/renamed.bat" })
  {
    this->top = this->folder / path;
    EXPECT_TRUE(same()) << path;
  }
  const fs::path before = fs::current_path();
  fs::current_path(this->folder / "a/b");
  this->top = "renamed.bat";
  EXPECT_TRUE(same());
  fs::current_path(before);
}

/// An intact dataset whose top file has one wrong field.
class TopLie : public DamagedDataset
{
protected:
  template <class T>
  void in_section(SectionKind kind, std::uint64_t at, T value)
  {
    damage::Bytes file = this->whole;
    const auto record =
      damage::load<format::SectionRecord>(file, damage::section_record(file, kind));
    ASSERT_LE(at + sizeof(T), record.bytes);
    damage::store(file, record.offset + at, value);
    damage::repair_checksums(file);
    write_bytes(this->top, file);
  }
  template <class T>
  void in_leaf_files(std::uint64_t at, T value)
  {
    this->in_section(SectionKind::LeafFiles, at, value);
  }

  /// The text of the error that rejects the top file before any leaf file is read.
  [[nodiscard]] std::string lie() const
  {
    EXPECT_FALSE(this->is_sound());
    allocations::take_largest();
    std::string text;
    try
    {
      (void)bat::Dataset::open(this->top).select({});
      ADD_FAILURE() << "was answered";
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), bat::ErrorCode::Corrupt) << error.what();
      EXPECT_EQ(std::string(error.what()).rfind(this->top.string() + ": ", 0), 0U) << error.what();
      text = error.what();
    }
    EXPECT_LE(allocations::take_largest(), 64 * this->whole.size());
    return text;
  }

  static constexpr std::uint64_t kLeaf = sizeof(format::LeafFilesHead);
  static constexpr std::uint64_t kKeys = kLeaf + 4 * sizeof(format::LeafRecord);
};

TEST_F(TopLie, about_the_number_of_leaf_files)
{
  for (const std::uint32_t count : { 0U, 3U, 5U, 1U << 24, 0xFFFFFFFFU })
  {
    this->in_leaf_files<std::uint32_t>(0, count);
    EXPECT_TRUE(has(this->lie(), "LEAF_FILES")) << count;
  }
}

TEST_F(TopLie, about_the_number_of_attributes_or_keys)
{
  for (const std::uint32_t count : { 0U, 2U, 4U, 65535U, 0xFFFFFFFFU })
  {
    this->in_section<std::uint32_t>(SectionKind::Schema, 0, count);
    EXPECT_TRUE(has(this->lie(), "SCHEMA")) << count;
    if (count != 0)
    {
      this->in_section<std::uint32_t>(SectionKind::Schema, 4, count);
      EXPECT_TRUE(has(this->lie(), "SCHEMA")) << count;
    }
  }
}

TEST_F(TopLie, about_levels_treelets_and_blocks_that_it_does_not_have)
{
  for (const std::uint64_t at : { 8, 12, 16, 20, 24 })
  {
    this->in_section<std::uint32_t>(SectionKind::Schema, at, 1);
    EXPECT_TRUE(has(this->lie(), "a top file has levels, treelets or blocks")) << at;
  }
}

TEST_F(TopLie, about_particles)
{
  for (const std::uint64_t particles : { std::uint64_t{ 0 }, std::uint64_t{ 1 },
         std::uint64_t{ 71 }, std::uint64_t{ 1 } << 32, ~std::uint64_t{ 0 } })
  {
    this->in_leaf_files<std::uint64_t>(kLeaf, particles);
    EXPECT_TRUE(has(this->lie(), "LEAF_FILES")) << particles;
  }
  auto header = damage::load<format::Header>(this->whole, 0);
  for (const std::uint64_t particles : { std::uint64_t{ 0 }, std::uint64_t{ 125 },
         format::kMaxParticles * format::kMaxLeafFiles, ~std::uint64_t{ 0 } })
  {
    damage::Bytes file = this->whole;
    header.particle_count = particles;
    damage::store(file, 0, header);
    damage::repair_checksums(file);
    write_bytes(this->top, file);
    EXPECT_TRUE(has(this->lie(), "particles")) << particles;
  }
}

TEST_F(TopLie, in_a_record_of_a_leaf_file)
{
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const std::uint64_t at : { 24, 32, 40, 48, 56, 64 })
  {
    for (const double value : { nan, inf, -inf, at < 48 ? 1e300 : -1e300 })
    {
      this->in_leaf_files<double>(kLeaf + at, value);
      EXPECT_TRUE(has(this->lie(), "leaf file 0")) << at << ", " << value;
    }
  }
  // Leaf file 3 has no finite particle; on all axes, or on none.
  this->in_leaf_files<double>(kLeaf + 3 * sizeof(format::LeafRecord) + 32, 0.0);
  EXPECT_TRUE(has(this->lie(), "leaf file 3"));
  this->in_leaf_files<std::uint32_t>(kLeaf + 76, 2);
  EXPECT_TRUE(has(this->lie(), "leaf file 0"));
  this->in_leaf_files<std::uint32_t>(kLeaf + 76, 1);
  EXPECT_TRUE(has(this->lie(), "AGGREGATION_TREE"));
  this->in_leaf_files<std::uint32_t>(4, 1);
  EXPECT_TRUE(has(this->lie(), "LEAF_FILES"));
}

TEST_F(TopLie, in_a_key_of_a_leaf_file)
{
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  this->in_leaf_files<double>(kKeys, nan);
  EXPECT_TRUE(has(this->lie(), "key 0 of leaf file 0"));
  this->in_leaf_files<double>(kKeys + 8, nan);
  EXPECT_TRUE(has(this->lie(), "key 0 of leaf file 0"));
  this->in_leaf_files<std::uint32_t>(kKeys + 7 * sizeof(format::LeafKeyRecord) + 16, 2);
  EXPECT_TRUE(has(this->lie(), "key 1 of leaf file 1"));
  this->in_leaf_files<std::uint32_t>(kKeys + 20, 1);
  EXPECT_TRUE(has(this->lie(), "key 0 of leaf file 0"));
}

TEST_F(TopLie, in_names_that_lead_elsewhere)
{
  const auto entry = [&](std::uint64_t leaf)
  { return "written_dataset.bat.leaves/" + this->leaves[leaf].filename().string(); };
  const std::size_t size = entry(0).size();
  const std::vector<std::string> names{ "/etc/passwd", "../", "..", "/", ".", "./", "../b", ".",
    "a//b", "a/", "a/./b", std::string("a\0b", 3), std::string(1, '\0'), entry(1) };
  for (std::string name : names)
  {
    damage::Bytes file = this->whole;
    const auto rewrite = [&](bat::TopContents& contents)
    {
      contents.leaves[0].name = name;
      contents.leaves[0].record.name_bytes = static_cast<std::uint32_t>(name.size());
    };
    const TempDir other;
    dataset_files::write(other / "written_dataset.bat", golden::four_leaf_files().views,
      golden::four_leaf_files().options, rewrite);
    fs::copy_file(other / "written_dataset.bat", this->top, fs::copy_options::overwrite_existing);
    EXPECT_TRUE(has(this->lie(), "the name of leaf file")) << name;
  }
  this->in_leaf_files<std::uint32_t>(kLeaf + 72, 0);
  EXPECT_TRUE(has(this->lie(), "leaf file 0"));
  this->in_leaf_files<std::uint32_t>(kLeaf + 72, 0xFFFFFFFF);
  EXPECT_TRUE(has(this->lie(), "ends within a name"));
  this->in_leaf_files<std::uint32_t>(kLeaf + 72, static_cast<std::uint32_t>(size - 1));
  EXPECT_TRUE(has(this->lie(), "LEAF_FILES"));
}

TEST_F(TopLie, in_a_tree_that_goes_in_circles_or_has_no_boxes)
{
  constexpr auto node = sizeof(format::NodeRecord);
  for (const std::uint64_t i : { 0, 1, 2, 6 })
  {
    for (const std::uint32_t skip : { 0U, 1U, 2U, 4U, 6U, 8U, 0xFFFFFFFFU })
    {
      const auto record = damage::load<format::SectionRecord>(
        this->whole, damage::section_record(this->whole, SectionKind::AggregationTree));
      if (damage::load<format::NodeRecord>(this->whole, record.offset + i * node).skip == skip)
      {
        continue;
      }
      this->in_section<std::uint32_t>(SectionKind::AggregationTree, i * node + 52, skip);
      EXPECT_TRUE(has(this->lie(), "AGGREGATION_TREE")) << i << ", " << skip;
    }
    this->in_section<std::uint32_t>(SectionKind::AggregationTree, i * node + 48, 4);
    EXPECT_TRUE(has(this->lie(), "AGGREGATION_TREE")) << i;
    this->in_section<double>(
      SectionKind::AggregationTree, i * node, std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(has(this->lie(), "AGGREGATION_TREE")) << i;
  }
}

TEST_F(TopLie, about_leaf_files_that_only_the_validator_can_see)
{
  // Each changes a number that a query trusts, and that leaf files or LEAF_FILES contradict.
  const auto minimum = offsetof(format::KeyRecord, minimum);
  const std::uint64_t key = sizeof(format::SchemaHead) + 3 * sizeof(format::AttributeRecord);
  for (const auto& [kind, at] : std::vector<std::pair<SectionKind, std::uint64_t>>{
         { SectionKind::Schema, 32 }, { SectionKind::Schema, key + minimum },
         { SectionKind::AggregationTree, 24 + 3 * sizeof(format::NodeRecord) },
         { SectionKind::LeafFiles, kLeaf + 24 }, { SectionKind::LeafFiles, kKeys } })
  {
    this->in_section<double>(kind, at, kind == SectionKind::AggregationTree ? 90.0 : -90.0);
    EXPECT_FALSE(this->is_sound()) << static_cast<int>(kind) << " at " << at;
  }
}

TEST_F(TopLie, about_features_that_nobody_knows)
{
  damage::Bytes file = this->whole;
  damage::store<std::uint64_t>(
    file, offsetof(format::Header, required_features), format::kSeveralLeafFiles | 8);
  damage::repair_checksums(file);
  write_bytes(this->top, file);
  try
  {
    (void)bat::Dataset::open(this->top);
    ADD_FAILURE() << "was opened";
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), bat::ErrorCode::UnsupportedVersion);
    EXPECT_TRUE(has(error.what(), "features 0x8, which this library does not support"))
      << error.what();
  }
}

TEST_F(TopLie, in_sections_that_a_top_file_must_not_have_or_lacks)
{
  const auto rename_to = [&](std::uint32_t from, std::uint32_t kind, std::uint32_t index)
  {
    damage::Bytes file = this->whole;
    const std::uint64_t at = damage::section_record(file, static_cast<SectionKind>(from));
    auto record = damage::load<format::SectionRecord>(file, at);
    record.kind = kind;
    record.index = index;
    damage::store(file, at, record);
    damage::repair_checksums(file);
    write_bytes(this->top, file);
  };
  rename_to(2, 3, 0);
  EXPECT_FALSE(this->is_sound());
  rename_to(14, 14, 1);
  EXPECT_TRUE(has(this->lie(), "LEAF_FILES is missing"));
  rename_to(14, 15, 0);
  EXPECT_TRUE(has(this->lie(), "LEAF_FILES is missing"));
  rename_to(13, 13, 1);
  EXPECT_TRUE(has(this->lie(), "AGGREGATION_TREE is missing"));
}
}
