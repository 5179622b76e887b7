// SPDX-License-Identifier: BSD-3-Clause
// One rank's query on a dataset that all ranks have open.
#pragma once

#include "bat/mpi.hpp"
#include "particles/dataset/dataset_impl.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bat::mpi
{
/// A column of an answer: an attribute, or the positions.
struct ReadColumn
{
  std::optional<std::size_t> attribute;
  std::uint64_t bytes = 0; ///< bytes per particle
};

/// One leaf file, as a query needs it.
struct LeafRequest
{
  std::uint64_t leaf = 0;
  std::uint64_t begin = 0; ///< ordinals
  std::uint64_t end = 0;
  double share = 0; ///< expected, of its particles; from boxes alone
};

struct RankQuery
{
  /// Opens no leaf file. Throws Error{InvalidArgument}.
  RankQuery(const Dataset& dataset, const Query& query, const std::vector<std::string>& names);

  /// The share of a particle's bytes that is requested.
  [[nodiscard]] double column_share() const;
  /// Returns the numbers of the attributes among the columns.
  [[nodiscard]] std::vector<std::size_t> attributes() const;

  const Dataset& dataset;
  const Query& query;
  query::Conditions conditions;
  std::vector<LeafRequest> leaves; ///< ascending
  std::vector<ReadColumn> columns; ///< positions, then attributes in the order of the names
  std::uint64_t row_bytes = 0;     ///< bytes per row, all columns
};

/// Returns an empty answer with its columns, in the order of `query.columns`.
[[nodiscard]] Particles empty_answer(const RankQuery& query, const std::vector<std::string>& names);
/// Resizes all columns.
void resize(Particles& particles, const RankQuery& query, std::uint64_t count);
/// Returns the memory of column number `column` of the query.
[[nodiscard]] std::byte* column_of(Particles& particles, std::size_t column);
}
