// SPDX-License-Identifier: BSD-3-Clause
#include "flow/schedule/resting.hpp"

#include "bat/error.hpp"
#include "bat/flow/trace.hpp"
#include "common/fail.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

namespace bat::flow
{
namespace
{
constexpr char kSubject[] = "saved trace state"; // for messages

constexpr std::uint64_t kMagic = 0x31474E4954534552u; // RESTING1

// The state of a particle that begins an interval.
struct Record
{
  std::array<double, 3> at{};
  double step = 0;
  std::array<double, 3> velocity{}; // velocity on arrival
  std::array<std::int32_t, 3> cell{};
  std::array<std::int32_t, 3> turns{};
  std::int32_t interval = 0;
  std::uint32_t line = 0;
  std::uint32_t flags = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Record) == 96);
constexpr std::uint32_t kNotedFlag = 1;
constexpr std::uint32_t kArrivedFlag = 2;
constexpr std::size_t kHeadBytes = 16;
constexpr std::int32_t kMaxTurns = 2'000'000'000; // there is room for those of some intervals

bool is_sound(const Record& record, std::size_t lines)
{
  bool sound = record.step > 0 && record.step <= 1 && record.interval >= 0 &&
    record.interval != std::numeric_limits<std::int32_t>::max() && record.line < lines &&
    record.flags <= (kNotedFlag | kArrivedFlag) && record.reserved == 0;
  for (std::size_t a = 0; a != 3; ++a)
  {
    sound = sound && record.at[a] >= 0 && record.at[a] <= 1 && record.cell[a] >= 0 &&
      record.turns[a] > -kMaxTurns && record.turns[a] < kMaxTurns;
  }
  return sound;
}

}

std::vector<std::byte> bytes_of(const Resting& resting)
{
  std::vector<std::byte> bytes(kHeadBytes + sizeof(Record) * resting.particles.size());
  std::memcpy(bytes.data(), &kMagic, sizeof(kMagic));
  std::memcpy(bytes.data() + 8, &resting.time, sizeof(resting.time));
  std::byte* to = bytes.data() + kHeadBytes;
  for (const Particle& particle : resting.particles)
  {
    Record record;
    record.at = particle.at;
    record.step = particle.step;
    record.velocity = particle.sum;
    record.cell = particle.cell;
    record.turns = particle.turns;
    record.interval = particle.interval;
    record.line = particle.line;
    record.flags = (particle.is_noted ? kNotedFlag : 0) | (particle.has_arrived ? kArrivedFlag : 0);
    std::memcpy(to, &record, sizeof(record));
    to += sizeof(record);
  }
  return bytes;
}

std::shared_ptr<const Resting> resting_from(
  const std::byte* bytes, std::size_t count, std::size_t lines)
{
  std::uint64_t magic = 0;
  if (count >= kHeadBytes)
  {
    std::memcpy(&magic, bytes, sizeof(magic));
  }
  if (magic != kMagic || (count - kHeadBytes) % sizeof(Record) != 0)
  {
    refuse(kSubject, fmt::format("{} bytes that were not written by this library", count));
  }
  auto resting = std::make_shared<Resting>();
  std::memcpy(&resting->time, bytes + 8, sizeof(resting->time));
  resting->particles.reserve((count - kHeadBytes) / sizeof(Record));
  for (std::size_t at = kHeadBytes; at != count; at += sizeof(Record))
  {
    Record record;
    std::memcpy(&record, bytes + at, sizeof(record));
    const bool ascends = resting->particles.empty() || resting->particles.back().line < record.line;
    if (!is_sound(record, lines) || !ascends)
    {
      refuse(kSubject,
        fmt::format("particle {}, of line {} of {}, is invalid", resting->particles.size(),
          record.line, lines));
    }
    Particle particle;
    particle.at = record.at;
    particle.step = record.step;
    particle.sum = record.velocity;
    particle.cell = record.cell;
    particle.turns = record.turns;
    particle.interval = record.interval;
    particle.line = record.line;
    particle.share = 1;
    particle.has_begun = true;
    particle.is_new = false;
    particle.is_noted = (record.flags & kNotedFlag) != 0;
    particle.has_arrived = (record.flags & kArrivedFlag) != 0;
    resting->particles.push_back(particle);
  }
  return resting;
}
}
