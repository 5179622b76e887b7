// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/remote_file.hpp"

#include "common/fail.hpp"
#include "common/io/remote/curl.hpp"
#include "common/io/remote/read_record.hpp"
#include "common/io/remote/readers.hpp"
#include "common/io/remote/silent_servers.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <optional>
#include <random>
#include <unistd.h>
#include <utility>

namespace bat::io
{
namespace
{
/// Cancels a request if nobody waits for it any more.
class PendingRequest
{
public:
  PendingRequest(const std::shared_ptr<const RemoteSource>& source, const Span& span)
    : request_(RemoteEngine::get().ask(source, span))
  {
  }
  PendingRequest(const PendingRequest&) = delete;
  PendingRequest& operator=(const PendingRequest&) = delete;
  ~PendingRequest() { RemoteEngine::get().cancel(this->request_); }

  const RemoteRequest& wait() const
  {
    RemoteEngine::get().wait(this->request_);
    return *this->request_;
  }

private:
  RemoteEngine::RequestPointer request_;
};

std::shared_ptr<const RemoteSource> make_source(const std::string& text)
{
  const Address parsed = parse_address(text);
  auto source = std::make_shared<RemoteSource>();
  source->name = safe_name(parsed);
  source->address = parsed;
  if (parsed.scheme == Address::Scheme::Reader)
  {
    source->reader = find_reader(parsed.host);
  }
  if (parsed.scheme == Address::Scheme::S3)
  {
    source->object = parsed;
    source->access = read_s3_access();
    source->region = source->access->region;
    source->address = find_s3_object(parsed, *source->access);
  }
  return source;
}

std::string hash_text(const std::string& text)
{
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// A query may select other bytes, and only a strong ETag distinguishes them reliably. The number of
// a reader means nothing in another process.
bool is_shared(const RemoteSource& source)
{
  if (source.reader)
  {
    return false;
  }
  return source.version.has_strong_etag() ||
    (!source.version.identifier().empty() && source.address.query.empty());
}

std::string make_key(const RemoteSource& source)
{
  static std::atomic<std::uint64_t> count{ 0 };
  // Distinguishes processes of all machines, because keys are sent to other ranks.
  static const std::uint64_t random =
    (std::uint64_t{ std::random_device{}() } << 32) | std::random_device{}();
  if (!source.is_kept())
  {
    return hash_text(fmt::format("file {} of process {} {}", ++count, ::getpid(), random));
  }
  std::string place = source.name;
  if (source.access)
  {
    place = source.access->endpoint + "\n" + place;
  }
  else if (source.reader)
  {
    place = format_address(source.address);
  }
  return hash_text(fmt::format("{}\n{}\n{}\n{}", place, source.version.size, source.version.etag,
    source.version.last_modified));
}

RemoteVersion find_version(const RemoteRequest& head)
{
  RemoteVersion version = head.response.version;
  version.size =
    head.is_whole ? head.body.size() : parse_content_range(head.response.content_range)->total;
  return version;
}

// Returns the text that identifies a version.
std::string text_of(const RemoteVersion& version)
{
  return version.identifier().empty() || version.has_strong_etag()
    ? version.identifier()
    : fmt::format("{}, {} bytes", version.last_modified, version.size);
}

// Servers without ranges from the end refuse the tail. It is then read when it is needed.
const RemoteRequest* wait_for_tail(const PendingRequest& pending, const RemoteVersion& version)
{
  const RemoteRequest* tail = nullptr;
  if (const std::optional<Error> error = attempt([&] { tail = &pending.wait(); }))
  {
    if (error->code() == ErrorCode::Cancelled)
    {
      throw Error(*error);
    }
    return nullptr;
  }
  return tail->is_whole || version.differs_from(find_version(*tail)) ? nullptr : tail;
}
}

void RemoteFile::use(const OpenedFile& known)
{
  auto source =
    std::make_shared<RemoteSource>(RemoteEngine::get().copy(*make_source(known.address)));
  source->version = known.version;
  source->is_open = true;
  source->is_shared = known.is_shared;
  source->key = known.key;
  this->source_ = source;
  this->version_ = text_of(known.version);
  this->is_whole_ = known.is_whole;
  this->whole_ = known.whole;
}

RemoteFile::RemoteFile(const OpenedFile& known)
  : address_(known.address)
  , is_for_others_(true)
{
  this->use(known);
}

RemoteFile::RemoteFile(const std::string& address, const RemoteHints& hints)
  : address_(address)
{
  // Answers with headers are not recorded.
  if (const std::shared_ptr<const OpenedFile> known = find_replayed(address);
      known && !hints.keeps_headers)
  {
    this->use(*known);
    return;
  }
  refuse_silent(address);
  const auto begin = std::chrono::steady_clock::now();
  const std::shared_ptr<const RemoteSource> requested = make_source(address);
  RemoteEngine& engine = RemoteEngine::get();
  const PendingRequest pending_head(
    requested, { Part::Head, 0, std::max<std::uint64_t>(hints.head, kPageBytes) });
  std::optional<PendingRequest> pending_tail;
  if (hints.tail != 0)
  {
    pending_tail.emplace(requested, Span{ Part::Tail, 0, hints.tail });
  }
  if (const std::optional<Error> error = attempt([&] { (void)pending_head.wait(); }))
  {
    note_silence(address, begin, *error);
    throw Error(*error);
  }
  const RemoteRequest& head = pending_head.wait();
  const RemoteVersion version = find_version(head);
  const bool has_all = head.body.size() == version.size;
  const RemoteRequest* const tail =
    pending_tail && !has_all ? wait_for_tail(*pending_tail, version) : nullptr;

  auto source = std::make_shared<RemoteSource>(engine.copy(*requested));
  source->version = version;
  source->is_open = true;
  source->is_shared = is_shared(*source);
  source->key = make_key(*source);
  this->source_ = source;
  this->version_ = text_of(version);
  if (hints.keeps_headers)
  {
    this->headers_ = head.response.others;
  }
  if (head.is_whole)
  {
    this->is_whole_ = true;
    this->whole_ = head.body;
  }
  if (is_recording() && !hints.keeps_headers)
  {
    note_opened(
      { address, version, source->key, source->is_shared, this->is_whole_, this->whole_ });
  }
  if (head.is_whole)
  {
    return;
  }
  engine.add(*source, 0, head);
  if (tail)
  {
    engine.add(*source, version.size - tail->body.size(), *tail);
  }
}

RemoteFile::~RemoteFile()
{
  if (this->is_for_others_)
  {
    return;
  }
  (void)attempt([&] { RemoteEngine::get().drop_prefetches(*this->source_); });
  if (!this->source_->is_kept())
  {
    this->forget();
  }
}

std::optional<std::int64_t> RemoteFile::last_modified() const
{
  if (this->source_->version.last_modified.empty())
  {
    return std::nullopt;
  }
  const std::time_t time = curl().getdate(this->source_->version.last_modified.c_str(), nullptr);
  return time < 0 ? std::nullopt : std::optional<std::int64_t>(time);
}

std::string RemoteFile::header(const std::string& name) const
{
  const auto found = std::find_if(this->headers_.begin(), this->headers_.end(),
    [&](const auto& header) { return header.first == name; });
  return found == this->headers_.end() ? std::string() : found->second;
}

void RemoteFile::check_range(std::uint64_t offset, std::size_t bytes) const
{
  if (offset > this->size() || bytes > this->size() - offset)
  {
    fail(ErrorCode::Truncated, this->name(),
      fmt::format(
        "cannot read bytes {} to {}: the file ends at {}", offset, offset + bytes, this->size()));
  }
}

void RemoteFile::read(std::uint64_t offset, void* to, std::size_t bytes) const
{
  this->check_range(offset, bytes);
  if (bytes == 0)
  {
    return;
  }
  if (this->is_whole_)
  {
    std::memcpy(to, this->whole_.data() + offset, bytes);
    return;
  }
  RemoteEngine::get().read(this->source_, offset, to, bytes);
}

void RemoteFile::prefetch(const std::vector<ByteRange>& ranges) const noexcept
{
  if (this->is_whole_)
  {
    return;
  }
  (void)attempt(
    [&]
    {
      std::vector<ByteRange> inside;
      for (const ByteRange& range : ranges)
      {
        if (range.offset < this->size() && range.bytes != 0)
        {
          inside.push_back({ range.offset, std::min(range.bytes, this->size() - range.offset) });
        }
      }
      if (is_holding())
      {
        hold({ this->address_, this->source_->version, this->source_->key, this->source_->is_shared,
               false, {} },
          RemoteEngine::get().find_missing(*this->source_, inside));
        return;
      }
      if (!inside.empty())
      {
        RemoteEngine::get().prefetch(this->source_, inside);
      }
    });
}

void RemoteFile::forget() const noexcept
{
  (void)attempt([&] { RemoteEngine::get().forget(*this->source_); });
}

RemoteStatistics remote_statistics()
{
  return RemoteEngine::get().statistics();
}
}
