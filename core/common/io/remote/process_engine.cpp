// SPDX-License-Identifier: BSD-3-Clause
// The engine of the process: starts it, ends it at exit, and replaces it in a forked child.
#include "common/io/remote/engine.hpp"
#include "common/io/remote/loop.hpp"
#include "common/io/remote/read_record.hpp"
#include "common/io/remote/reader_pool.hpp"
#include "common/io/remote/readers.hpp"
#include "common/io/remote/settings.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <pthread.h>

namespace bat::io
{
namespace
{
std::atomic<RemoteEngine*> current_engine{ nullptr };
RemoteEngine* parent_engine = nullptr;
std::mutex starting;

// What a forked child may need, so that no other thread holds it when the child begins.
void lock_all()
{
  starting.lock();
  known_reads().mutex.lock();
  readers_mutex().lock();
}

void unlock_all()
{
  readers_mutex().unlock();
  known_reads().mutex.unlock();
  starting.unlock();
}
}

RemoteEngine& RemoteEngine::get()
{
  RemoteEngine* engine = current_engine.load(std::memory_order_acquire);
  if (engine)
  {
    return *engine;
  }
  (void)remote_settings(); // an invalid variable must not leave half an engine
  const std::lock_guard<std::mutex> lock(starting);
  engine = current_engine.load(std::memory_order_acquire);
  if (engine)
  {
    return *engine;
  }
  engine = new RemoteEngine(parent_engine);
  engine->pool_ = new ReaderPool(*engine);
  static const bool is_registered = std::atexit(&RemoteEngine::stop_at_exit) == 0 &&
    ::pthread_atfork(&lock_all, &unlock_all,
      []
      {
        unlock_all();
        RemoteEngine::forget_parent();
      }) == 0;
  (void)is_registered;
  current_engine.store(engine, std::memory_order_release);
  return *engine;
}

void RemoteEngine::expect_reader_request()
{
  this->pool_->expect_request();
}

void RemoteEngine::start_loop()
{
  if (this->multi_.load())
  {
    return;
  }
  const std::lock_guard<std::mutex> lock(starting);
  if (this->multi_.load() || this->is_stopping_)
  {
    return;
  }
  void* const multi = RemoteLoop::make_multi();
  // libcurl is initialized by now. Its TLS library cleans up after a function that is registered
  // later has run.
  static const bool is_registered = std::atexit(&RemoteEngine::stop_at_exit) == 0;
  (void)is_registered;
  this->multi_ = multi;
  if (const auto error = attempt([&] { this->thread_ = RemoteLoop::start(*this); }))
  {
    this->multi_ = nullptr;
    throw Error(*error);
  }
}

void RemoteEngine::forget_parent() noexcept
{
  if (RemoteEngine* const engine = current_engine.exchange(nullptr))
  {
    parent_engine = engine;
  }
}

void RemoteEngine::stop_at_exit() noexcept
{
  RemoteEngine* const engine = current_engine.load(std::memory_order_acquire);
  if (engine && !engine->is_stopping_.exchange(true))
  {
    engine->wake();
    engine->pool_->stop();
    if (engine->thread_.joinable())
    {
      engine->thread_.join();
    }
  }
}
}
