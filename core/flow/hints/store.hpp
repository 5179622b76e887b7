// SPDX-License-Identifier: BSD-3-Clause
// Hints of a source, in memory and in a file (core/flow/HINTS.md).
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
/// Of what hints are: another number for another grid, or other first times.
[[nodiscard]] std::uint64_t hints_id(const BrickSource& source) noexcept;

/// Most transitions that are kept of a source: of 0.1 % of its data, 64 KiB and 64 MiB.
[[nodiscard]] std::size_t max_transitions(const BrickSource& source) noexcept;

/// The bytes of a file.
[[nodiscard]] std::vector<std::byte> encode_hints(const HintGraph& graph, std::uint64_t id);
/// Of a file; nothing if anything about it is odd, or it is of another source.
[[nodiscard]] std::optional<HintGraph> read_hints(
  int descriptor, std::uint64_t id, std::size_t maximum) noexcept;

/// All functions may be called concurrently. None fails: what cannot be read or written is as if it
/// was not there.
class HintStore
{
public:
  /// `file` may be empty: hints are those of this process. Reads nothing yet.
  HintStore(const BrickSource& source, std::filesystem::path file);
  HintStore(const HintStore&) = delete;
  HintStore& operator=(const HintStore&) = delete;
  /// Saves what could not be saved before.
  ~HintStore();

  /// What is known: of the file, which the first call reads, and learned since.
  [[nodiscard]] std::shared_ptr<const HintGraph> graph() noexcept;
  /// For a HintLog.
  [[nodiscard]] std::size_t maximum() const noexcept { return this->max_; }
  void learn(std::vector<HintLog>& logs) noexcept;
  /// Merges what was learned with what the file has by now, and replaces it; where that is not
  /// allowed, the file in the user's cache folder. While others write, what was learned is kept for
  /// the next time, after a fifth of a second at most.
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
  std::filesystem::path other_; ///< in the user's cache folder; empty if there is none

  std::mutex mutex_;
  bool is_loaded_ = false;
  std::shared_ptr<const HintGraph> graph_;
  HintGraph learned_; ///< and not saved
};
}
