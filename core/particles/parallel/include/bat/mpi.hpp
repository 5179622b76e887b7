// SPDX-License-Identifier: BSD-3-Clause
// Writes and reads datasets on many ranks (core/particles/parallel/MPI.md).
//
// "Collective" calls are made by all ranks of the communicator. A failure on one rank throws the
// same Error on all of them, at the end of the phase in which it happened. Its text names the
// rank.
#pragma once

#include "bat/dataset.hpp"
#include "bat/error.hpp"
#include "bat/particles.hpp"
#include "bat/query.hpp"
#include "bat/ranks.hpp"
#include "bat/write_options.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bat::mpi
{
/// Phases of a write, in order; every one ends with an agreement of all ranks.
enum class Phase
{
  Check,    ///< arrays, options and attributes are checked and compared
  Plan,     ///< summaries to rank 0, tree to all
  Exchange, ///< particles to their aggregators
  Write,    ///< aggregators build and write leaf files; nothing is visible yet
  Commit    ///< leaf files get their names, then the top file appears
};
[[nodiscard]] const char* name_of(Phase phase) noexcept;

/// All ranks use the options of rank 0, except `local_bounds` and `on_phase`. Without
/// build.threads, a rank uses its share of the node's processors, at least one. build.progress is
/// called on rank 0 only; the call with 1.0 comes after the commit, when cancelling is too late.
struct WriteOptions : bat::WriteOptions
{
  /// Called on every rank when it enters a phase. If it throws, that phase fails.
  std::function<void(Phase)> on_phase;
};

/// Wall time of the slowest rank, in seconds.
struct PhaseSeconds
{
  double check = 0;
  double plan = 0;
  double exchange = 0;
  double build = 0; ///< tree, columns and index of leaf files
  double write = 0; ///< bytes to the file system, flushed
  double commit = 0;
  double total = 0;
};

/// Messages between ranks, collective ones not counted. Sums over all ranks, except the maxima.
struct MessageCounts
{
  std::uint64_t within = 0; ///< a node
  std::uint64_t bytes_within = 0;
  std::uint64_t between = 0; ///< nodes
  std::uint64_t bytes_between = 0;
  std::uint64_t max_received = 0; ///< by one rank
  std::uint64_t max_received_bytes = 0;
};

/// Where a write or a read ran, and its costs there. The same on all ranks.
struct RunReport
{
  int ranks = 0;
  int nodes = 0;
  int aggregators = 0; ///< ranks that write leaf files, or read them
  int threads = 0;     ///< minimum over all ranks
  MessageCounts messages;
  std::uint64_t peak_memory_bytes = 0; ///< maximum over processes since they began
  std::string advice;                  ///< why ranks leave processors idle; empty if they do not
};

/// The same on all ranks. Sizes in bytes.
struct DatasetReport : RunReport
{
  std::uint64_t particles = 0;
  std::uint64_t skipped = 0; ///< particles that Piece::skip left out
  std::uint64_t leaf_files = 0;
  std::uint64_t target_bytes = 0;
  std::uint64_t file_bytes = 0;         ///< all files
  std::uint64_t data_bytes = 0;         ///< positions and attributes
  std::uint64_t largest_leaf_bytes = 0; ///< positions and attributes of the largest leaf file
  std::uint64_t moved_bytes = 0;        ///< particles sent from one rank to another
  int leaders = 0; ///< ranks that sent for their node; 0 if each rank sent its own data
  PhaseSeconds seconds;
};
/// Returns one line of JSON.
[[nodiscard]] std::string to_json(const DatasetReport& report);
/// One or two sentences for the user, without an end of line.
[[nodiscard]] std::string to_line(const DatasetReport& report);

/// Particles of a rank that are together in memory. A rank may have several such pieces, e.g. one
/// per domain; all have the same attributes.
struct Piece
{
  ParticleView particles;
  /// One integer per particle. Particles with any of `skip_bits` set in it, e.g. ghosts, are left
  /// out.
  std::optional<ArrayView> skip;
  std::uint64_t skip_bits = ~std::uint64_t{ 0 };
};

/// Collective. Writes the particles of all ranks as one dataset, which replaces the one at `path`
/// once everything is on disk: readers see the old dataset or the new one, never a mixture, even if
/// a process is killed. Path and options are taken from rank 0; time, step and metadata from the
/// first rank that has particles. Ranks may be empty and then need not know the attributes; the
/// others have the same attributes, in any order. A single leaf file is written as `path` itself;
/// several are in the folder `path`.leaves. Uses MPI only within `comm` and from the calling
/// thread. Memory beyond the caller's arrays: the particles that others send to this rank, own
/// particles that are scattered among those of other leaf files (MPI.md, Exchange), 8 bytes per own
/// particle, 128 MiB. Throws Error on all ranks.
DatasetReport write_dataset(MPI_Comm comm, const std::filesystem::path& path,
  const ParticleView& particles, const WriteOptions& options = {});

/// Collective. Works as write_dataset does, with particles in several places. Copies only particles
/// that move to an aggregator, positions, and what write_dataset copies. A rank's particles are
/// numbered piece by piece; time, step and metadata come from its first piece. Additional memory: 4
/// bytes per particle in pieces of which particles other than the first and last ones are skipped.
DatasetReport write_pieces(MPI_Comm comm, const std::filesystem::path& path,
  const std::vector<Piece>& pieces, const WriteOptions& options = {});

/// Collective. Opens the same dataset on all ranks, or fails on all; Error{CannotOpen} if it is
/// being replaced at this moment.
[[nodiscard]] Dataset open_dataset(
  MPI_Comm comm, const std::filesystem::path& path, const OpenOptions& options = {});

/// Values of some particles in this process's memory, packed.
struct Particles
{
  struct Column
  {
    std::string name;
    ScalarType type = ScalarType::Float64;
    int components = 1;
    std::vector<std::byte> values; ///< shape (count, components)
  };
  std::uint64_t count = 0;
  ScalarType position_type = ScalarType::Float32;
  std::vector<std::byte> positions; ///< shape (count, 3)
  std::vector<Column> columns;

  /// Borrows the arrays.
  [[nodiscard]] ParticleView view() const;
};

/// How ranks get the particles of their queries. The answers are the same, bit for bit.
enum class ReadMode
{
  Auto,      ///< the one that choose_read_mode (MPI.md, Reading) expects to be faster
  Direct,    ///< each rank opens the leaf files that its query touches
  Aggregated ///< each leaf file is opened by one rank, which answers the others
};
[[nodiscard]] const char* name_of(ReadMode mode) noexcept;
/// "auto", "direct", "aggregated". Throws Error{InvalidArgument} for other names.
[[nodiscard]] ReadMode parse_read_mode(std::string_view name);

/// Phases of a read, in order; every one ends with an agreement of all ranks. An aggregated read
/// has Select and Fetch once per round.
enum class ReadPhase
{
  Plan,   ///< queries are matched with leaf files and sent to their readers
  Select, ///< leaf files are opened and particles found
  Fetch   ///< values go to the ranks that requested them
};

/// All ranks use `mode` and `memory_bytes` of rank 0.
struct ReadOptions
{
  ReadMode mode = ReadMode::Auto;
  /// Maximum bytes of leaf files that a rank holds at a time in an aggregated read. Larger files
  /// are read piece by piece, as in a direct read, by the one rank that opens them.
  std::uint64_t memory_bytes = std::uint64_t{ 256 } << 20;
  /// Maximum number of threads of this rank; 0 for its share of the node's processors.
  int threads = 0;
  /// Called on every rank when it enters a phase. If it throws, that phase fails.
  std::function<void(ReadPhase)> on_phase = nullptr;
};

/// Wall time of the slowest rank, in seconds.
struct ReadSeconds
{
  double plan = 0;
  double load = 0;   ///< aggregated: whole leaf files into memory
  double select = 0; ///< particles found; direct: leaf files opened, too
  double fetch = 0;  ///< values read, sent and received
  double total = 0;
};

/// The same on all ranks.
struct ReadReport : RunReport
{
  ReadMode mode = ReadMode::Direct; ///< never Auto
  std::string reason;               ///< reason for the mode
  std::uint64_t particles = 0;      ///< particles in all answers
  std::uint64_t data_bytes = 0;     ///< bytes in all answers
  std::uint64_t leaf_files = 0;     ///< touched by any query
  std::uint64_t opens = 0;          ///< leaf files used by a rank, summed over ranks
  std::uint64_t read_bytes = 0;     ///< bytes read from files by all ranks
  std::uint64_t rounds = 0;         ///< rounds of an aggregated read
  ReadSeconds seconds;
};
/// Returns one line of JSON.
[[nodiscard]] std::string to_json(const ReadReport& report);
/// One or two sentences for the user, without an end of line.
[[nodiscard]] std::string to_line(const ReadReport& report);

/// Collective; each rank has its own query. `attributes` are the same on all ranks, in any order;
/// none means all. To restart with any number of ranks, give every rank its box of a tiling of
/// space with Query::half_open, or `part` = rank and `parts` = ranks for equal shares; each
/// particle is then read once. Memory beyond the answer: little for a direct read; for an
/// aggregated one ReadOptions::memory_bytes, four messages of 2 MiB, 64 MiB for selections, and the
/// largest column of the answer if there are several rounds. Fills `report` on the ranks that pass
/// one. Throws Error on all ranks if one fails.
[[nodiscard]] Particles read_particles(MPI_Comm comm, const Dataset& dataset, const Query& query,
  const std::vector<std::string>& attributes = {}, const ReadOptions& options = {},
  ReadReport* report = nullptr);
}
