/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowFTLE
 * @brief   finite-time Lyapunov exponents of an unsteady flow, from bricks on demand
 *
 * Particles start at the nodes of a box and are followed for a while; where those of neighbouring
 * nodes part fast, flow separates (forward) or comes together (backward). The input is a
 * vtkBricksReader, or whatever has a vtkFlowSource in the information of its output: nothing of its
 * image is asked for.
 *
 * The output is a vtkImageData of the nodes. FTLE_forward is ln sqrt(largest eigenvalue of F^T F) /
 * Duration, with the gradient F of where particles end by central differences between nodes,
 * one-sided at the faces of the box; FlowMap_forward and EndTime_forward are where and when they
 * end. The same with _backward. Along an axis of one node there is no difference: on a slice, the
 * exponent is that of particles which part in its plane. Nodes whose exponent needs a particle that
 * has no line, or ends before its time, have NaN; those that have it in all directions are hidden
 * (vtkGhostType). Positions of FlowMap do not wrap along cyclic axes.
 *
 * The field data say what was read: bricks_touched, bytes_read, of all processes together.
 *
 * Each process traces the nodes of its part and those beside it; the exponents are the same bits on
 * any number of processes. Updates of new settings, input or times are collective. Errors are
 * reported through vtkErrorMacro, the same on all processes, and leave the output empty, as does an
 * update that is aborted.
 */

#ifndef vtkFlowFTLE_h
#define vtkFlowFTLE_h

#include "SteppedLoad.h"   // for SteppedLoad
#include "vtkFlowModule.h" // for export macro
#include "vtkImageAlgorithm.h"

#include <memory> // for std::unique_ptr

class vtkMultiProcessController;

class VTKFLOW_EXPORT vtkFlowFTLE
  : public vtkImageAlgorithm
#ifndef __VTK_WRAP__
  , public bat_vtk::SteppedLoad
#endif
{
public:
  static vtkFlowFTLE* New();
  vtkTypeMacro(vtkFlowFTLE, vtkImageAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * Whether the nodes fill Box: x min, x max, y min, y max, z min, z max, finite. Otherwise they
   * fill the domain. Default: false, and 0, 1, 0, 1, 0, 1.
   */
  vtkSetMacro(UseBox, bool);
  vtkGetMacro(UseBox, bool);
  vtkBooleanMacro(UseBox, bool);
  vtkSetVector6Macro(Box, double);
  vtkGetVector6Macro(Box, double);
  ///@}

  ///@{
  /**
   * Nodes along x, y and z, from face to face of the box; 1 or more, 2 or more along some axis.
   * Along an axis where the box has no length, and with 1, there is one node, in the middle.
   * Default: 64, 64, 64.
   */
  vtkSetVector3Macro(Dimensions, int);
  vtkGetVector3Macro(Dimensions, int);
  ///@}

  ///@{
  /**
   * When particles start: the present time, or StartTime, which is a time in the series or between.
   * Default: false, 0.
   */
  vtkSetMacro(UseStartTime, bool);
  vtkGetMacro(UseStartTime, bool);
  vtkBooleanMacro(UseStartTime, bool);
  vtkSetMacro(StartTime, double);
  vtkGetMacro(StartTime, double);
  ///@}

  ///@{
  /**
   * For how long particles are followed, in each direction, above 0. Default: 1.
   */
  vtkSetMacro(Duration, double);
  vtkGetMacro(Duration, double);
  ///@}

  enum DirectionType
  {
    FORWARD = 0,
    BACKWARD = 1,
    BOTH = 2
  };

  ///@{
  /**
   * Where particles go, where they come from, or both. Default: FORWARD.
   */
  vtkSetClampMacro(Direction, int, FORWARD, BOTH);
  vtkGetMacro(Direction, int);
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
   * Box of the domain, first time of the series, and half of how long it lasts, after
   * UpdateInformation; zeros, 0 and 1 without input.
   */
  vtkGetVector6Macro(Bounds, double);
  vtkGetMacro(FirstTime, double);
  vtkGetMacro(SuggestedDuration, double);
  ///@}

  ///@{
  /**
   * Of the last update, of all processes together.
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
  vtkFlowFTLE();
  ~vtkFlowFTLE() override;

  int RequestInformation(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int RequestUpdateExtent(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int RequestData(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

  bool UseBox = false;
  double Box[6] = { 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 };
  int Dimensions[3] = { 64, 64, 64 };
  bool UseStartTime = false;
  double StartTime = 0.0;
  double Duration = 1.0;
  int Direction = FORWARD;
  double MaximumError = 1e-6;
  bool NoSlip = false;
  double Bounds[6] = { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 };
  vtkIdType BricksTouched = 0;
  vtkIdType BytesRead = 0;
  bool KeepWhenAborted = false;
  double FirstTime = 0.0;
  double SuggestedDuration = 1.0;

private:
  vtkFlowFTLE(const vtkFlowFTLE&) = delete;
  void operator=(const vtkFlowFTLE&) = delete;

  double TimeAt(vtkInformation* outInfo);
  void DeliverShown(vtkImageData* output);
  void TraceExtent(
    vtkInformation* outInfo, double time, vtkImageData* output, vtkTypeInt64* counts);

  class vtkInternals;
  std::unique_ptr<vtkInternals> Internals;
};

#endif
