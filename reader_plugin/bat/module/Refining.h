// SPDX-License-Identifier: BSD-3-Clause
// Chooses the share of the particles that an update loads while a reader refines, and handles steps
// that are cancelled. Independent of the pipeline and the file.
#ifndef Refining_h
#define Refining_h

#include "StepState.h"

#include "bat/query.hpp"

#include <cstdint>

namespace bat_vtk
{
/// Begin() of an update comes before Choose(), which is called again if other processes must load
/// again.
class Refining : public StepState
{
public:
  void Begin();
  /// Returns the quality that this update loads on the way to `target`; `first` is the quality of a
  /// first step. Remembers the request: `query` without its quality, for the file with this
  /// generation. The same in all processes, whatever each of them has loaded.
  double Choose(const bat::Query& query, std::uint64_t generation, double target, double first);
  /// Makes this update load all of `query`, without steps. If refining is switched on later, it
  /// continues from there.
  void LoadAtOnce(const bat::Query& query, std::uint64_t generation);
  void Cancelled();
  void Failed();

private:
  struct Question
  {
    bat::Query Query; ///< includes the quality chosen last
    std::uint64_t Generation = 0;
  };

  Question Last;
  Question BeforeStep;
  bool AtOnce = false; ///< this update is without steps
};
}

#endif
