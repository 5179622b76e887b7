// SPDX-License-Identifier: BSD-3-Clause
// Tracks: selected particles through time in one file, NAME.tracks.bat (FORMAT.md section 19),
// which grows while a simulation runs. follow() (bat/follow.hpp) reads them.
#pragma once

#include "bat/file.hpp"
#include "bat/series.hpp"
#include "bat/types.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bat
{
/// The columns of each particle in a sample.
struct TrackSchema
{
  std::string id_attribute = "id";
  ScalarType id_type = ScalarType::Int64;
  /// The attribute together with which ids are unique; "" if they are unique by themselves.
  std::string second_attribute;
  ScalarType second_type = ScalarType::Int64; ///< ignored without a second attribute
  ScalarType position_type = ScalarType::Float64;
  std::vector<Attribute> attributes; ///< excludes the ids; keys and aliases are ignored
};
/// Size of the packed position and attributes of one particle, in bytes.
[[nodiscard]] std::size_t track_bytes(const TrackSchema& schema) noexcept;

/// Particles at one time.
struct TrackSample
{
  std::int64_t step = 0;
  std::optional<double> time;
  std::string metadata; ///< JSON object (UTF-8), or empty; FollowRequest::unwrap_by_files reads it
  TrackSchema schema;
  /// Bits of the ids as values of the 8-byte type of their class: double, int64_t or uint64_t. Any
  /// order is allowed; particles with the same id keep their order.
  std::vector<std::uint64_t> ids;
  std::vector<std::uint64_t> second; ///< one per id, or none
  std::vector<std::byte> values;     ///< track_bytes() of each: x, y, z, then the attributes
};

/// Appends samples to a tracks file. If the process (with `flush`, the computer) dies, a sample
/// is in the file completely or not at all. Readers may read the file at any time. Not
/// thread-safe.
class TracksWriter
{
public:
  /// Continues the file at `path`, or creates it. A sample that a dead writer left is cut off, or
  /// committed if it is complete, and samples stored one by one are packed as finish() does.
  /// `flush`: each sample is on disk before append() returns. Throws Error: CannotOpen if the file
  /// cannot be written, or another process writes it; NotABatFile, UnsupportedVersion; Truncated if
  /// it is shorter than its writer left it; Corrupt if it is damaged, or its end is not part of an
  /// unfinished sample; the file is left unchanged then; InvalidArgument if its name does not end
  /// in ".tracks.bat".
  explicit TracksWriter(const std::filesystem::path& path, bool flush = true);
  TracksWriter(TracksWriter&&) noexcept;
  TracksWriter& operator=(TracksWriter&&) noexcept;
  ~TracksWriter(); ///< does not call finish()

  /// Adds a sample. It replaces those with the same or a later step number, since the simulation
  /// has restarted. Throws Error: InvalidArgument if the sample contradicts itself, an id or the
  /// time is NaN, or the metadata is not a JSON object; NoSpace, WriteFailed, and the file is then
  /// unchanged.
  void append(const TrackSample& sample);

  /// The ids in samples with step numbers below `step`, each once, ascending, with their second
  /// attribute. Throws as Tracks::open().
  struct Ids
  {
    std::vector<std::uint64_t> ids;
    std::vector<std::uint64_t> second;
  };
  [[nodiscard]] Ids ids_before(std::int64_t step) const;

  /// Packs all samples, so that a particle's history is one run of bytes (in each 64 MiB of the
  /// file), and frees the space of replaced samples. The file is replaced by one rename. The writer
  /// is closed afterwards, even if this throws: Error as append(), and Corrupt.
  void finish();

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes the tracks of `in` to `out` packed as by TracksWriter::finish(); both may be the same.
/// Memory: 200 MiB, or three times the largest sample. Throws as TracksWriter, and Tracks::open().
void repack_tracks(
  const std::filesystem::path& in, const std::filesystem::path& out, bool flush = true);

/// The contents of a tracks file. A value.
struct Tracks
{
  struct Sample
  {
    std::int64_t step = 0;
    std::optional<double> time;
    std::uint64_t particles = 0;
  };

  TrackSchema schema;          ///< schema of the last sample with particles
  std::vector<Sample> samples; ///< ascending steps
  std::vector<Number> ids;     ///< ids in all samples, each once, ascending
  std::vector<Number> second;  ///< second values of these ids, if there is a second attribute
  std::uint64_t blocks = 0;    ///< runs of bytes that hold samples; 1 in a finished file
  std::uint64_t file_bytes = 0;
  bool is_finished = false; ///< TracksWriter::finish(), and no append() since
  std::uint64_t unfinished_bytes =
    0; ///< at the end: of a sample that is being written, or never was

  /// Reads ids and samples, but no values. Throws Error: NotFound, CannotOpen, NotABatFile,
  /// Truncated, UnsupportedVersion, Corrupt.
  [[nodiscard]] static Tracks open(const std::filesystem::path& path);
};

/// Checks every byte and every rule of FORMAT.md section 19. Throws as Tracks::open().
void validate_tracks(const std::filesystem::path& path);
}
