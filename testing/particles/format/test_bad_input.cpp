// SPDX-License-Identifier: BSD-3-Clause
// Unreadable input and invalid queries: the error message, from the library and from the programs.

#include "bat/bat.hpp"
#include "support/clouds.hpp"
#include "support/damage.hpp"
#include "support/dataset_files.hpp"
#include "support/descriptor_limit.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <limits>
#include <thread>

namespace
{
using bat::ErrorCode;
namespace fs = std::filesystem;

const fs::path kGolden = BAT_GOLDEN_FOLDER;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Outcome
{
  int status = -1;
  std::string text; ///< standard output and error
};

Outcome run(const std::string& program, const std::string& argument)
{
  // The shell sees the argument as it is.
  std::string quoted = "'";
  for (const char c : argument)
  {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  Outcome result;
  std::FILE* pipe = ::popen(("'" + program + "' " + quoted + "' 2>&1").c_str(), "r");
  if (!pipe)
  {
    return result;
  }
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof(buffer), pipe))
  {
    result.text.append(buffer, got);
  }
  const int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

bool has(const std::string& text, const std::string& part)
{
  return text.find(part) != std::string::npos;
}

/// open() and both programs reject `path` with `code`, name it, and report each of `words`.
void expect_refused(const fs::path& path, ErrorCode code, const std::vector<std::string>& words)
{
  SCOPED_TRACE(path);
  std::string message;
  try
  {
    (void)bat::File::open(path);
    ADD_FAILURE() << "was opened";
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), code) << error.what();
    message = error.what();
  }
  EXPECT_EQ(message.rfind(path.string() + ": ", 0), 0U) << message;
  for (const std::string& word : words)
  {
    EXPECT_TRUE(has(message, word)) << message << "\nlacks: " << word;
  }
  EXPECT_THROW(bat::validate(path), bat::Error);
  for (const std::string program : { BAT_INFO, BAT_VALIDATE })
  {
    const Outcome ran = run(program, path.string());
    EXPECT_EQ(ran.status, 1) << ran.text;
    EXPECT_TRUE(has(ran.text, message)) << ran.text;
  }
}

/// Runs a program with arguments as the shell takes them.
Outcome run_in_shell(const std::string& program, const std::string& arguments)
{
  // run() quotes the arguments; this ends the quotes early.
  return run(program + "' " + arguments + " #", "");
}

TEST(Programs, say_what_they_do_not_know_with_status_2)
{
  const std::string file = (kGolden / "small.bat").string();
  for (const std::string program : { BAT_INFO, BAT_VALIDATE })
  {
    const Outcome unknown = run_in_shell(program, "--bogus 2>&1");
    EXPECT_EQ(unknown.status, 2) << unknown.text;
    EXPECT_TRUE(has(unknown.text, "--bogus") && !has(unknown.text, "required")) << unknown.text;
    const Outcome nothing = run_in_shell(program, "2>&1");
    EXPECT_EQ(nothing.status, 2) << nothing.text;
    EXPECT_TRUE(has(nothing.text, "FILE is required")) << nothing.text;
    EXPECT_EQ(run_in_shell(program, "--bogus '" + file + "'").status, 2);
    EXPECT_EQ(run_in_shell(program, "--help").status, 0);
    EXPECT_EQ(run_in_shell(program, "--version").status, 0);
  }
}

TEST(Programs, fail_when_their_output_cannot_be_written)
{
  const std::string file = (kGolden / "small.bat").string();
  for (const std::string program : { BAT_INFO, BAT_VALIDATE })
  {
    const Outcome full = run_in_shell(program, "'" + file + "' 2>&1 >/dev/full");
    EXPECT_EQ(full.status, 1) << full.text;
    EXPECT_TRUE(has(full.text, "cannot be written: No space left on device")) << full.text;
  }
}

