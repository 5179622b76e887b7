/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkSMBATRepresentationProxy
 * @brief   shares the properties of ParaView's Point Gaussian with the reader's
 *
 * The properties of ParaView's Point Gaussian are those that a panel shows, and the reader's shares
 * them. Of transfer functions ParaView would share only the values that they have at first. A
 * property is shown where it has an effect: which it has depends on Look.
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
