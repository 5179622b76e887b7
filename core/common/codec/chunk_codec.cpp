// SPDX-License-Identifier: BSD-3-Clause
#include "common/codec/chunk_codec.hpp"

#include "bat/error.hpp"
#include "common/codec/filters.hpp"
#include "common/codec/grid_loops.hpp"
#include "common/codec/sample.hpp"
#include "common/codec/stream_decoder.hpp"
#include "common/codec/stream_encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

namespace bat::codec
{
namespace
{
bool is_floating(ScalarType type) noexcept
{
  return type == ScalarType::Float32 || type == ScalarType::Float64;
}

void check(const ColumnShape& shape, std::size_t count)
{
  check(shape);
  if (count > kMostValues)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("chunk of {} values, at most {} are allowed", count, kMostValues));
  }
}

void begin(Method method, std::vector<std::byte>& frame)
{
  frame.assign(1, static_cast<std::byte>(method));
}

template <class T>
void append_number(std::vector<std::byte>& to, T number)
{
  const auto* bytes = reinterpret_cast<const std::byte*>(&number);
  to.insert(to.end(), bytes, bytes + sizeof(T));
}

bool is_constant(const ColumnShape& shape, const std::byte* values, std::size_t count) noexcept
{
  const std::size_t bytes = shape.value_bytes();
  return count != 0 && std::memcmp(values, values + bytes, (count - 1) * bytes) == 0;
}
}

struct Encoder::Impl
{
  ZstdCompressor zstd;
  StreamEncoder<std::uint32_t> words32;
  StreamEncoder<std::uint64_t> words64;
  std::vector<std::byte> planes;
  std::vector<std::byte> other; ///< another frame of the same values
  std::vector<std::uint32_t> exceptions;

  template <class U>
  void streams(StreamEncoder<U>& encoder, const ColumnShape& shape, const std::byte* values,
    std::size_t count, std::vector<std::byte>& frame)
  {
    encoder.resize(shape.components, count);
    for (std::size_t c = 0; c != shape.components; ++c)
    {
      U* const words = encoder.words(c);
      for (std::size_t i = 0; i != count; ++i)
      {
        words[i] = load<U>(values + (i * shape.components + c) * sizeof(U));
      }
    }
    begin(Method::Streams, frame);
    encoder.append(is_floating(shape.type), this->zstd, frame);
  }

  void streams(const ColumnShape& shape, const std::byte* values, std::size_t count,
    std::vector<std::byte>& frame)
  {
    if (size_of(shape.type) == sizeof(std::uint32_t))
    {
      this->streams(this->words32, shape, values, count, frame);
    }
    else
    {
      this->streams(this->words64, shape, values, count, frame);
    }
  }

  /// Returns false if too many numbers are not on the grid.
  template <class T, class U>
  bool grid(StreamEncoder<U>& encoder, const ColumnShape& shape, double step,
    const std::byte* values, std::size_t count, std::vector<std::byte>& frame)
  {
    const std::size_t most = count * shape.components / 8;
    this->exceptions.clear();
    encoder.resize(shape.components, count);
    constexpr std::size_t kBlock = 512; // numbers
    std::array<T, kBlock> numbers;
    std::array<U, kBlock> steps;
    std::size_t component = 0;
    std::size_t value = 0;
    for (std::size_t first = 0; first != count * shape.components;)
    {
      const std::size_t block = std::min(kBlock, count * shape.components - first);
      std::memcpy(numbers.data(), values + first * sizeof(T), block * sizeof(T));
      const bool all = to_steps(numbers.data(), block, step, steps.data());
      for (std::size_t i = 0; i != block; ++i)
      {
        U* const words = encoder.words(component);
        words[value] = steps[i];
        if (!all && !is_grid_point(numbers[i], step))
        {
          this->exceptions.push_back(static_cast<std::uint32_t>(first + i));
          words[value] = value == 0 ? U{ 0 } : words[value - 1];
        }
        if (++component == shape.components)
        {
          component = 0;
          ++value;
        }
      }
      first += block;
      if (this->exceptions.size() > most)
      {
        return false;
      }
    }
    begin(Method::Grid, frame);
    append_number(frame, step);
    append_number(frame, static_cast<std::uint32_t>(this->exceptions.size()));
    for (const std::uint32_t number : this->exceptions)
    {
      append_number(frame, number);
    }
    for (const std::uint32_t number : this->exceptions)
    {
      append_number(frame, load<U>(values + number * sizeof(U)));
    }
    encoder.append_differences_only(this->zstd, frame);
    return true;
  }

  void plane_frame(const ColumnShape& shape, const std::byte* values, std::size_t count,
    Filter filter, std::size_t most, std::vector<std::byte>& frame)
  {
    const std::size_t bytes = count * shape.value_bytes();
    begin(Method::Planes, frame);
    frame.push_back(static_cast<std::byte>(
      static_cast<unsigned>(filter.prediction) | (filter.bit_planes ? 4u : 0u)));
    this->planes.resize(bytes);
    to_planes(shape, filter, values, count, this->planes.data());
    if (!this->zstd.append(Content::Planes, this->planes.data(), bytes, most, frame))
    {
      frame.clear();
    }
  }
};

Encoder::Encoder()
  : impl_(std::make_unique<Impl>())
{
}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

