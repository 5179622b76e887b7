// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/engine.hpp"

#include "bat/scoped_stop.hpp"
#include "common/fail.hpp"
#include "common/io/remote/curl.hpp"
#include "common/io/remote/read_record.hpp"
#include "common/io/remote/settings.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace bat::io
{
namespace
{
/// How often a waiting read calls its ScopedStop.
constexpr std::chrono::milliseconds kStopInterval(50);
/// Requests grow up to this size while they wait for their turn. Larger ones would make reads of
/// few bytes in them wait.
constexpr std::uint64_t kMaxExtendedBytes = std::uint64_t{ 1 } << 20;
/// Pages that a read plans at a time: those of one window are requested while the window before is
/// waited for.
constexpr std::uint64_t kWindowPages = (std::uint64_t{ 64 } << 20) / kPageBytes;

std::vector<std::uint64_t> page_indices(std::uint64_t first, std::uint64_t last)
{
  std::vector<std::uint64_t> indices;
  indices.reserve(last - first + 1);
  for (std::uint64_t index = first; index <= last; ++index)
  {
    indices.push_back(index);
  }
  return indices;
}

// Returns the pages between consecutive missing ones that are close enough to be merged.
std::vector<std::uint64_t> gap_pages(
  const std::vector<std::uint64_t>& missing, std::uint64_t max_gap)
{
  std::vector<std::uint64_t> gaps;
  for (std::size_t i = 1; i < missing.size(); ++i)
  {
    if ((missing[i] - missing[i - 1] - 1) * kPageBytes <= max_gap)
    {
      for (std::uint64_t index = missing[i - 1] + 1; index != missing[i]; ++index)
      {
        gaps.push_back(index);
      }
    }
  }
  return gaps;
}
}

/// What the process has of one version of a remote file.
struct CachedFile
{
  std::string key;
  bool is_shared = false;
  std::uint64_t size = 0;
  std::unordered_map<std::uint64_t, RemoteEngine::PageList::iterator> pages;
  std::map<std::uint64_t, RemoteEngine::RequestPointer> in_flight; ///< by page
  std::unordered_map<std::uint64_t, std::uint64_t> requested;      ///< 64 pages per word
  std::shared_ptr<const DiskPages> disk;

  [[nodiscard]] bool is_known(std::uint64_t index) const
  {
    return this->pages.count(index) != 0 || this->in_flight.count(index) != 0;
  }
  /// Returns whether a page may be fetched to fill a gap. `excluded` is sorted.
  [[nodiscard]] bool may_fetch(
    std::uint64_t index, const std::vector<std::uint64_t>& excluded) const
  {
    return !this->is_known(index) && !std::binary_search(excluded.begin(), excluded.end(), index);
  }
};

namespace
{
void note(const CachedFile& file, std::uint64_t index,
  const std::shared_ptr<const std::vector<std::byte>>& page)
{
  if (is_recording())
  {
    note_page(file.key, file.is_shared, file.size, index, page);
  }
}
}

/// Pieces that a read needs. Releases their requests, however the read ends.
class RemoteEngine::Held
{
public:
  explicit Held(RemoteEngine& engine)
    : engine_(engine)
  {
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held()
  {
    const std::lock_guard<std::mutex> lock(this->engine_.mutex_);
    for (const Piece& piece : this->pieces)
    {
      if (piece.request)
      {
        this->engine_.release(piece.request);
      }
    }
  }

  std::vector<Piece> pieces;

private:
  RemoteEngine& engine_;
};

RemoteEngine::RemoteEngine(RemoteEngine* previous)
  : previous_(previous)
{
}

void RemoteEngine::wake() noexcept
{
  if (void* const multi = this->multi_.load())
  {
    (void)curl().multi_wakeup(static_cast<CURLM*>(multi));
  }
}

CachedFile& RemoteEngine::file(const RemoteSource& source)
{
  std::unique_ptr<CachedFile>& known = this->files_[source.key];
  if (!known)
  {
    auto file = std::make_unique<CachedFile>();
    file->key = source.key;
    file->is_shared = source.is_shared;
    file->size = source.version.size;
    known = std::move(file);
  }
  // The folder may be chosen after the file was first opened.
  const RemoteSettings& settings = remote_settings();
  if (!known->disk && source.is_shared && !settings.cache_folder.empty())
  {
    known->disk = std::make_shared<DiskPages>(
      settings.cache_folder, settings.cache_bytes, source.key, source.version.size);
    if (!std::exchange(this->has_trimmed_, true))
    {
      DiskPages::trim(settings.cache_folder, settings.cache_bytes);
    }
  }
  return *known;
}

RemoteEngine::RequestPointer RemoteEngine::ask(
  const std::shared_ptr<const RemoteSource>& source, const Span& span)
{
  auto request = std::make_shared<RemoteRequest>(source, span);
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    request->waiters = 1;
    this->enqueue(request);
  }
  this->wake();
  return request;
}

void RemoteEngine::enqueue(const RequestPointer& request)
{
  if (this->is_stopping_)
  {
    fail(ErrorCode::Cancelled, request->source->name, "cannot be read while the process exits");
  }
  request->depth = this->finished_depth_ + 1;
  request->host = origin_of(request->source->found.value_or(request->source->address));
  Host& host = this->hosts_[request->host];
  host.is_of_reader = request->source->reader != nullptr;
  if (host.is_of_reader)
  {
    this->expect_reader_request();
  }
  else if (const auto error = attempt([&] { this->start_loop(); }))
  {
    fail(error->code(), request->source->name, error->what());
  }
  (request->is_prefetch ? host.prefetches : host.reads).push_back(request);
}

void RemoteEngine::remove_unused(const std::string& host) noexcept
{
  const auto found = this->hosts_.find(host);
  if (found != this->hosts_.end() && found->second.is_unused())
  {
    this->hosts_.erase(found);
  }
}

void RemoteEngine::promote(const RequestPointer& request)
{
  if (!request->is_prefetch)
  {
    return;
  }
  this->prefetch_bytes_ -= request->span.count;
  request->is_prefetch = false;
  if (request->state == RemoteRequest::State::Queued)
  {
    Host& host = this->hosts_[request->host];
    const auto at = std::find(host.prefetches.begin(), host.prefetches.end(), request);
    host.reads.push_back(request);
    host.prefetches.erase(at);
  }
}

void RemoteEngine::remove_from_queue(const RequestPointer& request) noexcept
{
  const auto found = this->hosts_.find(request->host);
  if (found == this->hosts_.end())
  {
    return;
  }
  for (std::deque<RequestPointer>* queue : { &found->second.reads, &found->second.prefetches })
  {
    queue->erase(std::remove(queue->begin(), queue->end(), request), queue->end());
  }
}

void RemoteEngine::cancel(const RequestPointer& request) noexcept
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  this->release(request);
}

