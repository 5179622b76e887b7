// SPDX-License-Identifier: BSD-3-Clause
// Opens flows for tracing: series of bricks, .idx datasets, arrays, and functions of the caller.

#include "bat/bat_flow.h"

#include "bat/address.hpp"
#include "bat/bricks/series.hpp"
#include "bat/flow/array_source.hpp"
#ifdef BAT_CAPI_HAS_IDX
#include "bat/idx/velocity_source.hpp"
#endif
#include "capi/flow_handles.hpp"
#include "capi/status.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace bat::capi
{
namespace
{
flow::CacheOptions cache_options(std::uint64_t cache_bytes, std::int64_t io_threads)
{
  flow::CacheOptions options;
  if (cache_bytes != 0)
  {
    options.bytes = need_size(cache_bytes, "cache_bytes");
  }
  options.io_threads = static_cast<int>(need_at_most(io_threads, 1024, "io_threads"));
  return options;
}

/// `kept_bytes` is the part of the caller's memory that is not for bricks. Throws
/// Error{InvalidArgument} if the rest is too little for one thread.
bat_flow* open_flow(std::shared_ptr<const BrickSource> source, const flow::CacheOptions& options,
  std::uint64_t kept_bytes = 0)
{
  std::unique_ptr<bat_flow> flow(new bat_flow{ {}, flow::Cache(std::move(source), options) });
  const std::uint64_t needed = flow->cache.min_bytes();
  if (options.bytes < needed)
  {
    const std::uint64_t given = options.bytes + kept_bytes;
    refuse(
      fmt::format("cache_bytes is {}; allowed are {} or more, the size of 32 bricks of {}, or 0 "
                  "for {}",
        given, kept_bytes == 0 ? needed : (4 * needed + 2) / 3, flow->cache.source().level_name(0),
        flow::CacheOptions::usual_bytes));
  }
  return flow.release();
}

bool is_idx(const std::string& path)
{
  return std::filesystem::path(bat::file_name(path)).extension() == ".idx";
}

#ifdef BAT_CAPI_HAS_IDX
// Blocks get a quarter of the memory; their bricks get the rest.
bat_flow* open_idx(
  const std::string& path, idx::VelocityOptions velocity, flow::CacheOptions options)
{
  velocity.block_bytes = options.bytes / 4;
  options.bytes -= velocity.block_bytes;
  return open_flow(idx::VelocitySource::open(path, velocity), options, velocity.block_bytes);
}
#else
[[noreturn]] bat_flow* open_idx(const std::string& path, int, const flow::CacheOptions&)
{
  refuse(path + ": this library was built without zlib or LZ4 and cannot read .idx");
}
#endif

std::vector<double> make_times(std::uint64_t count, const double* times)
{
  need_size(count, "time_count");
  need(times, "times");
  return { times, times + count };
}

/// Bricks filled by the caller's function.
class FunctionSource : public BrickSource
{
public:
  FunctionSource(const BrickGrid& grid, std::vector<double> times, bat_flow_read read, void* data)
    : grid_(grid)
    , times_(std::move(times))
    , read_(read)
    , data_(data)
  {
  }
  [[nodiscard]] const BrickGrid& grid() const noexcept override { return this->grid_; }
  [[nodiscard]] const std::vector<double>& times() const noexcept override { return this->times_; }
  [[nodiscard]] std::string level_name(std::size_t level) const override
  {
    return fmt::format("step {} of a function", level);
  }
  std::uint64_t read(std::size_t level, std::uint64_t brick, BrickMemory to) const override
  {
    const std::array<std::int64_t, 3> place = this->grid_.brick_place(brick);
    std::int64_t first[3];
    std::int64_t count[3];
    for (std::size_t a = 0; a != 3; ++a)
    {
      first[a] = place[a] * this->grid_.edge;
      count[a] = this->grid_.brick_points(a, place[a]);
    }
    const std::size_t row = static_cast<std::size_t>(count[0]) * this->grid_.point_bytes();
    const auto rows = static_cast<std::size_t>(count[1] * count[2]);
    thread_local std::vector<std::byte> values;
    values.resize(rows * row);
    const int status = this->read_(this->data_, level, first, count, values.data());
    if (status != BAT_OK)
    {
      const bool known = status > BAT_OK && status <= BAT_INTERNAL && *last_error() != '\0';
      throw Error(known ? code_of(status) : ErrorCode::CannotOpen,
        fmt::format("{}: points from {} {} {}: {}", this->level_name(level), first[0], first[1],
          first[2], known ? last_error() : fmt::format("the function returned {}", status)));
    }
    for (std::size_t i = 0; i != rows; ++i)
    {
      const auto y = i % static_cast<std::size_t>(count[1]);
      const auto z = i / static_cast<std::size_t>(count[1]);
      std::memcpy(to.first + z * to.plane_bytes + y * to.row_bytes, values.data() + i * row, row);
    }
    return values.size();
  }

private:
  BrickGrid grid_;
  std::vector<double> times_;
  bat_flow_read read_;
  void* data_;
};
}
}

