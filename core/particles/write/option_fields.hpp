// SPDX-License-Identifier: BSD-3-Clause
// Locates the write options in memory, to send them to other ranks.
#pragma once

#include "bat/write_options.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bat::write
{
// Limits of size options; files from other writers may exceed them (FORMAT.md sections 7, 12).
inline constexpr std::uint32_t kMinTreeletParticles = 256;
inline constexpr std::uint32_t kMaxTreeletParticles = 65536;
inline constexpr std::uint32_t kMinBlockParticles = 16;
inline constexpr std::uint32_t kMinChunkParticles = 256;

/// One of the two: the bytes of a number, or texts.
struct OptionField
{
  void* bytes = nullptr;
  std::size_t size = 0;
  std::vector<std::string>* texts = nullptr;
};
/// Returns the fields of all options of the table, in its order.
[[nodiscard]] std::vector<OptionField> option_fields(WriteOptions& options);
}
