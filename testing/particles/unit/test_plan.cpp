// SPDX-License-Identifier: BSD-3-Clause
// Which particles go to which leaf file, for simulated ranks.

#include "bat/error.hpp"
#include "bat/plan.hpp"
#include "particles/plan/leaf_finder.hpp"
#include "support/clouds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>

namespace
{
using Positions = std::vector<float>;
using Cells = std::vector<bat::WeightedCell>;

// How particles are distributed over ranks.
enum class Deal
{
  Boxes, // by position
  Rows,  // the i-th to rank i % ranks: every rank covers the whole domain
};

// Positions by rank.
std::vector<Positions> deal(const Positions& all, std::uint32_t ranks, Deal how)
{
  const auto side = static_cast<std::uint32_t>(std::lround(std::cbrt(ranks)));
  const auto slot = [side](float x)
  { return static_cast<std::uint32_t>(std::clamp(x * static_cast<float>(side), 0.f, side - 1.f)); };
  std::vector<Positions> parts(ranks);
  for (std::size_t i = 0; i != all.size() / 3; ++i)
  {
    const float* p = &all[3 * i];
    const std::uint32_t rank = how == Deal::Rows
      ? static_cast<std::uint32_t>(i % ranks)
      : (slot(p[0]) * side + slot(p[1])) * side + slot(p[2]);
    parts[rank].insert(parts[rank].end(), p, p + 3);
  }
  return parts;
}

template <class T>
Cells summarise(
  const std::vector<T>& p, std::uint32_t rank, std::uint32_t cells, std::uint32_t sample = 0)
{
  const auto* first = reinterpret_cast<const std::byte*>(p.data());
  return bat::summarise(sizeof(T) == 4 ? bat::ScalarType::Float32 : bat::ScalarType::Float64,
    { first, first + sizeof(T), first + 2 * sizeof(T) }, 3 * sizeof(T), p.size() / 3, rank, cells,
    sample);
}

Cells summarise_all(const std::vector<Positions>& parts, std::uint32_t leaves)
{
  std::uint64_t all = 0;
  for (const Positions& part : parts)
  {
    all += part.size() / 3;
  }
  const auto ranks = static_cast<std::uint32_t>(parts.size());
  Cells cells;
  for (std::uint32_t rank = 0; rank != ranks; ++rank)
  {
    const Cells some =
      summarise(parts[rank], rank, bat::cells_of_rank(parts[rank].size() / 3, all, ranks, leaves));
    cells.insert(cells.end(), some.begin(), some.end());
  }
  return cells;
}

using Bounds = std::vector<bat::RankBounds>;

template <class T>
Bounds bounds_of(const std::vector<std::vector<T>>& parts)
{
  Bounds bounds;
  for (std::size_t rank = 0; rank != parts.size(); ++rank)
  {
    const std::vector<T>& p = parts[rank];
    if (p.empty())
    {
      continue;
    }
    bat::RankBounds b;
    b.rank = static_cast<std::uint32_t>(rank);
    b.particles = static_cast<double>(p.size() / 3);
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      b.box.lower[axis] = b.box.upper[axis] = static_cast<double>(p[axis]);
    }
    for (std::size_t i = 0; i != p.size(); ++i)
    {
      b.box.lower[i % 3] = std::min(b.box.lower[i % 3], static_cast<double>(p[i]));
      b.box.upper[i % 3] = std::max(b.box.upper[i % 3], static_cast<double>(p[i]));
    }
    bounds.push_back(b);
  }
  return bounds;
}

// Ranks whose particles all go to one leaf file.
std::size_t whole_ranks(const bat::Plan& plan, const Bounds& bounds)
{
  return static_cast<std::size_t>(std::count_if(bounds.begin(), bounds.end(),
    [&](const bat::RankBounds& b) { return plan.find_leaf(b.box).has_value(); }));
}

bat::PlanOptions options_for(double particles, std::uint32_t leaves, std::uint32_t ranks)
{
  bat::PlanOptions options;
  options.ranks = ranks;
  options.bytes_per_particle = 100;
  options.target_bytes = static_cast<std::uint64_t>(particles * 100 / leaves);
  return options;
}

// Finds the boxes of leaves by walking the tree; in a valid tree, leaves share only faces.
void leaf_boxes(const bat::Plan& plan, std::size_t node, bat::Box box, std::vector<bat::Box>& boxes,
  std::vector<int>& seen)
{
  ASSERT_LT(node, plan.nodes.size());
  ++seen[node];
  const bat::PlanNode& n = plan.nodes[node];
  if (n.axis < 0)
  {
    ASSERT_LT(n.leaf, plan.leaf_count);
    boxes.push_back(box);
    return;
  }
  ASSERT_LE(n.axis, 2);
  const auto axis = static_cast<std::size_t>(n.axis);
  ASSERT_LT(box.lower[axis], n.split);
  ASSERT_LT(n.split, box.upper[axis]);
  bat::Box left = box;
  bat::Box right = box;
  left.upper[axis] = right.lower[axis] = n.split;
  leaf_boxes(plan, node + 1, left, boxes, seen);
  leaf_boxes(plan, n.right, right, boxes, seen);
}

void check_tree(const bat::Plan& plan)
{
  constexpr double inf = std::numeric_limits<double>::infinity();
  ASSERT_EQ(plan.nodes.size(), 2 * std::size_t{ plan.leaf_count } - 1);
  std::vector<bat::Box> boxes;
  std::vector<int> seen(plan.nodes.size());
  leaf_boxes(plan, 0, { { -inf, -inf, -inf }, { inf, inf, inf } }, boxes, seen);
  EXPECT_EQ(boxes.size(), plan.leaf_count);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<long>(seen.size()));
  for (std::size_t i = 0; i != boxes.size(); ++i)
  {
    for (std::size_t j = 0; j != i; ++j)
    {
      bool apart = false;
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        apart |= boxes[i].upper[axis] <= boxes[j].lower[axis] ||
          boxes[j].upper[axis] <= boxes[i].lower[axis];
      }
      ASSERT_TRUE(apart) << i << " and " << j;
    }
  }
}

