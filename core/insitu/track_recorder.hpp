// SPDX-License-Identifier: BSD-3-Clause
// Records selected particles of one species, from all ranks, in a tracks file.
#pragma once

#include "bat/insitu.hpp"
#include "bat/tracks.hpp"
#include "parallel/comm.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bat::insitu
{
class TrackRecorder
{
public:
  /// `species` is its name, or "".
  TrackRecorder(std::filesystem::path path, std::string species, const TrackOptions& options,
    bool flush, SeriesWriter::Notice notice);
  TrackRecorder(const TrackRecorder&) = delete;
  TrackRecorder& operator=(const TrackRecorder&) = delete;
  /// Finishes the file, on rank 0; an error is reported, and the file is still complete.
  ~TrackRecorder();

  /// Collective. See SeriesWriter::write_tracks.
  std::uint64_t record(const mpi::OwnComm& comm, std::int64_t step, double time,
    const std::vector<mpi::Piece>& pieces);

private:
  struct Source;
  /// Id and second attribute, as bits in their value classes.
  using Id = std::pair<std::uint64_t, std::uint64_t>;

  /// The particles of a step on one rank.
  struct RankSources;
  /// The facts on which all ranks have agreed for a step.
  struct Agreed;

  void check_options(const mpi::OwnComm& comm);
  void find_sources(const std::vector<mpi::Piece>& pieces, RankSources& own) const;
  [[nodiscard]] std::optional<Agreed> agree_on_schema(const mpi::OwnComm& comm, RankSources& own);
  void open_writer();
  [[nodiscard]] std::vector<Id> find_in_box(const RankSources& own) const;
  template <class T>
  [[nodiscard]] bool may_keep(T id) const;
  [[nodiscard]] std::vector<std::uint64_t> collect_rows(
    const RankSources& own, const TrackSchema& schema) const;
  [[nodiscard]] std::string choose_id(const std::vector<Attribute>& all) const;
  [[nodiscard]] std::string choose_second(
    const std::vector<Attribute>& all, const std::string& id) const;
  [[nodiscard]] Source make_source(const ParticleView& view) const;
  [[nodiscard]] bool has_ids(const ParticleView& view) const;
  [[nodiscard]] bool is_chosen(const Id& id) const;
  void choose(const mpi::OwnComm& comm, std::int64_t step, const TrackSchema& schema,
    const std::vector<Id>& in_box);
  void choose_listed(const TrackSchema& schema);

  std::filesystem::path path_;
  std::string species_;
  TrackOptions options_;
  bool flush_;
  SeriesWriter::Notice notice_;
  std::optional<TracksWriter> writer_;    ///< rank 0, once there was a step
  std::optional<TrackSchema> listed_for_; ///< types that `chosen_` has ids of
  std::optional<std::int64_t> chosen_at_; ///< the first step with particles in the box
  std::vector<Id> chosen_;                ///< ascending bits; of a list or a box
  bool any_second_ = false;               ///< ids are listed without the second part
  std::vector<std::uint64_t> hashes_;     ///< a bit for each that a chosen id may have
  bool has_looked_back_ = false;          ///< has searched earlier samples for those in the box
  bool has_reported_ = false;
  bool has_agreed_ = false; ///< all ranks on the options
};
}
