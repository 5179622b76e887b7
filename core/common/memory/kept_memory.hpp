// SPDX-License-Identifier: BSD-3-Clause
// Memory that a process allocates once and reuses for the next step of a series.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bat
{
/// Limits how much memory of a step (see Use) is kept for the next one. Programs may have several
/// of these; they share the kept memory, and the largest limit applies. When the last one is
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

  /// While a Use lives, allocate_large() takes kept memory where it fits, and free_large()
  /// keeps what it frees. With the kept memory, a step takes at most what it needs at the
  /// same time, or an eighth more than the previous step. At the end of the last Use, memory
  /// over the limit returns to the system, which may also reclaim the rest if memory becomes
  /// short.
  class Use
  {
  public:
    explicit Use(const KeptMemory& kept) noexcept; ///< `kept` outlives it
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use();
  };

private:
  std::uint64_t max_bytes_;
};

namespace detail
{
/// Returns memory aligned to `alignment`, valid until give_to_kept(); nullptr if no Use lives or
/// the system has no memory.
[[nodiscard]] void* take_from_kept(std::size_t bytes, std::size_t alignment) noexcept;
/// Returns false for memory that did not come from take_from_kept().
bool give_to_kept(void* memory) noexcept;
}
}
