// SPDX-License-Identifier: BSD-3-Clause
#include "codec/frame_encoder.hpp"

#include "codec/append.hpp"
#include "codec/filters.hpp"
#include "codec/stream_format.hpp"
#include "codec/words.hpp"

namespace bat::codec
{
template <class T, class U>
void FrameEncoder::stream_frame(StreamEncoder<U>& encoder, const ColumnPlan& plan,
  const std::byte* values, std::size_t count, std::vector<std::byte>& frame)
{
  frame.assign(1, static_cast<std::byte>(Method::Streams));
  encoder.resize(plan.shape.components, count);
  if (plan.step == 0)
  {
    for (std::size_t c = 0; c != plan.shape.components; ++c)
    {
      fill_words(plan.shape, values, count, c, encoder.words(c));
    }
  }
  else
  {
    this->exceptions_.fill_steps<T>(
      plan.shape, plan.step, values, count, [&](std::size_t c) { return encoder.words(c); });
    append_varint(frame, this->exceptions_.places.size());
    for (const std::uint32_t place : this->exceptions_.places)
    {
      append_number(frame, place);
    }
    for (const std::uint32_t place : this->exceptions_.places)
    {
      append_number(frame, load<U>(values + place * sizeof(U)));
    }
  }
  encoder.append(plan.streams, plan.step == 0 && is_floating(plan.shape.type), frame);
}

void FrameEncoder::stream_frame(
  const ColumnPlan& plan, const std::byte* values, std::size_t count, std::vector<std::byte>& frame)
{
  if (size_of(plan.shape.type) == sizeof(std::uint32_t))
  {
    this->stream_frame<float>(this->words32_, plan, values, count, frame);
  }
  else
  {
    this->stream_frame<double>(this->words64_, plan, values, count, frame);
  }
}

void FrameEncoder::plane_frame(
  const ColumnPlan& plan, const std::byte* values, std::size_t count, std::vector<std::byte>& frame)
{
  const std::size_t bytes = count * plan.shape.value_bytes();
  frame.assign(1, static_cast<std::byte>(Method::Planes));
  frame.push_back(static_cast<std::byte>(
    static_cast<unsigned>(plan.filter.prediction) | (plan.filter.bit_planes ? 4u : 0u)));
  this->planes_.resize(bytes);
  to_planes(plan.shape, plan.filter, values, count, this->planes_.data());
  if (!this->zstd_.append(Content::Planes, this->planes_.data(), bytes, bytes, frame))
  {
    frame.clear();
  }
}
}
