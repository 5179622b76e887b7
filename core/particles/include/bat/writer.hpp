// SPDX-License-Identifier: BSD-3-Clause
// Writes particles to a .bat file.
#pragma once

#include "bat/bytes.hpp"
#include "bat/particles.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace bat
{
/// How to treat an attribute whose values repeat, for all particles, the positions, one of their
/// components, another attribute or one of its components.
enum class Repeats
{
  Store,   ///< it is stored like any other
  Link,    ///< it becomes an alias: its values are stored once and read by both names
  LeaveOut ///< it is not written
};

/// How column values are stored.
enum class Compression
{
  None,     ///< uncompressed
  Lossless, ///< compressed, every bit of every value is kept
  Bounded   ///< compressed, except that arrays in BuildOptions::error_bounds may change
};

/// How a leaf file is built. The table of bat/write_options.hpp has the allowed values.
struct BuildOptions
{
  /// Maximum particles of a treelet. Larger treelets make a smaller index and coarser attribute
  /// ranges per treelet. 256 to 65536.
  std::uint32_t treelet_particles = 8192;

  /// Particles of a block, the leaf of a treelet; the particles of a block are tested together. 0
  /// chooses the smallest size whose index fits in `index_budget`. 16 to 65536.
  std::uint32_t block_particles = 0;

  /// The share of the data that index and checksums may take if block_particles is 0. A target: the
  /// fixed parts of a small file can exceed it.
  double index_budget = 0.0075;

  /// Attributes with a sorted index, e.g. ids: queries for some of their values then read a few
  /// KiB, however many particles there are. Each costs 12 bytes per particle, in the file and while
  /// it is written, and time to sort. A name stands for the value or the magnitude, "velocity[2]"
  /// for a component.
  std::vector<std::string> sorted_indexes;

  /// Integer attributes that together identify a particle, e.g. "id", or "id" and "cpu". A quality
  /// that ends a level (0.9, 0.8 ... 0.1, 0.09 ...) then shows the particles whose ids have the
  /// lowest hashes, so that all steps of a series show the same ones. Without it, each step shows
  /// the particles that are spread most evenly in space. At a quality between two levels up to a
  /// tenth of the particles may differ, because each level is stored in spatial order. In datasets
  /// of several leaf files some more differ, as particles move between them (FORMAT.md section 8).
  /// A name stands for all components, "ids[1]" for one. Samples are only as even as random ones.
  /// Costs some 0.3 bytes per particle in the file, and 9 while it is ordered, 20 and more where
  /// many particles share ids.
  std::vector<std::string> stable_samples;

  /// How to treat attributes that repeat other arrays. Arrays that share memory and layout are
  /// found at no cost. Attributes with a sorted index, in `stable_samples` or with a bound are
  /// always stored, and so are attributes that repeat an array with a bound.
  Repeats repeats = Repeats::Store;
  /// Whether `repeats` also compares the values of all arrays of the same type bit by bit, up to
  /// the first that differs. Without it only attributes with names of coordinates (x, pos,
  /// coords_z) are compared, and only with the positions.
  bool compare_values = false;

  /// Compressed columns take less space and more time to write. A query reads only what it touches,
  /// as with other columns. Columns that hardly shrink are stored as they are.
  Compression compression = Compression::None;
  /// For Compression::Bounded: the largest absolute difference between a given value and the stored
  /// one. "NAME=NUMBER" is in the units of the attribute, "NAME=NUMBER%" a share of the range of
  /// its finite values, all components together; NAME is "positions" for the positions, whose range
  /// is the longest side of their box. Bounds apply to each component, of float32 and float64 only.
  /// Other types, NaN, infinities and values too far from any multiple of twice the bound keep
  /// every bit. Boxes, ranges and indexes are those of the stored values.
  std::vector<std::string> error_bounds;

  /// Particles of a chunk, the part of a compressed column that is read together. Larger chunks
  /// make a smaller file, smaller ones reduce the reads for a small box. 0 chooses. 256 to 65536.
  std::uint32_t chunk_particles = 0;

  /// Adds an HDF5 view, through which HDF5 and stock readers of VTKHDF read the uncompressed
  /// columns in place (FORMAT.md section 20). Takes about 8 KiB per file, 150 bytes per attribute
  /// and 0.002 bytes per particle. A file whose positions are compressed has none.
  bool hdf5_view = true;

  /// Maximum number of threads; 0 for as many as oneTBB finds. Does not change the bytes.
  int threads = 0;

  /// Waits until all bytes are on disk before the new file takes its place. Without it a process
  /// that dies still leaves a complete file or the old one, but a power failure may leave a damaged
  /// one that only its checksums reveal, and late disk errors go unnoticed.
  bool flush = true;

  /// Called from the calling thread with a fraction in [0, 1]; false cancels the write.
  std::function<bool(double)> progress;
};

/// The result of a write. Sizes in bytes; seconds of wall time.
struct WriteReport
{
  std::uint64_t particles = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t data_bytes = 0;         ///< positions and attributes, as given
  std::uint64_t stored_bytes = 0;       ///< the same, as stored in the file
  std::uint64_t index_bytes = 0;        ///< everything else: index, checksums, tables, padding
  std::uint64_t sorted_index_bytes = 0; ///< of these, the sorted indexes
  std::uint64_t treelets = 0;
  std::uint64_t largest_treelet = 0; ///< particles
  std::uint32_t block_particles = 0; ///< the chosen size, if BuildOptions::block_particles is 0
  double seconds_build = 0;          ///< order and tree
  double seconds_encode = 0;         ///< columns and index
  double seconds_write = 0;          ///< giving bytes to the file system and waiting for the disk
};

/// Returns one line of JSON: particles, leaf_files, file_bytes, data_bytes, ranks, seconds.
[[nodiscard]] std::string to_json(const WriteReport& report);

/// Writes `particles` to `path`, replacing an existing file by one atomic rename after all bytes
/// are on disk (see BuildOptions::flush); on any failure the old file is untouched and no temporary
/// is left. Then the leaf files of the replaced dataset and the remains of killed writers are
/// removed; leaf files that another top file in the folder refers to stay. Needs, beyond the
/// caller's arrays, 24 bytes per particle (36 with Float64 positions), or 8 and twice the largest
/// column if that is more, and 12 for a sorted index; with compression three times the largest
/// column more, and a copy of arrays with a bound. The same input gives the same bytes for any
/// number of threads. Not collective; safe to call concurrently for different paths. Throws Error:
/// InvalidArgument (arrays, names, options), CannotOpen, WriteFailed, NoSpace, Cancelled.
WriteReport write_file(const std::filesystem::path& path, const ParticleView& particles,
  const BuildOptions& options = {});

/// Removes the file or dataset at `path` with its leaf files, except those that other top files in
/// the folder refer to. If `path` is a link, only the link is removed. Files that cannot be removed
/// stay. Returns false if there was nothing.
bool remove_dataset(const std::filesystem::path& path);

/// Returns the bytes of write_file in memory. Throws Error{InvalidArgument, Cancelled}.
Bytes encode(
  const ParticleView& particles, const BuildOptions& options = {}, WriteReport* report = nullptr);
}
