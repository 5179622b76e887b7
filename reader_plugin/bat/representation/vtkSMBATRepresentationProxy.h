/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkSMBATRepresentationProxy
 * @brief   shares the properties of ParaView's Point Gaussian with the reader's
 *
 * A panel shows the properties of ParaView's Point Gaussian, and the reader's representation shares
 * them. ParaView would share only the initial values of transfer functions. A property is shown if
 * it has an effect, which depends on Look.
 */

#ifndef vtkSMBATRepresentationProxy_h
#define vtkSMBATRepresentationProxy_h

#include "vtkBATRepresentationModule.h" // for export macro
#include "vtkSMPVRepresentationProxy.h"

class VTKBATREPRESENTATION_EXPORT vtkSMBATRepresentationProxy : public vtkSMPVRepresentationProxy
{
public:
  static vtkSMBATRepresentationProxy* New();
  vtkTypeMacro(vtkSMBATRepresentationProxy, vtkSMPVRepresentationProxy);
  void PrintSelf(ostream& os, vtkIndent indent) override;

protected:
  vtkSMBATRepresentationProxy();
  ~vtkSMBATRepresentationProxy() override;

  void CreateVTKObjects() override;
  int ReadXMLAttributes(vtkSMSessionProxyManager* manager, vtkPVXMLElement* element) override;

private:
  vtkSMBATRepresentationProxy(const vtkSMBATRepresentationProxy&) = delete;
  void operator=(const vtkSMBATRepresentationProxy&) = delete;
};

#endif
