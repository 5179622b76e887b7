// SPDX-License-Identifier: BSD-3-Clause
// Files that a function of the program reads: the same bytes, few calls, and its failures as
// errors.

#include "bat/remote_reader.hpp"

#include "bat/address.hpp"
#include "bat/scoped_stop.hpp"
#include "common/io/random_access_file.hpp"
#include "common/io/remote/address.hpp"
#include "common/io/remote/remote_file.hpp"
#include "common/io/remote/settings.hpp"
#include "support/sanitizers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{
using bat::Error;
using bat::ErrorCode;
using bat::PassingError;
using bat::RemoteAnswer;
using bat::RemotePart;
using bat::RemoteReader;
using bat::io::RandomAccessFile;

/// A store with one file in memory.
struct Store
{
  std::vector<std::byte> bytes;
  std::string version = "one";
  std::string expected_path = "bucket/x.bin";
  std::atomic<int> calls{ 0 };
  std::atomic<int> failures{ 0 }; ///< calls that will fail

  explicit Store(std::size_t count)
    : bytes(count)
  {
    std::mt19937_64 random(count);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
  }

  RemoteAnswer read(const std::string& path, const RemotePart& part, std::byte* to)
  {
    ++this->calls;
    if (path != this->expected_path)
    {
      throw Error(ErrorCode::NotFound, "does not exist: " + path);
    }
    if (this->failures > 0)
    {
      --this->failures;
      throw PassingError(ErrorCode::CannotOpen, "the store is busy");
    }
    const std::uint64_t size = this->bytes.size();
    const std::uint64_t first =
      part.is_from_end ? size - std::min(size, part.count) : std::min(size, part.first);
    const std::size_t count = std::min(part.count, size - first);
    std::copy_n(this->bytes.data() + first, count, to);
    return { count, size, this->version };
  }

  [[nodiscard]] auto function()
  {
    return [this](const std::string& path, const RemotePart& part, std::byte* to)
    { return this->read(path, part, to); };
  }
};

class RemoteReaders : public testing::Test
{
protected:
  RemoteReaders()
  {
    bat::io::RemoteSettings quick;
    quick.first_pause = std::chrono::milliseconds(5);
    bat::io::set_remote_settings(quick);
  }
};

template <class F>
Error error_of(F&& f)
{
  const std::optional<Error> error = bat::attempt(std::forward<F>(f));
  EXPECT_TRUE(error);
  return error.value_or(Error(ErrorCode::Internal, "no error"));
}

void check_bytes(const RandomAccessFile& file, const Store& store, std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  for (int i = 0; i != 50; ++i)
  {
    const std::size_t first = random() % store.bytes.size();
    const std::size_t count =
      1 + random() % std::min<std::size_t>(store.bytes.size() - first, 70000);
    std::vector<std::byte> to(count);
    file.read(first, to.data(), count);
    ASSERT_EQ(0, std::memcmp(to.data(), store.bytes.data() + first, count));
  }
}

TEST_F(RemoteReaders, read_the_bytes_of_their_function)
{
  Store store((3 << 20) + 77);
  const RemoteReader reader(store.function(), "gs://");
  const RandomAccessFile file(reader.address() + "bucket/x.bin");
  EXPECT_EQ(store.bytes.size(), file.size());
  EXPECT_EQ("gs://bucket/x.bin", file.name());
  EXPECT_EQ(2, store.calls);
  check_bytes(file, store, 1);
  EXPECT_TRUE(file.is_as_opened());
  // Pages are kept for the same version.
  store.calls = 0;
  const RandomAccessFile again(reader.address() + "bucket/x.bin");
  check_bytes(again, store, 1);
  EXPECT_EQ(2, store.calls);
}

TEST_F(RemoteReaders, read_files_of_all_sizes)
{
  for (const std::size_t size : { 0, 1, 4095, 4096, 4097, 65536, 65537, 131073 })
  {
    Store store(size);
    store.version = "";
    const RemoteReader reader(store.function(), "gs://");
    const RandomAccessFile file(reader.address() + "bucket/x.bin");
    ASSERT_EQ(size, file.size());
    std::vector<std::byte> to(size);
    file.read(0, to.data(), size);
    EXPECT_EQ(store.bytes, to) << size;
  }
}

TEST_F(RemoteReaders, give_escapes_and_query_to_the_function)
{
  Store store(100);
  store.expected_path = "a%20b/c%3F.bin?token=1";
  const RemoteReader reader(store.function(), "gs://");
  const RandomAccessFile file(reader.address() + "a%20b/c%3F.bin?token=1");
  EXPECT_EQ("gs://a b/c?.bin", file.name());
  // Leaf files are beside it, with the same query.
  EXPECT_EQ(reader.address() + "a%20b/d%20e/f.bin?token=1",
    bat::io::path_beside(file.path(), "d e/f.bin").string());
  EXPECT_THROW((void)bat::io::path_beside(file.path(), "../f.bin"), Error);
  EXPECT_EQ("c?.bin", bat::file_name(file.path()));
}

