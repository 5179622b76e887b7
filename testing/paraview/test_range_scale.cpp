// SPDX-License-Identifier: BSD-3-Clause
// The numbers for positions on a slider, and particle counts as texts.
#include "pqCount.h"
#include "pqRangeScale.h"

#include <QRegularExpression>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace
{
pqHistogram histogram(double lower, double upper, bool integers, double straightBelow = 0.0)
{
  pqHistogram h;
  h.Lower = lower;
  h.Upper = upper;
  h.Integers = integers;
  h.StraightBelow = straightBelow;
  h.Counts = { 1.0, 2.0 };
  return h;
}

std::string text(const pqRangeScale& scale, double place)
{
  return scale.text(place).toStdString();
}

constexpr double kNowhere = -1.0;
}

TEST(RangeScale, ends_are_the_texts_of_the_file)
{
  const pqRangeScale reals(
    "0.1000000000000000055", "8.3333333333333339", histogram(0.1, 8.3333333333333339, false));
  EXPECT_EQ(text(reals, 0.0), "0.1000000000000000055");
  EXPECT_EQ(text(reals, -3.0), "0.1000000000000000055");
  EXPECT_EQ(text(reals, 1.0), "8.3333333333333339");
  const pqRangeScale ids("9007199254740993", "9007199254760992",
    histogram(9007199254740993.0, 9007199254760992.0, true));
  EXPECT_EQ(text(ids, 0.0), "9007199254740993");
  EXPECT_EQ(text(ids, 1.0), "9007199254760992");
  EXPECT_EQ(ids.place("9007199254740993", kNowhere), 0.0);
  EXPECT_EQ(ids.place("9007199254760992", kNowhere), 1.0);
}

TEST(RangeScale, numbers_in_between_are_short)
{
  const pqRangeScale unit("0.00012", "0.99987", histogram(0.00012, 0.99987, false));
  EXPECT_EQ(text(unit, 0.25), "0.25");
  EXPECT_EQ(text(unit, 0.1), "0.1");
  EXPECT_EQ(text(unit, 0.333333), "0.333");
  const pqRangeScale wide("-1e+20", "3e+20", histogram(-1e20, 3e20, false));
  EXPECT_EQ(text(wide, 0.25), "0");
  EXPECT_EQ(text(wide, 0.5), "1e+20");
  EXPECT_EQ(text(wide, 0.625), "1.5e+20");
  const pqRangeScale high("100000.2", "100001.7", histogram(100000.2, 100001.7, false));
  EXPECT_EQ(text(high, 0.5), "100000.95");
  const pqRangeScale tail("1", "1e12", histogram(1, 1e12, false, 1.0));
  EXPECT_LE(tail.text(0.5).size(), 7);
  EXPECT_NEAR(std::log10(tail.text(0.5).toDouble()), 6.0, 0.2);
}

TEST(RangeScale, a_number_is_where_it_came_from)
{
  const struct
  {
    const char* minimum;
    const char* maximum;
    bool integers;
    double straightBelow;
  } cases[] = { { "-3.5", "2.25", false, 0 }, { "1e-300", "1e300", false, 1 },
    { "-1.7e308", "1.7e308", false, 0 }, { "-1000000", "1000000", false, 0.5 },
    { "0", "255", true, 0 }, { "-7", "9000000", true, 3 },
    { "-9223372036854775808", "9223372036854775807", true, 0 },
    { "0", "18446744073709551615", true, 0 }, { "0", "18446744073709551615", true, 100 },
    { "9223372036854775000", "9223372036854775807", true, 0 },
    { "18446744073709550000", "18446744073709551615", true, 0 } };
  for (const auto& c : cases)
  {
    SCOPED_TRACE(std::string(c.minimum) + " to " + c.maximum);
    const QString minimum = c.minimum;
    const QString maximum = c.maximum;
    const pqRangeScale scale(minimum, maximum,
      histogram(minimum.toDouble(), maximum.toDouble(), c.integers, c.straightBelow));
    ASSERT_TRUE(scale.isUsable());
    double last = 0.0;
    for (int i = 0; i <= 1000; ++i)
    {
      const double place = i / 1000.0;
      const QString number = scale.text(place);
      const double there = scale.place(number, kNowhere);
      // As close as the rounding, or the next integer.
      const double extent = std::fabs(maximum.toDouble() - minimum.toDouble());
      const double tolerance = 0.01 + (c.integers ? (c.straightBelow > 0 ? 0.1 : 1 / extent) : 0.0);
      ASSERT_NEAR(there, place, tolerance) << number.toStdString();
      // Where the rounding becomes coarser, a number may be a little below the one before.
      ASSERT_GE(there, last - 0.002) << number.toStdString();
      ASSERT_TRUE(!c.integers || !number.contains(QRegularExpression("[.e]")))
        << number.toStdString();
      last = there;
    }
  }
}

