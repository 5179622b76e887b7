// SPDX-License-Identifier: BSD-3-Clause
// Tracks: chosen particles through time in one file, NAME.tracks.bat (FORMAT.md section 19), which
// grows while a simulation runs. follow() (bat/follow.hpp) reads them.
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
/// What each particle of a sample has.
struct TrackSchema
{
  std::string id_attribute = "id";
  ScalarType id_type = ScalarType::Int64;
  /// Of ids that are unique only together with another attribute; "" if they are by themselves.
  std::string second_attribute;
  ScalarType second_type = ScalarType::Int64; ///< counts only with a second attribute
  ScalarType position_type = ScalarType::Float64;
  std::vector<Attribute> attributes; ///< without those of the ids; keys and aliases do not count
};
/// Packed bytes of position and attributes of a particle.
[[nodiscard]] std::size_t track_bytes(const TrackSchema& schema) noexcept;

/// Particles at one time.
struct TrackSample
{
  std::int64_t step = 0;
  std::optional<double> time;
  std::string metadata; ///< JSON object (UTF-8), or empty; FollowRequest::unwrap_by_files reads it
  TrackSchema schema;
  /// Bits of the ids as values of the 8-byte type of their class: double, int64_t or uint64_t. In
  /// any order; of several particles with the same id, the first one counts as the first.
  std::vector<std::uint64_t> ids;
  std::vector<std::uint64_t> second; ///< as many, or none
  std::vector<std::byte> values;     ///< track_bytes() of each: x, y, z, then the attributes
};

/// Appends samples to a tracks file. A sample is in the file whole or not at all, whenever the
/// process, or with `flush` the computer, dies. Readers may read what is there at any time. Not
/// thread-safe.
class TracksWriter
{
public:
  /// Goes on with the file at `path`, or begins it. What a writer that died left of a sample is cut
  /// off, or committed if it is whole, and samples that lie one by one are put in order as finish()
  /// does. `flush`: each sample is on disk before append() returns.
  /// Throws Error: CannotOpen if the file cannot be written, or another process writes it;
  /// NotABatFile, UnsupportedVersion; Truncated if it is shorter than its writer left it; Corrupt
  /// if it is damaged, or ends with what is not of an unfinished sample; and then it stays as it
  /// is; InvalidArgument if its name does not end in ".tracks.bat".
  explicit TracksWriter(const std::filesystem::path& path, bool flush = true);
  TracksWriter(TracksWriter&&) noexcept;
  TracksWriter& operator=(TracksWriter&&) noexcept;
  ~TracksWriter(); ///< without finish()

  /// Adds a sample; those with the same or a later step number are replaced by it: the simulation
  /// has come back. Throws Error: InvalidArgument if the sample contradicts itself, an id is NaN,
  /// the time is, or the metadata is no JSON object; NoSpace, WriteFailed, and the file then holds
  /// what it held.
  void append(const TrackSample& sample);

  /// Ids of the samples with step numbers below `step`, each once, ascending; with their second
  /// attribute. Throws as Tracks::open().
  struct Ids
  {
    std::vector<std::uint64_t> ids;
    std::vector<std::uint64_t> second;
  };
  [[nodiscard]] Ids ids_before(std::int64_t step) const;

  /// Puts all samples in order, so that the history of a particle is one run of bytes (of each 64
  /// MiB of the file), and gives back the space of samples that were replaced. The file is replaced
  /// by one rename. The writer is closed then, also if this throws: Error as append(), and Corrupt.
  void finish();

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes the tracks of `in` to `out` as TracksWriter::finish() leaves them; both may be the same.
/// Memory: 200 MiB, or three times the largest sample. Throws as TracksWriter, and Tracks::open().
void repack_tracks(
  const std::filesystem::path& in, const std::filesystem::path& out, bool flush = true);

/// What is in a tracks file. A value.
struct Tracks
{
  struct Sample
  {
    std::int64_t step = 0;
    std::optional<double> time;
    std::uint64_t particles = 0;
  };

  TrackSchema schema;          ///< of the last sample that has particles
  std::vector<Sample> samples; ///< ascending steps
  std::vector<Number> ids;     ///< of any sample, each once, ascending
  std::vector<Number> second;  ///< of the same, if there is a second attribute
  std::uint64_t blocks = 0;    ///< runs of bytes that hold samples; 1 in a finished file
  std::uint64_t file_bytes = 0;
  bool is_finished = false; ///< TracksWriter::finish(), and no append() since
  std::uint64_t unfinished_bytes =
    0; ///< at the end: of a sample that is being written, or never was

  /// Reads ids and samples, no values. Throws Error: NotFound, CannotOpen, NotABatFile, Truncated,
  /// UnsupportedVersion, Corrupt.
  [[nodiscard]] static Tracks open(const std::filesystem::path& path);
};

/// Checks every byte and every rule of FORMAT.md section 19. Throws as Tracks::open().
void validate_tracks(const std::filesystem::path& path);
}
