/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBATCompositeRepresentation
 * @brief   ParaView's representations, with vtkBATPointGaussianRepresentation for Point Gaussian
 */

#ifndef vtkBATCompositeRepresentation_h
#define vtkBATCompositeRepresentation_h

#include "vtkBATRepresentationModule.h" // for export macro
#include "vtkPVCompositeRepresentation.h"

#include <string> // for std::string

class VTKBATREPRESENTATION_EXPORT vtkBATCompositeRepresentation
  : public vtkPVCompositeRepresentation
{
public:
  static vtkBATCompositeRepresentation* New();
  vtkTypeMacro(vtkBATCompositeRepresentation, vtkPVCompositeRepresentation);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * Like the superclass, but if two representations have the same key, a
   * vtkBATPointGaussianRepresentation takes precedence, regardless of the order.
   */
  void AddRepresentation(const char* key, vtkPVDataRepresentation* representation) override;

protected:
  vtkBATCompositeRepresentation();
  ~vtkBATCompositeRepresentation() override;

private:
  vtkBATCompositeRepresentation(const vtkBATCompositeRepresentation&) = delete;
  void operator=(const vtkBATCompositeRepresentation&) = delete;

  std::string OwnKey; ///< key of the vtkBATPointGaussianRepresentation
};

#endif
