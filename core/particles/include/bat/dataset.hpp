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
/// What a dataset knows about one of its leaf files without opening it.
struct LeafInfo
{
  /// Path to open the file, relative to the working directory if the dataset's path was.
  std::filesystem::path path;
  std::uint64_t particles = 0;
  std::uint64_t file_bytes = 0;
  std::optional<Box> bounds; ///< bounds of the particles with finite coordinates
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
  std::uint64_t tested = 0; ///< particles that were tested one by one
};

/// Splits the selection into consecutive portions of at most `maximum` particles each, so that a
/// long read can report progress or be cancelled. `maximum` is at least 1.
[[nodiscard]] std::vector<DatasetSelection> split(
  const DatasetSelection& selection, std::uint64_t maximum);

/// A value that an attribute has, and how many particles have it.
struct ValueCount
{
  Number value = 0.0;
  CountEstimate count;
};

/// The axis on which the bins of a histogram are equally wide.
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
  Number lower = 0.0;          ///< beginning of the first bin: the smallest finite value
  Number upper = 0.0;          ///< end of the last bin: the largest finite value
  double straight_below = 0.0; ///< below this magnitude a logarithmic axis is linear; 0 if linear
  std::vector<double> counts;  ///< particles per bin; empty if no value is finite
};

/// An open dataset (FORMAT.md sections 3 and 15), or one of the files that the paper's library
/// writes. Opening reads a few KiB of the named file and no leaf file; leaf files are opened when a
/// query first needs them. For the files of all datasets the process uses about a quarter of its
/// file descriptors, 1024 at most. Beyond that the least recently used leaf files are closed and
/// reopened on demand; a file removed, replaced or changed in between is an error. All promises of
/// File hold: damage is an error, never a wrong particle. A leaf file that is missing, or is not
/// the one that the top file names, is an error that names both. All const functions may be called
/// concurrently. Movable.
///
/// Quality applies to each leaf file, so that quality q returns q n particles to within one
/// particle per leaf file. Parts are assigned over all leaf files by number of particles.
class Dataset
{
public:
  /// Opens a path, or an http, https or s3 address (common/io/REMOTE.md). Throws Error: NotFound,
  /// CannotOpen, NotABatFile, UnsupportedVersion, Truncated, Corrupt.
  static Dataset open(const std::filesystem::path& path, const OpenOptions& options = {});
  /// True if the file begins like one that open() reads. Never throws.
  static bool can_open(const std::filesystem::path& path) noexcept;
  /// Returns whether the dataset is at an address.
  [[nodiscard]] bool is_remote() const noexcept;

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
  /// Throws Error{InvalidArgument} naming the available attributes.
  [[nodiscard]] std::size_t attribute_index(std::string_view name) const;
  /// Returns whether an attribute is missing because there are no particles: the first steps of a
  /// series may lack columns. Such a column is empty, and no condition on it is met.
  [[nodiscard]] bool is_absent_when_empty(std::string_view name) const;
  /// As File::stable_samples(), for each leaf file.
  [[nodiscard]] std::vector<std::string> stable_samples() const;
  /// As File::hdf5_view(), for the file that was opened. Opens all leaf files; those that cannot be
  /// read are not considered.
  [[nodiscard]] Hdf5ViewInfo hdf5_view() const;
  /// Size of a particle's stored values in bytes. Aliases take none.
  [[nodiscard]] std::uint64_t bytes_per_particle() const noexcept;
  /// Size of the values of positions and attributes in bytes. File::storage() returns their size in
  /// a file.
  [[nodiscard]] std::uint64_t data_bytes() const noexcept;

  /// Consecutive leaf files are neighbours in space. Reads the list on the first call.
  [[nodiscard]] const std::vector<LeafInfo>& leaves() const;
  /// Size of all files in bytes.
  [[nodiscard]] std::uint64_t file_bytes() const;
  /// The only leaf file, if there is just one and this library wrote it; else null.
  [[nodiscard]] const File* single_file() const noexcept;
  /// Leaf file number `leaf` of leaves(). Opens it if needed; it lives as long as the dataset.
  /// Throws Error: InvalidArgument if there is no such leaf file, or if the paper's library wrote
  /// it; as open().
  [[nodiscard]] const File& leaf_file(std::size_t leaf) const;

