// SPDX-License-Identifier: BSD-3-Clause
// Which ranks share a node, and how work is spread over nodes.
#include "parallel/nodes.hpp"
#include "particles/parallel/mpi_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace
{
using bat::mpi::find_nodes;
using bat::mpi::NodeLayout;
using bat::mpi::spread_over_nodes;
using mpi_test::rank;
using mpi_test::ranks;
using Numbers = std::vector<std::uint32_t>;

Numbers per_rank(const NodeLayout& layout, const Numbers& chosen)
{
  Numbers counts(layout.rank_count(), 0);
  for (const std::uint32_t r : chosen)
  {
    ++counts.at(r);
  }
  return counts;
}

Numbers per_node(const NodeLayout& layout, const Numbers& chosen)
{
  Numbers counts(layout.node_count(), 0);
  for (const std::uint32_t r : chosen)
  {
    ++counts.at(layout.node_of(r));
  }
  return counts;
}

// The rule in the header, applied to every pair of nodes and ranks.
void expect_spread(const NodeLayout& layout, const Numbers& chosen, const std::string& what)
{
  const Numbers of_rank = per_rank(layout, chosen);
  const Numbers of_node = per_node(layout, chosen);
  const auto [minimum, maximum] = std::minmax_element(of_rank.begin(), of_rank.end());
  EXPECT_LE(*maximum - *minimum, 1u) << what;
  for (std::uint32_t a = 0; a != layout.node_count(); ++a)
  {
    for (std::uint32_t b = 0; b != layout.node_count(); ++b)
    {
      ASSERT_FALSE(of_node[a] > 1 && of_node[b] == 0) << what << ": nodes " << a << ", " << b;
      ASSERT_FALSE(chosen.size() <= layout.rank_count() && of_node[a] > of_node[b] + 1 &&
        of_node[b] < layout.size_of(b))
        << what << ": nodes " << a << ", " << b;
    }
  }
}

TEST(NodeLayout, nodes_are_numbered_by_their_lowest_ranks)
{
  const NodeLayout layout({ 9, 4, 9, 4, 4, 7 });
  EXPECT_EQ(layout.rank_count(), 6u);
  EXPECT_EQ(layout.node_count(), 3u);
  EXPECT_EQ(layout.in_order(), (Numbers{ 0, 2, 1, 3, 4, 5 }));
  EXPECT_EQ(layout.node_of(4), 1u);
  EXPECT_EQ(layout.size_of(1), 3u);
  EXPECT_EQ(layout.ranks_of(2)[0], 5u);
  EXPECT_EQ(layout.largest_node(), 3u);
  EXPECT_EQ(NodeLayout().node_count(), 1u);
}

TEST(SpreadOverNodes, no_node_has_two_while_another_has_none)
{
  if (rank() != 0)
  {
    return; // no knowledge of other ranks
  }
  clouds::Random random(7);
  for (const std::uint32_t nodes : { 1u, 2u, 3u, 5u, 16u })
  {
    for (const bool is_even : { true, false })
    {
      for (const bool is_dealt : { true, false }) // rank by rank to nodes, or in blocks
      {
        Numbers names;
        for (std::uint32_t node = 0; node != nodes; ++node)
        {
          names.insert(names.end(), is_even ? 4 : 1 + random() % 7, node);
        }
        if (is_dealt)
        {
          std::shuffle(names.begin(), names.end(), random);
        }
        const NodeLayout layout(names);
        const std::uint32_t size = layout.rank_count();
        for (std::uint32_t count = 0; count <= 2 * size + 1; ++count)
        {
          const std::string what = std::to_string(nodes) + " nodes, " + std::to_string(size) +
            " ranks, " + std::to_string(count) + " wanted";
          const Numbers chosen = spread_over_nodes(layout, count);
          ASSERT_EQ(chosen.size(), count) << what;
          expect_spread(layout, chosen, what);
          // Close to the data: in windows of ranks, anywhere in each.
          Numbers wished;
          for (std::uint32_t i = 0; i != count; ++i)
          {
            const std::uint32_t first = i * size / count;
            const std::uint32_t width = std::max(1u, (i + 1) * size / count - first);
            wished.push_back(first + static_cast<std::uint32_t>(random() % width));
          }
          const Numbers moved = spread_over_nodes(layout, wished);
          expect_spread(layout, moved, what + ", wished");
          if (nodes == 1)
          {
            EXPECT_EQ(moved, wished) << what;
          }
        }
      }
    }
  }
}

TEST(SpreadOverNodes, wishes_that_keep_the_rule_are_kept)
{
  const NodeLayout layout({ 0, 0, 0, 0, 1, 1, 1, 1 });
  EXPECT_EQ(spread_over_nodes(layout, Numbers{ 3, 5 }), (Numbers{ 3, 5 }));
  EXPECT_EQ(spread_over_nodes(layout, Numbers{ 3, 5, 6 }), (Numbers{ 3, 5, 6 }));
  EXPECT_EQ(spread_over_nodes(layout, Numbers{ 2, 3 }), (Numbers{ 2, 4 }));
  EXPECT_EQ(spread_over_nodes(layout, Numbers{ 4, 5 }), (Numbers{ 0, 5 }));
  // If all ranks have one, they keep it, however uneven the nodes are.
  const NodeLayout uneven({ 0, 0, 0, 0, 1 });
  EXPECT_EQ(spread_over_nodes(uneven, Numbers{ 0, 1, 2, 3, 4 }), (Numbers{ 0, 1, 2, 3, 4 }));
}

TEST(SpreadOverNodes, of_a_million_ranks)
{
  if (rank() != 0)
  {
    return; // no knowledge of other ranks
  }
  Numbers names(1'000'000);
  for (std::uint32_t r = 0; r != names.size(); ++r)
  {
    names[r] = r % 8000;
  }
  const NodeLayout layout(names);
  for (const std::uint32_t count : { 4000u, 8001u, 100'000u })
  {
    const Numbers of_node = per_node(layout, spread_over_nodes(layout, count));
    const auto [minimum, maximum] = std::minmax_element(of_node.begin(), of_node.end());
    EXPECT_LE(*maximum - *minimum, 1u) << count;
  }
}

TEST(Nodes, of_the_machine_and_pretended)
{
  const bat::mpi::OwnComm comm(MPI_COMM_WORLD);
  for (int each = 0; each <= ranks() + 1; ++each)
  {
    // Settings that only rank 0 knows apply to all.
    const bat::mpi::Nodes nodes(comm, rank() == 0 ? each : 1);
    const NodeLayout& layout = nodes.layout();
    ASSERT_EQ(layout.rank_count(), static_cast<std::uint32_t>(ranks()));
    const auto expected = static_cast<std::uint32_t>(each == 0 ? 1 : (ranks() + each - 1) / each);
    EXPECT_EQ(layout.node_count(), expected) << each; // tests run on one machine
    const auto self = static_cast<std::uint32_t>(rank());
    EXPECT_EQ(nodes.node(), layout.node_of(self));
    ASSERT_EQ(static_cast<std::uint32_t>(nodes.size()), layout.size_of(nodes.node()));
    EXPECT_EQ(layout.ranks_of(nodes.node())[nodes.place()], self);
    EXPECT_TRUE(nodes.is_near(self));
    // They can share memory.
    MPI_Win window = MPI_WIN_NULL;
    std::uint32_t* local = nullptr;
    MPI_Win_allocate_shared(
      sizeof(self), sizeof(self), MPI_INFO_NULL, nodes.comm(), &local, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    *local = self;
    MPI_Win_sync(window);
    MPI_Barrier(nodes.comm());
    MPI_Win_sync(window);
    for (int place = 0; place != nodes.size(); ++place)
    {
      MPI_Aint size = 0;
      int unit = 0;
      std::uint32_t* of_other = nullptr;
      MPI_Win_shared_query(window, place, &size, &unit, &of_other);
      EXPECT_EQ(*of_other, layout.ranks_of(nodes.node())[place]);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
}

TEST(Nodes, a_negative_number_of_ranks_is_an_error_on_all)
{
  const bat::mpi::OwnComm comm(MPI_COMM_WORLD);
  const std::string error =
    mpi_test::error_of([&] { const bat::mpi::Nodes nodes(comm, rank() == 0 ? -2 : 1); });
  EXPECT_EQ(error,
    std::string(ranks() == 1 ? "" : "rank 0: ") +
      "ranks per node is -2; allowed are 0 (nodes of the machine) or more");
}

TEST(OwnComm, is_made_once_and_goes_with_the_callers)
{
  for (int i = 0; i != 20; ++i)
  {
    MPI_Comm callers = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &callers);
    const bat::mpi::OwnComm first(callers);
    const bat::mpi::OwnComm again(callers);
    EXPECT_EQ(first.get(), again.get());
    EXPECT_NE(first.get(), callers);
    EXPECT_EQ(&find_nodes(first), &find_nodes(again));
    EXPECT_EQ(&find_nodes(first, 2), &find_nodes(again, rank() == 0 ? 2 : 3)); // rank 0's counts
    EXPECT_NE(&find_nodes(first, 2), &find_nodes(first));
    EXPECT_EQ(&find_nodes(first, 2).memory(1000), &find_nodes(again, 2).memory(1000));
    // A copy of the caller's has its own.
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(callers, &copy);
    EXPECT_NE(bat::mpi::OwnComm(copy).get(), first.get());
    MPI_Comm_free(&copy);
    MPI_Comm_free(&callers);
  }
}

TEST(Traffic, is_added_up)
{
  const bat::mpi::OwnComm comm(MPI_COMM_WORLD);
  const bat::mpi::NodeTraffic all = bat::mpi::compute_sum(comm, { 1, 2, 3, 4 });
  const auto size = static_cast<std::uint64_t>(ranks());
  EXPECT_EQ(all.messages_within, size);
  EXPECT_EQ(all.messages_between, 2 * size);
  EXPECT_EQ(all.bytes_within, 3 * size);
  EXPECT_EQ(all.bytes_between, 4 * size);
}
}