TEST(Programs, take_several_files_and_the_steps_of_series)
{
  const TempDir folder;
  for (const char* const name : { "small.bat", "two_particles.bat" })
  {
    fs::copy_file(kGolden / name, folder / name);
  }
  const auto write = [&](const std::string& name, const std::string& text)
  { std::ofstream(folder / name) << text; };
  write("all.bat.series", R"({"files": [{"name": "small.bat"}, {"name": "two_particles.bat"}]})");
  write("some.bat.series", R"({"files": [{"name": "none.bat"}, {"name": "small.bat"}]})");
  write("no.bat.series", R"({"files": 5)");
  const auto quoted = [&](const std::string& name)
  { return "'" + (folder / name).string() + "' "; };
  for (const std::string program : { BAT_INFO, BAT_VALIDATE })
  {
    for (const std::string& given :
      { quoted("all.bat.series"), quoted("small.bat") + quoted("two_particles.bat") })
    {
      const Outcome both = run_in_shell(program, given + "2>&1");
      EXPECT_EQ(both.status, 0) << both.text;
      EXPECT_TRUE(has(both.text, "small.bat") && has(both.text, "two_particles.bat")) << both.text;
    }
    const Outcome some = run_in_shell(program, quoted("some.bat.series") + "2>&1");
    EXPECT_EQ(some.status, 1) << some.text;
    EXPECT_TRUE(has(some.text, "none.bat: ") && has(some.text, "small.bat")) << some.text;
    const Outcome no =
      run_in_shell(program, quoted("no.bat.series") + quoted("small.bat") + "2>&1");
    EXPECT_EQ(no.status, 1) << no.text;
    EXPECT_TRUE(has(no.text, "no.bat.series: is not a series list") && has(no.text, "small.bat"))
      << no.text;
    EXPECT_EQ(run_in_shell(program, quoted("none.bat.series")).status, 1);
  }
  const Outcome json = run_in_shell(BAT_INFO, "--json " + quoted("all.bat.series"));
  EXPECT_EQ(json.text.rfind("[\n", 0), 0U) << json.text;
  EXPECT_EQ(run_in_shell(BAT_INFO, "--json " + quoted("small.bat")).text.rfind("{\n", 0), 0U);
}

TEST(Programs, print_nothing_that_a_terminal_obeys)
{
  const TempDir folder;
  const fs::path path = folder / "a\x1b[2J.bat";
  const float xyz[] = { 0, 0, 0, 1, 1, 1 };
  const double values[] = { 1, 2 };
  bat::ParticleView particles;
  particles.count = 2;
  particles.positions = bat::ArrayView::packed(bat::ScalarType::Float32, 3, xyz);
  particles.attributes.push_back({ "red\x1b[31m\xe2\x80\xae\xc2\x9b m\xc3\xb6",
    bat::ArrayView::packed(bat::ScalarType::Float64, 1, values), 0, 0 });
  particles.metadata = "{\"a\":\n\"\x7f\xe2\x80\xae\"}";
  bat::write_file(path, particles);
  for (const auto& [program, arguments] :
    { std::pair(BAT_INFO, ""), std::pair(BAT_INFO, "--json "), std::pair(BAT_VALIDATE, "") })
  {
    for (const fs::path& file : { path, folder / "no\x1b[2J.bat" })
    {
      const Outcome ran = run_in_shell(program, arguments + ("'" + file.string() + "' 2>&1"));
      EXPECT_EQ(ran.status, file == path ? 0 : 1) << ran.text;
      for (const char* const obeyed : { "\x1b", "\x7f", "\xc2\x9b", "\xe2\x80\xae" })
      {
        EXPECT_FALSE(has(ran.text, obeyed)) << ran.text;
      }
      EXPECT_TRUE(has(ran.text, *arguments && file == path ? "a\\u001b[2J.bat" : "\\x1b[2J.bat"))
        << ran.text;
    }
  }
  const Outcome info = run_in_shell(BAT_INFO, "'" + path.string() + "'");
  EXPECT_TRUE(has(info.text, "red\\x1b[31m\\u202e\\u009b m\xc3\xb6: 1 x float64")) << info.text;
  EXPECT_TRUE(has(info.text, "{\"a\":\n\"\\u007f\\u202e\"")) << info.text;
}

