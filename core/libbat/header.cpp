// SPDX-License-Identifier: BSD-3-Clause
#include "libbat/header.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace bat::libbat
{
namespace
{
constexpr std::uint64_t kMaxHeaderBytes = 1 << 22; // some 40,000 attributes
constexpr int kMaxNesting = 8;                     // real headers have 3

std::string read_text(const io::RandomAccessFile& file)
{
  const auto no_file = [&](const std::string& why)
  {
    throw Error(
      ErrorCode::NotABatFile, fmt::format("{}: is not a libbat file: {}", file.name(), why));
  };
  if (file.size() < 9)
  {
    no_file(fmt::format("it has {} bytes; the shortest header has 10", file.size()));
  }
  std::uint64_t bytes = 0;
  char first = 0;
  file.read(0, &bytes, 8);
  file.read(8, &first, 1);
  if (first != '{' || bytes < 2 || bytes > kMaxHeaderBytes)
  {
    no_file("it does not start with the length of a JSON object followed by the object");
  }
  if (bytes > file.size() - 8)
  {
    throw Error(ErrorCode::Truncated,
      fmt::format(
        "{}: its header has {} bytes, the file only {}", file.name(), 8 + bytes, file.size()));
  }
  std::string text(bytes, '\0');
  file.read(8, text.data(), text.size());
  return text;
}
}

Header::Header(const io::RandomAccessFile& file)
  : file_(file.name())
{
  const std::string text = read_text(file);
  this->end_ = 8 + text.size();
  try
  {
    this->json_ = nlohmann::json::parse(text,
      [&](int depth, nlohmann::json::parse_event_t, const nlohmann::json&)
      {
        if (depth > kMaxNesting)
        {
          corrupt(this->file_,
            fmt::format("the JSON header is nested more than {} levels deep", kMaxNesting));
        }
        return true;
      });
  }
  catch (const nlohmann::json::exception& error)
  {
    corrupt(this->file_, fmt::format("the JSON header cannot be read: {}", error.what()));
  }
  if (!this->json_.is_object())
  {
    corrupt(this->file_, "the JSON header is not an object");
  }
}

bool Header::has(std::string_view key) const
{
  return this->json_.contains(key);
}

const nlohmann::json& Header::at(const char* key) const
{
  const auto found = this->json_.find(key);
  if (found == this->json_.end())
  {
    corrupt(this->file_, fmt::format("the header has no '{}'", key));
  }
  return *found;
}

std::uint64_t Header::count(const char* key) const
{
  const nlohmann::json& value = this->at(key);
  if (!value.is_number_unsigned())
  {
    corrupt(this->file_,
      fmt::format("'{}' in the header must be a whole number of at least 0, found {}", key,
        value.is_number() ? "another number" : value.type_name()));
  }
  return value.get<std::uint64_t>();
}

std::string Header::text(const char* key) const
{
  const nlohmann::json& value = this->at(key);
  if (!value.is_string())
  {
    corrupt(this->file_, fmt::format("'{}' in the header is {}, not text", key, value.type_name()));
  }
  return value.get<std::string>();
}

bool Header::flag(const char* key) const
{
  if (!this->has(key))
  {
    return false;
  }
  const nlohmann::json& value = this->at(key);
  if (!value.is_boolean())
  {
    corrupt(this->file_,
      fmt::format("'{}' in the header is {}, not true or false", key, value.type_name()));
  }
  return value.get<bool>();
}

// Infinities and NaN are written as null.
std::optional<float> Header::number(const nlohmann::json& value, const std::string& what) const
{
  if (value.is_null())
  {
    return std::nullopt;
  }
  const double number = value.is_number() ? value.get<double>() : HUGE_VAL;
  if (!(std::abs(number) <= std::numeric_limits<float>::max()))
  {
    corrupt(this->file_, fmt::format("{} in the header is not a float32", what));
  }
  return static_cast<float>(number);
}

std::vector<HeaderAttribute> Header::attributes() const
{
  std::vector<HeaderAttribute> attributes;
  if (!this->has("attributes") || this->at("attributes").is_null())
  {
    return attributes;
  }
  const nlohmann::json& list = this->at("attributes");
  if (!list.is_array())
  {
    corrupt(this->file_, "'attributes' in the header is not a list");
  }
  for (const nlohmann::json& item : list)
  {
    const std::string what = fmt::format("attribute {}", attributes.size());
    HeaderAttribute attribute;
    if (!item.is_object() || !item.contains("name") || !item["name"].is_string() ||
      !item.contains("dtype") || !item["dtype"].is_number_unsigned())
    {
      corrupt(this->file_, what + " in the header lacks a name or a type");
    }
    attribute.name = item["name"].get<std::string>();
    const auto type = item["dtype"].get<std::uint64_t>();
    // The enumeration continues with vectors and matrices, which the library itself cannot write.
    if (type < 1 || type > 10)
    {
      throw Error(ErrorCode::UnsupportedVersion,
        fmt::format("{}: attribute '{}' has unknown value type {}; allowed: 1 (int8) to 10 "
                    "(float64)",
          this->file_, attribute.name, type));
    }
    attribute.type = static_cast<ScalarType>(type);
    if (item.contains("range") && !item["range"].is_null())
    {
      const nlohmann::json& range = item["range"];
      if (!range.is_array() || range.size() != 2)
      {
        corrupt(this->file_, what + " in the header has a range that is not two numbers");
      }
      const auto lower = this->number(range[0], "the range of " + what);
      const auto upper = this->number(range[1], "the range of " + what);
      if (lower && upper && *lower <= *upper)
      {
        attribute.range = { *lower, *upper };
      }
    }
    attributes.push_back(std::move(attribute));
  }
  return attributes;
}

std::optional<std::array<float, 6>> Header::bounds() const
{
  const nlohmann::json& list = this->at("bounds");
  if (!list.is_array() || list.size() != 6)
  {
    corrupt(this->file_, "'bounds' in the header is not six numbers");
  }
  std::array<float, 6> bounds{};
  bool finite = true;
  for (std::size_t i = 0; i != 6; ++i)
  {
    const auto end = this->number(list[i], "'bounds'");
    finite = finite && end;
    bounds[i] = end.value_or(0.0F);
  }
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    finite = finite && bounds[axis] <= bounds[axis + 3];
  }
  return finite ? std::optional(bounds) : std::nullopt;
}
}
