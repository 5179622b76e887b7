// SPDX-License-Identifier: BSD-3-Clause
// Writes the steps of a running simulation as series of .bat files (core/insitu/INSITU.md).
#pragma once

#include "bat/file_pattern.hpp"
#include "bat/mpi.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bat
{
class KeptMemory;
}
namespace bat::mpi
{
class OwnComm;
}
namespace bat::series
{
class List;
}

namespace bat::insitu
{
/// Selects the particles that get tracks. At most one of the first three is given; with none, no
/// tracks are written.
struct TrackOptions
{
  std::vector<Number> ids;    ///< any numbers except NaN, compared without rounding
  std::optional<Box> box;     ///< the particles in it at the first sample that has any there
  std::uint64_t every_id = 0; ///< the particles whose id, an integer, is a multiple of it
  std::vector<Number> second; ///< as many as `ids`, if there is a second attribute

  /// Attribute with the ids. If it is "", find_id_attribute() chooses it, and species without one
  /// have no tracks.
  std::string id_attribute;
  std::string second_attribute; ///< makes ids unique together; "" if they are unique alone
  std::optional<std::vector<std::string>> attributes; ///< attributes to keep; none given: all
  std::int64_t every = 1; ///< keeps every n-th step of those begun, from the first

  [[nodiscard]] bool any() const noexcept
  {
    return !this->ids.empty() || this->box || this->every_id != 0;
  }
};
/// Parses a JSON object with the keys ids (numbers, or pairs of them), box (6 numbers), every_id,
/// id, second, attributes, every. Throws Error{InvalidArgument} naming the key, what was found and
/// what is allowed.
[[nodiscard]] TrackOptions parse_track_options(const std::string& json);
/// Throws Error{InvalidArgument} if the options contradict each other.
void check(const TrackOptions& options);

/// Particles of one kind, with their own attributes, which become a separate series.
struct Species
{
  std::string name; ///< may be empty if there is only one
  std::vector<mpi::Piece> pieces;
};

/// A file that was written for a step; the same on all ranks.
struct WrittenFile
{
  std::filesystem::path path;
  std::string species;
  mpi::DatasetReport report;
};
/// Returns one JSON object: file, species, and the report.
[[nodiscard]] std::string to_json(const WrittenFile& file);

class SpeciesOptions;
class SpeciesTracks;
class TrackRecorder;

/// Writes steps, each as one dataset per species, and maintains NAME.bat.series next to them.
/// ParaView opens this list of files and times as one source; it is in step order and
/// complete after every step. An existing list is continued with those of its files that
/// still exist. A simulation that returns to a step, e.g. after a restart, replaces
/// everything from that step on: those files leave the list, and are removed once the list is
/// replaced. Times in a list are distinct; INSITU.md explains what happens if a clock goes
/// back. Not thread-safe.
class SeriesWriter
{
public:
  /// Called on rank 0 with a line for the user to read.
  using Notice = std::function<void(const std::string&)>;

  /// The limit of keep_memory() if it is not called.
  static constexpr std::uint64_t kKeptBytes = std::uint64_t{ 1 } << 26;

  /// Without `notice`, notices are printed to standard error.
  SeriesWriter(FilePattern pattern, mpi::WriteOptions options, Notice notice = {});

  /// Collective. Writes the particles of all ranks; `step` and `time` are stored in the files.
  /// Ranks may have different species and pieces; a species that a rank lacks is empty there. A
  /// species without particles on any rank has the attributes that pieces declare, or without a
  /// declaration those of the step before. With several species, a species that lacks an attribute
  /// named in `options` is written without that index, sample or bound; it is an error if all lack
  /// it. The arrays are not used after the return. Folders are created. The time is rank 0's.
  /// Throws Error on all ranks: as mpi::write_dataset; InvalidArgument if ranks have different
  /// steps, the time is not finite, or two species have the same file. Species that were written
  /// before one failed stay.
  std::vector<WrittenFile> write(
    MPI_Comm comm, std::int64_t step, double time, std::vector<Species> species);

  /// Collective. The two halves of write(): the files of a step, then their entries in the lists.
  /// Programs with several writers use them so that all particles are safe before a list can
  /// fail.
  std::vector<WrittenFile> write_files(
    MPI_Comm comm, std::int64_t step, double time, std::vector<Species> species);
  void write_lists(
    MPI_Comm comm, const std::vector<WrittenFile>& files, std::int64_t step, double time);

  /// Not collective. Limits the memory, in arrays of 128 KiB and more, that this process keeps
  /// from one step for the next. The rest returns to the system before the step returns, and
  /// memory kept beyond the limit before this call does. 0 keeps none. Writers of a process
  /// share this memory; the largest limit holds, and nothing is kept after the last writer is
  /// gone.
  void keep_memory(std::uint64_t max_bytes);

  /// Not collective; the same on all ranks, before the first step. Throws Error{InvalidArgument}.
  /// Species without the named id attribute get no tracks; species that lack another named
  /// attribute are followed without it.
  void set_tracks(TrackOptions options);
  /// Collective. Appends the particles of this step that set_tracks() chooses to the tracks of
  /// their species, whether the step is written or not. The arrays are not used after the return. A
  /// step with the number of an earlier one, or before it, replaces the tracks from there on. When
  /// the writer is destroyed, its tracks are sorted by particle (TracksWriter::finish). Returns the
  /// particles that were appended. Throws Error on all ranks: as write(); InvalidArgument if ids,
  /// attributes or their types are not allowed or differ from those with which the tracks began; as
  /// TracksWriter.
  std::uint64_t write_tracks(
    MPI_Comm comm, std::int64_t step, double time, const std::vector<Species>& species);

private:
  [[nodiscard]] std::vector<WrittenFile> files_of(
    const std::vector<std::string>& names, std::int64_t step, double time) const;
  void declare_columns(const mpi::OwnComm& comm, std::vector<mpi::Piece>& pieces,
    const WrittenFile& file, std::int64_t step, double time);
  [[nodiscard]] series::List& list_of(const std::string& species);

  FilePattern pattern_;
  std::shared_ptr<SpeciesOptions> options_;
  Notice notice_;
  std::shared_ptr<SpeciesTracks> track_options_;
  std::shared_ptr<KeptMemory> memory_;
  std::map<std::string, std::shared_ptr<series::List>> lists_;   ///< used on rank 0; by path
  std::map<std::string, std::shared_ptr<TrackRecorder>> tracks_; ///< by species
};
}
