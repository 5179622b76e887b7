// SPDX-License-Identifier: BSD-3-Clause
#include "grid_outputs.hpp"

#include "failures.hpp"

#include "bat/error.hpp"
#include "bat/ranks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

namespace bat::catalyst
{
namespace
{
constexpr const char* kGrid = ".idx";
constexpr const char* kBricks = ".bricks";

std::string extension_of(const std::string& pattern)
{
  return std::filesystem::path(pattern).extension().string();
}

void replace_all(std::string& text, const std::string& from, const std::string& to)
{
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
  {
    text.replace(at, from.size(), to);
  }
}

idx::LogicalBox moved(const idx::LogicalBox& box, const std::array<std::int64_t, 3>& by)
{
  idx::LogicalBox result = box;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    result.lower[axis] += by[axis];
    result.upper[axis] += by[axis];
  }
  return result;
}

// The samples in a domain's arrays, in the grid's numbering.
idx::LogicalBox stored_box(const GridDomain& domain, const std::array<std::int64_t, 3>& place)
{
  const auto& [nx, ny, nz] = domain.dimensions;
  return moved({ {}, { nx - 1, ny - 1, nz - 1 } }, place);
}

std::vector<const GridDomain*> collect_domains(const GridKey& key, const std::vector<Grids>& local)
{
  std::vector<const GridDomain*> domains;
  for (const Grids& grids : local)
  {
    for (const GridDomain& domain : grids.domains)
    {
      if (domain.key == key)
      {
        domains.push_back(&domain);
      }
    }
  }
  return domains;
}

// All domains have the fields in the plan.
const idx::FieldValues& field_of(const GridDomain& domain, const std::string& name)
{
  return *std::find_if(domain.fields.begin(), domain.fields.end(),
    [&](const idx::FieldValues& field) { return field.name == name; });
}

idx::GridPieces pieces_of(const GridJob& job, const std::vector<Grids>& local)
{
  idx::GridPieces pieces;
  pieces.origin = job.plan.origin;
  pieces.spacing = job.plan.spacing;
  const std::vector<std::string> names = idx::allowed_field_names(job.plan.fields);
  for (const GridDomain* domain : collect_domains(job.key, local))
  {
    if (!domain->shown)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("grid {}: a domain has hidden samples between others; .idx allows layers at "
                    "the borders of a domain only",
          job.plan.name));
    }
    if (domain->shown->is_empty())
    {
      continue;
    }
    const std::array<std::int64_t, 3> place = job.plan.place_of(*domain);
    idx::Piece piece;
    piece.box = moved(*domain->shown, place);
    piece.stored = stored_box(*domain, place);
    pieces.fields.clear();
    for (std::size_t i = 0; i != names.size(); ++i)
    {
      const idx::FieldValues& field = field_of(*domain, job.plan.fields[i]);
      piece.values.push_back(field.values);
      pieces.fields.push_back(field);
      pieces.fields.back().name = names[i];
    }
    pieces.pieces.push_back(std::move(piece));
  }
  return pieces;
}

using Copies = std::vector<std::vector<std::byte>>;

template <class T>
void hide(const std::vector<bool>& hidden, int components, std::byte* values)
{
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (std::size_t i = 0; i != hidden.size(); ++i)
  {
    for (std::size_t c = 0; hidden[i] && c != static_cast<std::size_t>(components); ++c)
    {
      std::memcpy(
        values + (i * static_cast<std::size_t>(components) + c) * sizeof(T), &nan, sizeof(T));
    }
  }
}

// Borrowed from the simulation if its velocities have the layout of bricks.
const void* collect_velocities(const GridDomain& domain, const Velocity& velocity, Copies& copies)
{
  const idx::FieldValues& first = field_of(domain, velocity.fields.front());
  if (velocity.fields.size() == 1 && domain.hidden.empty())
  {
    return first.values;
  }
  const auto& [nx, ny, nz] = domain.dimensions;
  const auto samples = static_cast<std::size_t>(nx * ny * nz);
  const std::size_t value = size_of(velocity.type);
  const std::size_t sample = value * static_cast<std::size_t>(velocity.components);
  std::vector<std::byte>& copy = copies.emplace_back(samples * sample);
  if (velocity.fields.size() == 1)
  {
    std::memcpy(copy.data(), first.values, copy.size());
  }
  else
  {
    for (std::size_t c = 0; c != velocity.fields.size(); ++c)
    {
      const auto* from = static_cast<const std::byte*>(field_of(domain, velocity.fields[c]).values);
      for (std::size_t i = 0; i != samples; ++i)
      {
        std::memcpy(copy.data() + i * sample + c * value, from + i * value, value);
      }
    }
  }
  (velocity.type == ScalarType::Float32 ? hide<float> : hide<double>)(domain.hidden,
    velocity.components, copy.data());
  return copy.data();
}

std::vector<bricks::Piece> collect_velocity_pieces(
  const GridJob& job, const std::vector<Grids>& local, Copies& copies)
{
  std::vector<bricks::Piece> pieces;
  for (const GridDomain* domain : collect_domains(job.key, local))
  {
    const std::array<std::int64_t, 3> place = job.plan.place_of(*domain);
    pieces.push_back({ moved(domain->own, place), collect_velocities(*domain, job.velocity, copies),
      stored_box(*domain, place) });
  }
  return pieces;
}

