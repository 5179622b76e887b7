// SPDX-License-Identifier: BSD-3-Clause
// Writes that cannot be finished: the previous file is still complete, and nothing is left behind.

#include "bat/bat.hpp"
#include "support/clouds.hpp"
#include "support/file_size_limit.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

namespace
{
using bat::ErrorCode;
namespace fs = std::filesystem;

/// A separate file system in memory, if the machine allows it.
class SmallDisk
{
public:
  SmallDisk()
    : mounted_(::mount("tmpfs", this->folder_.path().c_str(), "tmpfs", 0, "size=256k") == 0)
  {
  }
  ~SmallDisk()
  {
    if (this->mounted_)
    {
      ::umount2(this->folder_.path().c_str(), MNT_DETACH);
    }
  }
  [[nodiscard]] bool mounted() const { return this->mounted_; }
  [[nodiscard]] const TempDir& folder() const { return this->folder_; }
  bool make_read_only() const
  {
    return ::mount("tmpfs", this->folder_.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "") == 0;
  }

private:
  TempDir folder_;
  bool mounted_;
};

/// Everything below a folder: the kind, and for files the bytes.
std::vector<std::pair<std::string, std::vector<std::byte>>> everything(const fs::path& folder)
{
  std::vector<std::pair<std::string, std::vector<std::byte>>> all;
  for (const std::string& name : names_in(folder))
  {
    const fs::path path = folder / name;
    const bool file = fs::is_regular_file(fs::symlink_status(path));
    all.emplace_back(name, file ? read_bytes(path) : std::vector<std::byte>());
  }
  return all;
}

class Write : public testing::Test
{
protected:
  Write() { write_bytes(this->folder / "old.bat", this->old_bytes); }

  /// The write fails with `code` and `words`, and the folder of `path` is unchanged.
  void expect_failure(const fs::path& path, ErrorCode code, const std::vector<std::string>& words,
    const bat::BuildOptions& options = {})
  {
    SCOPED_TRACE(path);
    const fs::path parent = path.parent_path();
    const bool exists = fs::is_directory(parent);
    const auto before = exists ? everything(parent) : everything(this->folder.path());
    try
    {
      bat::write_file(path, this->cloud.view(), options);
      ADD_FAILURE() << "was written";
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), code) << error.what();
      const std::string text = error.what();
      EXPECT_EQ(text.rfind(path.string() + ": ", 0), 0U) << text;
      for (const std::string& word : words)
      {
        EXPECT_NE(text.find(word), std::string::npos) << text << "\nlacks: " << word;
      }
    }
    EXPECT_TRUE((exists ? everything(parent) : everything(this->folder.path())) == before);
  }

  TempDir folder;
  clouds::Cloud cloud = clouds::uniform(10000, 1); // 690 kB
  std::vector<std::byte> old_bytes = std::vector<std::byte>(1000, std::byte{ 7 });
};

TEST_F(Write, replaces_what_is_there_even_if_it_is_no_bat_file)
{
  bat::write_file(this->folder / "old.bat", this->cloud.view());
  EXPECT_EQ(bat::File::open(this->folder / "old.bat").particle_count(), 10000U);
  EXPECT_EQ(names_in(this->folder.path()), std::vector<std::string>{ "old.bat" });
}

TEST_F(Write, into_a_folder_that_does_not_exist_fails)
{
  this->expect_failure(
    this->folder / "no/x.bat", ErrorCode::CannotOpen, { "/no'", "No such file" });
}

TEST_F(Write, below_a_file_fails)
{
  this->expect_failure(
    this->folder / "old.bat/x.bat", ErrorCode::CannotOpen, { "old.bat'", "Not a directory" });
}

TEST_F(Write, over_a_folder_fails)
{
  fs::create_directory(this->folder / "folder.bat");
  this->expect_failure(
    this->folder / "folder.bat", ErrorCode::CannotOpen, { "not a regular file" });
  EXPECT_TRUE(fs::is_directory(this->folder / "folder.bat"));
}

