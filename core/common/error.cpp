#include "bat/error.hpp"

#include <cstddef>

namespace bat
{
std::string Error::readable(const std::string& text)
{
  constexpr std::size_t kMost = 4000;
  constexpr std::size_t kBegin = 2400;
  constexpr std::size_t kEnd = 1500;
  const auto is_inside_character = [&](std::size_t at)
  { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  std::string cut = text;
  if (text.size() > kMost)
  {
    std::size_t begin = kBegin;
    std::size_t end = text.size() - kEnd;
    for (int i = 0; i != 3 && is_inside_character(begin); ++i) // a character has 4 bytes at most
    {
      --begin;
    }
    for (int i = 0; i != 3 && is_inside_character(end); ++i)
    {
      ++end;
    }
    cut = text.substr(0, begin) + " [" + std::to_string(end - begin) + " bytes left out] " +
      text.substr(end);
  }
  std::string out;
  for (const char c : cut)
  {
    c == '\0' ? out.append("\\0") : out.append(1, c);
  }
  return out;
}
}
