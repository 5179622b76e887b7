// SPDX-License-Identifier: BSD-3-Clause
// A dataset: one leaf file, or several under a top file, queried as one.
#pragma once

#include "bat/file.hpp"
#include "bat/query.hpp"
#include "bat/types.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bat
{
/// What a dataset knows of one of its leaf files without opening it.
struct LeafInfo
{
  std::filesystem::path path;
  std::uint64_t particles = 0;
  std::uint64_t file_bytes = 0;
  std::optional<Box> bounds; ///< of the particles with finite coordinates
};

/// The particles that match a query, leaf file by leaf file, in the order of leaves(). A value.
struct DatasetSelection
{
  struct Part
  {
    std::size_t leaf = 0;
    Selection selection;
  };
  std::vector<Part> parts;  ///< ascending leaves; none empty
  std::uint64_t count = 0;  ///< particles
  std::uint64_t tested = 0; ///< particles that the index leaves to be looked at one by one
};

/// The selection in consecutive portions of at most `maximum` particles each, so that a long read
/// can tell of its progress or be given up. `maximum` is at least 1.
[[nodiscard]] std::vector<DatasetSelection> split(
  const DatasetSelection& selection, std::uint64_t maximum);

/// A value that an attribute has, and how many particles have it.
struct ValueCount
{
  Number value = 0.0;
  CountEstimate count;
};

/// Along what the bins of a histogram are equally wide.
enum class HistogramAxis
{
  Linear,
  /// Logarithmic on both sides of zero, for values over many orders of magnitude: bins are equally
  /// wide in asinh(value / straight_below).
  Logarithmic
};

/// An estimate of how the values of a key are spread. A value.
struct Histogram
{
  Number lower = 0.0;          ///< where the first bin begins: the smallest finite value
  Number upper = 0.0;          ///< where the last bin ends: the largest finite value
  double straight_below = 0.0; ///< where a logarithmic axis turns into a straight one; 0 if linear
  std::vector<double> counts;  ///< particles per bin; empty if no value is finite
};

/// An open dataset (FORMAT.md sections 3 and 15), or one of the files that the paper's library
/// writes. Opening reads a few KiB of the named file and no leaf file; leaf files are opened when a
/// query first needs them. The process keeps about a quarter of the descriptors that it may have
/// for files of all datasets, 1024 at most: of more leaf files, those that were used least recently
/// are closed and opened again when they are needed; one that has been removed, replaced or changed
/// since is an error then. Everything that File promises holds: damage is an error, never a wrong
/// particle; a leaf file that is missing, or is not the one that the top file names,
/// is an error that names both. All const functions may be called concurrently. Movable.
///
/// Quality holds for each leaf file, so that a quality returns q n particles to within one particle
/// per leaf file. Parts are dealt out over all leaf files by number of particles.
class Dataset
{
public:
  /// Throws Error: NotFound, CannotOpen, NotABatFile, UnsupportedVersion, Truncated, Corrupt.
  static Dataset open(const std::filesystem::path& path, const OpenOptions& options = {});
  /// True if the file begins as one that open() reads. Never throws.
  static bool can_open(const std::filesystem::path& path) noexcept;

  Dataset(Dataset&&) noexcept;
  Dataset& operator=(Dataset&&) noexcept;
  ~Dataset();

  [[nodiscard]] const std::string& name() const noexcept;
  /// "1.0"; "libbat" for the paper's library.
  [[nodiscard]] std::string format_version() const;
  [[nodiscard]] std::uint64_t particle_count() const noexcept;
  [[nodiscard]] ScalarType position_type() const noexcept;
  /// Box of the particles whose coordinates are all finite; empty if there are none.
  [[nodiscard]] std::optional<Box> bounds() const noexcept;
  [[nodiscard]] std::optional<double> time() const noexcept;
  [[nodiscard]] std::optional<std::int64_t> step() const noexcept;
  [[nodiscard]] std::string metadata() const; ///< JSON object, or empty
  [[nodiscard]] const std::vector<Attribute>& attributes() const noexcept;
  [[nodiscard]] std::vector<std::string> attribute_names() const;
  /// Throws Error{InvalidArgument} naming the attributes there are.
  [[nodiscard]] std::size_t attribute_index(std::string_view name) const;
  /// Whether an attribute is missing because there are no particles: the first steps of a series
  /// may lack columns. Such a column is empty, and no condition on it is met.
  [[nodiscard]] bool is_empty_column(std::string_view name) const;
  /// As File::stable_samples(); of each leaf file.
  [[nodiscard]] std::vector<std::string> stable_samples() const;
  /// As they are stored: aliases take none.
  [[nodiscard]] std::uint64_t bytes_per_particle() const noexcept;
  /// Bytes of the values of positions and attributes; File::storage() says what they take in a
  /// file.
  [[nodiscard]] std::uint64_t data_bytes() const noexcept;

  /// Neighbours in space are near each other. Reads the list the first time.
  [[nodiscard]] const std::vector<LeafInfo>& leaves() const;
  /// Bytes of all files.
  [[nodiscard]] std::uint64_t file_bytes() const;
  /// The only leaf file if it is one of this library's own; else null.
  [[nodiscard]] const File* single_file() const noexcept;
  /// Leaf file number `leaf` of leaves(), which is opened if it is not open yet, and is there as
  /// long as the dataset. Throws Error: InvalidArgument if there is no such leaf file, or if it is
  /// one of the paper's library; as open().
  [[nodiscard]] const File& leaf_file(std::size_t leaf) const;

  /// Particles of a quality: over leaf files, the sum of min(n, ceil(quality * n)). Throws
  /// Error{InvalidArgument} outside [0, 1].
  [[nodiscard]] std::uint64_t particles_at(double quality) const;
  /// Largest number of particles that select(query) can return, from the indices alone.
  [[nodiscard]] std::uint64_t upper_bound(
    const Query& query, const QueryOptions& options = {}) const;
  /// Estimates select(query).count for a fraction of its cost. `minimum` and `maximum` are certain:
  /// what the indices decide and the sample has shown. `likely` lies between them and takes the
  /// rest to be like a sample of it, the coarsest of the particles that the indices leave open, or
  /// some from all over these if the coarse ones are few; about 130,000 in all, so that fewer are
  /// counted exactly. Of what a sample of n finds none, there may be 3 in n. Reads the trees and
  /// treelets of the leaf files, and otherwise a few MiB whatever their size. Of more than 64 leaf
  /// files that the query touches, 64 spread evenly over them stand for the others, of which
  /// `minimum` takes nothing and `maximum` everything. The same on every rank. Leaf files of which
  /// every particle of the step is counted are opened only with QueryOptions::on_damage. Throws as
  /// select().
  [[nodiscard]] CountEstimate estimate_count(
    const Query& query, const QueryOptions& options = {}) const;
  /// The values of an integer attribute with one component, ascending, if there are few: if from
  /// its smallest to its largest value there are at most `max_values` integers. Those of them are
  /// left out that are known to be nowhere. Else, and if it has no values, nothing. Counts are as
  /// those of estimate_count(), from smaller samples. Throws Error: InvalidArgument (attribute); as
  /// select().
  [[nodiscard]] std::vector<ValueCount> few_values(
    std::size_t attribute, std::size_t max_values, const QueryOptions& options = {}) const;
  /// A fine quality up to query.quality at which select(query) returns at most `budget` particles,
  /// query.part and parts not looked at. Without conditions, or with lists of values that have no
  /// ranges among them and are not negated, it is the finest; with a box or shapes it comes from
  /// the indices; with other conditions it is the finest if a sample of about 100,000 particles
  /// exceeds the budget, else estimated from the sample and tried. Unless values are asked for,
  /// more than 1,024 leaf files are not opened for it: then all particles of those that the query
  /// touches count. The same on every rank. Throws as select().
  [[nodiscard]] double quality_within(
    const Query& query, std::uint64_t budget, const QueryOptions& options = {}) const;
  /// The distance between neighbours among the particles of query.quality in query.box and shapes,
  /// as half of them have it or less: of particles on a surface or a line, along these. From the
  /// sizes and counts of treelets in at most 64 leaf files; reads no particle. 0 if there are no
  /// particles, or if they are all at one place.
  [[nodiscard]] double spacing(const Query& query, const QueryOptions& options = {}) const;
  /// Finds the particles that match, exactly. As File::select.
  [[nodiscard]] DatasetSelection select(const Query& query, const QueryOptions& options = {}) const;
  /// As File::read_positions: shape (selection.count, 3).
  void read_positions(
    const DatasetSelection& selection, void* out, const QueryOptions& options = {}) const;
  /// As File::read_attribute: shape (selection.count, components).
  void read_attribute(std::size_t index, const DatasetSelection& selection, void* out,
    const QueryOptions& options = {}) const;

  /// Asks the system to bring the selected particles' positions and the attributes with these
  /// numbers into its page cache, and does not wait for it.
  void prefetch(
    const DatasetSelection& selection, const std::vector<std::size_t>& attributes) const;
  /// Estimates how the values of a key are spread: attribute number, component (-1 for the
  /// magnitude; 0 for a scalar). Does not look through the particles: what the quantiles in the
  /// index do not tell, the coarsest few thousand particles do. The share of the particles below
  /// any value is right to within about 1 %. Of a dataset of more than 64 leaf files, 64 spread
  /// evenly over all stand for the others, so that opening many files is not the price of a
  /// picture. NaN and infinite values are not counted; if there are infinite ones, the ends are
  /// those of the values that were looked at. Throws Error: InvalidArgument (attribute, component,
  /// no bins), Corrupt, Truncated, NotFound.
  [[nodiscard]] Histogram histogram(std::size_t attribute, int component, std::size_t bins,
    HistogramAxis axis = HistogramAxis::Linear) const;

  /// Bytes read from all files since the dataset was opened.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept;

  class Impl;
  /// For the library's own sources.
  [[nodiscard]] const Impl& impl() const noexcept { return *this->impl_; }

private:
  explicit Dataset(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};
}
