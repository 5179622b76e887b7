// SPDX-License-Identifier: BSD-3-Clause
// The input of a writer: borrowed arrays of positions and attributes.
#pragma once

#include "bat/types.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bat
{
/// Borrowed values of `components` numbers per particle. Component c of particle i is at
/// component[c] + i * stride_bytes, so interleaved, strided and separate arrays all fit; addresses
/// need no alignment. The memory belongs to the caller and must stay unchanged during the call.
struct ArrayView
{
  ScalarType type = ScalarType::Float64;
  int components = 1;
  std::array<const std::byte*, kMaxComponents> component{};
  std::size_t stride_bytes = 0;

  /// One packed array of shape (count, components).
  static ArrayView packed(ScalarType type, int components, const void* data);
  /// One packed array per component, e.g. x, y and z.
  static ArrayView separate(ScalarType type, std::initializer_list<const void*> components);
};

/// One named attribute. `role` and `host_type` are hints that a file returns as they were given
/// (FORMAT.md section 7); the library gives them no meaning.
struct AttributeView
{
  std::string name; ///< UTF-8, not empty, at most 65535 bytes, unique
  ArrayView values;
  std::uint8_t role = 0;
  std::uint32_t host_type = 0;
};

/// A further name for existing values: the positions or another attribute. They are stored once,
/// and can be read by this name like any attribute (FORMAT.md section 7).
struct AliasView
{
  std::string name;      ///< same rules as for an attribute
  std::string attribute; ///< the one with the values; empty: the positions
  int component = -1;    ///< component of that attribute; -1 for all
  std::uint8_t role = 0; ///< hints, see AttributeView
  std::uint32_t host_type = 0;
};

/// The particles of one leaf file.
struct ParticleView
{
  std::uint64_t count = 0; ///< at most 4,294,967,295
  ArrayView positions;     ///< 3 components, Float32 or Float64
  std::vector<AttributeView> attributes;
  std::vector<AliasView> aliases;
  std::optional<double> time;       ///< simulation time
  std::optional<std::int64_t> step; ///< step number
  std::string metadata;             ///< JSON object (UTF-8) of free metadata, or empty
};

/// Size of positions and attributes in bytes; aliases take none.
[[nodiscard]] std::uint64_t bytes_per_particle(const ParticleView& particles) noexcept;
}
