// SPDX-License-Identifier: BSD-3-Clause
#include "common/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bat
{
namespace
{
bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/// The grammar of RFC 8259. Keeps its own stack: a hostile text may be nested as deep as it is
/// long.
class JsonScanner
{
public:
  JsonScanner(std::string_view text, std::string_view member)
    : text_(text)
    , member_(member)
  {
  }

  std::optional<JsonObject> run()
  {
    this->skip_space();
    if (this->peek() != '{' || !this->values())
    {
      return std::nullopt;
    }
    this->skip_space();
    return this->at_ == this->text_.size() ? std::optional(this->found_) : std::nullopt;
  }

private:
  [[nodiscard]] char peek() const
  {
    return this->at_ < this->text_.size() ? this->text_[this->at_] : '\0';
  }

  bool take(char c)
  {
    const bool is_there = this->at_ < this->text_.size() && this->text_[this->at_] == c;
    this->at_ += is_there ? 1 : 0;
    return is_there;
  }

  void skip_space()
  {
    while (
      this->peek() == ' ' || this->peek() == '\t' || this->peek() == '\n' || this->peek() == '\r')
    {
      ++this->at_;
    }
  }

  // From one value on until all objects and arrays that it opens are closed.
  bool values()
  {
    do
    {
      this->skip_space();
      const char c = this->peek();
      if (c == '{' || c == '[')
      {
        ++this->at_;
        this->open_.push_back(c);
        this->found_.depth = std::max(this->found_.depth, this->open_.size());
        this->skip_space();
        if (!this->take(c == '{' ? '}' : ']'))
        {
          if (c == '{' && !this->name())
          {
            return false;
          }
          continue;
        }
        this->close();
      }
      else if (!this->scalar())
      {
        return false;
      }
      if (!this->end_of_value())
      {
        return false;
      }
    } while (!this->open_.empty());
    return true;
  }

  // Behind a value: closes what ends here, or goes on to the next value.
  bool end_of_value()
  {
    while (!this->open_.empty())
    {
      this->skip_space();
      const char c = this->open_.back();
      if (this->take(','))
      {
        this->skip_space();
        return c != '{' || this->name();
      }
      if (!this->take(c == '{' ? '}' : ']'))
      {
        return false;
      }
      this->close();
    }
    return true;
  }

  void close()
  {
    this->open_.pop_back();
    this->found_.end = this->at_ - 1;
  }

  bool name()
  {
    const std::size_t begin = this->at_ + 1;
    if (!this->string())
    {
      return false;
    }
    if (this->open_.size() == 1)
    {
      this->found_.is_empty = false;
      this->found_.has_member = this->found_.has_member ||
        this->text_.substr(begin, this->at_ - 1 - begin) == this->member_;
    }
    this->skip_space();
    return this->take(':');
  }

  bool scalar()
  {
    const char c = this->peek();
    return c == '"'             ? this->string()
      : c == '-' || is_digit(c) ? this->number()
                                : this->word("true") || this->word("false") || this->word("null");
  }

  bool word(std::string_view word)
  {
    const bool is_there = this->text_.compare(this->at_, word.size(), word) == 0;
    this->at_ += is_there ? word.size() : 0;
    return is_there;
  }

  bool digits()
  {
    const std::size_t begin = this->at_;
    while (is_digit(this->peek()))
    {
      ++this->at_;
    }
    return this->at_ != begin;
  }

  bool number()
  {
    (void)this->take('-');
    if (!this->take('0') && !this->digits())
    {
      return false;
    }
    if (this->take('.') && !this->digits())
    {
      return false;
    }
    if (!this->take('e') && !this->take('E'))
    {
      return true;
    }
    (void)(this->take('+') || this->take('-'));
    return this->digits();
  }

  bool string()
  {
    if (!this->take('"'))
    {
      return false;
    }
    while (this->at_ != this->text_.size())
    {
      const char c = this->text_[this->at_++];
      if (c == '"')
      {
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20 || (c == '\\' && !this->escape()))
      {
        return false;
      }
    }
    return false;
  }

  bool escape()
  {
    const char c = this->peek();
    ++this->at_;
    if (c != 'u')
    {
      return c != '\0' && std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
    }
    const std::string_view code = this->text_.substr(std::min(this->at_, this->text_.size()), 4);
    this->at_ += code.size();
    return code.size() == 4 &&
      code.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  }

  std::string_view text_;
  std::string_view member_;
  std::size_t at_ = 0;
  std::vector<char> open_;
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

// Control characters beyond ASCII, what ends lines, and what turns the direction of a text.
bool is_obeyed(std::uint32_t code)
{
  return (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f ||
    (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

// Of control characters that have a letter of their own, as Python writes them.
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
      ? static_cast<unsigned char>(text[0]) < 0xa0 // which some terminals obey by itself
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
  return is_utf8(text) ? JsonScanner(text, member).run() : std::nullopt;
}
}
