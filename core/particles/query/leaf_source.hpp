// SPDX-License-Identifier: BSD-3-Clause
// The interface between a dataset and its leaf files, whatever their format.
#pragma once

#include "bat/file.hpp"
#include "bat/query.hpp"
#include "particles/query/ordinal_interval.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bat
{
namespace query
{
struct Conditions;
}

/// A region of space and the number of particles in it.
struct Region
{
  Box bounds;
  std::uint64_t particles = 0;
};

/// One leaf file. const functions may be called concurrently and give the same answers as those of
/// File: exact, deterministic, errors instead of wrong particles.
class LeafSource
{
public:
  virtual ~LeafSource() = default;

  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t file_bytes() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t particle_count() const noexcept = 0;
  [[nodiscard]] virtual ScalarType position_type() const noexcept = 0;
  /// Box of the particles whose coordinates are all finite; empty if there are none.
  [[nodiscard]] virtual std::optional<Box> bounds() const noexcept = 0;
  [[nodiscard]] virtual const std::vector<Attribute>& attributes() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t bytes_read() const noexcept = 0;

  /// The finest regions that the index knows without reading particles, except those with particles
  /// whose coordinates are not finite.
  [[nodiscard]] virtual std::vector<Region> regions() const = 0;
  /// `Query::part` and `parts` are ignored: the interval of ordinals replaces them. These throw
  /// Error{InvalidArgument}.
  [[nodiscard]] std::uint64_t upper_bound(
    const Query& query, const OrdinalInterval& ordinals) const;
  [[nodiscard]] Selection select(
    const Query& query, const OrdinalInterval& ordinals, const QueryOptions& options) const;

  [[nodiscard]] virtual std::uint64_t upper_bound(const query::Conditions& conditions) const = 0;
  /// See Dataset::estimate_count; tests a sample of about `sampled` particles.
  [[nodiscard]] virtual CountEstimate estimate_count(
    const query::Conditions& conditions, std::uint64_t sampled) const = 0;
  [[nodiscard]] virtual Selection select(
    const query::Conditions& conditions, const QueryOptions& options) const = 0;
  virtual void read_positions(
    const Selection& selection, void* out, const QueryOptions& options) const = 0;
  virtual void read_attribute(std::size_t index, const Selection& selection, void* out,
    const QueryOptions& options) const = 0;

  /// See Dataset::prefetch.
  virtual void prefetch(
    const Selection& selection, const std::vector<std::size_t>& attributes) const = 0;
  /// Number of particles at the beginning of the file, at most `maximum`, that form an even sample
  /// of all.
  [[nodiscard]] virtual std::uint64_t coarse_particles(std::uint64_t maximum) const noexcept = 0;
  /// Returns values that divide those of key `key` of an attribute into parts of equal size,
  /// ascending; empty if the index has none.
  [[nodiscard]] virtual std::vector<Number> quantiles(
    std::size_t attribute, std::size_t key) const = 0;

  /// Checks every checksum and rule of the format; throws an Error for the first violation.
  virtual void validate() const = 0;

private:
  [[nodiscard]] query::Conditions conditions(
    const Query& query, const OrdinalInterval& ordinals) const;
};
}
