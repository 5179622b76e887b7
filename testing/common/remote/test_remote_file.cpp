// SPDX-License-Identifier: BSD-3-Clause
// Remote files behind a server with faults: the bytes of the local file, or an error that says what
// to do, and as few requests as promised.

#include "common/io/remote/remote_file.hpp"

#include "bat/error.hpp"
#include "bat/recorded_reads.hpp"
#include "bat/scoped_stop.hpp"
#include "common/io/remote/settings.hpp"
#include "remote_server.hpp"
#include "support/sanitizers.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace
{
using bat::Error;
using bat::ErrorCode;
using bat::io::ByteRange;
using bat::io::RemoteFile;
using bat::io::RemoteSettings;
using bat::io::RemoteStatistics;

constexpr std::size_t kFileBytes = (3 << 20) + 1234;
constexpr std::size_t kSmallBytes = 5000;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kEnds = 128 << 10; ///< head and tail

std::vector<char> make_bytes(std::size_t count)
{
  std::mt19937_64 random(count);
  std::vector<char> bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
  return bytes;
}

void write_file(const std::filesystem::path& path, const std::vector<char>& bytes)
{
  std::ofstream(path, std::ios::binary)
    .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::vector<char> read(const RemoteFile& file, std::uint64_t offset, std::size_t bytes)
{
  std::vector<char> to(bytes);
  file.read(offset, to.data(), bytes);
  return to;
}

template <class F>
Error error_of(F&& f)
{
  const std::optional<Error> error = bat::attempt(std::forward<F>(f));
  EXPECT_TRUE(error);
  return error.value_or(Error(ErrorCode::Internal, "no error"));
}

Error open_error(const std::string& address)
{
  return error_of([&] { const RemoteFile file(address); });
}

bool contains(const Error& error, const std::string& part)
{
  return std::string(error.what()).find(part) != std::string::npos;
}

/// Differences of the counts since it was made.
class Counts
{
public:
  [[nodiscard]] RemoteStatistics since() const
  {
    RemoteStatistics now = bat::io::remote_statistics();
    now.requests -= this->before_.requests;
    now.retries -= this->before_.retries;
    now.round_trips -= this->before_.round_trips;
    now.bytes_requested -= this->before_.bytes_requested;
    now.bytes_received -= this->before_.bytes_received;
    now.bytes_repeated -= this->before_.bytes_repeated;
    now.bytes_from_disk -= this->before_.bytes_from_disk;
    return now;
  }

private:
  RemoteStatistics before_ = bat::io::remote_statistics();
};

class RemoteFiles : public testing::Test
{
protected:
  RemoteFiles()
  {
    RemoteSettings quick;
    quick.first_pause = std::chrono::milliseconds(10);
    quick.stall_timeout = std::chrono::milliseconds(10000);
    bat::io::set_remote_settings(quick);
    for (const char* const name :
      { "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
        "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3" })
    {
      ::unsetenv(name);
    }
    ::setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent", 1);
    ::setenv("AWS_CONFIG_FILE", "/nonexistent", 1);
    ::setenv("no_proxy", "*", 1);
    write_file(this->folder / "data.bin", this->bytes);
    write_file(this->folder / "small.bin", make_bytes(kSmallBytes));
    write_file(this->folder / "empty.bin", {});
    this->server = std::make_unique<RemoteServer>(this->folder.path());
  }
  ~RemoteFiles() override { bat::io::set_remote_settings({}); }

  void change(const std::function<void(RemoteSettings&)>& change)
  {
    RemoteSettings settings = bat::io::remote_settings();
    change(settings);
    bat::io::set_remote_settings(settings);
  }

  [[nodiscard]] std::vector<char> local(std::uint64_t offset, std::size_t count) const
  {
    const auto begin = this->bytes.begin() + static_cast<std::ptrdiff_t>(offset);
    return { begin, begin + static_cast<std::ptrdiff_t>(count) };
  }
  /// Another segment for each test: the memory is shared by all of them.
  [[nodiscard]] std::string at(
    const std::string& segment, const std::string& name = "data.bin") const
  {
    return this->server->at(segment + "/" + name);
  }
  void expect_same(const RemoteFile& file) const
  {
    ASSERT_EQ(file.size(), kFileBytes);
    EXPECT_EQ(read(file, 0, kFileBytes), this->bytes) << file.name();
  }

  TempDir folder;
  std::vector<char> bytes = make_bytes(kFileBytes);
  std::unique_ptr<RemoteServer> server;
};

TEST_F(RemoteFiles, opening_takes_one_round_trip)
{
  const Counts counts;
  const RemoteFile file(this->at("plain"));
  EXPECT_EQ(file.size(), kFileBytes);
  EXPECT_EQ(file.version(), "\"1\"");
  EXPECT_EQ(file.name(), this->at("plain"));
  EXPECT_EQ(read(file, 0, kEnds / 2), this->local(0, kEnds / 2));
  EXPECT_EQ(read(file, kFileBytes - 60000, 60000), this->local(kFileBytes - 60000, 60000));
  EXPECT_EQ(counts.since().requests, 2U);
  EXPECT_EQ(counts.since().round_trips, 1U);
  const auto requests = this->server->requests("plain");
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0]["encodings"], "identity");
}

