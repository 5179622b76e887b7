// SPDX-License-Identifier: BSD-3-Clause
// The text of .idx files: valid texts, and errors with line, found and allowed.

#include "bat/error.hpp"
#include "bat/idx/header.hpp"
#include "idx/format/names.hpp"
#include "idx/format/refused.hpp"
#include "idx/unit/idx_texts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace bat::idx;
using bat::ErrorCode;

namespace
{
struct Refusal
{
  std::string key;
  std::string value;
  std::vector<std::string> words; ///< expected in the message
  ErrorCode code = ErrorCode::Corrupt;
};

void expect_refused(const std::string& text, const Refusal& refusal)
{
  try
  {
    (void)parse_header(text, "folder/n.idx");
    ADD_FAILURE() << "(" << refusal.key << ") " << refusal.value << " was read";
  }
  catch (const bat::Error& error)
  {
    EXPECT_EQ(error.code(), refusal.code) << error.what();
    EXPECT_NE(std::string(error.what()).find("folder/n.idx"), std::string::npos) << error.what();
    for (const std::string& word : refusal.words)
    {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
        << error.what() << "\nsays nothing of " << word;
    }
  }
}
}

TEST(IdxHeader, reads_what_is_needed)
{
  const Header header = parse_header(idx_text(), "n.idx");
  EXPECT_EQ(header.version, 6);
  EXPECT_EQ(header.box.upper, (std::array<std::int64_t, 3>{ 9, 8, 7 }));
  ASSERT_EQ(header.fields.size(), 2u);
  EXPECT_EQ(header.fields[1].type, bat::ScalarType::UInt8);
  EXPECT_EQ(header.fields[1].components, 3);
  EXPECT_EQ(header.levels(), 12);
  EXPECT_EQ(header.bits_per_block, 6);
  EXPECT_EQ(header.interleave, 1u);
  ASSERT_EQ(header.time.ranges.size(), 1u);
}

TEST(IdxHeader, comments_blanks_order_and_unknown_keys_are_legal)
{
  const Header header =
    parse_header("# made by hand\r\n(blocksperfile)\r\n 4 \r\n"
                 "( bits ) # which\n\tV01\n(unknown)\nx (y) z\n(bitsperblock)\n99\n"
                 "(fields)\na 2*float64 compressed\n  + b int8 max(1e+05)\n\n"
                 "(box)\n0 1\n0 1\n0 0 0 0 0 0\n(version)\n4\n"
                 "(filename_template)\nx%02x",
      "n.idx");
  EXPECT_EQ(header.version, 4);
  EXPECT_EQ(header.bits_per_block, 2);
  ASSERT_EQ(header.fields.size(), 2u);
  EXPECT_EQ(header.fields[0].components, 2);
  EXPECT_EQ(header.fields[0].codec, Codec::Zip);
  EXPECT_EQ(header.fields[1].maximum, std::vector<double>{ 1e5 });
}

TEST(IdxHeader, its_own_text_reads_as_the_same)
{
  const std::string more = "(time)\nt%03d/ (0,6,2) (20)\n(physic_box)\n0 0.1 -1 1 5 9\n"
                           "(axis)\nX Y Z\n(parabat_times)\n0 0.5 1.25 3 4\n";
  const Header first = parse_header(idx_text("fields",
                                      "a float32 default_compression(lz4) default_value(-1.5) "
                                      "min(0.25) max(1e+20) + b uint8[3] default_layout(hzorder)",
                                      more),
    "n.idx");
  const std::string text = to_text(first);
  const Header second = parse_header(text, "n.idx");
  EXPECT_EQ(to_text(second), text);
  EXPECT_EQ(second.box, first.box);
  EXPECT_EQ(second.times, first.times);
  EXPECT_EQ(*second.physic_box, *first.physic_box);
  EXPECT_EQ(second.fields[0].default_value, first.fields[0].default_value);
  EXPECT_EQ(second.fields[0].maximum, first.fields[0].maximum);
  EXPECT_EQ(second.fields[1].layout, Layout::HZ);
  EXPECT_EQ(second.time.ranges.size(), 2u);
  EXPECT_EQ(to_text(parse_header(idx_text("arco", "4096"), "n")),
    to_text(parse_header(to_text(parse_header(idx_text("arco", "4096"), "n")), "n")));
}