// A request that nobody waits for any more is cancelled, unless it is a prefetch.
void RemoteEngine::release(const RequestPointer& request) noexcept
{
  if (--request->waiters > 0 || request->state == RemoteRequest::State::Done ||
    request->is_prefetch)
  {
    return;
  }
  if (request->state == RemoteRequest::State::Queued)
  {
    this->remove_from_queue(request);
    this->finish(request, Error(ErrorCode::Cancelled, request->source->name + ": cancelled"));
    return;
  }
  request->is_cancelled = true;
  this->forget_in_flight(request); // so that no other read joins it
  this->wake();
}

void RemoteEngine::drop_unwaited(const CachedFile& file) noexcept
{
  std::set<RequestPointer> unwaited;
  for (const auto& [index, request] : file.in_flight)
  {
    if (request->waiters == 0)
    {
      unwaited.insert(request);
    }
  }
  for (const RequestPointer& request : unwaited)
  {
    ++request->waiters;
    this->promote(request);
    this->release(request);
  }
}

void RemoteEngine::wait(const RequestPointer& request)
{
  Lock lock(this->mutex_);
  this->wait_locked(lock, request);
}

void RemoteEngine::wait_locked(Lock& lock, const RequestPointer& request)
{
  while (request->state != RemoteRequest::State::Done)
  {
    if (!ScopedStop::exists())
    {
      this->changed_.wait(lock);
      continue;
    }
    lock.unlock();
    const bool is_stopped = ScopedStop::is_requested();
    lock.lock();
    if (is_stopped && request->state != RemoteRequest::State::Done)
    {
      const auto file = this->files_.find(request->source->key);
      if (file != this->files_.end())
      {
        this->drop_unwaited(*file->second); // prefetches for what is stopped
      }
      fail(ErrorCode::Cancelled, request->source->name, "cancelled");
    }
    if (request->state != RemoteRequest::State::Done)
    {
      this->changed_.wait_for(lock, kStopInterval);
    }
  }
  this->finished_depth_ = std::max(this->finished_depth_, request->depth);
  if (request->error_code)
  {
    throw Error(*request->error_code, request->error_text);
  }
}

