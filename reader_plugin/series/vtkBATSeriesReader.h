/**
 * @class   vtkBATSeriesReader
 * @brief   a time series of particle files that reads ahead while it is played
 *
 * From the second time step on, each update has the next file in the same direction opened and
 * brought into the system's page cache in the background (vtkBATReader::ReadAhead).
 *
 * In a batch process, where nobody sees the panel, an update that loads fewer particles than Quality
 * asks for, because of ParticleBudget, warns of it once.
 */

#ifndef vtkBATSeriesReader_h
#define vtkBATSeriesReader_h

#include "vtkBATSeriesModule.h" // for export macro
#include "vtkFileSeriesReader.h"

class VTKBATSERIES_EXPORT vtkBATSeriesReader : public vtkFileSeriesReader
{
public:
  static vtkBATSeriesReader* New();
  vtkTypeMacro(vtkBATSeriesReader, vtkFileSeriesReader);
  void PrintSelf(ostream& os, vtkIndent indent) override;

protected:
  vtkBATSeriesReader() = default;
  ~vtkBATSeriesReader() override = default;

  int RequestInformationForInput(
    int index, vtkInformation* request, vtkInformationVector* outputVector) override;
  int RequestData(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

private:
  vtkBATSeriesReader(const vtkBATSeriesReader&) = delete;
  void operator=(const vtkBATSeriesReader&) = delete;

  int RequestedIndex = -1;
  int LoadedIndex = -1;
  bool Warned = false;
};

#endif
