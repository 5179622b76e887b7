/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBATFileSeriesWriter
 * @brief   writes chosen arrays, and the others that vtkBATWriter needs
 *
 * If arrays are chosen, ParaView puts a vtkPassSelectedArrays before the writer. vtkBATPassArrays
 * describes the other arrays that this class passes on.
 */

#ifndef vtkBATFileSeriesWriter_h
#define vtkBATFileSeriesWriter_h

#include "vtkBATExtractsModule.h" // for export macro
#include "vtkFileSeriesWriter.h"

class VTKBATEXTRACTS_EXPORT vtkBATFileSeriesWriter : public vtkFileSeriesWriter
{
public:
  static vtkBATFileSeriesWriter* New();
  vtkTypeMacro(vtkBATFileSeriesWriter, vtkFileSeriesWriter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  int ProcessRequest(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

protected:
  vtkBATFileSeriesWriter() = default;
  ~vtkBATFileSeriesWriter() override = default;

private:
  vtkBATFileSeriesWriter(const vtkBATFileSeriesWriter&) = delete;
  void operator=(const vtkBATFileSeriesWriter&) = delete;
};

#endif
