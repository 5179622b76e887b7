// The exchange alone, with assignments made by hand.
#include "exchange.hpp"
#include "mpi/mpi_support.hpp"

#include <gtest/gtest.h>

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
    const auto add = [&](const bat::ArrayView& array)
    {
      std::string bytes = std::to_string(leaf.leaf) + ":";
      for (std::uint64_t i = 0; i != leaf.particles.count; ++i)
      {
        bytes.append(reinterpret_cast<const char*>(array.component[0] + i * array.stride_bytes),
          bat::size_of(array.type) * static_cast<std::size_t>(array.components));
      }
      contents.push_back(std::move(bytes));
    };
    add(leaf.particles.positions);
    for (const bat::AttributeView& a : leaf.particles.attributes)
    {
      add(a.values);
    }
  }
  return contents;
}

TEST(Exchange, MessagesOfAnySizeCarryTheSame)
{
  const bat::mpi::OwnComm comm(MPI_COMM_WORLD);
  // 0 particles on the last rank but one if there is one, 300 times the rank on others.
  const auto number = static_cast<std::uint64_t>(rank());
  clouds::Random random(number + 1);
  clouds::Cloud mine;
  const std::uint64_t count = rank() == ranks() - 2 ? 0 : 300 * (number + 1);
  mine.set_positions(clouds::uniform_positions<double>(count, random));
  mine.add("id", bat::ScalarType::Int64, clouds::shuffled_ids(count, random, 1000000 * rank()));
  mine.add("flag", bat::ScalarType::UInt8, std::vector<std::uint8_t>(count, 7));
  const bat::mpi::RankParticles view({ { mine.view(), {} } });
  // Two leaves a rank, not side by side; the fourth gets nothing.
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
  const auto expected =
    contents(bat::mpi::exchange(comm, view, leaf_of, leaves, aggregators, std::size_t{ 1 } << 30));
  for (const std::size_t bytes : { 1, 33, 34, 1000, 4096 })
  {
    const bat::mpi::ExchangeResult result =
      bat::mpi::exchange(comm, view, leaf_of, leaves, aggregators, bytes);
    EXPECT_TRUE(contents(result) == expected) << bytes;
  }
  // The particles of each leaf: by rank, then in the rank's order.
  std::uint64_t kept = 0;
  for (const bat::mpi::AggregatedLeaf& leaf :
    bat::mpi::exchange(comm, view, leaf_of, leaves, aggregators, 100).leaves)
  {
    EXPECT_EQ(aggregators[leaf.leaf], static_cast<std::uint32_t>(rank()));
    kept += leaf.particles.count;
  }
  std::uint64_t all[2]{};
  const std::uint64_t here[2]{ kept, count };
  MPI_Allreduce(here, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(all[0], all[1]);
}

TEST(Exchange, RanksThatGoWholeNeedNoList)
{
  const bat::mpi::OwnComm comm(MPI_COMM_WORLD);
  const auto number = static_cast<std::uint64_t>(rank());
  clouds::Random random(number + 1);
  clouds::Cloud mine;
  const std::uint64_t count = 300 * number; // none on rank 0
  mine.set_positions(clouds::uniform_positions<float>(count, random));
  mine.add("id", bat::ScalarType::Int64, clouds::shuffled_ids(count, random, 1000000 * rank()));
  const bat::mpi::RankParticles view({ { mine.view(), {} } });
  // Every rank to the leaf file of its neighbour; the last one's own leaf gets it from itself.
  const auto leaves = static_cast<std::uint32_t>(ranks());
  const auto leaf = std::min(static_cast<std::uint32_t>(rank()) + 1, leaves - 1);
  std::vector<std::uint32_t> aggregators(leaves);
  std::iota(aggregators.begin(), aggregators.end(), 0u);
  const bat::mpi::LeafAssignment list{ 0, std::vector<std::uint32_t>(count, leaf) };
  for (const std::size_t bytes : { 50, 4096 })
  {
    EXPECT_TRUE(
      contents(bat::mpi::exchange(comm, view, { leaf, {} }, leaves, aggregators, bytes)) ==
      contents(bat::mpi::exchange(comm, view, list, leaves, aggregators, bytes)))
      << bytes;
  }
}

TEST(Exchange, CountsBeyondTheRangeOfMpiAreRefused)
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
TEST(LargeExchange, MoreThanTwoToThe31Bytes)
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
  // Rank 0 sends everything to rank 1. Every value is its own number.
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
      bat::mpi::exchange(comm, particles, { 0, {} }, 1, { 1 }, message_bytes);
    ASSERT_EQ(result.leaves.size(), rank() == 1 ? 1u : 0u);
    EXPECT_EQ(result.sent_bytes, rank() == 0 ? 12 * kParticles : 0);
    if (rank() == 1)
    {
      ASSERT_EQ(result.leaves[0].particles.count, kParticles);
      const auto* received =
        reinterpret_cast<const float*>(result.leaves[0].particles.positions.component[0]);
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
