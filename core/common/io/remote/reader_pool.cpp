// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/reader_pool.hpp"

#include "common/fail.hpp"
#include "common/io/remote/readers.hpp"
#include "common/io/remote/retry.hpp"
#include "common/io/remote/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace bat::io
{
namespace
{
constexpr std::chrono::seconds kMaxIdle(5);

// The path of an address, as a RemoteReadFunction gets it.
std::string path_of(const Address& address)
{
  return address.path.substr(1) + (address.query.empty() ? "" : "?" + address.query);
}

// Says in the terms of HTTP what a reader returned, so that one function judges all answers.
Response as_response(const RemoteAnswer& answer, const Span& span)
{
  Response response;
  response.version.etag = answer.version.empty() ? "" : "\"" + answer.version + "\"";
  if (answer.size == 0)
  {
    response.status = 416;
    response.content_range = "bytes */0";
    return response;
  }
  const std::uint64_t first = span.part == Part::Tail ? answer.size - answer.bytes : span.first;
  response.status = 206;
  response.content_range =
    fmt::format("bytes {}-{}/{}", first, first + answer.bytes - 1, answer.size);
  return response;
}
}

void ReaderPool::expect_request()
{
  std::size_t queued = 1;
  std::size_t hosts = 0;
  for (const auto& [name, host] : this->engine_.hosts_)
  {
    if (host.is_of_reader)
    {
      queued += host.reads.size() + host.prefetches.size();
      ++hosts;
    }
  }
  if (this->idle_ < queued && this->threads_ < remote_settings().max_requests * hosts)
  {
    const std::optional<Error> error =
      attempt([&] { start_thread([this] { this->run(); }).detach(); });
    if (!error)
    {
      ++this->threads_;
    }
    else if (this->threads_ == 0)
    {
      throw Error(*error);
    }
  }
  this->work_.notify_one();
}

ReaderPool::RequestPointer ReaderPool::take()
{
  for (auto& [name, host] : this->engine_.hosts_)
  {
    if (!host.is_of_reader || host.active >= remote_settings().max_requests)
    {
      continue;
    }
    for (std::deque<RequestPointer>* queue : { &host.reads, &host.prefetches })
    {
      if (!queue->empty())
      {
        RequestPointer request = std::move(queue->front());
        queue->pop_front();
        request->state = RemoteRequest::State::Active;
        ++host.active;
        return request;
      }
    }
  }
  return nullptr;
}

void ReaderPool::run()
{
  Lock lock(this->engine_.mutex_);
  bool has_waited = false;
  while (!this->engine_.is_stopping_)
  {
    const RequestPointer request = this->take();
    if (request)
    {
      this->answer(lock, request);
    }
    else if (has_waited) // a request that came at the last moment was looked for
    {
      break;
    }
    has_waited = false;
    if (!request)
    {
      ++this->idle_;
      has_waited = this->work_.wait_for(lock, kMaxIdle) == std::cv_status::timeout;
      --this->idle_;
    }
  }
  --this->threads_;
}

void ReaderPool::answer(Lock& lock, const RequestPointer& request)
{
  std::optional<Error> failure;
  for (;;)
  {
    if (request->is_cancelled || this->engine_.is_stopping_)
    {
      failure = Error(ErrorCode::Cancelled, "cancelled");
      break;
    }
    lock.unlock();
    Verdict verdict;
    failure = attempt([&] { verdict = this->call(*request); });
    lock.lock();
    ++this->engine_.statistics_.requests;
    this->engine_.statistics_.bytes_received += request->body.size();
    if (failure || verdict.outcome == Outcome::Done)
    {
      request->is_whole = verdict.is_whole;
      break;
    }
    if (verdict.outcome == Outcome::Fail || request->retries >= remote_settings().max_retries)
    {
      failure = Error(verdict.code, verdict.text + attempts_text(request->retries));
      break;
    }
    if (this->pause(lock, request))
    {
      ++request->retries;
      ++this->engine_.statistics_.retries;
    }
  }
  --this->engine_.hosts_[request->host].active;
  this->engine_.remove_unused(request->host);
  if (failure)
  {
    this->engine_.finish(
      request, Error(failure->code(), request->source->name + ": " + failure->what()));
    return;
  }
  const std::optional<Error> error = attempt([&] { this->engine_.complete(lock, request); });
  if (!lock.owns_lock())
  {
    lock.lock();
  }
  if (error && request->state != RemoteRequest::State::Done)
  {
    this->engine_.finish(request, error);
  }
}

Verdict ReaderPool::call(RemoteRequest& request)
{
  const Span& span = request.span;
  const bool is_tail = span.part == Part::Tail;
  request.body.resize(span.count);
  RemoteAnswer answer;
  try
  {
    answer = (*request.source->reader)(path_of(request.source->address),
      { is_tail ? 0 : span.first, span.count, is_tail }, request.body.data());
  }
  catch (const PassingError& error)
  {
    request.body.clear();
    return { Outcome::Retry, error.code(), error.what() };
  }
  request.response = as_response(answer, span);
  request.body.resize(std::min(answer.bytes, request.body.size()));
  const RemoteVersion* const known = request.source->is_open ? &request.source->version : nullptr;
  const std::uint64_t first = is_tail ? 0 : std::min(span.first, answer.size);
  const std::uint64_t expected = std::min(span.count, answer.size - first);
  if (answer.bytes < expected && (!known || known->size == answer.size))
  {
    return { Outcome::Retry, ErrorCode::CannotOpen,
      fmt::format("the store sent {} bytes instead of {}", answer.bytes, expected) };
  }
  return judge(request.response, span, known, remote_settings().max_whole, answer.bytes, "");
}

// Returns false if the request is cancelled before it should be sent again.
bool ReaderPool::pause(Lock& lock, const RequestPointer& request)
{
  const auto until = std::chrono::steady_clock::now() + retry_pause(request->retries);
  while (!request->is_cancelled && !this->engine_.is_stopping_)
  {
    if (this->engine_.changed_.wait_until(lock, until) == std::cv_status::timeout)
    {
      return true;
    }
  }
  return false;
}
}
