// SPDX-License-Identifier: BSD-3-Clause
// Finds the attributes that identify a particle, and decodes the packed ids of AMReX:
//
//   bit 63     bits 62 to 24           bits 23 to 0
//   sign       magnitude of the id     cpu, the rank that made the particle
//
// The sign is 1 where the id is not negative. An id is unique only together with its cpu.
#pragma once

#include "bat/types.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bat
{
struct Attribute;
struct ParticleView;

struct AmrexId
{
  std::int64_t id = 0;
  std::int32_t cpu = 0;
};

[[nodiscard]] constexpr AmrexId unpack_amrex_id(std::uint64_t packed) noexcept
{
  const auto magnitude = static_cast<std::int64_t>(packed >> 24 & 0x7FFFFFFFFFu);
  return { packed >> 63 != 0 ? magnitude : -magnitude,
    static_cast<std::int32_t>(packed & 0xFFFFFFu) };
}

/// Joins the two halves of a packed id. AMReX passes them separately where particles are structs.
[[nodiscard]] constexpr std::uint64_t join_amrex_halves(
  std::int32_t low, std::int32_t high) noexcept
{
  return std::uint64_t{ static_cast<std::uint32_t>(high) } << 32 | static_cast<std::uint32_t>(low);
}

/// Returns the number of the attribute that holds ids: the one written as global ids, else the
/// first that is called id, ids, particle_id, particle_ids, global_id or global_ids, ignoring case
/// and underscores; else one from AMReX, X_idcpu (uint64) or X_id if X_cpu exists; else SPECIES_id
/// for the species of this name. Empty if none exists.
[[nodiscard]] std::optional<std::size_t> find_id_attribute(
  const std::vector<Attribute>& attributes, const std::string& species = {});

/// Returns the number of the attribute together with which ids are unique: cpu for id, X_cpu for
/// X_id, if both have one component of integers. Empty if ids are unique by themselves.
[[nodiscard]] std::optional<std::size_t> find_second_id_attribute(
  const std::vector<Attribute>& attributes, std::size_t id);

/// Resolves the names in options for particles with these attributes. If nothing is called "id",
/// this name becomes the attribute that find_id_attribute() finds. With `with_second`, an id is
/// followed by the attribute together with which it is unique. Other names stay as they are.
[[nodiscard]] std::vector<std::string> resolve_id_names(const std::vector<std::string>& names,
  const std::vector<Attribute>& attributes, bool with_second, const std::string& species = {});

/// Returns whether `requested`, in the form used by options for indexes and samples, names an
/// attribute or alias of these particles, whatever its component.
[[nodiscard]] bool names_attribute(const ParticleView& particles, const std::string& requested);
}
