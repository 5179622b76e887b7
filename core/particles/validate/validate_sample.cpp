// SPDX-License-Identifier: BSD-3-Clause
// Checks stable samples: no particle has a coarser level than one with a lower hash.
#include "particles/validate/validate_leaf.hpp"

#include "common/numbers.hpp"
#include "particles/format/stable_levels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bat
{
namespace
{
void add_numbers(const LeafParticles& particles, const format::SampleIdRecord& id,
  std::vector<std::uint64_t>& hashes)
{
  const Attribute& attribute = particles.file().attributes()[id.attribute];
  const auto components = static_cast<std::size_t>(attribute.components);
  const std::size_t first = id.component < 0 ? 0 : static_cast<std::size_t>(id.component);
  const std::size_t end = id.component < 0 ? components : first + 1;
  dispatch(attribute.type,
    [&](auto value)
    {
      using T = decltype(value);
      if constexpr (std::is_integral_v<T>)
      {
        const auto column =
          particles.read_column<T>(format::SectionKind::Attribute, id.attribute, components);
        for (std::size_t i = 0; i != hashes.size(); ++i)
        {
          for (std::size_t c = first; c != end; ++c)
          {
            hashes[i] =
              format::hash_next(hashes[i], static_cast<std::uint64_t>(column[i * components + c]));
          }
        }
      }
    });
}
}

void check_sample(const LeafParticles& particles)
{
  const format::Schema& schema = particles.impl().schema;
  if (schema.sample_ids.empty())
  {
    return;
  }
  std::vector<std::uint64_t> hashes(particles.file().particle_count());
  for (const format::SampleIdRecord& id : schema.sample_ids)
  {
    add_numbers(particles, id, hashes);
  }
  std::uint64_t highest = 0; // highest hash of coarser levels
  for (std::size_t level = 0; level != schema.levels.size(); ++level)
  {
    std::uint64_t next = highest;
    for (std::uint64_t i = schema.levels.begin(level); i != schema.levels.end[level]; ++i)
    {
      if (hashes[i] < highest)
      {
        format::corrupt(particles.source(),
          fmt::format("SAMPLE_IDS: the particle at {}, in level {}, has hash {:016x}, but one in "
                      "a coarser level has {:016x}",
            i, level, hashes[i], highest));
      }
      next = std::max(next, hashes[i]);
    }
    highest = next;
  }
}
}
