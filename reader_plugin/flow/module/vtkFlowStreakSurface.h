/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowStreakSurface
 * @brief   streak surfaces of an unsteady flow, from bricks on demand
 *
 * Computes the surface of particles that lines of the second input release continuously, like smoke
 * from a wire, into the velocity field of the first, which may be larger than memory.
 *
 * Vertices are particles traced from the line. If neighbours are farther apart than MaximumEdge,
 * particles are released between them. If edges stay too long after ten such steps, the surface is
 * torn.
 *
 * The output has triangles; points have Normals, ParticleAge, ReleaseTime, LinePlace (where on the
 * line: 2.5 is between its points 2 and 3) and LineIds. Positions do not wrap along cyclic axes.
 * The field data also have particles, and is_refined, which is 0 if MaximumParticles has stopped
 * the refining.
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
   * Time of the displayed surface: the end of the times, or the present time if it lies between
   * their ends. Default: AT_THE_END.
   */
  vtkSetClampMacro(Show, int, AT_THE_END, AT_PRESENT_TIME);
  vtkGetMacro(Show, int);
  ///@}

  ///@{
  /**
   * Maximum length of a triangle edge, above 0; diagonals may be twice as long. Default: 1.
   */
  vtkSetMacro(MaximumEdge, double);
  vtkGetMacro(MaximumEdge, double);
  ///@}

  ///@{
  /**
   * Edge length at which the surface is torn, as a multiple of MaximumEdge, 1 or more; less than 2
   * counts as 2. Default: 4.
   */
  vtkSetMacro(Tear, double);
  vtkGetMacro(Tear, double);
  ///@}

  ///@{
  /**
   * Maximum number of particles for a line's surface, 1 to 4194304. If refining stops there, the
   * surface is torn where edges are still too long, with a warning. Default: 250000.
   */
  vtkSetClampMacro(MaximumParticles, int, 1, 4194304);
  vtkGetMacro(MaximumParticles, int);
  ///@}

  /**
   * After UpdateInformation: an edge length that resolves the field without making more triangles
   * than a view can show. 1 without input.
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
