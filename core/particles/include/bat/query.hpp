// SPDX-License-Identifier: BSD-3-Clause
// Queries on a file, and their results before any values are read.
#pragma once

#include "bat/types.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bat
{
/// A closed range on one attribute, compared without rounding (FORMAT.md section 13).
struct AttributeRange
{
  std::string attribute;
  /// Component number. Unset: the value of an attribute with one component, else the magnitude.
  std::optional<int> component;
  Number lower = 0.0;
  Number upper = 0.0;
};

/// A closed range of numbers.
struct NumberRange
{
  Number lower = 0.0;
  Number upper = 0.0;
};

/// Values of one attribute, e.g. ids: a particle matches if its value equals one of `values` or
/// lies in one of `ranges`. Compared without rounding (FORMAT.md section 13): a number that the
/// type cannot hold matches nothing, neither do empty lists. NaN and a range that ends before it
/// begins are Error{InvalidArgument}. Order, repetition and overlaps do not matter.
struct AttributeValues
{
  std::string attribute;
  /// As in AttributeRange. A magnitude must equal the number to the last bit.
  std::optional<int> component;
  std::vector<Number> values;
  std::vector<NumberRange> ranges = {};
  /// Negates the condition: selects particles that do not match, including those with NaN.
  bool negated = false;
};

/// All points within `radius` of `center`: ((dx * dx + dy * dy) + dz * dz) <= radius * radius in
/// double precision, dx being x - center[0] and so on. Finite; the radius is at least 0.
struct Sphere
{
  std::array<double, 3> center{};
  double radius = 0;
};

/// All points between two planes: lower <= ((n[0] * x + n[1] * y) + n[2] * z) <= upper in double
/// precision, n being `normal`, of any length but 0, with finite components.
struct Slab
{
  std::array<double, 3> normal{};
  /// Limits of the dot product of normal and position, which is a distance from the origin only if
  /// the normal has length 1. May be infinite.
  double lower = 0;
  double upper = 0;
};

/// A box in any direction: for each of its axes a, -h <= ((a[0] * dx + a[1] * dy) + a[2] * dz) <= h
/// in double precision, h being its half extent, dx being x - center[0] and so on. Axes are usually
/// of length 1 and at right angles; none may be 0. Finite; half extents are at least 0.
struct OrientedBox
{
  std::array<double, 3> center{};
  std::array<std::array<double, 3>, 3> axes{ { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
  std::array<double, 3> half_extents{};
};

/// A closed region of space. It excludes particles with a NaN coordinate, and those for which the
/// formula gives NaN.
struct Shape
{
  std::variant<Sphere, Slab, OrientedBox> form;
  bool negated = false; ///< selects what is outside
};

/// All conditions must hold together. The defaults select everything.
struct Query
{
  /// The share of the particles to return, coarse ones first: count = ceil(quality * n). In [0, 1].
  double quality = 1.0;
  /// Progressive step: excludes what a query with this quality returned. In [0, quality].
  double after_quality = 0.0;
  std::optional<Box> box;
  /// Excludes the upper faces of the box except those at infinity, so that the boxes of a tiling of
  /// space share no particle. A box without extent on an axis then contains nothing.
  bool half_open = false;
  /// Further regions; a particle must be in all of them.
  std::vector<Shape> shapes;
  std::vector<AttributeRange> ranges;
  std::vector<AttributeValues> values;
  /// Divides the particles among `parts` readers: part `part` gets a compact region of space with
  /// its share of the particles of every quality. The parts are disjoint and add up to the whole.
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
};

/// Consecutive file positions.
struct Span
{
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// The particles that match a query, in file order. A value; holds no reference to the file.
struct Selection
{
  std::vector<Span> spans;  ///< ascending, disjoint, none empty
  std::uint64_t count = 0;  ///< particles
  std::uint64_t tested = 0; ///< particles that were tested one by one
};

/// An estimate of how many particles match: the count is at least `minimum` and at most
/// `maximum`.
struct CountEstimate
{
  std::uint64_t minimum = 0;
  std::uint64_t likely = 0; ///< between them, from a sample
  std::uint64_t maximum = 0;

  [[nodiscard]] bool exact() const noexcept { return this->minimum == this->maximum; }
};

/// Splits "velocity[1]" into attribute and component. A text that is the name of an attribute
/// in `names` is not split. Throws Error{InvalidArgument} if the attribute is not among
/// `names`.
[[nodiscard]] AttributeRange parse_range_target(
  std::string_view text, const std::vector<std::string>& names);
}
