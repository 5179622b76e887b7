#include "bat/error.hpp"

#include <cstddef>

namespace bat
{
std::string Error::readable(std::string text)
{
  constexpr std::size_t kMost = 4000;
  constexpr std::size_t kBegin = 2400;
  constexpr std::size_t kEnd = 1500;
  for (std::size_t at = text.find('\0'); at != std::string::npos; at = text.find('\0', at))
  {
    text.replace(at, 1, "\\0");
  }
  if (text.size() <= kMost)
  {
    return text;
  }
  const auto is_inside_character = [&](std::size_t at)
  { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  std::size_t begin = kBegin;
  std::size_t end = text.size() - kEnd;
  while (begin != 0 && is_inside_character(begin))
  {
    --begin;
  }
  while (end + 1 < text.size() && is_inside_character(end))
  {
    ++end;
  }
  return text.substr(0, begin) + " [" + std::to_string(end - begin) + " bytes left out] " +
    text.substr(end);
}
}
