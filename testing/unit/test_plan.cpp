#include "bat/error.hpp"
#include "bat/plan.hpp"
#include "support/clouds.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace
{
using Positions = std::vector<float>;
using Cells = std::vector<bat::WeightedCell>;

// How particles are dealt out to ranks.
enum class Deal
{
  Boxes, // by place
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
Cells summarise(const std::vector<T>& p, std::uint32_t rank, std::uint32_t cells)
{
  const auto* first = reinterpret_cast<const std::byte*>(p.data());
  return bat::summarise(sizeof(T) == 4 ? bat::ScalarType::Float32 : bat::ScalarType::Float64,
    { first, first + sizeof(T), first + 2 * sizeof(T) }, 3 * sizeof(T), p.size() / 3, rank, cells);
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

bat::PlanOptions options_for(double particles, std::uint32_t leaves, std::uint32_t ranks)
{
  bat::PlanOptions options;
  options.ranks = ranks;
  options.bytes_per_particle = 100;
  options.target_bytes = static_cast<std::uint64_t>(particles * 100 / leaves);
  return options;
}

// Boxes of leaves by walking the tree; leaves share faces and nothing else if the tree is sound.
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

std::string refusal(const Cells& cells, const bat::PlanOptions& options)
{
  try
  {
    (void)bat::make_plan(cells, options);
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
          const bat::Plan plan = bat::make_plan(cells, options_for(400'000, leaves, ranks));
          SCOPED_TRACE(std::string(all == &uniform ? "uniform" : "clustered") +
            (how == Deal::Rows ? " rows " : " boxes ") + std::to_string(ranks) + " ranks " +
            std::to_string(leaves) + " leaves");
          ASSERT_EQ(plan.leaf_count, leaves);
          check_tree(plan);
          EXPECT_LE(largest_over_mean(true_counts(plan, *all)), 1.15);
          EXPECT_NEAR(std::accumulate(plan.leaf_particles.begin(), plan.leaf_particles.end(), 0.0),
            400'000, 1e-3);
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
  const double most = *std::max_element(plan.leaf_particles.begin(), plan.leaf_particles.end());
  EXPECT_LE(most, 1.02 * 4000);
  const Positions p = clouds::uniform_positions<float>(500'000, random);
  EXPECT_LE(largest_over_mean(true_counts(plan, p)), 1.15);
}

TEST(Plan, boxes_as_large_as_floats_go_and_as_small)
{
  constexpr float most = std::numeric_limits<float>::max();
  constexpr float least = std::numeric_limits<float>::denorm_min();
  const Cells cells = { cell(-most, most, 100, 0), cell(0, least, 100, 1), cell(most, most, 5, 2),
    cell(-most, -most, 5, 3) };
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
    "plan: cell 1 of rank 1: box from 0 to nan along x; finite ends in ascending order are "
    "allowed");
  EXPECT_NE(refused(cell(-inf, 0, 10, 1)).find("-inf"), std::string::npos);
  EXPECT_NE(refused(cell(2, 1, 10, 1)).find("box from 2 to 1"), std::string::npos);
  EXPECT_NE(refused(cell(0, 1, -1, 2)).find("-1 particles"), std::string::npos);
  EXPECT_NE(refused(cell(0, 1, std::nan(""), 2)).find("nan particles"), std::string::npos);
  EXPECT_NE(refused(cell(0, 1, 1e300, 2)).find("2^63"), std::string::npos);
  EXPECT_NE(refused(cell(0, 1, 1, 3)).find("allowed are 0 to 2"), std::string::npos);

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
  EXPECT_NE(
    refused_option([](auto& o) { o.max_overfull_factor = 0.5; }).find("overfull factor 0.5"),
    std::string::npos);
  EXPECT_NE(
    refused_option([](auto& o) { o.max_split_imbalance_ratio = std::nan(""); }).find("ratio nan"),
    std::string::npos);
  EXPECT_NE(refused_option([](auto& o) { o.threads = -1; }).find("-1 threads"), std::string::npos);
  EXPECT_NE(refused_option([](auto& o) { o.mode = static_cast<bat::PlanMode>(9); }).find("mode 9"),
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
    options.threads = 1;
    const bat::Plan one = bat::make_plan(cells, options);
    for (const int threads : { 0, 2, 3, 8 })
    {
      options.threads = threads;
      EXPECT_TRUE(same(one, bat::make_plan(cells, options))) << threads;
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
  // Two layers of cells per rank along z; ranks count along z first in one case, last in the other.
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
  EXPECT_EQ(files(1 * mebibyte, 16), 0); // one file, smaller than the least target
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
  const Cells summary = summarise(p, 0, 50);
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
