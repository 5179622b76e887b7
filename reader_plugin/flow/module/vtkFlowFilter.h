/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowFilter
 * @brief   what filters that follow particles through an unsteady flow have in common
 *
 * The first input is a vtkBricksReader, or whatever has a vtkFlowSource in the information of its
 * output: nothing of its image is asked for, but the bricks that particles visit are read. Or it is
 * any image, or composite data set of images of one lattice, of two or more time steps: those of a
 * run are asked for one after the other, whole, by all processes, which is warned of once; two are
 * in memory. Their velocity is the point array that SetInputArrayToProcess(0, ...) chooses, 2 or 3
 * components, float or double; without a choice, or with one that is called Automatic, the point
 * vectors, or else the first array with 3 components, or with 2. Hidden points are NaN. All time
 * steps have the grid and the type of the first one; another is an error that names both.
 *
 * The field data of the output say what was read, of all processes together: bricks (of the
 * dataset), bricks_touched, touched_percent, bytes_read, hits, reads, waits, wait_seconds,
 * prefetched, prefetches_used, prefetches_wasted, hinted, hints_used, cache_bytes.
 *
 * Updates of new settings, input or times are collective. Errors are reported through
 * vtkErrorMacro by one process, set the error code of all, and leave the output empty, as does an
 * update that is aborted.
 */

#ifndef vtkFlowFilter_h
#define vtkFlowFilter_h

#include "SteppedLoad.h" // for SteppedLoad
#include "vtkDataObjectAlgorithm.h"
#include "vtkFlowModule.h" // for export macro

#include <memory> // for std::unique_ptr

class vtkFlowSource;
class vtkMultiProcessController;

#ifndef __VTK_WRAP__
#include <array>      // for std::array
#include <cstddef>    // for std::size_t
#include <functional> // for std::function
#include <string>     // for std::string
#include <utility>    // for std::pair
#endif

#ifndef __VTK_WRAP__
namespace bat::flow
{
struct TraceOptions;
}
#endif
namespace bat_vtk
{
class FlowReport;
class FlowRun;
struct ImageStep;
}

class VTKFLOW_EXPORT vtkFlowFilter
  : public vtkDataObjectAlgorithm
#ifndef __VTK_WRAP__
  , public bat_vtk::SteppedLoad