TEST_F(RemoteReaders, repeat_what_may_pass)
{
  Store store(1 << 20);
  const RemoteReader reader(store.function(), "gs://");
  store.failures = 3;
  const RandomAccessFile file(reader.address() + "bucket/x.bin");
  store.failures = 1000;
  std::byte to{};
  const Error error = error_of([&] { file.read(500'000, &to, 1); });
  EXPECT_EQ(ErrorCode::CannotOpen, error.code());
  EXPECT_STREQ(
    "gs://bucket/x.bin: the store is busy; failed 5 times, try again later", error.what());
}

TEST_F(RemoteReaders, fail_with_the_error_of_the_function)
{
  Store store(100);
  const RemoteReader reader(store.function(), "gs://");
  const Error error = error_of([&] { const RandomAccessFile file(reader.address() + "none"); });
  EXPECT_EQ(ErrorCode::NotFound, error.code());
  EXPECT_STREQ("gs://none: does not exist: none", error.what());
  const RemoteReader throwing(
    [](const std::string&, const RemotePart&, std::byte*) -> RemoteAnswer { throw 7; }, "x://");
  EXPECT_EQ(ErrorCode::InvalidArgument,
    error_of([&] { const RandomAccessFile file(throwing.address() + "a"); }).code());
  EXPECT_EQ(ErrorCode::CannotOpen,
    error_of([&] { const RandomAccessFile file("reader://123456/a"); }).code());
}

TEST_F(RemoteReaders, never_mix_versions)
{
  Store store(1 << 20);
  const RemoteReader reader(store.function(), "gs://");
  const RandomAccessFile file(reader.address() + "bucket/x.bin");
  store.version = "two";
  std::byte to{};
  const Error error = error_of([&] { file.read(500'000, &to, 1); });
  EXPECT_NE(std::string::npos, std::string(error.what()).find("changed")) << error.what();
  EXPECT_FALSE(file.is_as_opened());
  const RandomAccessFile again(reader.address() + "bucket/x.bin");
  again.read(500'000, &to, 1);
  EXPECT_EQ(store.bytes[500'000], to);
}

TEST_F(RemoteReaders, refuse_short_answers)
{
  for (const std::size_t missing : { 1, 100 })
  {
    Store store(1 << 20);
    const RemoteReader reader(
      [&](const std::string& path, const RemotePart& part, std::byte* to)
      {
        RemoteAnswer answer = store.read(path, part, to);
        answer.bytes -= std::min(answer.bytes, part.first == 0 ? 0 : missing);
        return answer;
      },
      "gs://");
    const RandomAccessFile file(reader.address() + "bucket/x.bin");
    std::byte to{};
    EXPECT_EQ(ErrorCode::CannotOpen, error_of([&] { file.read(500'000, &to, 1); }).code());
  }
}

TEST_F(RemoteReaders, serve_many_threads)
{
  Store store(2 << 20);
  std::atomic<int> running{ 0 };
  std::atomic<int> max_running{ 0 };
  const RemoteReader reader(
    [&](const std::string& path, const RemotePart& part, std::byte* to)
    {
      const int now = ++running;
      for (int seen = max_running; seen < now && !max_running.compare_exchange_weak(seen, now);)
      {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const RemoteAnswer answer = store.read(path, part, to);
      --running;
      return answer;
    },
    "gs://");
  const RandomAccessFile file(reader.address() + "bucket/x.bin");
  std::vector<std::thread> threads;
  for (int i = 0; i != 20; ++i)
  {
    threads.emplace_back([&, i] { check_bytes(file, store, i); });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  EXPECT_GT(max_running, 1);
  EXPECT_LE(max_running, 16);
}

TEST_F(RemoteReaders, can_be_cancelled_and_closed)
{
  Store store(1 << 20);
  std::atomic<bool> is_slow{ false };
  std::atomic<bool> has_begun{ false };
  std::atomic<bool> has_returned{ false };
  auto reader = std::make_unique<RemoteReader>(
    [&](const std::string& path, const RemotePart& part, std::byte* to)
    {
      if (is_slow)
      {
        has_begun = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        has_returned = true;
      }
      return store.read(path, part, to);
    },
    "gs://");
  const RandomAccessFile file(reader->address() + "bucket/x.bin");
  is_slow = true;
  std::byte to{};
  {
    const bat::ScopedStop stop([&] { return has_begun.load(); });
    EXPECT_EQ(ErrorCode::Cancelled, error_of([&] { file.read(500'000, &to, 1); }).code());
  }
  EXPECT_FALSE(has_returned);
  reader.reset();
  EXPECT_TRUE(has_returned);
  is_slow = false;
  EXPECT_EQ(ErrorCode::CannotOpen, error_of([&] { file.read(700'000, &to, 1); }).code());
}

TEST_F(RemoteReaders, work_in_a_forked_child)
{
  if (!sanitizers::kHasThreadsAfterFork)
  {
    GTEST_SKIP() << "ThreadSanitizer allows no threads in a forked child";
  }
  Store store(1 << 20);
  const RemoteReader reader(store.function(), "gs://");
  const RandomAccessFile file(reader.address() + "bucket/x.bin");
  std::byte to{};
  file.read(300'000, &to, 1);
  const ::pid_t child = ::fork();
  if (child == 0)
  {
    file.read(500'000, &to, 1);
    std::_Exit(to == store.bytes[500'000] ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(0, status);
}
}
