/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkSMBATExtractWriterProxy
 * @brief   extractor that also passes the number of the time step to its writer
 *
 * ParaView's data extractors use the number only in the name of the file. The sub-proxy "Writer"
 * must have a property TimeStep.
 */

#ifndef vtkSMBATExtractWriterProxy_h
#define vtkSMBATExtractWriterProxy_h

#include "vtkBATExtractsModule.h" // for export macro
#include "vtkSMDataExtractWriterProxy.h"

class VTKBATEXTRACTS_EXPORT vtkSMBATExtractWriterProxy : public vtkSMDataExtractWriterProxy
{
public:
  static vtkSMBATExtractWriterProxy* New();
  vtkTypeMacro(vtkSMBATExtractWriterProxy, vtkSMDataExtractWriterProxy);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  bool Write(vtkSMExtractsController* extractor) override;

protected:
  vtkSMBATExtractWriterProxy() = default;
  ~vtkSMBATExtractWriterProxy() override = default;

private:
  vtkSMBATExtractWriterProxy(const vtkSMBATExtractWriterProxy&) = delete;
  void operator=(const vtkSMBATExtractWriterProxy&) = delete;
};

#endif
