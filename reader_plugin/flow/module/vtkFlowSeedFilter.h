/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowSeedFilter
 * @brief   base class of filters that follow particles of seeds for a part of the times
 *
 * The second input contains the seeds. Those on all processes are gathered, and their particles are
 * redistributed; each process has its share of the output.
 */

#ifndef vtkFlowSeedFilter_h
#define vtkFlowSeedFilter_h

#include "vtkFlowFilter.h"
#include "vtkFlowModule.h" // for export macro

#include <array>  // for std::array
#include <vector> // for std::vector

class VTKFLOW_EXPORT vtkFlowSeedFilter : public vtkFlowFilter
{
public:
  vtkAbstractTypeMacro(vtkFlowSeedFilter, vtkFlowFilter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * The seeds: any data set, or composite data.
   */
  void SetSourceConnection(vtkAlgorithmOutput* seeds);

  ///@{
  /**
   * If true, particles are followed back to where they come from: from EndTime to StartTime.
   * Default: false.
   */
  vtkSetMacro(Backward, bool);
  vtkGetMacro(Backward, bool);
  vtkBooleanMacro(Backward, bool);
  ///@}

  ///@{
  /**
   * If true, particles are followed from StartTime to EndTime only; these are times in the series,
   * or between. Otherwise from its first to its last. Default: false, 0, 1.
   */
  vtkSetMacro(LimitTimes, bool);
  vtkGetMacro(LimitTimes, bool);
  vtkBooleanMacro(LimitTimes, bool);
  vtkSetMacro(StartTime, double);
  vtkGetMacro(StartTime, double);
  vtkSetMacro(EndTime, double);
  vtkGetMacro(EndTime, double);
  ///@}

protected:
  vtkFlowSeedFilter();
  ~vtkFlowSeedFilter() override;

  int FillOutputPortInformation(int port, vtkInformation* info) override;

#ifndef __VTK_WRAP__
  /// True if the output depends on the present time.
  [[nodiscard]] virtual bool ShowsPresentTime() const = 0;
  void Describe(vtkFlowSource* flow, vtkInformation* outInfo) override;

  [[nodiscard]] bool KnowsEnd() const override
  {
    return this->LimitTimes;
  }
  /// The earlier and the later end, in a series with these times. For a steady flow with one time,
  /// an interval after it or, backward, before it. Throws bat_vtk::Failure.
  [[nodiscard]] std::array<double, 2> Times(const std::vector<double>& times) const;
#endif

  bool Backward = false;
  bool LimitTimes = false;
  double StartTime = 0.0;
  double EndTime = 1.0;

private:
  vtkFlowSeedFilter(const vtkFlowSeedFilter&) = delete;
  void operator=(const vtkFlowSeedFilter&) = delete;
};

#endif
