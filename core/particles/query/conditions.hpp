// SPDX-License-Identifier: BSD-3-Clause
// A query with its names looked up, its numbers checked and converted to the classes of its keys.
#pragma once

#include "bat/file.hpp"
#include "common/numbers.hpp"
#include "particles/query/ordinal_interval.hpp"
#include "particles/query/region_test.hpp"
#include "particles/query/value_set.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bat::query
{
/// A condition on the value of one key: in a range, in a list, or in one of several ranges; or the
/// negation. NaN is in none.
struct KeyCondition
{
  std::size_t attribute = 0; ///< an attribute with a column: the target of an alias
  std::size_t key = 0;
  int component = 0;         ///< -1 for the magnitude
  bool of_positions = false; ///< applies to positions instead of `attribute` and `key`
  std::variant<ClassRange<double>, ClassRange<std::int64_t>, ClassRange<std::uint64_t>,
    ValueSet<double>, ValueSet<std::int64_t>, ValueSet<std::uint64_t>, IntervalSet<double>,
    IntervalSet<std::int64_t>, IntervalSet<std::uint64_t>>
    requested; ///< in the class of the key
  bool negated = false;
};

struct Conditions
{
  double after_quality = 0;
  double quality = 1;
  std::uint64_t first_position = 0; ///< beginning of the progressive step
  std::uint64_t end_position = 0;
  std::uint64_t first_ordinal = 0; ///< beginning of the part
  std::uint64_t end_ordinal = 0;
  Places places;
  std::vector<KeyCondition> keys;
  bool never = false; ///< no value can match, in any file

  [[nodiscard]] bool none() const noexcept
  {
    return this->places.everywhere() && this->keys.empty();
  }
  /// Returns whether no particle can match.
  [[nodiscard]] bool nothing() const noexcept
  {
    return this->never || this->first_position >= this->end_position ||
      this->first_ordinal >= this->end_ordinal;
  }
};

/// The properties against which queries are checked, for any file format.
struct Target
{
  const std::string& name; ///< file name, for messages
  std::uint64_t particle_count;
  const std::vector<Attribute>& attributes; ///< each with all its keys
};

/// The relation of particles with finite coordinates in the box from `lower` to `upper` to a
/// condition on positions.
[[nodiscard]] Relation relate(
  const double* lower, const double* upper, const KeyCondition& condition);

// These functions throw Error{InvalidArgument}.
void check_quality(const std::string& file, double quality);
[[nodiscard]] std::size_t find_attribute(
  const std::string& file, const std::vector<Attribute>& attributes, std::string_view name);
/// See Dataset::is_absent_when_empty().
[[nodiscard]] bool is_absent_when_empty(
  std::uint64_t particle_count, const std::vector<Attribute>& attributes, std::string_view name);
/// Returns the ordinals of a part of all particles (FORMAT.md section 13).
[[nodiscard]] OrdinalInterval part_ordinals(
  const std::string& file, std::uint64_t particle_count, const Query& query);
/// Checks everything except `part` and `parts`, which `ordinals` replaces.
[[nodiscard]] Conditions make_conditions(
  const Target& target, const OrdinalInterval& ordinals, const Query& query);
/// Returns the conditions of a dataset for one of its leaf files: names are looked up and lists
/// sorted once for all.
[[nodiscard]] Conditions of_leaf(
  const Conditions& dataset, std::uint64_t particle_count, const OrdinalInterval& ordinals);
/// Throws unless its spans are ascending, disjoint, within the file's `particle_count` particles
/// and add up to its count.
void check_selection(
  const std::string& file, std::uint64_t particle_count, const Selection& selection);
}
