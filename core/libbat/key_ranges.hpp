// SPDX-License-Identifier: BSD-3-Clause
// How exact the ranges of attributes are that files of the paper's library give.
#pragma once

namespace bat::libbat
{
/// The source of Attribute::keys.
enum class KeyRanges
{
  /// The ranges in the header, widened by their rounding to float32. Opening then reads no
  /// particle, but that library leaves the particle that came last into each file out of its
  /// ranges, and nothing tells which it is: one particle per file may lie outside. No query relies
  /// on them. `has_nan` stays false. Attributes whose range is not in the header are read once.
  Header,
  /// Exact; reads all attributes once.
  Exact
};
}
