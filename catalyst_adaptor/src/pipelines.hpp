// The io pipelines of catalyst_initialize: files that the simulation itself asks for.
#pragma once

#include "node.hpp"

#include <string>
#include <vector>

namespace bat::catalyst
{
struct Pipeline
{
  std::string channel;
  std::string file; ///< a pattern that ends in .bat
};

/// Those of catalyst/pipelines that write .bat; a line in `warnings` for each other one, and for
/// catalyst/scripts. Throws Error{InvalidArgument}: a pipeline without a type, file name or
/// channel.
[[nodiscard]] std::vector<Pipeline> read_pipelines(
  const Node& root, std::vector<std::string>& warnings);
}