TEST_F(Write, over_a_pipe_or_device_fails)
{
  ASSERT_EQ(::mkfifo((this->folder / "pipe").c_str(), 0666), 0);
  this->expect_failure(this->folder / "pipe", ErrorCode::CannotOpen, { "not a regular file" });
  try
  {
    bat::write_file("/dev/null", this->cloud.view());
    FAIL() << "/dev/null was replaced";
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), ErrorCode::CannotOpen);
  }
}

TEST_F(Write, to_no_name_or_a_name_that_is_too_long_fails)
{
  EXPECT_THROW(bat::write_file("", this->cloud.view()), bat::Error);
  this->expect_failure(this->folder / std::string(300, 'x'), ErrorCode::CannotOpen, { "too long" });
}

TEST_F(Write, to_a_name_as_long_as_the_file_system_allows_succeeds)
{
  const std::string name = std::string(250, 'x') + ".bat";
  bat::write_file(this->folder / name, this->cloud.view());
  EXPECT_EQ(bat::File::open(this->folder / name).particle_count(), 10000U);
}

TEST_F(Write, to_a_read_only_file_fails_even_for_root)
{
  fs::permissions(this->folder / "old.bat",
    fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  this->expect_failure(this->folder / "old.bat", ErrorCode::CannotOpen, { "read-only" });
}

TEST_F(Write, into_a_folder_without_permission_fails)
{
  fs::permissions(this->folder / "old.bat", fs::perms::all);
  const WithoutPrivileges nobody(this->folder.path());
  fs::permissions(this->folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  this->expect_failure(this->folder / "x.bat", ErrorCode::CannotOpen, { "Permission denied" });
  this->expect_failure(this->folder / "old.bat", ErrorCode::CannotOpen, { "Permission denied" });
  fs::permissions(this->folder.path(), fs::perms::owner_all);
}

TEST_F(Write, to_a_read_only_file_system_fails)
{
  const SmallDisk disk;
  if (!disk.mounted())
  {
    GTEST_SKIP() << "mounting is not allowed here";
  }
  write_bytes(disk.folder() / "old.bat", this->old_bytes);
  ASSERT_TRUE(disk.make_read_only());
  this->expect_failure(disk.folder() / "x.bat", ErrorCode::CannotOpen, { "Read-only file system" });
  this->expect_failure(disk.folder() / "old.bat", ErrorCode::CannotOpen, { "ead-only" });
}

TEST_F(Write, to_a_full_disk_says_so)
{
  const SmallDisk disk;
  if (!disk.mounted())
  {
    GTEST_SKIP() << "mounting is not allowed here";
  }
  write_bytes(disk.folder() / "old.bat", this->old_bytes);
  for (const std::string name : { "x.bat", "old.bat" })
  {
    this->expect_failure(disk.folder() / name, ErrorCode::NoSpace,
      { "No space left", "bytes at offset", "unchanged" });
  }
  this->cloud = clouds::uniform(1000, 2);
  EXPECT_NO_THROW(bat::write_file(disk.folder() / "old.bat", this->cloud.view()))
    << "the failed writes left something behind";
}

TEST_F(Write, that_hits_a_size_limit_anywhere_leaves_the_old_file)
{
  const std::uint64_t whole = bat::write_file(this->folder / "size", this->cloud.view()).file_bytes;
  fs::remove(this->folder / "size");
  for (std::uint64_t bytes = 0; bytes < whole; bytes += whole / 23)
  {
    SCOPED_TRACE(bytes);
    const FileSizeLimit limit(bytes);
    this->expect_failure(this->folder / "old.bat", ErrorCode::NoSpace, { "unchanged" });
    this->expect_failure(this->folder / "new.bat", ErrorCode::NoSpace, { "File too large" });
  }
  {
    const FileSizeLimit limit(whole - 1);
    this->expect_failure(this->folder / "old.bat", ErrorCode::NoSpace, { "unchanged" });
  }
  const FileSizeLimit limit(whole);
  EXPECT_EQ(bat::write_file(this->folder / "old.bat", this->cloud.view()).file_bytes, whole);
}

TEST_F(Write, that_is_cancelled_at_any_time_leaves_nothing)
{
  int calls = 0;
  bat::BuildOptions options;
  double last = 0;
  options.progress = [&](double fraction)
  {
    EXPECT_GE(fraction, last);
    EXPECT_LE(fraction, 1);
    last = fraction;
    ++calls;
    return true;
  };
  bat::write_file(this->folder / "counted.bat", this->cloud.view(), options);
  EXPECT_EQ(last, 1);
  ASSERT_GE(calls, 5);
  // The last call comes when the file is in its place.
  for (int cancel_at = 1; cancel_at != calls; ++cancel_at)
  {
    int call = 0;
    options.progress = [&](double) { return ++call != cancel_at; };
    for (const std::string name : { "old.bat", "new.bat" })
    {
      call = 0;
      const auto before = everything(this->folder.path());
      try
      {
        bat::write_file(this->folder / name, this->cloud.view(), options);
        ADD_FAILURE() << "call " << cancel_at << " of " << calls << " did not cancel";
      }
      catch (const bat::Error& error)
      {
        EXPECT_EQ(error.code(), ErrorCode::Cancelled);
      }
      EXPECT_EQ(call, cancel_at) << "progress was told after it cancelled";
      EXPECT_TRUE(everything(this->folder.path()) == before);
    }
  }
}

TEST_F(Write, whose_progress_function_throws_leaves_nothing_and_throws_it)
{
  bat::BuildOptions options;
  options.progress = [](double) -> bool { throw std::runtime_error("mine"); };
  const auto before = everything(this->folder.path());
  EXPECT_THROW(
    bat::write_file(this->folder / "new.bat", this->cloud.view(), options), std::runtime_error);
  EXPECT_TRUE(everything(this->folder.path()) == before);
}

TEST_F(Write, of_wrong_input_leaves_the_old_file)
{
  bat::ParticleView view = this->cloud.view();
  view.attributes[1].name = view.attributes[0].name;
  const auto before = everything(this->folder.path());
  EXPECT_THROW(bat::write_file(this->folder / "old.bat", view), bat::Error);
  EXPECT_TRUE(everything(this->folder.path()) == before);
}

// Where the system, or a parser, would end a text.
TEST_F(Write, of_a_text_with_a_zero_byte_is_refused)
{
  using namespace std::string_literals;
  const fs::path old = this->folder / "old.bat";
  const auto before = everything(this->folder.path());
  const auto error_of = [](const auto& call)
  {
    try
    {
      call();
      return "nothing was thrown"s;
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
      return std::string(error.what());
    }
  };
  const fs::path cut = old.string() + "\0.bat"s;
  const std::string reported = old.string() + "\\0.bat: contains a zero byte";
  EXPECT_NE(
    error_of([&] { bat::write_file(cut, this->cloud.view()); }).find(reported), std::string::npos);
  EXPECT_NE(error_of([&] { (void)bat::Dataset::open(cut); }).find(reported), std::string::npos);
  EXPECT_NE(error_of([&] { (void)bat::File::open(cut); }).find(reported), std::string::npos);
  EXPECT_FALSE(bat::Dataset::can_open(cut));
  bat::ParticleView view = this->cloud.view();
  view.metadata = "{}\0junk"s;
  EXPECT_NE(error_of([&] { bat::write_file(old, view); }).find("zero byte"), std::string::npos);
  view = this->cloud.view();
  view.attributes[0].name += "\0x"s;
  EXPECT_NE(error_of([&] { bat::write_file(old, view); }).find("zero byte"), std::string::npos);
  bat::BuildOptions options;
  options.sorted_indexes = { this->cloud.columns[0].name + "\0x"s };
  EXPECT_NE(
    error_of([&] { bat::write_file(old, this->cloud.view(), options); }).find("sorted index"),
    std::string::npos);
  EXPECT_TRUE(everything(this->folder.path()) == before);
}

TEST_F(Write, of_values_that_overlap_is_refused)
{
  for (const std::size_t stride : { std::size_t{ 0 }, std::size_t{ 3 } })
  {
    bat::ParticleView view = this->cloud.view();
    view.attributes[0].values.stride_bytes = stride;
    EXPECT_THROW((void)bat::encode(view), bat::Error) << stride;
    view = this->cloud.view();
    view.positions.stride_bytes = stride;
    EXPECT_THROW((void)bat::encode(view), bat::Error) << stride;
    view.count = 1;
    EXPECT_NO_THROW((void)bat::encode(view)) << stride;
  }
}

TEST_F(Write, of_metadata_that_is_no_object_or_nested_too_deeply_is_refused)
{
  bat::ParticleView view = this->cloud.view();
  for (const std::string& metadata : { std::string("["), std::string("[]"), std::string("\"a\""),
         R"({"a":)" + std::string(200000, '[') + std::string(200000, ']') + "}" })
  {
    view.metadata = metadata;
    EXPECT_THROW((void)bat::encode(view), bat::Error) << metadata.substr(0, 10);
  }
  view.metadata = R"({"a":)" + std::string(900, '[') + std::string(900, ']') + "}";
  EXPECT_NO_THROW((void)bat::encode(view));
}

TEST_F(Write, through_a_link_replaces_the_file_and_keeps_the_link)
{
  fs::create_directory(this->folder / "data");
  write_bytes(this->folder / "data/real.bat", this->old_bytes);
  fs::create_symlink("data/real.bat", this->folder / "link.bat");
  fs::create_symlink("link.bat", this->folder / "link to link.bat");
  bat::write_file(this->folder / "link to link.bat", this->cloud.view());
  EXPECT_TRUE(fs::is_symlink(this->folder / "link to link.bat"));
  EXPECT_TRUE(fs::is_symlink(this->folder / "link.bat"));
  EXPECT_FALSE(fs::is_symlink(this->folder / "data/real.bat"));
  EXPECT_EQ(bat::File::open(this->folder / "data/real.bat").particle_count(), 10000U);
  EXPECT_EQ(names_in(this->folder / "data"), std::vector<std::string>{ "real.bat" });
}

TEST_F(Write, through_a_link_to_nothing_yet_makes_the_file_it_leads_to)
{
  fs::create_directory(this->folder / "data");
  fs::create_symlink("data/new.bat", this->folder / "link.bat");
  bat::write_file(this->folder / "link.bat", this->cloud.view());
  EXPECT_TRUE(fs::is_symlink(this->folder / "link.bat"));
  EXPECT_EQ(names_in(this->folder / "data"), std::vector<std::string>{ "new.bat" });
}

TEST_F(Write, through_a_link_in_circles_fails)
{
  fs::create_symlink("b.bat", this->folder / "a.bat");
  fs::create_symlink("a.bat", this->folder / "b.bat");
  this->expect_failure(this->folder / "a.bat", ErrorCode::CannotOpen, { "symbolic links" });
  EXPECT_TRUE(fs::is_symlink(this->folder / "a.bat"));
}

TEST_F(Write, of_several_at_once_to_one_name_leaves_one_of_them_whole)
{
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t != 4; ++t)
  {
    threads.emplace_back(
      [this, t]
      {
        const clouds::Cloud own = clouds::uniform(1000 + t, t);
        for (int i = 0; i != 10; ++i)
        {
          bat::write_file(this->folder / "old.bat", own.view());
        }
      });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  EXPECT_NO_THROW(bat::validate(this->folder / "old.bat"));
  EXPECT_EQ(names_in(this->folder.path()), std::vector<std::string>{ "old.bat" });
}

TEST_F(Write, keeps_the_permissions_of_the_file_it_replaces)
{
  fs::permissions(this->folder / "old.bat", fs::perms::owner_read | fs::perms::owner_write);
  bat::write_file(this->folder / "old.bat", this->cloud.view());
  EXPECT_EQ(fs::status(this->folder / "old.bat").permissions(),
    fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Write, into_the_working_folder_needs_no_folder_in_the_name)
{
  const fs::path before = fs::current_path();
  fs::current_path(this->folder.path());
  EXPECT_NO_THROW(bat::write_file("plain.bat", this->cloud.view()));
  fs::current_path(before);
  EXPECT_EQ(bat::File::open(this->folder / "plain.bat").particle_count(), 10000U);
}
}
