// SPDX-License-Identifier: BSD-3-Clause
// Datasets of several leaf files from the user's point of view.

#include "support/dataset_files.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

namespace
{
namespace fs = std::filesystem;

constexpr std::uint64_t kParticles = 6000;
constexpr std::size_t kLeaves = 5;

class Dataset : public testing::Test
{
protected:
  Dataset()
  {
    std::vector<bat::ParticleView> views;
    for (const clouds::Cloud& part : this->parts)
    {
      views.push_back(part.view());
    }
    views[0].time = 0.5;
    views[0].step = 7;
    views[0].metadata = R"({"title":"five"})";
    dataset_files::write(this->path, views);
  }

  /// The error of a call, which must name the dataset.
  template <class F>
  std::string error(bat::ErrorCode code, F&& call) const
  {
    try
    {
      call();
    }
    catch (const bat::Error& e)
    {
      EXPECT_EQ(e.code(), code) << e.what();
      EXPECT_NE(std::string(e.what()).find(this->path.string()), std::string::npos) << e.what();
      return e.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }

  static bat::Query range(const char* attribute, bat::Number lower, bat::Number upper)
  {
    bat::Query query;
    query.ranges = { { attribute, std::nullopt, lower, upper } };
    return query;
  }

  TempDir folder;
  fs::path path = folder / "out.bat";
  clouds::Cloud cloud = clouds::uniform(kParticles, 3);
  std::vector<clouds::Cloud> parts = dataset_files::slabs(cloud, kLeaves);
};

TEST_F(Dataset, gives_its_leaf_files)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  for (std::size_t leaf = 0; leaf != kLeaves; ++leaf)
  {
    const bat::File& file = dataset.leaf_file(leaf);
    EXPECT_EQ(file.name(), dataset.leaves()[leaf].path.string());
    EXPECT_EQ(file.particle_count(), this->parts[leaf].count);
    EXPECT_EQ(&file, &dataset.leaf_file(leaf));
  }
  EXPECT_THROW((void)dataset.leaf_file(kLeaves), bat::Error);
}

TEST_F(Dataset, describes_itself_without_its_leaf_files)
{
  fs::rename(this->path.string() + ".leaves", this->folder / "elsewhere");
  EXPECT_TRUE(bat::Dataset::can_open(this->path));
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  EXPECT_EQ(dataset.name(), this->path.string());
  EXPECT_EQ(dataset.format_version(), "1.0");
  EXPECT_EQ(dataset.particle_count(), kParticles);
  EXPECT_EQ(dataset.position_type(), bat::ScalarType::Float32);
  EXPECT_EQ(dataset.time(), 0.5);
  EXPECT_EQ(dataset.step(), 7);
  EXPECT_NE(dataset.metadata().find("five"), std::string::npos);
  EXPECT_EQ(dataset.single_file(), nullptr);
  const std::vector<std::string> names{ "temperature", "density", "noise", "id", "material",
    "velocity" };
  EXPECT_EQ(dataset.attribute_names(), names);
  EXPECT_EQ(dataset.attribute_index("id"), 3U);
  EXPECT_EQ(dataset.bytes_per_particle(), 12U + 8 + 4 + 8 + 8 + 1 + 24);
  EXPECT_EQ(dataset.data_bytes(), kParticles * dataset.bytes_per_particle());

  const bat::File whole = bat::File::from_memory(bat::encode(this->cloud.view()), "whole");
  ASSERT_TRUE(dataset.bounds());
  EXPECT_EQ(dataset.bounds()->lower, whole.bounds()->lower);
  EXPECT_EQ(dataset.bounds()->upper, whole.bounds()->upper);
  for (std::size_t k = 0; k != names.size(); ++k)
  {
    const bat::Attribute& found = dataset.attributes()[k];
    const bat::Attribute& expected = whole.attributes()[k];
    EXPECT_EQ(found.type, expected.type);
    EXPECT_EQ(found.components, expected.components);
    ASSERT_EQ(found.keys.size(), expected.keys.size());
    for (std::size_t i = 0; i != found.keys.size(); ++i)
    {
      EXPECT_EQ(found.keys[i].component, expected.keys[i].component);
      EXPECT_EQ(found.keys[i].minimum, expected.keys[i].minimum);
      EXPECT_EQ(found.keys[i].maximum, expected.keys[i].maximum);
      EXPECT_EQ(found.keys[i].has_nan, expected.keys[i].has_nan);
    }
  }

  const std::vector<bat::LeafInfo>& leaves = dataset.leaves();
  ASSERT_EQ(leaves.size(), kLeaves);
  for (std::size_t i = 0; i != kLeaves; ++i)
  {
    EXPECT_EQ(leaves[i].particles, this->parts[i].count);
    EXPECT_EQ(leaves[i].path.parent_path(), this->path.string() + ".leaves");
    EXPECT_EQ(
      leaves[i].file_bytes, fs::file_size(this->folder / "elsewhere" / leaves[i].path.filename()));
    ASSERT_TRUE(leaves[i].bounds);
  }
  EXPECT_LE(leaves[0].bounds->upper[0], leaves[1].bounds->lower[0]);
  EXPECT_LE(dataset.bytes_read(), 2 * fs::file_size(this->path));
  (void)this->error(bat::ErrorCode::NotFound, [&] { (void)dataset.select({}); });
}

TEST_F(Dataset, counts_the_bytes_of_all_files)
{
  std::uint64_t bytes = fs::file_size(this->path);
  for (const auto& entry : fs::directory_iterator(this->path.string() + ".leaves"))
  {
    bytes += entry.file_size();
  }
  EXPECT_EQ(bat::Dataset::open(this->path).file_bytes(), bytes);
}

TEST_F(Dataset, a_quality_is_that_of_each_leaf_file)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  for (const double q : { 0.0, 1e-9, 0.001, 0.1, 1.0 / 3, 0.5, 0.999, 1.0 })
  {
    std::uint64_t expected = 0;
    for (const clouds::Cloud& part : this->parts)
    {
      const auto n = static_cast<double>(part.count);
      expected += std::min(part.count, static_cast<std::uint64_t>(std::ceil(q * n)));
    }
    EXPECT_EQ(dataset.particles_at(q), expected) << q;
    bat::Query query;
    query.quality = q;
    EXPECT_EQ(dataset.select(query).count, expected) << q;
  }
  for (const double q : { -1e-300, 1.0000001, std::nan("") })
  {
    (void)this->error(bat::ErrorCode::InvalidArgument, [&] { (void)dataset.particles_at(q); });
  }
}

