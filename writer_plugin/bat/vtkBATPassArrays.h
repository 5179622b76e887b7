/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBATPassArrays
 * @brief   passes chosen arrays to a vtkBATWriter, and others that it needs
 *
 * Arrays that are always passed: vtkGhostType, without which ghost points would count as particles,
 * and "timestep" and "cycle" of the field data, the number of the time step.
 */

#ifndef vtkBATPassArrays_h
#define vtkBATPassArrays_h

#include "vtkBATWriterModule.h" // for export macro
#include "vtkPassSelectedArrays.h"

class VTKBATWRITER_EXPORT vtkBATPassArrays : public vtkPassSelectedArrays
{
public:
  static vtkBATPassArrays* New();
  vtkTypeMacro(vtkBATPassArrays, vtkPassSelectedArrays);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * Also chooses the arrays that are always passed.
   */
  static void AddNeeded(vtkPassSelectedArrays* filter);

protected:
  vtkBATPassArrays() = default;
  ~vtkBATPassArrays() override = default;

  int RequestData(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

private:
  vtkBATPassArrays(const vtkBATPassArrays&) = delete;
  void operator=(const vtkBATPassArrays&) = delete;
};

#endif
