// SPDX-License-Identifier: BSD-3-Clause
// The state of an open dataset.
#pragma once

#include "bat/dataset.hpp"
#include "libbat/top_file.hpp"
#include "particles/dataset/top_file.hpp"
#include "particles/query/conditions.hpp"
#include "particles/query/leaf_source.hpp"

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace bat
{
class Dataset::Impl
{
public:
  using Opener = std::function<std::unique_ptr<LeafSource>(std::size_t)>;
  /// Ordinals of one leaf file that a query must examine.
  struct Task
  {
    std::size_t leaf = 0;
    OrdinalInterval ordinals;
  };

  /// A dataset with one leaf file.
  Impl(std::unique_ptr<LeafSource> leaf, std::string version);
  /// A dataset with several leaf files.
  Impl(std::unique_ptr<TopFile> opened, OpenOptions options);

  /// A dataset from the paper's library.
  Impl(libbat::Top top_of_paper, OpenOptions options);

  /// Their paths are for messages.
  const std::vector<LeafInfo>& leaves() const;
  /// The path of a leaf file, or its address with the secrets of the dataset's address.
  [[nodiscard]] std::filesystem::path leaf_path(std::size_t i) const;
  /// Opens the leaf file if it is not open yet.
  const LeafSource& leaf(std::size_t i) const;
  /// Closes a leaf file that leaf() has opened and no caller uses, in a dataset with several.
  void close_leaf(std::size_t i) const;
  /// A copy of a leaf file of this library in memory, read in large pieces. Null for other files,
  /// and for a mapped one, which is prefetched completely. Throws as leaf().
  std::unique_ptr<LeafSource> image(std::size_t i) const;
  /// Throws Error{InvalidArgument}.
  query::Conditions conditions(const Query& query) const;
  /// Whether the files are at an address.
  [[nodiscard]] bool is_remote() const noexcept;
  /// If the dataset is remote, opens the leaf files of `tasks` and calls read(task, leaf) for each,
  /// many at the same time, so that the same calls, one after another, find their bytes in memory.
  /// Errors are those of the later calls.
  void prepare_leaves(const std::vector<Task>& tasks,
    const std::function<void(const Task&, const LeafSource&)>& read = {}) const;
  /// The leaf files that the aggregation tree cannot exclude.
  std::vector<Task> tasks(const query::Conditions& conditions) const;
  /// Returns the bytes of a leaf file, even if it is not open yet. Its contents are not checked.
  /// Must not outlive the dataset. Throws as leaf().
  std::shared_ptr<const io::RandomAccessFile> bytes_of(std::size_t i) const;
  std::uint64_t bytes_read() const noexcept;
  /// As Dataset::estimate_count. Tests about `tested` particles.
  CountEstimate estimate_count(
    const Query& query, std::uint64_t tested, const QueryOptions& options) const;

  /// Returns whether the file caused the error, rather than the query, the library or the machine.
  static bool is_damage(ErrorCode code) noexcept
  {
    switch (code)
    {
      case ErrorCode::NotFound:
      case ErrorCode::CannotOpen:
      case ErrorCode::NotABatFile:
      case ErrorCode::Truncated:
      case ErrorCode::Corrupt:
        return true;
      default:
        return false;
    }
  }

  /// Calls f(), which reads a leaf file, and passes errors of the file to the caller's on_damage,
  /// if it continues without damaged files.
  template <class F>
  static void reading(std::size_t leaf, const QueryOptions& options, F&& f)
  {
    try
    {
      f();
    }
    catch (const Error& error)
    {
      if (!options.on_damage || !is_damage(error.code()))
      {
        throw;
      }
      options.on_damage(leaf, error);
    }
  }

  std::string name;
  std::string version;
  std::uint64_t particles = 0;
  ScalarType position_type = ScalarType::Float32;
  std::optional<Box> bounds;
  std::optional<double> time;
  std::optional<std::int64_t> step;
  std::vector<Attribute> attributes;
  const File* single = nullptr;
  std::unique_ptr<TopFile> top; ///< null for a single leaf file, or for the paper's library
  std::uint64_t top_bytes = 0;  ///< size of a top file of the paper's library

private:
  struct Slot
  {
    std::mutex mutex;
    std::unique_ptr<LeafSource> leaf;
  };

  /// A leaf file whose number of matches is unknown without its indices.
  struct Undecided
  {
    const Task* task;
    std::uint64_t maximum; ///< particles that may match
  };

  void set_leaves(std::vector<LeafInfo> leaves, Opener opener) const;
  /// Adds the leaf files in which all particles of the step match, and returns the others.
  std::vector<Undecided> count_decided(const query::Conditions& conditions,
    const std::vector<Task>& tasks, const QueryOptions& options, CountEstimate& estimate) const;
  std::unique_ptr<LeafSource> open_own(std::size_t i) const;

  OpenOptions options_;
  mutable std::once_flag loaded_;
  mutable std::atomic<bool> ready_{ false };
  mutable std::vector<LeafInfo> leaves_;
  mutable std::vector<std::uint64_t> first_ordinal_; ///< per leaf file, and all particles
  mutable Opener opener_;
  mutable std::unique_ptr<Slot[]> slots_;
};
}
