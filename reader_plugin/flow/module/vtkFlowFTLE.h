/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowFTLE
 * @brief   finite-time Lyapunov exponents of a flow, from bricks on demand
 *
 * Particles start at the nodes of a box and are followed for a while. Where particles of
 * neighbouring nodes separate fast, the flow separates (forward) or converges (backward).
 *
 * The output is a vtkImageData of the nodes. FTLE_forward is ln sqrt(largest eigenvalue of F^T F) /
 * Duration. F is the gradient of the final positions, by central differences between nodes,
 * one-sided at the faces of the box. FlowMap_forward and EndTime_forward are the final positions
 * and times. The same with _backward. An axis of one node has no differences: on a slice, the
 * exponent describes how particles separate in its plane. Nodes whose exponent needs a particle
 * that has no line, or ends early, have NaN; those with NaN in all directions are hidden
 * (vtkGhostType). Positions of FlowMap do not wrap along cyclic axes.
 *
 * Each process traces the nodes of its part and those next to it; the exponents have the same bits
 * on any number of processes.
 */

#ifndef vtkFlowFTLE_h
#define vtkFlowFTLE_h

#include "vtkFlowFilter.h"
#include "vtkFlowModule.h" // for export macro

#include <memory> // for std::unique_ptr

class vtkImageData;

class VTKFLOW_EXPORT vtkFlowFTLE : public vtkFlowFilter
{
public:
  static vtkFlowFTLE* New();
  vtkTypeMacro(vtkFlowFTLE, vtkFlowFilter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * If true, the nodes fill Box: x min, x max, y min, y max, z min, z max, finite. Otherwise they
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
   * Number of nodes along x, y and z, from face to face of the box; 1 or more, 2 or more along some
   * axis. With 1, or if the box has no length along an axis, there is one node, in the middle.
   * Default: 64, 64, 64.
   */
  vtkSetVector3Macro(Dimensions, int);
  vtkGetVector3Macro(Dimensions, int);
  ///@}

  ///@{
  /**
   * Time at which particles start: StartTime, which is a time in the series or between; or the
   * present time, or the nearest time from which they can be followed for Duration. The output
   * announces those times. In a steady flow, of one time step, they start at its time. Default:
   * false, 0.
   */
  vtkSetMacro(UseStartTime, bool);
  vtkGetMacro(UseStartTime, bool);
  vtkBooleanMacro(UseStartTime, bool);
  vtkSetMacro(StartTime, double);
  vtkGetMacro(StartTime, double);
  ///@}

  ///@{
  /**
   * Time for which particles are followed, in each direction, above 0. Default: 1.
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
   * Selects where particles go, where they come from, or both. Default: FORWARD.
   */
  vtkSetClampMacro(Direction, int, FORWARD, BOTH);
  vtkGetMacro(Direction, int);
  ///@}

  /**
   * After UpdateInformation: nodes of a slice across z in the middle of the domain, or of the whole
   * domain if it is flat, 201 along its longest axis; 64, 64, 64 without input.
   */
  vtkGetVector3Macro(SuggestedDimensions, int);

  /**
   * After UpdateInformation: a text with an approximate upper limit for what an update reads. It
   * counts the bricks within the distance from the nodes that the largest speed at the first time
   * of the series covers in Duration. Empty if unknown.
   */
  const char* GetEstimate() const;

  /**
   * After UpdateInformation: half the duration of the series; for a steady flow, the time in which
   * the fastest particle would cross half of the domain; 1 if unknown, or without input.
   */
  vtkGetMacro(SuggestedDuration, double);

protected:
  vtkFlowFTLE();
  ~vtkFlowFTLE() override;

  int FillOutputPortInformation(int port, vtkInformation* info) override;

#ifndef __VTK_WRAP__
  [[nodiscard]] std::string CountsText() const override;
  void Describe(vtkFlowSource* flow, vtkInformation* outInfo) override;
  void Produce(vtkFlowSource* flow, vtkInformationVector** inputVector, vtkInformation* outInfo,
    vtkDataObject* output) override;
  [[nodiscard]] bool KnowsEnd() const override
  {
    return true;
  } // by Duration
#endif

  bool UseBox = false;
  double Box[6] = { 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 };
  int Dimensions[3] = { 64, 64, 64 };
  bool UseStartTime = false;
  double StartTime = 0.0;
  double Duration = 1.0;
  int Direction = FORWARD;
  double SuggestedDuration = 1.0;
  int SuggestedDimensions[3] = { 64, 64, 64 };

private:
  vtkFlowFTLE(const vtkFlowFTLE&) = delete;
  void operator=(const vtkFlowFTLE&) = delete;

  [[nodiscard]] double SuggestDuration(vtkFlowSource* flow) const;
  // First and last time from which particles can be followed for Duration; false without any.
  bool GetStarts(double starts[2]) const;
  void AnnounceStarts(vtkFlowSource* flow, vtkInformation* outInfo) const;
  // `outInfo` may be null if there is no present time.
  double StartAt(vtkInformation* outInfo) const;
  // Copies the last output, if it has this extent: another present time may have the same start.
  bool Repeat(vtkInformation* outInfo, vtkImageData* output) const;
  void TraceExtent(vtkFlowSource* flow, vtkInformation* outInfo, double time, vtkImageData* output);

  class vtkInternals;
  std::unique_ptr<vtkInternals> Internals;
};

#endif