TEST(BadFile, that_does_not_exist_is_not_found)
{
  const TempDir folder;
  expect_refused(folder / "no such.bat", ErrorCode::NotFound, { "No such file" });
  expect_refused(folder / "no folder/x.bat", ErrorCode::NotFound, { "No such file" });
  expect_refused(kGolden / "small.bat/x.bat", ErrorCode::NotFound, { "Not a directory" });
}

TEST(BadFile, that_is_a_folder_cannot_be_opened)
{
  const TempDir folder;
  expect_refused(folder.path(), ErrorCode::CannotOpen, { "directory", "regular file" });
}

TEST(BadFile, that_is_a_device_or_pipe_or_socket_cannot_be_opened_and_does_not_hang)
{
  const TempDir folder;
  expect_refused("/dev/null", ErrorCode::CannotOpen, { "regular file" });
  expect_refused("/dev/zero", ErrorCode::CannotOpen, { "regular file" });
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0666), 0);
  expect_refused(folder / "pipe", ErrorCode::CannotOpen, { "regular file" });

  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (folder / "socket").c_str(), sizeof(address.sun_path) - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  expect_refused(folder / "socket", ErrorCode::CannotOpen, {});
  ::close(socket);
}

TEST(BadFile, that_may_not_be_read_cannot_be_opened)
{
  const TempDir folder;
  fs::copy(kGolden / "small.bat", folder / "secret.bat");
  fs::permissions(folder / "secret.bat", fs::perms::none);
  const WithoutPrivileges nobody(folder.path());
  try
  {
    (void)bat::File::open(folder / "secret.bat");
    FAIL() << "was opened";
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), ErrorCode::CannotOpen);
    EXPECT_TRUE(has(error.what(), "secret.bat: cannot open: Permission denied")) << error.what();
  }
}

TEST(BadFile, that_is_a_link_in_circles_cannot_be_opened)
{
  const TempDir folder;
  fs::create_symlink("b.bat", folder / "a.bat");
  fs::create_symlink("a.bat", folder / "b.bat");
  expect_refused(folder / "a.bat", ErrorCode::CannotOpen, { "symbolic links" });
}

TEST(BadFile, that_is_empty_is_truncated)
{
  const TempDir folder;
  write_bytes(folder / "empty.bat", {});
  expect_refused(folder / "empty.bat", ErrorCode::Truncated, { "empty" });
}

TEST(BadFile, of_another_type_is_no_bat_file)
{
  const TempDir folder;
  const std::vector<std::string> others{ "@echo off\r\ncopy a b\r\n", "<?xml version=\"1.0\"?>",
    std::string("\x89PNG\r\n\x1A\n", 8), std::string("\x89HDF\r\n\x1A\n", 8), "x", "\n",
    std::string(5000, '\0') };
  for (const std::string& text : others)
  {
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    write_bytes(folder / "other.bat", { data, data + text.size() });
    expect_refused(
      folder / "other.bat", ErrorCode::NotABatFile, { "not a BAT file", "89 42 41 54" });
    EXPECT_FALSE(bat::File::has_magic(folder / "other.bat"));
  }
}

TEST(BadFile, whose_line_ends_were_converted_is_no_bat_file)
{
  const TempDir folder;
  std::vector<std::byte> bytes = read_bytes(kGolden / "small.bat");
  ASSERT_EQ(bytes[4], std::byte{ '\r' });
  bytes.erase(bytes.begin() + 4);
  write_bytes(folder / "converted.bat", bytes);
  expect_refused(folder / "converted.bat", ErrorCode::NotABatFile, { "first bytes", "0A 1A" });
}

TEST(BadFile, of_a_newer_version_is_unsupported_and_still_has_the_magic)
{
  const TempDir folder;
  std::vector<std::byte> bytes = read_bytes(kGolden / "small.bat");
  bytes[8] = std::byte{ 3 };
  write_bytes(folder / "newer.bat", bytes);
  expect_refused(
    folder / "newer.bat", ErrorCode::UnsupportedVersion, { "version 3.0", "version 1" });
  EXPECT_TRUE(bat::File::has_magic(folder / "newer.bat"));
}

