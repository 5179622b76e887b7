/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowPathLines
 * @brief   path lines, streak lines and particles of an unsteady flow, from bricks on demand
 *
 * Follows particles from the points of the second input through the velocity field of the first,
 * which may be larger than memory.
 *
 * The output has points with Velocity, SimulationTime and ParticleAge, and per line (of particles:
 * per point) ReasonForTermination, ReleaseTime, EndTime and ArrivalTime, SeedIds (the number of the
 * point among those of all processes), with a destination its number, Destination (0 the box, 1
 * and so on the others, -1 none), and the arrays of the seeds. Positions do not wrap along
 * cyclic axes, unless Wrap. Numbers of ReasonForTermination: 0 on its way, 1 left the domain, 5 too
 * many cells or steps in one interval, 6 stagnation, 8 reached the end time, 9 reached the
 * destination, 10 met cells without flow, 12 has MaximumAge. Seeds outside of the domain, or where
 * there is no flow, have no line.
 *
 * The field data have, besides what was read: particles, particles_without_line,
 * particles_that_arrive; if there are any, first_arrival and median_arrival.
 *
 * Near seeds are dealt to one process. The lines are kept: another time, or another Show or Keep,
 * traces at most from the time level before.
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
   * What the output has: whole path lines; of them what is not after the present time; the
   * particles at the present time; or lines that join the particles of each seed in the order of
   * their release. Default: PATH_LINES.
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
   * Whether seeds that have a point array ReleaseTime, with one component, begin to release at its
   * value, and not at the beginning of the times: ONCE, then; then, and at each time of the series
   * after it; or then, and each ReleaseInterval. Seeds whose time is NaN or outside of the times
   * have no line, which is warned of. Default: true.
   */
  vtkSetMacro(UseReleaseTimes, bool);
  vtkGetMacro(UseReleaseTimes, bool);
  vtkBooleanMacro(UseReleaseTimes, bool);
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

  ///@{
  /**
   * Other boxes, beside Destination: a particle arrives at the one that it is in first, and of
   * several at once at the first of them. Only used with UseDestination. Default: none.
   */
  void AddDestination(double xMin, double xMax, double yMin, double yMax, double zMin, double zMax);
  void RemoveAllDestinations();
  ///@}

  ///@{
  /**
   * Lines end when a particle is so old, in units of time; 0 is no limit. Default: 0.
   */
  vtkSetMacro(MaximumAge, double);
  vtkGetMacro(MaximumAge, double);
  ///@}

  /**
   * After UpdateInformation: a box to begin with, the last third of the domain along x and the
   * middle third along the others; zeros without input.
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
   * Step of RUNGE_KUTTA_4, 1e-5 to 1. Default: 0.5.
   */
  vtkSetMacro(StepShare, double);
  vtkGetMacro(StepShare, double);
  ///@}

  ///@{
  /**
   * Lines end where particles are not faster than this. With 0 none do: particles rest, and move on
   * when the flow does. Default: 0.
   */
  vtkSetMacro(TerminalSpeed, double);
  vtkGetMacro(TerminalSpeed, double);
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
   * Whether what is shown is within the domain: lines are cut where they pass the borders of cyclic
   * axes, with a point on either side, between those before and behind it, that has the arrays of
   * the one before. Default: false, lines are whole and go on beyond the borders.
   */
  vtkSetMacro(Wrap, bool);
  vtkGetMacro(Wrap, bool);
  vtkBooleanMacro(Wrap, bool);
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
