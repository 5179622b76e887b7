// SPDX-License-Identifier: BSD-3-Clause
// Runs of a filter whose processes update together: what the last one was for, and how it ended.
#ifndef FlowRun_h
#define FlowRun_h

#include "Failure.h"

#include "bat/brick_source.hpp"

#include "vtkNew.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"
#include "vtkType.h"

#include <array>
#include <functional>
#include <memory>
#include <vector>

class vtkMultiProcessController;

namespace bat_vtk
{
class FlowRun
{
public:
  /// What a run depends on.
  struct Wanted
  {
    std::shared_ptr<const bat::BrickSource> Source; ///< as long as the run, to tell it from another
    std::vector<double> Settings;
    std::vector<std::array<double, 3>> Positions;

    bool operator==(const Wanted& other) const
    {
      return this->Source == other.Source && this->Settings == other.Settings &&
        this->Positions == other.Positions;
    }
  };

  /// With the global controller.
  FlowRun();

  /// Collective. Whether there is to be a run: something else is wanted, or what has failed or was
  /// aborted is asked for by a filter that was changed since. `failure` is that of what is wanted.
  bool Begin(Wanted wanted, vtkMTimeType filterTime, const Failure& failure);

  /// Collective: f(), unless this process has failed. All fail if one does, and are aborted if one
  /// is: if f() throws bat::Error that something was cancelled.
  void Try(const std::function<void()>& f);

  [[nodiscard]] const Wanted& LastWanted() const { return this->Last; }
  [[nodiscard]] bool IsDone() const { return this->LastEnd == End::Done; }
  [[nodiscard]] bool IsAborted() const { return this->LastEnd == End::Aborted; }
  [[nodiscard]] const Failure& GetFailure() const { return this->Trouble; }
  /// Whether a failure is new, and this process is the one that says so.
  [[nodiscard]] bool IsToBeSaid() const;

  /// Leaves `output` as it is, and keeps it, if the run is done. Otherwise it is empty, or, if an
  /// aborted one is to keep it, what was kept.
  void Deliver(vtkPolyData* output, bool keepWhenAborted);

  [[nodiscard]] int Rank() const;
  [[nodiscard]] int Ranks() const;

  vtkSmartPointer<vtkMultiProcessController> Controller;

private:
  enum class End
  {
    Nothing,
    Done,
    Aborted,
    Failed
  };

  Wanted Last;
  vtkMTimeType LastTime = 0; // of the filter, when it was tried
  End LastEnd = End::Nothing;
  Failure Trouble;
  bool IsNews = false;
  vtkNew<vtkPolyData> Shown;
};
}

#endif
