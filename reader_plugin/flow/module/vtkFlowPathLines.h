/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowPathLines
 * @brief   path lines, streak lines and particles of an unsteady flow, from bricks on demand
 *
 * Follows particles from the points of the second input through the velocity field of the first,
 * which may be larger than memory.
 *
 * The output has points with Velocity, SimulationTime and ParticleAge. Each line (for particles:
 * each point) has ReasonForTermination, ReleaseTime, EndTime and ArrivalTime, SeedIds (the number
 * of the point among those of all processes), with a destination its number, Destination (0 the
 * box, 1 and so on the others, -1 none), and the arrays of the seeds. Positions do not wrap along
 * cyclic axes, unless Wrap. Numbers of ReasonForTermination: 0 has not ended, 1 left the domain, 5
 * too many cells or steps in one interval, 6 stagnation, 8 reached the end time, 9 reached the
 * destination, 10 met cells without flow, 12 has MaximumAge. Seeds outside the domain, or without
 * flow, have no line.
 *
 * The field data also have particles, particles_without_line and particles_that_arrive; if any
 * arrive, first_arrival and median_arrival.
 *
 * Neighbouring seeds are assigned to one process. The lines are kept: another time, or another Show
 * or Keep, traces at most from the previous time level.
 */

#ifndef vtkFlowPathLines_h
#define vtkFlowPathLines_h

#include "vtkFlowModule.h" // for export macro
#include "vtkFlowSeedFilter.h"

