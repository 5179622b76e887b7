// SPDX-License-Identifier: BSD-3-Clause
// One open .bat file: its contents, and queries on it.
#pragma once

#include "bat/bytes.hpp"
#include "bat/error.hpp"
#include "bat/query.hpp"
#include "bat/types.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bat
{
/// A number per particle that range queries can use (FORMAT.md section 11).
struct Key
{
  int component = 0;    ///< -1 for the magnitude
  Number minimum = 0.0; ///< ignores NaN; minimum > maximum if there are no other values
  Number maximum = 0.0;
  bool has_nan = false;
  bool has_sorted_index = false; ///< for one leaf file; unset for a dataset of several
};

/// The array that an attribute repeats bit for bit. The file stores the values once (FORMAT.md
/// section 7). An alias can be queried like any attribute but has no column of its own in the
/// file.
struct Alias
{
  std::optional<std::size_t> attribute; ///< number of the attribute; empty: the positions
  int component = -1;                   ///< component of that attribute; -1 for all of them
};

struct Attribute
{
  std::string name;
  ScalarType type = ScalarType::Float64;
  int components = 1;
  std::uint8_t role = 0;       ///< hint, see AttributeView
  std::uint32_t host_type = 0; ///< hint, see AttributeView
  std::vector<Key> keys;       ///< one for a scalar; components, then the magnitude, for a vector
  std::optional<Alias> alias = std::nullopt; ///< such attributes come after all others
};

/// Formats the target of an alias among these `attributes`: "position", "position[2]", "velocity".
[[nodiscard]] std::string to_string(const Alias& alias, const std::vector<Attribute>& attributes);

/// How the values of a column are stored.
struct ColumnStorage
{
  std::uint64_t raw_bytes = 0;    ///< size of the values
  std::uint64_t stored_bytes = 0; ///< size in the file, excluding checksums
  bool is_compressed = false;
  /// Largest absolute difference between a value given to the writer and the stored one. 0 means
  /// that every bit is as given.
  double bound = 0;
};

/// An attribute that the HDF5 view of a file does not show.
struct LeftOut
{
  std::string name;
  std::string reason;
};

/// The HDF5 view of a file, through which HDF5 and stock readers of VTKHDF read the columns in
/// place (FORMAT.md section 20).
struct Hdf5ViewInfo
{
  bool exists = false;
  std::string reason; ///< why the file cannot have a view; empty if it has one or can have one
  std::vector<LeftOut> left_out; ///< empty if no view exists
};
/// Returns a JSON object with `exists`, `reason`, and `left_out`, an array of objects with `name`
/// and `reason`.
[[nodiscard]] std::string to_json(const Hdf5ViewInfo& view);

struct OpenOptions
{
  /// Called for every read from the file (offset, bytes), possibly from several threads at once.
  std::function<void(std::uint64_t, std::uint64_t)> on_read;
  /// Maps files into memory instead of reading them. Queries copy straight out of the page cache,
  /// and File::map_positions() and map_attribute() return whole uncompressed columns without a
  /// copy (for a Dataset: those of its leaf_file()s). Only for files that no process changes in
  /// place: a file found truncated gives Error{Truncated} as usual, but one truncated during
  /// access, or on a failing disk, ends the process with SIGBUS. A mapped page is checked when it
  /// is first used and not again while the file is open; pages that are read are checked each
  /// time. Files of the paper's library are always read. Writers of this library replace files and
  /// never change them.
  bool map = false;
};

struct QueryOptions
{
  /// Maximum number of threads; 0 for as many as oneTBB finds. Does not change the answer.
  int threads = 0;
  /// Makes a Dataset continue without leaf files that are missing or damaged. Called with the
  /// number of each and its error, possibly from several threads at once. select() and estimates
  /// leave its particles out; read_*() does not write its rows, whose contents are meaningless.
  /// Without it the error is thrown. Errors that are not the file's are always thrown:
  /// UnsupportedVersion, InvalidArgument, OutOfMemory. File ignores it.
  std::function<void(std::size_t, const Error&)> on_damage = nullptr;
};

/// An open file. Opening reads a few KiB, whatever the number of particles; the index is read when
/// a query first needs it. Every byte is checked against its checksum before it is used (of a
/// mapped file: when its page is first used), so a damaged file gives Error{Corrupt} and never a
/// wrong particle. Unless OpenOptions::map asks for it, data is read, not mapped: a file that
/// shrinks while open gives Error{Truncated}. All const functions may be called concurrently.
/// Movable.
class File
{
public:
  /// Throws Error: NotFound, CannotOpen, NotABatFile, UnsupportedVersion, Truncated, Corrupt.
  static File open(const std::filesystem::path& path, const OpenOptions& options = {});
  /// The same for bytes in memory; `name` stands for the path in messages.
  static File from_memory(Bytes bytes, std::string name);
  static File from_memory(std::vector<std::byte> bytes, std::string name);
  /// True if the file begins like a .bat file of any version. Never throws.
  static bool has_magic(const std::filesystem::path& path) noexcept;

  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  ~File();

  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] std::uint64_t file_bytes() const noexcept;
  [[nodiscard]] std::string format_version() const; ///< "1.0"
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
  /// Size of a particle's stored values in bytes. Aliases take none.
  [[nodiscard]] std::uint64_t bytes_per_particle() const noexcept;

  [[nodiscard]] std::uint64_t treelet_count() const noexcept;
  [[nodiscard]] std::uint64_t block_count() const noexcept;
  [[nodiscard]] std::uint32_t block_particles() const noexcept;
  /// Particles up to and including each level, coarse to fine; the last is particle_count().
  [[nodiscard]] const std::vector<std::uint64_t>& level_ends() const noexcept;
  /// Integer attributes, or components of them ("ids[1]"), whose hashes order the levels, so that
  /// all steps of a series show the same particles at the same quality. Empty without stable
  /// samples (BuildOptions::stable_samples).
  [[nodiscard]] std::vector<std::string> stable_samples() const;
  /// Size of the values of positions and attributes in bytes. storage() returns their size in the
  /// file.
  [[nodiscard]] std::uint64_t data_bytes() const noexcept;

  /// How an attribute is stored, or the positions without one. An alias is stored as the array that
  /// it repeats. Throws Error: InvalidArgument if there is no such attribute; Corrupt.
  [[nodiscard]] ColumnStorage storage(std::optional<std::size_t> attribute) const;

  /// Returns whether the file has an HDF5 view, why not, and what it leaves out.
  [[nodiscard]] Hdf5ViewInfo hdf5_view() const;

  /// Number of particles at a quality: min(n, ceil(quality * n)). Throws Error{InvalidArgument}
  /// outside [0, 1].
  [[nodiscard]] std::uint64_t particles_at(double quality) const;

  /// Returns the largest number of particles that select(query) can return, from the index alone.
  [[nodiscard]] std::uint64_t upper_bound(const Query& query) const;

  /// Finds the particles that match, exactly. Reads the index, and positions or attributes only of
  /// blocks that the index cannot decide. Deterministic. Throws Error: InvalidArgument (attribute,
  /// NaN, minimum above maximum, quality, part), Corrupt, Truncated.
  [[nodiscard]] Selection select(const Query& query, const QueryOptions& options = {}) const;

  /// Copies x, y, z of the selected particles to `out`: shape (selection.count, 3),
  /// position_type(). `out` belongs to the caller and needs no alignment. Throws Error: Corrupt,
  /// Truncated, InvalidArgument if the selection reaches beyond the file.
  void read_positions(
    const Selection& selection, void* out, const QueryOptions& options = {}) const;
  /// The same for attribute `index`: shape (selection.count, components) in its own type.
  void read_attribute(std::size_t index, const Selection& selection, void* out,
    const QueryOptions& options = {}) const;

  /// Returns x, y, z of the first `count` particles in file order, in place in the mapped file:
  /// shape (count, 3), position_type(), aligned. The particles of a quality are the first
  /// particles_at(quality). Nothing is copied; pages not used before are checked against their
  /// checksums during the call. The memory belongs to the file, is read-only, and lives as long as
  /// the file is open. Throws Error: InvalidArgument if the file is not mapped, the column is
  /// compressed, or there are fewer particles; Corrupt, Truncated.
  [[nodiscard]] const void* map_positions(
    std::uint64_t count, const QueryOptions& options = {}) const;
  /// Does the same for attribute `index`: shape (count, components) in its own type. An alias for
  /// one of several components has no column: Error{InvalidArgument}.
  [[nodiscard]] const void* map_attribute(
    std::size_t index, std::uint64_t count, const QueryOptions& options = {}) const;

  /// Bytes read from the file since it was opened.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept;

  /// Calls visit(file position, position as doubles) for each match, in file order, on this thread.
  void for_each(const Query& query,
    const std::function<void(std::uint64_t, const std::array<double, 3>&)>& visit) const;

  class Impl;
  /// For the library's own sources.
  [[nodiscard]] const Impl& impl() const noexcept { return *this->impl_; }

private:
  friend class Dataset;
  explicit File(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};
}
