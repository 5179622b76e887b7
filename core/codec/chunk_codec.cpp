// SPDX-License-Identifier: BSD-3-Clause
#include "codec/chunk_codec.hpp"

#include "bat/error.hpp"
#include "codec/column_model.hpp"
#include "codec/column_planner.hpp"
#include "codec/column_words.hpp"
#include "codec/filters.hpp"
#include "codec/frame_encoder.hpp"
#include "codec/stream_decoder.hpp"
#include "codec/zstd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace bat::codec
{
namespace
{
void check_count(std::size_t count)
{
  if (count > kMaxValues)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("a chunk has {} values; at most {} are allowed", count, kMaxValues));
  }
}

void begin(Method method, std::vector<std::byte>& frame)
{
  frame.assign(1, static_cast<std::byte>(method));
}

bool is_constant(const ColumnShape& shape, const std::byte* values, std::size_t count) noexcept
{
  const std::size_t bytes = shape.value_bytes();
  return count != 0 && std::memcmp(values, values + bytes, (count - 1) * bytes) == 0;
}
}

Plan::Plan(const ColumnShape& shape, Grid grid, const std::byte* values, std::uint64_t count,
  std::size_t chunk)
{
  check(shape);
  check_count(chunk);
  if (chunk == 0)
  {
    throw Error(ErrorCode::InvalidArgument, "a chunk has 0 values");
  }
  this->plan_ = std::make_unique<const ColumnPlan>(plan_column(shape, grid, values, count, chunk));
}

Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

const std::vector<std::byte>& Plan::model() const noexcept
{
  return this->plan_->model;
}

struct Encoder::Impl
{
  FrameEncoder frames;
  std::vector<std::byte> other; ///< another frame of the same values
};

Encoder::Encoder()
  : impl_(std::make_unique<Impl>())
{
}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

void Encoder::encode(
  const Plan& of_column, const std::byte* values, std::size_t count, std::vector<std::byte>& frame)
{
  const ColumnPlan& plan = *of_column.plan_;
  check_count(count);
  const std::size_t bytes = count * plan.shape.value_bytes();
  if (count > 1 && is_constant(plan.shape, values, count))
  {
    begin(Method::Constant, frame);
    frame.insert(frame.end(), values, values + plan.shape.value_bytes());
    return;
  }
  Impl& impl = *this->impl_;
  frame.clear();
  if (count > 1)
  {
    const bool has_streams = !plan.streams.empty();
    if (has_streams)
    {
      impl.frames.stream_frame(plan, values, count, frame);
    }
    // Values that differ from the sample may still be shorter as planes.
    if (plan.has_planes || (has_streams && frame.size() >= bytes))
    {
      impl.frames.plane_frame(plan, values, count, impl.other);
      if (!impl.other.empty() && (frame.empty() || impl.other.size() < frame.size()))
      {
        frame.swap(impl.other);
      }
    }
  }
  if (frame.empty() || frame.size() >= bytes)
  {
    begin(Method::Stored, frame);
    frame.insert(frame.end(), values, values + bytes);
  }
}

Model::Model(const ColumnShape& shape, const std::byte* bytes, std::size_t byte_count)
  : model_(std::make_unique<const ColumnModel>(shape, bytes, byte_count))
{
}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

struct Decoder::Impl
{
  ZstdDecompressor zstd;
  StreamDecoder streams;
  std::vector<std::byte> planes;

  void decode_planes(
    const ColumnShape& shape, FrameReader& reader, std::byte* values, std::size_t count)
  {
    const auto byte = reader.number<std::uint8_t>("the filter");
    const unsigned prediction = byte & 3u;
    if (byte > 7 || prediction > static_cast<unsigned>(Prediction::Xor))
    {
      refuse_frame(fmt::format("unknown filter {:#x}", byte));
    }
    const std::size_t bytes = count * shape.value_bytes();
    this->planes.resize(bytes);
    const std::size_t left = reader.left();
    this->zstd.decompress(reader.take(left, "planes"), left, this->planes.data(), bytes);
    from_planes(shape, { static_cast<Prediction>(prediction), (byte & 4u) != 0 },
      this->planes.data(), count, values);
  }

  void decode_streams(
    const ColumnModel& model, FrameReader& reader, std::byte* values, std::size_t count)
  {
    if (model.streams.empty())
    {
      refuse_frame("the column model has no streams");
    }
    const std::size_t size = size_of(model.shape.type);
    const std::size_t numbers = count * model.shape.components;
    WordsTo to;
    to.values = values;
    to.stride = model.shape.value_bytes();
    to.floating = is_floating(model.shape.type);
    to.step = model.step;
    std::size_t exceptions = 0;
    if (model.step != 0)
    {
      const std::uint64_t found = reader.varint("the exception count");
      if (found > numbers)
      {
        refuse_frame(fmt::format("{} exceptions for {} numbers", found, numbers));
      }
      exceptions = static_cast<std::size_t>(found);
    }
    const std::byte* places = reader.take(exceptions * sizeof(std::uint32_t), "exceptions");
    const std::byte* bits = reader.take(exceptions * size, "exceptions");
    for (const StreamModel& stream : model.streams)
    {
      if (size == sizeof(std::uint32_t))
      {
        this->streams.decode<std::uint32_t>(stream, reader, count, to);
      }
      else
      {
        this->streams.decode<std::uint64_t>(stream, reader, count, to);
      }
    }
    std::size_t next = 0;
    for (std::size_t e = 0; e != exceptions; ++e)
    {
      const std::size_t place = load<std::uint32_t>(places + e * sizeof(std::uint32_t));
      if (place < next || place >= numbers)
      {
        refuse_frame(fmt::format("exception {} refers to number {}", e, place));
      }
      std::memcpy(values + place * size, bits + e * size, size);
      next = place + 1;
    }
  }
};

Decoder::Decoder()
  : impl_(std::make_unique<Impl>())
{
}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

void Decoder::decode(const Model& of_column, const std::byte* frame, std::size_t frame_bytes,
  std::byte* values, std::size_t count)
{
  const ColumnModel& model = *of_column.model_;
  check_count(count);
  const std::size_t value_bytes = model.shape.value_bytes();
  FrameReader reader(frame, frame_bytes);
  const auto method = reader.number<std::uint8_t>("the method");
  if (count == 0 && method != static_cast<std::uint8_t>(Method::Stored))
  {
    refuse_frame(fmt::format("an empty chunk has encoding method {}", method));
  }
  switch (static_cast<Method>(method))
  {
    case Method::Stored:
      if (count != 0)
      {
        std::memcpy(
          values, reader.take(count * value_bytes, "the stored values"), count * value_bytes);
      }
      break;
    case Method::Constant:
    {
      const std::byte* value = reader.take(value_bytes, "the constant value");
      for (std::size_t i = 0; i != count; ++i)
      {
        std::memcpy(values + i * value_bytes, value, value_bytes);
      }
      break;
    }
    case Method::Planes:
      this->impl_->decode_planes(model.shape, reader, values, count);
      break;
    case Method::Streams:
      this->impl_->decode_streams(model, reader, values, count);
      break;
    default:
      refuse_frame(fmt::format("unknown method {}", method));
  }
  if (reader.left() != 0)
  {
    refuse_frame(fmt::format("{} of {} bytes are unused", reader.left(), frame_bytes));
  }
}
}
