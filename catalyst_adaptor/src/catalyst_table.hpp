// SPDX-License-Identifier: BSD-3-Clause
// The table that libcatalyst finds in an implementation under the name catalyst_api_impl.
#pragma once

struct conduit_node_impl;

namespace bat::catalyst
{
struct Table
{
  int version; ///< version of the table: 1
  int (*initialize)(const conduit_node_impl*);
  int (*execute)(const conduit_node_impl*);
  int (*finalize)(const conduit_node_impl*);
  int (*about)(conduit_node_impl*);
  int (*results)(conduit_node_impl*);
};
}
