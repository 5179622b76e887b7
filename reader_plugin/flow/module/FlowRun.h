// SPDX-License-Identifier: BSD-3-Clause
// Runs of a filter whose processes update together: what the last one did, and how it ended.
#ifndef FlowRun_h
#define FlowRun_h

#include "Failure.h"

#include "bat/brick_source.hpp"

#include "vtkDataObject.h"
#include "vtkMultiProcessController.h"
#include "vtkSmartPointer.h"
#include "vtkType.h"

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace bat_vtk
{
class FlowRun
{
public:
  /// The inputs of a run. If they are unchanged, it need not be repeated.
  struct Requested
  {
    std::shared_ptr<const bat::BrickSource> Source; ///< kept alive to identify the run
    std::vector<double> Settings;
    std::vector<double> Releases;
    std::vector<std::array<double, 3>> Positions;

    bool operator==(const Requested& other) const
    {
      return this->Source == other.Source && this->Settings == other.Settings &&
        this->Releases == other.Releases && this->Positions == other.Positions;
    }
    /// True if `later` is the same, possibly with more times and releases at the end.
    [[nodiscard]] bool ContinuesIn(const Requested& later) const;
  };

  /// Uses the global controller.
  FlowRun();

  /// Collective. True if a run is needed: the request is new, or repeats one that failed or was
  /// aborted before the filter last changed. `failure` is that of the request; processes that see
  /// different times fail, too.
  bool Begin(Requested requested, vtkMTimeType filterTime, const Failure& failure);

  /// True if the run, after Begin(), may continue from where the last one ended.
  [[nodiscard]] bool Continues() const { return this->IsContinuing; }

  /// The same for parts of an output, which may be requested again from some processes only: true
  /// if a part must be run. Collective only if something is new on all processes: another filter,
  /// input, or time.
  bool BeginPart(vtkMTimeType filterTime, vtkMTimeType inputTime, double time);
  [[nodiscard]] bool IsCollective() const { return this->IsCollectiveRun; }

  /// Collective if the run is: calls f(), unless this process has failed. If one process fails, all
  /// fail; if one is aborted, all are: this means that f() throws a bat::Error for a cancellation.
  void Try(const std::function<void()>& f);

  [[nodiscard]] const Requested& LastRequested() const { return this->Last; }
  [[nodiscard]] bool IsDone() const { return this->LastEnd == End::Done; }
  [[nodiscard]] bool IsAborted() const { return this->LastEnd == End::Aborted; }
  [[nodiscard]] const Failure& GetFailure() const { return this->Trouble; }
  /// True if a failure is new and this process is the one that reports it.
  [[nodiscard]] bool IsToBeReported() const;

  /// Treats the filter as unchanged for the last run.
  void SetFilterTime(vtkMTimeType time) { this->LastTime = time; }

  /// The last delivered output of a completed run; null after a failure.
  [[nodiscard]] vtkDataObject* GetShown() const { return this->Shown; }

  /// If the run is complete, keeps `output` unchanged. Otherwise empties it or, if an aborted run
  /// must keep the output, restores the kept one.
  void Deliver(vtkDataObject* output, bool keepWhenAborted);

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

  Requested Last;
  vtkMTimeType LastTime = 0;      // time of the filter at the last try
  vtkMTimeType LastInputTime = 0; // the same for parts
  End LastEnd = End::Nothing;
  Failure Trouble;
  bool IsNews = false;
  bool IsCollectiveRun = true;
  bool IsContinuing = false;
  vtkSmartPointer<vtkDataObject> Shown;
};
}

#endif
