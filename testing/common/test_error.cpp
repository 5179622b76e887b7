// SPDX-License-Identifier: BSD-3-Clause
// Whatever is thrown becomes an Error with the code of its kind.
#include "bat/error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

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
  { "RuntimeError", [] { throw std::runtime_error("words"); }, ErrorCode::InvalidArgument,
    "words" },
  { "Number", [] { throw 5; }, ErrorCode::InvalidArgument, "no std::exception" },
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
}