class VTKFLOW_EXPORT vtkFlowPathLines : public vtkFlowSeedFilter
{
public:
  static vtkFlowPathLines* New();
  vtkTypeMacro(vtkFlowPathLines, vtkFlowSeedFilter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum ShowType
  {
    PATH_LINES = 0,
    PATH_LINES_UP_TO_TIME = 1,
    PARTICLES = 2,
    STREAK_LINES = 3
  };

  ///@{
  /**
   * The output: whole path lines; path lines up to the present time; the particles at the present
   * time; or lines that connect the particles of each seed in the order of their release. Default:
   * PATH_LINES.
   */
  vtkSetClampMacro(Show, int, PATH_LINES, STREAK_LINES);
  vtkGetMacro(Show, int);
  ///@}

  enum ReleaseType
  {
    ONCE = 0,
    EVERY_TIME_STEP = 1,
    AT_INTERVALS = 2
  };

  ///@{
  /**
   * Release times of seeds: at the beginning; at each time of the series from then on; or after
   * each ReleaseInterval, a time above 0. Streak lines with ONCE are those of EVERY_TIME_STEP.
   * Default: ONCE, and 1.
   */
  vtkSetClampMacro(Release, int, ONCE, AT_INTERVALS);
  vtkGetMacro(Release, int);
  vtkSetMacro(ReleaseInterval, double);
  vtkGetMacro(ReleaseInterval, double);
  ///@}

  ///@{
  /**
   * If true, seeds with a point array ReleaseTime, of one component, begin to release at its value
   * instead of at the beginning of the times: then only (ONCE); then, and at each later time of the
   * series; or then, and after each ReleaseInterval. Seeds whose time is NaN or outside the times
   * have no line, with a warning. Default: true.
   */
  vtkSetMacro(UseReleaseTimes, bool);
  vtkGetMacro(UseReleaseTimes, bool);
  vtkBooleanMacro(UseReleaseTimes, bool);
  ///@}

  ///@{
  /**
   * If true, Destination is a closed box: x min, x max, y min, y max, z min, z max. Arrivals are
   * found along lines, not at their points. Default: false, and 0, 1, 0, 1, 0, 1.
   */
  vtkSetMacro(UseDestination, bool);
  vtkGetMacro(UseDestination, bool);
  vtkBooleanMacro(UseDestination, bool);
  vtkSetVector6Macro(Destination, double);
  vtkGetVector6Macro(Destination, double);
  ///@}

  ///@{
  /**
   * Additional boxes: a particle arrives at the first one that it enters; if it enters several at
   * the same time, at the first in order. Only used with UseDestination. Default: none.
   */
  void AddDestination(double xMin, double xMax, double yMin, double yMax, double zMin, double zMax);
  void RemoveAllDestinations();
  ///@}

  ///@{
  /**
   * Age at which lines end, in units of time; 0 means no limit. Default: 0.
   */
  vtkSetMacro(MaximumAge, double);
  vtkGetMacro(MaximumAge, double);
  ///@}

  /**
   * After UpdateInformation: an initial box, the last third of the domain along x and the middle
   * third along the others; zeros without input.
   */
  vtkGetVector6Macro(SuggestedDestination, double);

  enum KeepType
  {
    ALL = 0,
    THOSE_THAT_ARRIVE = 1,
    THOSE_THAT_DO_NOT = 2
  };

  ///@{
  /**
   * Selects the particles to show. Only used with UseDestination. Default: ALL.
   */
  vtkSetClampMacro(Keep, int, ALL, THOSE_THAT_DO_NOT);
  vtkGetMacro(Keep, int);
  ///@}

  ///@{
  /**
   * If true, lines end where they arrive. Only used with UseDestination. Default: false.
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
   * Integration method: steps that end on cell faces, within MaximumError; or steps of StepShare
   * of the time between two time steps, as in ParaView's particle tracers. Default:
   * CELL_BY_CELL.
   */
  vtkSetClampMacro(Integrator, int, CELL_BY_CELL, RUNGE_KUTTA_4);
  vtkGetMacro(Integrator, int);
  ///@}

  ///@{
  /**
   * Step size for RUNGE_KUTTA_4, 1e-5 to 1. Default: 0.5.
   */
  vtkSetMacro(StepShare, double);
  vtkGetMacro(StepShare, double);
  ///@}

  ///@{
  /**
   * Speed at or below which lines end. With 0 none do: particles rest, and move again when the flow
   * does. Default: 0.
   */
  vtkSetMacro(TerminalSpeed, double);
  vtkGetMacro(TerminalSpeed, double);
  ///@}

  ///@{
  /**
   * If true, lines have a point at each cell face that they cross. Otherwise they have points only
   * at time steps and at their ends. Default: true.
   */
  vtkSetMacro(PointsOnFaces, bool);
  vtkGetMacro(PointsOnFaces, bool);
  vtkBooleanMacro(PointsOnFaces, bool);
  ///@}

  ///@{
  /**
   * If true, the output stays within the domain: lines are cut at the borders of cyclic axes, with
   * a point on either side, interpolated between its neighbours, that has the arrays of the one
   * before. Default: false, lines are whole and continue beyond the borders.
   */
  vtkSetMacro(Wrap, bool);
  vtkGetMacro(Wrap, bool);
  vtkBooleanMacro(Wrap, bool);
  ///@}

  ///@{
  /**
   * If true, bricks are read before particles enter them, in the direction of the velocity. Does
   * not affect lines. Default: true.
   */
  vtkSetMacro(Prefetch, bool);
  vtkGetMacro(Prefetch, bool);
  vtkBooleanMacro(Prefetch, bool);
  ///@}

protected:
  vtkFlowPathLines();
  ~vtkFlowPathLines() override;

#ifndef __VTK_WRAP__
  [[nodiscard]] bool ShowsPresentTime() const override
  {
    return this->Show != PATH_LINES;
  }
  [[nodiscard]] std::string CountsText() const override;
  void Describe(vtkFlowSource* flow, vtkInformation* outInfo) override;
  void Produce(vtkFlowSource* flow, vtkInformationVector** inputVector, vtkInformation* outInfo,
    vtkDataObject* output) override;
#endif

private:
  vtkFlowPathLines(const vtkFlowPathLines&) = delete;
  void operator=(const vtkFlowPathLines&) = delete;

  int Show = PATH_LINES;
  int Release = ONCE;
  double ReleaseInterval = 1.0;
  bool UseReleaseTimes = true;
  bool UseDestination = false;
  double Destination[6] = { 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 };
  double MaximumAge = 0.0;
  double SuggestedDestination[6] = { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 };
  int Keep = ALL;
  bool StopOnArrival = false;
  int Integrator = CELL_BY_CELL;
  double StepShare = 0.5;
  double TerminalSpeed = 0.0;
  bool PointsOnFaces = true;
  bool Wrap = false;
  bool Prefetch = true;

  class vtkInternals;
  std::unique_ptr<vtkInternals> Internals;
};

#endif
