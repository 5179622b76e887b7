// SPDX-License-Identifier: BSD-3-Clause
// The folder of leaf files: names, and what a writer removes around its dataset.

#include "bat/piece_writer.hpp"
#include "bat/repack.hpp"
#include "particles/dataset/dataset_folder.hpp"
#include "particles/dataset/leaf_files_writer.hpp"
#include "particles/write/leaf_writer.hpp"

#include "support/dataset_files.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{
bool has_locks = true;
}

/// Replaces the system's function, to simulate a file system without locks.
extern "C" int flock(int descriptor, int operation)
{
  if (!has_locks)
  {
    errno = ENOLCK;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
}

namespace
{
namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class DatasetFolder : public testing::Test
{
protected:
  void make(const std::string& name) const { write_bytes(this->folder / name, {}); }
  void make_in_leaves(const Names& names) const
  {
    fs::create_directories(this->folder / "out.bat.leaves");
    for (const std::string& name : names)
    {
      this->make("out.bat.leaves/" + name);
    }
  }
  [[nodiscard]] Names leaves() const { return names_in(this->folder / "out.bat.leaves"); }

  TempDir folder;
  fs::path top = folder / "out.bat";
};

TEST_F(DatasetFolder, names_are_those_of_the_text)
{
  EXPECT_EQ(bat::leaves_folder("/data/out.bat"), fs::path("/data/out.bat.leaves"));
  EXPECT_EQ(bat::leaves_folder("out.bat"), fs::path("out.bat.leaves"));
  EXPECT_EQ(bat::leaf_file_name(0, 0x0a1b2c3d4e5f6071), "00000-0a1b2c3d4e5f6071.bat");
  EXPECT_EQ(bat::leaf_file_name(12, 0), "00012-0000000000000000.bat");
  EXPECT_EQ(bat::leaf_file_name(16777215, ~std::uint64_t{ 0 }), "16777215-ffffffffffffffff.bat");
  EXPECT_EQ(bat::leaf_file_name(12, 0, 3), "00012-0000000000000000-3.bat");
}

TEST_F(DatasetFolder, names_of_other_kinds_of_files_are_no_names_of_datasets)
{
  const clouds::Cloud cloud = clouds::uniform(10, 1);
  for (const char* name : { "out.bat", "out", "out.pbat", "out.data", "tracks.bat", ".bat", "idx" })
  {
    EXPECT_NO_THROW(bat::check_name(this->folder / name)) << name;
  }
  bat::write_file(this->top, cloud.view());
  for (const char* name :
    { "out.tracks.bat", "out.bat.series", "out.idx", "out.bricks", "out.bricks.series" })
  {
    const fs::path path = this->folder / name;
    const auto refused = [&](const auto& f)
    {
      try
      {
        f();
        ADD_FAILURE() << name;
      }
      catch (const bat::Error& error)
      {
        EXPECT_EQ(error.code(), bat::ErrorCode::InvalidArgument);
        EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("use a name ending in .bat"), std::string::npos);
      }
    };
    refused([&] { bat::check_name(path); });
    refused([&] { bat::write_file(path, cloud.view()); });
    refused([&] { const bat::PieceWriter writer(path, {}, 0); });
    refused([&] { bat::repack(this->top, path, {}); });
  }
  EXPECT_EQ(names_in(this->folder.path()), Names{ "out.bat" });
}

TEST_F(DatasetFolder, leaf_files_that_are_not_kept_and_temporaries_go)
{
  const std::string kept = bat::leaf_file_name(0, 1);
  this->make_in_leaves({ kept, bat::leaf_file_name(0, 2), bat::leaf_file_name(1234567, 1),
    bat::leaf_file_name(0, 1, 1), bat::leaf_file_name(0, 1, 12), ".x.0123abcd.tmp",
    "." + kept + ".00000000.tmp" });
  this->make(".out.bat.0123abcd.tmp");
  bat::remove_leftovers(this->top, { kept }, {});
  EXPECT_EQ(this->leaves(), Names{ kept });
  EXPECT_EQ(names_in(this->folder.path()), Names{ "out.bat.leaves" });
}

TEST_F(DatasetFolder, what_is_not_a_writers_stays)
{
  const Names others{ "README", "00000-0a1b2c3d4e5f6071.bat.bak", "00000-0A1B2C3D4E5F6071.bat",
    "0000-0a1b2c3d4e5f6071.bat", "00000-0a1b2c3d4e5f607.bat", "00000-0a1b2c3d4e5f60711.bat",
    "00000_0a1b2c3d4e5f6071.bat", "0000x-0a1b2c3d4e5f6071.bat", "00000-0a1b2c3d4e5f607g.bat",
    "-0a1b2c3d4e5f6071.bat", "00000-0a1b2c3d4e5f6071-.bat", "00000-0a1b2c3d4e5f6071-a.bat",
    "00000-0a1b2c3d4e5f60711-1.bat", "x.0123abcd.tmp", ".x.tmp", ".x.0123ABCD.tmp", "backup.bat" };
  this->make_in_leaves(others);
  const Names beside{ "out.bat", "out.bat2", ".out.bat2.0123abcd.tmp", "out.bat.0123abcd.tmp",
    ".out.bat.0123abc.tmp", "00000-0a1b2c3d4e5f6071.bat", "other.bat" };
  for (const std::string& name : beside)
  {
    this->make(name);
  }
  fs::create_directories(this->folder / "other.bat.leaves");
  this->make("other.bat.leaves/" + bat::leaf_file_name(0, 1));
  const Names before = names_in(this->folder.path());
  Names sorted = others;
  std::sort(sorted.begin(), sorted.end());
  bat::remove_leftovers(this->top, {}, {});
  EXPECT_EQ(this->leaves(), sorted);
  EXPECT_EQ(names_in(this->folder.path()), before);
  EXPECT_EQ(names_in(this->folder / "other.bat.leaves").size(), 1U);
}

TEST_F(DatasetFolder, a_folder_of_that_name_with_things_in_it_stays)
{
  const std::string name = bat::leaf_file_name(3, 4);
  this->make_in_leaves({});
  fs::create_directories(this->folder / "out.bat.leaves" / name);
  this->make("out.bat.leaves/" + name + "/mine");
  bat::remove_leftovers(this->top, {}, {});
  EXPECT_TRUE(fs::exists(this->folder / "out.bat.leaves" / name / "mine"));
}

TEST_F(DatasetFolder, goes_when_nothing_is_left_in_it)
{
  this->make_in_leaves({ bat::leaf_file_name(0, 1) });
  bat::remove_leftovers(this->top, {}, {});
  EXPECT_EQ(names_in(this->folder.path()), Names{});
}

TEST_F(DatasetFolder, that_is_not_there_or_no_folder_is_no_matter)
{
  bat::remove_leftovers(this->folder / "no folder/out.bat", {}, {});
  bat::remove_leftovers("", {}, {});
  this->make("out.bat.leaves");
  bat::remove_leftovers(this->top, {}, {});
  EXPECT_EQ(names_in(this->folder.path()), Names{ "out.bat.leaves" });
}

TEST_F(DatasetFolder, is_the_one_beside_the_file_that_a_link_leads_to)
{
  this->make_in_leaves({ bat::leaf_file_name(0, 1) });
  this->make("out.bat");
  const TempDir elsewhere;
  fs::create_symlink(this->top, elsewhere / "link.bat");
  fs::create_directories(elsewhere / "link.bat.leaves");
  write_bytes(elsewhere / ("link.bat.leaves/" + bat::leaf_file_name(0, 1)), {});
  bat::remove_leftovers(elsewhere / "link.bat", {}, {});
  EXPECT_EQ(names_in(this->folder.path()), Names{ "out.bat" });
  EXPECT_EQ(names_in(elsewhere / "link.bat.leaves").size(), 1U);
}

TEST_F(DatasetFolder, a_link_in_it_goes_and_its_target_stays)
{
  this->make("mine");
  this->make_in_leaves({});
  fs::create_symlink(
    this->folder / "mine", this->folder / "out.bat.leaves" / bat::leaf_file_name(0, 1));
  bat::remove_leftovers(this->top, {}, {});
  EXPECT_EQ(names_in(this->folder.path()), Names{ "mine" });
}

TEST_F(DatasetFolder, of_a_dataset_that_one_file_replaces_is_emptied)
{
  const clouds::Cloud cloud = clouds::uniform(500, 1);
  dataset_files::write(this->top, dataset_files::slabs(cloud, 3));
  ASSERT_EQ(this->leaves().size(), 3U);
  bat::write_file(this->top, cloud.view());
  EXPECT_EQ(names_in(this->folder.path()), Names{ "out.bat" });
  EXPECT_NO_THROW(bat::validate(this->top));
}

TEST_F(DatasetFolder, that_is_a_link_stays_and_loses_only_what_the_dataset_had)
{
  const TempDir elsewhere;
  const std::string other = bat::leaf_file_name(7, 7);
  write_bytes(elsewhere / other, {});
  fs::create_directory_symlink(elsewhere.path(), this->folder / "out.bat.leaves");
  const clouds::Cloud cloud = clouds::uniform(500, 1);
  dataset_files::write(this->top, dataset_files::slabs(cloud, 3));
  ASSERT_EQ(names_in(elsewhere.path()).size(), 4U);
  EXPECT_NO_THROW(bat::validate(this->top));
  bat::write_file(this->top, cloud.view());
  EXPECT_EQ(names_in(elsewhere.path()), Names{ other });
  EXPECT_TRUE(fs::is_symlink(this->folder / "out.bat.leaves"));
  EXPECT_NO_THROW(bat::validate(this->top));
  fs::remove(elsewhere / other);
  bat::write_file(this->top, cloud.view());
  EXPECT_TRUE(fs::is_symlink(this->folder / "out.bat.leaves"));
}

TEST_F(DatasetFolder, that_is_a_link_to_nothing_stays)
{
  fs::create_directory_symlink("nowhere", this->folder / "out.bat.leaves");
  bat::write_file(this->top, clouds::uniform(500, 1).view());
  EXPECT_TRUE(fs::is_symlink(this->folder / "out.bat.leaves"));
}

TEST_F(DatasetFolder, keeps_the_leaf_files_of_a_dataset_whose_top_file_was_renamed)
{
  const clouds::Cloud cloud = clouds::uniform(500, 1);
  dataset_files::write(this->top, dataset_files::slabs(cloud, 3));
  fs::rename(this->top, this->folder / "before.dat");
  this->make("out.bat.leaves/" + bat::leaf_file_name(9, 9)); // left by a killed writer
  bat::write_file(this->top, cloud.view());
  EXPECT_EQ(this->leaves().size(), 3U);
  EXPECT_NO_THROW(bat::validate(this->folder / "before.dat"));
  fs::remove(this->folder / "before.dat");
  bat::write_file(this->top, cloud.view());
  EXPECT_EQ(names_in(this->folder.path()), Names{ "out.bat" });
}

TEST_F(DatasetFolder, keeps_leaf_files_while_a_top_file_beside_it_cannot_be_read)
{
  dataset_files::write(this->top, dataset_files::slabs(clouds::uniform(500, 1), 3));
  std::vector<std::byte> bytes = read_bytes(this->top);
  bytes.pop_back();
  write_bytes(this->folder / "cut.bat", bytes);
  fs::remove(this->top);
  bat::remove_leftovers(this->top, {}, {});
  EXPECT_EQ(this->leaves().size(), 3U);
  fs::remove(this->folder / "cut.bat");
  bat::remove_leftovers(this->top, {}, {});
  EXPECT_EQ(names_in(this->folder.path()), Names{});
}

TEST_F(DatasetFolder, goes_with_its_dataset_when_that_is_removed)
{
  const clouds::Cloud cloud = clouds::uniform(500, 1);
  dataset_files::write(this->top, dataset_files::slabs(cloud, 3));
  fs::create_symlink(this->top, this->folder / "link.bat");
  EXPECT_TRUE(bat::remove_dataset(this->folder / "link.bat"));
  EXPECT_NO_THROW(bat::validate(this->top));
  fs::copy_file(this->top, this->folder / "other.bat");
  EXPECT_TRUE(bat::remove_dataset(this->folder / "other.bat"));
  EXPECT_NO_THROW(bat::validate(this->top));
  EXPECT_TRUE(bat::remove_dataset(this->top));
  EXPECT_FALSE(bat::remove_dataset(this->top));
  EXPECT_EQ(names_in(this->folder.path()), Names{});
}

TEST_F(DatasetFolder, keeps_the_leaf_files_of_copies_links_and_folders_of_other_names)
{
  const clouds::Cloud cloud = clouds::uniform(500, 1);
  const auto write = [&](const char* name, std::uint64_t seed) {
    dataset_files::write(this->folder / name, dataset_files::slabs(clouds::uniform(500, seed), 3));
  };
  write("out.bat", 1);
  fs::copy_file(this->top, this->folder / "copy.bat");
  fs::create_hard_link(this->top, this->folder / "hard.bat");
  fs::remove(this->top);
  bat::write_file(this->top, cloud.view());
  EXPECT_NO_THROW(bat::validate(this->folder / "copy.bat"));
  EXPECT_NO_THROW(bat::validate(this->folder / "hard.bat"));
  // Two names of one folder.
  fs::create_directory_symlink("out.bat.leaves", this->folder / "other.bat.leaves");
  write("other.bat", 2);
  bat::write_file(this->top, cloud.view());
  EXPECT_NO_THROW(bat::validate(this->folder / "other.bat"));
  EXPECT_NO_THROW(bat::validate(this->folder / "copy.bat"));
}

TEST_F(DatasetFolder, keeps_leaf_files_while_a_file_beside_it_cannot_be_judged)
{
  dataset_files::write(this->top, dataset_files::slabs(clouds::uniform(500, 1), 3));
  const std::vector<std::byte> bytes = read_bytes(this->top);
  fs::remove(this->top);
  std::vector<std::byte> no_features = bytes;
  no_features[24] = std::byte{ 0 };
  const std::vector<std::byte> begin(bytes.begin(), bytes.begin() + 4);
  for (const std::vector<std::byte>& damaged : { no_features, begin, std::vector<std::byte>{} })
  {
    write_bytes(this->folder / "damaged.bat", damaged);
    bat::remove_leftovers(this->top, {}, {});
    EXPECT_EQ(this->leaves().size(), 3U);
  }
  write_bytes(this->folder / "damaged.bat", bytes);
  EXPECT_NO_THROW(bat::validate(this->folder / "damaged.bat"));
}

/// A writer of a dataset's leaf files that can be stopped between them.
class Writer
{
public:
  Writer(const fs::path& top, std::uint64_t seed)
    : parts_(dataset_files::slabs(clouds::uniform(500, seed), 3))
    , writer_(top, parts_[0].view(), false)
  {
  }
  void write()
  {
    for (const clouds::Cloud& part : this->parts_)
    {
      this->writer_.add([&](bat::io::AtomicFile& file)
        { bat::write_leaf(file, bat::write::ParticleParts::of_view(part.view()), {}); });
    }
  }
  void finish() { this->writer_.finish(); }

private:
  std::vector<clouds::Cloud> parts_;
  bat::LeafFilesWriter writer_;
};

dataset_files::Rows rows(std::uint64_t seed, const fs::path& folder)
{
  bat::write_file(folder / "expected.bat", clouds::uniform(500, seed).view());
  return dataset_files::rows_of(folder / "expected.bat");
}

TEST_F(DatasetFolder, has_one_writer_at_a_time)
{
  const TempDir elsewhere;
  Writer(this->top, 1).write(); // not finished: nothing is left
  EXPECT_EQ(names_in(this->folder.path()), Names{});
  Writer first(this->top, 2);
  first.write();
  const auto refused = [&](const auto& f)
  {
    try
    {
      f();
      ADD_FAILURE() << "two writers";
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), bat::ErrorCode::CannotOpen);
      EXPECT_EQ(std::string(error.what()),
        this->top.string() +
          ": another writer is writing this dataset; retry when it has finished");
    }
  };
  refused([&] { Writer(this->top, 3).write(); });
  refused(
    [&]
    {
      bat::WriteOptions options;
      options.target_bytes = 4096;
      bat::PieceWriter pieces(this->top, options, 0);
      pieces.add(clouds::uniform(500, 3).view());
      pieces.finish();
    });
  dataset_files::write(elsewhere / "in.bat", dataset_files::slabs(clouds::uniform(500, 3), 3));
  refused([&] { bat::repack(elsewhere / "in.bat", this->top, {}); });
  Writer other(this->folder / "other.bat", 3); // writes another dataset
  other.write();
  // A dataset of one file removes nothing.
  bat::write_file(this->top, clouds::uniform(500, 4).view());
  EXPECT_TRUE(dataset_files::rows_of(this->top) == rows(4, elsewhere.path()));
  EXPECT_TRUE(bat::remove_dataset(this->top));
  first.finish();
  other.finish();
  for (const char* name : { "out.bat", "other.bat" })
  {
    EXPECT_NO_THROW(bat::validate(this->folder / name));
    const Names files = names_in(this->folder / (std::string(name) + ".leaves"));
    EXPECT_EQ(files.size(), 3U + 1U);
    EXPECT_EQ(files.front(), "." + std::string(name) + ".lock"); // until the writer is gone
  }
}