template <class T>
std::vector<std::uint64_t> true_counts(const bat::Plan& plan, const std::vector<T>& p)
{
  std::vector<std::uint64_t> counts(plan.leaf_count);
  for (std::size_t i = 0; i != p.size() / 3; ++i)
  {
    ++counts.at(plan.leaf_at(static_cast<double>(p[3 * i]), static_cast<double>(p[3 * i + 1]),
      static_cast<double>(p[3 * i + 2])));
  }
  return counts;
}

double largest_over_mean(const std::vector<std::uint64_t>& counts)
{
  const auto all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{ 0 });
  return static_cast<double>(*std::max_element(counts.begin(), counts.end())) *
    static_cast<double>(counts.size()) / static_cast<double>(all);
}

double particles_of(const Cells& cells)
{
  return std::accumulate(cells.begin(), cells.end(), 0.0,
    [](double sum, const bat::WeightedCell& cell) { return sum + cell.particles; });
}

bat::WeightedCell cell(float lower, float upper, double particles, std::uint32_t rank)
{
  return { { lower, lower, lower }, { upper, upper, upper }, particles, rank };
}

// A grid of side^3 ranks, each with the given number of particles in its unit box.
template <class Count>
Cells rank_grid(std::uint32_t side, Count&& count)
{
  Cells cells;
  for (std::uint32_t rank = 0; rank != side * side * side; ++rank)
  {
    const auto x = static_cast<float>(rank / side / side);
    const auto y = static_cast<float>(rank / side % side);
    const auto z = static_cast<float>(rank % side);
    cells.push_back({ { x, y, z }, { x + 1, y + 1, z + 1 }, count(x, y, z), rank });
  }
  return cells;
}

bool same(const bat::Plan& a, const bat::Plan& b)
{
  const auto same_node = [](const bat::PlanNode& m, const bat::PlanNode& n)
  {
    return m.axis == n.axis && m.leaf == n.leaf && m.right == n.right &&
      std::memcmp(&m.split, &n.split, sizeof m.split) == 0;
  };
  return a.leaf_count == b.leaf_count && a.leaf_particles == b.leaf_particles &&
    a.aggregators == b.aggregators && a.leaf_of_rank == b.leaf_of_rank &&
    std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same_node);
}

std::string refusal(const Cells& cells, const bat::PlanOptions& options, const Bounds& bounds = {})
{
  try
  {
    (void)bat::make_plan(cells, options, bounds);
  }
  catch (const bat::Error& e)
  {
    EXPECT_EQ(e.code(), bat::ErrorCode::InvalidArgument);
    return e.what();
  }
  return "accepted";
}
}

