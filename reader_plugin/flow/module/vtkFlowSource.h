/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkFlowSource
 * @brief   an unsteady velocity field that filters read in bricks
 *
 * Readers of velocity fields put one under FLOW_SOURCE into the information of their output, and
 * filters read the bricks that they need through it. It owns the bricks in memory, which all
 * filters of a reader share.
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
   * Key in the information of an output: the vtkFlowSource of the output. Filters do not pass it
   * on.
   */
  static vtkInformationObjectBaseKey* FLOW_SOURCE();

  /**
   * Key in the information of an output: why it is not a velocity field, although it could be.
   */
  static vtkInformationStringKey* FLOW_PROBLEM();

  /**
   * The source at the first connection of an input port, or null, which includes an input with
   * other time steps, such as a series of files. ParaView's own filter between two proxies is
   * skipped.
   */
  static vtkFlowSource* OfInput(vtkAlgorithm* filter, int port);

  /**
   * The reason why OfInput() is null, if the input provides it; otherwise empty.
   */
  static std::string ProblemOfInput(vtkAlgorithm* filter, int port);

#ifndef __VTK_WRAP__
  /**
   * The field. A new field discards the bricks of the previous one.
   */
  void SetSource(std::shared_ptr<const bat::BrickSource> source);
  const std::shared_ptr<const bat::BrickSource>& GetSource() const
  {
    return this->Source;
  }

  /**
   * Memory for bricks and how they are read. A change discards the bricks in memory.
   */
  void SetCacheOptions(const bat::flow::CacheOptions& options);

  /**
   * The bricks in memory. Throws bat::Error if the field cannot be traced, e.g. because it has only
   * one time.
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
  std::shared_ptr<const bat::BrickSource> Source; // shared with readers that continue to use it
  bat::flow::CacheOptions Options;
  std::optional<bat::flow::Cache> Cache;
#endif
};

#endif
