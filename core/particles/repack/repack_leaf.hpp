// SPDX-License-Identifier: BSD-3-Clause
// One leaf file of a repack: its particles in memory, how they are stored, and the check of the new
// file.
#pragma once

#include "bat/particles.hpp"
#include "bat/repack.hpp"
#include "common/memory/large_array.hpp"
#include "particles/dataset/particle_sum.hpp"
#include "particles/query/leaf_source.hpp"
#include "particles/write/error_bounds.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bat
{
/// Called with the progress, 0 to 1; throws to cancel.
using OnProgress = std::function<void(double)>;

/// Returns the schema of the particles in a dataset or leaf file, without their values.
[[nodiscard]] ParticleView make_schema(
  ScalarType position_type, const std::vector<Attribute>& attributes);

/// All particles of a leaf file.
class LeafColumns
{
public:
  /// Reads the stored arrays among `requested` (0: the positions, 1 + k: attribute k); others have
  /// no values. `schema` is the dataset's.
  LeafColumns(const LeafSource& leaf, const ParticleView& schema,
    const std::vector<std::size_t>& requested, int threads, const OnProgress& on_progress);

  [[nodiscard]] const ParticleView& view() const noexcept { return this->view_; }

private:
  ParticleView view_;
  std::vector<LargeArray<std::byte>> arrays_;
};

/// Returns the numbers of all stored arrays.
[[nodiscard]] std::vector<std::size_t> stored_arrays(const ParticleView& schema);

/// Returns whether any of its columns is compressed.
[[nodiscard]] bool is_compressed(const LeafSource& leaf);

/// Returns the bounds of a leaf file by array name, as in the option; empty for the paper's
/// library.
[[nodiscard]] std::map<std::string, double> collect_bounds(const LeafSource& leaf);

/// Returns how to write a leaf file: unchanged except for the changes. `bounds` are the new ones.
[[nodiscard]] BuildOptions make_build_options(const LeafSource& leaf, const RepackOptions& options,
  const std::vector<write::ErrorBound>& bounds);

/// Returns the sum of particles as written with these options.
[[nodiscard]] ParticleSum expected_sum(const ParticleView& particles, const BuildOptions& build);

/// Throws Error{WriteFailed} unless the leaf file at `path`, called `name` in messages, matches
/// `schema`, has `count` particles with this sum, and the sorted indexes in `build`.
void check_leaf(const std::string& path, const std::string& name, const ParticleView& schema,
  std::uint64_t count, const ParticleSum& sum, const BuildOptions& build,
  const OnProgress& on_progress);
}
