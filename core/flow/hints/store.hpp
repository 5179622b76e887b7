// SPDX-License-Identifier: BSD-3-Clause
// The hints for a source, in memory and in a file (core/flow/HINTS.md).
#pragma once

#include "bat/brick_source.hpp"
#include "flow/hints/transitions.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace bat::flow
{
/// Identifies a source: another grid or other first times give another number.
[[nodiscard]] std::uint64_t hints_id(const BrickSource& source) noexcept;

/// Returns the most transitions kept for a source: 0.1 % of its data, at least 64 KiB and at most
/// 64 MiB.
[[nodiscard]] std::size_t max_transitions(const BrickSource& source) noexcept;

/// Returns the bytes of a file.
[[nodiscard]] std::vector<std::byte> encode_hints(const HintGraph& graph, std::uint64_t id);
/// Reads hints from a file; returns nothing if it is malformed or of another source.
[[nodiscard]] std::optional<HintGraph> read_hints(
  int descriptor, std::uint64_t id, std::size_t maximum) noexcept;

/// All functions may be called concurrently. None fails: files that cannot be read or written are
/// treated as absent.
class HintStore
{
public:
  /// If `file` is empty, hints live only in this process. Reads nothing yet.
  HintStore(const BrickSource& source, std::filesystem::path file);
  HintStore(const HintStore&) = delete;
  HintStore& operator=(const HintStore&) = delete;
  /// Saves what could not be saved before.
  ~HintStore();

  /// Returns all known transitions: those in the file, which the first call reads, and those
  /// learned since.
  [[nodiscard]] std::shared_ptr<const HintGraph> graph() noexcept;
  /// Returns the capacity for a HintLog.
  [[nodiscard]] std::size_t maximum() const noexcept { return this->max_; }
  void learn(std::vector<HintLog>& logs) noexcept;
  /// Merges the learned transitions with the current content of the file and replaces it; if the
  /// file cannot be written, uses the one in the user's cache folder. If other processes are
  /// writing, the call waits for at most 0.2 s, and keeps the learned transitions for the next
  /// time.
  void save() noexcept;

private:
  enum class Saved
  {
    Yes,
    Busy,
    Refused
  };
  void load();
  [[nodiscard]] Saved save_to(const std::filesystem::path& file);

  std::uint64_t id_;
  std::size_t max_;
  std::filesystem::path file_;
  std::filesystem::path other_; ///< file in the user's cache folder; empty if there is none

  std::mutex mutex_;
  bool is_loaded_ = false;
  std::shared_ptr<const HintGraph> graph_;
  HintGraph learned_; ///< learned and not saved
};
}
