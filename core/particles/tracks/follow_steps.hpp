// SPDX-License-Identifier: BSD-3-Clause
// The requests of follow() to each step, and their results.
#pragma once

#include "bat/error.hpp"
#include "bat/follow.hpp"
#include "common/numbers.hpp"
#include "particles/query/value_set.hpp"
#include "particles/tracks/periodic_cell.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace bat
{
/// The ids of a request, sorted for lookups by values of each class.
class RequestedIds
{
public:
  explicit RequestedIds(const std::vector<Number>& ids)
  {
    this->fill(ids, std::get<Table<double>>(this->tables_));
    this->fill(ids, std::get<Table<std::int64_t>>(this->tables_));
    this->fill(ids, std::get<Table<std::uint64_t>>(this->tables_));
  }

  /// Calls f(i) with the index of each id equal to `value`.
  template <class V, class F>
  void for_each(V value, const F& f) const
  {
    const Table<V>& table = std::get<Table<V>>(this->tables_);
    for (auto at = std::lower_bound(table.values.begin(), table.values.end(), value);
         at != table.values.end() && *at == value; ++at)
    {
      f(table.places[static_cast<std::size_t>(at - table.values.begin())]);
    }
  }

private:
  template <class V>
  struct Table
  {
    std::vector<V> values; ///< ascending
    std::vector<std::size_t> places;
  };

  template <class V>
  static void fill(const std::vector<Number>& ids, Table<V>& table)
  {
    std::vector<std::pair<V, std::size_t>> pairs;
    for (std::size_t i = 0; i != ids.size(); ++i)
    {
      const ClassRange<V> one = to_class<V>(ids[i], ids[i]);
      if (!query::is_empty(one)) // otherwise no value of the class equals this number
      {
        pairs.emplace_back(one.lower, i);
      }
    }
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [value, place] : pairs)
    {
      table.values.push_back(value);
      table.places.push_back(place);
    }
  }

  std::tuple<Table<double>, Table<std::int64_t>, Table<std::uint64_t>> tables_;
};

/// Values of one array in one step: (ids, components).
struct StepColumn
{
  std::string name;
  ScalarType type = ScalarType::Float64;
  int components = 1;
  std::vector<std::byte> values;
};

/// The particles found in a step.
struct StepResult
{
  TrailStep step;
  std::vector<std::uint32_t> counts;
  std::vector<StepColumn> columns; ///< positions first; none if it has no particles
  std::optional<PeriodicCell> cell;
  std::vector<std::string> names; ///< names of all its attributes
  std::vector<TrailProblem> problems;
  std::optional<Error> error;
  bool is_empty = false; ///< no particles in its dataset
  bool has_all_indexes = true;
  bool from_tracks = false;
  std::uint64_t compared = 0;
  std::uint64_t bytes_read = 0;
};

/// Writes `count` values that mark unknown ones.
void fill_absent(ScalarType type, std::byte* out, std::size_t count);

/// The blocks of a tracks file; read() returns the samples in each.
class TracksReader
{
public:
  /// Throws as Tracks::open(). For damage after the first block, a final extra block exists, whose
  /// read() throws.
  TracksReader(const SeriesStep& listed, const FollowRequest& request,
    const RequestedIds& requested, const FollowOptions& options);
  TracksReader(TracksReader&&) noexcept;
  TracksReader& operator=(TracksReader&&) noexcept;
  ~TracksReader();

  [[nodiscard]] std::size_t blocks() const noexcept;
  /// Thread-safe.
  [[nodiscard]] std::vector<StepResult> read(std::size_t block) const;
  /// Omits samples that later ones have replaced.
  static void leave_out_replaced(std::vector<StepResult>& samples);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
}
