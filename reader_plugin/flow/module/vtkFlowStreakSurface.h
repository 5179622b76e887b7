/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowStreakSurface
 * @brief   streak surfaces of an unsteady flow, from bricks on demand
 *
 * The surface of particles that lines, those of the second input, release all the time, as smoke
 * from a wire, through the velocity field of the first, which may be larger than memory.
 *
 * Vertices are particles that were followed from the line on. Where neighbours are farther from
 * each other than MaximumEdge, particles are released between; where that does not help, ten times
 * each time, the surface is torn.
 *
 * The output has triangles; points have Normals, ParticleAge, ReleaseTime, LinePlace (where on the
 * line: 2.5 is between its points 2 and 3) and LineIds. Positions do not wrap along cyclic axes.
 * The field data have, besides what was read: particles, and is_refined, 0 where MaximumParticles
 * has stopped the refining.
 *
 * The triangles are the same on any number of processes.
 */

#ifndef vtkFlowStreakSurface_h
#define vtkFlowStreakSurface_h

#include "vtkFlowModule.h" // for export macro
#include "vtkFlowSeedFilter.h"

class VTKFLOW_EXPORT vtkFlowStreakSurface : public vtkFlowSeedFilter
{
public:
  static vtkFlowStreakSurface* New();
  vtkTypeMacro(vtkFlowStreakSurface, vtkFlowSeedFilter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

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
   * Longest edge of a triangle, above 0: a diagonal may be twice as long. Default: 1.
   */
  vtkSetMacro(MaximumEdge, double);
  vtkGetMacro(MaximumEdge, double);
  ///@}

  ///@{
  /**
   * The surface is torn where edges stay longer than so many times MaximumEdge, 1 or more; less
   * than 2 is as 2. Default: 4.
   */
  vtkSetMacro(Tear, double);
  vtkGetMacro(Tear, double);
  ///@}

  ///@{
  /**
   * Refining of a line's surface stops before there are more particles, 1 to 4194304: the surface
   * is torn where edges are still too long, which is warned of. Default: 250000.
   */
  vtkSetClampMacro(MaximumParticles, int, 1, 4194304);
  vtkGetMacro(MaximumParticles, int);
  ///@}

  /**
   * After UpdateInformation: an edge that shows what the field has and makes no more triangles than
   * can be looked at. Without input 1.
   */
  vtkGetMacro(SuggestedEdge, double);

protected:
  vtkFlowStreakSurface();
  ~vtkFlowStreakSurface() override;

#ifndef __VTK_WRAP__
  [[nodiscard]] bool ShowsPresentTime() const override
  {
    return this->Show == AT_PRESENT_TIME;
  }
  [[nodiscard]] std::string CountsText() const override;
  void Describe(vtkFlowSource* flow, vtkInformation* outInfo) override;
  void Produce(vtkFlowSource* flow, vtkInformationVector** inputVector, vtkInformation* outInfo,
    vtkDataObject* output) override;
#endif

  int Show = AT_THE_END;
  double MaximumEdge = 1.0;
  double Tear = 4.0;
  int MaximumParticles = 250000;
  double SuggestedEdge = 1.0;

private:
  vtkFlowStreakSurface(const vtkFlowStreakSurface&) = delete;
  void operator=(const vtkFlowStreakSurface&) = delete;

  class vtkInternals;
  std::unique_ptr<vtkInternals> Internals;
};

#endif
