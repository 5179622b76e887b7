// SPDX-License-Identifier: BSD-3-Clause
#include "particles/parallel/rank_particles.hpp"

#include "common/numbers.hpp"
#include "particles/write/check_input.hpp"

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

namespace bat::mpi
{
namespace
{
// Rows of the particles that stay.
std::vector<std::uint32_t> rows_to_keep(const Piece& piece)
{
  std::vector<std::uint32_t> rows;
  rows.reserve(piece.particles.count); // pages that stay untouched cost nothing
  const ArrayView& skip = *piece.skip;
  dispatch(skip.type,
    [&](auto value)
    {
      using T = decltype(value);
      if constexpr (std::is_integral_v<T>)
      {
        for (std::uint64_t i = 0; i != piece.particles.count; ++i)
        {
          T mask;
          std::memcpy(&mask, skip.component[0] + i * skip.stride_bytes, sizeof(mask));
          if ((static_cast<std::uint64_t>(mask) & piece.skip_bits) == 0)
          {
            rows.push_back(static_cast<std::uint32_t>(i));
          }
        }
      }
    });
  return rows;
}

void check(const Piece& piece)
{
  write::check_input(piece.particles, {});
  if (!piece.skip)
  {
    return;
  }
  const ArrayView& skip = *piece.skip;
  if (skip.components != 1 || skip.type < ScalarType::Int8 || skip.type > ScalarType::UInt64)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("the mark of particles to skip is {} x {}; it must be one integer per particle",
        skip.components, name_of(skip.type)));
  }
  if (!skip.component[0])
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "the mark of particles to skip has no data for {} particles", piece.particles.count));
  }
  if (piece.particles.count > 1 && skip.stride_bytes < size_of(skip.type))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("the marks of particles to skip are {} bytes apart, less than their size of {} "
                  "bytes",
        skip.stride_bytes, size_of(skip.type)));
  }
}
}

RankParticles::RankParticles(const std::vector<Piece>& pieces)
{
  for (std::size_t i = 0; i != pieces.size(); ++i)
  {
    try
    {
      this->add_piece(pieces[i]);
    }
    catch (const Error& e)
    {
      throw Error(
        e.code(), pieces.size() == 1 ? e.what() : fmt::format("piece {}: {}", i, e.what()));
    }
  }
  // The first piece with particles represents the rank; without any, the first piece.
  ParticleView schema;
  if (!pieces.empty())
  {
    schema = this->parts().empty() ? pieces[0].particles : this->parts()[0].view;
    schema.time = pieces[0].particles.time;
    schema.step = pieces[0].particles.step;
    schema.metadata = pieces[0].particles.metadata;
  }
  const auto correct_positions = [](ArrayView& positions)
  {
    positions.components = 3;
    positions.type =
      positions.type == ScalarType::Float32 ? ScalarType::Float32 : ScalarType::Float64;
  };
  if (this->parts().empty())
  {
    correct_positions(schema.positions);
    for (const Piece& piece : pieces)
    {
      if (!piece.particles.attributes.empty() || !piece.particles.aliases.empty())
      {
        this->declared_.push_back(piece.particles);
        correct_positions(this->declared_.back().positions);
      }
    }
  }
  this->adopt(schema, [](const ParticleView& view, std::size_t) { return view; });
}

void RankParticles::add_piece(const Piece& piece)
{
  if (piece.particles.count == 0)
  {
    return; // a placeholder may be of any type
  }
  check(piece);
  ParticleView view = piece.particles;
  std::vector<std::uint32_t> rows; // none: all of them
  if (piece.skip)
  {
    rows = rows_to_keep(piece);
    this->skipped_ += view.count - rows.size();
    if (rows.empty())
    {
      return;
    }
    // Ghosts usually come last: the remaining particles are then a run and need no list.
    const std::uint64_t first = rows.front();
    if (rows.back() - first + 1 == rows.size())
    {
      view = write::slice(view, first, rows.size());
      rows = {};
    }
  }
  const std::uint64_t count = rows.empty() ? view.count : rows.size();
  if (this->count() + count > kMaxParticles)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "{} particles on one rank; at most {} are allowed", this->count() + count, kMaxParticles));
  }
  if (rows.empty())
  {
    this->add(view, nullptr, count);
    return;
  }
  this->rows_.push_back(std::move(rows));
  this->add(view, this->rows_.back().data(), count);
}
}
