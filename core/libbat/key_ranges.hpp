// SPDX-License-Identifier: BSD-3-Clause
// The precision of attribute ranges in files of the paper's library.
#pragma once

namespace bat::libbat
{
/// The source of Attribute::keys.
enum class KeyRanges
{
  /// The ranges in the header, widened by their rounding to float32. Opening then reads no
  /// particle. That library omits the last particle of each file from its ranges without
  /// identifying it, so one particle per file may lie outside. No query relies on them. `has_nan`
  /// stays false. Attributes whose range is not in the header are read once.
  Header,
  /// Exact; reads all attributes once.
  Exact
};
}
