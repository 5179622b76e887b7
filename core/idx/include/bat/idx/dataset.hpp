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

  /// Samples in all.
  [[nodiscard]] std::uint64_t samples() const noexcept
  {
    return static_cast<std::uint64_t>(this->count[0]) * static_cast<std::uint64_t>(this->count[1]) *
      static_cast<std::uint64_t>(this->count[2]);
  }
  /// Number of the first sample along an axis, counted in distances from logical 0: the lower end
  /// of a vtkImageData's extent. Sample i of the array is number index(axis) + i.
  [[nodiscard]] std::int64_t index(std::size_t axis) const noexcept
  {
    return this->first[axis] / this->distance[axis];
  }
};

/// Where samples lie: that of the logical coordinates p at origin + p * spacing.
struct Geometry
{
  std::array<double, 3> origin{};
  std::array<double, 3> spacing{ 1, 1, 1 };
  /// Empty, or why the dataset's own geometry (a rotation, say) is not this one, which is that of
  /// logical coordinates.
  std::string warning;
};

/// What to read: of one field, at one step, the samples of a box that a level has.
struct Query
{
  std::size_t field = 0; ///< of Header::fields
  int level = 0;         ///< 0, one sample, to levels(), all of them
  std::optional<LogicalBox> box;
  std::optional<std::int64_t> step; ///< the first if not given
};

/// What a read will take, from the text alone.
struct Cost
{
  std::uint64_t samples = 0;     ///< of the array, per field
  std::uint64_t bytes = 0;       ///< of the arrays of all fields asked for
  std::uint64_t blocks = 0;      ///< that have some of the samples, of all these fields
  std::uint64_t block_bytes = 0; ///< of these blocks, unpacked: most that is read
};

/// What a read took.
struct ReadReport
{
  std::uint64_t samples = 0;
  std::uint64_t blocks = 0;        ///< that were looked for
  std::uint64_t absent_blocks = 0; ///< of these: not there; their samples have the default value
  std::uint64_t bytes_read = 0;    ///< of files, with headers of blocks
};

/// An array that an earlier read with the same field, step and box gave at a coarser level.
struct CoarseSamples
{
  int level = 0;
  const void* values = nullptr;
};

struct ReadOptions
{
  /// Most threads to use; 0 for as many as oneTBB finds. Does not change what is read.
  int threads = 0;
  /// Takes from it what it has, and reads the rest: each of the three levels that double all axes
  /// then costs 7/8 of a read without.
  std::optional<CoarseSamples> coarse;
  /// Called from the calling thread with a fraction in [0, 1]; false gives the read up.
  std::function<bool(double)> progress;
};

/// An open dataset. Opening reads its text and no samples; of data files, none stays open, but the
/// folders of the steps that were read last do. Everything read is checked: of damage, an error
/// tells, never a wrong sample. Blocks that are absent are no damage (IDX.md section 3): ReadReport
/// tells of them. What a writer replaces while it is open is no absent block: all that a Dataset
/// reads of a step, fields and levels, is of the version that its first read has found, or an error
/// says that the step was replaced. All const functions may be called concurrently. Movable.
///
/// Level H of a box has exactly its samples whose coordinates are multiples of delta(H):
/// sub-sampled, not averaged. delta halves along one axis from a level to the next, so that levels
/// H + 3 mostly have twice the samples along each of three axes.
class Dataset
{
public:
  /// Throws Error: NotFound, CannotOpen, and as parse_header().
  static Dataset open(const std::filesystem::path& path);
  /// As if `path` had been read and had this text: for what reads the text once for many. Throws as
  /// parse_header().
  static Dataset from_text(const std::filesystem::path& path, std::string text);
  /// True if the file begins as one that open() reads, or refuses with a reason. Never throws.
  static bool can_open(const std::filesystem::path& path) noexcept;

