// SPDX-License-Identifier: BSD-3-Clause
// Reads structured grids from the Blueprint nodes of a channel: topologies of type "uniform". Uses
// Conduit, but neither ranks nor files.
#pragma once

#include "mesh_reader.hpp"
#include "names.hpp"
#include "node.hpp"

#include "bat/idx/write.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace bat::catalyst
{
/// Samples of one domain, numbered from 0 within it; element samples are at the element centres.
struct GridDomain
{
  GridKey key;
  std::array<double, 3> origin{}; ///< position of sample 0
  std::array<double, 3> spacing{ 1, 1, 1 };
  std::array<std::int64_t, 3> dimensions{ 1, 1, 1 };
  idx::LogicalBox own; ///< without duplicates; not empty
  /// The part of `own` that is not hidden, if that is a box; it may be empty.
  std::optional<idx::LogicalBox> shown;
  std::vector<bool> hidden;             ///< covers all `dimensions` if some of `own` are hidden
  std::vector<idx::FieldValues> fields; ///< readable fields, covering all `dimensions`
};

struct Grids
{
  std::vector<GridDomain> domains;
  std::vector<std::unique_ptr<std::byte[]>> copies; ///< copies of non-contiguous arrays
};

/// Reads a node like catalyst/channels/NAME, from which `channel` has been read. The result borrows
/// the arrays of the simulation. Adds fields and unread ones to those of `channel`. Throws
/// Error{InvalidArgument}, naming the path, what was found and what is allowed, if a required node
/// or the ghost marks are invalid.
[[nodiscard]] Grids read_grids(const Node& node, const ReadOptions& options, Channel& channel);
}
