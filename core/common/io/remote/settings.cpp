// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/settings.hpp"

#include "bat/remote_options.hpp"
#include "common/fail.hpp"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>

namespace bat::io
{
namespace
{
constexpr std::uint64_t kMinMemory = 1 << 20;
constexpr std::uint64_t kMaxGap = 8 << 20;

/// Settings that were replaced stay valid for callers that still hold a reference.
struct Node
{
  RemoteSettings settings;
  const Node* previous = nullptr;
};

std::atomic<const Node*>& newest()
{
  static std::atomic<const Node*> node{ nullptr };
  return node;
}

std::optional<std::string> read_variable(const char* name)
{
  const char* const value = std::getenv(name);
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

std::optional<double> parse_number(std::string_view text)
{
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_valid =
    error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value >= 0;
  return is_valid ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text)
{
  constexpr std::string_view kUnits = "KMGT";
  double unit = 1;
  if (!text.empty())
  {
    const char last = text.back() >= 'a' ? static_cast<char>(text.back() - 'a' + 'A') : text.back();
    if (const std::size_t at = kUnits.find(last); at != std::string_view::npos)
    {
      unit = std::ldexp(1.0, 10 * (static_cast<int>(at) + 1));
      text.remove_suffix(1);
    }
  }
  const std::optional<double> number = parse_number(text);
  if (!number || *number * unit >= 9.0e18)
  {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*number * unit);
}

void read_bytes(const char* name, std::uint64_t lower, std::uint64_t upper, std::uint64_t& value)
{
  const std::optional<std::string> text = read_variable(name);
  if (!text)
  {
    return;
  }
  value = parse_byte_size(*text, name);
  if (value < lower || value > upper)
  {
    refuse(name, fmt::format("'{}' is out of range; allowed: {} to {} bytes", *text, lower, upper));
  }
}

template <class T>
void read_count(const char* name, double lower, double upper, T& value)
{
  const std::optional<std::string> text = read_variable(name);
  if (!text)
  {
    return;
  }
  const std::optional<double> number = parse_number(*text);
  if (!number || *number < lower || *number > upper || *number != std::floor(*number))
  {
    refuse(name,
      fmt::format("'{}' is invalid; allowed: whole numbers from {} to {}", *text, lower, upper));
  }
  value = static_cast<T>(*number);
}

void read_cache(RemoteSettings& settings)
{
  const std::optional<std::string> text = read_variable("PARABAT_CACHE");
  if (!text)
  {
    return;
  }
  std::string folder = *text;
  const std::size_t colon = folder.rfind(':');
  if (colon != std::string::npos && colon != 0 && folder.find('/', colon) == std::string::npos)
  {
    settings.cache_bytes = parse_byte_size(folder.substr(colon + 1), "PARABAT_CACHE");
    folder.resize(colon);
  }
  std::error_code unknown;
  settings.cache_folder = std::filesystem::absolute(folder, unknown);
}
}

std::uint64_t parse_byte_size(const std::string& text, const std::string& subject)
{
  const std::optional<std::uint64_t> bytes = parse_bytes(text);
  if (!bytes)
  {
    refuse(
      subject, fmt::format("'{}' is not a size; write it like 65536, 64K, 8M, 2G or 1T", text));
  }
  return *bytes;
}

RemoteSettings read_remote_settings()
{
  RemoteSettings settings;
  constexpr std::uint64_t kMax = std::uint64_t{ 1 } << 62;
  read_count("PARABAT_REMOTE_REQUESTS", 1, 256, settings.max_requests);
  read_count("PARABAT_REMOTE_RETRIES", 0, 100, settings.max_retries);
  read_bytes("PARABAT_REMOTE_GAP", 0, kMaxGap, settings.max_gap);
  read_bytes("PARABAT_REMOTE_MEMORY", kMinMemory, kMax, settings.memory);
  read_bytes("PARABAT_REMOTE_WHOLE", 0, kMax, settings.max_whole);
  int seconds = static_cast<int>(settings.stall_timeout.count() / 1000);
  read_count("PARABAT_REMOTE_TIMEOUT", 1, 86400, seconds);
  settings.stall_timeout = std::chrono::seconds(seconds);
  read_cache(settings);
  return settings;
}

const RemoteSettings& remote_settings()
{
  const Node* current = newest().load(std::memory_order_acquire);
  if (!current)
  {
    auto first = std::make_unique<Node>(Node{ read_remote_settings() });
    if (newest().compare_exchange_strong(current, first.get(), std::memory_order_acq_rel))
    {
      current = first.release();
    }
  }
  return current->settings;
}

void set_remote_settings(const RemoteSettings& settings)
{
  auto node = std::make_unique<Node>(Node{ settings });
  node->previous = newest().load(std::memory_order_acquire);
  while (!newest().compare_exchange_weak(node->previous, node.get(), std::memory_order_acq_rel))
  {
  }
  (void)node.release();
}
}

void bat::set_remote_options(const RemoteOptions& options)
{
  io::RemoteSettings settings = io::read_remote_settings();
  if (!options.cache_folder.empty())
  {
    settings.cache_folder = std::filesystem::absolute(options.cache_folder);
  }
  if (options.cache_bytes != 0)
  {
    settings.cache_bytes = options.cache_bytes;
  }
  if (options.timeout.count() > 0)
  {
    settings.stall_timeout = options.timeout;
  }
  io::set_remote_settings(settings);
}