void Encoder::encode(const ColumnShape& shape, Grid grid, const std::byte* values,
  std::size_t count, std::vector<std::byte>& frame)
{
  check(shape, count);
  const std::size_t bytes = count * shape.value_bytes();
  if (count > 1 && is_constant(shape, values, count))
  {
    begin(Method::Constant, frame);
    frame.insert(frame.end(), values, values + shape.value_bytes());
    return;
  }
  Impl& impl = *this->impl_;
  frame.clear();
  // Each method is tried that may be the shortest; the shortest wins.
  const auto consider = [&]
  {
    if (!impl.other.empty() && impl.other.size() < bytes &&
      (frame.empty() || impl.other.size() < frame.size()))
    {
      frame.swap(impl.other);
    }
  };
  if (count > 1)
  {
    bool on_grid = false;
    if (grid.step > 0 && std::isfinite(grid.step) && is_floating(shape.type))
    {
      on_grid = shape.type == ScalarType::Float32
        ? impl.grid<float>(impl.words32, shape, grid.step, values, count, impl.other)
        : impl.grid<double>(impl.words64, shape, grid.step, values, count, impl.other);
      if (on_grid)
      {
        consider();
      }
    }
    const bool has_streams = size_of(shape.type) >= sizeof(std::uint32_t);
    if (!on_grid && has_streams)
    {
      impl.streams(shape, values, count, impl.other);
      consider();
    }
    const PlanesEstimate planes = estimate_planes(shape, values, count, impl.zstd);
    if (planes.bytes < (frame.empty() ? bytes : frame.size()))
    {
      impl.plane_frame(shape, values, count, planes.filter, bytes, impl.other);
      consider();
    }
  }
  if (frame.empty())
  {
    begin(Method::Stored, frame);
    frame.insert(frame.end(), values, values + bytes);
  }
}

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
      refuse_frame(fmt::format("filter {:#x} is unknown", byte));
    }
    const std::size_t bytes = count * shape.value_bytes();
    this->planes.resize(bytes);
    const std::size_t left = reader.left();
    this->zstd.decompress(reader.take(left, "planes"), left, this->planes.data(), bytes);
    from_planes(shape, { static_cast<Prediction>(prediction), (byte & 4u) != 0 },
      this->planes.data(), count, values);
  }

  void decode_streams(
    const ColumnShape& shape, FrameReader& reader, std::byte* values, std::size_t count)
  {
    WordsTo to;
    to.values = values;
    to.stride = shape.value_bytes();
    to.floating = is_floating(shape.type);
    const std::size_t size = size_of(shape.type);
    if (size != sizeof(std::uint32_t) && size != sizeof(std::uint64_t))
    {
      refuse_frame(fmt::format("streams of {} are not allowed", name_of(shape.type)));
    }
    this->decode_words(shape, reader, count, to);
  }

  void decode_words(
    const ColumnShape& shape, FrameReader& reader, std::size_t count, const WordsTo& to)
  {
    if (size_of(shape.type) == sizeof(std::uint32_t))
    {
      this->streams.decode<std::uint32_t>(reader, shape.components, count, to);
    }
    else
    {
      this->streams.decode<std::uint64_t>(reader, shape.components, count, to);
    }
  }

  void decode_grid(
    const ColumnShape& shape, FrameReader& reader, std::byte* values, std::size_t count)
  {
    if (!is_floating(shape.type))
    {
      refuse_frame(fmt::format("a grid of {} is not allowed", name_of(shape.type)));
    }
    WordsTo to;
    to.values = values;
    to.stride = shape.value_bytes();
    to.step = reader.number<double>("the step of a grid");
    if (!(to.step > 0) || !std::isfinite(to.step))
    {
      refuse_frame(fmt::format("a grid has the step {}", to.step));
    }
    const std::size_t size = size_of(shape.type);
    const std::size_t exceptions = reader.number<std::uint32_t>("the number of exceptions");
    const std::byte* numbers = reader.take(exceptions * sizeof(std::uint32_t), "exceptions");
    const std::byte* bits = reader.take(exceptions * size, "exceptions");
    this->decode_words(shape, reader, count, to);
    std::size_t next = 0;
    for (std::size_t e = 0; e != exceptions; ++e)
    {
      const std::size_t number = load<std::uint32_t>(numbers + e * sizeof(std::uint32_t));
      if (number < next || number >= count * shape.components)
      {
        refuse_frame(fmt::format("exception {} is for number {}", e, number));
      }
      std::memcpy(values + number * size, bits + e * size, size);
      next = number + 1;
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

void Decoder::decode(const ColumnShape& shape, const std::byte* frame, std::size_t frame_bytes,
  std::byte* values, std::size_t count)
{
  check(shape, count);
  const std::size_t value_bytes = shape.value_bytes();
  FrameReader reader(frame, frame_bytes);
  const auto method = reader.number<std::uint8_t>("the method");
  if (count == 0 && method != static_cast<std::uint8_t>(Method::Stored))
  {
    refuse_frame(fmt::format("no values are of method {}", method));
  }
  switch (static_cast<Method>(method))
  {
    case Method::Stored:
      if (count != 0)
      {
        std::memcpy(values, reader.take(count * value_bytes, "stored values"), count * value_bytes);
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
      this->impl_->decode_planes(shape, reader, values, count);
      break;
    case Method::Streams:
      this->impl_->decode_streams(shape, reader, values, count);
      break;
    case Method::Grid:
      this->impl_->decode_grid(shape, reader, values, count);
      break;
    default:
      refuse_frame(fmt::format("method {} is unknown", method));
  }
  if (reader.left() != 0)
  {
    refuse_frame(fmt::format("{} of {} bytes are left over", reader.left(), frame_bytes));
  }
}
}
