// SPDX-License-Identifier: BSD-3-Clause
// Bytes that go through leaders, or directly: all of them arrive, once, in order; errors are raised
// on all ranks.
#include "parallel/flat_exchange.hpp"
#include "parallel/leader_exchange.hpp"
#include "particles/parallel/mpi_support.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>

namespace
{
using bat::mpi::Mail;
using bat::mpi::Nodes;
using bat::mpi::OwnComm;
using bat::mpi::Parcel;
using mpi_test::rank;
using mpi_test::ranks;

/// Parcels from `source`, the same on every rank.
std::vector<Parcel> parcels_of(int source, std::size_t maximum, std::size_t count)
{
  clouds::Random random(static_cast<std::uint64_t>(source) + 10);
  std::vector<Parcel> parcels;
  const auto size = static_cast<std::uint32_t>(ranks());
  for (std::size_t i = 0; i != count && source != 1; ++i) // rank 1 has nothing
  {
    const auto target = static_cast<std::uint32_t>(random() % size);
    if (target != static_cast<std::uint32_t>(source))
    {
      parcels.push_back({ target, static_cast<std::uint32_t>(1 + random() % maximum) });
    }
  }
  return parcels;
}

char byte_of(int source, std::size_t parcel)
{
  return static_cast<char>(source * 31 + static_cast<int>(parcel) * 7 + 1);
}

// As large as a parcel may be with up to 16 ranks on a node.
constexpr std::size_t kLarge = (std::size_t{ 2 } << 20) - 8;

struct Case
{
  std::size_t maximum; ///< bytes of a parcel
  std::size_t count;   ///< parcels of a rank
};

Mail mail_of(const Case& c)
{
  Mail mail;
  mail.parcels = parcels_of(rank(), c.maximum, c.count);
  for (int source = 0; source != ranks(); ++source)
  {
    for (const Parcel& parcel : parcels_of(source, c.maximum, c.count))
    {
      mail.expected_bytes += parcel.target == static_cast<std::uint32_t>(rank()) ? parcel.bytes : 0;
    }
  }
  mail.pack = [](std::size_t, std::byte*) {};
  mail.take = [](std::uint32_t, const std::byte*, std::size_t) {};
  return mail;
}

TEST(LeaderExchange, all_parcels_arrive_once_and_in_order)
{
  const OwnComm comm(MPI_COMM_WORLD);
  // The last case: several rounds, with parcels of the maximum size.
  for (const Case& c :
    { Case{ 1, 0 }, Case{ 1, 1 }, Case{ 100, 200 }, Case{ 70'000, 40 }, Case{ kLarge, 12 } })
  {
    for (const int each : { 0, 1, 2, 3, 4 })
    {
      if (c.maximum == kLarge && (each % 2 != 0 || ranks() > 4))
      {
        continue; // takes long
      }
      Nodes nodes(comm, each);
      for (const int leaders : { 0, 1, 2, 9 }) // none: flat
      {
        Mail mail = mail_of(c);
        mail.pack = [&](std::size_t parcel, std::byte* out)
        { std::memset(out, byte_of(rank(), parcel), mail.parcels[parcel].bytes); };
        std::map<int, std::vector<std::pair<std::size_t, char>>> taken;
        std::uint64_t mixed = 0;
        mail.take = [&](std::uint32_t source, const std::byte* bytes, std::size_t count)
        {
          const auto value = static_cast<char>(bytes[0]);
          taken[static_cast<int>(source)].emplace_back(count, value);
          mixed += static_cast<std::uint64_t>(std::count_if(
            bytes, bytes + count, [&](std::byte b) { return static_cast<char>(b) != value; }));
        };
        const bat::mpi::NodeTraffic local = leaders == 0
          ? bat::mpi::exchange_flat(comm, nodes, mail)
          : bat::mpi::exchange_through_leaders(comm, nodes, leaders, mail);
        EXPECT_EQ(mixed, 0u);
        std::map<int, std::vector<std::pair<std::size_t, char>>> expected;
        for (int source = 0; source != ranks(); ++source)
        {
          const std::vector<Parcel> parcels = parcels_of(source, c.maximum, c.count);
          for (std::size_t i = 0; i != parcels.size(); ++i)
          {
            if (parcels[i].target == static_cast<std::uint32_t>(rank()))
            {
              expected[source].emplace_back(parcels[i].bytes, byte_of(source, i));
            }
          }
        }
        EXPECT_TRUE(taken == expected) << each << " ranks per node, " << leaders << " leaders, "
                                       << c.count << " parcels up to " << c.maximum;
        if (leaders == 0)
        {
          EXPECT_EQ(local.messages_within + local.messages_between, mail.parcels.size());
        }
        // Only leaders send to other nodes.
        if (nodes.place() != 0 && leaders == 1)
        {
          EXPECT_EQ(local.messages_between, 0u);
        }
      }
    }
  }
}

TEST(LeaderExchange, what_is_thrown_on_one_rank_is_thrown_on_all)
{
  const OwnComm comm(MPI_COMM_WORLD);
  Nodes nodes(comm, 2);
  const int last = ranks() - 1;
  const std::string from = ranks() == 1 ? "" : "rank " + std::to_string(last) + ": ";
  for (const int way : { 0, 1, 2, 3 })
  {
    const bool is_packing = way % 2 == 0;
    const auto exchange = [&](const Mail& mail)
    {
      (void)(way < 2 ? bat::mpi::exchange_through_leaders(comm, nodes, 1, mail)
                     : bat::mpi::exchange_flat(comm, nodes, mail));
    };
    Mail mail = mail_of({ 1000, 50 });
    const auto fail = [&]
    {
      if (rank() == last)
      {
        throw bat::Error(bat::ErrorCode::InvalidArgument, "on purpose");
      }
    };
    std::uint64_t taken = 0;
    mail.pack = [&](std::size_t, std::byte*) { is_packing ? fail() : void(); };
    mail.take = [&](std::uint32_t, const std::byte*, std::size_t count)
    {
      taken += count;
      is_packing ? void() : fail();
    };
    // Rank 1 sends nothing, and a single rank has no other to send to.
    const std::uint64_t concerned = is_packing ? mail.parcels.size() : mail.expected_bytes;
    std::uint64_t of_last = concerned;
    MPI_Bcast(&of_last, 1, MPI_UINT64_T, last, MPI_COMM_WORLD);
    const std::string error = mpi_test::error_of([&] { exchange(mail); });
    EXPECT_EQ(error, of_last == 0 ? "" : from + "on purpose");
    EXPECT_EQ(taken, mail.expected_bytes);
  }
  Mail mail;
  if (rank() == last)
  {
    mail.parcels.push_back({ 0, 1 << 21 });
  }
  EXPECT_EQ(
    mpi_test::error_of([&] { (void)bat::mpi::exchange_through_leaders(comm, nodes, 1, mail); }),
    from + "a parcel sent through leaders has 2097152 bytes; allowed are 1 to 2097144");
  mail.parcels.assign(mail.parcels.size(), { 0, (1 << 21) + 1 });
  EXPECT_EQ(mpi_test::error_of([&] { (void)bat::mpi::exchange_flat(comm, nodes, mail); }),
    from + "a parcel has 2097153 bytes; allowed are 1 to 2097152");
}

TEST(LeaderExchange, route_is_the_same_on_all_ranks)
{
  const OwnComm comm(MPI_COMM_WORLD);
  Nodes nodes(comm, 2);
  using bat::Route;
  bat::mpi::Load load;
  load.targets = rank() == 0 ? 1 : 0;
  load.bytes = rank() == 0 ? 100 : 0;
  EXPECT_EQ(bat::mpi::choose_route(comm, nodes, Route::Flat, load), Route::Flat);
  const Route led = ranks() == 1 ? Route::Flat : Route::Leaders;
  EXPECT_EQ(bat::mpi::choose_route(comm, nodes, Route::Leaders, load), led);
  load.has_large_parcels = rank() == 0;
  EXPECT_EQ(bat::mpi::choose_route(comm, nodes, Route::Leaders, load), Route::Flat);
  // One node, or one rank on each, so there are no leaders.
  for (const int each : { 0, 1 })
  {
    Nodes alone(comm, each);
    EXPECT_EQ(bat::mpi::choose_route(comm, alone, Route::Auto, load), Route::Flat);
  }
}

TEST(LeaderExchange, automatic_choice_follows_what_was_measured)
{
  using bat::mpi::leaders_pay;
  using bat::mpi::NodeLayout;
  const auto layout = [](std::uint32_t nodes, std::uint32_t each)
  {
    std::vector<std::uint32_t> names;
    for (std::uint32_t node = 0; node != nodes; ++node)
    {
      names.insert(names.end(), each, node);
    }
    return NodeLayout(names);
  };
  // Every rank has 64 bytes, or 16 KiB, for every rank on other nodes.
  const auto all_to_all = [&](std::uint32_t nodes, std::uint32_t each, std::uint64_t bytes)
  {
    const std::uint64_t messages = std::uint64_t{ nodes } * each * (nodes - 1) * each;
    return leaders_pay(layout(nodes, each), messages, bytes * messages);
  };
  EXPECT_FALSE(all_to_all(4, 4, 64));
  EXPECT_TRUE(all_to_all(4, 12, 64));
  EXPECT_FALSE(all_to_all(4, 12, 16384));
  EXPECT_TRUE(all_to_all(100, 64, 64));
  EXPECT_FALSE(all_to_all(100, 1, 64)); // no leaders
  EXPECT_FALSE(all_to_all(1, 64, 64));

  // An exchange that only pays off if repeated begins flat.
  const OwnComm comm(MPI_COMM_WORLD);
  Nodes nodes(comm, 2);
  bat::mpi::Load load;
  load.targets = 1000;
  load.bytes = 1000;
  EXPECT_EQ(bat::mpi::choose_route(comm, nodes, bat::Route::Auto, load), bat::Route::Flat);
  EXPECT_EQ(bat::mpi::choose_route(comm, nodes, bat::Route::Auto, load),
    nodes.layout().node_count() > 1 && nodes.layout().largest_node() > 1 ? bat::Route::Leaders
                                                                         : bat::Route::Flat);
  // Ranks that fail before the exchange.
  const auto failure = rank() == ranks() - 1
    ? std::optional<bat::Error>(bat::Error(bat::ErrorCode::InvalidArgument, "on purpose"))
    : std::nullopt;
  EXPECT_NE(mpi_test::error_of(
              [&] { (void)bat::mpi::choose_route(comm, nodes, bat::Route::Auto, load, failure); })
              .find("on purpose"),
    std::string::npos);
}

// Runs with a small /dev/shm (testing/parallel/CMakeLists.txt).
TEST(SmallSharedMemory, is_an_error_if_leaders_are_asked_for_and_else_avoided)
{
  const std::uintmax_t room = std::filesystem::space("/dev/shm").available;
  if (room > 1u << 20 || ranks() < 4)
  {
    GTEST_SKIP() << room << " bytes are free there";
  }
  const OwnComm comm(MPI_COMM_WORLD);
  Nodes nodes(comm, 2);
  bat::mpi::Load load;
  load.targets = 1000;
  load.bytes = 1000;
  const std::string error = mpi_test::error_of(
    [&] { (void)bat::mpi::choose_route(comm, nodes, bat::Route::Leaders, load); });
  EXPECT_EQ(error.find("rank 0: /dev/shm: "), 0u) << error;
  EXPECT_NE(error.find("a flat one none"), std::string::npos) << error;
  for (int i = 0; i != 3; ++i)
  {
    EXPECT_EQ(bat::mpi::choose_route(comm, nodes, bat::Route::Auto, load), bat::Route::Flat);
  }
}
}
