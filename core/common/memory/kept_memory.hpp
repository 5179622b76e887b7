// SPDX-License-Identifier: BSD-3-Clause
// Memory that a process takes from the system once and uses again for the next step of a series.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bat
{
/// How much of the memory of a step (see Use) waits for the next one. Programs may have several of
/// these; they share the kept memory, and the largest limit applies. When the last one is
/// destroyed, all of it returns to the system. Thread-safe.
class KeptMemory
{
public:
  /// Smaller arrays are not kept.
  static constexpr std::size_t kMinBytes = std::size_t{ 1 } << 17;

  explicit KeptMemory(std::uint64_t max_bytes);
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  ~KeptMemory();

  /// Takes effect immediately, or at the end of the last Use if one lives.
  void set_max_bytes(std::uint64_t bytes) noexcept;

  /// Bytes now kept by all instances in this process.
  [[nodiscard]] static std::uint64_t bytes() noexcept;

  /// While one lives, memory of allocate_large() is what was kept, where it fits, and what
  /// free_large() gets is kept. With what is kept, a step takes at most what it needs at the same
  /// time, or an eighth more than the step before it did. At the end of the last Use, what is over
  /// the limit goes back to the system; the rest the system may take too, should memory become
  /// short.
  class Use
  {
  public:
    explicit Use(const KeptMemory& kept) noexcept; ///< which outlives it
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use();
  };

private:
  std::uint64_t max_bytes_;
};

namespace detail
{
/// Memory on a border of `alignment`, for as long as until give_to_kept(); nullptr where no Use
/// lives or the system has none.
[[nodiscard]] void* take_from_kept(std::size_t bytes, std::size_t alignment) noexcept;
/// Returns false for memory that is not from take_from_kept().
bool give_to_kept(void* memory) noexcept;
}
}