TEST(BadFile, cut_short_is_truncated_with_both_sizes)
{
  const TempDir folder;
  std::vector<std::byte> bytes = read_bytes(kGolden / "small.bat");
  const std::string whole = std::to_string(bytes.size());
  bytes.resize(1000);
  write_bytes(folder / "cut.bat", bytes);
  expect_refused(folder / "cut.bat", ErrorCode::Truncated, { "1000", whole });
}

TEST(BadFile, with_a_name_of_any_bytes_is_named_as_it_is)
{
  const TempDir folder;
  const std::string name = "two words 'quoted' \"twice\" ÄÖ {} %s \xFF.bat";
  expect_refused(folder / name, ErrorCode::NotFound, { name });
  fs::copy(kGolden / "small.bat", folder / name);
  EXPECT_NO_THROW(bat::validate(folder / name));
  EXPECT_EQ(run(BAT_INFO, (folder / name).string()).status, 0);
  EXPECT_EQ(run(std::string(BAT_INFO) + "' '--json", (folder / name).string()).status, 0);
}

TEST(BadFile, damaged_where_opening_does_not_look_is_found_by_bat_validate)
{
  const TempDir folder;
  std::vector<std::byte> bytes = read_bytes(kGolden / "small.bat");
  bytes[130] ^= std::byte{ 1 }; // a position
  write_bytes(folder / "flipped.bat", bytes);
  EXPECT_EQ(run(BAT_INFO, (folder / "flipped.bat").string()).status, 0);
  const Outcome ran = run(BAT_VALIDATE, (folder / "flipped.bat").string());
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(has(ran.text, "flipped.bat: ") && has(ran.text, "page 0 of POSITIONS")) << ran.text;
}

TEST(Programs, accept_every_golden_file)
{
  for (const std::string& name : names_in(kGolden))
  {
    if (fs::path(name).extension() == ".bat")
    {
      for (const std::string program : { BAT_INFO, BAT_VALIDATE })
      {
        const Outcome ran = run(program, (kGolden / name).string());
        EXPECT_EQ(ran.status, 0) << ran.text;
        EXPECT_TRUE(has(ran.text, name)) << ran.text;
      }
    }
  }
}

TEST(Programs, without_a_file_or_with_an_unknown_option_fail)
{
  for (const std::string program : { BAT_INFO, BAT_VALIDATE })
  {
    EXPECT_NE(run(program, "--no-such-option").status, 0);
    EXPECT_EQ(run(program, "--help").status, 0);
    EXPECT_EQ(run(program, "--version").status, 0);
    EXPECT_EQ(run(program, "").status, 1) << "an empty name is no file";
  }
}

TEST(Programs, print_metadata_that_is_nested_deeply_or_no_object)
{
  const TempDir folder;
  const damage::Bytes small = read_bytes(kGolden / "small.bat");
  using std::string_literals::operator""s;
  const std::vector<std::string> sound{ R"({"a":)" + std::string(200000, '[') +
      std::string(200000, ']') + "}",
    R"({"a": 1e300, "b": 123456789012345678901234567890})",
    R"({"a":"\ud83d\ude00","a":[-0.5E-3, 0, true ,null,{}]})", " {\t} \r\n" };
  for (const std::string& metadata : { sound[0], sound[1], sound[2], sound[3], "[1, 2]"s, "{"s,
         "\xFF"s, "{}\0junk"s, "{}\0"s, "\xEF\xBB\xBF{}"s, "{} {}"s, R"({"a":01})"s, R"({"a":1.})"s,
         R"({"a":.5})"s, R"({"a":+1})"s, R"({"a":1,})"s, R"({"a" 1})"s, R"({a:1})"s,
         R"({"a":"\x"})"s, R"({"a":"\u12g4"})"s, "{\"a\":\"\n\"}"s, R"({"a":nul})"s,
         R"({"a":[1 2]})"s, R"({"a":[1}])"s, "{\"a\":\"\xC3\"}"s, R"({"a":"\)"s, R"({"a":1e})"s,
         R"({"a":-})"s, "{]"s, ""s, R"({"a": 1e999})"s, R"({"a":"\ud800"})"s })
  {
    const std::string path = (folder / "metadata.bat").string();
    write_bytes(path, damage::with_section(small, bat::format::SectionKind::Metadata, metadata));
    EXPECT_EQ(bat::File::open(path).metadata(), metadata);
    EXPECT_EQ(run(BAT_INFO, path).status, 0) << metadata.substr(0, 10);
    EXPECT_EQ(run(std::string(BAT_INFO) + "' '--json", path).status, 0) << metadata.substr(0, 10);
    const bool is_sound = std::find(sound.begin(), sound.end(), metadata) != sound.end();
    EXPECT_EQ(run(BAT_VALIDATE, path).status, is_sound ? 0 : 1) << metadata.substr(0, 20);
  }
}