TEST(RangeScale, integers_are_multiples_of_a_power_of_ten_and_keep_their_digits)
{
  const pqRangeScale ids("9007199254740993", "9007199254760992",
    histogram(9007199254740993.0, 9007199254760992.0, true));
  EXPECT_EQ(text(ids, 0.5), "9007199254750990");
  EXPECT_EQ(text(ids, 0.75), "9007199254755990");
  EXPECT_EQ(ids.place("9007199254740994", kNowhere), 1.0 / 19999);
  const pqRangeScale few("0", "3", histogram(0, 3, true));
  EXPECT_EQ(text(few, 0.4), "1");
  EXPECT_EQ(text(few, 0.6), "2");
  EXPECT_EQ(text(few, 0.1), "0");
}

TEST(RangeScale, a_step_leads_to_another_number_until_the_end)
{
  const pqRangeScale few("0", "3", histogram(0, 3, true));
  EXPECT_EQ(few.stepped(0.0, 0.01), "1");
  EXPECT_EQ(few.stepped(few.place("1", kNowhere), 0.01), "2");
  EXPECT_EQ(few.stepped(few.place("1", kNowhere), -0.01), "0");
  EXPECT_EQ(few.stepped(1.0, 0.01), "3");
  const pqRangeScale unit("0", "1", histogram(0, 1, false));
  EXPECT_EQ(unit.stepped(0.5, 0.01), "0.51");
  EXPECT_EQ(unit.stepped(0.5, -2.0), "0");
}

TEST(RangeScale, knows_texts_that_are_no_numbers)
{
  const pqRangeScale unit("0", "1", histogram(0, 1, false));
  EXPECT_EQ(unit.place("", kNowhere), kNowhere);
  EXPECT_EQ(unit.place("a", kNowhere), kNowhere);
  EXPECT_EQ(unit.place("nan", kNowhere), kNowhere);
  EXPECT_EQ(unit.place("-inf", kNowhere), 0.0);
  EXPECT_EQ(unit.place("inf", kNowhere), 1.0);
  EXPECT_EQ(unit.place("-5", kNowhere), 0.0);
  EXPECT_EQ(unit.place("7", kNowhere), 1.0);
}

TEST(RangeScale, infinite_ends_have_finite_places)
{
  const pqRangeScale scale("-inf", "inf", histogram(-2.0, 6.0, false));
  ASSERT_TRUE(scale.isUsable());
  EXPECT_EQ(text(scale, 0.0), "-inf");
  EXPECT_EQ(text(scale, 1.0), "inf");
  EXPECT_EQ(text(scale, 0.5), "2");
  EXPECT_EQ(scale.place("-inf", kNowhere), 0.0);
}

TEST(RangeScale, one_value_or_none_leaves_nothing_to_choose)
{
  EXPECT_FALSE(pqRangeScale().isUsable());
  EXPECT_FALSE(pqRangeScale("3", "3", histogram(3, 3, false)).isUsable());
  EXPECT_FALSE(pqRangeScale("3", "3", histogram(3, 3, true)).isUsable());
  const pqRangeScale none("inf", "-inf", pqHistogram());
  EXPECT_FALSE(none.isUsable());
  EXPECT_FALSE(none.hasValues());
  EXPECT_TRUE(pqRangeScale("3", "3", histogram(3, 3, true)).hasValues());
  EXPECT_EQ(none.place("1", kNowhere), kNowhere);
  // Integers that are equal as doubles.
  const pqRangeScale near("9007199254740992", "9007199254740993",
    histogram(9007199254740992.0, 9007199254740993.0, true));
  EXPECT_TRUE(near.isUsable());
  EXPECT_EQ(text(near, 0.9), "9007199254740993");
}

