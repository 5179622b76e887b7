// SPDX-License-Identifier: BSD-3-Clause
// For tests that all ranks run together.
#pragma once

#include "bat/bat.hpp"
#include "bat/mpi.hpp"
#include "support/clouds.hpp"
#include "support/temp_dir.hpp"

#include <mpi.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace mpi_test
{
inline int rank()
{
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int ranks()
{
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

/// One folder that all ranks use, removed with rank 0's object.
class SharedDir
{
public:
  SharedDir()
  {
    if (rank() == 0)
    {
      this->own_.emplace();
      this->path_ = this->own_->path().string();
    }
    int size = static_cast<int>(this->path_.size());
    MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
    this->path_.resize(static_cast<std::size_t>(size));
    MPI_Bcast(this->path_.data(), size, MPI_CHAR, 0, MPI_COMM_WORLD);
  }
  SharedDir(const SharedDir&) = delete;
  SharedDir& operator=(const SharedDir&) = delete;
  ~SharedDir() { MPI_Barrier(MPI_COMM_WORLD); }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const
  {
    return std::filesystem::path(this->path_) / name;
  }

private:
  std::optional<TempDir> own_;
  std::string path_;
};

/// The particles of `all` for which keep(i) holds.
template <class Keep>
clouds::Cloud subset(const clouds::Cloud& all, const Keep& keep)
{
  clouds::Cloud part;
  part.position_type = all.position_type;
  for (const auto& c : all.columns)
  {
    part.columns.push_back({ c.name, c.type, c.components, {} });
  }
  const auto append = [](std::vector<std::byte>& to, const std::vector<std::byte>& from,
                        std::size_t i, std::size_t size)
  {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(i * size);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
  };
  for (std::uint64_t i = 0; i != all.count; ++i)
  {
    if (!keep(i))
    {
      continue;
    }
    ++part.count;
    append(part.positions, all.positions, i, 3 * bat::size_of(all.position_type));
    for (std::size_t c = 0; c != all.columns.size(); ++c)
    {
      append(part.columns[c].bytes, all.columns[c].bytes, i,
        bat::size_of(all.columns[c].type) * static_cast<std::size_t>(all.columns[c].components));
    }
  }
  return part;
}

/// All bytes of each particle, sorted: equal for equal sets of particles.
inline std::vector<std::string> rows(const bat::ParticleView& view)
{
  std::vector<std::string> rows(view.count);
  const auto append = [&](const bat::ArrayView& array)
  {
    const std::size_t value = bat::size_of(array.type);
    for (std::uint64_t i = 0; i != view.count; ++i)
    {
      for (int c = 0; c != array.components; ++c)
      {
        rows[i].append(reinterpret_cast<const char*>(
                         array.component[static_cast<std::size_t>(c)] + i * array.stride_bytes),
          value);
      }
    }
  };
  append(view.positions);
  for (const bat::AttributeView& a : view.attributes)
  {
    append(a.values);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Everything in a dataset, read by this process alone.
inline bat::mpi::Particles read_alone(
  const std::filesystem::path& path, const bat::Query& query = {})
{
  return bat::mpi::read_particles(MPI_COMM_SELF, bat::Dataset::open(path), query);
}

/// The error of a call on this rank, or "".
template <class F>
std::string error_of(F&& f)
{
  try
  {
    f();
    return {};
  }
  catch (const bat::Error& e)
  {
    return e.what();
  }
}

/// Rank 0's text on all ranks.
inline std::string of_root(std::string text)
{
  int size = static_cast<int>(text.size());
  MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(size));
  MPI_Bcast(text.data(), size, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}
}
