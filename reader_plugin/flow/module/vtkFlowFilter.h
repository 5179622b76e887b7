/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowFilter
 * @brief   base class of filters that follow particles through an unsteady flow
 *
 * The first input is a vtkBricksReader, or another algorithm with a vtkFlowSource in the
 * information of its output. Its image is not requested; the bricks that particles visit are read.
 * The input may also be any image, or composite data set of images of one lattice, with two or more
 * time steps. A run requests these one after the other, whole, by all processes, with one warning;
 * two are in memory. Their velocity is the point array that SetInputArrayToProcess(0, ...) chooses,
 * 2 or 3 components, float or double; without a choice, or with one called Automatic, the point
 * vectors, or else the first array with 3 components, or with 2. Hidden points are NaN. All time
 * steps have the grid and the type of the first one; otherwise an error names both.
 *
 * The field data of the output report what was read, by all processes together: bricks (of the
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
   * Maximum error per step, in cells of the field, 1e-12 to 1. Default: 1e-6.
   */
  vtkSetMacro(MaximumError, double);
  vtkGetMacro(MaximumError, double);
  ///@}

  ///@{
  /**
   * If true, NaN is a wall with velocity 0. Otherwise particles end at cells that contain NaN.
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
   * Prefetching based on where particles of earlier runs went: OFF, READ, or LEARN, which also
   * adds this run. The hints are in NAME.bricks.hints next to the series or, if that is not
   * writable, in the user's cache folder; only LEARN writes them. No output depends on them.
   * Default: READ.
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
   * Statistics of the last run, of all processes together.
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
   * Result of the last run as a text: the number of items shown, arrivals, and the data read; or
   * that it was aborted; or why it failed. Empty before the first run.
   */
  const char* GetSummary() const { return this->Summary.c_str(); }

  ///@{
  /**
   * If true, an Update that is aborted (SetAbortExecute) keeps the output. Default: false, the
   * output is empty.
   */
  void SetKeepWhenAborted(bool keep) override;
  bool GetKeepWhenAborted() const { return this->KeepWhenAborted; }
  ///@}

  /**
   * True if the last Update was aborted. An Update after Modified() tries again.
   */
  bool GetAborted() const override;

  /**
   * Does nothing: runs do not have refining steps.
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
  /// Result of a finished run on all processes: "60 particles".
  [[nodiscard]] virtual std::string CountsText() const = 0;

  /// Describes the output in advance. `flow` may be null.
  virtual void Describe(vtkFlowSource* flow, vtkInformation* outInfo) = 0;
  /// Performs the necessary run, with Run, and fills an empty output if it succeeds. `flow` may be
  /// null.
  virtual void Produce(vtkFlowSource* flow, vtkInformationVector** inputVector,
    vtkInformation* outInfo, vtkDataObject* output) = 0;

  /// The time of the last change to a run's inputs. Runs that failed or were aborted are then tried
  /// again.
  vtkMTimeType ChangeTime(vtkFlowSource* flow);

  /// Throws bat_vtk::Failure with the reason if there is none, or if it is a steady flow of one
  /// time step and the filter does not define when its particles end.
  void NeedsFlow(vtkFlowSource* flow);
  [[nodiscard]] virtual bool KnowsEnd() const
  {
    return false;
  }

  /// Time of the last change of anything that an input comes from.
  static vtkMTimeType InputTime(vtkInformationVector* inputs);

  /// Run->Try() for a trace. With images, it runs in another thread, to which this one provides
  /// time steps.
  void TryTrace(vtkFlowSource* flow, bool backward, const std::function<void()>& trace);

  /// Collective, called by a trace: runs f() in the thread and at a time that allow communication.
  void Collective(const std::function<void()>& f);

  /// Sets the options of all filters, and the progress of part `part` of `parts`.
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