#endif
{
public:
  vtkAbstractTypeMacro(vtkFlowFilter, vtkDataObjectAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * Most error of a step, in cells of the field, 1e-12 to 1. Default: 1e-6.
   */
  vtkSetMacro(MaximumError, double);
  vtkGetMacro(MaximumError, double);
  ///@}

  ///@{
  /**
   * Whether NaN is a wall, with velocity 0. Otherwise particles end at cells that have NaN.
   * Default: false.
   */
  vtkSetMacro(NoSlip, bool);
  vtkGetMacro(NoSlip, bool);
  vtkBooleanMacro(NoSlip, bool);
  ///@}

  enum HintsUse
  {
    OFF,
    READ,
    LEARN
  };

  ///@{
  /**
   * Whether bricks are read ahead by what earlier runs have learned of where particles go, too:
   * OFF, READ, or LEARN, which adds what this run sees. That is in NAME.bricks.hints beside the
   * series, or, where that cannot be written, in the user's cache folder; only LEARN writes it. No
   * output depends on it. Default: READ.
   */
  vtkSetClampMacro(Hints, int, OFF, LEARN);
  vtkGetMacro(Hints, int);
  ///@}

  ///@{
  /**
   * After UpdateInformation: box of the domain, first and last time of the series; zeros, 0 and 1
   * without input.
   */
  vtkGetVector6Macro(Bounds, double);
  vtkGetMacro(FirstTime, double);
  vtkGetMacro(LastTime, double);
  ///@}

  ///@{
  /**
   * Of the last run, of all processes together.
   */
  vtkIdType GetBricksTouched() const;
  vtkIdType GetBytesRead() const;
  vtkIdType GetWaits() const;
  vtkIdType GetPrefetched() const;
  vtkIdType GetWasted() const;
  vtkIdType GetHinted() const;
  vtkIdType GetHintsUsed() const;
  ///@}

  /**
   * What came of the last run, in words: how many there are of what is shown, arrivals, what was
   * read; that it was aborted; or why it failed. Empty before the first one.
   */
  const char* GetSummary() const { return this->Summary.c_str(); }

  ///@{
  /**
   * Whether an Update that is aborted (SetAbortExecute) leaves the output as it was. Default:
   * false, the output is empty.
   */
  void SetKeepWhenAborted(bool keep) override;
  bool GetKeepWhenAborted() const { return this->KeepWhenAborted; }
  ///@}

  /**
   * Whether the last Update was aborted. An Update after Modified() tries again.
   */
  bool GetAborted() const override;

  /**
   * Does nothing: runs are no steps of refining.
   */
  void PutOffStep() override {}

  ///@{
  /**
   * Processes that update together. Default: the global controller.
   */
  void SetController(vtkMultiProcessController* controller);
  vtkMultiProcessController* GetController() const;
  ///@}

protected:
  vtkFlowFilter();
  ~vtkFlowFilter() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestInformation(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int RequestUpdateExtent(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int RequestData(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

#ifndef __VTK_WRAP__
  /// Result of a finished run, of all processes: "60 particles".
  [[nodiscard]] virtual std::string CountsText() const = 0;

  /// Describes the output in advance. `flow` may be null.
  virtual void Describe(vtkFlowSource* flow, vtkInformation* outInfo) = 0;
  /// Runs what has to be run, with Run, and fills an empty output if that is done. `flow` may be
  /// null.
  virtual void Produce(vtkFlowSource* flow, vtkInformationVector** inputVector,
    vtkInformation* outInfo, vtkDataObject* output) = 0;

  /// When what a run depends on was changed: what has failed or was aborted is tried again then.
  vtkMTimeType ChangeTime(vtkFlowSource* flow);

  /// Throws bat_vtk::Failure if there is none, telling why; or if it is a steady flow of one time
  /// step, and the filter does not say when its particles end.
  void NeedsFlow(vtkFlowSource* flow);
  [[nodiscard]] virtual bool KnowsEnd() const
  {
    return false;
  }

  /// When anything that an input comes from has changed.
  static vtkMTimeType InputTime(vtkInformationVector* inputs);

  /// Run->Try() of what traces. Of images, in a thread beside this one, which gives it time steps.
  void TryTrace(vtkFlowSource* flow, bool backward, const std::function<void()>& trace);

  /// Collective, called by a trace: runs f() in the thread and at a time that allow communication.
  void Collective(const std::function<void()>& f);

  /// Settings that all have, and the progress of part `part` of `parts`.
  void Prepare(bat::flow::TraceOptions& options, std::size_t part = 0, std::size_t parts = 1);
#endif

  double MaximumError = 1e-6;
  bool NoSlip = false;
  int Hints = READ;
  bool KeepWhenAborted = false;
  double Bounds[6] = { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 };
  double FirstTime = 0.0;
  double LastTime = 1.0;

  std::unique_ptr<bat_vtk::FlowRun> Run;
  std::unique_ptr<bat_vtk::FlowReport> Report;

private:
#ifndef __VTK_WRAP__
  vtkFlowSource* DescribeImages(vtkInformationVector* inputs);
  vtkFlowSource* OpenImages(vtkInformationVector* inputs);
  void AskForAll(vtkInformation* request) const;
  vtkDataObject* UpdateInput(double time);
  std::pair<std::string, bool> ChosenArray(); ///< name, or empty; whether it is of cells
  void DescribeGrid(vtkFlowSource* flow, vtkInformation* outInfo);
  std::shared_ptr<const std::byte> LoadImage(std::size_t level);
  void NeedsFilesInPlace();
  void NeedsSameGrid(const bat_vtk::ImageStep& step, std::size_t level);
  bool ReportProgress(double share);
  [[nodiscard]] std::string SummaryText() const;

  class ImageInput;
  std::unique_ptr<ImageInput> Images; ///< null without such an input
  std::string Summary;
#endif

  vtkFlowFilter(const vtkFlowFilter&) = delete;
  void operator=(const vtkFlowFilter&) = delete;
};

#endif
