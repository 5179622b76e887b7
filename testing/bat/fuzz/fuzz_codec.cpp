// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a frame of a column of any shape: values or an error; and any bytes as values, which
// come back. Byte 0: scalar type and components; bytes 1 and 2: number of values; byte 3: step of
// the grid.

#include "bat/error.hpp"
#include "common/codec/chunk_codec.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace
{
void decode(const bat::codec::ColumnShape& shape, const std::byte* frame, std::size_t bytes,
  std::size_t count)
{
  bat::codec::Decoder decoder;
  std::vector<std::byte> values(count * shape.value_bytes());
  try
  {
    decoder.decode(shape, frame, bytes, values.data(), count);
  }
  catch (const bat::Error& error)
  {
    if (error.code() != bat::ErrorCode::Corrupt)
    {
      throw;
    }
  }
}

void encode(
  const bat::codec::ColumnShape& shape, double step, const std::byte* values, std::size_t bytes)
{
  bat::codec::Encoder encoder;
  bat::codec::Decoder decoder;
  const std::size_t count = bytes / shape.value_bytes();
  const std::vector<std::byte> given(values, values + count * shape.value_bytes());
  std::vector<std::byte> frame;
  encoder.encode(shape, { step }, given.data(), count, frame);
  std::vector<std::byte> back(given.size());
  decoder.decode(shape, frame.data(), frame.size(), back.data(), count);
  if (back != given)
  {
    throw std::logic_error("other values come back");
  }
}
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  constexpr std::size_t kHead = 4;
  if (size < kHead)
  {
    return 0;
  }
  const bat::codec::ColumnShape shape{ static_cast<bat::ScalarType>(data[0] % 10 + 1),
    data[0] / 10u % 9 + 1 };
  const std::size_t count = (data[1] + 256u * data[2]) % 3000;
  const double step = data[3] == 0 ? 0 : std::ldexp(1.0, data[3] - 128);
  const auto* rest = reinterpret_cast<const std::byte*>(data + kHead);
  decode(shape, rest, size - kHead, count);
  encode(shape, step, rest, size - kHead);
  return 0;
}