void RemoteEngine::collect(CachedFile& file, const std::vector<std::uint64_t>& indices,
  std::vector<Piece>& pieces, std::vector<std::uint64_t>& missing)
{
  for (const std::uint64_t index : indices)
  {
    if (const auto cached = file.pages.find(index); cached != file.pages.end())
    {
      this->pages_.splice(this->pages_.begin(), this->pages_, cached->second);
      pieces.push_back({ index * kPageBytes, cached->second->data, nullptr });
      note(file, index, cached->second->data);
      this->finished_depth_ = std::max(this->finished_depth_, cached->second->depth);
    }
    else if (const auto found = file.in_flight.find(index); found != file.in_flight.end())
    {
      if (pieces.empty() || pieces.back().request != found->second)
      {
        this->promote(found->second);
        pieces.push_back({ 0, nullptr, found->second });
        ++found->second->waiters;
      }
    }
    else
    {
      missing.push_back(index);
    }
  }
}

// Reads pages from the disk without the lock.
void RemoteEngine::load(Lock& lock, const RemoteSource& source, std::vector<std::uint64_t>& missing,
  std::vector<Piece>& pieces)
{
  const std::shared_ptr<const DiskPages> disk = this->file(source).disk;
  if (!disk || missing.empty())
  {
    return;
  }
  lock.unlock();
  const std::vector<DiskPages::Page> loaded = disk->load(missing);
  lock.lock();
  CachedFile& file = this->file(source);
  std::vector<std::uint64_t> absent;
  auto next = loaded.begin();
  for (const std::uint64_t index : missing)
  {
    if (next == loaded.end() || next->index != index)
    {
      absent.push_back(index);
      continue;
    }
    this->statistics_.bytes_from_disk += next->data->size();
    pieces.push_back({ index * kPageBytes, next->data, nullptr });
    this->insert(file, index, next->data, 0);
    ++next;
  }
  // Other threads may have requested for these in the meantime.
  missing.clear();
  this->collect(file, absent, pieces, missing);
}

void RemoteEngine::request(const std::shared_ptr<const RemoteSource>& source,
  const std::vector<std::uint64_t>& missing, const std::vector<std::uint64_t>& excluded,
  std::vector<Piece>* pieces)
{
  const RemoteSettings& settings = remote_settings();
  CachedFile& file = this->file(*source);
  const auto may_extend = [&](std::uint64_t begin, std::uint64_t last, std::uint64_t next)
  {
    if ((next - last - 1) * kPageBytes > settings.max_gap ||
      (next + 1 - begin) * kPageBytes > std::max<std::uint64_t>(settings.max_request, kPageBytes))
    {
      return false;
    }
    for (std::uint64_t index = last + 1; index != next; ++index)
    {
      if (!file.may_fetch(index, excluded))
      {
        return false;
      }
    }
    return true;
  };
  for (std::size_t i = 0; i != missing.size();)
  {
    const std::uint64_t begin = missing[i];
    std::uint64_t last = begin;
    for (++i; i != missing.size() && may_extend(begin, last, missing[i]); ++i)
    {
      last = missing[i];
    }
    if (this->extend_queued(file, begin, last, excluded, pieces))
    {
      continue;
    }
    const std::uint64_t offset = begin * kPageBytes;
    const std::uint64_t bytes = std::min((last + 1) * kPageBytes, source->version.size) - offset;
    if (!pieces && this->prefetch_bytes_ + bytes > settings.memory / 2)
    {
      return; // more would displace what has been prefetched before it is read
    }
    auto made = std::make_shared<RemoteRequest>(source, Span{ Part::Range, offset, bytes });
    made->is_prefetch = !pieces;
    if (pieces)
    {
      pieces->push_back({ 0, nullptr, made });
    }
    this->enqueue(made);
    for (std::uint64_t index = begin; index <= last; ++index)
    {
      file.in_flight[index] = made;
    }
    this->note_requested(file, offset, bytes);
    if (pieces)
    {
      ++made->waiters;
    }
    else
    {
      this->prefetch_bytes_ += bytes;
    }
  }
}

