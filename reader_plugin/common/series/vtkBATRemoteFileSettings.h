// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkBATRemoteFileSettings
 * @brief settings for files at addresses: the cache on disk, and the time-out
 *
 * The page "Remote Files" of ParaView's settings. They hold for the whole process. What is not set
 * here is as the environment says (PARABAT_CACHE, PARABAT_REMOTE_TIMEOUT).
 */
#ifndef vtkBATRemoteFileSettings_h
#define vtkBATRemoteFileSettings_h

#include "vtkBATSeriesModule.h"
#include "vtkObject.h"

#include <string>

class VTKBATSERIES_EXPORT vtkBATRemoteFileSettings : public vtkObject
{
public:
  static vtkBATRemoteFileSettings* New();
  vtkTypeMacro(vtkBATRemoteFileSettings, vtkObject);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /** Folder of the cache on disk, "~" for the home folder. Empty: that of PARABAT_CACHE, else none.
   * An error, and no change, if it cannot be made. */
  void SetCacheFolder(const char* folder);
  /** Maximum size of this folder, in GiB. */
  void SetCacheSize(int size);
  /** Seconds without a byte after which a request fails. Until it is changed, this is
   * PARABAT_REMOTE_TIMEOUT, else 30. */
  void SetTimeout(int seconds);

protected:
  vtkBATRemoteFileSettings() = default;
  ~vtkBATRemoteFileSettings() override = default;

private:
  vtkBATRemoteFileSettings(const vtkBATRemoteFileSettings&) = delete;
  void operator=(const vtkBATRemoteFileSettings&) = delete;

  void Use();

  std::string CacheFolder;
  int CacheSize = 16;
  int Timeout = 30;
  bool HasTimeout = false;
};

#endif
