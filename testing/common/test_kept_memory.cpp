// SPDX-License-Identifier: BSD-3-Clause
// Memory that is kept for the next step of a series.
#include "common/memory/kept_memory.hpp"

#include "common/memory/large_array.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace
{
using bat::KeptMemory;
using Array = bat::LargeArray<std::byte>;

constexpr std::size_t kMiB = std::size_t{ 1 } << 20;

/// Arrays whose lifetimes overlap, as in a step; all of them are written to.
void take_a_step(std::size_t size)
{
  Array order(size);
  std::fill_n(order.data(), order.size(), std::byte{ 1 });
  for (int column = 0; column != 3; ++column)
  {
    Array values(2 * size);
    std::fill_n(values.data(), values.size(), std::byte{ 2 });
    Array room(3 * size / 2);
    std::fill_n(room.data(), room.size(), std::byte{ 3 });
  }
  EXPECT_EQ(order[0], std::byte{ 1 });
  EXPECT_EQ(order[size - 1], std::byte{ 1 });
}

TEST(KeptMemory, waits_within_its_limit_until_the_last_one_goes)
{
  std::optional<KeptMemory> some(std::in_place, 4 * kMiB);
  {
    const KeptMemory::Use use(*some);
    take_a_step(2 * kMiB);
    EXPECT_GT(KeptMemory::bytes(), 4 * kMiB) << "what is free during a step is used in it again";
  }
  EXPECT_EQ(KeptMemory::bytes(), 4 * kMiB);
  some->set_max_bytes(3 * kMiB);
  EXPECT_EQ(KeptMemory::bytes(), 3 * kMiB);
  std::optional<KeptMemory> more(std::in_place, 64 * kMiB);
  {
    const KeptMemory::Use use(*some);
    take_a_step(2 * kMiB);
  }
  const std::uint64_t all = KeptMemory::bytes();
  EXPECT_GE(all, 9 * kMiB) << "the one that allows most decides";
  EXPECT_LE(all, 9 * kMiB * 9 / 8);
  more.reset();
  EXPECT_EQ(KeptMemory::bytes(), 3 * kMiB);
  some.reset();
  EXPECT_EQ(KeptMemory::bytes(), 0);
}

TEST(KeptMemory, is_little_more_than_what_a_step_needs_at_the_same_time)
{
  const KeptMemory kept(std::uint64_t{ 1 } << 40);
  const auto step = [&](std::size_t size)
  {
    const KeptMemory::Use use(kept);
    take_a_step(size);
  };
  constexpr std::size_t kSize = 8 * kMiB + 123456;
  step(kSize);
  const std::uint64_t large = KeptMemory::bytes();
  EXPECT_LE(large, kSize * 9 / 2 * 9 / 8);
  step(kSize + 12345); // a few particles more
  EXPECT_EQ(KeptMemory::bytes(), large);
  // A step with other sizes, which cannot use all of it, does not take more for that reason.
  step(5 * kMiB);
  EXPECT_LE(KeptMemory::bytes(), large * 9 / 8);
}

TEST(KeptMemory, none_is_kept_without_a_limit_nor_outside_of_a_step)
{
  KeptMemory kept(0);
  {
    const KeptMemory::Use use(kept);
    take_a_step(kMiB);
  }
  EXPECT_EQ(KeptMemory::bytes(), 0);
  kept.set_max_bytes(kMiB * 100);
  take_a_step(kMiB);
  EXPECT_EQ(KeptMemory::bytes(), 0) << "no step";
  Array longer_than_the_step;
  {
    const KeptMemory::Use use(kept);
    longer_than_the_step.reset(kMiB);
    Array small(KeptMemory::kMinBytes - 1);
  }
  EXPECT_EQ(KeptMemory::bytes(), 0) << "in use, or too small";
  std::fill_n(longer_than_the_step.data(), kMiB, std::byte{ 7 });
  {
    const KeptMemory::Use use(kept);
    take_a_step(kMiB);
  }
  EXPECT_EQ(
    std::count(longer_than_the_step.data(), longer_than_the_step.data() + kMiB, std::byte{ 7 }),
    static_cast<std::ptrdiff_t>(kMiB));
  const std::uint64_t bytes = KeptMemory::bytes();
  longer_than_the_step.reset(0);
  EXPECT_EQ(KeptMemory::bytes(), bytes) << "no step";
}

TEST(KeptMemory, arrays_are_where_they_should_be_and_never_overlap)
{
  const KeptMemory kept(64 * kMiB);
  std::mt19937 random(7);
  for (int step = 0; step != 3; ++step)
  {
    const KeptMemory::Use use(kept);
    std::vector<Array> arrays(8);
    for (int i = 0; i != 200; ++i)
    {
      const std::size_t which = random() % arrays.size();
      arrays[which].reset(random() % (5 * kMiB));
      if (arrays[which].size() != 0)
      {
        const auto at = reinterpret_cast<std::uintptr_t>(arrays[which].data());
        EXPECT_EQ(at % (arrays[which].size() < 2 * kMiB ? 64 : 2 * kMiB), 0);
        const auto name = static_cast<std::byte>(which);
        std::fill_n(arrays[which].data(), arrays[which].size(), name);
      }
      for (std::size_t other = 0; other != arrays.size(); ++other)
      {
        const Array& array = arrays[other];
        if (array.size() != 0)
        {
          ASSERT_EQ(array[0], static_cast<std::byte>(other));
          ASSERT_EQ(array[array.size() - 1], static_cast<std::byte>(other));
        }
      }
    }
  }
}

TEST(KeptMemory, threads_may_write_several_series_at_once)
{
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t != 4; ++t)
  {
    threads.emplace_back(
      [t]
      {
        KeptMemory kept(t * kMiB);
        for (int step = 0; step != 10; ++step)
        {
          {
            const KeptMemory::Use use(kept);
            take_a_step(KeptMemory::kMinBytes * (t + 1));
          }
          kept.set_max_bytes((t + static_cast<std::size_t>(step)) % 3 * kMiB);
        }
      });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(KeptMemory::bytes(), 0);
}

TEST(KeptMemory, a_child_of_a_process_whose_threads_are_busy_can_go_on)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have locks of their own, which such a child may find closed";
#endif
  std::atomic<bool> stop = false;
  std::thread busy(
    [&]
    {
      const KeptMemory kept(kMiB);
      while (!stop)
      {
        const KeptMemory::Use use(kept);
        const Array array(kMiB);
      }
    });
  for (int i = 0; i != 20; ++i)
  {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0)
    {
      ::alarm(60); // ends the test if a lock is never released
      const KeptMemory kept(kMiB);
      {
        const KeptMemory::Use use(kept);
        take_a_step(kMiB);
      }
      ::_exit(0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}
}