TEST_F(DatasetFolder, is_free_again_after_each_writer_also_a_killed_one)
{
  for (std::uint64_t seed = 1; seed != 4; ++seed)
  {
    const pid_t child = ::fork();
    if (child == 0)
    {
      const bat::LeavesLock lock(this->top);
      write_bytes(this->folder / ("out.bat.leaves/" + bat::leaf_file_name(7, seed)), {});
      std::_Exit(lock.is_exclusive() ? 0 : 1); // like a killed process
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    EXPECT_EQ(this->leaves().front(), ".out.bat.lock");
    if (seed == 2)
    {
      bat::write_file(this->top, clouds::uniform(500, seed).view());
      EXPECT_EQ(names_in(this->folder.path()), Names{ "out.bat" });
      continue;
    }
    {
      Writer writer(this->top, seed);
      writer.write();
      writer.finish();
    }
    EXPECT_EQ(this->leaves().size(), 3U);
    EXPECT_NO_THROW(bat::validate(this->top));
  }
}

TEST_F(DatasetFolder, without_locks_writers_leave_the_files_of_each_other_and_see_what_is_lost)
{
  const TempDir elsewhere;
  dataset_files::write(this->top, dataset_files::slabs(clouds::uniform(500, 1), 3));
  has_locks = false;
  const auto finish = [&](Writer& writer, std::uint64_t seed)
  {
    writer.finish();
    EXPECT_TRUE(dataset_files::rows_of(this->top) == rows(seed, elsewhere.path()));
  };
  {
    Writer first(this->top, 2);
    Writer second(this->top, 1); // the same particles as the replaced ones
    Writer third(this->top, 3);
    second.write();
    first.write();
    third.write();
    finish(first, 2);
    finish(second, 1);
    finish(third, 3);
    bat::write_file(this->top, clouds::uniform(500, 4).view());
  }
  Writer last(this->top, 5);
  last.write();
  finish(last, 5);
  has_locks = true;

  const bat::Dataset dataset = bat::Dataset::open(this->top);
  const fs::path leaf = dataset.leaves()[1].path;
  bat::format::LeafRecord record = bat::describe_leaf(leaf, {}).record;
  EXPECT_NO_THROW(bat::check_leaf_file(this->top, leaf, record));
  const auto lost = [&](const std::string& text)
  {
    try
    {
      bat::check_leaf_file(this->top, leaf, record);
      ADD_FAILURE() << text;
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), bat::ErrorCode::WriteFailed);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  ++record.header_checksum;
  lost("is not the one that was written");
  fs::remove(leaf);
  lost("no longer exists");
}
}