TEST(Programs, bat_validate_goes_on_behind_a_bad_file)
{
  const std::string good = (kGolden / "small.bat").string();
  const Outcome ran = run(std::string(BAT_VALIDATE) + "' '/no/such.bat", good);
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(has(ran.text, "/no/such.bat") && has(ran.text, good + ": valid")) << ran.text;
}

TEST(Programs, tell_what_a_dataset_of_several_leaf_files_holds_and_what_it_lacks)
{
  const TempDir folder;
  const fs::path top = folder / "dataset.bat";
  const fs::path leaves = folder / "dataset.bat.leaves";
  fs::copy_file(kGolden / "dataset.bat", top);
  fs::copy(kGolden / "dataset.bat.leaves", leaves);
  const std::string second = names_in(leaves).at(1);
  Outcome info = run(BAT_INFO, top.string());
  EXPECT_EQ(info.status, 0);
  EXPECT_TRUE(has(info.text, "leaf files       4, with 2 to 50 particles")) << info.text;
  EXPECT_TRUE(has(info.text, second + ": 3 particles, 2976 bytes, [")) << info.text;
  EXPECT_TRUE(has(info.text, "2872 bytes, no finite position\n")) << info.text;
  EXPECT_FALSE(has(info.text, "missing")) << info.text;
  const Outcome json = run(std::string(BAT_INFO) + "' '--json", top.string());
  EXPECT_TRUE(has(json.text, "\"leaf_files\": 4") && has(json.text, (leaves / second).string()))
    << json.text;
  EXPECT_TRUE(has(run(BAT_VALIDATE, top.string()).text, "dataset.bat: valid, 86 particles"));

  fs::remove(leaves / second);
  info = run(BAT_INFO, top.string());
  EXPECT_EQ(info.status, 0);
  EXPECT_TRUE(has(info.text, "], missing\n") && has(info.text, "1 of 4 leaf files is missing"))
    << info.text;
  const Outcome refused = run(BAT_VALIDATE, top.string());
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(has(refused.text, "does not exist; leaf file 2 of 4 in " + top.string()))
    << refused.text;
}

TEST(Programs, read_datasets_of_more_leaf_files_than_they_may_have_descriptors)
{
  const TempDir folder;
  const std::string top = (folder / "dataset.bat").string();
  dataset_files::write_pairs(top, 100);
  const DescriptorLimit limit(64);
  for (const std::string program : { BAT_INFO, BAT_VALIDATE })
  {
    const Outcome ran = run(program, top);
    EXPECT_EQ(ran.status, 0) << ran.text;
    EXPECT_TRUE(has(ran.text, "200")) << ran.text;
  }
}

class BadQuery : public testing::Test
{
protected:
  /// select() and upper_bound() reject the query with `words`.
  void expect_refused(const bat::Query& query, const std::vector<std::string>& words)
  {
    for (const bool counting : { false, true })
    {
      try
      {
        counting ? (void)this->file.upper_bound(query) : (void)this->file.select(query);
        ADD_FAILURE() << "was answered; " << words.front();
      }
      catch (const bat::Error& error)
      {
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
        EXPECT_TRUE(has(error.what(), "written_3000.bat: ")) << error.what();
        for (const std::string& word : words)
        {
          EXPECT_TRUE(has(error.what(), word)) << error.what() << "\nlacks: " << word;
        }
      }
    }
  }