TEST_F(RemoteFiles, small_and_empty_files_are_read)
{
  const RemoteFile small(this->at("plain", "small.bin"));
  EXPECT_EQ(read(small, 0, kSmallBytes), make_bytes(kSmallBytes));
  EXPECT_EQ(error_of([&] { (void)read(small, kSmallBytes, 1); }).code(), ErrorCode::Truncated);
  const RemoteFile empty(this->at("plain", "empty.bin"));
  EXPECT_EQ(empty.size(), 0U);
  EXPECT_EQ(read(empty, 0, 0).size(), 0U);
  EXPECT_EQ(error_of([&] { (void)read(empty, 0, 1); }).code(), ErrorCode::Truncated);
}

TEST_F(RemoteFiles, random_reads_of_eight_threads_are_those_of_the_local_file)
{
  this->change([](RemoteSettings& settings) { settings.memory = 1 << 20; }); // pages leave it
  const RemoteFile file(this->at("plain;id=random"));
  std::atomic<int> differences{ 0 };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t != 8; ++t)
  {
    threads.emplace_back(
      [&, t]
      {
        std::mt19937_64 random(t);
        for (std::uint64_t i = 0; i != sanitizers::some_of(100); ++i)
        {
          const std::uint64_t offset = random() % kFileBytes;
          const std::size_t count =
            std::min<std::uint64_t>(random() % (1u << (random() % 20)), kFileBytes - offset);
          if (random() % 4 == 0)
          {
            file.prefetch({ { random() % kFileBytes, 10000 }, { random() % kFileBytes, 1 << 20 } });
          }
          differences += read(file, offset, count) != this->local(offset, count);
        }
      });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(differences, 0);
}

TEST_F(RemoteFiles, no_page_is_requested_twice)
{
  const Counts counts;
  const RemoteFile file(this->at("pause;ms=20;id=once"));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t != 8; ++t)
  {
    threads.emplace_back(
      [&, t]
      {
        file.prefetch({ { t * 300000, 500000 } });
        (void)read(file, t * 200000, 700000);
        (void)read(file, 0, kFileBytes);
      });
  }
  for (std::thread& thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(counts.since().bytes_repeated, 0U);
  EXPECT_LE(counts.since().bytes_received, kFileBytes + 2 * kPage);
}

TEST_F(RemoteFiles, near_ranges_are_merged_and_large_ones_split)
{
  this->change(
    [](RemoteSettings& settings)
    {
      settings.max_gap = 8 * kPage;
      settings.max_request = 64 * kPage;
    });
  const RemoteFile file(this->at("plain;id=merge"));
  Counts counts;
  const std::uint64_t begin = 100 * kPage;
  file.prefetch({ { begin, 10 }, { begin + 9 * kPage, 10 }, { begin + 20 * kPage, 10 } });
  for (const std::uint64_t page : { 0U, 9U, 20U, 5U })
  {
    EXPECT_EQ(read(file, begin + page * kPage, 10), this->local(begin + page * kPage, 10));
  }
  EXPECT_EQ(counts.since().requests, 2U); // 0 to 9, and 20
  EXPECT_EQ(counts.since().bytes_requested, 11 * kPage);
  EXPECT_EQ(counts.since().round_trips, 1U);
  counts = {};
  EXPECT_EQ(
    read(file, begin + 100 * kPage, 130 * kPage), this->local(begin + 100 * kPage, 130 * kPage));
  EXPECT_EQ(counts.since().requests, 3U);
  EXPECT_EQ(counts.since().round_trips, 1U);
}

TEST_F(RemoteFiles, waiting_requests_grow_by_pages_close_to_theirs)
{
  this->change(
    [](RemoteSettings& settings)
    {
      settings.max_requests = 1;
      settings.max_gap = 3 * kPage;
    });
  const RemoteFile file(this->at("pause;ms=30;id=grow"));
  Counts counts;
  const auto ask = [&](std::uint64_t page) { file.prefetch({ { page * kPage, kPage } }); };
  ask(50); // in flight
  while (counts.since().requests == 0)
  {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ask(52);  // close to that, which is too late
  ask(200); // waits
  ask(204); // after it
  ask(196); // before it
  ask(300); // too far away
  EXPECT_EQ(read(file, 198 * kPage, 10), this->local(198 * kPage, 10)); // between them
  EXPECT_EQ(read(file, 207 * kPage, 3 * kPage), this->local(207 * kPage, 3 * kPage)); // too late
  for (const std::uint64_t page : { 50U, 52U, 200U, 204U, 196U, 300U })
  {
    EXPECT_EQ(read(file, page * kPage, kPage), this->local(page * kPage, kPage)) << page;
  }
  EXPECT_EQ(counts.since().requests, 5U); // 50, 52, 196 to 204, 300, 207 to 209
  EXPECT_EQ(counts.since().bytes_requested, (3 + 9 + 3) * kPage);
}

TEST_F(RemoteFiles, shares_of_held_prefetches_bring_each_page_once)
{
  const std::string segment = "plain;id=share";
  const RemoteFile file(this->at(segment));
  const auto held = [&](std::uint64_t first, std::uint64_t pages)
  {
    const bat::HeldPrefetches prefetches;
    file.prefetch({ { first * kPage, pages * kPage } });
    return prefetches.pack();
  };
  const std::vector<std::vector<std::byte>> all{ held(100, 40), held(120, 40), held(125, 5), {} };
  Counts counts;
  EXPECT_EQ(counts.since().requests, 0U);
  std::vector<std::size_t> sizes;
  for (std::size_t process = 0; process != all.size(); ++process)
  {
    const auto parcels = bat::read_share(all, process);
    ASSERT_EQ(parcels.size(), all.size());
    EXPECT_TRUE(parcels[process].empty()); // its own pages are in its cache
    EXPECT_TRUE(parcels[3].empty());       // it needs nothing
    for (const auto& parcel : parcels)
    {
      const bat::ReplayedReads replay(parcel);
    }
    sizes.push_back(parcels[0].size() / kPage);
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{ 0, 15, 10, 0 })); // shares of 15 pages from 100 on
  EXPECT_EQ(counts.since().requests, 4U);
  EXPECT_EQ(counts.since().bytes_requested, 60 * kPage);
  EXPECT_EQ(read(file, 100 * kPage, 60 * kPage), this->local(100 * kPage, 60 * kPage));
  EXPECT_EQ(counts.since().requests, 4U);
  EXPECT_THROW((void)bat::ReplayedReads(std::vector<std::byte>(20, std::byte{ 9 })), bat::Error);
}

