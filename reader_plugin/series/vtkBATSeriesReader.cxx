#include "vtkBATSeriesReader.h"

#include "vtkBATReader.h"

#include "vtkObjectFactory.h"
#include "vtkProcessModule.h"

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkBATSeriesReader);

//------------------------------------------------------------------------------
void vtkBATSeriesReader::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
}

//------------------------------------------------------------------------------
int vtkBATSeriesReader::RequestInformationForInput(
  int index, vtkInformation* request, vtkInformationVector* outputVector)
{
  this->RequestedIndex = index;
  return this->Superclass::RequestInformationForInput(index, request, outputVector);
}

//------------------------------------------------------------------------------
int vtkBATSeriesReader::RequestData(vtkInformation* request, vtkInformationVector** inputVector,
  vtkInformationVector* outputVector)
{
  const int result = this->Superclass::RequestData(request, inputVector, outputVector);
  auto* reader = vtkBATReader::SafeDownCast(this->GetReader());
  if (!result || !reader)
  {
    return result;
  }
  const int index = this->RequestedIndex;
  if (this->LoadedIndex >= 0 && index != this->LoadedIndex)
  {
    const int next = index + (index > this->LoadedIndex ? 1 : -1);
    if (next >= 0 && next < static_cast<int>(this->GetNumberOfFileNames()))
    {
      reader->ReadAhead(this->GetFileName(static_cast<unsigned int>(next)));
    }
  }
  this->LoadedIndex = index;

  if (!this->Warned && reader->GetLoadedQuality() < reader->GetQuality() &&
    vtkProcessModule::GetProcessType() == vtkProcessModule::PROCESS_BATCH &&
    vtkProcessModule::GetProcessModule()->GetPartitionId() == 0)
  {
    this->Warned = true;
    const char* refining =
      reader->GetRefineWhileIdle() ? ", and RefineWhileIdle is on, which begins with less" : "";
    vtkWarningMacro(<< reader->GetFileName() << ": a sample of quality "
                    << reader->GetLoadedQuality() << " of its " << reader->GetParticleCount()
                    << " particles is loaded, to stay within ParticleBudget = "
                    << reader->GetParticleBudget() << "; 0 is no limit" << refining);
  }
  return result;
}
