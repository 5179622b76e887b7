// SPDX-License-Identifier: BSD-3-Clause
// Numbers of mixed types are compared and printed without rounding.

#include "bat/error.hpp"
#include "bat/query.hpp"
#include "bat/types.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using bat::Number;

TEST(Numbers, integers_keep_all_their_digits)
{
  EXPECT_EQ(bat::parse_number("9007199254740993"), Number(std::int64_t{ 9007199254740993 }));
  EXPECT_EQ(
    bat::parse_number("-9223372036854775808"), Number(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(
    bat::parse_number("18446744073709551615"), Number(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(bat::parse_number(" +7 "), Number(std::int64_t{ 7 }));
}

TEST(Numbers, other_numbers_are_doubles)
{
  EXPECT_EQ(bat::parse_number("0.1"), Number(0.1));
  EXPECT_EQ(bat::parse_number("1e3"), Number(1000.0));
  EXPECT_EQ(bat::parse_number("-inf"), Number(-std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(std::isnan(std::get<double>(bat::parse_number("nan"))));
  EXPECT_EQ(bat::parse_number("18446744073709551616"), Number(18446744073709551616.0));
}

TEST(Numbers, text_that_is_no_number_is_refused_by_name)
{
  for (const char* text : { "", " ", "x", "1 2", "0x10", "1.5.2", "--1", "+-1" })
  {
    try
    {
      (void)bat::parse_number(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    }
    catch (const bat::Error& e)
    {
      EXPECT_EQ(e.code(), bat::ErrorCode::InvalidArgument);
      EXPECT_NE(std::string(e.what()).find("is not a number"), std::string::npos);
    }
  }
}

TEST(Numbers, text_reads_back_as_the_same_number)
{
  const Number numbers[] = { 0.1, 1e300, -5e-324, std::int64_t{ -42 },
    std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<double>::infinity() };
  for (const Number& number : numbers)
  {
    EXPECT_EQ(bat::to_double(bat::parse_number(bat::to_string(number))), bat::to_double(number));
  }
}

TEST(RangeTarget, brackets_name_a_component_unless_they_belong_to_the_name)
{
  const std::vector<std::string> names{ "velocity", "odd[1]", "odd" };
  EXPECT_EQ(bat::parse_range_target("velocity", names).component, std::nullopt);
  EXPECT_EQ(bat::parse_range_target("velocity[2]", names).component, 2);
  EXPECT_EQ(bat::parse_range_target("velocity[2]", names).attribute, "velocity");
  EXPECT_EQ(bat::parse_range_target("odd[1]", names).attribute, "odd[1]");
  EXPECT_EQ(bat::parse_range_target("odd[0]", names).component, 0);
  EXPECT_THROW((void)bat::parse_range_target("speed", names), bat::Error);
  EXPECT_THROW((void)bat::parse_range_target("velocity[]", names), bat::Error);
  EXPECT_THROW((void)bat::parse_range_target("velocity[-1]", names), bat::Error);
  EXPECT_THROW((void)bat::parse_range_target("]", names), bat::Error);
  EXPECT_THROW((void)bat::parse_range_target("", names), bat::Error);
}