  Dataset(Dataset&&) noexcept;
  Dataset& operator=(Dataset&&) noexcept;
  ~Dataset();

  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] const Header& header() const noexcept;
  [[nodiscard]] const std::string& text() const noexcept; ///< of the .idx
  [[nodiscard]] const LogicalBox& box() const noexcept { return this->header().box; }
  [[nodiscard]] const std::vector<Field>& fields() const noexcept { return this->header().fields; }
  /// Throws Error{InvalidArgument} naming the fields there are.
  [[nodiscard]] std::size_t field_index(std::string_view name) const;
  /// Number of the finest level.
  [[nodiscard]] int levels() const noexcept { return this->header().levels(); }
  [[nodiscard]] Geometry geometry() const;

  /// All time steps, ascending. Looks into the folder if the text leaves it to that. At most
  /// 1,000,000; throws Error{Corrupt} of more.
  [[nodiscard]] std::vector<std::int64_t> steps() const;
  /// The times of steps(): what our writer noted, or the steps themselves.
  [[nodiscard]] std::vector<double> times() const;

  /// Distance of samples at a level. Throws Error{InvalidArgument} unless 0 <= level <= levels().
  [[nodiscard]] std::array<std::int64_t, 3> distance(int level) const;
  /// The samples that a read returns, of the whole box if none is given. Parts of `box` outside of
  /// the dataset count for nothing; counts are 0 if there are no samples. Throws as distance().
  [[nodiscard]] Lattice lattice(int level, const std::optional<LogicalBox>& box = {}) const;
  /// The box of all samples whose numbers (Lattice::index) lie in an extent
  /// { x0, x1, y0, y1, z0, z1 } of a level: how a piece of a vtkImageData asks. Throws as
  /// distance().
  [[nodiscard]] LogicalBox box_of_extent(int level, const std::array<int, 6>& extent) const;
  /// Logical box of the samples in a box of physical coordinates, faces inside; may be empty.
  [[nodiscard]] LogicalBox box_of(const Box& physical) const;
  /// The coarsest level at which a box has samples; empty if it has none at any.
  [[nodiscard]] std::optional<int> first_level(const LogicalBox& box) const;

  /// What read() takes for these fields together. Throws Error{InvalidArgument} (level, fields).
  [[nodiscard]] Cost cost(const std::vector<std::size_t>& fields, int level,
    const std::optional<LogicalBox>& box = {}) const;
  /// The finest level up to `maximum` whose arrays of these fields have at most `budget_bytes`; 0
  /// if none has. The same on every rank: it follows from the text alone. Throws as cost().
  [[nodiscard]] int finest_level(const std::vector<std::size_t>& fields, int maximum,
    std::uint64_t budget_bytes, const std::optional<LogicalBox>& box = {}) const;

  /// Reads the samples of lattice(query.level, query.box), x fastest, components interleaved, in
  /// the machine's byte order, into `values` of exactly `bytes` bytes. Takes, beyond that, a few
  /// MiB per thread, or a block and its packed bytes if they are more. After a throw, what `values`
  /// holds is not defined. Throws Error: InvalidArgument (field, level, step, bytes, coarse),
  /// NotFound (nothing of this step is there), CannotOpen (also: the step was replaced or removed
  /// since the dataset was opened), Truncated and Corrupt (naming file,
  /// field, block, what was found and what is allowed), UnsupportedVersion (a codec), OutOfMemory,
  /// Cancelled.
  ReadReport read(
    const Query& query, void* values, std::size_t bytes, const ReadOptions& options = {}) const;

  /// False if a step that was read last has another folder by now, or none: to be opened again for
  /// what is there. The text is not looked at.
  [[nodiscard]] bool is_as_opened() const noexcept;

  /// Reads every block that a field has at a step, as read() of the finest level would, and keeps
  /// no samples: whether all of it is sound. Throws as read().
  ReadReport check(std::size_t field, std::int64_t step, const ReadOptions& options = {}) const;

private:
  struct Impl;
  explicit Dataset(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};
}