TEST_F(Dataset, upper_bound_is_one_and_leaf_files_apart_from_the_query_stay_closed)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  const bat::Box first = *dataset.leaves()[0].bounds;
  fs::remove(dataset.leaves()[4].path);
  fs::remove(dataset.leaves()[3].path);
  bat::Query in_box;
  in_box.box = first;
  EXPECT_GE(dataset.upper_bound(in_box), this->parts[0].count);
  EXPECT_LT(dataset.upper_bound(in_box), kParticles / 2);
  EXPECT_GE(dataset.select(in_box).count, this->parts[0].count);
  // The temperature follows x.
  const bat::Query cold = range("temperature", -1e9, 340.0);
  EXPECT_GE(dataset.upper_bound(cold), dataset.select(cold).count);
  EXPECT_GT(dataset.select(cold).count, 0U);
  EXPECT_EQ(dataset.upper_bound(range("temperature", 1e8, 1e9)), 0U);
  EXPECT_EQ(dataset.select(range("temperature", 1e8, 1e9)).count, 0U);
  bat::Query part;
  part.parts = 20;
  EXPECT_EQ(dataset.select(part).count, kParticles / 20);
  EXPECT_EQ(dataset.upper_bound(part), kParticles / 20);
  part.part = 19;
  const std::string gone =
    this->error(bat::ErrorCode::NotFound, [&] { (void)dataset.select(part); });
  EXPECT_NE(gone.find("does not exist; leaf file 5 of 5 in"), std::string::npos) << gone;
}

TEST_F(Dataset, parts_have_their_share_and_add_up)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  for (const std::uint32_t parts : { 1U, 2U, 7U, 6001U, 0xFFFFFFFFU })
  {
    std::uint64_t total = 0;
    for (std::uint32_t k = 0; k != std::min(parts, 40U); ++k)
    {
      bat::Query query;
      query.parts = parts;
      query.part = static_cast<std::uint32_t>(std::uint64_t{ parts } * k / std::min(parts, 40U));
      const auto end = [&](std::uint64_t p) { return kParticles * p / parts; };
      const std::uint64_t count = dataset.select(query).count;
      EXPECT_EQ(count, end(query.part + std::uint64_t{ 1 }) - end(query.part));
      total += count;
    }
    EXPECT_TRUE(parts > 40 || total == kParticles);
  }
}

