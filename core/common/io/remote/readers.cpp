// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/readers.hpp"

#include "common/fail.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <unistd.h>
#include <utility>

namespace bat::io
{
namespace
{
struct Entry
{
  std::shared_ptr<ReaderCall> call;
  std::string shown;
};
struct Readers
{
  std::mutex mutex;
  std::map<std::string, Entry, std::less<>> by_host;
  std::uint64_t count = 0;
};

Readers& readers()
{
  static auto* const all = new Readers; // never destroyed: threads may read until the process ends
  return *all;
}
}

RemoteAnswer ReaderCall::operator()(const std::string& path, const RemotePart& part, std::byte* to)
{
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    if (this->is_closed_)
    {
      throw Error(ErrorCode::CannotOpen, "its reader is closed");
    }
    ++this->running_;
  }
  RemoteAnswer answer;
  std::exception_ptr failure;
  try
  {
    answer = call_user([&] { return this->read_(path, part, to); });
  }
  catch (...)
  {
    failure = std::current_exception();
  }
  {
    const std::lock_guard<std::mutex> lock(this->mutex_);
    --this->running_;
  }
  this->ended_.notify_all();
  if (failure)
  {
    std::rethrow_exception(failure);
  }
  return answer;
}

void ReaderCall::close() noexcept
{
  std::unique_lock<std::mutex> lock(this->mutex_);
  this->is_closed_ = true;
  // The threads of its parent do not run in a forked child.
  this->ended_.wait(lock, [&] { return this->running_ == 0 || ::getpid() != this->process_; });
}

std::mutex& readers_mutex()
{
  return readers().mutex;
}

std::string add_reader(std::shared_ptr<ReaderCall> call, std::string shown)
{
  Readers& all = readers();
  const std::lock_guard<std::mutex> lock(all.mutex);
  std::string host = std::to_string(++all.count);
  all.by_host.emplace(host, Entry{ std::move(call), std::move(shown) });
  return host;
}

void remove_reader(const std::string& host) noexcept
{
  Readers& all = readers();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.by_host.erase(host);
}

std::shared_ptr<ReaderCall> find_reader(const std::string& host)
{
  Readers& all = readers();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.by_host.find(host);
  if (found == all.by_host.end())
  {
    fail(ErrorCode::CannotOpen, fmt::format("reader://{}", host),
      "this process has no such reader; such addresses are valid only where they were made");
  }
  return found->second.call;
}

std::string shown_beginning(std::string_view host)
{
  Readers& all = readers();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.by_host.find(host);
  return found == all.by_host.end() ? fmt::format("reader://{}/", host) : found->second.shown;
}
}

namespace bat
{
RemoteReader::RemoteReader(RemoteReadFunction read, std::string shown)
{
  if (!read)
  {
    refuse("a RemoteReader needs a function");
  }
  this->address_ = "reader://" +
    io::add_reader(std::make_shared<io::ReaderCall>(std::move(read)), std::move(shown)) + "/";
}

RemoteReader::~RemoteReader()
{
  const std::string host = this->address_.substr(9, this->address_.size() - 10);
  std::shared_ptr<io::ReaderCall> call;
  (void)attempt([&] { call = io::find_reader(host); });
  io::remove_reader(host);
  if (call)
  {
    call->close();
  }
}
}
