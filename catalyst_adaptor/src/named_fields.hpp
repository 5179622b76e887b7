// SPDX-License-Identifier: BSD-3-Clause
// Fields that options name. An option is that of the species that have the field; a name that none
// of them has is a mistake.
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
  /// About a step: one line for each name that nobody has whom its option is for, neither in this
  /// step nor before, as soon as one of them has particles or samples. Fields that a rank cannot
  /// hand over are not missing. `keys` are the species of the step.
  [[nodiscard]] std::vector<std::string> find_missing(
    const Census& census, const Options& options, const std::vector<SpeciesKey>& keys);

private:
  std::set<std::string> found_; // the options and names that somebody has had
};
}