  /// Number of particles at a quality: the sum of min(n, ceil(quality * n)) over leaf files. Throws
  /// Error{InvalidArgument} outside [0, 1].
  [[nodiscard]] std::uint64_t particles_at(double quality) const;
  /// Returns the largest number of particles that select(query) can return, from the indices alone.
  [[nodiscard]] std::uint64_t upper_bound(
    const Query& query, const QueryOptions& options = {}) const;
  /// Estimates select(query).count for a fraction of its cost. `minimum` and `maximum` are certain:
  /// they follow from the indices and the sample. `likely` lies between them and extrapolates from
  /// a sample: the coarsest of the particles that the indices leave undecided, or particles spread
  /// over all of these if the coarse ones are few. The sample has about 130,000 particles, so that
  /// fewer are counted exactly. If a sample of n finds no match, up to 3 in n may still match.
  /// Reads the trees and treelets of the leaf files, and otherwise a few MiB whatever their size.
  /// If the query touches more than 64 leaf files, 64 spread evenly over them stand for the others,
  /// which add nothing to `minimum` and everything to `maximum`. The result is the same on every
  /// rank. Leaf files all of whose particles count are opened only with QueryOptions::on_damage.
  /// Throws as select().
  [[nodiscard]] CountEstimate estimate_count(
    const Query& query, const QueryOptions& options = {}) const;
  /// The values of an integer attribute with one component, ascending, if there are few: at most
  /// `max_values` integers lie between its smallest and its largest value, both included. Values
  /// known not to occur are left out. Otherwise, and for no values, the result is empty. Counts are
  /// as in estimate_count(), from smaller samples. Throws Error: InvalidArgument (attribute); as
  /// select().
  [[nodiscard]] std::vector<ValueCount> few_values(
    std::size_t attribute, std::size_t max_values, const QueryOptions& options = {}) const;
  /// A fine quality up to query.quality at which select(query) returns at most `budget` particles.
  /// Ignores query.part and query.parts. Without conditions, or with lists of values that are not
  /// negated and have no ranges, it is the finest such quality. With a box or shapes it comes from
  /// the indices. With other conditions it is the finest if a sample of about 100,000 particles
  /// exceeds the budget, else estimated from the sample and tried. Unless values are queried, more
  /// than 1,024 leaf files are not opened: all particles of those that the query touches count
  /// then. The result is the same on every rank. Throws as select().
  [[nodiscard]] double quality_within(
    const Query& query, std::uint64_t budget, const QueryOptions& options = {}) const;
  /// The median distance between neighbours among the particles of query.quality in query.box and
  /// shapes. On a surface or a line it is the distance along it. Computed from the sizes and counts
  /// of treelets in at most 64 leaf files; reads no particle. 0 if there are no particles, or if
  /// all of them are at one place.
  [[nodiscard]] double spacing(const Query& query, const QueryOptions& options = {}) const;
  /// Finds the particles that match, exactly. See File::select.
  [[nodiscard]] DatasetSelection select(const Query& query, const QueryOptions& options = {}) const;
  /// See File::read_positions; shape (selection.count, 3).
  void read_positions(
    const DatasetSelection& selection, void* out, const QueryOptions& options = {}) const;
  /// See File::read_attribute; shape (selection.count, components).
  void read_attribute(std::size_t index, const DatasetSelection& selection, void* out,
    const QueryOptions& options = {}) const;

  /// Asks the system to load the selected particles' positions and the attributes with these
  /// numbers into its page cache; at an address, requests them from the server. Does not wait.
  void prefetch(
    const DatasetSelection& selection, const std::vector<std::size_t>& attributes) const;
  /// Estimates how the values of a key are spread: attribute number, component (-1 for the
  /// magnitude; 0 for a scalar). Does not scan all particles: it uses the quantiles in the index
  /// and, where these do not suffice, the coarsest few thousand particles. The share of the
  /// particles below any value is right to within about 1 %. In a dataset of more than 64 leaf
  /// files, 64 spread evenly stand for all, so that a picture does not cost opening many files. NaN
  /// and infinite values are not counted; if there are infinite ones, the ends are those of the
  /// values read. Throws Error: InvalidArgument (attribute, component, no bins), Corrupt,
  /// Truncated, NotFound.
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
