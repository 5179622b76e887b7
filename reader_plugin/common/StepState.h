// SPDX-License-Identifier: BSD-3-Clause
// The state of a refining step. Independent of the pipeline, and of what a step loads.
#ifndef StepState_h
#define StepState_h

#include <utility>

namespace bat_vtk
{
/// An update begins, loads, and ends in one of four ways: loaded, postponed, aborted or failed.
///
///   Begin() ── load ──┬── Loaded()
///                     └── Cancelled()     put off, or else aborted
///   Failed() at any time
///
/// A step is an update that loads more for the same request than the previous one. It is taken
/// after a request (AskForStep), and never together with another pending one.
class StepState
{
public:
  /// The next update is a step.
  void AskForStep() { this->Requested = true; }
  /// True if the update that begins next is a step.
  [[nodiscard]] bool WillStep() const { return this->Requested && !this->Aborted; }

  void Begin()
  {
    this->Now = this->WillStep() ? Update::Step : Update::Plain;
    this->Requested = false;
    this->Aborted = false;
  }
  [[nodiscard]] bool IsStep() const { return this->Now == Update::Step; }
  /// The step being loaded is postponed until it is requested again; the output is unchanged. Does
  /// nothing if this update is not a step.
  void PutOff()
  {
    if (this->IsStep())
    {
      this->Now = Update::PutOff;
    }
  }
  [[nodiscard]] bool IsPutOff() const { return this->Now == Update::PutOff; }

  /// Marks a step as taken, in case it has to be loaded again.
  void Loaded()
  {
    this->Aborted = false;
    if (this->IsStep())
    {
      this->Now = Update::Plain;
    }
  }
  /// Loading was cancelled, by PutOff() or by the user.
  void Cancelled()
  {
    this->Aborted = !this->IsPutOff();
    if (this->Aborted)
    {
      this->Now = Update::Plain;
    }
  }
  void Failed()
  {
    this->Aborted = false;
    this->Now = Update::Plain;
  }
  /// True if the last update was aborted. The next one then loads what it should have loaded.
  [[nodiscard]] bool IsAborted() const { return this->Aborted; }

private:
  enum class Update
  {
    Plain,
    Step,
    PutOff ///< was a step
  };

  bool Requested = false;
  bool Aborted = false;
  Update Now = Update::Plain;
};
}

#endif