using namespace bat::capi;

int bat_flow_open(const char* path, uint64_t cache_bytes, int64_t io_threads, bat_flow** out)
{
  return guard(
    [&]
    {
      need(out, "out") = nullptr;
      bat::flow::CacheOptions options = cache_options(cache_bytes, io_threads);
      const std::string source = need_text(path, "the path to read");
      options.hints_file = bat::flow::hints_beside(source);
      if (is_idx(source))
      {
        *out = open_idx(source, {}, options);
        return;
      }
      *out = open_flow(bat::bricks::Series::open(source), options);
    });
}

int bat_flow_open_idx(const char* path, uint64_t field_count, const char* const* fields,
  const int64_t* cyclic, uint64_t cache_bytes, int64_t io_threads, bat_flow** out)
{
  return guard(
    [&]
    {
      need(out, "out") = nullptr;
      bat::flow::CacheOptions options = cache_options(cache_bytes, io_threads);
      const std::string source = need_text(path, "the path to read");
      options.hints_file = bat::flow::hints_beside(source);
      std::vector<std::string> names;
      for (std::uint64_t i = 0; i != need_size(field_count, "field_count"); ++i)
      {
        names.push_back(need_text(need(fields, "fields") ? fields[i] : nullptr, "field name"));
      }
#ifdef BAT_CAPI_HAS_IDX
      bat::idx::VelocityOptions velocity;
      velocity.fields = std::move(names);
      for (std::size_t a = 0; cyclic && a != 3; ++a)
      {
        velocity.cyclic[a] = cyclic[a] != 0;
      }
      *out = open_idx(source, velocity, options);
#else
      (void)cyclic;
      *out = open_idx(source, 0, options);
#endif
    });
}

int bat_flow_open_arrays(const bat_flow_grid* grid, uint64_t time_count, const double* times,
  const void* const* levels, uint64_t cache_bytes, int64_t io_threads, bat_flow** out)
{
  return guard(
    [&]
    {
      need(out, "out") = nullptr;
      std::vector<double> all = make_times(time_count, times);
      need(levels, "levels");
      *out = open_flow(std::make_shared<bat::flow::ArraySource>(make_grid(need(grid, "grid")),
                         std::move(all), std::vector<const void*>(levels, levels + time_count)),
        cache_options(cache_bytes, io_threads));
    });
}

int bat_flow_open_function(const bat_flow_grid* grid, uint64_t time_count, const double* times,
  int64_t edge, bat_flow_read read, void* data, uint64_t cache_bytes, int64_t io_threads,
  bat_flow** out)
{
  return guard(
    [&]
    {
      need(out, "out") = nullptr;
      std::vector<double> all = make_times(time_count, times);
      if (!read)
      {
        refuse("read is NULL");
      }
      bat::BrickGrid own = make_grid(need(grid, "grid"));
      own.edge = static_cast<int>(need_at_most(edge, bat::BrickGrid::max_edge, "edge"));
      *out = open_flow(std::make_shared<FunctionSource>(own, std::move(all), read, data),
        cache_options(cache_bytes, io_threads));
    });
}