TEST_F(RemoteFiles, replayed_reads_open_the_version_that_was_recorded)
{
  const std::string address = this->at("plain;id=replay");
  std::vector<std::byte> packed;
  {
    const bat::RecordedReads record;
    EXPECT_TRUE(record.pack().empty());
    const RemoteFile file(address);
    (void)read(file, 300 * kPage, 2 * kPage);
    packed = record.pack();
  }
  Counts counts;
  {
    const bat::ReplayedReads replay(packed);
    const RemoteFile file(address);
    EXPECT_EQ(file.size(), kFileBytes);
    EXPECT_EQ(read(file, 0, 100), this->local(0, 100));
    EXPECT_EQ(read(file, 300 * kPage, 2 * kPage), this->local(300 * kPage, 2 * kPage));
    EXPECT_EQ(counts.since().requests, 0U);
    EXPECT_EQ(read(file, 400 * kPage, kPage), this->local(400 * kPage, kPage));
    EXPECT_EQ(counts.since().requests, 1U);
  }
  const RemoteFile again(address);
  EXPECT_EQ(counts.since().requests, 3U); // nothing is replayed any more
}

TEST_F(RemoteFiles, requests_in_flight_are_limited_and_reads_come_first)
{
  this->change(
    [](RemoteSettings& settings)
    {
      settings.max_requests = 2;
      settings.max_gap = 0;
    });
  const std::string segment = "pause;ms=30;id=limit";
  const RemoteFile file(this->at(segment));
  std::vector<ByteRange> ranges;
  for (std::uint64_t i = 0; i != 12; ++i)
  {
    ranges.push_back({ (100 + 10 * i) * kPage, kPage });
  }
  file.prefetch(ranges);
  EXPECT_EQ(read(file, 50 * kPage, 10), this->local(50 * kPage, 10));
  (void)read(file, ranges[10].offset, 10); // one of the queue
  for (const ByteRange& range : ranges)
  {
    (void)read(file, range.offset, 10);
  }
  const auto requests = this->server->requests(segment);
  ASSERT_EQ(requests.size(), 2 + 12 + 1U);
  std::size_t read_position = 0;
  for (std::size_t i = 0; i != requests.size(); ++i)
  {
    EXPECT_LE(requests[i]["active"], 2);
    if (requests[i]["range"] == "bytes=204800-208895")
    {
      read_position = i;
    }
  }
  EXPECT_GE(read_position, 2U);
  EXPECT_LE(read_position, 2 + 4U); // after those in flight
}

TEST_F(RemoteFiles, files_of_one_version_share_their_pages)
{
  const RemoteFile first(this->at("plain;id=share"));
  this->expect_same(first);
  const Counts counts;
  const RemoteFile second(this->at("plain;id=share") + "?token=secret");
  this->expect_same(second);
  EXPECT_EQ(counts.since().requests, 2U);
}

TEST_F(RemoteFiles, memory_has_a_budget)
{
  this->change([](RemoteSettings& settings) { settings.memory = 1 << 20; });
  const RemoteFile file(this->at("plain;id=budget"));
  this->expect_same(file);
  const Counts counts;
  (void)read(file, 200000, 1);
  EXPECT_EQ(counts.since().bytes_repeated, kPage);
}

TEST_F(RemoteFiles, missing_files_and_permissions_are_named)
{
  const Error missing = open_error(this->at("plain", "none.bin") + "?sig=SECRET");
  EXPECT_EQ(missing.code(), ErrorCode::NotFound);
  EXPECT_TRUE(contains(missing, this->at("plain", "none.bin") + ": does not exist"));
  EXPECT_FALSE(contains(missing, "SECRET"));
  const Error denied = open_error(this->at("status;code=403;s3code=ExpiredToken"));
  EXPECT_EQ(denied.code(), ErrorCode::CannotOpen);
  EXPECT_TRUE(contains(denied, "the signature has expired (status 403, ExpiredToken)"));
  EXPECT_TRUE(contains(open_error(this->at("status;code=401")), "requires valid credentials"));
  EXPECT_TRUE(contains(open_error(this->at("status;code=416")), "status 416"));
  EXPECT_TRUE(contains(open_error(this->at("status;code=418")), "status 418"));
}