// Adds the pages, and those between, to a request close to them that was not sent yet. Returns
// false if there is none.
bool RemoteEngine::extend_queued(CachedFile& file, std::uint64_t first, std::uint64_t last,
  const std::vector<std::uint64_t>& excluded, std::vector<Piece>* pieces)
{
  const RemoteSettings& settings = remote_settings();
  const auto extend = [&](const RequestPointer& queued, std::uint64_t begin, std::uint64_t end)
  {
    const std::uint64_t old_begin = queued->span.first / kPageBytes;
    const std::uint64_t old_end = (queued->span.first + queued->span.count - 1) / kPageBytes + 1;
    const std::uint64_t pages = std::max(end, old_end) - std::min(begin, old_begin);
    const std::uint64_t gap = (end - begin) - (last + 1 - first);
    if (queued->state != RemoteRequest::State::Queued || queued->span.part != Part::Range ||
      gap * kPageBytes > settings.max_gap ||
      pages * kPageBytes > std::min(settings.max_request, kMaxExtendedBytes))
    {
      return false;
    }
    for (std::uint64_t index = begin; index != end; ++index)
    {
      if ((index < first || index > last) && !file.may_fetch(index, excluded))
      {
        return false;
      }
    }
    const std::uint64_t offset = begin * kPageBytes;
    const std::uint64_t bytes = std::min(end * kPageBytes, file.size) - offset;
    if (queued->is_prefetch && !pieces && this->prefetch_bytes_ + bytes > settings.memory / 2)
    {
      return false;
    }
    queued->span.first = std::min(queued->span.first, offset);
    queued->span.count += bytes;
    this->prefetch_bytes_ += queued->is_prefetch ? bytes : 0;
    for (std::uint64_t index = begin; index != end; ++index)
    {
      file.in_flight[index] = queued;
    }
    this->note_requested(file, offset, bytes);
    if (pieces)
    {
      this->promote(queued);
      pieces->push_back({ 0, nullptr, queued });
      ++queued->waiters;
    }
    return true;
  };
  const auto after = file.in_flight.upper_bound(last);
  if (after != file.in_flight.begin())
  {
    const auto& [index, request] = *std::prev(after);
    if (extend(RequestPointer(request), index + 1, last + 1))
    {
      return true;
    }
  }
  return after != file.in_flight.end() &&
    extend(RequestPointer(after->second), first, after->first);
}

void RemoteEngine::note_requested(CachedFile& file, std::uint64_t first, std::uint64_t bytes)
{
  const std::uint64_t end = first + bytes;
  for (std::uint64_t index = first / kPageBytes; index * kPageBytes < end; ++index)
  {
    std::uint64_t& word = file.requested[index / 64];
    const std::uint64_t bit = std::uint64_t{ 1 } << (index % 64);
    if ((word & bit) != 0)
    {
      const std::uint64_t begin = std::max(first, index * kPageBytes);
      this->statistics_.bytes_repeated += std::min(end, (index + 1) * kPageBytes) - begin;
    }
    word |= bit;
  }
  this->statistics_.bytes_requested += bytes;
}

void RemoteEngine::start(const std::shared_ptr<const RemoteSource>& source, std::uint64_t first,
  std::uint64_t last, std::vector<Piece>& pieces)
{
  std::vector<std::uint64_t> missing;
  Lock lock(this->mutex_);
  this->collect(this->file(*source), page_indices(first, last), pieces, missing);
  this->load(lock, *source, missing, pieces);
  if (!missing.empty())
  {
    this->request(source, missing, {}, &pieces);
    this->wake();
  }
}

void RemoteEngine::copy_pieces(
  const std::vector<Piece>& pieces, std::uint64_t offset, std::byte* to, std::size_t bytes)
{
  const auto copy_part = [&](std::uint64_t begin, const std::vector<std::byte>& data)
  {
    const std::uint64_t first = std::max(begin, offset);
    const std::uint64_t end = std::min<std::uint64_t>(begin + data.size(), offset + bytes);
    if (first < end)
    {
      std::memcpy(to + (first - offset), data.data() + (first - begin), end - first);
    }
  };
  for (const Piece& piece : pieces)
  {
    if (piece.request)
    {
      this->wait(piece.request);
      copy_part(piece.request->span.first, piece.request->body);
    }
    else
    {
      copy_part(piece.offset, *piece.page);
    }
  }
}

void RemoteEngine::read(const std::shared_ptr<const RemoteSource>& source, std::uint64_t offset,
  void* to, std::size_t bytes)
{
  if (bytes == 0)
  {
    return;
  }
  const std::uint64_t first = offset / kPageBytes;
  const std::uint64_t last = (offset + bytes - 1) / kPageBytes;
  const auto window_end = [&](std::uint64_t begin)
  { return std::min(last, begin + kWindowPages - 1); };
  auto current = std::make_unique<Held>(*this);
  this->start(source, first, window_end(first), current->pieces);
  for (std::uint64_t begin = first; begin <= last; begin += kWindowPages)
  {
    auto next = std::make_unique<Held>(*this);
    if (const std::uint64_t next_begin = window_end(begin) + 1; next_begin <= last)
    {
      this->start(source, next_begin, window_end(next_begin), next->pieces);
    }
    this->copy_pieces(current->pieces, offset, static_cast<std::byte*>(to), bytes);
    current = std::move(next);
  }
}

