// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkBATFileListing
 * @brief tells ParaView which files exist, and that addresses may
 *
 * OpenDataFile() asks the proxy ServerFileListing whether a file is readable before it looks for a
 * reader. The plugins define this proxy with this class, because the original one takes an address
 * for a path that does not exist.
 */
#ifndef vtkBATFileListing_h
#define vtkBATFileListing_h

#include "vtkBATSeriesModule.h"
#include "vtkPVFileInformationHelper.h"

class VTKBATSERIES_EXPORT vtkBATFileListing : public vtkPVFileInformationHelper
{
public:
  static vtkBATFileListing* New();
  vtkTypeMacro(vtkBATFileListing, vtkPVFileInformationHelper);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * Returns true for a file that can be read, and for any http, https or s3 address: the reader
   * reports what is wrong with it.
   */
  bool GetActiveFileIsReadable();

protected:
  vtkBATFileListing() = default;
  ~vtkBATFileListing() override = default;

private:
  vtkBATFileListing(const vtkBATFileListing&) = delete;
  void operator=(const vtkBATFileListing&) = delete;
};

#endif