TEST(IdxHeader, says_line_found_and_allowed)
{
  const auto unsupported = ErrorCode::UnsupportedVersion;
  const std::vector<Refusal> refusals{
    { "version", "7", { "line 1", "(version)", "newer", "6.1" }, unsupported },
    { "version", "6.2", { "'6.2'" } },
    { "version", "0", { "'0'" } },
    { "box", "0 9 0 8 0", { "line 3", "5 numbers" } },
    { "box", "0 16 0 8 0 7", { "'16'", "0 to 15" } },
    { "box", "-1 9 0 8 0 7", { "'-1'" } },
    { "box", "5 4 0 8 0 7", { "'4'", "5 to 15" } },
    { "box", "0 9 0 8 0 99999999999999999999", { "'99999999999999999999'" } },
    { "box", "0 9 0 8 0 7 0 1", { "another axis" } },
    { "box", "0 9 0 8", { "2 axes" } },
    { "bits", "V", { "0 digits" } },
    { "bits", "F012", { "F" }, unsupported },
    { "bits", "V0123", { "4 axes" }, unsupported },
    { "bits", "V01x", { "'V01x'" } },
    { "bits", "V" + std::string(63, '0'), { "63", "62" } },
    { "bitsperblock", "-1", { "'-1'" } },
    { "bitsperblock", "6.5", { "'6.5'" } },
    { "blocksperfile", "0", { "'0'" } },
    { "blocksperfile", "100000000000", { "at most 3355442 blocks" } },
    { "interleave block", "x", { "'x'" } },
    { "fields", "", { "name and a type" } },
    { "fields", "a", { "name and a type" } },
    { "fields", "a float32 +", { "name and a type" } },
    { "fields", "a float32 + a int8", { "two fields", "'a'" } },
    { "fields", "a float16", { "'float16'", "float32" }, unsupported },
    { "fields", "a uint1", { "'uint1'" }, unsupported },
    { "fields", "a float32[0]", { "'0'", "1 to 64" } },
    { "fields", "a float32[65]", { "'65'" } },
    { "fields", "a float32[3", { "brackets" } },
    { "fields", "a float32 filter(dehaar)", { "filter(dehaar)", "wavelet" }, unsupported },
    { "fields", "a uint8[2] filter(min)", { "filter(min)", "are minima" }, unsupported },
    { "fields", "a uint8[2] filter(MaxFilter)", { "MaxFilter", "are maxima" }, unsupported },
    { "fields", "a uint8 default_value(256)", { "256", "uint8" } },
    { "fields", "a uint8 default_value(1.5)", { "1.5", "uint8" } },
    { "fields", "a int32 default_value(x)", { "'x'" } },
    { "filename_template", "/etc/%04x.bin", { "'/'", "relative" } },
    { "filename_template", "./../%04x.bin", { "'..'" } },
    { "filename_template", ".//x%04x.bin", { "'/'" } },
    { "filename_template", "./$(X)/%04x.bin", { "'$'" } },
    { "filename_template", "./x/$(CurrentFileDirectory)/%04x.bin", { "'$'", "at the start" } },
    { "filename_template", "$(CurrentFileDirectory)/../%04x.bin", { "'..'" } },
    { "filename_template", "$(CurrentFileDirectory)//%04x.bin", { "'/'" } },
    { "filename_template", "./x/%s.bin", { "%0Nx" } },
    { "filename_template", "./x/%4x.bin", { "%0Nx" } },
    { "filename_template", "./x/%010x.bin", { "%0Nx" } },
    { "filename_template", "./x/%04x%n", { "%0Nx" } },
    { "filename_template", "./x/%", { "%0Nx" } },
    { "filename_template", "./x.bin", { "a single file", "4 of 64 blocks" } },
    { "time", "0 9 t/", { "the same template" } },
    { "time", "9 0 t%d/", { "'0'" } },
    { "time", "0 2000000 t%d/", { "1000000" } },
    { "time", "0 9000000000000000000 t%d/", { "'9000000000000000000'" } },
    { "time", "0 4000000000000000000 t%d/", { "1000000" } },
    { "time", "t%d/", { "no steps" } },
    { "time", "t%d/ (0,9,0)", { "'0'" } },
    { "time", "t%d/ (0,9,1", { "(0,9,1" } },
    { "time", "0 9 ../t%d/", { "'..'" } },
    { "time", "0 9 t%s/", { "%d" } },
    { "time", "0 9 t%d%d/", { "more than one" } },
    { "physic_box", "0 1 0 1", { "4 numbers" } },
    { "physic_box", "0 1 0 1 0 nan", { "'nan'" } },
    { "logic_to_physic", "1 0 0 1", { "4 numbers", "16" } },
    { "arco", "2", { "2 bytes" } },
    { "io mode", "raw", { "'raw'" }, unsupported },
    { "io mode", "4", { "'4', raw", "1 to 3" }, unsupported },
    { "io mode", "5", { "'5'", "1 to 3" }, unsupported },
    { "io mode", "l_part_idx", { "n_0.idx" }, unsupported },
    { "io mode", "3", { "n_0.idx" }, unsupported },
    { "compression type", "3", { "'3'" }, unsupported },
    { "endian", "middle", { "'middle'" } },
    { "endian", "2", { "'2'", "1 and 0" } },
    { "parabat_times", "1 0", { "ascending" } },
  };
  for (const Refusal& refusal : refusals)
  {
    expect_refused(idx_text(refusal.key, refusal.value), refusal);
  }
  expect_refused(idx_text("", "", "(bits)\nV0\n"), { "bits", "twice", { "line 7", "line 17" } });
}

