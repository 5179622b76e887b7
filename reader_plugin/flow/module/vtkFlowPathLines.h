/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowPathLines
 * @brief   path lines, streak lines and particles of an unsteady flow, from bricks on demand
 *
 * Follows particles from the points of the second input through a velocity field that is larger
 * than memory. The first input is a vtkBricksReader, or whatever has a vtkFlowSource in the
 * information of its output: nothing of its image is asked for, but the bricks that particles visit
 * are read.
 *
 * The output has points with Velocity, SimulationTime and ParticleAge, and per line (of particles:
 * per point) ReasonForTermination, ReleaseTime, EndTime and ArrivalTime, SeedIds (the number of the
 * point among those of all processes), and the arrays of the seeds. Positions do not wrap along
 * cyclic axes. Numbers of ReasonForTermination: 0 on its way, 1 left the domain, 5 too many cells
 * or steps in one interval, 6 stagnation, 8 reached the end time, 9 reached the destination, 10 met
 * cells without flow. Seeds outside of the domain, or where there is no flow, have no line.
 *
 * The field data say what was asked and read, of all processes together: particles,
 * particles_without_line, particles_that_arrive, if there are any first_arrival and median_arrival;
 * bricks (of the dataset), bricks_touched, touched_percent, bytes_read, hits, reads, waits,
 * wait_seconds, prefetched, prefetches_used, prefetches_wasted, cache_bytes.
 *
 * Seeds of all processes are gathered and dealt again, near ones together; each process has the
 * lines of its own. The lines are kept: another time, or another Show or Keep, traces at most from
 * the time level before. An update that is aborted leaves the output empty.
 */

#ifndef vtkFlowPathLines_h
#define vtkFlowPathLines_h

#include "SteppedLoad.h"   // for SteppedLoad
#include "vtkFlowModule.h" // for export macro
#include "vtkPolyDataAlgorithm.h"

#include <memory> // for std::unique_ptr

class vtkMultiProcessController;

class VTKFLOW_EXPORT vtkFlowPathLines
  : public vtkPolyDataAlgorithm
#ifndef __VTK_WRAP__
  , public bat_vtk::SteppedLoad
