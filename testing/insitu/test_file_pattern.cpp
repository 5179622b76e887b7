// SPDX-License-Identifier: BSD-3-Clause
// Names of the files of a series.
#include "bat/insitu.hpp"

#include <gtest/gtest.h>

namespace
{
using bat::insitu::FilePattern;

std::string file(const std::string& pattern, std::int64_t step = 12, double time = 0.25)
{
  return FilePattern(pattern).file(step, time, "gas");
}

std::string series(const std::string& pattern)
{
  return FilePattern(pattern).series("gas");
}

std::string refusal(const std::string& pattern)
{
  try
  {
    (void)FilePattern(pattern);
    return {};
  }
  catch (const bat::Error& e)
  {
    EXPECT_EQ(e.code(), bat::ErrorCode::InvalidArgument);
    return e.what();
  }
}

TEST(FilePattern, placeholders_are_filled_in)
{
  EXPECT_EQ(file("dust_{timestep:06d}.bat"), "dust_000012.bat");
  EXPECT_EQ(file("dust_{timestep}.bat"), "dust_12.bat");
  EXPECT_EQ(file("dust_%04ts.bat"), "dust_0012.bat");
  EXPECT_EQ(file("dust_%4ts.bat"), "dust_  12.bat");
  EXPECT_EQ(file("dust_%ts.bat"), "dust_12.bat");
  EXPECT_EQ(file("out/{name}/{timestep:03d}.bat"), "out/gas/012.bat");
  EXPECT_EQ(file("{channel}_{timestep}_{time:.3f}.bat"), "gas_12_0.250.bat");
  EXPECT_EQ(file("dust_{timestep:06d}.bat", 123456789), "dust_123456789.bat");
}

TEST(FilePattern, what_is_missing_is_added)
{
  EXPECT_EQ(file("dust.bat"), "dust_000012.bat");
  EXPECT_EQ(file("dust"), "dust_000012.bat");
  EXPECT_EQ(file("out.d/dust"), "out.d/dust_000012.bat");
  EXPECT_EQ(file("dust_{time:.3f}"), "dust_0.250_000012.bat");
  EXPECT_EQ(file("step{timestep}/dust.bat"), "step12/dust.bat");
}

TEST(FilePattern, species_get_names_of_their_own)
{
  FilePattern pattern("out/dust_{timestep:06d}.bat");
  EXPECT_FALSE(pattern.has_name());
  pattern.add_name();
  EXPECT_TRUE(pattern.has_name());
  EXPECT_EQ(pattern.file(12, 0, "gas"), "out/dust_gas_000012.bat");
  EXPECT_EQ(pattern.series("gas"), "out/dust_gas.bat.series");
  pattern.add_name(); // once
  EXPECT_EQ(pattern.file(12, 0, "gas"), "out/dust_gas_000012.bat");
  FilePattern number("{timestep:06d}.bat");
  number.add_name();
  EXPECT_EQ(number.file(12, 0, "gas"), "gas_000012.bat");
  FilePattern folder("{timestep}/dust.bat");
  folder.add_name();
  EXPECT_EQ(folder.file(12, 0, "gas"), "12/dust_gas.bat");
  EXPECT_TRUE(FilePattern("{channel}.bat").has_name());
  EXPECT_EQ(FilePattern("{name}.bat").file(1, 0, "../a/b"), ".._a_b_000001.bat");
}

TEST(FilePattern, the_series_is_named_without_the_step)
{
  EXPECT_EQ(series("dust_{timestep:06d}.bat"), "dust.bat.series");
  EXPECT_EQ(series("out/dust.{timestep}.bat"), "out/dust.bat.series");
  EXPECT_EQ(series("out/{name}-{timestep}-{time:.3f}.bat"), "out/gas.bat.series");
  EXPECT_EQ(series("{timestep}_dust.bat"), "dust.bat.series");
  EXPECT_EQ(series("run/{timestep}/dust.bat"), "run/dust.bat.series");
  EXPECT_EQ(series("run/{timestep}.bat"), "run/steps.bat.series");
  EXPECT_EQ(series("/tmp/a_b/dust.bat"), "/tmp/a_b/dust.bat.series");
  // In the last folder that does not change; fixed folders keep their names.
  EXPECT_EQ(series("_run/-a/dust_{timestep}.bat"), "_run/-a/dust.bat.series");
  EXPECT_EQ(series("out/run_{timestep}/dust.bat"), "out/run_dust.bat.series");
  EXPECT_EQ(series("{name}_{timestep}/x.bat"), "gas_x.bat.series");
  EXPECT_EQ(series("a/{time:.2f}/b/{timestep}.bat"), "a/b.bat.series");
  EXPECT_EQ(series("dust.bat/dust.bat"), "dust.bat/dust.bat.series");
}

TEST(FilePattern, wrong_ones_are_refused)
{
  EXPECT_NE(refusal("dust_{timestep}.vtu").find("its extension is '.vtu'"), std::string::npos);
  EXPECT_NE(refusal("").find("it has no file name"), std::string::npos);
  EXPECT_NE(refusal("out/").find("it has no file name"), std::string::npos);
  EXPECT_NE(refusal("dust_{rank}.bat").find("dust_{rank}.bat"), std::string::npos);
  EXPECT_NE(refusal("dust_{timestep:06q}.bat"), "");
  EXPECT_NE(refusal("dust_{timestep.bat"), "");
  EXPECT_NE(refusal("dust_{timestep}.tracks.bat").find(".tracks.bat are read as tracks"),
    std::string::npos);
  EXPECT_EQ(file("dust.tracks.bat"), "dust.tracks_000012.bat");
  EXPECT_NE(refusal("dust_{}.bat"), "");
  EXPECT_NE(refusal(std::string("dust\0.bat", 9)).find("'dust\\0.bat': it contains a zero"),
    std::string::npos);
}
}
