// SPDX-License-Identifier: BSD-3-Clause
// Finds the domains in a channel's data.
#pragma once

#include "node.hpp"

#include <string>
#include <vector>

namespace bat::catalyst
{
struct DomainNode
{
  Node node;
  std::string mesh;            ///< name within a multimesh, else empty
  bool is_placeholder = false; ///< belongs to a rank without a box
};

/// Finds domains in catalyst/channels/NAME/data: a mesh is a domain or has domains, and a multimesh
/// has meshes. Throws Error{InvalidArgument} for any other kind of node.
[[nodiscard]] std::vector<DomainNode> domains_in(const Node& data, bool is_multimesh);
}
