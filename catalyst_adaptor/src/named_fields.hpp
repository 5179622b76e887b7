// SPDX-License-Identifier: BSD-3-Clause
// Checks field names in options. An option applies to the species that have the field; a name that
// no species has is a mistake.
#pragma once

#include "census.hpp"
#include "options.hpp"

#include <set>
#include <string>
#include <vector>

namespace bat::catalyst
{
class NamedFields
{
public:
  /// Finds names in options that match nothing. Returns one line for each name that none of its
  /// species and grids has had up to this step, as soon as one of them has particles or samples.
  /// Fields that a rank cannot provide do not count as missing. `keys` are the step's species.
  [[nodiscard]] std::vector<std::string> find_missing(
    const Census& census, const Options& options, const std::vector<SpeciesKey>& keys);

private:
  std::set<std::string> found_; // the options and names found so far
};
}
