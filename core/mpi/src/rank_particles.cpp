#include "rank_particles.hpp"

#include "build/builder.hpp"
#include "build/gather.hpp"
#include "format/layout.hpp"
#include "numbers.hpp"

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
  build::check_input(piece.particles, {});
  if (!piece.skip)
  {
    return;
  }
  const ArrayView& skip = *piece.skip;
  if (skip.components != 1 || skip.type < ScalarType::Int8 || skip.type > ScalarType::UInt64)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("particles to skip are marked by {} x {}; allowed is one integer for each",
        skip.components, name_of(skip.type)));
  }
  if (!skip.component[0])
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "the marks of particles to skip have no data for {} particles", piece.particles.count));
  }
}

void move_begin(ArrayView& array, std::uint64_t rows)
{
  for (int c = 0; c != array.components; ++c)
  {
    array.component[static_cast<std::size_t>(c)] += rows * array.stride_bytes;
  }
}

// Rows [first, first + count) of a view.
void slice(ParticleView& view, std::uint64_t first, std::uint64_t count)
{
  view.count = count;
  move_begin(view.positions, first);
  for (AttributeView& attribute : view.attributes)
  {
    move_begin(attribute.values, first);
  }
}
}

RankParticles::RankParticles(const std::vector<Piece>& pieces)
{
  for (std::size_t i = 0; i != pieces.size(); ++i)
  {
    try
    {
      this->add(pieces[i]);
    }
    catch (const Error& e)
    {
      throw Error(
        e.code(), pieces.size() == 1 ? e.what() : fmt::format("piece {}: {}", i, e.what()));
    }
  }
  // The first piece with particles speaks for the rank; without any, the first piece.
  if (!pieces.empty())
  {
    this->schema_ = this->parts_.empty() ? pieces[0].particles : this->parts_[0].view;
    this->schema_.time = pieces[0].particles.time;
    this->schema_.step = pieces[0].particles.step;
    this->schema_.metadata = pieces[0].particles.metadata;
  }
  this->schema_.count = 0;
  if (this->parts_.empty())
  {
    ArrayView& positions = this->schema_.positions;
    positions.components = 3;
    positions.type =
      positions.type == ScalarType::Float32 ? ScalarType::Float32 : ScalarType::Float64;
  }
}

void RankParticles::add(const Piece& piece)
{
  if (piece.particles.count == 0)
  {
    return; // a placeholder may be of any type
  }
  check(piece);
  Part part;
  part.view = piece.particles;
  part.first = this->count_;
  if (piece.skip)
  {
    part.rows = rows_to_keep(piece);
    const std::uint64_t kept = part.rows.size();
    this->skipped_ += piece.particles.count - kept;
    if (kept == 0)
    {
      return;
    }
    // Ghosts usually follow the others: what is left is a run, and needs no list.
    const std::uint64_t first = part.rows.front();
    if (part.rows.back() - first + 1 == kept)
    {
      slice(part.view, first, kept);
      part.rows = {};
    }
  }
  this->count_ += part.count();
  if (this->count_ > format::kMaxParticles)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "{} particles on one rank; at most {} are allowed", this->count_, format::kMaxParticles));
  }
  this->parts_.push_back(std::move(part));
}

const ParticleView* RankParticles::single_view() const noexcept
{
  return this->parts_.size() == 1 && this->parts_[0].rows.empty() ? &this->parts_[0].view : nullptr;
}

std::uint64_t RankParticles::row_bytes() const noexcept
{
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i != this->array_count(); ++i)
  {
    bytes += build::tuple_bytes(this->array(i));
  }
  return bytes;
}

std::size_t RankParticles::part_of(std::uint64_t number) const noexcept
{
  const auto after = std::upper_bound(this->parts_.begin(), this->parts_.end(), number,
    [](std::uint64_t n, const Part& part) { return n < part.first; });
  return static_cast<std::size_t>(after - this->parts_.begin()) - 1;
}

void RankParticles::gather(
  const std::uint32_t* numbers, std::size_t count, std::size_t array, std::byte* out) const
{
  const std::uint64_t bytes = build::tuple_bytes(this->array(array));
  std::vector<std::uint32_t> rows;
  for (std::size_t p = count != 0 ? this->part_of(*numbers) : 0; count != 0; ++p)
  {
    const Part& part = this->parts_[p];
    const std::uint64_t end = part.first + part.count();
    const auto here =
      static_cast<std::size_t>(std::lower_bound(numbers, numbers + count, end) - numbers);
    const std::uint32_t* source = numbers;
    if (part.first != 0 || !part.rows.empty())
    {
      rows.resize(here);
      for (std::size_t i = 0; i != here; ++i)
      {
        const std::uint64_t local = numbers[i] - part.first;
        rows[i] = part.rows.empty() ? static_cast<std::uint32_t>(local) : part.rows[local];
      }
      source = rows.data();
    }
    build::gather(source, here, array_of(part.view, array), out);
    numbers += here;
    count -= here;
    out += here * bytes;
  }
}

std::array<double, 3> RankParticles::position(std::uint64_t number) const
{
  std::array<double, 3> result{};
  const auto read = [&](auto value)
  {
    this->visit_positions<decltype(value)>(number, number + 1,
      [&](std::uint64_t, const auto& point)
      { std::copy(point.begin(), point.end(), result.begin()); });
  };
  this->schema_.positions.type == ScalarType::Float32 ? read(float{}) : read(double{});
  return result;
}
}
