/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBATSeriesReader
 * @brief   a time series of files that reads ahead while it is played
 *
 * From the second time step on, each update opens the next file in the same direction in the
 * background and brings it into the system's page cache (bat_vtk::SeriesMember::ReadAhead).
 *
 * Before the first update, the inner reader describes the first file, or that of DescribeTime();
 * after it, the file of the last requested time.
 *
 * If files with one step each share a time, their times are the numbers 0, 1, 2, ...
 *
 * A fault of a file is an error of its step alone, whose output is empty. If the times come from
 * the files and one cannot be read, its step is placed evenly between its neighbours. A list that
 * cannot be read is an error of every step.
 *
 * In a batch process, where no panel is visible, an update that loads less than requested because
 * of a budget causes one warning.
 */

#ifndef vtkBATSeriesReader_h
#define vtkBATSeriesReader_h

#include "vtkBATSeriesModule.h" // for export macro
#include "vtkFileSeriesReader.h"

#include <map>      // for std::map
#include <optional> // for std::optional
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace bat_vtk
{
class SeriesMember;
}

class VTKBATSERIES_EXPORT vtkBATSeriesReader : public vtkFileSeriesReader
{
public:
  static vtkBATSeriesReader* New();
  vtkTypeMacro(vtkBATSeriesReader, vtkFileSeriesReader);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * Like the superclass, but returns 1 for any list (".series"), whose faults are better reported
   * by an update.
   */
  int CanReadFile(const char* filename) override;

  /**
   * Makes the inner reader describe the file of a time, before the first update. The information
   * must be up to date.
   */
  void DescribeTime(double time);

protected:
  vtkBATSeriesReader() = default;
  ~vtkBATSeriesReader() override = default;

  int RequestInformation(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int RequestInformationForInput(
    int index, vtkInformation* request, vtkInformationVector* outputVector) override;
  int RequestData(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int ReadMetaDataFile(const char* metafilename, vtkStringArray* filesToRead,
    std::vector<double>& timeValues, int maxFilesToRead) override;

private:
  vtkBATSeriesReader(const vtkBATSeriesReader&) = delete;
  void operator=(const vtkBATSeriesReader&) = delete;

  enum class Pass
  {
    None,
    Look, ///< reads the times in the files
    Place ///< uses the times known by now
  };

  bat_vtk::SeriesMember* Inner() const;
  bool HasEqualTimes() const;
  void PlaceUnreadable();
  int ChooseShown(vtkInformation* outInfo);

  int RequestedIndex = -1;
  int LoadedIndex = -1;
  bool Warned = false;
  Pass Looking = Pass::None;
  std::map<int, std::vector<double>> Times; ///< times in the inspected files
  bool Numbered = false; ///< times are the numbers of files, because their own are not distinct
  std::vector<int> Unreadable; ///< files
  std::string ListError;
  std::optional<double> DescribedTime;
};

#endif
