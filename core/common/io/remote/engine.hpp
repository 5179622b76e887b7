// SPDX-License-Identifier: BSD-3-Clause
// Requests and cached pages of all remote files of the process.
//
//   read(), prefetch()       pages that are neither cached nor in flight become requests
//        |
//   queues, one per host     reads before prefetches, each in the order in which they were asked
//   for
//        |
//   the loop's thread        at most max_requests per host in flight; redirects, retries,
//   time-outs; or the reader's threads  for files of a RemoteReader
//        |
//   pages, least recently used first out     and the disk cache, if there is one
//
// While requests wait for their turn, new ones of pages close to theirs extend them: the busier the
// server, the fewer and larger requests it gets.
//
// One mutex guards everything but the transfers, which only the loop's thread touches. The engine
// is never destroyed. The loop starts when a server is asked for the first time. It ends at exit,
// before the TLS library is cleaned up. A forked child has no loop and forgets the engine of its
// parent: remote files stay usable, and its cache begins empty.
#pragma once

#include "bat/error.hpp"
#include "common/io/byte_range.hpp"
#include "common/io/remote/address.hpp"
#include "common/io/remote/disk_pages.hpp"
#include "common/io/remote/response.hpp"
#include "common/io/remote/s3.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace bat::io
{
/// Counts since the start of the process.
struct RemoteStatistics
{
  std::uint64_t requests = 0; ///< HTTP requests, with retries and redirects
  std::uint64_t retries = 0;
  /// Length of the longest chain of requests of which each was made after the answer to the one
  /// before had been waited for.
  std::uint64_t round_trips = 0;
  std::uint64_t bytes_requested = 0; ///< in pages; without retries
  std::uint64_t bytes_received = 0;  ///< of bodies
  std::uint64_t bytes_repeated = 0;  ///< requested again, after they left the memory
  std::uint64_t bytes_from_disk = 0; ///< read from the disk cache
};

class ReaderCall;

/// A remote file and its version, as an engine needs it.
struct RemoteSource
{
  std::string name;       ///< for messages, without secrets
  std::string key;        ///< 32 hexadecimal digits; files with the same key have the same bytes
  bool is_shared = false; ///< whether the key names the bytes for other processes too
  RemoteVersion version;
  bool is_open = false; ///< whether the version is known
  Address object;       ///< the s3 address, if `access` is set
  std::optional<S3Access> access;
  std::shared_ptr<ReaderCall> reader; ///< for an address of a RemoteReader

  /// Whether the key names the bytes for files that this process opens later.
  [[nodiscard]] bool is_kept() const noexcept
  {
    return this->is_shared || (this->reader && this->version.has_strong_etag());
  }

  // Guarded by the mutex of the engine.
  mutable std::optional<Address> found; ///< where the last redirect led
  mutable Address address;              ///< http or https
  mutable std::string region;
};

class ReaderPool;
class RemoteRequest;
struct CachedFile;

class RemoteEngine
{
public:
  /// Starts the engine if necessary. Throws Error: InvalidArgument if a setting is invalid.
  static RemoteEngine& get();
  RemoteEngine(const RemoteEngine&) = delete;
  RemoteEngine& operator=(const RemoteEngine&) = delete;

  using RequestPointer = std::shared_ptr<RemoteRequest>;
  /// Asks for the head or the tail of a file that is being opened.
  [[nodiscard]] RequestPointer ask(
    const std::shared_ptr<const RemoteSource>& source, const Span& span);
  /// Waits for an answer. Throws the error of the request, or Error{Cancelled} if a ScopedStop asks
  /// for it.
  void wait(const RequestPointer& request);
  void cancel(const RequestPointer& request) noexcept;

  /// Adds the bytes of the head or tail of a file to the cache, as far as they fill pages.
  void add(const RemoteSource& source, std::uint64_t offset, const RemoteRequest& request);
  /// Adds a page that another process has read.
  void add_page(const RemoteSource& source, std::uint64_t index,
    std::shared_ptr<const std::vector<std::byte>> page);
  /// Returns a copy for the version that was found.
  [[nodiscard]] RemoteSource copy(const RemoteSource& source);
  /// Throws as wait(). The range is inside the file.
  void read(const std::shared_ptr<const RemoteSource>& source, std::uint64_t offset, void* to,
    std::size_t bytes);
  /// Throws Error: OutOfMemory. Ranges are inside the file.
  void prefetch(
    const std::shared_ptr<const RemoteSource>& source, const std::vector<ByteRange>& ranges);
  /// Returns the pages of these ranges that are neither cached nor in flight. Ranges are inside the
  /// file.
  [[nodiscard]] std::vector<std::uint64_t> find_missing(
    const RemoteSource& source, const std::vector<ByteRange>& ranges);
  /// Removes the pages of a file from memory and disk.
  void forget(const RemoteSource& source) noexcept;
  /// Cancels prefetches of a file that no read waits for.
  void drop_prefetches(const RemoteSource& source) noexcept;

  [[nodiscard]] RemoteStatistics statistics();

private:
  friend class ReaderPool;
  friend class RemoteLoop;
  using Lock = std::unique_lock<std::mutex>;
  using Page = std::shared_ptr<const std::vector<std::byte>>;
  struct CachedPage
  {
    CachedFile* file;
    std::uint64_t index;
    Page data;
    std::uint64_t depth; ///< of the request that brought it
  };
  using PageList = std::list<CachedPage>;
  friend struct CachedFile;

  /// A cached page, or a request with some pages, in the order in which they were found.
  struct Piece
  {
    std::uint64_t offset = 0; ///< of the page
    Page page;
    RequestPointer request;
  };
  struct Host
  {
    std::deque<RequestPointer> reads;
    std::deque<RequestPointer> prefetches;
    std::size_t active = 0;
    bool is_of_reader = false;

    [[nodiscard]] bool is_unused() const
    {
      return this->active == 0 && this->reads.empty() && this->prefetches.empty();
    }
  };
  class Held;

  explicit RemoteEngine(RemoteEngine* previous);
  ~RemoteEngine() = delete;
  void start_loop();
  void expect_reader_request();
  static void forget_parent() noexcept;
  static void stop_at_exit() noexcept;

  CachedFile& file(const RemoteSource& source);
  void collect(CachedFile& file, const std::vector<std::uint64_t>& indices,
    std::vector<Piece>& pieces, std::vector<std::uint64_t>& missing);
  void load(Lock& lock, const RemoteSource& source, std::vector<std::uint64_t>& missing,
    std::vector<Piece>& pieces);
  void request(const std::shared_ptr<const RemoteSource>& source,
    const std::vector<std::uint64_t>& missing, const std::vector<std::uint64_t>& excluded,
    std::vector<Piece>* pieces);
  [[nodiscard]] bool extend_queued(CachedFile& file, std::uint64_t first, std::uint64_t last,
    const std::vector<std::uint64_t>& excluded, std::vector<Piece>* pieces);
  void start(const std::shared_ptr<const RemoteSource>& source, std::uint64_t first,
    std::uint64_t last, std::vector<Piece>& pieces);
  void copy_pieces(
    const std::vector<Piece>& pieces, std::uint64_t offset, std::byte* to, std::size_t bytes);
  void wait_locked(Lock& lock, const RequestPointer& request);
  void release(const RequestPointer& request) noexcept;
  void drop_unwaited(const CachedFile& file) noexcept;
  void enqueue(const RequestPointer& request);
  void promote(const RequestPointer& request);
  void remove_from_queue(const RequestPointer& request) noexcept;
  void forget_in_flight(const RequestPointer& request) noexcept;
  void note_requested(CachedFile& file, std::uint64_t first, std::uint64_t bytes);
  static std::vector<Page> split(
    const RemoteSource& source, std::uint64_t offset, const std::vector<std::byte>& data);
  void insert(CachedFile& file, std::uint64_t index, Page page, std::uint64_t depth);
  static void save(const std::shared_ptr<const DiskPages>& disk, std::uint64_t first,
    const std::vector<Page>& pages);
  void evict() noexcept;
  void complete(Lock& lock, const RequestPointer& request);
  void finish(const RequestPointer& request, const std::optional<Error>& error) noexcept;
  void remove_unused(const std::string& host) noexcept;
  void wake() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Host> hosts_;
  std::map<std::string, std::unique_ptr<CachedFile>> files_;
  PageList pages_; ///< most recently used first
  std::uint64_t page_bytes_ = 0;
  std::uint64_t prefetch_bytes_ = 0; ///< of unfinished prefetches
  std::uint64_t finished_depth_ = 0; ///< of requests that were waited for
  RemoteStatistics statistics_;
  bool has_trimmed_ = false; ///< whether the disk cache was once brought to its size
  std::atomic<bool> is_stopping_{ false };
  std::atomic<void*> multi_{ nullptr }; ///< CURLM, once a server was asked
  std::thread thread_;
  ReaderPool* pool_ = nullptr;       ///< never destroyed
  RemoteEngine* previous_ = nullptr; ///< that of the parent process
};

/// One request. The body is complete when the request is done, and does not change after that.
class RemoteRequest
{
public:
  RemoteRequest(std::shared_ptr<const RemoteSource> from, const Span& bytes)
    : source(std::move(from))
    , span(bytes)
  {
  }

  const std::shared_ptr<const RemoteSource> source;
  Span span; ///< may grow while the request is queued
  std::vector<std::byte> body;
  Response response;
  bool is_whole = false; ///< the body is the whole file

private:
  friend class ReaderPool;
  friend class RemoteEngine;
  friend class RemoteLoop;

  enum class State
  {
    Queued,
    Active, ///< in the loop's hands: in flight, or in a pause before it is sent again
    Done
  };

  // Guarded by the mutex of the engine.
  State state = State::Queued;
  bool is_prefetch = false;
  bool is_cancelled = false;
  int waiters = 0;
  std::uint64_t depth = 0;
  std::string host;                    ///< the queue in which it is or was
  std::optional<ErrorCode> error_code; ///< each waiting thread makes its own Error
  std::string error_text;

  // Used by the loop only.
  Address at;
  bool has_credentials = true;
  bool uses_found = false; ///< whether `at` is where an earlier redirect led
  int redirects = 0;
  int retries = 0;
  int stalls = 0;
  std::chrono::steady_clock::time_point not_before;
};
}
