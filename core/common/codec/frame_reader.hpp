// SPDX-License-Identifier: BSD-3-Clause
// Parts of a frame, one behind the other, none beyond its end.
#pragma once

#include "bat/error.hpp"
#include "common/codec/words.hpp"

#include <cstddef>
#include <string>

namespace bat::codec
{
[[noreturn]] inline void refuse_frame(const std::string& what)
{
  throw Error(ErrorCode::Corrupt, "compressed chunk: " + what);
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

  /// `what` is for the error.
  [[nodiscard]] const std::byte* take(std::size_t bytes, const char* what)
  {
    if (bytes > this->left_)
    {
      refuse_frame(std::string(what) + " has " + std::to_string(bytes) + " bytes, of which " +
        std::to_string(this->left_) + " are in the frame");
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

private:
  const std::byte* at_;
  std::size_t left_;
};
}
