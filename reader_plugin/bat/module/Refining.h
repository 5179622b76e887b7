// SPDX-License-Identifier: BSD-3-Clause
// Which share of the particles an update loads while a reader refines, and what becomes of a step
// that is given up. Knows no pipeline and no file.
#ifndef Refining_h
#define Refining_h

#include "bat/query.hpp"

#include <cstdint>

namespace bat_vtk
{
/// An update begins, chooses its quality, loads, and ends in one of four ways: loaded, put off,
/// aborted or failed.
///
///   Begin() ── Choose() ── load ──┬── Loaded()
///                 ▲               └── GivenUp()     put off, or else aborted
///                 └── again, where other processes have to load again
///   Failed() at any time
///
/// A step is an update that loads more than the one before of the same question. It is taken when
/// it was asked for (AskForStep), and never together with one that is still to be taken.
class Refining
{
public:
  /// The next update is a step.
  void AskForStep() { this->Asked = true; }

  void Begin();
  /// The quality that this update loads of what leads to `target` in the end, where `first` is that
  /// of a first step. Remembers the question, which is `query` but for its quality, of the file
  /// with this generation. The same in all processes, whatever each of them has loaded.
  double Choose(const bat::Query& query, std::uint64_t generation, double target, double first);
  /// The step that is being loaded waits until it is asked for again; the output stays as it was.
  /// Does nothing if this update is no step.
  void PutOff();
  [[nodiscard]] bool IsPutOff() const { return this->Now == Update::PutOff; }

  /// A step is taken, should it have to be loaded again.
  void Loaded();
  /// Loading was given up: what PutOff() has asked for, or an abort by the user.
  void GivenUp();
  void Failed();
  /// Whether the last update was. Then the next one loads what it should have loaded.
  [[nodiscard]] bool IsAborted() const { return this->Aborted; }

private:
  enum class Update
  {
    Plain,
    Step,
    PutOff ///< was a step
  };
  struct Question
  {
    bat::Query Query; ///< with the quality that was chosen last
    std::uint64_t Generation = 0;
  };

  bool Asked = false;
  bool Aborted = false;
  Update Now = Update::Plain;
  Question Last;
  Question BeforeStep;
};
}

#endif
