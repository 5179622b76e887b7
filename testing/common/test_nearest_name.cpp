// SPDX-License-Identifier: BSD-3-Clause
// A mistyped name is answered with the nearest names, any other with all names.
#include "bat/nearest_name.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace
{
using Names = std::vector<std::string_view>;
const Names kNames{ "id", "velocity", "density", "mass", "threads" };
}

TEST(NearestName, is_one_typing_error_away)
{
  EXPECT_EQ(bat::nearest_names("velocty", kNames), Names{ "velocity" });
  EXPECT_EQ(bat::nearest_names("masss", kNames), Names{ "mass" });
  EXPECT_EQ(bat::nearest_names("treads", kNames), Names{ "threads" });
  EXPECT_EQ(bat::nearest_names("desnity", kNames), Names{ "density" }); // swapped neighbours
  EXPECT_EQ(bat::nearest_names("Velocity", kNames), Names{ "velocity" });
}

TEST(NearestName, is_none_if_nothing_is_similar)
{
  EXPECT_EQ(bat::nearest_names("temperature", kNames), Names{});
  EXPECT_EQ(bat::nearest_names("w", Names{ "v" }), Names{});
  EXPECT_EQ(bat::nearest_names("", kNames), Names{});
  EXPECT_EQ(bat::nearest_names(std::string(100000, 'a'), kNames), Names{});
}

TEST(NearestName, lists_at_most_three_the_nearest_first)
{
  EXPECT_EQ(bat::nearest_names("speed_x", Names{ "speed_yy", "speed_y", "speed_x0", "speed_z" }),
    (Names{ "speed_y", "speed_x0", "speed_z" }));
}

TEST(NearestName, is_part_of_the_answer)
{
  EXPECT_EQ(bat::available("masss", "id, mass"), "; did you mean 'mass'? Available: id, mass");
  EXPECT_EQ(bat::available("speed_x", "speed_y, speed_z, id"),
    "; did you mean 'speed_y' or 'speed_z'? Available: speed_y, speed_z, id");
  EXPECT_EQ(bat::available("heat", "id, mass"), "; available: id, mass");
  EXPECT_EQ(bat::available("heat", ""), "; available: none");
  EXPECT_EQ(bat::available("catalyst/bat/evry", "output, every"),
    "; did you mean 'every'? Available: output, every");
}
