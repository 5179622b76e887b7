// SPDX-License-Identifier: BSD-3-Clause
#include "common/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>

namespace bat
{
namespace
{
// Receives the parser's events, so that no document is kept, however long or deeply nested the text
// is.
class ObjectFacts : public nlohmann::json_sax<nlohmann::json>
{
public:
  explicit ObjectFacts(std::string_view member)
    : member_(member)
  {
  }

  [[nodiscard]] const JsonObject& found() const { return this->found_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return this->open(); }
  bool start_array(std::size_t) override { return this->open(); }
  bool end_object() override { return this->close(); }
  bool end_array() override { return this->close(); }

  bool key(string_t& name) override
  {
    if (this->depth_ == 1)
    {
      this->found_.is_empty = false;
      this->found_.has_member = this->found_.has_member || name == this->member_;
    }
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override
  {
    return false;
  }

private:
  bool open()
  {
    this->found_.depth = std::max(this->found_.depth, ++this->depth_);
    return true;
  }

  bool close()
  {
    --this->depth_;
    return true;
  }

  std::string_view member_;
  std::size_t depth_ = 0;
  JsonObject found_;
};

struct Character
{
  std::uint32_t code = 0;
  std::size_t bytes = 0; ///< 0: the text does not begin with a character of UTF-8
};

Character first_of(std::string_view text)
{
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t bytes = first < 0x80 ? 1
    : first >= 0xc2 && first < 0xe0      ? 2
    : first >= 0xe0 && first < 0xf0      ? 3
    : first >= 0xf0 && first < 0xf5      ? 4
                                         : 0;
  if (bytes == 0 || bytes > text.size())
  {
    return {};
  }
  std::uint32_t code = bytes == 1 ? first : first & (0x7fu >> bytes);
  for (std::size_t i = 1; i != bytes; ++i)
  {
    if ((byte(i) & 0xc0) != 0x80)
    {
      return {};
    }
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t kMin[] = { 0, 0, 0x80, 0x800, 0x10000 };
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < kMin[bytes] || code > 0x10ffff || is_surrogate ? Character{}
                                                               : Character{ code, bytes };
}

// Control characters beyond ASCII, line separators, and marks that change the direction of text.
bool is_obeyed(std::uint32_t code)
{
  return (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f ||
    (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

// Escapes control characters that have their own letter, as Python does.
char letter_of(char control)
{
  return control == '\n' ? 'n' : control == '\r' ? 'r' : control == '\t' ? 't' : '\0';
}
}

std::string printable(std::string_view text, std::string_view keep)
{
  std::string out;
  out.reserve(text.size());
  while (!text.empty())
  {
    const Character character = first_of(text);
    const std::size_t bytes = std::max<std::size_t>(1, character.bytes);
    const bool is_byte = character.bytes == 0
      ? static_cast<unsigned char>(text[0]) < 0xa0 // some terminals obey the bare byte
      : character.code < 0x20 && keep.find(text[0]) == std::string_view::npos;
    if (text[0] == '\0')
    {
      out += "\\0";
    }
    else if (const char letter = is_byte ? letter_of(text[0]) : '\0')
    {
      out += '\\';
      out += letter;
    }
    else if (is_byte)
    {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    }
    else if (is_obeyed(character.code))
    {
      out += fmt::format("\\u{:04x}", character.code);
    }
    else
    {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

bool is_utf8(const std::string& text)
{
  // The JSON library checks encodings when it prints.
  try
  {
    (void)nlohmann::json(text).dump();
    return true;
  }
  catch (const nlohmann::json::exception&)
  {
    return false;
  }
}

std::optional<JsonObject> scan_json_object(const std::string& text, std::string_view member)
{
  // The parser skips a byte order mark, and would take a zero byte for the end of the text.
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || text[begin] != '{' || text.find('\0') != std::string::npos)
  {
    return std::nullopt;
  }
  ObjectFacts facts(member);
  if (!nlohmann::json::sax_parse(text, &facts))
  {
    return std::nullopt;
  }
  JsonObject found = facts.found();
  found.end = text.rfind('}');
  return found;
}
}
