// SPDX-License-Identifier: BSD-3-Clause
#include "codec/symbol_decoder.hpp"

#include "codec/frame_reader.hpp"
#include "common/intrinsics.hpp"
#include "common/processor.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bat::codec
{
namespace
{
constexpr std::size_t kSymbolsPerLoad = 4; // symbols: 4 * 11 of at least 57 bits
static_assert(kSymbolsPerLoad * kMaxCodeBits <= 57 && kBlockValues % kSymbolsPerLoad == 0);

// Exceeds the codes of a block plus one load.
constexpr std::size_t kSlackBytes = kBlockValues * kMaxCodeBits / 8 + 16;

/// A lane's read position.
struct LanePosition
{
  const std::byte* bytes;
  std::uint64_t position; ///< in bits
};

struct BlockOfLane
{
  const std::uint16_t* entries;
  std::uint32_t mask;
  std::uint8_t* to;
};

BAT_INLINE void take_symbols(
  LanePosition& lane, const BlockOfLane& block, std::size_t count, std::uint8_t* to) noexcept
{
  std::uint64_t bits =
    load<std::uint64_t>(lane.bytes + (lane.position >> 3)) >> (lane.position & 7);
  unsigned used = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    const unsigned entry = block.entries[bits & block.mask];
    const unsigned length = entry >> 8;
    to[i] = static_cast<std::uint8_t>(entry);
    bits >>= length;
    used += length;
  }
  lane.position += used;
}

// Decodes whole blocks of all lanes; no lane waits for another.
BAT_INLINE void whole_blocks(
  std::array<LanePosition, kLanes>& lanes, const std::array<BlockOfLane, kLanes>& blocks) noexcept
{
  static_assert(kLanes == 4);
  LanePosition a = lanes[0];
  LanePosition b = lanes[1];
  LanePosition c = lanes[2];
  LanePosition d = lanes[3];
  for (std::size_t i = 0; i != kBlockValues; i += kSymbolsPerLoad)
  {
    take_symbols(a, blocks[0], kSymbolsPerLoad, blocks[0].to + i);
    take_symbols(b, blocks[1], kSymbolsPerLoad, blocks[1].to + i);
    take_symbols(c, blocks[2], kSymbolsPerLoad, blocks[2].to + i);
    take_symbols(d, blocks[3], kSymbolsPerLoad, blocks[3].to + i);
  }
  lanes = { a, b, c, d };
}

#ifdef BAT_AVX2
// BMI2 provides the shifts used here.
BAT_AVX2 void whole_blocks_avx2(
  std::array<LanePosition, kLanes>& lanes, const std::array<BlockOfLane, kLanes>& blocks) noexcept
{
  whole_blocks(lanes, blocks);
}
#endif

void decode_blocks(
  std::array<LanePosition, kLanes>& lanes, const std::array<BlockOfLane, kLanes>& blocks) noexcept
{
#ifdef BAT_AVX2
  if (processor::has_avx2())
  {
    whole_blocks_avx2(lanes, blocks);
    return;
  }
#endif
  whole_blocks(lanes, blocks);
}
}

const std::uint8_t* SymbolDecoder::decode(const std::array<Lane, kLanes>& lanes,
  const std::vector<CodeTable>& codes, const std::uint8_t* classes, std::size_t count)
{
  this->symbols_.resize(std::max(this->symbols_.size(), count));
  std::size_t bytes = 0;
  for (const Lane& lane : lanes)
  {
    bytes += lane.count;
  }
  if (bytes == 0 && codes.size() == 1 && codes[0].mask() == 0)
  {
    std::fill_n(this->symbols_.begin(), count, static_cast<std::uint8_t>(codes[0].entries()[0]));
    return this->symbols_.data();
  }
  this->lanes_.resize(std::max(this->lanes_.size(), bytes + kSlackBytes));
  std::copy_n(lanes[0].bytes, bytes, this->lanes_.begin());
  std::fill_n(
    this->lanes_.begin() + static_cast<std::ptrdiff_t>(bytes), kSlackBytes, std::byte{ 0 });

  const std::size_t blocks = (count + kBlockValues - 1) / kBlockValues;
  const std::size_t in_lane = blocks_in_lane(blocks);
  std::array<LanePosition, kLanes> positions{};
  const std::byte* at = this->lanes_.data();
  for (std::size_t lane = 0; lane != kLanes; ++lane)
  {
    positions[lane] = { at, 0 };
    at += lanes[lane].count;
  }
  const auto block_of = [&](std::size_t block) -> BlockOfLane
  {
    const CodeTable& code = codes[classes[block]];
    return { code.entries(), code.mask(), this->symbols_.data() + block * kBlockValues };
  };
  const auto check_end = [&](std::size_t lane)
  {
    if (positions[lane].position > 8 * std::uint64_t{ lanes[lane].count })
    {
      refuse_frame(
        fmt::format("symbols need more than the {} bytes of lane {}", lanes[lane].count, lane));
    }
  };
  for (std::size_t i = 0; i != in_lane; ++i)
  {
    if ((i + (kLanes - 1) * in_lane + 1) * kBlockValues <= count)
    {
      std::array<BlockOfLane, kLanes> of_lanes;
      for (std::size_t lane = 0; lane != kLanes; ++lane)
      {
        of_lanes[lane] = block_of(i + lane * in_lane);
      }
      decode_blocks(positions, of_lanes);
    }
    else
    {
      for (std::size_t lane = 0; lane != kLanes && i + lane * in_lane < blocks; ++lane)
      {
        const std::size_t block = i + lane * in_lane;
        const BlockOfLane of_lane = block_of(block);
        const std::size_t end = std::min(kBlockValues, count - block * kBlockValues);
        for (std::size_t first = 0; first < end; first += kSymbolsPerLoad)
        {
          take_symbols(
            positions[lane], of_lane, std::min(kSymbolsPerLoad, end - first), of_lane.to + first);
        }
      }
    }
    for (std::size_t lane = 0; lane != kLanes; ++lane)
    {
      check_end(lane);
    }
  }
  for (std::size_t lane = 0; lane != kLanes; ++lane)
  {
    if ((positions[lane].position + 7) / 8 != lanes[lane].count)
    {
      refuse_frame(fmt::format("symbols need {} of {} bytes of lane {}",
        (positions[lane].position + 7) / 8, lanes[lane].count, lane));
    }
    check_unused_bits(positions[lane].bytes, positions[lane].position, "a symbol lane");
  }
  return this->symbols_.data();
}
}