TEST(IdxHeader, other_files_are_no_idx)
{
  const auto no = ErrorCode::NotABatFile;
  expect_refused("", { "", "", { "(version)" }, no });
  expect_refused("a,b\n1,2\n", { "", "", { "line 1", "'a,b'" }, no });
  expect_refused(std::string("(version)\n6\n\0", 13), { "", "", { "zero byte" }, no });
  expect_refused("(version)\n6\n(bits)\nV01\n", { "", "", { "(box)" } });
  expect_refused("<dataset typename='x'>\n", { "", "", { "XML" }, ErrorCode::UnsupportedVersion });
  expect_refused(idx_text() + std::string(1 << 20, ' '), { "", "", { "1048576" } });
  std::string fields = "a0 int8";
  for (int i = 1; i != 4000; ++i)
  {
    fields += " + a" + std::to_string(i) + " int8";
  }
  EXPECT_EQ(parse_header(idx_text("fields", fields), "n.idx").fields.size(), 4000u);
  expect_refused(idx_text("fields", fields + " + a77 int8"), { "", "", { "two fields", "'a77'" } });
}

TEST(IdxHeader, a_filter_that_changes_nothing_is_read)
{
  for (const char* name : { "identity", "IdentityFilter" })
  {
    const std::string text = "a float32 filter(" + std::string(name) + ") + b uint8[3]";
    EXPECT_EQ(parse_header(idx_text("fields", text), "n.idx").fields.size(), 2u);
  }
}

TEST(IdxHeader, what_pidx_wrote_at_any_time_is_known_as_such)
{
  const std::string box = "0 9 0 8 0 7 0 0 0 0";
  const auto text = [&](const std::string& time, const std::string& more = "")
  {
    std::string made = idx_text("box", box, "(time)\n" + time + "\n" + more);
    const std::string interleave = "(interleave block)\n0\n";
    return made.erase(made.find(interleave), interleave.size());
  };
  const auto read = [](const std::string& whole) { return parse_header(whole, "n.idx"); };
  EXPECT_TRUE(read(text("0 1 time%09d/")).pidx);
  EXPECT_TRUE(read(text("0 0 time%06d/")).pidx);
  // OpenVisus.
  EXPECT_FALSE(read(text("0 1 time_%09d/")).pidx);
  EXPECT_FALSE(read(idx_text("box", box, "(time)\n0 1 time%09d/\n")).pidx);
  EXPECT_FALSE(read(idx_text("", "", "(time)\n0 1 time%09d/\n")).pidx);
  for (const char* mode : { "idx", "1", "2", "g_part_idx" })
  {
    EXPECT_TRUE(read(idx_text("io mode", mode)).pidx) << mode;
  }
  EXPECT_EQ(read(idx_text("io mode", "3", "(partition offset)\n1 2 3\n")).partition_offset[2], 3);
  EXPECT_TRUE(read(idx_text("endian", "0")).big_endian);
  EXPECT_FALSE(read(idx_text("endian", "1")).big_endian);
}

TEST(IdxNames, parts_take_digits_from_the_right)
{
  const auto name = [](const char* pattern, std::uint64_t number, int version = 6)
  {
    const std::string v = std::to_string(version);
    std::string text = idx_text("filename_template", pattern, "(time)\n0 9 t%02d/\n");
    text.replace(text.find("6"), 1, v);
    return format::FileNames(parse_header(text, "n"), "n").file(3, number);
  };
  EXPECT_EQ(name("./x/%04x.bin", 0x2c), "x/t03/002c.bin");
  EXPECT_EQ(name("x/%04x.bin", 0x12345), "x/t03/0001/2345.bin");
  EXPECT_EQ(name("./x/%01x.bin", 0x2c), "x/t03/2/c.bin");
  EXPECT_EQ(name("./x/%01x/%02x.bin", 0x12c), "x/t03/1/2c.bin");
  EXPECT_EQ(name("./x/%01x/%02x.bin", 0xab12c), "x/t03/a/b/1/2c.bin");
  EXPECT_EQ(name("./x/%02x.bin", 0x12c, 4), "x/t03/12c.bin");
  EXPECT_EQ(name("$(CurrentFileDirectory)/x/%04x.bin", 0x2c), "x/t03/002c.bin");
  EXPECT_EQ(name("$(CurrentFileDirectory)/%04x.bin", 0x2c), "t03/002c.bin");
}

TEST(IdxNames, steps_are_found_by_the_template)
{
  const format::TimeTemplate name = format::parse_time_template("time_%04d/");
  EXPECT_EQ(name.expand(12), "time_0012/");
  EXPECT_EQ(name.match("time_0012/").value(), 12);
  EXPECT_FALSE(name.match("time_012/").has_value());
  EXPECT_FALSE(name.match("tame_0012/").has_value());
  EXPECT_EQ(format::parse_time_template("t%3d/").expand(7), "t  7/");
  EXPECT_EQ(format::parse_time_template("t%3d/").match("t  7/").value(), 7);
}