namespace
{
std::set<std::uint64_t> pages_of(const std::vector<ByteRange>& ranges)
{
  std::set<std::uint64_t> indices;
  for (const ByteRange& range : ranges)
  {
    const std::uint64_t end = range.offset + range.bytes;
    for (std::uint64_t index = range.offset / kPageBytes; index * kPageBytes < end; ++index)
    {
      indices.insert(index);
    }
  }
  return indices;
}

std::vector<std::uint64_t> missing_pages(
  const CachedFile& file, const std::set<std::uint64_t>& indices)
{
  std::vector<std::uint64_t> missing;
  std::copy_if(indices.begin(), indices.end(), std::back_inserter(missing),
    [&](std::uint64_t index) { return !file.is_known(index); });
  return missing;
}
}

std::vector<std::uint64_t> RemoteEngine::find_missing(
  const RemoteSource& source, const std::vector<ByteRange>& ranges)
{
  const std::set<std::uint64_t> indices = pages_of(ranges);
  std::vector<std::uint64_t> missing;
  std::shared_ptr<const DiskPages> disk;
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    missing = missing_pages(this->file(source), indices);
    disk = this->file(source).disk;
  }
  if (disk && !missing.empty())
  {
    const std::vector<std::uint64_t> on_disk = disk->find(missing);
    std::vector<std::uint64_t> absent;
    std::set_difference(
      missing.begin(), missing.end(), on_disk.begin(), on_disk.end(), std::back_inserter(absent));
    return absent;
  }
  return missing;
}

void RemoteEngine::prefetch(
  const std::shared_ptr<const RemoteSource>& source, const std::vector<ByteRange>& ranges)
{
  std::set<std::uint64_t> indices = pages_of(ranges);
  Lock lock(this->mutex_);
  std::vector<std::uint64_t> missing = missing_pages(this->file(*source), indices);
  std::vector<std::uint64_t> excluded;
  if (const std::shared_ptr<const DiskPages> disk = this->file(*source).disk;
      disk && !missing.empty())
  {
    lock.unlock();
    for (const std::uint64_t index : disk->find(missing))
    {
      indices.erase(index);
    }
    excluded = disk->find(gap_pages(missing, remote_settings().max_gap));
    lock.lock();
    missing = missing_pages(this->file(*source), indices);
  }
  if (!missing.empty())
  {
    this->request(source, missing, excluded, nullptr);
    this->wake();
  }
}

RemoteSource RemoteEngine::copy(const RemoteSource& source)
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  return source;
}

std::vector<RemoteEngine::Page> RemoteEngine::split(
  const RemoteSource& source, std::uint64_t offset, const std::vector<std::byte>& data)
{
  std::vector<Page> pages;
  const std::uint64_t end = offset + data.size();
  for (std::uint64_t begin = (offset + kPageBytes - 1) / kPageBytes * kPageBytes;
       begin < source.version.size; begin += kPageBytes)
  {
    const std::uint64_t page_end = std::min(begin + kPageBytes, source.version.size);
    if (page_end > end)
    {
      break;
    }
    pages.push_back(std::make_shared<const std::vector<std::byte>>(
      data.data() + (begin - offset), data.data() + (page_end - offset)));
  }
  return pages;
}

void RemoteEngine::add(
  const RemoteSource& source, std::uint64_t offset, const RemoteRequest& request)
{
  const std::vector<Page> pages = split(source, offset, request.body);
  const std::uint64_t first = (offset + kPageBytes - 1) / kPageBytes;
  std::shared_ptr<const DiskPages> disk;
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    CachedFile& file = this->file(source);
    disk = file.disk;
    // A page that the tail begins in is incomplete, and does not count.
    const std::uint64_t skipped =
      std::min<std::uint64_t>(first * kPageBytes - offset, request.body.size());
    this->note_requested(file, first * kPageBytes, request.body.size() - skipped);
    this->statistics_.bytes_requested += skipped;
    for (std::size_t i = 0; i != pages.size(); ++i)
    {
      this->insert(file, first + i, pages[i], request.depth);
    }
  }
  this->save(disk, first, pages);
}

