// SPDX-License-Identifier: BSD-3-Clause
// Takes arbitrary bytes as a model and a frame of a column of any shape, which gives values or an
// error; and as values, which must be restored. Byte 0: scalar type and components; bytes 1 and 2:
// number of values; byte 3: step of the grid; bytes 4 and 5: bytes of the model, followed by the
// frame.

#include "bat/error.hpp"
#include "codec/chunk_codec.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace
{
void decode(const bat::codec::ColumnShape& shape, const std::vector<std::byte>& model_bytes,
  const std::vector<std::byte>& frame, std::size_t count)
{
  try
  {
    const bat::codec::Model model(shape, model_bytes.data(), model_bytes.size());
    bat::codec::Decoder decoder;
    std::vector<std::byte> values(count * shape.value_bytes());
    decoder.decode(model, frame.data(), frame.size(), values.data(), count);
  }
  catch (const bat::Error& error)
  {
    if (error.code() != bat::ErrorCode::Corrupt)
    {
      throw;
    }
  }
}

void encode(const bat::codec::ColumnShape& shape, double step, std::size_t chunk,
  const std::byte* values, std::size_t bytes)
{
  bat::codec::Encoder encoder;
  bat::codec::Decoder decoder;
  const std::size_t count = bytes / shape.value_bytes();
  const std::vector<std::byte> given(values, values + count * shape.value_bytes());
  const bat::codec::Plan plan(shape, { step }, given.data(), count, chunk);
  const bat::codec::Model model(shape, plan.model().data(), plan.model().size());
  std::vector<std::byte> frame;
  std::vector<std::byte> back(given.size());
  for (std::size_t first = 0; first < count; first += chunk)
  {
    const std::size_t in_chunk = std::min(chunk, count - first);
    const std::size_t at = first * shape.value_bytes();
    encoder.encode(plan, given.data() + at, in_chunk, frame);
    decoder.decode(model, frame.data(), frame.size(), back.data() + at, in_chunk);
  }
  if (back != given)
  {
    throw std::logic_error("other values come back");
  }
}
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  constexpr std::size_t kHead = 6;
  if (size < kHead)
  {
    return 0;
  }
  const bat::codec::ColumnShape shape{ static_cast<bat::ScalarType>(data[0] % 10 + 1),
    data[0] / 10u % 9 + 1 };
  const std::size_t count = (data[1] + 256u * data[2]) % 3000;
  const double step = data[3] == 0 ? 0 : std::ldexp(1.0, data[3] - 128);
  const auto* rest = reinterpret_cast<const std::byte*>(data + kHead);
  const std::size_t left = size - kHead;
  const std::size_t model_bytes = std::min(left, data[4] + std::size_t{ 256 } * data[5]);
  decode(shape, { rest, rest + model_bytes }, { rest + model_bytes, rest + left }, count);
  encode(shape, step, 1 + count, rest, left);
  return 0;
}
