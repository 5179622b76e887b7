/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowSource
 * @brief   an unsteady velocity field that filters read in bricks
 *
 * Readers of velocity fields put one under FLOW_SOURCE into the information of their output, and
 * filters on them read the bricks that they need through it. The bricks that are in memory belong
 * to it: all filters of a reader share them.
 */

#ifndef vtkFlowSource_h
#define vtkFlowSource_h

#include "vtkFlowModule.h" // for export macro
#include "vtkObject.h"

#include <memory>   // for std::shared_ptr
#include <optional> // for std::optional
#include <string>   // for std::string

#ifndef __VTK_WRAP__
#include "bat/flow/cache.hpp" // for bat::flow::Cache
#endif

class vtkAlgorithm;
class vtkInformationObjectBaseKey;
class vtkInformationStringKey;

class VTKFLOW_EXPORT vtkFlowSource : public vtkObject
{
public:
  static vtkFlowSource* New();
  vtkTypeMacro(vtkFlowSource, vtkObject);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * Of information of an output: the vtkFlowSource that the output is of. Filters do not hand it
   * on.
   */
  static vtkInformationObjectBaseKey* FLOW_SOURCE();

  /**
   * Of information of an output that could be a velocity field and is none: why.
   */
  static vtkInformationStringKey* FLOW_PROBLEM();

  /**
   * What is connected to the first connection of an input port, or null, also if the input has
   * other time steps, as a series of files has. ParaView's own filter between two proxies is looked
   * through.
   */
  static vtkFlowSource* OfInput(vtkAlgorithm* filter, int port);

  /**
   * Why OfInput() is null, where the input knows; or an empty text.
   */
  static std::string ProblemOfInput(vtkAlgorithm* filter, int port);

#ifndef __VTK_WRAP__
  /**
   * The field. Bricks of another one are forgotten.
   */
  void SetSource(std::shared_ptr<const bat::BrickSource> source);
  const std::shared_ptr<const bat::BrickSource>& GetSource() const
  {
    return this->Source;
  }

  /**
   * Memory for bricks and how they are read. Those that are in memory are forgotten if it changes.
   */
  void SetCacheOptions(const bat::flow::CacheOptions& options);

  /**
   * The bricks in memory. Throws bat::Error if the field cannot be traced, e.g. because it has one
   * time only.
   */
  const bat::flow::Cache& GetCache();
#endif

protected:
  vtkFlowSource();
  ~vtkFlowSource() override;

private:
  vtkFlowSource(const vtkFlowSource&) = delete;
  void operator=(const vtkFlowSource&) = delete;

#ifndef __VTK_WRAP__
  std::shared_ptr<const bat::BrickSource> Source; // shared with readers that go on with it
  bat::flow::CacheOptions Options;
  std::optional<bat::flow::Cache> Cache;
#endif
};

#endif