  static bat::Query range(const std::string& name, bat::Number lower, bat::Number upper,
    std::optional<int> component = {})
  {
    bat::Query query;
    query.ranges.push_back({ name, component, lower, upper });
    return query;
  }

  bat::File file = bat::File::open(kGolden / "written_3000.bat");
};

TEST_F(BadQuery, of_an_attribute_that_does_not_exist_names_those_that_do)
{
  this->expect_refused(range("fie1d", 0.0, 1.0), { "'fie1d'", "field", "velocity" });
  this->expect_refused(range("", 0.0, 1.0), { "''", "field" });
  EXPECT_THROW((void)this->file.attribute_index("Field"), bat::Error);
  EXPECT_THROW((void)bat::parse_range_target("fie1d", this->file.attribute_names()), bat::Error);
}

TEST_F(BadQuery, of_a_component_that_does_not_exist_names_those_that_do)
{
  this->expect_refused(range("velocity", 0.0, 1.0, 3), { "component 3", "0 to 2" });
  this->expect_refused(range("velocity", 0.0, 1.0, -1), { "component -1", "0 to 2" });
  this->expect_refused(range("field", 0.0, 1.0, 1), { "component 1", "0 to 0" });
}

TEST_F(BadQuery, with_nan_in_a_range_is_refused)
{
  this->expect_refused(range("field", kNaN, 1.0), { "'field'", "NaN" });
  this->expect_refused(range("field", 0.0, kNaN), { "'field'", "NaN" });
  this->expect_refused(range("id", kNaN, kNaN), { "'id'", "NaN" });
}

TEST_F(BadQuery, whose_range_has_its_minimum_above_its_maximum_is_refused)
{
  this->expect_refused(range("field", 2.0, 1.0), { "'field'", "2", "1" });
  constexpr std::int64_t big = std::int64_t{ 1 } << 53;
  // Equal as doubles.
  this->expect_refused(
    range("id", big + 1, big), { "'id'", "9007199254740993", "9007199254740992" });
  this->expect_refused(range("id", std::uint64_t{ 1 } << 63, std::int64_t{ -1 }), { "'id'", "-1" });
}

TEST_F(BadQuery, with_a_wrong_box_is_refused)
{
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const std::string name(1, "xyz"[axis]);
    bat::Query query;
    query.box = bat::Box{ { 0, 0, 0 }, { 1, 1, 1 } };
    query.box->lower[axis] = kNaN;
    this->expect_refused(query, { "box", "NaN", name + " axis" });
    query.box->lower[axis] = 0;
    query.box->upper[axis] = kNaN;
    this->expect_refused(query, { "box", "NaN", name + " axis" });
    query.box->upper[axis] = -0.5;
    this->expect_refused(query, { "box", "-0.5", name + " axis" });
  }
}

TEST_F(BadQuery, with_a_quality_outside_of_0_to_1_is_refused)
{
  for (const double quality : { -0.01, 1.0000001, kNaN, kInfinity, -kInfinity, -1e300 })
  {
    bat::Query query;
    query.quality = quality;
    this->expect_refused(query, { "quality", "0 to 1" });
    query.quality = 1;
    query.after_quality = quality;
    this->expect_refused(query, { "quality", "0 to 1" });
    EXPECT_THROW((void)this->file.particles_at(quality), bat::Error);
  }
  bat::Query query;
  query.quality = 0.25;
  query.after_quality = 0.5;
  this->expect_refused(query, { "0.5", "0.25" });
}

TEST_F(BadQuery, with_a_part_that_does_not_exist_is_refused)
{
  bat::Query query;
  query.part = 3;
  query.parts = 3;
  this->expect_refused(query, { "part 3 of 3" });
  query.part = 0;
  query.parts = 0;
  this->expect_refused(query, { "part 0 of 0" });
}

