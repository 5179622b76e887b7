// SPDX-License-Identifier: BSD-3-Clause
// The exchange alone, with assignments made by hand.
#include "particles/parallel/exchange.hpp"
#include "particles/parallel/mpi_support.hpp"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <fstream>
#include <numeric>

namespace
{
using mpi_test::rank;
using mpi_test::ranks;

/// The columns of all leaves of a rank.
std::vector<std::string> contents(const bat::mpi::ExchangeResult& result)
{
  std::vector<std::string> contents;
  for (const bat::mpi::AggregatedLeaf& leaf : result.leaves)
  {
    const bat::write::ParticleParts& particles = leaf.particles;
    std::vector<std::uint32_t> numbers(particles.count());
    std::iota(numbers.begin(), numbers.end(), 0u);
    for (std::size_t a = 0; a != particles.array_count(); ++a)
    {
      const std::string head = std::to_string(leaf.leaf) + ":";
      const std::size_t bytes = bat::write::tuple_bytes(particles.array(a)) * numbers.size();
      std::string text = head + std::string(bytes, '\0');
      particles.gather(
        numbers.data(), numbers.size(), a, reinterpret_cast<std::byte*>(&text[head.size()]));
      contents.push_back(std::move(text));
    }
  }
  return contents;
}

TEST(Exchange, particles_are_sorted_by_leaf)
{
  clouds::Random random(3);
  tbb::task_arena threads(4); // also on a machine with fewer
  for (const std::uint32_t leaves : { 1u, 2u, 6u, 9u, 40u, 500u })
  {
    for (const std::size_t count : { 1u, 1000u, 65'536u, 300'001u })
    {
      bat::mpi::LeafAssignment assignment{ 0, bat::mpi::Numbers(count) };
      for (std::size_t i = 0; i != count; ++i)
      {
        // Some leaves get nothing. In the first half, particles may go to any leaf, so that slices
        // that know few leaves are next to others that know many.
        const auto near = static_cast<std::uint32_t>(i * leaves / count);
        const std::uint32_t leaf = i < count / 2 && random() % 8 == 0 ? random() % leaves : near;
        assignment.each[i] = leaf % 5 == 3 ? 0 : leaf;
      }
      std::vector<std::uint32_t> expected(count);
      std::iota(expected.begin(), expected.end(), 0u);
      std::stable_sort(expected.begin(), expected.end(),
        [&](std::uint32_t a, std::uint32_t b) { return assignment.each[a] < assignment.each[b]; });
      bat::mpi::LeafOrder sorted;
      threads.execute([&] { sorted = bat::mpi::sort_by_leaf(assignment, count, leaves); });
      ASSERT_TRUE(
        std::equal(sorted.order.begin(), sorted.order.end(), expected.begin(), expected.end()))
        << leaves << " leaves, " << count << " particles";
      ASSERT_EQ(sorted.first.size(), leaves + 1u);
      for (std::uint32_t leaf = 0; leaf != leaves; ++leaf)
      {
        ASSERT_EQ(sorted.count(leaf),
          static_cast<std::uint64_t>(
            std::count(assignment.each.begin(), assignment.each.end(), leaf)));
      }
    }
  }
}

TEST(Exchange, messages_of_any_size_carry_the_same)
{
  const bat::mpi::OwnComm comm(MPI_COMM_WORLD);
  bat::mpi::Nodes nodes(comm);
  // 0 particles on the second-to-last rank if it exists, 300 times the rank on others.
  const auto number = static_cast<std::uint64_t>(rank());
  clouds::Random random(number + 1);
  clouds::Cloud local;
  const std::uint64_t count = rank() == ranks() - 2 ? 0 : 300 * (number + 1);
  local.set_positions(clouds::uniform_positions<double>(count, random));
  local.add("id", bat::ScalarType::Int64, clouds::shuffled_ids(count, random, 1000000 * rank()));
  local.add("flag", bat::ScalarType::UInt8, std::vector<std::uint8_t>(count, 7));
  const bat::mpi::RankParticles view({ { local.view(), {} } });
  // Two leaves per rank, not adjacent; the fourth gets nothing.
  const auto leaves = static_cast<std::uint32_t>(2 * ranks());
  std::vector<std::uint32_t> aggregators;
  for (std::uint32_t leaf = 0; leaf != leaves; ++leaf)
  {
    aggregators.push_back(leaf * 3 % leaves / 2); // 3 and the number of leaves may share a factor
  }
  bat::mpi::LeafAssignment leaf_of;
  for (std::uint64_t i = 0; i != count; ++i)
  {
    const auto leaf = static_cast<std::uint32_t>(random() % leaves);
    leaf_of.each.push_back(leaf == 3 ? 0 : leaf);
  }
  const auto expected = contents(bat::mpi::exchange(
    comm, nodes, view, leaf_of, leaves, aggregators, {}, std::size_t{ 1 } << 30));
  for (const std::size_t bytes : { 1, 33, 34, 1000, 4096 })
  {
    const bat::mpi::ExchangeResult result =
      bat::mpi::exchange(comm, nodes, view, leaf_of, leaves, aggregators, {}, bytes);
    EXPECT_TRUE(contents(result) == expected) << bytes;
  }
  // The particles of each leaf: by rank, then in the rank's order.
  std::uint64_t kept = 0;
  for (const bat::mpi::AggregatedLeaf& leaf :
    bat::mpi::exchange(comm, nodes, view, leaf_of, leaves, aggregators, {}, 100).leaves)
  {
    EXPECT_EQ(aggregators[leaf.leaf], static_cast<std::uint32_t>(rank()));
    kept += leaf.particles.count();
  }
  std::uint64_t all[2]{};
  const std::uint64_t here[2]{ kept, count };
  MPI_Allreduce(here, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(all[0], all[1]);
}

TEST(Exchange, leaders_bring_the_same_as_flat)
{
  const bat::mpi::OwnComm comm(MPI_COMM_WORLD);
  const auto self = static_cast<std::uint64_t>(rank());
  clouds::Random random(self + 1);
  clouds::Cloud local;
  const std::uint64_t count = rank() == ranks() - 2 ? 0 : 500 * (self + 1);
  local.set_positions(clouds::uniform_positions<double>(count, random));
  local.add("id", bat::ScalarType::Int64, clouds::shuffled_ids(count, random, 1000000 * rank()));
  local.add("flag", bat::ScalarType::UInt8, std::vector<std::uint8_t>(count, 7));
  const bat::mpi::RankParticles particles({ { local.view(), {} } });
  for (const bool is_dense : { true, false })
  {
    // Dense: a leaf on each rank, with something for it from each rank that has particles.
    // Otherwise several leaves on every third rank, not all of them with particles.
    const auto size = static_cast<std::uint32_t>(ranks());
    const std::uint32_t leaves = is_dense ? size : 5;
    std::vector<std::uint32_t> aggregators;
    for (std::uint32_t leaf = 0; leaf != leaves; ++leaf)
    {
      aggregators.push_back(is_dense ? leaf : leaf * 3 % size);
    }
    bat::mpi::LeafAssignment leaf_of;
    for (std::uint64_t i = 0; i != count; ++i)
    {
      const auto leaf = static_cast<std::uint32_t>(is_dense ? i % size : random() % leaves);
      leaf_of.each.push_back(!is_dense && leaf == 3 ? 0 : leaf);
    }
    for (int each = 0; each <= 4; ++each)
    {
      bat::mpi::Nodes nodes(comm, each);
      const auto run = [&](bat::Route route, int leaders, std::size_t bytes)
      {
        return bat::mpi::exchange(
          comm, nodes, particles, leaf_of, leaves, aggregators, { route, leaders, each }, bytes);
      };
      const bat::mpi::ExchangeResult flat = run(bat::Route::Flat, 1, 1 << 21);
      EXPECT_EQ(flat.route, bat::Route::Flat);
      for (const int leaders : { 1, 2, 100 })
      {
        for (const std::size_t bytes : { 1u, 1000u, 1u << 21 })
        {
          const bat::mpi::ExchangeResult led = run(bat::Route::Leaders, leaders, bytes);
          const std::string what = std::to_string(each) + " ranks per node, " +
            std::to_string(leaders) + " leaders, messages of " + std::to_string(bytes);
          EXPECT_EQ(led.route, ranks() == 1 ? bat::Route::Flat : bat::Route::Leaders);
          EXPECT_TRUE(contents(led) == contents(flat)) << what;
          EXPECT_EQ(led.sent_bytes, flat.sent_bytes) << what;
        }
      }
      const bat::mpi::NodeTraffic of_flat = bat::mpi::compute_sum(comm, flat.messages.of_nodes());
      const bat::mpi::NodeTraffic of_leaders =
        bat::mpi::compute_sum(comm, run(bat::Route::Leaders, 1, 1 << 21).messages.of_nodes());
      for (const bat::mpi::NodeTraffic& all : { of_flat, of_leaders })
      {
        EXPECT_EQ(all.messages_received, all.messages_within + all.messages_between);
        EXPECT_EQ(all.bytes_received, all.bytes_within + all.bytes_between);
      }
      if (nodes.layout().node_count() == 1)
      {
        EXPECT_EQ(of_flat.messages_between + of_leaders.messages_between, 0u);
      }
      const bat::mpi::NodeLayout& layout = nodes.layout();
      const auto in_node = static_cast<int>(layout.largest_node());
      if (is_dense && ranks() > 1 &&
        layout.node_count() * layout.largest_node() == layout.rank_count())
      {
        // Counts and particles, from each node, or each rank that has any, to each rank elsewhere.
        const auto elsewhere = static_cast<std::uint64_t>(ranks() - in_node);
        EXPECT_EQ(of_flat.messages_between, 2 * elsewhere * (ranks() - 1));
        const auto empty_nodes = static_cast<std::uint64_t>(in_node == 1 ? 1 : 0);
        EXPECT_EQ(of_leaders.messages_between, 2 * elsewhere * (layout.node_count() - empty_nodes));
      }
    }
  }
}

TEST(Exchange, ranks_that_go_whole_need_no_list)
{
  const bat::mpi::OwnComm comm(MPI_COMM_WORLD);
  bat::mpi::Nodes nodes(comm);
  const auto number = static_cast<std::uint64_t>(rank());
  clouds::Random random(number + 1);
  clouds::Cloud local;
  const std::uint64_t count = 300 * number; // none on rank 0
  local.set_positions(clouds::uniform_positions<float>(count, random));
  local.add("id", bat::ScalarType::Int64, clouds::shuffled_ids(count, random, 1000000 * rank()));
  const bat::mpi::RankParticles view({ { local.view(), {} } });
  // Every rank sends to its neighbour's leaf file; the last one's own leaf gets it from itself.
  const auto leaves = static_cast<std::uint32_t>(ranks());
  const auto leaf = std::min(static_cast<std::uint32_t>(rank()) + 1, leaves - 1);
  std::vector<std::uint32_t> aggregators(leaves);
  std::iota(aggregators.begin(), aggregators.end(), 0u);
  const bat::mpi::LeafAssignment list{ 0, bat::mpi::Numbers(count, leaf) };
  for (const std::size_t bytes : { 50, 4096 })
  {
    EXPECT_TRUE(contents(bat::mpi::exchange(
                  comm, nodes, view, { leaf, {} }, leaves, aggregators, {}, bytes)) ==
      contents(bat::mpi::exchange(comm, nodes, view, list, leaves, aggregators, {}, bytes)))
      << bytes;
  }
}

// Numbered by rank and particle, in two pieces, the second with gaps.
TEST(Exchange, own_particles_stay_where_they_are)
{
  const bat::mpi::OwnComm comm(MPI_COMM_WORLD);
  bat::mpi::Nodes nodes(comm);
  constexpr std::uint64_t kCount = 3000;
  const auto id_of = [](int rank, std::uint64_t number)
  { return static_cast<std::int64_t>(rank) * 1'000'000 + static_cast<std::int64_t>(number); };
  std::vector<clouds::Cloud> clouds(2);
  std::vector<std::uint8_t> marks;
  std::uint64_t number = 0;
  for (const std::size_t piece : { 0, 1 })
  {
    std::vector<std::int64_t> ids;
    std::vector<double> places;
    while (ids.size() < kCount)
    {
      const bool is_gap = piece == 1 && ids.size() % 3 == 1;
      if (piece == 1)
      {
        marks.push_back(is_gap);
      }
      ids.push_back(is_gap ? -1 : id_of(rank(), number++));
      places.insert(places.end(), 3, static_cast<double>(ids.back()));
    }
    clouds[piece].set_positions(places);
    clouds[piece].add("id", bat::ScalarType::Int64, ids);
  }
  bat::mpi::Piece gaps{ clouds[1].view(), {} };
  gaps.skip = bat::ArrayView::packed(bat::ScalarType::UInt8, 1, marks.data());
  const bat::mpi::RankParticles particles({ { clouds[0].view(), {} }, gaps });
  ASSERT_EQ(particles.count(), number);

  // Leaf r belongs to rank r and has most of its particles; leaf `ranks()` belongs to rank 0 and
  // has a few from every rank.
  const auto leaf_of = [](int rank, std::uint64_t i)
  {
    const auto size = static_cast<std::uint64_t>(ranks());
    return i % 50 == 0 ? size : (static_cast<std::uint64_t>(rank) + (i % 5 == 4 ? 1 : 0)) % size;
  };
  bat::mpi::LeafAssignment assignment;
  for (std::uint64_t i = 0; i != number; ++i)
  {
    assignment.each.push_back(static_cast<std::uint32_t>(leaf_of(rank(), i)));
  }
  std::vector<std::uint32_t> aggregators(static_cast<std::size_t>(ranks()));
  std::iota(aggregators.begin(), aggregators.end(), 0u);
  aggregators.push_back(0);
  const bat::mpi::ExchangeResult result = bat::mpi::exchange(comm, nodes, particles, assignment,
    static_cast<std::uint32_t>(ranks()) + 1, aggregators, {}, 1000);
  ASSERT_EQ(result.leaves.size(), rank() == 0 ? 2u : 1u);
  for (const bat::mpi::AggregatedLeaf& leaf : result.leaves)
  {
    std::vector<std::int64_t> expected;
    std::uint64_t own = 0;
    for (int r = 0; r != ranks(); ++r)
    {
      for (std::uint64_t i = 0; i != number; ++i)
      {
        if (leaf_of(r, i) == leaf.leaf)
        {
          expected.push_back(id_of(r, i));
          own += r == rank() ? 1 : 0;
        }
      }
    }
    ASSERT_EQ(leaf.particles.count(), expected.size());
    std::vector<std::uint32_t> numbers(expected.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::vector<std::int64_t> ids(expected.size());
    leaf.particles.gather(
      numbers.data(), numbers.size(), 1, reinterpret_cast<std::byte*>(ids.data()));
    EXPECT_TRUE(ids == expected) << leaf.leaf;
    leaf.particles.visit_positions<double>(0, expected.size(),
      [&](std::uint64_t i, const auto& p) { ASSERT_EQ(p[2], static_cast<double>(expected[i])); });
    const bool stays = leaf.leaf != static_cast<std::uint32_t>(ranks());
    const std::uint64_t copied = leaf.columns.empty() ? 0 : leaf.columns[1].size() / 8;
    EXPECT_EQ(copied, expected.size() - (stays ? own : 0)) << leaf.leaf;
  }
}

TEST(Exchange, counts_beyond_the_range_of_mpi_are_refused)
{
  EXPECT_EQ(bat::mpi::checked_count((std::uint64_t{ 1 } << 31) - 1), 2147483647);
  EXPECT_THROW((void)bat::mpi::checked_count(std::uint64_t{ 1 } << 31), bat::Error);
}

std::uint64_t available_bytes()
{
  std::ifstream stream("/proc/meminfo");
  std::string word;
  std::uint64_t kibibytes = 0;
  while (stream >> word)
  {
    if (word == "MemAvailable:")
    {
      stream >> kibibytes;
    }
  }
  return kibibytes * 1024;
}

// More than 2^31 bytes from one rank to another: in one call, and in messages as large as MPI's
// counts allow.
TEST(LargeExchange, more_than_two_to_the31_bytes)
{
  constexpr std::uint64_t kParticles = 190000000; // 2.28e9 bytes
  constexpr std::uint64_t kNeeded = std::uint64_t{ 14 } << 30;
  std::uint64_t available = available_bytes();
  MPI_Bcast(&available, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (available < kNeeded)
  {
    GTEST_SKIP() << available << " bytes of memory are available; " << kNeeded << " are needed";
  }
  ASSERT_EQ(ranks(), 2);
  const bat::mpi::OwnComm comm(MPI_COMM_WORLD);
  bat::mpi::Nodes nodes(comm);
  // Rank 0 sends everything to rank 1. Every value is its own index.
  std::vector<float> positions(rank() == 0 ? 3 * kParticles : 0);
  const auto value = [](std::uint64_t i)
  { return static_cast<float>(i * 2654435761u >> 9 & 0xffffff); };
  for (std::uint64_t i = 0; i != positions.size(); ++i)
  {
    positions[i] = value(i);
  }
  bat::ParticleView view;
  view.count = positions.size() / 3;
  view.positions = bat::ArrayView::packed(bat::ScalarType::Float32, 3, positions.data());
  const bat::mpi::RankParticles particles({ { view, {} } });
  for (const std::size_t message_bytes : { std::size_t{ 1 } << 25, std::size_t{ 1 } << 40 })
  {
    const bat::mpi::ExchangeResult result =
      bat::mpi::exchange(comm, nodes, particles, { 0, {} }, 1, { 1 }, {}, message_bytes);
    ASSERT_EQ(result.leaves.size(), rank() == 1 ? 1u : 0u);
    EXPECT_EQ(result.sent_bytes, rank() == 0 ? 12 * kParticles : 0);
    if (rank() == 1)
    {
      ASSERT_EQ(result.leaves[0].particles.count(), kParticles);
      const bat::ArrayView* const positions = result.leaves[0].particles.single(0);
      ASSERT_NE(positions, nullptr);
      const auto* received = reinterpret_cast<const float*>(positions->component[0]);
      std::uint64_t wrong = 0;
      for (std::uint64_t i = 0; i != 3 * kParticles; ++i)
      {
        wrong += received[i] != value(i) ? 1 : 0;
      }
      EXPECT_EQ(wrong, 0u);
    }
  }
}
}
