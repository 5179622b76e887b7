// SPDX-License-Identifier: BSD-3-Clause
// The table of write options: every row is set, rejected, checked and sent to other ranks.
#include "bat/error.hpp"
#include "bat/write_options.hpp"
#include "particles/write/option_fields.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace
{
using bat::OptionValue;
using Strings = std::vector<std::string>;

std::string refusal(const std::function<void()>& f)
{
  const auto error = bat::attempt(f);
  if (!error)
  {
    return "accepted";
  }
  EXPECT_EQ(error->code(), bat::ErrorCode::InvalidArgument);
  return error->what();
}

std::string refusal(const std::string& name, const OptionValue& value, const std::string& as = {})
{
  bat::WriteOptions options;
  return refusal([&] { bat::set_option(options, name, value, as); });
}

bool same(const OptionValue& a, const OptionValue& b)
{
  return a.index() == b.index() &&
    std::visit(
      [&](const auto& v)
      {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bat::EnumNumber>)
        {
          return v.number == std::get<T>(b).number;
        }
        else
        {
          return v == std::get<T>(b);
        }
      },
      a);
}

// An allowed value that is not the default.
OptionValue another(const bat::OptionInfo& info)
{
  const std::string last_word = info.allowed.substr(info.allowed.find_last_of(' ') + 1);
  const std::vector<OptionValue> candidates = { false, true, std::int64_t{ 1 },
    std::int64_t{ 1024 }, 0.25, 2.5, last_word, Strings{ "id", "" } };
  for (const OptionValue& candidate : candidates)
  {
    bat::WriteOptions options;
    if (!bat::attempt([&] { bat::set_option(options, info.name, candidate); }) &&
      !same(bat::get_option(options, info.name), info.standard))
    {
      return bat::get_option(options, info.name);
    }
  }
  ADD_FAILURE() << "no value but the default is found for " << info.name;
  return info.standard;
}

TEST(Options, of_the_table_keep_what_they_are_given)
{
  ASSERT_FALSE(bat::option_table().empty());
  for (const bat::OptionInfo& info : bat::option_table())
  {
    SCOPED_TRACE(info.name);
    EXPECT_TRUE(bat::is_option(info.name));
    bat::WriteOptions options;
    EXPECT_TRUE(same(bat::get_option(options, info.name), info.standard));
    bat::set_option(options, info.name, info.standard);
    const OptionValue value = another(info);
    bat::set_option(options, info.name, value);
    EXPECT_TRUE(same(bat::get_option(options, info.name), value));
    bat::check_options(options);
    for (const bat::OptionInfo& other : bat::option_table())
    {
      EXPECT_TRUE(
        other.name == info.name || same(bat::get_option(options, other.name), other.standard))
        << other.name;
    }
  }
}

TEST(Options, all_go_to_other_ranks)
{
  bat::WriteOptions root;
  for (const bat::OptionInfo& info : bat::option_table())
  {
    bat::set_option(root, info.name, another(info));
  }
  bat::WriteOptions here;
  const auto from = bat::write::option_fields(root);
  const auto to = bat::write::option_fields(here);
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t i = 0; i != from.size(); ++i)
  {
    ASSERT_EQ(from[i].size, to[i].size);
    if (from[i].texts)
    {
      *to[i].texts = *from[i].texts;
    }
    else
    {
      std::memcpy(to[i].bytes, from[i].bytes, from[i].size);
    }
  }
  for (const bat::OptionInfo& info : bat::option_table())
  {
    EXPECT_TRUE(same(bat::get_option(here, info.name), bat::get_option(root, info.name)))
      << info.name;
  }
}

TEST(Options, that_cannot_be_are_refused_in_one_set_of_words)
{
  for (const bat::OptionInfo& info : bat::option_table())
  {
    const OptionValue wrong =
      info.type == "word" || info.type == "list of strings" ? OptionValue(0.5) : OptionValue("x");
    const std::string shown =
      info.type == "word" || info.type == "list of strings" ? "0.5" : "\"x\"";
    EXPECT_EQ(
      refusal(info.name, wrong), info.name + " is " + shown + "; " + info.allowed + " is allowed");
  }
  EXPECT_EQ(refusal("threads", std::int64_t{ -1 }),
    "threads is -1; a whole number from 0 to 2147483647 is allowed");
  EXPECT_EQ(
    refusal("threads", std::int64_t{ -1 }, "bat/threads").substr(0, 17), "bat/threads is -1");
  EXPECT_EQ(refusal("block_particles", std::int64_t{ 8 }),
    "block_particles is 8; 0 or a whole number from 16 to 65536 is allowed");
  EXPECT_EQ(refusal("index_budget", 0.0), "index_budget is 0; a number above 0 to 1 is allowed");
  EXPECT_EQ(refusal("max_overfull_factor", std::nan("")),
    "max_overfull_factor is nan; a number from 1 on is allowed");
  EXPECT_EQ(
    refusal("mode", "best"), "mode is \"best\"; one of adaptive, rank_border, aug is allowed");
  EXPECT_EQ(refusal("mode", bat::EnumNumber{ 3 }),
    "mode is 3; one of 0 (adaptive), 1 (rank_border), 2 (aug) is allowed");
  EXPECT_NE(refusal("mode", std::int64_t{ 1 }), "accepted"); // a word, not the number of one
  EXPECT_NE(refusal("flush", std::int64_t{ 2 }), "accepted");
  EXPECT_NE(refusal("flush", 1.0), "accepted");
  EXPECT_NE(refusal("threads", 1.0), "accepted");
  const std::string unknown = refusal("treads", std::int64_t{ 1 });
  EXPECT_EQ(
    unknown.find("unknown write option treads; did you mean 'threads'? Available: target_bytes, "),
    0U);
}

TEST(Options, that_were_set_without_the_table_are_checked_by_it)
{
  const auto refused = [](auto change)
  {
    bat::WriteOptions options;
    change(options);
    return refusal([&] { bat::check_options(options); });
  };
  EXPECT_EQ(refused([](auto&) {}), "accepted");
  EXPECT_EQ(refused([](auto& o) { o.mode = static_cast<bat::PlanMode>(9); }),
    "mode is 9; one of 0 (adaptive), 1 (rank_border), 2 (aug) is allowed");
  EXPECT_EQ(refused([](auto& o) { o.build.treelet_particles = 255; }),
    "treelet_particles is 255; a whole number from 256 to 65536 is allowed");
  EXPECT_NE(refused([](auto& o) { o.target_bytes = std::numeric_limits<std::uint64_t>::max(); })
              .find("target_bytes is -1;"),
    std::string::npos);
}
}
