// SPDX-License-Identifier: BSD-3-Clause
// The domains that a channel's data consist of.
#pragma once

#include "node.hpp"

#include <string>
#include <vector>

namespace bat::catalyst
{
struct DomainNode
{
  Node node;
  std::string mesh;            ///< of a multimesh, else empty
  bool is_placeholder = false; ///< of a rank without a box
};

/// Of catalyst/channels/NAME/data: a mesh is a domain or has some, and a multimesh has meshes.
/// Throws Error{InvalidArgument}: something else is there.
[[nodiscard]] std::vector<DomainNode> domains_in(const Node& data, bool is_multimesh);
}