bricks::Header make_header(const GridJob& job)
{
  bricks::Header header;
  header.field = fmt::format("{}", fmt::join(job.velocity.fields, ","));
  header.step = job.options.step;
  header.time = job.options.time;
  header.grid.origin = job.plan.origin;
  header.grid.spacing = job.plan.spacing;
  header.grid.cyclic = job.bricks.cyclic;
  header.grid.components = job.velocity.components;
  header.grid.type = job.velocity.type;
  return header;
}
}

bool GridPattern::is_one(const std::string& pattern)
{
  const std::string extension = extension_of(pattern);
  return extension == kGrid || extension == kBricks;
}

GridPattern::GridPattern(std::string pattern)
  : pattern_(std::move(pattern))
  , is_bricks_(extension_of(this->pattern_) == kBricks)
{
  if (!is_one(this->pattern_))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("'{}' is not a grid file name; use a name ending in {} or {}", this->pattern_,
        kGrid, kBricks));
  }
  insitu::FilePattern with_step(this->pattern_, extension_of(this->pattern_));
  if (this->is_bricks_ || this->pattern_.find("{time") != std::string::npos ||
    this->pattern_.find('%') != std::string::npos)
  {
    this->with_step_ = std::move(with_step);
  }
}

void GridPattern::add_name()
{
  this->adds_name_ = this->pattern_.find("{name}") == std::string::npos &&
    this->pattern_.find("{channel}") == std::string::npos;
  if (this->with_step_)
  {
    this->with_step_->add_name();
  }
}

std::filesystem::path GridPattern::file(
  std::int64_t step, double time, const std::string& name) const
{
  if (this->with_step_)
  {
    return this->with_step_->file(step, time, name);
  }
  std::string file = this->pattern_;
  replace_all(file, "{name}", name);
  replace_all(file, "{channel}", name);
  if (this->adds_name_)
  {
    file.insert(file.size() - std::string(kGrid).size(), "_" + name);
  }
  return file;
}

std::filesystem::path GridPattern::series(const std::string& name) const
{
  return this->with_step_->series(name);
}

bricks::GrowingSeries& GridOutputs::find_series(const GridJob& job, const GridPattern& pattern)
{
  const std::filesystem::path list = pattern.series(job.plan.name);
  const auto [series, is_new] = this->series_.try_emplace(
    std::pair(list, job.options.flush), list,
    [pattern, name = job.plan.name](std::int64_t step, double time)
    { return pattern.file(step, time, name); },
    job.options.flush, this->notice_);
  return series->second;
}

WrittenGrid GridOutputs::write_grid(
  MPI_Comm comm, const GridJob& job, const Place& place, const std::vector<Grids>& local)
{
  const auto begin = std::chrono::steady_clock::now();
  idx::GridPieces pieces;
  std::vector<bricks::Piece> velocities;
  Copies copies;
  bricks::GrowingSeries* series = nullptr;
  mpi::collective(comm,
    [&]
    {
      if (place.pattern.is_bricks())
      {
        velocities = collect_velocity_pieces(job, local, copies);
        series = &this->find_series(job, place.pattern);
      }
      else
      {
        pieces = pieces_of(job, local);
      }
      if (place.file.has_parent_path())
      {
        std::error_code ignored; // the write reports the problem
        std::filesystem::create_directories(place.file.parent_path(), ignored);
      }
    });
  WrittenGrid written;
  written.name = job.plan.name;
  written.path = place.file;
  if (series)
  {
    bricks::WriteOptions options;
    options.compress = job.bricks.compress;
    options.flush = job.options.flush;
    options.threads = job.options.threads;
    const bricks::Header header = make_header(job);
    const bricks::WriteReport report =
      bricks::write_collective(comm, *series, header, velocities, options);
    written.samples = report.value_bytes / header.grid.point_bytes();
    written.bytes = report.file_bytes;
  }
  else
  {
    const idx::WriteReport report = idx::write_collective(comm, place.file, pieces, job.options);
    written.samples = report.samples;
    written.bytes = report.file_bytes;
  }
  written.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return written;
}

// The naming rules are those for particle files: if only one channel has a pattern without the
// name, the pattern belongs to the grid with its channel's name, and other grids add their names.
std::vector<GridOutputs::Place> GridOutputs::places_of(const std::vector<GridJob>& jobs)
{
  std::map<std::string, std::string> users;
  for (const GridJob& job : jobs)
  {
    const std::string& channel = job.key.topology.channel;
    const auto [user, is_new] = users.emplace(job.pattern, channel);
    user->second = user->second == channel ? channel : "";
  }
  this->channels_.insert(users.begin(), users.end());
  std::vector<Place> places;
  std::set<std::filesystem::path> different;
  for (const GridJob& job : jobs)
  {
    GridPattern pattern(job.pattern);
    const std::string& channel = job.key.topology.channel;
    if (this->channels_.at(job.pattern) != channel || job.plan.name != channel)
    {
      pattern.add_name();
    }
    const std::filesystem::path file =
      pattern.file(job.options.step_number(), job.options.time.value_or(0), job.plan.name);
    if (!different.insert(file.lexically_normal()).second)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format(
          "two grids would be written to {}; the second is '{}'", file.string(), job.plan.name));
    }
    places.push_back({ std::move(pattern), file });
  }
  return places;
}

void GridOutputs::write(
  MPI_Comm comm, const std::vector<GridJob>& jobs, const std::vector<Grids>& local)
{
  this->last_.clear();
  const std::vector<Place> places = this->places_of(jobs);
  Failures failures;
  for (std::size_t i = 0; i != jobs.size(); ++i)
  {
    failures.attempt(
      [&] { this->last_.push_back(this->write_grid(comm, jobs[i], places[i], local)); });
  }
  failures.throw_if_any();
}
}
