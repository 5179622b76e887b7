// SPDX-License-Identifier: BSD-3-Clause
// AMReX ids (bat/ids.hpp), which arrive packed: as uint64 X_idcpu if particles are stored as
// arrays; as int32 X_id and X_cpu, the adjacent low and high halves, if they are stored as structs.
// X is the name of the topology.
#pragma once

#include "arrays.hpp"

#include "bat/particles.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bat::catalyst
{
struct PackedIds
{
  std::vector<std::string> fields; ///< X_idcpu, or X_id and X_cpu
  std::string taken;               ///< id or cpu, if another field has this name: they stay packed

  /// The name under which a field is written: id or cpu for a packed one, else its own.
  [[nodiscard]] std::string name_of(const std::string& field) const;
};

/// Finds packed ids by their field types; halves count only if `X` is not in `apart`.
[[nodiscard]] std::optional<PackedIds> find_packed_ids(
  const std::map<std::string, std::string>& types, const std::vector<std::string>& apart);

/// Names X for a domain with int32 fields X_id and X_cpu.
[[nodiscard]] std::vector<std::string> find_half_pairs(
  const std::map<std::string, std::string>& types);

/// True if `field` may contain ids that `requested` names: id, cpu, or packed ids.
[[nodiscard]] bool may_hold_ids(
  const std::string& field, const std::vector<std::string>& requested);

/// Replaces the packed fields by id (int64) and cpu (int32), whose values `arrays` keeps. All
/// particles must have them.
void unpack_ids(ParticleView& particles, const PackedIds& packed, Arrays& arrays);
}
