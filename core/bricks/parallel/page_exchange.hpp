// SPDX-License-Identifier: BSD-3-Clause
// Moves points from the ranks that have them to the ranks that encode their pages.
#pragma once

#include "bat/bricks/parallel.hpp"
#include "bricks/write/page_encoder.hpp"
#include "common/rank_boxes.hpp"
#include "parallel/comm.hpp"
#include "parallel/nodes.hpp"

#include <cstddef>
#include <vector>

namespace bat::bricks
{
/// The data that all rounds share. The caller owns the referenced objects.
struct PageSource
{
  const bat::mpi::OwnComm& comm;
  bat::mpi::Nodes& nodes;
  std::size_t point_bytes;
  LogicalBox whole;                  ///< box around all pieces
  const std::vector<RankBox>& parts; ///< parts on all ranks, by rank and piece, disjoint
  const std::vector<Piece>& pieces;  ///< this rank's pieces
};

/// Collective. `pages[r]` are the points of rank r's page, counted from the first point of the
/// whole; without a page, it has no points. Returns the values of this rank's page. All ranks throw
/// the same Error.
[[nodiscard]] std::vector<std::byte> exchange_pages(
  const PageSource& source, const std::vector<Window>& pages);
}