TEST_F(RemoteFiles, later_refusals_are_errors_of_the_read)
{
  for (const std::string fault : { "status;code=404;after=2", "status;code=403;after=2",
         "status;code=416;after=2", "noranges;after=2", "gzip;after=2", "shift;after=2" })
  {
    const RemoteFile file(this->at(fault));
    const Error error = error_of([&] { (void)read(file, 1000000, 10); });
    EXPECT_EQ(error.code(),
      fault.find("404") != std::string::npos ? ErrorCode::NotFound : ErrorCode::CannotOpen);
    EXPECT_EQ(read(file, 0, 1000), this->local(0, 1000)); // the cached part
  }
}

TEST_F(RemoteFiles, failures_that_pass_are_retried)
{
  for (const std::string fault :
    { "status;code=429;times=2", "status;code=500;times=2", "status;code=502;times=2",
      "status;code=503;times=6", "status;code=504;times=2", "status;code=503;times=2;after=2",
      "short;times=2", "short;times=2;after=2", "reset;times=2", "reset;times=2;after=2" })
  {
    const Counts counts;
    const RemoteFile file(this->at(fault));
    this->expect_same(file);
    // libcurl itself repeats requests on kept connections that were reset.
    EXPECT_TRUE(counts.since().retries >= 2 || fault.rfind("reset", 0) == 0) << fault;
  }
}

TEST_F(RemoteFiles, retries_are_bounded)
{
  this->change([](RemoteSettings& settings) { settings.max_retries = 2; });
  for (const std::string fault : { "status;code=503;id=bound", "short;id=bound", "reset;id=bound" })
  {
    const Error error = open_error(this->at(fault));
    EXPECT_EQ(error.code(), ErrorCode::CannotOpen);
    EXPECT_TRUE(contains(error, "failed 3 times")) << error.what();
    std::size_t heads = 0;
    for (const auto& request : this->server->requests(fault))
    {
      heads += request["range"] == "bytes=0-65535";
    }
    EXPECT_EQ(heads, 3U);
  }
}

TEST_F(RemoteFiles, retry_after_is_honoured)
{
  const std::string segment = "status;code=503;retry=1;times=1;after=2";
  const RemoteFile file(this->at(segment));
  (void)read(file, 1000000, 10);
  const auto requests = this->server->requests(segment);
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_GE(requests[3]["time"].get<double>() - requests[2]["time"].get<double>(), 0.99);
}

TEST_F(RemoteFiles, retry_after_is_limited)
{
  this->change(
    [](RemoteSettings& settings) { settings.max_pause = std::chrono::milliseconds(50); });
  const RemoteFile file(this->at("status;code=429;retry=3600;times=1;after=2"));
  this->expect_same(file);
}

TEST_F(RemoteFiles, servers_without_ranges_send_files_up_to_a_limit)
{
  for (const std::string fault : { "noranges", "chunked" })
  {
    {
      const RemoteFile file(this->at(fault));
      this->expect_same(file);
      const RemoteFile empty(this->at(fault, "empty.bin"));
      EXPECT_EQ(empty.size(), 0U);
    }
    this->change([](RemoteSettings& settings) { settings.max_whole = 1 << 20; });
    const Error error = open_error(this->at(fault));
    EXPECT_TRUE(contains(error, "does not support range requests")) << error.what();
    EXPECT_TRUE(contains(error, "PARABAT_REMOTE_WHOLE"));
    this->change([](RemoteSettings& settings) { settings.max_whole = 64 << 20; });
  }
}

TEST_F(RemoteFiles, servers_without_ranges_from_the_end_are_read)
{
  const RemoteFile file(this->at("nosuffix"));
  this->expect_same(file);
}

TEST_F(RemoteFiles, wrong_ranges_and_encodings_are_refused)
{
  EXPECT_TRUE(contains(open_error(this->at("shift;by=4096")), "instead of the first 65536 bytes"));
  const Error gzip = open_error(this->at("gzip"));
  EXPECT_TRUE(contains(gzip, "Content-Encoding 'gzip'"));
  EXPECT_TRUE(contains(gzip, "turn off compression"));
}

TEST_F(RemoteFiles, a_changed_file_is_an_error_and_can_be_opened_again)
{
  for (const std::string fault : { "changed;after=2", "changed;quiet;after=2" })
  {
    const RemoteFile file(this->at(fault));
    const Error error = error_of([&] { (void)read(file, 1000000, 10); });
    EXPECT_EQ(error.code(), ErrorCode::CannotOpen);
    EXPECT_TRUE(contains(error, "changed on the server since it was opened; reload it"));
    const RemoteFile reloaded(this->at(fault));
    EXPECT_EQ(reloaded.version(), "\"2\"");
    this->expect_same(reloaded);
  }
  EXPECT_EQ(this->server->requests("changed;after=2")[2]["if_match"], "\"1\"");
  const RemoteFile file(this->at("modified"));
  EXPECT_TRUE(contains(
    error_of([&] { (void)read(file, 1000000, 10); }), "changed on the server since it was opened"));
}

