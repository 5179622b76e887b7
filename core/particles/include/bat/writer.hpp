// SPDX-License-Identifier: BSD-3-Clause
// From particles to a .bat file.
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
/// What becomes of an attribute whose values are, of all particles, those of the positions, of one
/// of their components, or of another attribute or a component of it.
enum class Repeats
{
  Store,   ///< it is stored like any other
  Link,    ///< it becomes an alias: its values are stored once and come back by both names
  LeaveOut ///< it is not written
};

/// How the values of columns are stored.
enum class Compression
{
  None,     ///< as they are
  Lossless, ///< in less room, every bit of every value
  Bounded   ///< the same, but for the arrays of BuildOptions::error_bounds
};

/// How a leaf file is built. The values that are allowed are in a table: bat/write_options.hpp.
struct BuildOptions
{
  /// Most particles of a treelet. Larger treelets make a smaller index and coarser attribute ranges
  /// per treelet. 256 to 65536.
  std::uint32_t treelet_particles = 8192;

  /// Particles of a block, the leaf of a treelet: what is tested together. 0 chooses the smallest
  /// size whose index fits in `index_budget`. 16 to 65536.
  std::uint32_t block_particles = 0;

  /// Share of the data that index and checksums may take when block_particles is 0. A target: the
  /// fixed parts of a small file can exceed it.
  double index_budget = 0.0075;

  /// Attributes with a sorted index, e.g. ids: queries for some of their values then read a few
  /// KiB, however many particles there are. Each costs 12 bytes per particle, in the file and while
  /// it is written, and time to sort. A name stands for the value or the magnitude, "velocity[2]"
  /// for a component.
  std::vector<std::string> sorted_indexes;

  /// Attributes of integers that together tell one particle from all others, e.g. "id", or "id" and
  /// "cpu". A quality that ends a level (0.9, 0.8 ... 0.1, 0.09 ...) then shows the particles whose
  /// ids have the lowest hashes, so that all steps of a series show the same ones; without it those
  /// that are spread most evenly over the space of each step. Of a quality between two levels up to
  /// a tenth may be others, as level by level is stored in the order of space, and of datasets of
  /// several leaf files some more, as particles move between them (FORMAT.md section 8). A name
  /// stands for all components, "ids[1]" for one. Samples are as even as chance makes them. Costs
  /// some 0.3 bytes per particle of the file, and 9 while it is ordered, 20 and more where many
  /// particles share ids.
  std::vector<std::string> stable_samples;

  /// For attributes that repeat what is there. Arrays that lie in the same memory in the same way
  /// are found at no cost. Attributes with a sorted index, of `stable_samples` or with a bound are
  /// stored in any case, and so is what repeats an array with a bound.
  Repeats repeats = Repeats::Store;
  /// Whether `repeats` looks at the values of all arrays of the same type too, bit by bit, up to
  /// the first that differs. Without it only attributes that are called like coordinates (x, pos,
  /// coords_z) are compared, and only with the positions.
  bool compare_values = false;

  /// Compressed columns take less room and more time to write; a query reads what it touches of
  /// them, as of others. Columns that hardly shrink stay as they are.
  Compression compression = Compression::None;
  /// Of Compression::Bounded: largest absolute difference between a value that is given and the one
  /// that is stored. "NAME=NUMBER" is in the units of the attribute, "NAME=NUMBER%" a share of the
  /// range of its finite values, all components together; NAME is "positions" for the positions,
  /// whose range is the longest side of their box. Of each component; float32 and float64 only.
  /// Other values, and NaN, infinities and what no multiple of twice the bound is near enough to,
  /// keep every bit. Boxes, ranges and indexes are those of the stored values.
  std::vector<std::string> error_bounds;

  /// Particles of a chunk, the part of a compressed column that is read together. Larger chunks
  /// make a smaller file, smaller ones less to read for a small box. 0 chooses. 256 to 65536.
  std::uint32_t chunk_particles = 0;

  /// Most threads to use; 0 for as many as oneTBB finds. Does not change the bytes.
  int threads = 0;

  /// Wait until all bytes are on disk before the new file takes its place. Without it a process
  /// that dies still leaves a whole file or the old one, but a computer that loses power may leave
  /// one whose damage only its checksums tell, and errors of a disk that come late go unnoticed.
  bool flush = true;

  /// Called from the calling thread with a fraction in [0, 1]; false cancels the write.
  std::function<bool(double)> progress;
};

/// What a write produced. Sizes in bytes; seconds of wall time.
struct WriteReport
{
  std::uint64_t particles = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t data_bytes = 0;         ///< positions and attributes, as they were given
  std::uint64_t stored_bytes = 0;       ///< the same as the file has them
  std::uint64_t index_bytes = 0;        ///< everything else: index, checksums, tables, padding
  std::uint64_t sorted_index_bytes = 0; ///< of these, the sorted indexes
  std::uint64_t treelets = 0;
  std::uint64_t largest_treelet = 0; ///< particles
  std::uint32_t block_particles = 0;
  double seconds_build = 0;  ///< order and tree
  double seconds_encode = 0; ///< columns and index
  double seconds_write = 0;  ///< giving bytes to the file system and waiting for the disk
};

/// One line of JSON: particles, leaf_files, file_bytes, data_bytes, ranks, seconds.
[[nodiscard]] std::string to_json(const WriteReport& report);

/// Writes `particles` to `path`, replacing what is there by one atomic rename after all bytes are
/// on disk (see BuildOptions::flush); on any failure the old file is untouched and no temporary is
/// left. Leaf files of a dataset that was there before, and what writers that were killed left, are
/// removed after that; leaf files that another top file in the folder refers to stay. Needs, beyond
/// the caller's arrays, 24 bytes per particle (36 with Float64 positions), or 8 and twice the
/// largest column if that is more, and 12 for a sorted index; with compression three times the
/// largest column more, and of arrays with a bound a copy. The same input gives the same bytes
/// for any number of threads. Not collective; safe to call concurrently for different paths. Throws
/// Error: InvalidArgument (arrays, names, options), CannotOpen, WriteFailed, NoSpace, Cancelled.
WriteReport write_file(const std::filesystem::path& path, const ParticleView& particles,
  const BuildOptions& options = {});

/// Removes the file or dataset at `path` with its leaf files, of which others that top files in the
/// folder refer to stay; a link at `path` is removed, not what it leads to. What cannot be removed
/// stays. False if there was nothing.
bool remove_dataset(const std::filesystem::path& path);

/// The bytes of write_file in memory. Throws Error{InvalidArgument, Cancelled}.
Bytes encode(
  const ParticleView& particles, const BuildOptions& options = {}, WriteReport* report = nullptr);
}
