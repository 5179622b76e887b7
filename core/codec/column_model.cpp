// SPDX-License-Identifier: BSD-3-Clause
#include "codec/column_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bat::codec
{
namespace
{
template <class U>
[[nodiscard]] constexpr U mask_of(unsigned bits) noexcept
{
  return bits >= kBits<U> ? static_cast<U>(~U{ 0 }) : static_cast<U>((U{ 1 } << bits) - 1);
}

std::uint8_t take_bits(FrameReader& reader, const char* what, unsigned maximum)
{
  const auto bits = reader.number<std::uint8_t>(what);
  if (bits > maximum)
  {
    refuse_frame(fmt::format("{}: {} bits, at most {} are allowed", what, bits, maximum));
  }
  return bits;
}

template <class U, std::size_t components>
void take_sizes(FrameReader& reader, std::size_t entries, SymbolMeanings<U, components>& meanings)
{
  for (std::size_t symbol = 0; symbol != entries; ++symbol)
  {
    auto& meaning = meanings[symbol];
    for (std::size_t c = 0; c != components; ++c)
    {
      const auto entry = reader.number<std::uint8_t>("a dictionary");
      const bool adds = (entry & kEntryAdds) != 0;
      const std::uint8_t bits = entry & kEntryBits;
      if (bits + unsigned{ adds } > kBits<U>)
      {
        refuse_frame(fmt::format("dictionary entry {:#x} has more than {} bits", entry, kBits<U>));
      }
      meaning.bits[c] = bits;
      meaning.mask[c] = mask_of<U>(bits);
      meaning.base[c] = adds ? static_cast<U>(U{ 1 } << bits) : U{ 0 };
      meaning.total = static_cast<std::uint8_t>(meaning.total + bits);
    }
  }
}

template <class U>
void take_heads(FrameReader& reader, std::size_t entries, SymbolMeanings<U, 1>& meanings)
{
  const std::uint8_t tail_bits = take_bits(reader, "the bit count below a head", kBits<U> - 1);
  const auto base = static_cast<U>(reader.number<std::uint64_t>("the base of the heads"));
  for (std::size_t symbol = 0; symbol != entries; ++symbol)
  {
    auto& meaning = meanings[symbol];
    const U head = reader.number<std::uint16_t>("a head");
    meaning.base[0] = static_cast<U>(base + static_cast<U>(head << tail_bits));
    meaning.total = meaning.bits[0] = tail_bits;
    meaning.mask[0] = mask_of<U>(tail_bits);
  }
}

CodeTable take_code(FrameReader& reader, std::size_t symbols)
{
  const std::byte* packed = reader.take((symbols + 1) / 2, "the code lengths");
  std::vector<std::uint8_t> lengths(symbols);
  for (std::size_t symbol = 0; symbol != symbols; ++symbol)
  {
    lengths[symbol] = std::to_integer<std::uint8_t>(packed[symbol / 2]) >> symbol % 2 * 4 & 15u;
  }
  if (!is_complete(lengths))
  {
    refuse_frame(fmt::format("the given lengths do not form a code for {} symbols", symbols));
  }
  return CodeTable(lengths);
}

template <class U, std::size_t components>
void take_classes(FrameReader& reader, StreamModel& stream)
{
  const std::size_t classes = reader.number<std::uint8_t>("the class count");
  if (classes == 0 || classes > kMaxClasses)
  {
    refuse_frame(fmt::format("symbols in {} classes; allowed are 1 to {}", classes, kMaxClasses));
  }
  StreamModel::Meanings<U, components> all(classes);
  std::size_t maximum = 0; // maximum of one component
  for (auto& meanings : all)
  {
    const std::size_t entries = reader.number<std::uint8_t>("a dictionary") + std::size_t{ 1 };
    const auto escape = reader.number<std::uint8_t>("a dictionary");
    if (escape > 1 || entries + escape > kSymbols)
    {
      refuse_frame(fmt::format("a dictionary has {} entries and {} escapes", entries, escape));
    }
    if constexpr (components == 1)
    {
      if (stream.kind == StreamKind::Heads)
      {
        take_heads(reader, entries, meanings);
      }
      else
      {
        take_sizes(reader, entries, meanings);
      }
    }
    else
    {
      take_sizes(reader, entries, meanings);
    }
    for (const auto& meaning : meanings)
    {
      maximum =
        std::max<std::size_t>(maximum, *std::max_element(meaning.bits.begin(), meaning.bits.end()));
      stream.max_bits = std::max<std::size_t>(stream.max_bits, meaning.total);
    }
    stream.codes.push_back(take_code(reader, entries + escape));
    stream.escapes.push_back(escape != 0 ? static_cast<unsigned>(entries) : StreamModel::kNoEscape);
  }
  constexpr std::size_t kBitsPerLoad = 57;
  stream.loads = stream.max_bits <= kBitsPerLoad ? Loads::One
    : maximum <= kBitsPerLoad                    ? Loads::OneEach
                                                 : Loads::TwoEach;
  stream.meanings = std::move(all);
}

template <class U>
void take_stream(FrameReader& reader, StreamModel& stream, bool has_grid)
{
  // GCC 14 does not see that there are never more than kMaxJoint.
  for (std::size_t c = 0; c != kMaxJoint && c != stream.components.size(); ++c)
  {
    stream.dropped[c] = take_bits(reader, "the dropped bit count", has_grid ? 0 : kBits<U> - 1);
  }
  switch (stream.components.size())
  {
    case 1:
      take_classes<U, 1>(reader, stream);
      break;
    case 2:
      take_classes<U, 2>(reader, stream);
      break;
    default:
      take_classes<U, 3>(reader, stream);
      break;
  }
}
}

ColumnModel::ColumnModel(
  const ColumnShape& of_shape, const std::byte* bytes, std::size_t byte_count)
  : shape(of_shape)
{
  check(of_shape);
  if (byte_count == 0)
  {
    return;
  }
  const std::size_t size = size_of(of_shape.type);
  const bool is_floating =
    of_shape.type == ScalarType::Float32 || of_shape.type == ScalarType::Float64;
  if (size != sizeof(std::uint32_t) && size != sizeof(std::uint64_t))
  {
    refuse_frame(fmt::format("streams of {} are not allowed", name_of(of_shape.type)));
  }
  FrameReader reader(bytes, byte_count);
  this->step = reader.number<double>("the grid step");
  if (!(this->step >= 0) || !std::isfinite(this->step) || (this->step != 0 && !is_floating))
  {
    refuse_frame(fmt::format("a grid of {} has step {}", name_of(of_shape.type), this->step));
  }
  std::uint32_t missing = (1u << of_shape.components) - 1;
  while (missing != 0)
  {
    const auto kind = reader.number<std::uint8_t>("the stream kind");
    const auto mask = reader.number<std::uint16_t>("the stream components");
    if (mask == 0 || (mask & ~missing) != 0)
    {
      refuse_frame(fmt::format("a stream has components {:#x}; {:#x} are missing", mask, missing));
    }
    missing &= ~std::uint32_t{ mask };
    StreamModel stream;
    stream.kind = static_cast<StreamKind>(kind);
    for (std::size_t c = 0; c != of_shape.components; ++c)
    {
      if ((mask >> c & 1) != 0)
      {
        stream.components.push_back(c);
      }
    }
    const bool is_joint = stream.kind == StreamKind::Differences;
    if (stream.components.size() > (is_joint ? kMaxJoint : 1))
    {
      refuse_frame(fmt::format("a stream of kind {} has {} components; at most {} are allowed",
        kind, stream.components.size(), is_joint ? kMaxJoint : 1));
    }
    const bool is_known = kind <= static_cast<std::uint8_t>(StreamKind::Heads);
    if (!is_known || (this->step != 0 && !is_joint))
    {
      refuse_frame(fmt::format("a stream has kind {}, which is not allowed here", kind));
    }
    if (stream.kind != StreamKind::Words && size == sizeof(std::uint32_t))
    {
      take_stream<std::uint32_t>(reader, stream, this->step != 0);
    }
    else if (stream.kind != StreamKind::Words)
    {
      take_stream<std::uint64_t>(reader, stream, this->step != 0);
    }
    this->streams.push_back(std::move(stream));
  }
  if (reader.left() != 0)
  {
    refuse_frame(fmt::format("{} of {} bytes of a model are unused", reader.left(), byte_count));
  }
}
}
