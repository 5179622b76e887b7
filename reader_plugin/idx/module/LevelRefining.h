// SPDX-License-Identifier: BSD-3-Clause
// Chooses the level that an update loads while a reader refines. Independent of the pipeline.
#ifndef LevelRefining_h
#define LevelRefining_h

#include "StepState.h"

#include "bat/idx/header.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bat_vtk
{
/// A request to a file without the level and the time step, because an animation keeps its level.
struct GridQuestion
{
  std::uint64_t Generation = 0; ///< generation of the file
  std::vector<std::size_t> Fields;
  std::optional<bat::idx::LogicalBox> Box;

  friend bool operator==(const GridQuestion& a, const GridQuestion& b)
  {
    return a.Generation == b.Generation && a.Fields == b.Fields && a.Box == b.Box;
  }
};

/// A pipeline may ask repeatedly what an update will deliver before it requests the update:
/// Choose() answers, and the update's Begin() uses the answer.
class LevelRefining : public StepState
{
public:
  /// Returns the level that the next update loads on the way to `target`; `first` is the level of a
  /// first step. The same in all processes, whatever each of them has loaded.
  [[nodiscard]] int Choose(const GridQuestion& question, int first, int target) const;

  void Begin(const GridQuestion& question, int level);
  void Loaded();
  void Cancelled();
  void Failed();

private:
  struct Choice
  {
    GridQuestion Question;
    int Level = 0;
  };

  std::optional<Choice> Last; ///< last level loaded, or requested
  Choice Now;
};
}

#endif
