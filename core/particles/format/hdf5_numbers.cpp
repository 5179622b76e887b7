// SPDX-License-Identifier: BSD-3-Clause
// Shuffled numbers are eight planes: the lowest byte of each number, then the next, and so on.
// Plane 0 repeats 0 to 255; in plane p, runs of 256^p equal bytes follow each other. Both are
// written as the few tokens of a Deflate stream (RFC 1951) that they are. The tokens repeat too: a
// second stream holds them in a thirtieth of the space.
#include "particles/format/hdf5_numbers.hpp"

#include "particles/format/encode_parts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace bat::format::hdf5
{
namespace
{
constexpr unsigned kMinMatch = 3;
constexpr unsigned kMaxMatch = 258;

/// The checksum of RFC 1950.
class Adler
{
public:
  /// Adds a byte, not more than 2^20 times in a row.
  void add(unsigned byte) noexcept
  {
    this->a_ += byte;
    this->b_ += this->a_;
  }

  /// Adds `count` bytes of the same value.
  void add_run(std::uint64_t value, std::uint64_t count) noexcept
  {
    // All runs are of an even number of bytes.
    this->add_block(count, value * count, count / 2 * (count + 1) % kPrime * value);
  }

  /// Adds bytes by their number, their sum, and the sum of each times the bytes from it to the end.
  void add_block(std::uint64_t count, std::uint64_t sum, std::uint64_t weighted_sum) noexcept
  {
    this->b_ = (this->b_ + count % kPrime * (this->a_ % kPrime) + weighted_sum) % kPrime;
    this->a_ = (this->a_ + sum) % kPrime;
  }

  [[nodiscard]] std::uint32_t value() const noexcept
  {
    return static_cast<std::uint32_t>((this->b_ % kPrime << 16) | this->a_ % kPrime);
  }

private:
  static constexpr std::uint64_t kPrime = 65521;
  std::uint64_t a_ = 1;
  std::uint64_t b_ = 0;
};

/// A stream of RFC 1950 with one block of fixed codes.
class Deflater
{
public:
  Deflater()
  {
    this->bytes_ = { std::byte{ 0x78 }, std::byte{ 0xDA } };
    this->put({ 0b011, 3 }); // the last block, fixed codes
  }

  void literal(unsigned byte)
  {
    if (byte < 144)
    {
      this->put_code(0x30 + byte, 8);
    }
    else
    {
      this->put_code(0x190 + byte - 144, 9);
    }
  }

  /// Repeats `length` bytes, at least kMinMatch, from `distance` bytes before.
  void match(std::uint64_t length, unsigned distance)
  {
    const std::uint64_t rest = length % kMaxMatch;
    const bool is_short = rest != 0 && rest < kMinMatch; // too short for a match of its own
    const std::uint64_t longest = length / kMaxMatch - (is_short && length > kMaxMatch ? 1 : 0);
    const Bits of_longest = match_bits(kMaxMatch, distance);
    for (std::uint64_t i = 0; i != longest; ++i)
    {
      this->put(of_longest);
    }
    length -= longest * kMaxMatch;
    if (length > kMaxMatch)
    {
      this->put(match_bits(static_cast<unsigned>(length - kMinMatch), distance));
      length = kMinMatch;
    }
    if (length != 0)
    {
      this->put(match_bits(static_cast<unsigned>(length), distance));
    }
  }

  /// Ends the stream; `checksum` is that of the uncompressed bytes.
  [[nodiscard]] Bytes finish(const Adler& checksum)
  {
    this->put_code(0, 7); // the end of the block
    this->put({ 0, (8 - this->bits_.count) % 8 });
    const std::uint32_t sum = checksum.value();
    for (unsigned shift = 32; shift != 0; shift -= 8)
    {
      this->bytes_.push_back(static_cast<std::byte>(sum >> (shift - 8)));
    }
    return std::move(this->bytes_);
  }

private:
  struct Bits
  {
    std::uint64_t bits = 0;
    unsigned count = 0;

    // Least significant bit first.
    void add(std::uint64_t more, unsigned more_count)
    {
      this->bits |= more << this->count;
      this->count += more_count;
    }
    // Most significant bit first, as codes are.
    void add_code(unsigned code, unsigned code_bits)
    {
      for (unsigned i = code_bits; i != 0; --i)
      {
        this->add(code >> (i - 1) & 1, 1);
      }
    }
  };

  void put(const Bits& more)
  {
    this->bits_.add(more.bits, more.count);
    for (; this->bits_.count >= 8; this->bits_.count -= 8, this->bits_.bits >>= 8)
    {
      this->bytes_.push_back(static_cast<std::byte>(this->bits_.bits));
    }
  }

  void put_code(unsigned code, unsigned count)
  {
    Bits bits;
    bits.add_code(code, count);
    this->put(bits);
  }

  static Bits match_bits(unsigned length, unsigned distance)
  {
    Bits bits;
    const Symbol of_length =
      length == kMaxMatch ? Symbol{ 285 - 257, 0, 0 } : symbol(length - kMinMatch, 4);
    const unsigned number = 257 + of_length.code;
    if (number < 280)
    {
      bits.add_code(number - 256, 7);
    }
    else
    {
      bits.add_code(0xC0 + number - 280, 8);
    }
    bits.add(of_length.extra, of_length.bits);
    const Symbol of_distance = symbol(distance - 1, 2);
    bits.add_code(of_distance.code, 5);
    bits.add(of_distance.extra, of_distance.bits);
    return bits;
  }

  struct Symbol
  {
    unsigned code;
    unsigned extra;
    unsigned bits; ///< of `extra`
  };

  // The first two groups of codes stand for one value each; in every further group, each code
  // stands for twice as many values as in the one before.
  static Symbol symbol(unsigned value, unsigned codes_in_group)
  {
    unsigned bits = 0;
    while (value >> bits >= 2 * codes_in_group)
    {
      ++bits;
    }
    return { (value >> bits) + bits * codes_in_group, value & ((1u << bits) - 1), bits };
  }

  Bytes bytes_;
  Bits bits_;
};

// Compresses by the distances at which the tokens of plane 0 (19 bits), of runs (13 bits) and of
// 256 runs of plane 1 repeat.
Bytes deflated(const Bytes& bytes)
{
  constexpr std::array<unsigned, 3> kDistances{ 13, 19, 846 };
  Deflater stream;
  Adler sum;
  for (std::size_t i = 0; i != bytes.size();)
  {
    std::size_t longest = 0;
    unsigned distance = 0;
    for (const unsigned candidate : kDistances)
    {
      std::size_t end = i;
      while (candidate <= i && end != bytes.size() && bytes[end] == bytes[end - candidate])
      {
        ++end;
      }
      if (end - i > longest)
      {
        longest = end - i;
        distance = candidate;
      }
    }
    if (longest < kMinMatch)
    {
      longest = 1;
      stream.literal(std::to_integer<unsigned>(bytes[i]));
    }
    else
    {
      stream.match(longest, distance);
    }
    for (const std::size_t end = i + longest; i != end; ++i)
    {
      sum.add(std::to_integer<unsigned>(bytes[i]));
    }
  }
  return stream.finish(sum);
}

Bytes make_chunk(std::uint64_t k)
{
  constexpr unsigned kPlanes = 8;
  constexpr unsigned kBytes = 256; // different ones
  Deflater stream;
  Adler sum;
  for (unsigned i = 0; i != kBytes; ++i)
  {
    stream.literal(i);
  }
  stream.match(kChunkNumbers - kBytes, kBytes);
  for (unsigned i = 0; i != kChunkNumbers / kBytes; ++i)
  {
    // The sums of i and of (256 - i) i for i from 0 to 255.
    constexpr std::uint64_t kSum = 255 * 256 / 2;
    constexpr std::uint64_t kWeightedSum = 255 * 256 * 257 / 6;
    sum.add_block(kBytes, kSum, kWeightedSum);
  }
  for (unsigned plane = 1; plane != kPlanes; ++plane)
  {
    const std::uint64_t run =
      std::min<std::uint64_t>(kChunkNumbers, std::uint64_t{ 1 } << 8 * plane);
    for (std::uint64_t i = 0; i != kChunkNumbers; i += run)
    {
      const auto value = static_cast<unsigned>((k * kChunkNumbers + i) >> 8 * plane) % kBytes;
      stream.literal(value);
      stream.match(run - 1, 1);
      sum.add_run(value, run);
    }
  }
  return deflated(stream.finish(sum));
}
}

Bytes numbers_chunk(std::uint64_t k)
{
  // The first chunk is kept: files of fewer than a million particles need no other, and making it
  // takes a third of the time to write 1,000 particles. Never destroyed, because writers may
  // outlive static objects.
  static const Bytes& first = *new Bytes(make_chunk(0));
  return k == 0 ? first : make_chunk(k);
}
}
