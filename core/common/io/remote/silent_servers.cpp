// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/silent_servers.hpp"

#include "common/io/remote/settings.hpp"

#include <iterator>
#include <map>
#include <mutex>

namespace bat::io
{
namespace
{
using Clock = std::chrono::steady_clock;

struct Silence
{
  Clock::time_point end;
  Error error;
};
struct Silences
{
  std::mutex mutex;
  std::map<std::string, Silence> by_address;
};

Silences& silences()
{
  static auto* const all = new Silences; // threads may open files until the process ends
  return *all;
}

// How long a silence is remembered.
Clock::duration memory()
{
  return remote_settings().stall_timeout / 10;
}
}

void refuse_silent(const std::string& address)
{
  Silences& all = silences();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.by_address.find(address);
  if (found == all.by_address.end())
  {
    return;
  }
  if (Clock::now() - found->second.end < memory())
  {
    throw Error(found->second.error);
  }
  all.by_address.erase(found);
}

void note_silence(const std::string& address, Clock::time_point begin, const Error& error)
{
  const Clock::time_point now = Clock::now();
  if (error.code() != ErrorCode::CannotOpen || now - begin < remote_settings().stall_timeout)
  {
    return;
  }
  Silences& all = silences();
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (auto one = all.by_address.begin(); one != all.by_address.end();)
  {
    one = now - one->second.end < memory() ? std::next(one) : all.by_address.erase(one);
  }
  all.by_address.insert_or_assign(address, Silence{ now, error });
}
}
