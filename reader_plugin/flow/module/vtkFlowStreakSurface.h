/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowStreakSurface
 * @brief   streak surfaces of an unsteady flow, from bricks on demand
 *
 * The surface of particles that lines release all the time, as smoke from a wire, through a
 * velocity field that is larger than memory. The first input is a vtkBricksReader, or whatever has
 * a vtkFlowSource in the information of its output: nothing of its image is asked for, but the
 * bricks that particles visit are read. The second input has lines.
 *
 * Vertices are particles that were followed from the line on. Where neighbours are farther from
 * each other than MaximumEdge, particles are released between; where that does not help, ten times
 * each time, the surface is torn.
 *
 * The output has triangles; points have Normals, ParticleAge, ReleaseTime, LinePlace (where on the
 * line: 2.5 is between its points 2 and 3) and LineIds. Positions do not wrap along cyclic axes.
 * The field data say what was followed and read, of all processes together: particles,
 * bricks_touched, bytes_read.
 *
 * Lines of all processes are gathered, and particles dealt; each process has its share of the
 * triangles, which are the same on any number of processes. An update that is aborted leaves the
 * output empty.
 */

#ifndef vtkFlowStreakSurface_h
#define vtkFlowStreakSurface_h

#include "SteppedLoad.h"   // for SteppedLoad
#include "vtkFlowModule.h" // for export macro
#include "vtkPolyDataAlgorithm.h"

#include <memory> // for std::unique_ptr

class vtkMultiProcessController;

class VTKFLOW_EXPORT vtkFlowStreakSurface
  : public vtkPolyDataAlgorithm
#ifndef __VTK_WRAP__
  , public bat_vtk::SteppedLoad
#endif
{
public:
  static vtkFlowStreakSurface* New();
  vtkTypeMacro(vtkFlowStreakSurface, vtkPolyDataAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * The lines: cells of any data set, or of all in a composite one.
   */
  void SetSourceConnection(vtkAlgorithmOutput* lines);

  enum ShowType
  {
    AT_THE_END = 0,
    AT_PRESENT_TIME = 1
  };

  ///@{
  /**
   * When the surface is as it is shown: at the end of the times, or at the present time, if it is
   * between their ends. Default: AT_THE_END.
   */
  vtkSetClampMacro(Show, int, AT_THE_END, AT_PRESENT_TIME);
  vtkGetMacro(Show, int);
  ///@}

  ///@{
  /**
   * Whether particles are followed to where they come from: from EndTime to StartTime. Default:
   * false.
   */
  vtkSetMacro(Backward, bool);
  vtkGetMacro(Backward, bool);
  vtkBooleanMacro(Backward, bool);
  ///@}

  ///@{
  /**
   * Whether to follow particles from StartTime to EndTime only, which are times in the series, or
   * between. Otherwise, from its first to its last. Default: false, 0, 1.
   */
  vtkSetMacro(LimitTimes, bool);
  vtkGetMacro(LimitTimes, bool);
  vtkBooleanMacro(LimitTimes, bool);
  vtkSetMacro(StartTime, double);
  vtkGetMacro(StartTime, double);
  vtkSetMacro(EndTime, double);
  vtkGetMacro(EndTime, double);
  ///@}

  ///@{
  /**
   * Longest edge of a triangle, above 0: a diagonal may be twice as long. Default: 1.
   */
  vtkSetMacro(MaximumEdge, double);
  vtkGetMacro(MaximumEdge, double);
  ///@}

  ///@{
  /**
   * The surface is torn where edges stay longer than so many times MaximumEdge, 1 or more. Default:
   * 4.
   */
  vtkSetMacro(Tear, double);
  vtkGetMacro(Tear, double);
  ///@}

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

  ///@{
  /**
   * After UpdateInformation: the first and the last time of the series, and an edge that shows what
   * the field has and makes no more triangles than can be looked at. Without input 0, 1 and 1.
   */
  vtkGetMacro(FirstTime, double);
  vtkGetMacro(LastTime, double);
  vtkGetMacro(SuggestedEdge, double);
  ///@}

  ///@{
  /**
   * Of the last run, of all processes together.
   */
  vtkGetMacro(BricksTouched, vtkIdType);
  vtkGetMacro(BytesRead, vtkIdType);
  ///@}

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
   * Does nothing: these are no steps of refining.
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
  vtkFlowStreakSurface();
  ~vtkFlowStreakSurface() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestInformation(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int RequestUpdateExtent(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int RequestData(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

  int Show = AT_THE_END;
  bool Backward = false;
  bool LimitTimes = false;
  double StartTime = 0.0;
  double EndTime = 1.0;
  double MaximumEdge = 1.0;
  double Tear = 4.0;
  double MaximumError = 1e-6;
  bool NoSlip = false;
  double FirstTime = 0.0;
  double LastTime = 1.0;
  double SuggestedEdge = 1.0;
  vtkIdType BricksTouched = 0;
  vtkIdType BytesRead = 0;
  bool KeepWhenAborted = false;

private:
  vtkFlowStreakSurface(const vtkFlowStreakSurface&) = delete;
  void operator=(const vtkFlowStreakSurface&) = delete;

  class vtkInternals;
  std::unique_ptr<vtkInternals> Internals;
};

#endif