TEST(RangeScale, numbers_are_shown_short)
{
  EXPECT_EQ(bat_range::shown("9007199254740993"), "9007199254740993");
  EXPECT_EQ(bat_range::shown("0.12345678"), "0.1235");
  EXPECT_EQ(bat_range::shown("1.23456789e-12"), "1.235e-12");
  EXPECT_EQ(bat_range::shown(""), "");
  EXPECT_EQ(bat_range::shown("-inf"), "-inf");
  EXPECT_EQ(bat_range::rounded(0.123456, 0.001), "0.123");
  EXPECT_EQ(bat_range::rounded(123456.0, 1000.0), "123000");
  EXPECT_EQ(bat_range::rounded(-1e-9, 1e-3), "0");
}

TEST(RangeScale, numbers_are_read_with_commas_and_without_noise)
{
  EXPECT_EQ(bat_range::readable("9007199254740993"), "9,007,199,254,740,993");
  EXPECT_EQ(bat_range::readable("-1234"), "-1,234");
  EXPECT_EQ(bat_range::readable("-123"), "-123");
  EXPECT_EQ(bat_range::readable("123"), "123");
  EXPECT_EQ(bat_range::readable("0.1000000000000000055"), "0.1");
  EXPECT_EQ(bat_range::readable("33.947265625"), "33.9472656");
  EXPECT_EQ(bat_range::readable("inf"), "inf");
  EXPECT_EQ(bat_range::readable(""), "");
}

TEST(RangeScale, the_largest_share_is_of_all_particles)
{
  EXPECT_EQ(histogram(0, 1, false).largestShare(), 2.0 / 3.0);
  EXPECT_EQ(pqHistogram().largestShare(), 0.0);
}

TEST(RangeScale, the_end_of_the_axis_is_no_limit)
{
  const pqRangeScale reals("0.1000000000000000055", "33.947265625", histogram(0.1, 33.947, false));
  EXPECT_EQ(reals.upperLimit(reals.text(1.0)), "");
  EXPECT_EQ(reals.upperLimit(reals.stepped(0.5, 2.0)), "");
  EXPECT_EQ(reals.upperLimit(reals.text(0.5)), reals.text(0.5));
  EXPECT_EQ(reals.lowerLimit(reals.text(0.0)), "");
  // The lower end at the largest value is one.
  EXPECT_EQ(reals.lowerLimit(reals.text(1.0)), "33.947265625");
  const pqRangeScale kinds("1", "2", histogram(1, 2, true));
  EXPECT_EQ(kinds.lowerLimit(kinds.text(0.3)), "");
  EXPECT_EQ(kinds.lowerLimit(kinds.text(0.9)), "2");
}

TEST(Count, a_part_of_millions_is_said_in_millions)
{
  const auto text = [](double number, double whole)
  { return bat_count::part(number, whole).toStdString(); };
  EXPECT_EQ(text(2000000, 15000000), "2 of 15 million");
  EXPECT_EQ(text(2549999, 15230000), "2.5 of 15.2 million");
  EXPECT_EQ(text(99999, 1234567890), "0 of 1,234.5 million");
  EXPECT_EQ(text(500000, 700000), "500,000 of 700,000");
}

TEST(Count, is_exact_or_about_and_never_beyond_its_bounds)
{
  const auto text = [](double minimum, double likely, double maximum) {
    return pqCount{ minimum, likely, maximum }.text().toStdString();
  };
  EXPECT_EQ(text(0, 0, 0), "0");
  EXPECT_EQ(text(1234567, 1234567, 1234567), "1,234,567");
  EXPECT_EQ(text(1000, 1234567, 3000000), "about 1,230,000");
  EXPECT_EQ(text(1000, 143900, 207321), "about 144,000");
  EXPECT_EQ(text(0, 999.6, 2000), "about 1,000");
  EXPECT_EQ(text(0, 7, 2000), "about 7");
  EXPECT_EQ(text(0, 0, 2000), "very few");
  EXPECT_EQ(text(1234, 1234, 1300), "about 1,234");
  EXPECT_EQ(text(1200, 1236, 1236), "about 1,236");
}
