// SPDX-License-Identifier: BSD-3-Clause
#include "particles/dataset/particle_sum.hpp"

#include "bat/error.hpp"
#include "codec/snap.hpp"
#include "particles/format/checksum.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace bat
{
namespace
{
constexpr std::uint64_t kParticlesPerBatch = 4096; // particles

template <class T>
void check_distance(
  const SummedColumn& column, const std::byte* given, const std::byte* kept, std::size_t numbers)
{
  for (std::size_t i = 0; i != numbers; ++i)
  {
    T a{};
    T b{};
    std::memcpy(&a, given + i * sizeof(T), sizeof(T));
    std::memcpy(&b, kept + i * sizeof(T), sizeof(T));
    if (std::memcmp(&a, &b, sizeof(T)) == 0)
    {
      continue;
    }
    const long double distance =
      std::fabs(static_cast<long double>(a) - static_cast<long double>(b));
    if (!(distance <= static_cast<long double>(column.bound)))
    {
      throw Error(ErrorCode::WriteFailed,
        fmt::format("'{}': {} would become {}, which deviates by more than its bound {}",
          column.name, a, b, column.bound));
    }
  }
}

// The values of particles [first, first + count) to add; rounded values are stored in `room`.
const std::byte* values_of(const SummedColumn& column, std::uint64_t first, std::uint64_t count,
  std::vector<std::byte>& room)
{
  const std::size_t bytes = tuple_bytes(column.type, column.components);
  const std::byte* given = column.values + first * bytes;
  if (column.bound <= 0)
  {
    return given;
  }
  room.assign(given, given + count * bytes);
  codec::snap({ column.type, static_cast<std::uint32_t>(column.components) }, column.bound,
    room.data(), count);
  const std::size_t numbers = count * static_cast<std::size_t>(column.components);
  if (column.type == ScalarType::Float32)
  {
    check_distance<float>(column, given, room.data(), numbers);
  }
  else
  {
    check_distance<double>(column, given, room.data(), numbers);
  }
  return room.data();
}
}

ParticleSum compute_sum(const std::vector<SummedColumn>& columns, std::uint64_t count)
{
  std::size_t row_bytes = 0;
  for (const SummedColumn& column : columns)
  {
    row_bytes += tuple_bytes(column.type, column.components);
  }
  return tbb::parallel_reduce(
    tbb::blocked_range<std::uint64_t>(0, count, kParticlesPerBatch), ParticleSum{},
    [&](const auto& range, ParticleSum sum)
    {
      std::vector<std::byte> rows(std::min(kParticlesPerBatch, range.size()) * row_bytes);
      std::vector<std::byte> room;
      for (std::uint64_t first = range.begin(); first < range.end(); first += kParticlesPerBatch)
      {
        const std::uint64_t some = std::min(kParticlesPerBatch, range.end() - first);
        std::size_t at = 0;
        for (const SummedColumn& column : columns)
        {
          const std::byte* values = values_of(column, first, some, room);
          const std::size_t bytes = tuple_bytes(column.type, column.components);
          for (std::uint64_t i = 0; i != some; ++i)
          {
            std::memcpy(&rows[i * row_bytes + at], values + i * bytes, bytes);
          }
          at += bytes;
        }
        for (std::uint64_t i = 0; i != some; ++i)
        {
          const format::Hash128 hash = format::hash128(&rows[i * row_bytes], row_bytes);
          sum.add(hash.low, hash.high);
        }
      }
      return sum;
    },
    [](ParticleSum a, const ParticleSum& b)
    {
      a.add(b.low, b.high);
      return a;
    });
}
}
