// SPDX-License-Identifier: BSD-3-Clause
// Definitions of the opaque handles in bat/bat_idx.h.
#pragma once

#include "bat/bat_idx.h"
#include "bat/idx/dataset.hpp"
#include "bat/idx/write.hpp"
#include "capi/handles.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bat::capi
{
struct GridPiece
{
  idx::LogicalBox box;
  std::optional<idx::LogicalBox> stored; ///< box of the arrays
  std::vector<const void*> values;       ///< per field; null if it was not set
};
}

struct bat_grid
{
  std::array<double, 3> origin{};
  std::array<double, 3> spacing{ 1, 1, 1 };
  std::vector<bat::idx::FieldValues> fields; ///< without values
  std::vector<bat::capi::GridPiece> pieces;
  std::string refused; ///< why the first refused argument is invalid
};

struct bat_idx_options
{
  bat::idx::WriteOptions options;
};

struct bat_idx : bat::capi::SharedHandle
{
  explicit bat_idx(bat::idx::Dataset opened)
    : dataset(std::move(opened))
    , geometry(this->dataset.geometry())
  {
  }
  bat::idx::Dataset dataset;
  bat::idx::Geometry geometry;
  bat::idx::ReadOptions options; ///< for subsequent reads
};

namespace bat::capi
{
/// Throws Error{InvalidArgument} if something was refused, or a piece lacks a field.
[[nodiscard]] const bat_grid& accepted(const bat_grid* grid);
/// NULL: the defaults.
[[nodiscard]] idx::WriteOptions grid_options(const bat_idx_options* options);
[[nodiscard]] bat_idx_report c_report(const idx::WriteReport& report);
}
