// SPDX-License-Identifier: BSD-3-Clause
// The io pipelines of catalyst_initialize: files that the simulation itself requests.
#pragma once

#include "node.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bat::catalyst
{
struct Pipeline
{
  std::string name;
  std::string channel;
  std::string file; ///< a pattern that ends in .bat, for particles, or .idx or .bricks, for grids
};

/// Reads the pipelines in catalyst/pipelines that write .bat, .idx or .bricks. Adds a line to
/// `warnings` for each other pipeline and for catalyst/scripts. Throws Error{InvalidArgument} if a
/// pipeline lacks a type, file name or channel.
[[nodiscard]] std::vector<Pipeline> read_pipelines(
  const Node& root, std::vector<std::string>& warnings);

/// The pipelines that catalyst/state/pipelines of catalyst_execute requests; empty without that
/// node, which means all.
[[nodiscard]] std::optional<std::vector<std::string>> selected_pipelines(const Node& root);
}
