/**
 * @class   vtkSMBATRepresentationProxy
 * @brief   gives the reader's Point Gaussian the transfer functions of ParaView's
 *
 * The properties of ParaView's Point Gaussian are those that a panel shows, and the reader's shares
 * them. Of transfer functions ParaView would share only the values that they have at first.
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

private:
  vtkSMBATRepresentationProxy(const vtkSMBATRepresentationProxy&) = delete;
  void operator=(const vtkSMBATRepresentationProxy&) = delete;
};

#endif
