// SPDX-License-Identifier: BSD-3-Clause
// More open files than a process may have descriptors.

#include "common/io/open_files.hpp"

#include "support/dataset_files.hpp"
#include "support/descriptor_limit.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace
{
namespace fs = std::filesystem;

std::size_t descriptors_of_the_process()
{
  return names_in("/proc/self/fd").size();
}

std::vector<std::int64_t> sorted_ids(const bat::Dataset& dataset, const bat::DatasetSelection& all)
{
  std::vector<std::int64_t> ids(all.count);
  dataset.read_attribute(dataset.attribute_index("id"), all, ids.data());
  std::sort(ids.begin(), ids.end());
  return ids;
}

class OpenFiles : public testing::Test
{
protected:
  TempDir folder;
  fs::path path = folder / "out.bat";
};

TEST_F(OpenFiles, twenty_thousand_leaf_files_need_few_descriptors)
{
  constexpr std::size_t kLeaves = 20000;
  dataset_files::write_pairs(this->path, kLeaves);
  const DescriptorLimit limit(1024);
  const std::size_t before = descriptors_of_the_process();
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  const std::vector<std::int64_t> ids = sorted_ids(dataset, dataset.select({}));
  ASSERT_EQ(ids.size(), 2 * kLeaves);
  for (std::size_t i = 0; i != ids.size(); ++i)
  {
    ASSERT_EQ(ids[i], static_cast<std::int64_t>(i));
  }
  EXPECT_LE(bat::io::open_descriptors(), 256U);
  EXPECT_LE(descriptors_of_the_process(), before + 256);
}

TEST_F(OpenFiles, mapped_and_read_many_more_than_the_limit_validate)
{
  dataset_files::write_pairs(this->path, 200);
  const DescriptorLimit limit(64);
  for (const bool map : { false, true })
  {
    bat::OpenOptions options;
    options.map = map;
    const bat::Dataset dataset = bat::Dataset::open(this->path, options);
    EXPECT_EQ(sorted_ids(dataset, dataset.select({})).back(), 399);
    EXPECT_NO_THROW(bat::validate(dataset));
    EXPECT_LE(bat::io::open_descriptors(), 16U);
  }
}

TEST_F(OpenFiles, threads_that_take_each_others_descriptors_read_what_one_reads)
{
  constexpr std::size_t kLeaves = 60;
  dataset_files::write_pairs(this->path, kLeaves);
  const DescriptorLimit limit(64); // 16 for the library
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  std::atomic<int> wrong{ 0 };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t != 4; ++t)
  {
    threads.emplace_back(
      [&, t]
      {
        clouds::Random random(t);
        for (int i = 0; i != 2000; ++i)
        {
          const std::size_t leaf = random() % kLeaves;
          const bat::File& file = dataset.leaf_file(leaf);
          std::int64_t ids[2];
          file.read_attribute(0, { { { 0, 2 } }, 2, 0 }, ids);
          wrong += ids[0] + ids[1] == static_cast<std::int64_t>(4 * leaf + 1) ? 0 : 1;
        }
      });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(bat::io::open_descriptors(), 16U);
}

TEST_F(OpenFiles, a_host_that_has_all_descriptors_does_not_stop_a_read)
{
  dataset_files::write_pairs(this->path, 20);
  const DescriptorLimit limit(128);
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  (void)dataset.leaf_file(0);
  std::vector<int> taken;
  for (int fd = 0; fd >= 0;)
  {
    fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
    {
      taken.push_back(fd);
    }
  }
  EXPECT_EQ(sorted_ids(dataset, dataset.select({})).size(), 40U);
  for (const int fd : taken)
  {
    ::close(fd);
  }
}

TEST_F(OpenFiles, relative_paths_hold_wherever_the_process_goes)
{
  dataset_files::write_pairs(this->path, 40);
  const DescriptorLimit limit(32);
  const fs::path here = fs::current_path();
  fs::current_path(this->folder.path());
  const bat::Dataset dataset = bat::Dataset::open("out.bat");
  const bat::DatasetSelection all = dataset.select({});
  (void)sorted_ids(dataset, all);
  fs::current_path(here);
  EXPECT_EQ(sorted_ids(dataset, all).size(), 80U);
}

class ClosedFile : public OpenFiles
{
protected:
  ClosedFile()
  {
    dataset_files::write_pairs(this->path, 40);
    this->dataset = std::make_unique<bat::Dataset>(bat::Dataset::open(this->path));
    for (std::size_t leaf = 0; leaf != 40; ++leaf) // the first ones are closed in the end
    {
      (void)this->dataset->leaf_file(leaf).select({});
    }
  }

  /// The error from reading the first leaf file.
  void expect_error(bat::ErrorCode code, const std::string& text)
  {
    std::int64_t ids[2];
    try
    {
      this->dataset->leaf_file(0).read_attribute(0, { { { 0, 2 } }, 2, 0 }, ids);
      ADD_FAILURE() << "no error";
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(std::string(error.what()).find(this->leaf().string()), std::string::npos)
        << error.what();
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }
  [[nodiscard]] fs::path leaf() const { return this->dataset->leaves()[0].path; }

  DescriptorLimit limit{ 32 };
  std::unique_ptr<bat::Dataset> dataset;
};

TEST_F(ClosedFile, that_was_removed_is_not_found)
{
  fs::remove(this->leaf());
  this->expect_error(bat::ErrorCode::NotFound, "No such file");
}

TEST_F(ClosedFile, that_was_replaced_says_so)
{
  const std::vector<std::byte> bytes = read_bytes(this->leaf());
  fs::remove(this->leaf());
  write_bytes(this->leaf(), bytes);
  fs::last_write_time(this->leaf(), fs::last_write_time(this->leaf()) + std::chrono::seconds(5));
  this->expect_error(bat::ErrorCode::CannotOpen, "was replaced or changed");
}

TEST_F(ClosedFile, that_was_cut_short_is_truncated)
{
  fs::resize_file(this->leaf(), 200);
  this->expect_error(bat::ErrorCode::Truncated, "the file ends at");
}

TEST_F(ClosedFile, that_was_replaced_by_a_shorter_one_is_not_read)
{
  const std::vector<std::byte> bytes = read_bytes(this->leaf());
  fs::remove(this->leaf());
  write_bytes(this->leaf(), { bytes.begin(), bytes.end() - 8 });
  this->expect_error(bat::ErrorCode::Truncated, "when it was opened");
}

TEST_F(OpenFiles, that_are_mapped_stay_whole_when_a_shorter_file_takes_their_name)
{
  dataset_files::write_pairs(this->path, 40);
  const DescriptorLimit limit(32);
  bat::OpenOptions options;
  options.map = true;
  const bat::Dataset dataset = bat::Dataset::open(this->path, options);
  const bat::DatasetSelection all = dataset.select({});
  (void)sorted_ids(dataset, all);
  const fs::path leaf = dataset.leaves()[0].path;
  fs::remove(leaf);
  write_bytes(leaf, { std::byte{ 1 } });
  EXPECT_EQ(sorted_ids(dataset, all).size(), 80U);
}

#ifndef __SANITIZE_ADDRESS__ // inspects objects through pipes, for which there are no descriptors
TEST_F(OpenFiles, more_threads_than_descriptors_wait_for_each_other)
{
  dataset_files::write_pairs(this->path, 40);
  const bat::Dataset dataset = bat::Dataset::open(this->path);
  (void)sorted_ids(dataset, dataset.select({}));
  const DescriptorLimit limit(24);
  std::atomic<int> failed{ 0 };
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t != 48; ++t)
  {
    threads.emplace_back(
      [&, t]
      {
        for (std::size_t i = 0; i != 40; ++i)
        {
          std::int64_t ids[2];
          try
          {
            dataset.leaf_file((t + i) % 40).read_attribute(0, { { { 0, 2 } }, 2, 0 }, ids);
          }
          catch (const bat::Error&)
          {
            ++failed;
          }
        }
      });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(failed, 0);
}

#endif

TEST_F(ClosedFile, that_is_there_is_read)
{
  std::int64_t ids[2];
  this->dataset->leaf_file(0).read_attribute(0, { { { 0, 2 } }, 2, 0 }, ids);
  EXPECT_EQ(ids[0] + ids[1], 1);
}
}
