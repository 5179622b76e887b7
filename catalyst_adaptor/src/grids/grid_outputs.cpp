// SPDX-License-Identifier: BSD-3-Clause
#include "grid_outputs.hpp"

#include "failures.hpp"

#include "bat/error.hpp"
#include "bat/insitu.hpp"
#include "bat/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace bat::catalyst
{
namespace
{
constexpr const char* kExtension = ".idx";

insitu::FilePattern with_step(const std::string& pattern)
{
  return insitu::FilePattern(std::filesystem::path(pattern).replace_extension(".bat").string());
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

idx::GridPieces pieces_of(const GridJob& job, const std::vector<Grids>& mine)
{
  idx::GridPieces pieces;
  pieces.origin = job.plan.origin;
  pieces.spacing = job.plan.spacing;
  for (const Grids& grids : mine)
  {
    for (const GridDomain& domain : grids.domains)
    {
      if (!(domain.key == job.key))
      {
        continue;
      }
      const std::array<std::int64_t, 3> place = job.plan.place_of(domain);
      const auto& [nx, ny, nz] = domain.dimensions;
      idx::Piece piece;
      piece.box = moved(domain.own, place);
      piece.stored = moved({ {}, { nx - 1, ny - 1, nz - 1 } }, place);
      pieces.fields.clear();
      for (const std::string& name : job.plan.fields)
      {
        // All domains have what the plan has.
        const auto field = std::find_if(domain.fields.begin(), domain.fields.end(),
          [&](const idx::FieldValues& f) { return f.name == name; });
        piece.values.push_back(field->values);
        pieces.fields.push_back(*field);
      }
      pieces.pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

WrittenGrid write_grid(MPI_Comm comm, const GridJob& job, const std::filesystem::path& path,
  const std::vector<Grids>& mine)
{
  const auto begin = std::chrono::steady_clock::now();
  idx::GridPieces pieces;
  mpi::together(comm,
    [&]
    {
      pieces = pieces_of(job, mine);
      if (path.has_parent_path())
      {
        std::error_code ignored; // who writes says what is wrong
        std::filesystem::create_directories(path.parent_path(), ignored);
      }
    });
  WrittenGrid written{ job.plan.name, path, idx::write_together(comm, path, pieces, job.options) };
  written.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return written;
}
}

bool GridPattern::is_one(const std::string& pattern)
{
  return std::filesystem::path(pattern).extension() == kExtension;
}

GridPattern::GridPattern(std::string pattern)
  : pattern_(std::move(pattern))
  , has_step_(this->pattern_.find("{time") != std::string::npos ||
      this->pattern_.find('%') != std::string::npos)
{
  if (!is_one(this->pattern_))
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "'{}' is no name of a grid; names that end in {} are allowed", this->pattern_, kExtension));
  }
  static_cast<void>(with_step(this->pattern_));
}

void GridPattern::add_name()
{
  this->adds_name_ = this->pattern_.find("{name}") == std::string::npos &&
    this->pattern_.find("{channel}") == std::string::npos;
}

std::filesystem::path GridPattern::file(
  std::int64_t step, double time, const std::string& name) const
{
  if (this->has_step_)
  {
    insitu::FilePattern pattern = with_step(this->pattern_);
    if (this->adds_name_)
    {
      pattern.add_name();
    }
    return pattern.file(step, time, name).replace_extension(kExtension);
  }
  std::string file = this->pattern_;
  replace_all(file, "{name}", name);
  replace_all(file, "{channel}", name);
  if (this->adds_name_)
  {
    file.insert(file.size() - std::string(kExtension).size(), "_" + name);
  }
  return file;
}

// As files of particles: a pattern without the name is that of the grid that has its channel's
// name, if the pattern is that of one channel; what else comes has its name added.
std::vector<std::filesystem::path> GridOutputs::files_of(const std::vector<GridJob>& jobs)
{
  std::map<std::string, std::string> users;
  for (const GridJob& job : jobs)
  {
    const std::string& channel = job.key.topology.channel;
    const auto [user, is_new] = users.emplace(job.pattern, channel);
    user->second = user->second == channel ? channel : "";
  }
  this->channels_.insert(users.begin(), users.end());
  std::vector<std::filesystem::path> files;
  std::set<std::filesystem::path> different;
  for (const GridJob& job : jobs)
  {
    GridPattern pattern(job.pattern);
    const std::string& channel = job.key.topology.channel;
    if (this->channels_.at(job.pattern) != channel || job.plan.name != channel)
    {
      pattern.add_name();
    }
    files.push_back(pattern.file(job.options.step, job.options.time.value_or(0), job.plan.name));
    if (!different.insert(files.back().lexically_normal()).second)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("two grids would be written to {}; the second is '{}'", files.back().string(),
          job.plan.name));
    }
  }
  return files;
}

void GridOutputs::write(
  MPI_Comm comm, const std::vector<GridJob>& jobs, const std::vector<Grids>& mine)
{
  this->last_.clear();
  const std::vector<std::filesystem::path> files = this->files_of(jobs);
  Failures failures;
  for (std::size_t i = 0; i != jobs.size(); ++i)
  {
    failures.attempt([&] { this->last_.push_back(write_grid(comm, jobs[i], files[i], mine)); });
  }
  failures.throw_if_any();
}
}
