// SPDX-License-Identifier: BSD-3-Clause
// The thread that sends the requests of an engine: redirects, credentials, retries and time-outs.
#pragma once

#include "common/io/remote/curl.hpp"
#include "common/io/remote/engine.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace bat::io
{
/// Lives in its thread. Takes queued requests, and finishes each of them exactly once.
class RemoteLoop
{
public:
  /// Throws Error{OutOfMemory} if libcurl cannot start.
  [[nodiscard]] static CURLM* make_multi();
  [[nodiscard]] static std::thread start(RemoteEngine& engine);

  RemoteLoop(const RemoteLoop&) = delete;
  RemoteLoop& operator=(const RemoteLoop&) = delete;

private:
  using Clock = std::chrono::steady_clock;
  using RequestPointer = RemoteEngine::RequestPointer;
  struct Transfer;
  enum class End
  {
    Answered, ///< or failed, as libcurl's code says
    Stalled,
    Cancelled
  };

  explicit RemoteLoop(RemoteEngine& engine);
  ~RemoteLoop();
  void run();
  void take_requests(std::vector<RequestPointer>& requests);
  void begin(const RequestPointer& request);
  void set_options(Transfer& transfer);
  void set_credentials(Transfer& transfer);
  void receive();
  void check_active();
  [[nodiscard]] int poll_timeout();
  void end(std::unique_ptr<Transfer> transfer, CURLcode code, End end);
  void evaluate(Transfer& transfer, CURLcode code, End end);
  bool follow(Transfer& transfer);
  bool change_region(Transfer& transfer);
  bool return_to_origin(Transfer& transfer);
  [[nodiscard]] static Verdict judge_failure(const Transfer& transfer, CURLcode code, End end);
  void send_again(const RequestPointer& request, std::chrono::milliseconds pause);
  void complete(Transfer& transfer);
  void fail_request(const RequestPointer& request, const Error& error);

  static std::size_t receive_header(char* data, std::size_t size, std::size_t count, void* to);
  static std::size_t receive_body(char* data, std::size_t size, std::size_t count, void* to);

  RemoteEngine& engine_;
  std::vector<std::unique_ptr<Transfer>> active_;
  std::vector<RequestPointer> paused_;
  bool has_ended_ = false;  ///< whether a request ended since the queues were checked
  std::vector<CURL*> idle_; ///< handles to be used again
};
}