#endif
{
public:
  static vtkFlowPathLines* New();
  vtkTypeMacro(vtkFlowPathLines, vtkPolyDataAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * The seeds: points of any data set, or of all in a composite one.
   */
  void SetSourceConnection(vtkAlgorithmOutput* seeds);

  enum ShowType
  {
    PATH_LINES = 0,
    PATH_LINES_UP_TO_TIME = 1,
    PARTICLES = 2,
    STREAK_LINES = 3
  };

  ///@{
  /**
   * What the output has: whole path lines; of them what is not after the present time; the
   * particles at the present time; or lines that join the particles of each seed in the order of
   * their release. Default: PATH_LINES.
   */
  vtkSetClampMacro(Show, int, PATH_LINES, STREAK_LINES);
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

  enum ReleaseType
  {
    ONCE = 0,
    EVERY_TIME_STEP = 1,
    AT_INTERVALS = 2
  };

  ///@{
  /**
   * When seeds release a particle: at the beginning; at each time of the series from there on; or
   * each ReleaseInterval, a time above 0. Streak lines of ONCE are those of EVERY_TIME_STEP.
   * Default: ONCE, and 1.
   */
  vtkSetClampMacro(Release, int, ONCE, AT_INTERVALS);
  vtkGetMacro(Release, int);
  vtkSetMacro(ReleaseInterval, double);
  vtkGetMacro(ReleaseInterval, double);
  ///@}

  ///@{
  /**
   * Whether there is a Destination: a closed box, x min, x max, y min, y max, z min, z max.
   * Arrivals are found along lines, not at their points. Default: false, and 0, 1, 0, 1, 0, 1.
   */
  vtkSetMacro(UseDestination, bool);
  vtkGetMacro(UseDestination, bool);
  vtkBooleanMacro(UseDestination, bool);
  vtkSetVector6Macro(Destination, double);
  vtkGetVector6Macro(Destination, double);
  ///@}

  enum KeepType
  {
    ALL = 0,
    THOSE_THAT_ARRIVE = 1,
    THOSE_THAT_DO_NOT = 2
  };

  ///@{
  /**
   * Which particles are shown. Only used with UseDestination. Default: ALL.
   */
  vtkSetClampMacro(Keep, int, ALL, THOSE_THAT_DO_NOT);
  vtkGetMacro(Keep, int);
  ///@}

  ///@{
  /**
   * Whether lines end where they arrive. Only used with UseDestination. Default: false.
   */
  vtkSetMacro(StopOnArrival, bool);
  vtkGetMacro(StopOnArrival, bool);
  vtkBooleanMacro(StopOnArrival, bool);
  ///@}

  enum IntegratorType
  {
    CELL_BY_CELL = 0,
    RUNGE_KUTTA_4 = 1
  };

  ///@{
  /**
   * How particles are followed: with steps that end on faces of cells, within MaximumError; or with
   * StepShare of the time between two time steps, as ParaView's particle tracers. Default:
   * CELL_BY_CELL.
   */
  vtkSetClampMacro(Integrator, int, CELL_BY_CELL, RUNGE_KUTTA_4);
  vtkGetMacro(Integrator, int);
  ///@}

  ///@{
  /**
   * Most error of a step of CELL_BY_CELL, in cells, 1e-12 to 1. Default: 1e-6.
   */
  vtkSetMacro(MaximumError, double);
  vtkGetMacro(MaximumError, double);
  ///@}

  ///@{
  /**
   * Step of RUNGE_KUTTA_4, 1e-5 to 1. Default: 0.5.
   */
  vtkSetMacro(StepShare, double);
  vtkGetMacro(StepShare, double);
  ///@}

  ///@{
  /**
   * Particles stay where no corner of their cell is faster than this between two time steps.
   * Default: 0.
   */
  vtkSetMacro(TerminalSpeed, double);
  vtkGetMacro(TerminalSpeed, double);
  ///@}

  ///@{
  /**
   * Whether NaN is a wall, with velocity 0. Otherwise lines end at cells that have NaN. Default:
   * false.
   */
  vtkSetMacro(NoSlip, bool);
  vtkGetMacro(NoSlip, bool);
  vtkBooleanMacro(NoSlip, bool);
  ///@}

  ///@{
  /**
   * Whether lines have a point at each face of a cell that they cross. Otherwise, at time steps and
   * at their ends only. Default: true.
   */
  vtkSetMacro(PointsOnFaces, bool);
  vtkGetMacro(PointsOnFaces, bool);
  vtkBooleanMacro(PointsOnFaces, bool);
  ///@}

  ///@{
  /**
   * Whether bricks are read before particles are in them, where the velocity leads. Changes no
   * line. Default: true.
   */
  vtkSetMacro(Prefetch, bool);
  vtkGetMacro(Prefetch, bool);
  vtkBooleanMacro(Prefetch, bool);
  ///@}

  ///@{
  /**
   * Of the last trace, of all processes together.
   */
  vtkIdType GetBricksTouched() const;
  vtkIdType GetBytesRead() const;
  vtkIdType GetWaits() const;
  vtkIdType GetPrefetched() const;
  vtkIdType GetWasted() const;
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
   * Does nothing: traces are no steps of refining.
   */
  void PutOffStep() override;

  ///@{
  /**
   * Processes that update together. Default: the global controller.
   */
  void SetController(vtkMultiProcessController* controller);
  vtkMultiProcessController* GetController() const;
  ///@}

protected:
  vtkFlowPathLines();
  ~vtkFlowPathLines() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestInformation(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int RequestUpdateExtent(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int RequestData(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

private:
  vtkFlowPathLines(const vtkFlowPathLines&) = delete;
  void operator=(const vtkFlowPathLines&) = delete;

  int Show = PATH_LINES;
  bool Backward = false;
  bool LimitTimes = false;
  double StartTime = 0.0;
  double EndTime = 1.0;
  int Release = ONCE;
  double ReleaseInterval = 1.0;
  bool UseDestination = false;
  double Destination[6] = { 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 };
  int Keep = ALL;
  bool StopOnArrival = false;
  int Integrator = CELL_BY_CELL;
  double MaximumError = 1e-6;
  double StepShare = 0.5;
  double TerminalSpeed = 0.0;
  bool NoSlip = false;
  bool PointsOnFaces = true;
  bool Prefetch = true;
  bool KeepWhenAborted = false;
  double Bounds[6] = { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 };
  double FirstTime = 0.0;
  double LastTime = 1.0;

  class vtkInternals;
  std::unique_ptr<vtkInternals> Internals;
};

#endif