TEST_F(BadQuery, leaves_the_file_as_good_as_before)
{
  const std::uint64_t before = this->file.select(range("field", 300.0, 400.0)).count;
  this->expect_refused(range("field", kNaN, 1.0), { "NaN" });
  EXPECT_EQ(this->file.select(range("field", 300.0, 400.0)).count, before);
}

TEST_F(BadQuery, selections_of_another_file_are_refused)
{
  const std::uint64_t n = this->file.particle_count();
  std::vector<float> out(3 * 10);
  const std::vector<bat::Selection> wrong{ { { { n, 1 } }, 1, 0 }, { { { n - 1, 2 } }, 2, 0 },
    { { { ~std::uint64_t{ 0 }, 2 } }, 2, 0 },
    { { { 1, ~std::uint64_t{ 0 } } }, ~std::uint64_t{ 0 }, 0 }, { { { 5, 2 }, { 3, 2 } }, 4, 0 },
    { { { 5, 2 }, { 6, 2 } }, 4, 0 }, { { { 0, 2 } }, 3, 0 } };
  for (const bat::Selection& selection : wrong)
  {
    EXPECT_THROW(this->file.read_positions(selection, out.data()), bat::Error);
    EXPECT_THROW(this->file.read_attribute(0, selection, out.data()), bat::Error);
  }
  EXPECT_THROW(this->file.read_attribute(99, { { { 0, 1 } }, 1, 0 }, out.data()), bat::Error);
}

TEST(Readers, share_a_file_and_each_open_their_own_with_the_same_answers)
{
  const bat::File shared = bat::File::open(kGolden / "written_3000.bat");
  const auto answer = [](const bat::File& file, int i)
  {
    bat::Query query;
    query.quality = 0.2 + 0.1 * (i % 8);
    query.ranges.push_back({ "field", {}, 300.0 + 10 * i, 450.0 + 10 * i });
    const bat::Selection selection = file.select(query);
    std::vector<double> values(selection.count);
    file.read_attribute(0, selection, values.data());
    return values;
  };
  std::vector<std::vector<double>> expected;
  for (int i = 0; i != 16; ++i)
  {
    expected.push_back(answer(bat::File::open(kGolden / "written_3000.bat"), i));
  }
  EXPECT_FALSE(expected[3].empty());
  std::atomic<int> differences{ 0 };
  std::vector<std::thread> threads;
  for (int t = 0; t != 8; ++t)
  {
    threads.emplace_back(
      [&, t]
      {
        for (int i = 0; i != 32; ++i)
        {
          const int which = (i + t) % 16;
          const bool own = i % 2 == t % 2;
          differences += (own ? answer(bat::File::open(kGolden / "written_3000.bat"), which)
                              : answer(shared, which)) != expected[static_cast<std::size_t>(which)];
        }
      });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(differences, 0);
}

TEST(Readers, keep_the_old_file_while_a_writer_replaces_it)
{
  const TempDir folder;
  const fs::path path = folder / "replaced.bat";
  const clouds::Cloud a = clouds::uniform(2000, 1);
  const clouds::Cloud b = clouds::uniform(3000, 2);
  bat::write_file(path, a.view());
  std::atomic<bool> stop{ false };
  std::atomic<int> failures{ 0 };
  std::atomic<int> opened{ 0 };
  std::thread reader(
    [&]
    {
      while (!stop)
      {
        try
        {
          const bat::File file = bat::File::open(path);
          bat::validate(file);
          failures += file.particle_count() != 2000 && file.particle_count() != 3000;
          ++opened;
        }
        catch (const std::exception&)
        {
          ++failures;
        }
      }
    });
  for (int i = 0; i != 40; ++i)
  {
    bat::write_file(path, i % 2 == 0 ? b.view() : a.view());
  }
  stop = true;
  reader.join();
  EXPECT_EQ(failures, 0);
  EXPECT_GT(opened, 0);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{ "replaced.bat" });
}
}