TEST_F(RemoteFiles, versions_without_etags_are_dates_and_sizes)
{
  for (const std::string fault : { "noetag", "weak" })
  {
    const RemoteFile file(this->at(fault));
    EXPECT_EQ(
      file.version(), "Tue, 14 Nov 2023 22:13:20 GMT, " + std::to_string(kFileBytes) + " bytes");
    this->expect_same(file);
    EXPECT_EQ(this->server->requests(fault).back()["if_range"], "Tue, 14 Nov 2023 22:13:20 GMT");
  }
  const RemoteFile file(this->at("noversion"));
  EXPECT_EQ(file.version(), "");
  this->expect_same(file);
}

TEST_F(RemoteFiles, queries_without_strong_etags_share_nothing)
{
  const RemoteFile first(this->at("noetag") + "?file=1");
  this->expect_same(first);
  const Counts counts;
  const RemoteFile second(this->at("noetag") + "?file=2");
  this->expect_same(second);
  EXPECT_GE(counts.since().bytes_received, kFileBytes);
}

TEST_F(RemoteFiles, stalls_and_silence_end)
{
  this->change(
    [](RemoteSettings& settings) { settings.stall_timeout = std::chrono::milliseconds(200); });
  for (const std::string fault : { "stall", "silent" })
  {
    const Error error = open_error(this->at(fault));
    EXPECT_EQ(error.code(), ErrorCode::CannotOpen);
    EXPECT_TRUE(contains(error, "no data from http://127.0.0.1")) << error.what();
    const RemoteFile file(this->at(fault + ";after=2;times=1"));
    this->expect_same(file); // by a second attempt
  }
}

