// SPDX-License-Identifier: BSD-3-Clause
// Every exception becomes an Error with the code of its kind.
#include "bat/error.hpp"
#include "bat/text.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace
{
using bat::ErrorCode;

struct Thrown
{
  std::string name;
  std::function<void()> f;
  ErrorCode code;
  std::string text;
};

const std::vector<Thrown> kThrown = {
  { "Error", [] { throw bat::Error(ErrorCode::Truncated, "cut"); }, ErrorCode::Truncated, "cut" },
  { "BadAlloc", [] { throw std::bad_alloc(); }, ErrorCode::OutOfMemory, "out of memory" },
  { "LengthError", [] { std::string().reserve(std::string().max_size() + 1); },
    ErrorCode::OutOfMemory, "out of memory" },
  { "NoSpace",
    [] { throw std::system_error(std::make_error_code(std::errc::no_space_on_device), "f"); },
    ErrorCode::NoSpace, "f" },
  { "FileSystem", [] { (void)std::filesystem::file_size("/nowhere/f"); }, ErrorCode::WriteFailed,
    "/nowhere/f" },
  { "RuntimeError", [] { throw std::runtime_error("words"); }, ErrorCode::Internal,
    "internal error: words; this is a bug" },
  { "Number", [] { throw 5; }, ErrorCode::Internal, "an unknown exception" },
};

class Attempt : public ::testing::TestWithParam<Thrown>
{
};

TEST_P(Attempt, gives_what_is_thrown_as_an_error)
{
  const std::optional<bat::Error> error = bat::attempt(GetParam().f);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), GetParam().code);
  EXPECT_NE(std::string(error->what()).find(GetParam().text), std::string::npos) << error->what();
}

INSTANTIATE_TEST_SUITE_P(
  All, Attempt, ::testing::ValuesIn(kThrown), [](const auto& info) { return info.param.name; });

TEST(Attempt, gives_nothing_if_nothing_is_thrown)
{
  EXPECT_FALSE(bat::attempt([] {}));
}

TEST(Printable, leaves_nothing_that_a_terminal_obeys)
{
  EXPECT_EQ(bat::printable("plain \xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8a text"),
    "plain \xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8a text");
  EXPECT_EQ(bat::printable("\x1b[31m\x07\r\n\t"), "\\x1b[31m\\x07\\r\\n\\t");
  EXPECT_EQ(bat::printable("a\nb\tc", "\n\t"), "a\nb\tc");
  EXPECT_EQ(bat::printable(std::string("a\0b", 3)), "a\\0b");
  EXPECT_EQ(bat::printable("\x7f\xc2\x9b\xc2\xa0"), "\\u007f\\u009b\xc2\xa0");
  EXPECT_EQ(bat::printable("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xe2\x80\xa8\xd8\x9c"),
    "\\u202e\\u2066\\u200f\\u2028\\u061c");
  // Not valid UTF-8: overlong, half of a surrogate pair, beyond the last character, truncated,
  // without a lead byte.
  EXPECT_EQ(bat::printable("\xc0\x9b"), "\xc0\\x9b");
  EXPECT_EQ(bat::printable("\xe0\x80\x9b"), "\xe0\\x80\\x9b");
  EXPECT_EQ(bat::printable("\xed\xa0\x80"), "\xed\xa0\\x80");
  EXPECT_EQ(bat::printable("\xf4\x90\x80\x80"), "\xf4\\x90\\x80\\x80");
  EXPECT_EQ(bat::printable("\xe2\x82"), "\xe2\\x82");
  EXPECT_EQ(bat::printable("\x9b\xff\xe9"), "\\x9b\xff\xe9");
  const std::string all = bat::Error(bat::ErrorCode::Corrupt, "'\x1b]0;x\x07'").what();
  EXPECT_EQ(all, "'\\x1b]0;x\\x07'");
}
}
