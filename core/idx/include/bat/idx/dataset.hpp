// SPDX-License-Identifier: BSD-3-Clause
// An .idx dataset: boxes of samples at any of its resolutions.
#pragma once

#include "bat/idx/header.hpp"
#include "bat/types.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bat::idx
{
/// A regular grid of samples: along each axis first, first + distance, ..., `count` of them.
/// `first` is a multiple of `distance`, so that lattices of levels and of boxes nest.
struct Lattice
{
  std::array<std::int64_t, 3> first{};
  std::array<std::int64_t, 3> distance{ 1, 1, 1 };
  std::array<std::int64_t, 3> count{};

  /// Returns the number of all samples.
  [[nodiscard]] std::uint64_t samples() const noexcept
  {
    return static_cast<std::uint64_t>(this->count[0]) * static_cast<std::uint64_t>(this->count[1]) *
      static_cast<std::uint64_t>(this->count[2]);
  }
  /// Index of the first sample along an axis, counted in distances from logical 0: the lower end of
  /// a vtkImageData's extent. Sample i of the array has index index(axis) + i.
  [[nodiscard]] std::int64_t index(std::size_t axis) const noexcept
  {
    return this->first[axis] / this->distance[axis];
  }
};

/// The position of samples: logical coordinates p lie at origin + p * spacing.
struct Geometry
{
  std::array<double, 3> origin{};
  std::array<double, 3> spacing{ 1, 1, 1 };
  /// Empty, or the reason why origin and spacing cannot express the dataset's geometry (e.g. a
  /// rotation); the geometry is then that of logical coordinates.
  std::string warning;
};

/// Selects what to read: the samples of one field at one step that a level has in a box.
struct Query
{
  std::size_t field = 0; ///< index in Header::fields
  int level = 0;         ///< 0 (one sample) to levels() (all samples)
  std::optional<LogicalBox> box;
  std::optional<std::int64_t> step; ///< the first if not given
};

/// The cost of a read, known from the text alone.
struct Cost
{
  std::uint64_t samples = 0;     ///< bytes of the array, per field
  std::uint64_t bytes = 0;       ///< bytes of the arrays of all requested fields
  std::uint64_t blocks = 0;      ///< blocks with some of the samples, of all these fields
  std::uint64_t block_bytes = 0; ///< upper limit of the bytes read: these blocks, unpacked
};

/// What a read did.
struct ReadReport
{
  std::uint64_t samples = 0;
  std::uint64_t blocks = 0;        ///< blocks that were requested
  std::uint64_t absent_blocks = 0; ///< absent blocks; their samples have the default value
  std::uint64_t bytes_read = 0;    ///< bytes read from files, with headers of blocks
};

/// The array that an earlier read with the same field, step and box returned at a coarser level.
struct CoarseSamples
{
  int level = 0;
  const void* values = nullptr;
};

struct ReadOptions
{
  /// Maximum number of threads; 0 for as many as oneTBB finds. Does not change what is read.
  int threads = 0;
  /// Samples that it already has are copied from it, and the rest is read. Each of the three levels
  /// that double all axes then costs 7/8 of a read without it.
  std::optional<CoarseSamples> coarse;
  /// Called from the calling thread with a fraction in [0, 1]; false cancels the read.
  std::function<bool(double)> progress;
};

/// An open dataset. Opening reads its text and no samples. No data file stays open, but the folders
/// of the steps read last do. All data are checked: damage is an error, never a wrong sample.
/// Absent blocks are not damage (IDX.md section 3); ReadReport counts them. Blocks that a writer
/// replaces meanwhile do not count as absent: all reads of a step, whatever the field and level,
/// see the version found by the first read, or fail because the step was replaced. All const
/// functions may be called concurrently. Movable.
///
/// Level H of a box has exactly its samples whose coordinates are multiples of delta(H):
/// sub-sampled, not averaged. delta halves along one axis from a level to the next, so that levels
/// H + 3 mostly have twice the samples along each of three axes.
class Dataset
{
public:
  /// Throws Error: NotFound, CannotOpen, and as parse_header().
  static Dataset open(const std::filesystem::path& path);
  /// Opens a dataset as if `path` had been read and had this text, for callers that read the text
  /// once for many. Throws as parse_header().
  static Dataset from_text(const std::filesystem::path& path, std::string text);
  /// Returns true if the file begins as one that open() reads or refuses with a reason. Never
  /// throws.
  static bool can_open(const std::filesystem::path& path) noexcept;

  Dataset(Dataset&&) noexcept;
  Dataset& operator=(Dataset&&) noexcept;
  ~Dataset();

  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] const Header& header() const noexcept;
  [[nodiscard]] const std::string& text() const noexcept; ///< text of the .idx
  [[nodiscard]] const LogicalBox& box() const noexcept { return this->header().box; }
  [[nodiscard]] const std::vector<Field>& fields() const noexcept { return this->header().fields; }
  /// Throws Error{InvalidArgument} naming the existing fields.
  [[nodiscard]] std::size_t field_index(std::string_view name) const;
  /// Returns the number of the finest level.
  [[nodiscard]] int levels() const noexcept { return this->header().levels(); }
  [[nodiscard]] Geometry geometry() const;

  /// Returns all time steps, ascending. Lists the folder if the text does not list them. Throws
  /// Error{Corrupt} for more than 1,000,000.
  [[nodiscard]] std::vector<std::int64_t> steps() const;
  /// Returns the times of steps(): those that our writer stored, or the steps themselves.
  [[nodiscard]] std::vector<double> times() const;

  /// Returns the distance of samples at a level. Throws Error{InvalidArgument} unless 0 <= level <=
  /// levels().
  [[nodiscard]] std::array<std::int64_t, 3> distance(int level) const;
  /// Returns the samples that a read returns, in `box` or by default everywhere. Parts of `box`
  /// outside of the dataset are ignored; counts are 0 if there are no samples. Throws as
  /// distance().
  [[nodiscard]] Lattice lattice(int level, const std::optional<LogicalBox>& box = {}) const;
  /// Returns the box of all samples whose indices (Lattice::index) lie in an extent { x0, x1, y0,
  /// y1, z0, z1 } of a level, which is how a piece of a vtkImageData is requested. Throws as
  /// distance().
  [[nodiscard]] LogicalBox box_of_extent(int level, const std::array<int, 6>& extent) const;
  /// Returns the logical box of the samples in a box of space, including its faces; may be empty.
  [[nodiscard]] LogicalBox box_of(const Box& physical) const;
  /// Returns the coarsest level at which a box has samples; empty if it has none at any level.
  [[nodiscard]] std::optional<int> first_level(const LogicalBox& box) const;

  /// Returns the cost of reading these fields. Throws Error{InvalidArgument} (level, fields).
  [[nodiscard]] Cost cost(const std::vector<std::size_t>& fields, int level,
    const std::optional<LogicalBox>& box = {}) const;
  /// Returns the finest level up to `maximum` at which the arrays of these fields take at most
  /// `budget_bytes`; 0 if none does. The same on every rank, as it depends only on the text. Throws
  /// as cost().
  [[nodiscard]] int finest_level(const std::vector<std::size_t>& fields, int maximum,
    std::uint64_t budget_bytes, const std::optional<LogicalBox>& box = {}) const;

  /// Reads the samples of lattice(query.level, query.box), x fastest, components interleaved,
  /// in the machine's byte order, into `values` of exactly `bytes` bytes. In addition it takes
  /// a few MiB per thread, or a block and its packed bytes if they are more. After a throw, the
  /// content of `values` is undefined. Throws Error: InvalidArgument (field, level, step,
  /// bytes, coarse), NotFound (no data of this step exist), CannotOpen (also: the step was
  /// replaced or removed since the dataset was opened), Truncated and Corrupt (naming file,
  /// field, block, what was found and what is allowed), UnsupportedVersion (a codec),
  /// OutOfMemory, Cancelled.
  ReadReport read(
    const Query& query, void* values, std::size_t bytes, const ReadOptions& options = {}) const;

  /// Reads from a server what locates the blocks of a query, and requests these. Does nothing for
  /// local files, and in arco, where each block is a file. Throws as read().
  void prefetch(const Query& query) const;

  /// Returns false if one of the steps read last now has another folder or none, so that the
  /// dataset should be opened again. The text is not checked.
  [[nodiscard]] bool is_as_opened() const noexcept;

  /// Checks every block of a field at a step, as read() of the finest level would, but keeps no
  /// samples. Throws as read().
  ReadReport check(std::size_t field, std::int64_t step, const ReadOptions& options = {}) const;

private:
  struct Impl;
  explicit Dataset(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};
}