TEST_F(RemoteFiles, a_silent_server_is_waited_for_once)
{
  this->change(
    [](RemoteSettings& settings) { settings.stall_timeout = std::chrono::milliseconds(1000); });
  const std::string address = this->at("silent;id=once;times=4");
  EXPECT_EQ(open_error(address).code(), ErrorCode::CannotOpen);
  const auto begin = std::chrono::steady_clock::now();
  const Counts counts;
  const std::optional<Error> again = bat::attempt([&] { const RemoteFile file(address); });
  if (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(100))
  {
    ASSERT_TRUE(again);
    EXPECT_TRUE(contains(*again, "no data from")) << again->what();
    EXPECT_EQ(counts.since().requests, 0U);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  this->expect_same(RemoteFile(address)); // the server speaks again
}

TEST_F(RemoteFiles, waiting_reads_can_be_stopped)
{
  const RemoteFile file(this->at("silent;after=2"));
  file.prefetch({ { 2000000, 100 } });
  int questions = 0;
  {
    const bat::ScopedStop outer([&] { return ++questions == 3; });
    const bat::ScopedStop inner([] { return false; });
    EXPECT_EQ(error_of([&] { (void)read(file, 1000000, 10); }).code(), ErrorCode::Cancelled);
    EXPECT_EQ(questions, 3);
    const bat::ScopedStop now([] { return true; });
    EXPECT_EQ(open_error(this->at("silent")).code(), ErrorCode::Cancelled);
    EXPECT_EQ(read(file, 0, 100), this->local(0, 100)); // does not wait
  }
}

TEST_F(RemoteFiles, a_stop_cancels_only_what_no_other_thread_waits_for)
{
  const RemoteFile file(this->at("pause;ms=400;after=2"));
  std::atomic<bool> is_reading{ false };
  std::vector<char> found;
  std::thread other(
    [&]
    {
      is_reading = true;
      found = read(file, 1000000, 100);
    });
  while (!is_reading || this->server->requests("pause;ms=400;after=2").size() < 3)
  {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  {
    const bat::ScopedStop stop([] { return true; });
    EXPECT_EQ(error_of([&] { (void)read(file, 1000000, 10); }).code(), ErrorCode::Cancelled);
  }
  other.join();
  EXPECT_EQ(found, this->local(1000000, 100));
}

TEST_F(RemoteFiles, redirects_are_followed_and_remembered)
{
  const std::string target = this->server->at("target");
  std::string escaped = target;
  std::replace(escaped.begin(), escaped.end(), '/', '|');
  const RemoteFile file(this->at("redirect;to=" + bat::io::percent_encode(escaped)));
  (void)read(file, 1000000, 10);
  this->expect_same(file);
  EXPECT_EQ(this->server->requests("redirect").size(), 2U);
}

TEST_F(RemoteFiles, an_expired_redirect_is_requested_again)
{
  std::string target = this->server->at("status%3Bcode=403%3Bafter=3%3Btimes=1");
  std::replace(target.begin(), target.end(), '/', '|');
  const RemoteFile file(this->at("redirect;to=" + bat::io::percent_encode(target)));
  EXPECT_EQ(read(file, 1000000, 10), this->local(1000000, 10));
  EXPECT_EQ(read(file, 2000000, 10), this->local(2000000, 10));
  EXPECT_EQ(this->server->requests("redirect").size(), 3U);
  EXPECT_EQ(this->server->requests("status").size(), 5U);
}

TEST_F(RemoteFiles, redirects_are_bounded_and_checked)
{
  const auto to = [&](const std::string& target)
  { return open_error(this->at("redirect;to=" + bat::io::percent_encode(target))); };
  EXPECT_TRUE(contains(to("file:||etc|passwd"), "only http:// and https:// are allowed"));
  EXPECT_TRUE(contains(to("http:||169.254.169.254"), "link-local"));
  EXPECT_TRUE(contains(to("ftp:||u:SECRET@h"), "redirects to ftp://h/data.bin;"));
}

TEST_F(RemoteFiles, ten_redirects_at_most)
{
  // The location is relative: it leads to the same segment again.
  const Error error = open_error(this->at("redirect;to=.", "data.bin"));
  EXPECT_TRUE(contains(error, "at most 10 redirects")) << error.what();
}

TEST_F(RemoteFiles, credentials_reach_only_their_host)
{
  const auto with_user = [&](const std::string& path)
  {
    std::string address = this->server->at(path);
    return address.insert(7, "user:pass%20word@");
  };
  const RemoteFile file(with_user("login/data.bin"));
  this->expect_same(file);
  EXPECT_EQ(file.name(), this->at("login"));
  EXPECT_TRUE(contains(open_error(this->at("login")), "status 401"));
  for (const std::string host : { "127.0.0.1", "localhost" })
  {
    std::string target = this->server->at("at-" + host, host);
    std::replace(target.begin(), target.end(), '/', '|');
    this->expect_same(
      RemoteFile(with_user("redirect;to=" + bat::io::percent_encode(target) + "/data.bin")));
    const auto requests = this->server->requests("at-" + host);
    EXPECT_GE(requests.size(), 3U);
    for (const auto& request : requests)
    {
      EXPECT_EQ(request["authorization"] == "", host == "localhost");
    }
  }
}

TEST_F(RemoteFiles, names_with_blanks_and_escapes_are_found)
{
  const std::string name = "a b%2F\xc3\xa4+#?&.bin";
  write_file(this->folder / name, this->bytes);
  const std::string address = bat::io::resolve_leaf(this->at("plain", "top.bat"), name);
  this->expect_same(RemoteFile(address));
  std::filesystem::create_directory(this->folder / "sub");
  write_file(this->folder / "sub/c d.bin", this->bytes);
  this->expect_same(RemoteFile(this->at("plain", "sub%2Fc d.bin")));
}

TEST_F(RemoteFiles, ipv6_addresses_are_read)
{
  std::unique_ptr<RemoteServer> other;
  try
  {
    other = std::make_unique<RemoteServer>(
      this->folder.path(), std::vector<std::string>{ "--host", "::1" });
  }
  catch (const std::exception&)
  {
    GTEST_SKIP() << "no IPv6";
  }
  this->expect_same(RemoteFile(other->at("plain/data.bin", "[::1]")));
}

TEST_F(RemoteFiles, a_restarted_server_is_found_again)
{
  const int port = this->server->port();
  const RemoteFile file(this->at("plain;id=restart"));
  (void)read(file, 1000000, 10);
  this->server->kill();
  this->change([](RemoteSettings& settings) { settings.max_retries = 1; });
  const Error error = error_of([&] { (void)read(file, 2000000, 10); });
  EXPECT_EQ(error.code(), ErrorCode::CannotOpen);
  EXPECT_TRUE(contains(error, "check that the server is running")) << error.what();
  EXPECT_TRUE(contains(open_error(this->at("plain")), "check that the server is running"));
  this->server = std::make_unique<RemoteServer>(
    this->folder.path(), std::vector<std::string>{ "--port", std::to_string(port) });
  this->expect_same(file);
}

TEST_F(RemoteFiles, many_refused_connections_leave_nothing_behind)
{
  this->change(
    [](RemoteSettings& settings)
    {
      settings.max_retries = 0;
      settings.max_gap = 0;
    });
  const RemoteFile file(this->at("plain;id=refused"));
  this->server->kill();
  const std::size_t before = names_in("/proc/self/fd").size();
  for (std::uint64_t i = 0; i != sanitizers::some_of(5); ++i)
  {
    for (std::uint64_t page = 20; page != 700; ++page)
    {
      file.prefetch({ { page * kPage, 1 } });
    }
    EXPECT_TRUE(bat::attempt([&] { (void)read(file, 100000, 2000000); }));
  }
  EXPECT_LE(names_in("/proc/self/fd").size(), before + 20);
}

TEST_F(RemoteFiles, requests_to_s3_are_signed)
{
  ::setenv("AWS_ENDPOINT_URL", this->server->at("s3").c_str(), 1);
  ::setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", 1);
  ::setenv("AWS_REGION", "eu-test-1", 1);
  const std::string name = "key with blanks, %20+(x)=@~.bin";
  write_file(this->folder / name, this->bytes);
  const RemoteFile file("s3://bucket/" + name);
  EXPECT_EQ(file.name(), "s3://bucket/" + name);
  this->expect_same(file);
  ::setenv("AWS_ENDPOINT_URL", this->server->at("s3;token=1").c_str(), 1);
  const Error expired = open_error("s3://bucket/data.bin");
  EXPECT_TRUE(
    contains(expired, "s3://bucket/data.bin: no permission, or the signature has expired"));
  EXPECT_TRUE(contains(expired, "ExpiredToken"));
  ::setenv("AWS_SESSION_TOKEN", "session-token/with+characters==", 1);
  this->expect_same(RemoteFile("s3://bucket/data.bin"));
  ::setenv("AWS_SECRET_ACCESS_KEY", "another", 1);
  const Error wrong = open_error("s3://bucket/data.bin");
  EXPECT_TRUE(contains(wrong, "SignatureDoesNotMatch"));
  EXPECT_FALSE(contains(wrong, "another"));
}

TEST_F(RemoteFiles, requests_to_s3_without_keys_are_anonymous)
{
  ::setenv("AWS_ENDPOINT_URL_S3", this->server->at("s3public/").c_str(), 1);
  this->expect_same(RemoteFile("s3://bucket/data.bin"));
}

TEST_F(RemoteFiles, https_needs_a_trusted_certificate)
{
  const std::string key = (this->folder / "key.pem").string();
  const std::string certificate = (this->folder / "certificate.pem").string();
  const std::string command =
    "openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=localhost -addext "
    "subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " +
    key + " -out " + certificate + " 2>/dev/null";
  if (std::system(command.c_str()) != 0)
  {
    GTEST_SKIP() << "no openssl program";
  }
  const RemoteServer secure(
    this->folder.path(), std::vector<std::string>{ "--tls", certificate, key });
  const auto at = [&](const std::string& path) { return "https" + secure.at(path).substr(4); };
  ::unsetenv("SSL_CERT_FILE");
  ::unsetenv("CURL_CA_BUNDLE");
  const Error error = open_error(at("plain/data.bin"));
  EXPECT_TRUE(contains(error, "certificate")) << error.what();
  this->change(
    [](RemoteSettings& settings) { settings.connect_timeout = std::chrono::milliseconds(3000); });
  const Error plain = open_error("https" + this->at("plain").substr(4));
  EXPECT_TRUE(contains(plain, "cannot connect to https://127.0.0.1")) << plain.what();
  ::setenv("SSL_CERT_FILE", certificate.c_str(), 1);
  this->expect_same(RemoteFile(at("plain/data.bin")));
  std::string target = this->server->at("plain");
  std::replace(target.begin(), target.end(), '/', '|');
  const Error redirect =
    open_error(at("redirect;to=" + bat::io::percent_encode(target) + "/data.bin"));
  EXPECT_TRUE(contains(redirect, "from https:// to http:// are not followed")) << redirect.what();
  ::unsetenv("SSL_CERT_FILE");
}

// Each child begins without pages in memory.
template <class F>
int in_child(F&& f)
{
  const pid_t child = ::fork();
  if (child == 0)
  {
    int status = 9;
    (void)bat::attempt([&] { status = f(); });
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(RemoteFiles, a_forked_child_reads_the_files_of_its_parent)
{
  if (!sanitizers::kHasThreadsAfterFork)
  {
    GTEST_SKIP() << "ThreadSanitizer allows no threads in a forked child";
  }
  const RemoteFile file(this->at("plain;id=fork"));
  file.prefetch({ { 1000000, 1000000 } });
  EXPECT_EQ(in_child([&] { return read(file, 0, kFileBytes) == this->bytes ? 0 : 1; }), 0);
  this->expect_same(file);
}

class RemoteCache : public RemoteFiles
{
protected:
  RemoteCache()
  {
    this->change([&](RemoteSettings& settings) { settings.cache_folder = this->cache; });
  }

  void SetUp() override
  {
    if (!sanitizers::kHasThreadsAfterFork)
    {
      GTEST_SKIP() << "ThreadSanitizer allows no threads in a forked child";
    }
  }

  /// Reads all of a file in another process. Returns whether the bytes are right and at most
  /// `max_bytes` were received.
  bool reads_in_child(const std::string& address, std::uint64_t max_bytes)
  {
    return in_child(
             [&]
             {
               const RemoteFile file(address);
               if (read(file, 0, kFileBytes) != this->bytes)
               {
                 return 1;
               }
               const bool is_enough = bat::io::remote_statistics().bytes_received <= max_bytes;
               // An answer comes after the pages of those before it were written to the disk.
               (void)open_error(this->at("plain", "none.bin"));
               return is_enough ? 0 : 2;
             }) == 0;
  }
  [[nodiscard]] std::filesystem::path only_file() const
  {
    const std::vector<std::string> names = names_in(this->cache);
    EXPECT_EQ(names.size(), 1U);
    return this->cache / names.at(0);
  }

  std::filesystem::path cache = this->folder / "cache";
};

TEST_F(RemoteCache, a_second_process_receives_only_the_ends)
{
  EXPECT_TRUE(this->reads_in_child(this->at("plain"), kFileBytes + 2 * kPage));
  EXPECT_TRUE(this->reads_in_child(this->at("plain"), kEnds));
  const std::string name = this->only_file().filename().string();
  EXPECT_EQ(name.size(), 32 + 6U);
  EXPECT_TRUE(this->reads_in_child(this->at("changed"), kFileBytes + 2 * kPage));
  EXPECT_EQ(names_in(this->cache).size(), 2U); // another version, another file
}

TEST_F(RemoteCache, two_processes_share_a_folder)
{
  std::vector<pid_t> children;
  for (int i = 0; i != 4; ++i)
  {
    const pid_t child = ::fork();
    if (child == 0)
    {
      int status = 9;
      (void)bat::attempt(
        [&]
        {
          const RemoteFile file(this->at("plain"));
          std::mt19937_64 random(static_cast<unsigned>(i));
          status = 0;
          for (int k = 0; k != 200; ++k)
          {
            const std::uint64_t offset = random() % (kFileBytes - 20000);
            status |= read(file, offset, 20000) != this->local(offset, 20000);
          }
        });
      ::_exit(status);
    }
    children.push_back(child);
  }
  for (const pid_t child : children)
  {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(this->reads_in_child(this->at("plain"), kFileBytes));
  EXPECT_TRUE(this->reads_in_child(this->at("plain"), kEnds));
}

TEST_F(RemoteCache, damaged_pages_are_fetched_again)
{
  EXPECT_TRUE(this->reads_in_child(this->at("plain"), kFileBytes + 2 * kPage));
  const std::filesystem::path path = this->only_file();
  std::vector<char> cached(std::filesystem::file_size(path));
  std::ifstream(path, std::ios::binary)
    .read(cached.data(), static_cast<std::streamsize>(cached.size()));
  for (const std::size_t at : { std::size_t{ 20 }, std::size_t{ 4096 + 8 * 100 },
         std::size_t{ 2 * 4096 + 100 * 4096 + 7 }, cached.size() - 1 })
  {
    std::vector<char> damaged = cached;
    damaged[at] = static_cast<char>(damaged[at] ^ 16);
    write_file(path, damaged);
    // A damaged header costs all pages, other damage one page.
    EXPECT_TRUE(
      this->reads_in_child(this->at("plain"), at == 20 ? kFileBytes + 2 * kPage : kEnds + kPage))
      << at;
    EXPECT_TRUE(this->reads_in_child(this->at("plain"), kEnds));
  }
  for (const std::size_t size :
    { std::size_t{ 0 }, std::size_t{ 100 }, std::size_t{ 5000 }, cached.size() - 5000 })
  {
    write_file(path, { cached.begin(), cached.begin() + static_cast<std::ptrdiff_t>(size) });
    EXPECT_TRUE(this->reads_in_child(this->at("plain"), kFileBytes + 2 * kPage)) << size;
    EXPECT_TRUE(this->reads_in_child(this->at("plain"), kEnds));
  }
}

TEST_F(RemoteCache, a_killed_writer_leaves_no_wrong_page)
{
  std::mt19937_64 random(1);
  for (int i = 0; i != 20; ++i)
  {
    const pid_t child = ::fork();
    if (child == 0)
    {
      (void)bat::attempt(
        [&]
        {
          const RemoteFile file(this->at("plain"));
          for (std::uint64_t offset = 0; offset < kFileBytes; offset += 50000)
          {
            (void)read(file, offset, std::min<std::uint64_t>(50000, kFileBytes - offset));
          }
        });
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 40));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  EXPECT_TRUE(this->reads_in_child(this->at("plain"), kFileBytes + 2 * kPage));
  EXPECT_TRUE(this->reads_in_child(this->at("plain"), kEnds));
}

TEST_F(RemoteCache, the_least_recently_used_files_are_removed)
{
  this->change([](RemoteSettings& settings) { settings.cache_bytes = 8 << 20; });
  std::filesystem::create_directory(this->cache);
  write_file(this->cache / "other.pages", make_bytes(100000)); // not a file of the cache
  for (const char* const segment : { "plain;id=1", "plain;id=2", "plain;id=3", "plain;id=4" })
  {
    EXPECT_TRUE(this->reads_in_child(this->at(segment), kFileBytes + 2 * kPage));
  }
  EXPECT_TRUE(this->reads_in_child(this->at("plain;id=4"), kEnds));
  std::uint64_t total = 0;
  for (const std::string& name : names_in(this->cache))
  {
    total += name == "other.pages" ? 0 : std::filesystem::file_size(this->cache / name);
  }
  EXPECT_LE(total, (8u << 20) + (1u << 20)); // what is written between two trims
  EXPECT_TRUE(std::filesystem::exists(this->cache / "other.pages"));
}

TEST_F(RemoteCache, a_folder_that_cannot_be_used_is_an_error)
{
  write_file(this->folder / "file", {});
  this->change([&](RemoteSettings& settings) { settings.cache_folder = this->folder / "file"; });
  const Error error = open_error(this->at("plain;id=nofolder"));
  EXPECT_TRUE(contains(error, "PARABAT_CACHE")) << error.what();
}

TEST_F(RemoteCache, forgotten_pages_are_fetched_again)
{
  const RemoteFile file(this->at("plain;id=forget"));
  this->expect_same(file);
  file.forget();
  EXPECT_TRUE(names_in(this->cache).empty());
  const Counts counts;
  this->expect_same(file);
  EXPECT_GE(counts.since().bytes_received, kFileBytes);
}
}
