// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/loop.hpp"

#include "common/fail.hpp"
#include "common/io/remote/retry.hpp"
#include "common/io/remote/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <iterator>
#include <new>
#include <utility>

namespace bat::io
{
namespace
{
constexpr int kMaxRedirects = 10;
/// A stalled connection may be a dead one that was kept; a second stall is a fault of the server.
constexpr int kMaxStalls = 1;
constexpr std::size_t kMaxDetailBytes = 4096;
constexpr long kReceiveBufferBytes = 256 * 1024;
constexpr long kMaxKeptConnections = 64;
constexpr std::chrono::milliseconds kMaxPoll(60000);

struct SlistDeleter
{
  void operator()(curl_slist* list) const noexcept { curl().slist_free_all(list); }
};

bool is_link_local(const Address& address)
{
  return address.host.rfind("169.254.", 0) == 0 || address.host.rfind("[fe80:", 0) == 0;
}

const char* find_variable(const char* first, const char* second)
{
  for (const char* const name : { first, second })
  {
    const char* const value = name ? std::getenv(name) : nullptr;
    if (value && *value)
    {
      return value;
    }
  }
  return nullptr;
}

int close_on_exec(void*, curl_socket_t socket, curlsocktype)
{
  (void)::fcntl(socket, F_SETFD, FD_CLOEXEC);
  return CURL_SOCKOPT_OK;
}

std::string seconds(std::chrono::milliseconds time)
{
  return fmt::format("{} s", static_cast<double>(time.count()) / 1000);
}

template <class T>
void set(CURL* easy, CURLoption option, T value)
{
  const CURLcode code = curl().easy_setopt(easy, option, value);
  if (code == CURLE_OUT_OF_MEMORY)
  {
    throw std::bad_alloc();
  }
  if (code != CURLE_OK)
  {
    throw Error(ErrorCode::Internal,
      fmt::format("libcurl refuses its option {}: {}; this is a bug, please report it",
        static_cast<int>(option), curl().easy_strerror(code)));
  }
}
}

namespace
{
// The option depends on the version of the library, which may be older than that of the headers.
void allow_protocols(CURL* easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
  static const bool has_names = curl().version_info(CURLVERSION_FIRST)->version_num >= 0x075500;
  if (has_names)
  {
    set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    return;
  }
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  set(easy, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#pragma GCC diagnostic pop
}
}

struct RemoteLoop::Transfer
{
  RequestPointer request;
  CURL* easy = nullptr;
  std::unique_ptr<curl_slist, SlistDeleter> headers;
  std::optional<BodyUse> use; ///< once the body has begun
  std::string detail;
  std::uint64_t body_bytes = 0;
  std::uint64_t max_whole = 0;
  Clock::time_point last_progress;
  std::chrono::milliseconds stall_timeout{};
  std::array<char, CURL_ERROR_SIZE> error{};

