/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBATFileSeriesReader
 * @brief   files that are chosen one by one, and no list of files
 *
 * Lists (.bat.series) belong to the proxy BATSeriesReader, which vtkBATSeriesReader serves:
 * ParaView asks the user how to reload chosen files, but reloads a list immediately. It would
 * otherwise take ".bat" for the extension of a list.
 */

#ifndef vtkBATFileSeriesReader_h
#define vtkBATFileSeriesReader_h

#include "vtkBATSeriesModule.h" // for export macro
#include "vtkBATSeriesReader.h"

class VTKBATSERIES_EXPORT vtkBATFileSeriesReader : public vtkBATSeriesReader
{
public:
  static vtkBATFileSeriesReader* New();
  vtkTypeMacro(vtkBATFileSeriesReader, vtkBATSeriesReader);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * Like the superclass, but returns 0 for names that end in ".series".
   */
  int CanReadFile(const char* filename) override;

protected:
  vtkBATFileSeriesReader() = default;
  ~vtkBATFileSeriesReader() override = default;

private:
  vtkBATFileSeriesReader(const vtkBATFileSeriesReader&) = delete;
  void operator=(const vtkBATFileSeriesReader&) = delete;
};

#endif