TEST(Plan, leaf_files_hold_about_equal_numbers_of_true_particles)
{
  clouds::Random random(7);
  const Positions uniform = clouds::uniform_positions<float>(400'000, random);
  const Positions clustered = clouds::clustered_positions<float>(400'000, random);
  for (const Positions* all : { &uniform, &clustered })
  {
    for (const Deal how : { Deal::Boxes, Deal::Rows })
    {
      for (const std::uint32_t ranks : { 1u, 8u, 125u, 1000u })
      {
        for (const std::uint32_t leaves : { 2u, 7u, 32u })
        {
          const auto parts = deal(*all, ranks, how);
          const Cells cells = summarise_all(parts, leaves);
          for (const Bounds& bounds : { Bounds{}, bounds_of(parts) })
          {
            const bat::Plan plan =
              bat::make_plan(cells, options_for(400'000, leaves, ranks), bounds);
            SCOPED_TRACE(std::string(all == &uniform ? "uniform" : "clustered") +
              (how == Deal::Rows ? " rows " : " boxes ") + std::to_string(ranks) + " ranks " +
              std::to_string(leaves) + " leaves" + (bounds.empty() ? "" : ", bounds"));
            ASSERT_EQ(plan.leaf_count, leaves);
            check_tree(plan);
            EXPECT_LE(largest_over_mean(true_counts(plan, *all)), 1.15);
            EXPECT_NEAR(
              std::accumulate(plan.leaf_particles.begin(), plan.leaf_particles.end(), 0.0), 400'000,
              1e-3);
          }
        }
      }
    }
  }
}

TEST(Plan, a_sharp_surface_with_spray_above_it_does_not_unbalance)
{
  clouds::Random random(8);
  Positions p = clouds::uniform_positions<float>(300'000, random);
  for (std::size_t i = 0; i != p.size(); i += 3)
  {
    p[i + 2] *= 0.3f;
    if (clouds::unit(random) < 0.01)
    {
      p[i + 2] = static_cast<float>(0.3 - 0.2 * std::log(1 - clouds::unit(random)));
    }
  }
  const auto parts = deal(p, 512, Deal::Boxes);
  const bat::Plan plan = bat::make_plan(summarise_all(parts, 24), options_for(300'000, 24, 512));
  EXPECT_EQ(plan.leaf_count, 24u);
  EXPECT_LE(largest_over_mean(true_counts(plan, p)), 1.15);
}

TEST(Plan, deposits_on_a_wall_are_parted_from_what_floats_before_it)
{
  clouds::Random random(9);
  Positions p = clouds::uniform_positions<float>(200'000, random);
  for (std::size_t i = 0; i != p.size() * 3 / 5; i += 3)
  {
    p[i] = 0;
  }
  const auto parts = deal(p, 64, Deal::Boxes);
  const bat::Plan plan = bat::make_plan(summarise_all(parts, 20), options_for(200'000, 20, 64));
  EXPECT_EQ(plan.leaf_count, 20u);
  EXPECT_LE(largest_over_mean(true_counts(plan, p)), 1.15);
}

TEST(Plan, equal_ranks_go_whole_and_to_themselves)
{
  clouds::Random random(10);
  const Positions p = clouds::uniform_positions<float>(200'000, random);
  const auto parts = deal(p, 64, Deal::Boxes);
  const Bounds bounds = bounds_of(parts);
  for (const std::uint32_t leaves : { 64u, 16u, 4u, 2u })
  {
    const bat::Plan plan =
      bat::make_plan(summarise_all(parts, leaves), options_for(200'000, leaves, 64), bounds);
    EXPECT_EQ(plan.leaf_count, leaves);
    EXPECT_EQ(whole_ranks(plan, bounds), 64u) << leaves;
    check_tree(plan);
    EXPECT_LE(largest_over_mean(true_counts(plan, p)), 1.1);
    for (std::uint32_t rank = 0; rank != 64 && leaves == 64; ++rank)
    {
      const std::uint32_t leaf = plan.find_leaf(bounds[rank].box).value();
      EXPECT_EQ(plan.aggregators[leaf], rank);
    }
  }
}

TEST(Plan, ranks_that_would_unbalance_are_parted)
{
  clouds::Random random(11);
  for (const double share : { 0.46, 0.6 })
  {
    // Two ranks, where the left one has this share.
    std::vector<Positions> parts(2);
    for (int i = 0; i != 20'000; ++i)
    {
      const bool left = i < 20'000 * share;
      parts[left ? 0 : 1].insert(parts[left ? 0 : 1].end(),
        { static_cast<float>((left ? 0 : 0.5) + clouds::unit(random) * 0.4999), 0.5f, 0.5f });
    }
    const Bounds bounds = bounds_of(parts);
    const bat::Plan plan =
      bat::make_plan(summarise_all(parts, 2), options_for(20'000, 2, 2), bounds);
    EXPECT_EQ(whole_ranks(plan, bounds), share < 0.5 ? 2u : 1u) << share;
    Positions all = parts[0];
    all.insert(all.end(), parts[1].begin(), parts[1].end());
    EXPECT_LE(largest_over_mean(true_counts(plan, all)), share < 0.5 ? 1.09 : 1.02);
  }
}

TEST(Plan, uneven_ranks_lose_few_particles_wherever_they_lie)
{
  // Columns from floor to ceiling: a plane across them would split every rank in the middle.
  const double counts[] = { 7'000, 9'000, 11'000, 13'000 };
  for (const double height : { 0.4, 1.0, 3.0 })
  {
    clouds::Random random(13);
    std::vector<Positions> parts(4);
    for (std::size_t rank = 0; rank != 4; ++rank)
    {
      for (int i = 0; i != counts[rank]; ++i)
      {
        parts[rank].insert(parts[rank].end(),
          { static_cast<float>((rank % 2 + 0.999 * clouds::unit(random)) / 2),
            static_cast<float>((rank / 2 + 0.999 * clouds::unit(random)) / 2),
            static_cast<float>(height * clouds::unit(random)) });
      }
    }
    const bat::Plan plan =
      bat::make_plan(summarise_all(parts, 4), options_for(40'000, 4, 4), bounds_of(parts));
    std::uint64_t moved = 0;
    Positions all;
    for (std::uint32_t rank = 0; rank != 4; ++rank)
    {
      const Positions& p = parts[rank];
      for (std::size_t i = 0; i != p.size(); i += 3)
      {
        moved += plan.aggregators[plan.leaf_at(static_cast<double>(p[i]),
                   static_cast<double>(p[i + 1]), static_cast<double>(p[i + 2]))] != rank;
      }
      all.insert(all.end(), p.begin(), p.end());
    }
    EXPECT_LE(moved, 40'000 * 0.18) << height; // 0.1 must go there to make four equal leaf files
    EXPECT_LE(largest_over_mean(true_counts(plan, all)), 1.05) << height;
    check_tree(plan);
  }
}

TEST(Plan, borders_are_found_where_floats_are_too_coarse)
{
  // Two ranks less than a float apart, far from the origin.
  std::vector<std::vector<double>> parts(2);
  for (int i = 0; i != 10'000; ++i)
  {
    const double x = i / 10'000.0;
    parts[0].insert(parts[0].end(), { 1000 + x, x, 0 });
    parts[1].insert(parts[1].end(), { 1000.999902 + x, 1 - x, 0 });
  }
  const Bounds bounds = bounds_of(parts);
  ASSERT_LT(bounds[0].box.upper[0], bounds[1].box.lower[0]);
  ASSERT_EQ(static_cast<float>(bounds[0].box.upper[0]), static_cast<float>(bounds[1].box.lower[0]));
  Cells cells = summarise(parts[0], 0, 64);
  const Cells others = summarise(parts[1], 1, 64);
  cells.insert(cells.end(), others.begin(), others.end());
  const bat::Plan plan = bat::make_plan(cells, options_for(20'000, 2, 2), bounds);
  EXPECT_EQ(whole_ranks(plan, bounds), 2u);
  EXPECT_EQ(true_counts(plan, parts[0]), (std::vector<std::uint64_t>{ 10'000, 0 }));
  EXPECT_EQ(true_counts(plan, parts[1]), (std::vector<std::uint64_t>{ 0, 10'000 }));
}

TEST(Plan, ranks_that_touch_or_overlap_have_no_border)
{
  clouds::Random random(12);
  const Positions p = clouds::uniform_positions<float>(50'000, random);
  auto parts = deal(p, 8, Deal::Boxes);
  for (Positions& part : parts)
  {
    part.insert(part.end(), { 0.5f, 0.5f, 0.5f }); // all have a particle in the middle
  }
  const Bounds bounds = bounds_of(parts);
  const Cells cells = summarise_all(parts, 8);
  const bat::Plan plan = bat::make_plan(cells, options_for(50'008, 8, 8), bounds);
  EXPECT_EQ(plan.leaf_count, 8u);
  EXPECT_LE(whole_ranks(plan, bounds), 1u);
  EXPECT_LE(largest_over_mean(true_counts(plan, p)), 1.05);
}

TEST(Plan, the_leaf_file_of_a_box_is_that_of_all_its_positions)
{
  clouds::Random random(13);
  const Positions p = clouds::clustered_positions<float>(20'000, random);
  const bat::Plan plan = bat::make_plan(summarise(p, 0, 256), options_for(20'000, 9, 1));
  int inside = 0;
  for (int i = 0; i != 2000; ++i)
  {
    bat::Box box;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      // Half of the boxes end at a plane of the tree.
      const bat::PlanNode& node = plan.nodes[random() % plan.nodes.size()];
      const bool at_plane = i % 2 == 0 && node.axis == static_cast<int>(axis);
      box.lower[axis] = clouds::unit(random);
      box.upper[axis] = at_plane ? std::max(box.lower[axis], node.split)
                                 : box.lower[axis] + clouds::unit(random) * 0.1;
    }
    std::set<std::uint32_t> corners;
    for (unsigned corner = 0; corner != 8; ++corner)
    {
      const auto at = [&](std::size_t axis)
      { return (corner >> axis & 1) != 0 ? box.upper[axis] : box.lower[axis]; };
      corners.insert(plan.leaf_at(at(0), at(1), at(2)));
    }
    const auto leaf = plan.find_leaf(box);
    // A box whose corners are in one leaf is in that leaf, because leaves are boxes too.
    ASSERT_EQ(leaf.has_value(), corners.size() == 1);
    inside += leaf.has_value();
    ASSERT_TRUE(!leaf || *leaf == *corners.begin());
  }
  EXPECT_GT(inside, 100);
  EXPECT_LT(inside, 1900);
  EXPECT_FALSE(bat::Plan().find_leaf({}).value()) << "no tree: leaf file 0";
}

TEST(Plan, a_rank_finds_the_same_leaf_files_with_the_part_of_the_tree_that_its_box_reaches)
{
  clouds::Random random(5);
  const Positions p = clouds::uniform_positions<float>(20'000, random);
  const bat::Plan plan = bat::make_plan(summarise(p, 0, 256), options_for(20'000, 9, 1));
  const auto same = [&](const bat::plan::LeafFinder& finder, const std::array<double, 3>& at)
  { return finder(at) == plan.leaf_at(at[0], at[1], at[2]); };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const bat::plan::LeafFinder anywhere(plan, std::nullopt);
  for (int i = 0; i != 2000; ++i)
  {
    bat::Box box;
    std::array<std::array<double, 4>, 3> coordinates;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const bat::PlanNode& node = plan.nodes[random() % plan.nodes.size()];
      const double plane = node.axis == static_cast<int>(axis) ? node.split : clouds::unit(random);
      const double other = clouds::unit(random);
      box.lower[axis] = std::min(plane, other);
      box.upper[axis] = std::max(plane, other);
      const double inside =
        box.lower[axis] + clouds::unit(random) * (box.upper[axis] - box.lower[axis]);
      coordinates[axis] = { plane, other, inside, std::array{ nan, inf, -inf }[random() % 3] };
    }
    const bat::plan::LeafFinder near(plan, box);
    for (unsigned k = 0; k != 64; ++k)
    {
      const std::array<unsigned, 3> which{ k % 4, k / 4 % 4, k / 16 };
      const std::array<double, 3> at{ coordinates[0][which[0]], coordinates[1][which[1]],
        coordinates[2][which[2]] };
      ASSERT_TRUE(same(anywhere, at));
      ASSERT_TRUE(*std::max_element(which.begin(), which.end()) == 3 || same(near, at));
    }
  }
  EXPECT_EQ(bat::plan::LeafFinder(bat::Plan(), std::nullopt)({ 1, 2, 3 }), 0u) << "no tree";
}

TEST(Plan, particles_of_one_place_go_to_one_leaf_file)
{
  const Positions p(3 * 5000, 0.1f);
  const auto parts = deal(p, 8, Deal::Rows);
  const bat::Plan plan = bat::make_plan(summarise_all(parts, 8), options_for(5000, 8, 8));
  EXPECT_EQ(plan.leaf_count, 1u);
  EXPECT_EQ(true_counts(plan, p), std::vector<std::uint64_t>{ 5000 });
}

TEST(Plan, two_places_are_parted_wherever_doubles_round_to)
{
  std::vector<double> p;
  for (int i = 0; i != 4000; ++i)
  {
    p.insert(p.end(), 3, i % 2 ? 0.1 : 0.2);
  }
  const bat::Plan plan = bat::make_plan(summarise(p, 0, 64), options_for(4000, 2, 1));
  EXPECT_EQ(true_counts(plan, p), (std::vector<std::uint64_t>{ 2000, 2000 }));
}

TEST(Plan, particles_on_a_line_and_on_a_plane_are_balanced)
{
  clouds::Random random(3);
  for (const std::size_t flat : { 1u, 2u })
  {
    Positions p = clouds::uniform_positions<float>(100'000, random);
    for (std::size_t i = 0; i != p.size(); i += 3)
    {
      std::fill_n(&p[i] + (3 - flat), flat, 0.25f);
    }
    const auto parts = deal(p, 27, Deal::Boxes);
    const bat::Plan plan = bat::make_plan(summarise_all(parts, 10), options_for(100'000, 10, 27));
    EXPECT_EQ(plan.leaf_count, 10u);
    EXPECT_LE(largest_over_mean(true_counts(plan, p)), 1.15);
  }
}

TEST(Plan, a_particle_on_the_plane_goes_right_and_so_does_nan)
{
  const Cells cells = { cell(0, 0, 10, 0), cell(1, 1, 10, 0) };
  const bat::Plan plan = bat::make_plan(cells, options_for(20, 2, 1));
  ASSERT_EQ(plan.nodes.size(), 3u);
  const double split = plan.nodes[0].split;
  EXPECT_GT(split, 0);
  EXPECT_LE(split, 1);
  std::array<double, 3> p{ 0.5, 0.5, 0.5 };
  const auto axis = static_cast<std::size_t>(plan.nodes[0].axis);
  const auto leaf = [&](double x)
  {
    p[axis] = x;
    return plan.leaf_at(p[0], p[1], p[2]);
  };
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(leaf(split), 1u);
  EXPECT_EQ(leaf(std::nextafter(split, -inf)), 0u);
  EXPECT_EQ(leaf(std::numeric_limits<double>::quiet_NaN()), 1u);
  EXPECT_EQ(leaf(inf), 1u);
  EXPECT_EQ(leaf(-inf), 0u);
}

TEST(Plan, one_rank_with_everything_and_empty_ranks)
{
  clouds::Random random(4);
  std::vector<Positions> parts(50);
  parts[17] = clouds::clustered_positions<float>(300'000, random);
  const Cells cells = summarise_all(parts, 30);
  const bat::Plan plan = bat::make_plan(cells, options_for(300'000, 30, 50));
  EXPECT_EQ(plan.leaf_count, 30u);
  EXPECT_LE(largest_over_mean(true_counts(plan, parts[17])), 1.15);
}

TEST(Plan, no_particles_make_no_leaf_files)
{
  for (const auto mode : { bat::PlanMode::Adaptive, bat::PlanMode::RankBorder, bat::PlanMode::Aug })
  {
    for (const Cells& cells : { Cells{}, Cells{ cell(0, 1, 0, 2) } })
    {
      bat::PlanOptions options;
      options.ranks = 4;
      options.mode = mode;
      const bat::Plan plan = bat::make_plan(cells, options);
      EXPECT_EQ(plan.leaf_count, 0u);
      EXPECT_TRUE(plan.nodes.empty());
      EXPECT_TRUE(plan.aggregators.empty());
      EXPECT_EQ(plan.leaf_at(1, 2, 3), 0u);
      EXPECT_EQ(plan.leaf_of_rank.size(), mode == bat::PlanMode::Adaptive ? 0u : 4u);
    }
  }
}

TEST(Plan, cells_that_all_overlap_do_not_multiply)
{
  clouds::Random random(5);
  Cells cells;
  for (std::uint32_t rank = 0; rank != 20'000; ++rank)
  {
    const auto shift = static_cast<float>(1e-3 * clouds::unit(random));
    cells.push_back(cell(shift, 1 - shift, 100, rank));
  }
  const bat::Plan plan = bat::make_plan(cells, options_for(2e6, 500, 20'000));
  EXPECT_EQ(plan.leaf_count, 500u);
  const double maximum = *std::max_element(plan.leaf_particles.begin(), plan.leaf_particles.end());
  EXPECT_LE(maximum, 1.02 * 4000);
  const Positions p = clouds::uniform_positions<float>(500'000, random);
  EXPECT_LE(largest_over_mean(true_counts(plan, p)), 1.15);
}

TEST(Plan, boxes_as_large_as_floats_go_and_as_small)
{
  constexpr float maximum = std::numeric_limits<float>::max();
  constexpr float minimum = std::numeric_limits<float>::denorm_min();
  const Cells cells = { cell(-maximum, maximum, 100, 0), cell(0, minimum, 100, 1),
    cell(maximum, maximum, 5, 2), cell(-maximum, -maximum, 5, 3) };
  for (const auto mode : { bat::PlanMode::Adaptive, bat::PlanMode::RankBorder, bat::PlanMode::Aug })
  {
    bat::PlanOptions options = options_for(210, 6, 4);
    options.mode = mode;
    const bat::Plan plan = bat::make_plan(cells, options);
    EXPECT_GE(plan.leaf_count, 1u);
    EXPECT_NEAR(
      std::accumulate(plan.leaf_particles.begin(), plan.leaf_particles.end(), 0.0), 210, 1e-6);
  }
}

TEST(Plan, hostile_input_is_refused_by_name)
{
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  const bat::PlanOptions good = options_for(100, 4, 3);
  const auto refused = [&](const bat::WeightedCell& bad) {
    return refusal({ cell(0, 1, 10, 0), bad }, good);
  };
  EXPECT_EQ(refused(cell(0, nan, 10, 1)),
    "plan: cell 1 of rank 1: the box goes from 0 to nan along x; its ends must be finite and "
    "ascending");
  EXPECT_NE(refused(cell(-inf, 0, 10, 1)).find("-inf"), std::string::npos);
  EXPECT_NE(refused(cell(2, 1, 10, 1)).find("the box goes from 2 to 1"), std::string::npos);
  EXPECT_NE(refused(cell(0, 1, -1, 2)).find("number of particles is -1"), std::string::npos);
  EXPECT_NE(
    refused(cell(0, 1, std::nan(""), 2)).find("number of particles is nan"), std::string::npos);
  EXPECT_NE(refused(cell(0, 1, 1e300, 2)).find("2^63"), std::string::npos);
  EXPECT_NE(refused(cell(0, 1, 1, 3)).find("allowed are 0 to 2"), std::string::npos);

  const Cells cells = { cell(0, 1, 10, 0), cell(2, 3, 10, 2) };
  const bat::RankBounds first{ { { 0, 0, 0 }, { 1, 1, 1 } }, 10, 0 };
  const bat::RankBounds second{ { { 2, 2, 2 }, { 3, 3, 3 } }, 10, 2 };
  EXPECT_EQ(refusal(cells, good, { first, second }), "accepted");
  const auto refused_bounds = [&](auto change)
  {
    Bounds bounds{ first, second };
    change(bounds);
    return refusal(cells, good, bounds);
  };
  EXPECT_NE(refused_bounds([](auto& b) { b[1].rank = 3; }).find("bounds of rank 3: rank is 3"),
    std::string::npos);
  EXPECT_NE(refused_bounds([](auto& b) { b[1].rank = 0; }).find("rank 0 follow those of rank 0"),
    std::string::npos);
  EXPECT_NE(
    refused_bounds([](auto& b) { b[1].rank = 1; }).find("for 10 particles, its cells for 0"),
    std::string::npos);
  EXPECT_NE(refused_bounds([](auto& b) { b.pop_back(); }).find("rank 2 has cells but no bounds"),
    std::string::npos);
  EXPECT_NE(refused_bounds([](auto& b) { b.erase(b.begin()); }).find("rank 0 has cells but no"),
    std::string::npos);
  EXPECT_NE(refused_bounds([](auto& b) { b[0].box.upper[1] = -1; }).find("from 0 to -1 along y"),
    std::string::npos);
  EXPECT_NE(refused_bounds([](auto& b) { b[0].box.lower[2] = std::nan(""); }).find("from nan"),
    std::string::npos);
  EXPECT_NE(
    refused_bounds([](auto& b) { b[0].particles = 11; }).find("for 11 particles, its cells"),
    std::string::npos);
  EXPECT_NE(
    refused_bounds([](auto& b) { b[0].particles = std::nan(""); }).find("for nan particles"),
    std::string::npos);

  const auto refused_option = [&](auto change)
  {
    bat::PlanOptions options = good;
    change(options);
    return refusal({ cell(0, 1, 1e9, 0) }, options);
  };
  EXPECT_NE(refused_option([](auto& o) { o.ranks = 0; }).find("0 ranks"), std::string::npos);
  EXPECT_NE(
    refused_option([](auto& o) { o.bytes_per_particle = 0; }).find("0 bytes"), std::string::npos);
  EXPECT_NE(refused_option([](auto& o) { o.target_bytes = 1; }).find("target of 1 bytes"),
    std::string::npos);
  EXPECT_NE(refused_option([](auto& o) { o.max_overfull_factor = 0.5; })
              .find("max_overfull_factor is 0.5;"),
    std::string::npos);
  EXPECT_NE(refused_option([](auto& o) { o.max_split_imbalance_ratio = std::nan(""); })
              .find("max_split_imbalance_ratio is nan;"),
    std::string::npos);
  EXPECT_NE(
    refused_option([](auto& o) { o.threads = -1; }).find("threads is -1;"), std::string::npos);
  EXPECT_NE(
    refused_option([](auto& o) { o.mode = static_cast<bat::PlanMode>(9); }).find("mode is 9;"),
    std::string::npos);
}

TEST(Plan, threads_do_not_change_it)
{
  const Cells cells = rank_grid(30,
    [](float x, float y, float z)
    {
      return std::floor(
        1 + 5000 * std::exp(-(x * x + (y - 9) * (y - 9) + (z - 20) * (z - 20)) / 80));
    });
  for (const auto mode : { bat::PlanMode::Adaptive, bat::PlanMode::RankBorder, bat::PlanMode::Aug })
  {
    bat::PlanOptions options = options_for(particles_of(cells), 200, 27'000);
    options.mode = mode;
    Bounds bounds;
    for (const bat::WeightedCell& c : cells)
    {
      bat::RankBounds b{ {}, c.particles, c.rank };
      std::copy_n(c.lower.begin(), 3, b.box.lower.begin());
      std::transform(c.upper.begin(), c.upper.end(), b.box.upper.begin(),
        [](float x) { return static_cast<double>(x) - 0.01; });
      bounds.push_back(b);
    }
    for (const Bounds& known : { Bounds{}, bounds })
    {
      options.threads = 1;
      const bat::Plan one = bat::make_plan(cells, options, known);
      for (const int threads : { 0, 2, 3, 8 })
      {
        options.threads = threads;
        EXPECT_TRUE(same(one, bat::make_plan(cells, options, known))) << threads;
      }
    }
  }
}

TEST(Plan, aggregators_are_spread_over_all_ranks)
{
  const Cells cells = rank_grid(8, [](float, float, float) { return 100.0; });
  for (const std::uint32_t leaves : { 16u, 512u, 1024u })
  {
    const bat::Plan plan = bat::make_plan(cells, options_for(51'200, leaves, 512));
    ASSERT_EQ(plan.leaf_count, leaves);
    std::vector<std::uint32_t> files(std::min(leaves, 512u), 0);
    for (const std::uint32_t aggregator : plan.aggregators)
    {
      ++files[aggregator * files.size() / 512];
    }
    for (const std::uint32_t count : files)
    {
      ASSERT_EQ(count, std::max(1u, leaves / 512));
    }
  }
}

TEST(Plan, leaf_files_are_written_where_their_particles_are)
{
  // Two layers of cells per rank along z; z varies fastest over ranks in one case, slowest in the
  // other.
  for (const bool reversed : { false, true })
  {
    Cells cells;
    for (std::uint32_t layer = 0; layer != 16; ++layer)
    {
      const auto z = static_cast<float>(layer);
      const std::uint32_t rank = reversed ? 7 - layer / 2 : layer / 2;
      cells.push_back({ { 0, 0, z }, { 1, 1, z + 0.9f }, 100.0, rank });
    }
    const bat::Plan plan = bat::make_plan(cells, options_for(1600, 8, 8));
    ASSERT_EQ(plan.leaf_count, 8u);
    for (std::uint32_t rank = 0; rank != 8; ++rank)
    {
      const auto z = static_cast<double>(reversed ? 14 - 2 * rank : 2 * rank);
      ASSERT_EQ(plan.aggregators[plan.leaf_at(0.5, 0.5, z + 0.5)], rank);
    }
  }
}

TEST(Plan, rank_borders_send_ranks_whole_and_stop_at_the_target)
{
  const Cells cells = rank_grid(
    10, [](float x, float y, float) { return x < 3 && y < 3 ? 1000.0
                                        : x > 7             ? 0.0
                                                            : 10.0; });
  for (const bool best_axis : { true, false })
  {
    bat::PlanOptions options = options_for(particles_of(cells), 25, 1000);
    options.mode = bat::PlanMode::RankBorder;
    options.find_best_axis = best_axis;
    options.max_overfull_factor = 1;
    const bat::Plan plan = bat::make_plan(cells, options);
    ASSERT_EQ(plan.leaf_of_rank.size(), 1000u);
    std::vector<double> particles(plan.leaf_count);
    std::vector<int> ranks(plan.leaf_count);
    for (const bat::WeightedCell& c : cells)
    {
      if (c.particles > 0)
      {
        particles.at(plan.leaf_of_rank[c.rank]) += c.particles;
        ++ranks[plan.leaf_of_rank[c.rank]];
      }
    }
    for (std::size_t leaf = 0; leaf != plan.leaf_count; ++leaf)
    {
      EXPECT_DOUBLE_EQ(particles[leaf], plan.leaf_particles[leaf]);
      EXPECT_GT(particles[leaf], 0);
      EXPECT_TRUE(
        ranks[leaf] == 1 || particles[leaf] * 100 <= static_cast<double>(options.target_bytes));
    }
  }
}

TEST(Plan, a_bad_split_leaves_an_overfull_leaf)
{
  // Four ranks in a row: any border leaves one side at least five times the other.
  const Cells cells = { { { 0, 0, 0 }, { 1, 1, 1 }, 100, 0 }, { { 1, 0, 0 }, { 2, 1, 1 }, 10, 1 } };
  bat::PlanOptions options;
  options.mode = bat::PlanMode::RankBorder;
  options.ranks = 2;
  options.target_bytes = 90;
  EXPECT_EQ(bat::make_plan(cells, options).leaf_count, 1u);
  options.max_overfull_factor = 1.1;
  EXPECT_EQ(bat::make_plan(cells, options).leaf_count, 2u);
  options.max_overfull_factor = 1.5;
  options.max_split_imbalance_ratio = 20;
  EXPECT_EQ(bat::make_plan(cells, options).leaf_count, 2u);
}

TEST(Plan, ranks_with_one_box_are_parted_by_number)
{
  Cells cells;
  for (std::uint32_t rank = 0; rank != 64; ++rank)
  {
    cells.push_back(cell(0, 1, 100, rank));
  }
  bat::PlanOptions options = options_for(6400, 8, 64);
  options.mode = bat::PlanMode::RankBorder;
  const bat::Plan plan = bat::make_plan(cells, options);
  EXPECT_EQ(plan.leaf_count, 8u);
  EXPECT_TRUE(std::is_sorted(plan.leaf_of_rank.begin(), plan.leaf_of_rank.end()));
}

TEST(Plan, uniform_grid_fits_the_bounds_and_drops_empty_cells)
{
  const Cells full = rank_grid(12, [](float, float, float) { return 50.0; });
  bat::PlanOptions options = options_for(particles_of(full), 64, 1728);
  options.mode = bat::PlanMode::Aug;
  const bat::Plan even = bat::make_plan(full, options);
  EXPECT_EQ(even.leaf_count, 64u);
  EXPECT_EQ(even.leaf_particles, std::vector<double>(64, 27 * 50.0));

  const Cells corner = rank_grid(12, [](float x, float, float) { return x < 6 ? 50.0 : 0.0; });
  const bat::Plan fitted = bat::make_plan(corner, options);
  EXPECT_EQ(fitted.leaf_count, 32u);

  const Cells two =
    rank_grid(12, [](float x, float, float) { return x < 2 || x > 9 ? 50.0 : 0.0; });
  const bat::Plan sparse = bat::make_plan(two, options);
  const std::set<std::uint32_t> used(sparse.leaf_of_rank.begin(), sparse.leaf_of_rank.end());
  EXPECT_EQ(used.size(), sparse.leaf_count);
  EXPECT_DOUBLE_EQ(std::accumulate(sparse.leaf_particles.begin(), sparse.leaf_particles.end(), 0.0),
    particles_of(two));
}

TEST(Plan, uniform_grid_does_not_cut_across_a_layer_of_ranks)
{
  Cells cells = rank_grid(16, [](float, float, float z) { return z < 1 ? 50.0 : 0.0; });
  for (bat::WeightedCell& c : cells)
  {
    c.upper[2] += 15;
  }
  bat::PlanOptions options = options_for(particles_of(cells), 64, 4096);
  options.mode = bat::PlanMode::Aug;
  EXPECT_EQ(bat::make_plan(cells, options).leaf_count, 64u);
}

TEST(Plan, automatic_target_follows_the_ranks)
{
  constexpr std::uint64_t mebibyte = 1 << 20;
  const auto files = [](std::uint64_t bytes, std::uint32_t ranks)
  {
    return std::llround(static_cast<double>(bytes) /
      static_cast<double>(bat::auto_target_bytes(bytes / 64, 64, ranks)));
  };
  EXPECT_EQ(files(1024 * mebibyte, 1), 1);
  EXPECT_EQ(files(1024 * mebibyte, 16), 16);
  EXPECT_EQ(files(1024 * mebibyte, 17), 16);
  EXPECT_EQ(files(1024 * mebibyte, 400), 100);
  EXPECT_EQ(files(65'536 * mebibyte, 1024), 256);
  EXPECT_EQ(files(65'536 * mebibyte, 16'384), 1024);
  EXPECT_EQ(files(1 * mebibyte, 16), 0); // one file, smaller than the minimum target
  EXPECT_EQ(files(22 * mebibyte, 16), 5);
  EXPECT_LE(bat::auto_target_bytes(std::uint64_t{ 1 } << 40, 64, 1), 4096 * mebibyte * 20 / 23);
  EXPECT_LE(bat::auto_target_bytes(std::uint64_t{ 1 } << 40, 1, 1), std::uint64_t{ 1 } << 31);
  EXPECT_EQ(bat::auto_target_bytes(0, 64, 4), 4 * mebibyte);
  EXPECT_GT(bat::auto_target_bytes(~std::uint64_t{ 0 }, ~std::uint64_t{ 0 }, 0), 0u);

  bat::PlanOptions options;
  options.ranks = 8;
  options.bytes_per_particle = 64;
  const Cells cells = { cell(0, 1, 1e6, 0) };
  EXPECT_EQ(bat::make_plan(cells, options).target_bytes, bat::auto_target_bytes(1'000'000, 64, 8));
}

TEST(Summarise, whole_numbers_add_up_to_the_count)
{
  clouds::Random random(11);
  for (const std::uint64_t n : { 1u, 2u, 3u, 100u, 16'384u, 16'385u, 100'003u })
  {
    const Positions p = clouds::clustered_positions<float>(n, random);
    for (const std::uint32_t cells : { 1u, 2u, 7u, 64u, 5000u })
    {
      const Cells summary = summarise(p, 3, cells);
      EXPECT_LE(summary.size(), cells);
      EXPECT_GE(summary.size(), std::min<std::uint64_t>({ n, cells, 1 }));
      std::uint64_t sum = 0;
      for (const bat::WeightedCell& c : summary)
      {
        EXPECT_EQ(c.rank, 3u);
        EXPECT_EQ(c.particles, std::floor(c.particles));
        sum += static_cast<std::uint64_t>(c.particles);
        for (std::size_t axis = 0; axis != 3; ++axis)
        {
          EXPECT_LE(c.lower[axis], c.upper[axis]);
        }
      }
      EXPECT_EQ(sum, n);
    }
  }
  EXPECT_TRUE(summarise(Positions{}, 0, 4).empty());
}

TEST(Summarise, cells_hold_their_particles)
{
  clouds::Random random(12);
  const Positions p = clouds::uniform_positions<float>(8000, random);
  const Cells summary = summarise(p, 0, 50, 8000);
  EXPECT_EQ(summary.size(), 50u);
  for (std::size_t i = 0; i != p.size(); i += 3)
  {
    EXPECT_TRUE(std::any_of(summary.begin(), summary.end(),
      [&](const bat::WeightedCell& c)
      {
        return p[i] >= c.lower[0] && p[i] <= c.upper[0] && p[i + 1] >= c.lower[1] &&
          p[i + 1] <= c.upper[1] && p[i + 2] >= c.lower[2] && p[i + 2] <= c.upper[2];
      }));
  }
}

TEST(Summarise, particles_without_a_place_are_counted_and_widen_nothing)
{
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::vector<double> p = { 1, 1, 1, nan, 0, 0, 2, 2, 2, 0, -inf, 0, 1e300, 1, 1 };
  p.resize(12);
  const Cells some = summarise(p, 0, 1);
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some[0].particles, 4);
  EXPECT_GE(some[0].lower[0], 0.5f);
  EXPECT_LE(some[0].upper[0], 2.5f);
  const Cells none = summarise(std::vector<double>{ nan, nan, nan, inf, 0, 0 }, 5, 8);
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].particles, 2);
  EXPECT_NO_THROW((void)bat::make_plan(none, options_for(2, 1, 6)));
  const Cells huge = summarise(std::vector<double>{ -1e308, 0, 0, 1e308, 0, 0 }, 0, 1);
  EXPECT_NO_THROW((void)bat::make_plan(huge, options_for(2, 2, 1)));
}

TEST(Summarise, a_lattice_is_not_sampled_plane_by_plane)
{
  Positions p;
  for (int i = 0; i != 64 * 64 * 64; ++i) // 16 times the sample
  {
    for (const int x : { i % 64, i / 64 % 64, i / 4096 })
    {
      p.push_back(static_cast<float>(x));
    }
  }
  const bat::Plan plan = bat::make_plan(summarise(p, 0, 1024), options_for(262'144, 16, 1));
  EXPECT_LE(largest_over_mean(true_counts(plan, p)), 1.15);
}

TEST(Summarise, hostile_input_is_refused)
{
  const Positions p(3);
  const auto* first = reinterpret_cast<const std::byte*>(p.data());
  EXPECT_THROW(
    (void)bat::summarise(bat::ScalarType::Int32, { first, first, first }, 4, 1, 0, 4), bat::Error);
  EXPECT_THROW((void)bat::summarise(bat::ScalarType::Float32, { first, first, first }, 4, 1, 0, 0),
    bat::Error);
}

TEST(CellsPerRank, stays_within_what_the_root_can_hold)
{
  for (const std::uint32_t ranks : { 1u, 8u, 1536u, 43'008u, 1'000'000u })
  {
    for (const std::uint32_t leaves : { 0u, 1u, 300u, 60'000u })
    {
      const std::uint64_t cells = bat::cells_per_rank(ranks, leaves);
      EXPECT_GE(cells, 1u);
      EXPECT_LE(cells * ranks, std::max<std::uint64_t>(1u << 18, 4ull * ranks));
      EXPECT_GE(bat::cells_of_rank(0, 0, ranks, leaves), 1u);
      EXPECT_LE(bat::cells_of_rank(10, 10, ranks, leaves), cells * (std::uint64_t{ ranks } + 1));
    }
  }
}