TEST_F(Dataset, wrong_questions_are_errors_that_say_what_there_is)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  const auto invalid = bat::ErrorCode::InvalidArgument;
  const std::string message =
    this->error(invalid, [&] { (void)dataset.attribute_index("no such"); });
  EXPECT_NE(message.find("no such"), std::string::npos) << message;
  EXPECT_NE(message.find("temperature"), std::string::npos) << message;
  (void)this->error(invalid, [&] { (void)dataset.select(range("no such", 0.0, 1.0)); });
  (void)this->error(invalid, [&] { (void)dataset.upper_bound(range("no such", 0.0, 1.0)); });
  (void)this->error(invalid, [&] { (void)dataset.select(range("id", 1.0, 0.0)); });
  (void)this->error(invalid, [&] { (void)dataset.select(range("id", std::nan(""), 0.0)); });
  bat::Query query;
  query.part = 3;
  query.parts = 3;
  (void)this->error(invalid, [&] { (void)dataset.select(query); });
  query = {};
  query.parts = 0;
  (void)this->error(invalid, [&] { (void)dataset.select(query); });
  query = {};
  query.quality = 0.2;
  query.after_quality = 0.3;
  (void)this->error(invalid, [&] { (void)dataset.select(query); });
  (void)this->error(invalid, [&] { dataset.read_attribute(6, dataset.select({}), nullptr); });
}

TEST_F(Dataset, of_one_leaf_file_is_that_file)
{
  const fs::path one = this->folder / "one.bat";
  bat::write_file(one, this->cloud.view());
  const bat::Dataset dataset = bat::Dataset::open(one);
  const bat::File file = bat::File::open(one);
  ASSERT_NE(dataset.single_file(), nullptr);
  EXPECT_EQ(dataset.single_file()->treelet_count(), file.treelet_count());
  ASSERT_EQ(dataset.leaves().size(), 1U);
  EXPECT_EQ(dataset.leaves()[0].path, one);
  EXPECT_EQ(dataset.file_bytes(), file.file_bytes());
  const bat::DatasetSelection found = dataset.select(range("temperature", 400.0, 500.0));
  const bat::Selection expected = file.select(range("temperature", 400.0, 500.0));
  ASSERT_EQ(found.parts.size(), 1U);
  EXPECT_EQ(found.count, expected.count);
  EXPECT_EQ(found.tested, expected.tested);
}

TEST_F(Dataset, answers_many_threads_that_ask_first_at_once)
{
  const auto parse_ids = [](const bat::Dataset& dataset)
  {
    bat::Query query = range("temperature", 350.0, 700.0);
    query.quality = 0.5;
    const bat::DatasetSelection found = dataset.select(query, { 2 });
    std::vector<std::int64_t> ids(found.count);
    dataset.read_attribute(3, found, ids.data(), { 2 });
    return ids;
  };
  const std::vector<std::int64_t> expected = parse_ids(bat::Dataset::open(this->path));
  ASSERT_GT(expected.size(), 1000U);
  for (int round = 0; round != 10; ++round)
  {
    const bat::Dataset dataset = bat::Dataset::open(this->path);
    std::atomic<int> waiting{ 8 };
    std::atomic<int> wrong{ 0 };
    std::vector<std::thread> threads;
    for (int t = 0; t != 8; ++t)
    {
      threads.emplace_back(
        [&]
        {
          for (--waiting; waiting != 0;)
          {
            std::this_thread::yield();
          }
          (void)dataset.bytes_read();
          wrong += parse_ids(dataset) != expected || dataset.leaves().size() != kLeaves;
        });
    }
    for (std::thread& thread : threads)
    {
      thread.join();
    }
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(Dataset, can_be_moved_and_leaves_its_leaf_files_readable)
{
  bat::Dataset a = bat::Dataset::open(this->path);
  (void)a.select({});
  bat::Dataset b = std::move(a);
  EXPECT_EQ(b.select({}).count, kParticles);
  a = bat::Dataset::open(b.leaves()[0].path);
  EXPECT_EQ(a.select({}).count, this->parts[0].count);
}

TEST_F(Dataset, once_open_needs_no_names)
{
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  const bat::DatasetSelection all = dataset.select({});
  fs::remove_all(this->path.string() + ".leaves");
  fs::remove(this->path);
  std::vector<std::int64_t> ids(all.count);
  dataset.read_attribute(3, all, ids.data());
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids.front(), (std::int64_t{ 1 } << 53) + 1);
  EXPECT_EQ(ids.back(), (std::int64_t{ 1 } << 53) + static_cast<std::int64_t>(kParticles));
}

TEST_F(Dataset, tells_of_every_read)
{
  std::atomic<std::uint64_t> reported{ 0 };
  bat::OpenOptions options;
  options.on_read = [&](std::uint64_t, std::uint64_t bytes) { reported += bytes; };
  const bat::Dataset dataset = bat::Dataset::open(this->path, options);
  (void)dataset.select(range("noise", 0.0, 0.1));
  EXPECT_EQ(reported, dataset.bytes_read());
}
}
