// SPDX-License-Identifier: BSD-3-Clause
// Finds the file positions of intervals of ordinals, with even levels or stable samples.
#pragma once

#include "particles/format/levels.hpp"
#include "particles/tree/file_impl.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bat
{
/// Use one per thread. Fastest with intervals in ascending order.
class OrdinalRuns
{
public:
  explicit OrdinalRuns(const File::Impl& file)
    : file_(file)
    , is_stable_(!file.schema.sample_ids.empty())
  {
  }

  /// Works as for_each_run() of format/levels.hpp. Throws Error{Corrupt, Truncated}.
  template <class F>
  void for_each_run(std::uint64_t begin, std::uint64_t end, F&& f)
  {
    const LevelTable& levels = this->file_.schema.levels;
    if (!this->is_stable_)
    {
      bat::for_each_run(levels, begin, end, f);
      return;
    }
    this->move_to(begin);
    this->from_ = this->in_levels_;
    this->move_to(end);
    std::uint64_t coarser = end - begin;
    for (std::size_t level = levels.size(); level-- != 0 && coarser != 0;)
    {
      const std::uint64_t count = this->in_levels_[level] - this->from_[level];
      coarser -= count;
      f(level, levels.begin(level) + this->from_[level], coarser, count);
    }
  }

private:
  /// Sets `in_levels_` to the numbers of particles with lower ordinals.
  void move_to(std::uint64_t ordinal);
  void begin_treelet(std::size_t treelet);
  void load_levels();

  const File::Impl& file_;
  bool is_stable_;
  std::size_t treelet_ = 0;
  std::uint64_t first_ = 0; ///< ordinal of the treelet
  std::uint64_t end_ = 0;   ///< end of the treelet
  std::uint64_t at_ = 0;
  std::vector<std::uint32_t> in_levels_; ///< particles of lower ordinals than `at_`, per level
  std::vector<std::uint32_t> from_;
  std::vector<std::uint8_t> levels_; ///< levels of the treelet's particles; empty if not loaded
};
}
