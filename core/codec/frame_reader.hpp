// SPDX-License-Identifier: BSD-3-Clause
// Reads the parts of a frame or model in order, and never beyond its end.
#pragma once

#include "bat/error.hpp"
#include "codec/append.hpp"
#include "codec/words.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace bat::codec
{
[[noreturn]] inline void refuse_frame(const std::string& what)
{
  throw Error(ErrorCode::Corrupt, "compressed chunk: " + what);
}

/// Checks that the last byte is 0 above the `bits` bits, which fill each byte from its lowest bit.
inline void check_unused_bits(const std::byte* bytes, std::uint64_t bits, const char* what)
{
  if ((bits & 7) != 0 && std::to_integer<unsigned>(bytes[bits >> 3]) >> (bits & 7) != 0)
  {
    refuse_frame(std::string("the last byte of ") + what + " has an unused bit that is not 0");
  }
}

class FrameReader
{
public:
  FrameReader(const std::byte* frame, std::size_t bytes) noexcept
    : at_(frame)
    , left_(bytes)
  {
  }

  [[nodiscard]] std::size_t left() const noexcept { return this->left_; }

  /// `what` names the bytes in error messages.
  [[nodiscard]] const std::byte* take(std::size_t bytes, const char* what)
  {
    if (bytes > this->left_)
    {
      refuse_frame(std::string(what) + ": " + std::to_string(bytes) +
        " bytes are needed, but only " + std::to_string(this->left_) + " remain");
    }
    const std::byte* result = this->at_;
    this->at_ += bytes;
    this->left_ -= bytes;
    return result;
  }

  template <class T>
  [[nodiscard]] T number(const char* what)
  {
    return load<T>(this->take(sizeof(T), what));
  }

  /// Reads a number as append_varint() writes it; no other form is allowed.
  [[nodiscard]] std::uint64_t varint(const char* what)
  {
    std::uint64_t result = 0;
    for (std::size_t i = 0; i != kMaxVarintBytes; ++i)
    {
      const auto byte = this->number<std::uint8_t>(what);
      if ((i != 0 && byte == 0) || (i + 1 == kMaxVarintBytes && byte > 1))
      {
        break;
      }
      result |= std::uint64_t{ byte & 127u } << 7 * i;
      if (byte < 128)
      {
        return result;
      }
    }
    refuse_frame(std::string(what) + " is not a number of up to 64 bits");
  }

private:
  const std::byte* at_;
  std::size_t left_;
};
}