  void add_header(const std::string& line)
  {
    curl_slist* const list = curl().slist_append(this->headers.get(), line.c_str());
    if (!list)
    {
      throw std::bad_alloc();
    }
    (void)this->headers.release();
    this->headers.reset(list);
  }
};

RemoteLoop::RemoteLoop(RemoteEngine& engine)
  : engine_(engine)
{
}

// Handles in flight stay with libcurl: to clean them up may mean to wait for a name server.
RemoteLoop::~RemoteLoop()
{
  for (CURL* const easy : this->idle_)
  {
    curl().easy_cleanup(easy);
  }
}

CURLM* RemoteLoop::make_multi()
{
  // Never undone: other code of the process may use libcurl.
  CURLM* const multi =
    curl().global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl().multi_init() : nullptr;
  if (!multi)
  {
    throw Error(ErrorCode::OutOfMemory, "libcurl cannot start");
  }
  (void)curl().multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  (void)curl().multi_setopt(multi, CURLMOPT_MAXCONNECTS, kMaxKeptConnections);
  return multi;
}

std::thread RemoteLoop::start(RemoteEngine& engine)
{
  return start_thread([&engine] { RemoteLoop(engine).run(); });
}

void RemoteLoop::run()
{
  auto* const multi = static_cast<CURLM*>(this->engine_.multi_);
  while (!this->engine_.is_stopping_)
  {
    std::vector<RequestPointer> requests;
    if (attempt([&] { this->take_requests(requests); }))
    {
      std::this_thread::sleep_for(std::chrono::milliseconds(10)); // no memory
    }
    for (const RequestPointer& request : requests)
    {
      if (const std::optional<Error> error = attempt([&] { this->begin(request); }))
      {
        {
          const RemoteEngine::Lock lock(this->engine_.mutex_);
          --this->engine_.hosts_[request->host].active;
        }
        this->fail_request(request, *error);
        this->has_ended_ = true;
      }
    }
    int running = 0;
    (void)curl().multi_perform(multi, &running);
    this->receive();
    this->check_active();
    (void)curl().multi_poll(multi, nullptr, 0, this->poll_timeout(), nullptr);
  }
}

// Requests that have waited for a retry or a redirect come before those that were never sent.
void RemoteLoop::take_requests(std::vector<RequestPointer>& requests)
{
  const std::size_t max_requests = remote_settings().max_requests;
  const Clock::time_point now = Clock::now();
  const RemoteEngine::Lock lock(this->engine_.mutex_);
  for (auto paused = this->paused_.begin(); paused != this->paused_.end();)
  {
    const RequestPointer request = *paused;
    if (request->is_cancelled)
    {
      this->engine_.finish(
        request, Error(ErrorCode::Cancelled, request->source->name + ": cancelled"));
    }
    else if (request->not_before <= now)
    {
      RemoteEngine::Host& host = this->engine_.hosts_[request->host];
      (request->is_prefetch ? host.prefetches : host.reads).push_front(request);
      request->state = RemoteRequest::State::Queued;
    }
    else
    {
      ++paused;
      continue;
    }
    paused = this->paused_.erase(paused);
  }
  for (auto& [name, host] : this->engine_.hosts_)
  {
    if (host.is_of_reader)
    {
      continue;
    }
    for (std::deque<RequestPointer>* queue : { &host.reads, &host.prefetches })
    {
      while (host.active < max_requests && !queue->empty())
      {
        requests.push_back(queue->front());
        queue->pop_front();
        requests.back()->state = RemoteRequest::State::Active;
        ++host.active;
      }
    }
  }
  for (auto host = this->engine_.hosts_.begin(); host != this->engine_.hosts_.end();)
  {
    host = host->second.is_unused() ? this->engine_.hosts_.erase(host) : std::next(host);
  }
}

void RemoteLoop::begin(const RequestPointer& request)
{
  auto transfer = std::make_unique<Transfer>();
  transfer->request = request;
  if (request->redirects == 0)
  {
    const RemoteEngine::Lock lock(this->engine_.mutex_);
    request->uses_found = request->source->found.has_value();
    request->at = request->source->found.value_or(request->source->address);
    request->has_credentials = origin_of(request->at) == origin_of(request->source->address);
  }
  request->body.clear();
  request->response = Response();
  const RemoteSettings& settings = remote_settings();
  transfer->max_whole = settings.max_whole;
  transfer->stall_timeout = settings.stall_timeout;
  transfer->last_progress = Clock::now();
  this->active_.reserve(this->active_.size() + 1);
  this->idle_.reserve(this->active_.size() + this->idle_.size() + 1); // end() must not fail
  if (this->idle_.empty())
  {
    transfer->easy = curl().easy_init();
    if (!transfer->easy)
    {
      throw std::bad_alloc();
    }
  }
  else
  {
    transfer->easy = this->idle_.back();
    this->idle_.pop_back();
  }
  const std::optional<Error> error = attempt([&] { this->set_options(*transfer); });
  if (error ||
    curl().multi_add_handle(static_cast<CURLM*>(this->engine_.multi_), transfer->easy) != CURLM_OK)
  {
    this->idle_.push_back(transfer->easy);
    throw Error(error.value_or(Error(ErrorCode::OutOfMemory, "libcurl cannot add a request")));
  }
  this->active_.push_back(std::move(transfer));
  const RemoteEngine::Lock lock(this->engine_.mutex_);
  ++this->engine_.statistics_.requests;
}

void RemoteLoop::set_options(Transfer& transfer)
{
  const RemoteRequest& request = *transfer.request;
  CURL* const easy = transfer.easy;
  curl().easy_reset(easy);
  Address address = request.at;
  address.user_info.clear();
  set(easy, CURLOPT_URL, format_address(address).c_str());
  set(easy, CURLOPT_ERRORBUFFER, transfer.error.data());
  set(easy, CURLOPT_NOSIGNAL, 1L);
  allow_protocols(easy);
  set(easy, CURLOPT_USERAGENT, "ParaBAT");
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  if (address.scheme == Address::Scheme::Https)
  {
    set(easy, CURLOPT_PIPEWAIT, 1L); // one connection if the server has HTTP/2
  }
  if (request.source->access)
  {
    set(easy, CURLOPT_PATH_AS_IS, 1L); // ".." is a part of the key
  }
  set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  set(easy, CURLOPT_SOCKOPTFUNCTION, &close_on_exec);
  // Refused for a handle that still has its buffer, as after a stream of HTTP/2.
  (void)curl().easy_setopt(easy, CURLOPT_BUFFERSIZE, kReceiveBufferBytes);
  set(
    easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(remote_settings().connect_timeout.count()));
  set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  // Not a header of ours: a signature would include it, and proxies change it.
  set(easy, CURLOPT_ACCEPT_ENCODING, "identity");
  set(easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
  if (const char* const file = find_variable("CURL_CA_BUNDLE", "SSL_CERT_FILE"))
  {
    set(easy, CURLOPT_CAINFO, file);
  }
  const Span& span = request.span;
  const std::string range = span.part == Part::Tail
    ? fmt::format("-{}", span.count)
    : fmt::format("{}-{}", span.first, span.first + span.count - 1);
  set(easy, CURLOPT_RANGE, range.c_str());
  if (request.source->is_open && !request.source->version.identifier().empty())
  {
    const RemoteVersion& version = request.source->version;
    transfer.add_header(version.has_strong_etag() ? "If-Match: " + version.etag
                                                  : "If-Range: " + version.last_modified);
  }
  if (request.has_credentials)
  {
    this->set_credentials(transfer);
  }
  set(easy, CURLOPT_HTTPHEADER, transfer.headers.get());
  set(easy, CURLOPT_HEADERFUNCTION, &RemoteLoop::receive_header);
  set(easy, CURLOPT_HEADERDATA, &transfer);
  set(easy, CURLOPT_WRITEFUNCTION, &RemoteLoop::receive_body);
  set(easy, CURLOPT_WRITEDATA, &transfer);
}

void RemoteLoop::set_credentials(Transfer& transfer)
{
  CURL* const easy = transfer.easy;
  const RemoteSource& source = *transfer.request->source;
  if (source.access)
  {
    if (source.access->key_id.empty())
    {
      return;
    }
    std::string region;
    {
      const RemoteEngine::Lock lock(this->engine_.mutex_);
      region = source.region;
    }
    set(easy, CURLOPT_AWS_SIGV4, fmt::format("aws:amz:{}:s3", region).c_str());
    set(easy, CURLOPT_USERNAME, source.access->key_id.c_str());
    set(easy, CURLOPT_PASSWORD, source.access->secret.c_str());
    transfer.add_header("x-amz-content-sha256: UNSIGNED-PAYLOAD");
    if (!source.access->token.empty())
    {
      transfer.add_header("x-amz-security-token: " + source.access->token);
    }
    return;
  }
  const std::string& user_info = source.address.user_info;
  if (!user_info.empty())
  {
    const std::size_t colon = std::min(user_info.find(':'), user_info.size());
    set(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    set(easy, CURLOPT_USERNAME, percent_decode(user_info.substr(0, colon)).c_str());
    set(easy, CURLOPT_PASSWORD,
      percent_decode(colon == user_info.size() ? "" : user_info.substr(colon + 1)).c_str());
    return;
  }
  set(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
}

std::size_t RemoteLoop::receive_header(char* data, std::size_t size, std::size_t count, void* to)
{
  auto& transfer = *static_cast<Transfer*>(to);
  transfer.last_progress = Clock::now();
  const bool failed = attempt(
    [&] {
      transfer.request->response.add_line({ data, size * count });
    }).has_value();
  return failed ? 0 : size * count;
}

std::size_t RemoteLoop::receive_body(char* data, std::size_t size, std::size_t count, void* to)
{
  auto& transfer = *static_cast<Transfer*>(to);
  RemoteRequest& request = *transfer.request;
  const std::size_t bytes = size * count;
  transfer.last_progress = Clock::now();
  if (!transfer.use)
  {
    transfer.use = classify_body(request.response, request.span, transfer.max_whole);
  }
  if (*transfer.use == BodyUse::Refuse)
  {
    return 0;
  }
  const bool failed = attempt(
    [&]
    {
      if (*transfer.use == BodyUse::Detail)
      {
        transfer.detail.append(data, std::min(bytes, kMaxDetailBytes - transfer.detail.size()));
        return;
      }
      transfer.body_bytes += bytes;
      const std::uint64_t expected = request.response.status == 206
        ? request.span.count
        : request.response.content_length.value_or(transfer.max_whole);
      if (transfer.body_bytes <= expected)
      {
        if (request.body.empty() && request.response.content_length)
        {
          request.body.reserve(std::min(*request.response.content_length, expected));
        }
        const auto* const from = reinterpret_cast<const std::byte*>(data);
        request.body.insert(request.body.end(), from, from + bytes);
      }
    }).has_value();
  // A server that sends more than it announced is cut off.
  const bool is_too_long =
    *transfer.use == BodyUse::Keep && transfer.body_bytes > request.body.size();
  return failed || is_too_long ? 0 : bytes;
}

void RemoteLoop::receive()
{
  auto* const multi = static_cast<CURLM*>(this->engine_.multi_);
  int queued = 0;
  while (const CURLMsg* const message = curl().multi_info_read(multi, &queued))
  {
    if (message->msg != CURLMSG_DONE)
    {
      continue;
    }
    const CURLcode code = message->data.result; // the message is invalid after the handle's removal
    CURL* const easy = message->easy_handle;
    const auto found = std::find_if(this->active_.begin(), this->active_.end(),
      [&](const std::unique_ptr<Transfer>& transfer) { return transfer->easy == easy; });
    if (found != this->active_.end())
    {
      std::unique_ptr<Transfer> transfer = std::move(*found);
      this->active_.erase(found);
      this->end(std::move(transfer), code, End::Answered);
    }
  }
}

void RemoteLoop::check_active()
{
  std::vector<bool> is_cancelled;
  {
    const RemoteEngine::Lock lock(this->engine_.mutex_);
    for (const std::unique_ptr<Transfer>& transfer : this->active_)
    {
      is_cancelled.push_back(transfer->request->is_cancelled);
    }
  }
  const Clock::time_point now = Clock::now();
  for (std::size_t i = is_cancelled.size(); i-- != 0;)
  {
    const bool is_stalled = now - this->active_[i]->last_progress > this->active_[i]->stall_timeout;
    if (is_cancelled[i] || is_stalled)
    {
      std::unique_ptr<Transfer> transfer = std::move(this->active_[i]);
      this->active_.erase(this->active_.begin() + static_cast<std::ptrdiff_t>(i));
      this->end(std::move(transfer), CURLE_OK, is_cancelled[i] ? End::Cancelled : End::Stalled);
    }
  }
}

int RemoteLoop::poll_timeout()
{
  if (std::exchange(this->has_ended_, false))
  {
    return 0; // a queued request may take the place of the one that ended
  }
  Clock::time_point next = Clock::now() + kMaxPoll;
  for (const RequestPointer& request : this->paused_)
  {
    next = std::min(next, request->not_before);
  }
  for (const std::unique_ptr<Transfer>& transfer : this->active_)
  {
    next = std::min(next, transfer->last_progress + transfer->stall_timeout);
  }
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(time.count() + 1, 0));
}

void RemoteLoop::end(std::unique_ptr<Transfer> transfer, CURLcode code, End end)
{
  const RequestPointer request = transfer->request;
  this->has_ended_ = true;
  {
    const RemoteEngine::Lock lock(this->engine_.mutex_);
    --this->engine_.hosts_[request->host].active;
    this->engine_.statistics_.bytes_received += transfer->body_bytes;
  }
  if (const std::optional<Error> error = attempt([&] { this->evaluate(*transfer, code, end); }))
  {
    this->fail_request(request, *error);
  }
  (void)curl().multi_remove_handle(static_cast<CURLM*>(this->engine_.multi_), transfer->easy);
  curl().easy_reset(transfer->easy);
  this->idle_.push_back(transfer->easy);
}

void RemoteLoop::evaluate(Transfer& transfer, CURLcode code, End end)
{
  const RequestPointer& request = transfer.request;
  if (end == End::Cancelled)
  {
    this->fail_request(request, Error(ErrorCode::Cancelled, "cancelled"));
    return;
  }
  const Response& response = request->response;
  const RemoteVersion* const known = request->source->is_open ? &request->source->version : nullptr;
  const bool is_answer = end == End::Answered && response.status != 0 &&
    (code == CURLE_OK || code == CURLE_WRITE_ERROR || code == CURLE_PARTIAL_FILE);
  if (is_answer &&
    (this->change_region(transfer) || this->follow(transfer) || this->return_to_origin(transfer)))
  {
    return;
  }
  const Verdict verdict = is_answer ? judge(response, request->span, known, transfer.max_whole,
                                        transfer.body_bytes, transfer.detail)
                                    : judge_failure(transfer, code, end);
  if (verdict.outcome == Outcome::Done)
  {
    request->is_whole = verdict.is_whole;
    this->complete(transfer);
    return;
  }
  const RemoteSettings& settings = remote_settings();
  const bool may_retry = verdict.outcome == Outcome::Retry &&
    request->retries < settings.max_retries &&
    (end != End::Stalled || request->stalls++ < kMaxStalls);
  if (may_retry)
  {
    std::chrono::milliseconds pause = retry_pause(request->retries);
    if (const auto requested = parse_retry_after(response.retry_after, std::time(nullptr));
        requested && is_answer)
    {
      pause = std::max(pause, std::min(*requested, settings.max_pause));
    }
    ++request->retries;
    request->redirects = 0;
    this->send_again(request, pause);
    const RemoteEngine::Lock lock(this->engine_.mutex_);
    ++this->engine_.statistics_.retries;
    return;
  }
  this->fail_request(request, Error(verdict.code, verdict.text + attempts_text(request->retries)));
}

// Returns false if the answer is not a redirect.
bool RemoteLoop::follow(Transfer& transfer)
{
  const RequestPointer& request = transfer.request;
  const char* location = nullptr;
  const int status = request->response.status;
  if (status < 301 || status > 308 ||
    curl().easy_getinfo(transfer.easy, CURLINFO_REDIRECT_URL, &location) != CURLE_OK || !location)
  {
    return false;
  }
  const std::string shown = safe_name(std::string_view(location));
  const Address next = is_address(location) ? parse_address(location) : Address();
  std::string fault;
  if (next.host.empty() || next.scheme == Address::Scheme::S3 ||
    next.scheme == Address::Scheme::Reader)
  {
    fault = "; only http:// and https:// are allowed";
  }
  else if (request->at.scheme == Address::Scheme::Https && next.scheme == Address::Scheme::Http)
  {
    fault = ", which is not encrypted; redirects from https:// to http:// are not followed";
  }
  else if (is_link_local(next) && !is_link_local(request->source->address))
  {
    fault = "; redirects to link-local addresses are not followed";
  }
  else if (++request->redirects > kMaxRedirects)
  {
    fault = fmt::format("; at most {} redirects are followed", kMaxRedirects);
  }
  if (!fault.empty())
  {
    this->fail_request(
      request, Error(ErrorCode::CannotOpen, "the server redirects to " + shown + fault));
    return true;
  }
  request->at = next;
  request->at.user_info.clear();
  request->has_credentials =
    request->has_credentials && origin_of(request->at) == origin_of(request->source->address);
  this->send_again(request, std::chrono::milliseconds(0));
  return true;
}

// The region of a bucket at AWS is known only after the first answer.
bool RemoteLoop::change_region(Transfer& transfer)
{
  const RequestPointer& request = transfer.request;
  const RemoteSource& source = *request->source;
  const Response& response = request->response;
  if (!source.access || !source.access->endpoint.empty() || response.bucket_region.empty() ||
    response.status < 300)
  {
    return false;
  }
  S3Access access = *source.access;
  access.region = response.bucket_region;
  Address address = find_s3_object(source.object, access);
  {
    const RemoteEngine::Lock lock(this->engine_.mutex_);
    if (request->at.host == address.host || ++request->redirects > kMaxRedirects)
    {
      return false;
    }
    source.region = access.region;
    source.address = address;
    source.found.reset();
  }
  request->at = std::move(address);
  request->has_credentials = true;
  this->send_again(request, std::chrono::milliseconds(0));
  return true;
}

// The target of an earlier redirect may have expired.
bool RemoteLoop::return_to_origin(Transfer& transfer)
{
  const RequestPointer& request = transfer.request;
  const int status = request->response.status;
  if (!request->uses_found || request->redirects != 0 ||
    (status != 401 && status != 403 && status != 404 && status != 410))
  {
    return false;
  }
  {
    const RemoteEngine::Lock lock(this->engine_.mutex_);
    request->source->found.reset();
  }
  this->send_again(request, std::chrono::milliseconds(0));
  return true;
}

Verdict RemoteLoop::judge_failure(const Transfer& transfer, CURLcode code, End end)
{
  const RemoteRequest& request = *transfer.request;
  const std::string host = origin_of(request.at);
  const char* const reason =
    transfer.error[0] != '\0' ? transfer.error.data() : curl().easy_strerror(code);
  Verdict verdict;
  verdict.outcome = Outcome::Retry;
  if (end == End::Stalled)
  {
    verdict.text =
      fmt::format("no data from {} for {}; check the network, or raise PARABAT_REMOTE_TIMEOUT",
        host, seconds(transfer.stall_timeout));
    return verdict;
  }
  switch (code)
  {
    case CURLE_COULDNT_RESOLVE_HOST:
      verdict.text =
        fmt::format("cannot find the host of {}; check the address and the network", host);
      break;
    case CURLE_COULDNT_CONNECT: // libcurl's reason adds only how long it took
      verdict.text = fmt::format("cannot connect to {}; check that the server is running", host);
      break;
    case CURLE_SSL_CONNECT_ERROR:
      verdict.text =
        fmt::format("cannot connect to {}: {}; check that the server speaks https", host, reason);
      break;
    case CURLE_OPERATION_TIMEDOUT:
      verdict.text = fmt::format("cannot connect to {} within {}; check the network", host,
        seconds(remote_settings().connect_timeout));
      break;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      verdict.text = fmt::format(
        "the certificate of {} is not trusted: {}; CURL_CA_BUNDLE or SSL_CERT_FILE can name a file "
        "with trusted certificates",
        host, reason);
      verdict.outcome = Outcome::Fail;
      return verdict;
    case CURLE_OUT_OF_MEMORY:
      verdict.text = "out of memory";
      verdict.code = ErrorCode::OutOfMemory;
      verdict.outcome = Outcome::Fail;
      return verdict;
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      verdict.text = fmt::format("the connection to {} was lost: {}", host, reason);
      return verdict;
    default:
      verdict.text = fmt::format("the request to {} failed: {}", host, reason);
      verdict.outcome = Outcome::Fail;
      return verdict;
  }
  // A server that never answered is more likely mistyped than busy.
  if (!request.source->is_open)
  {
    verdict.outcome = Outcome::Fail;
  }
  return verdict;
}

void RemoteLoop::send_again(const RequestPointer& request, std::chrono::milliseconds pause)
{
  request->not_before = Clock::now() + pause;
  const RemoteEngine::Lock lock(this->engine_.mutex_);
  if (request->redirects != 0)
  {
    request->host = origin_of(request->at);
  }
  else
  {
    request->host = origin_of(request->source->found.value_or(request->source->address));
  }
  this->paused_.push_back(request);
}

void RemoteLoop::complete(Transfer& transfer)
{
  const RequestPointer& request = transfer.request;
  RemoteEngine::Lock lock(this->engine_.mutex_);
  if (request->redirects != 0)
  {
    request->source->found = request->at;
  }
  this->engine_.complete(lock, request);
}

void RemoteLoop::fail_request(const RequestPointer& request, const Error& error)
{
  const RemoteEngine::Lock lock(this->engine_.mutex_);
  this->engine_.finish(request, Error(error.code(), request->source->name + ": " + error.what()));
}
}
