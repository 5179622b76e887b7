// SPDX-License-Identifier: BSD-3-Clause
// Definitions of the opaque handles in bat/bat.h.
#pragma once

#include "bat/bat.h"
#include "bat/dataset.hpp"
#include "bat/particles.hpp"
#include "bat/piece_writer.hpp"
#include "bat/query.hpp"
#include "bat/write_options.hpp"
#include "capi/status.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bat::capi
{
/// A handle that one thread may free while others are in calls with it: the last call frees it.
struct SharedHandle
{
  SharedHandle() = default;
  SharedHandle(const SharedHandle&) = delete;
  SharedHandle& operator=(const SharedHandle&) = delete;
  mutable std::atomic<std::uint32_t> users{
    1
  }; ///< calls, and the caller until it frees the handle
};

template <class Handle>
void release(const Handle* handle) noexcept
{
  if (handle && handle->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
  {
    delete handle;
  }
}

/// Works as guard() does, with a handle that may be null.
template <class Handle, class F>
int guard_use(const Handle* handle, F&& f) noexcept
{
  if (handle)
  {
    handle->users.fetch_add(1, std::memory_order_relaxed);
  }
  const int status = guard(std::forward<F>(f));
  release(handle);
  return status;
}

/// A program's progress function, if set.
struct Progress
{
  bat_progress function = nullptr;
  void* data = nullptr;
};
}

struct bat_particles
{
  bat::ParticleView view;
  /// Why arrays were refused, until one is accepted: by attribute name, "" for positions.
  std::map<std::string, std::string> refused;
};

struct bat_options : bat::WriteOptions
{
  std::set<std::string> given; ///< names of those that were set, for bat_repack
};

struct bat_piece_writer : bat::capi::SharedHandle
{
  bat_piece_writer(
    const std::string& path, const bat::WriteOptions& options, std::uint64_t memory_bytes)
    : writer(path, options, memory_bytes)
  {
  }
  bat::PieceWriter writer;
};

struct bat_dataset : bat::capi::SharedHandle
{
  explicit bat_dataset(bat::Dataset opened)
    : dataset(std::move(opened))
    , metadata(this->dataset.metadata())
    , stable_samples(this->dataset.stable_samples())
  {
  }
  bat::Dataset dataset;
  std::string metadata;
  std::vector<std::string> stable_samples;
  mutable std::once_flag view_known;
  mutable std::string view;      ///< for bat_dataset_hdf5_view
  bat::QueryOptions map_options; ///< for bat_map_positions and bat_map_attribute
};

struct bat_query
{
  bat::Query query;
  bat::QueryOptions options;
  bat::capi::Progress progress; ///< for subsequent reads
  std::string refused_part;     ///< why the part is invalid; "" if it is valid
  std::string
    refused_condition; ///< why the first invalid range or list is refused; "" if all are valid
};

namespace bat::capi
{
/// Values that came with a selection, from bat_mpi_read().
struct ReadValues
{
  std::vector<std::byte> positions;
  std::map<std::size_t, std::vector<std::byte>> attributes; ///< keys: attribute number
  std::string report;                                       ///< JSON; "" unless it was asked for
  std::string line;
};
}

struct bat_selection
{
  const bat_dataset* dataset = nullptr;
  bat::DatasetSelection selection;
  bat::QueryOptions options;
  bat::capi::Progress progress;
  /// If they are in memory; `selection` then has no parts.
  std::optional<bat::capi::ReadValues> values;
};

namespace bat::capi
{
[[nodiscard]] ScalarType type_of(int number);
[[nodiscard]] Box box_of(const double* box);
/// Throws Error{InvalidArgument} unless all ends are finite and in order.
void check_local_bounds(const Box& box);
/// Throws Error{InvalidArgument} if an array was refused, so that a write neither omits it nor uses
/// the array set before.
[[nodiscard]] const ParticleView& accepted(const bat_particles& particles);
/// Throws Error{InvalidArgument} if an option was refused.
void check(const bat_options& options);

// Shared implementations of C API calls, including the collective ones; all throw Error.
/// Returns the query as given; a query for everything if it is NULL.
[[nodiscard]] const Query& request(const bat_query* query);
[[nodiscard]] bat_selection* select(
  const bat_dataset* dataset, const bat_query* query, int default_threads);
void read_positions(
  const bat_dataset* dataset, const bat_selection* selection, void* out, std::size_t bytes);
void read_attribute(const bat_dataset* dataset, const char* name, const bat_selection* selection,
  void* out, std::size_t bytes);
/// Returns the names passed to bat_read_attributes(), checked.
[[nodiscard]] std::vector<std::string> names_of(std::uint64_t count, const char* const* names);
void read_attributes(const bat_dataset* dataset, const std::vector<std::string>& names,
  const bat_selection* selection, void* const* out, const std::size_t* bytes);
/// Returns `count` values of a type, converted exactly.
[[nodiscard]] std::vector<Number> numbers_of(
  ScalarType type, const void* values, std::size_t count);
/// Converts `threads` to an option.
[[nodiscard]] int threads_of(std::int64_t threads);
/// Returns the distance in bytes from one record of `bytes` to the next; `stride` 0 means packed.
/// `what` is used in messages.
[[nodiscard]] std::size_t stride_of(std::size_t stride, std::size_t bytes, const std::string& what);
}