void RemoteEngine::add_page(const RemoteSource& source, std::uint64_t index, Page page)
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  this->insert(this->file(source), index, std::move(page), 0);
}

// `disk` is that of the moment at which the pages came: what is forgotten since is not stored.
void RemoteEngine::save(
  const std::shared_ptr<const DiskPages>& disk, std::uint64_t first, const std::vector<Page>& pages)
{
  if (!disk || pages.empty())
  {
    return;
  }
  std::vector<std::byte> bytes;
  bytes.reserve(pages.size() * kPageBytes);
  for (const Page& page : pages)
  {
    bytes.insert(bytes.end(), page->begin(), page->end());
  }
  disk->store(first, bytes.data(), bytes.size());
}

void RemoteEngine::insert(CachedFile& file, std::uint64_t index, Page page, std::uint64_t depth)
{
  note(file, index, page);
  if (file.pages.count(index) != 0)
  {
    return;
  }
  this->page_bytes_ += page->size();
  this->pages_.push_front({ &file, index, std::move(page), depth });
  file.pages.emplace(index, this->pages_.begin());
  this->evict();
}

void RemoteEngine::evict() noexcept
{
  const std::uint64_t budget = remote_settings().memory;
  while (this->page_bytes_ > budget && !this->pages_.empty())
  {
    const CachedPage& oldest = this->pages_.back();
    this->page_bytes_ -= oldest.data->size();
    oldest.file->pages.erase(oldest.index);
    this->pages_.pop_back();
  }
}

void RemoteEngine::drop_prefetches(const RemoteSource& source) noexcept
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  const auto file = this->files_.find(source.key);
  if (file != this->files_.end())
  {
    this->drop_unwaited(*file->second);
  }
}

void RemoteEngine::forget(const RemoteSource& source) noexcept
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  const auto found = this->files_.find(source.key);
  if (found == this->files_.end())
  {
    return;
  }
  CachedFile& file = *found->second;
  for (const auto& [index, page] : file.pages)
  {
    this->page_bytes_ -= page->data->size();
    this->pages_.erase(page);
  }
  file.pages.clear();
  if (file.disk)
  {
    file.disk->erase();
    file.disk.reset(); // file() makes another one
  }
}

// Adds the bytes of an answer to the cache. Called with the lock, returns without it.
void RemoteEngine::complete(Lock& lock, const RequestPointer& request)
{
  const std::uint64_t first = request->span.first / kPageBytes;
  std::vector<Page> pages;
  if (request->span.part == Part::Range)
  {
    lock.unlock();
    pages = split(*request->source, request->span.first, request->body);
    lock.lock();
  }
  for (std::size_t i = 0; i != pages.size(); ++i)
  {
    this->insert(this->file(*request->source), first + i, pages[i], request->depth);
  }
  const std::shared_ptr<const DiskPages> disk =
    pages.empty() ? nullptr : this->file(*request->source).disk;
  this->finish(request, std::nullopt);
  lock.unlock();
  if (!pages.empty())
  {
    this->save(disk, first, pages);
  }
}

// Called with the lock.
void RemoteEngine::finish(const RequestPointer& request, const std::optional<Error>& error) noexcept
{
  request->state = RemoteRequest::State::Done;
  if (error)
  {
    request->error_code = error->code();
    // Without memory for the text, the code remains.
    (void)attempt([&] { request->error_text = error->what(); });
  }
  if (request->is_prefetch)
  {
    this->prefetch_bytes_ -= request->span.count;
    request->is_prefetch = false;
  }
  this->forget_in_flight(request);
  this->changed_.notify_all();
}

void RemoteEngine::forget_in_flight(const RequestPointer& request) noexcept
{
  const auto found = this->files_.find(request->source->key);
  if (request->span.part != Part::Range || found == this->files_.end())
  {
    return;
  }
  CachedFile& file = *found->second;
  const std::uint64_t end = request->span.first + request->span.count;
  for (std::uint64_t index = request->span.first / kPageBytes; index * kPageBytes < end; ++index)
  {
    const auto pending = file.in_flight.find(index);
    if (pending != file.in_flight.end() && pending->second == request)
    {
      file.in_flight.erase(pending);
    }
  }
}

RemoteStatistics RemoteEngine::statistics()
{
  const std::lock_guard<std::mutex> lock(this->mutex_);
  RemoteStatistics statistics = this->statistics_;
  statistics.round_trips = this->finished_depth_;
  return statistics;
}
}
