/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkIDXReader
 * @brief   reads structured grids in many resolutions (.idx)
 *
 * The output is a vtkImageData with the fields that are selected as point data. What is read from
 * disk is one level of a file (Resolution, MemoryBudget), and of that the samples in a box (Box) at
 * one time step. A level has every sample of the full grid whose coordinates are multiples of a
 * power of two along each axis: sub-sampled, not averaged. A sample lies at the same place at every
 * level: Origin is where logical 0 0 0 lies, Spacing is that of the level, and the extent counts
 * samples of the level from logical 0.
 *
 * RequestInformation reads the text of the file only, whatever the size of the data. Any extent can
 * be asked for, and nothing else is read. Processes choose their level from the text alone.
 *
 * Blocks that are absent from a file have the default value of their field, which is warned of once
 * for each time step. Anything else that is missing or damaged is an error.
 *
 * Errors set the error code (vtkBATErrors.h) and the error text, and leave the output empty. They
 * are reported through vtkErrorMacro with the name of the file, and again only after a setting has
 * changed or the file has been read. All requests succeed for the pipeline: ParaView would not ask
 * again whoever fails one.
 *
 * Time steps of a velocity are a flow too, which filters read in bricks of the finest level,
 * whatever is loaded (vtkFlowSource.h): of the fields that are selected, the only one with 2 or 3
 * components of type float or double, or, if two or three fields are selected and no others, those
 * with one, in the order of the file.
 *
 * The field data of the output says what it is: level, level_requested (without a budget), levels
 * (the number of the finest), samples (of the whole image), bytes_read and absent_blocks (of this
 * process), and timestep.
 */

#ifndef vtkIDXReader_h
#define vtkIDXReader_h

#include "SeriesMember.h"       // for SeriesMember
#include "SteppedLoad.h"        // for SteppedLoad
#include "vtkIDXReaderModule.h" // for export macro
#include "vtkImageAlgorithm.h"
#include "vtkNew.h" // for vtkNew

#include <memory> // for std::unique_ptr
#include <string> // for std::string

namespace bat_vtk
{
struct Failure;
}
class vtkDataArraySelection;
class vtkDoubleArray;
class vtkImageData;
class vtkMultiProcessController;

class VTKIDXREADER_EXPORT vtkIDXReader
  : public vtkImageAlgorithm
#ifndef __VTK_WRAP__
  , public bat_vtk::SteppedLoad
  , public bat_vtk::SeriesMember
#endif
{
public:
  static vtkIDXReader* New();
  vtkTypeMacro(vtkIDXReader, vtkImageAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * The file to read. Default: none.
   */
  void SetFileName(VTK_FILEPATH const char* name);
  vtkGetFilePathMacro(FileName);
  ///@}

  /**
   * 1 if the file begins as an .idx file, also one that is refused with a reason. Never reports an
   * error.
   */
  static int CanReadFile(const char* fileName);

  ///@{
  /**
   * Most level to load: 0 is one sample, and GetLevels() all of them; three levels are twice as
   * fine along three axes. More than a file has means all of it. In 0 to 62. Default: 62.
   */
  vtkSetClampMacro(Resolution, int, 0, 62);
  vtkGetMacro(Resolution, int);
  ///@}

  ///@{
  /**
   * Most MiB of arrays that a process is to have: the finest level is loaded that fits, of the
   * fields and the box that are asked for, on all processes together. Level 0 always fits. 0 is no
   * limit. Default: 0.
   */
  vtkSetClampMacro(MemoryBudget, double, 0.0, 1e12);
  vtkGetMacro(MemoryBudget, double);
  ///@}

  ///@{
  /**
   * Whether the first update of a file, box or selection of fields loads only a level that takes
   * about a tenth of a second, and each LoadMore() three levels more, until Resolution or
   * MemoryBudget is reached. Default: false, everything at once.
   */
  vtkSetMacro(RefineWhileIdle, bool);
  vtkGetMacro(RefineWhileIdle, bool);
  vtkBooleanMacro(RefineWhileIdle, bool);
  ///@}

  /**
   * Makes the next update load a finer level, if RefineWhileIdle has left any.
   */
  void LoadMore();

  /**
   * From an observer of ProgressEvent: gives up what LoadMore has begun, until it is called again.
   * The output stays as it was. Does nothing in other updates.
   */
  void PutOffStep() override;

  ///@{
  /**
   * Whether to read only the samples in Box. Default: false.
   */
  vtkSetMacro(UseBox, bool);
  vtkGetMacro(UseBox, bool);
  vtkBooleanMacro(UseBox, bool);
  ///@}

  ///@{
  /**
   * The box to read as x min, x max, y min, y max, z min, z max, where the samples lie. Those on
   * its faces are in it. Ends may be infinite; a minimum above its maximum and NaN are errors. A
   * box between the samples of a level gives an empty image and a warning. Only used with UseBox.
   * Default: 0, 1, 0, 1, 0, 1.
   */
  vtkSetVector6Macro(Box, double);
  vtkGetVector6Macro(Box, double);
  ///@}

  ///@{
  /**
   * Most MiB of this process for what filters of flow have read, which they share. It changes no
   * line. Default: 512.
   */
  vtkSetClampMacro(CacheSize, double, 0.0, 1e12);
  vtkGetMacro(CacheSize, double);
  ///@}

  /**
   * Which fields to read. Filled with the names in the file by UpdateInformation. A name that no
   * file has had so far is warned of when reading. Default: all.
   */
  vtkDataArraySelection* GetPointDataArraySelection();

  ///@{
  /**
   * What the file holds, after UpdateInformation: the number of its finest level, its version ("6",
   * "6.1 (PIDX)"; empty if no file is open), where its samples lie (zeros if there are none), and
   * how many there are along each axis at the finest level.
   */
  vtkGetMacro(Levels, int);
  const char* GetFileVersion() const;
  vtkGetVector6Macro(Bounds, double);
  vtkGetVector3Macro(FullDimensions, double);
  ///@}

  /**
   * What an Update with the present settings takes, of all processes: the level that it leads to,
   * the samples along each axis, the bytes of the arrays, the bytes of the blocks that are read;
   * then the level that Resolution asks for, and the bytes of its arrays; then the number of the
   * finest level, and the bytes of the level after the first, or 0. From the text of the file,
   * whenever it is asked for; needs no Update. Empty if the settings make no question, or the file
   * cannot be read.
   */
  vtkDoubleArray* GetLoadCost();

  /**
   * Why the last GetLoadCost was empty: what is wrong with the settings or the file, as an Update
   * would say it. Empty if nothing is.
   */
  const char* GetLoadError() const;

  ///@{
  /**
   * Level that the last Update loaded, and the one that LoadMore() leads to: Resolution, or what
   * MemoryBudget allows of it. The same in all processes. -1 if nothing is loaded.
   */
  vtkGetMacro(LoadedLevel, int);
  vtkGetMacro(TargetLevel, int);
  ///@}

  ///@{
  /**
   * Samples that the last Update loaded into this process, and what it read of files for them.
   */
  vtkGetMacro(LoadedSamples, vtkIdType);
  vtkGetMacro(BytesRead, vtkIdType);
  ///@}

  ///@{
  /**
   * Whether an Update that is aborted (SetAbortExecute) leaves the output as it was. It loads
   * nothing then, and is no error. Default: false, the output is empty, unless it was a step.
   */
  void SetKeepWhenAborted(bool keep) override;
  bool GetKeepWhenAborted() const;
  ///@}

  /**
   * Whether the last Update was aborted. Then LoadedLevel and TargetLevel are those of the output,
   * and an Update after Modified() or LoadMore() tries again.
   */
  bool GetAborted() const override;

  /**
   * What is wrong with the file or the question, as it was reported; empty if nothing is. Of the
   * last update, also of one of the information.
   */
  const char* GetErrorText() const;

  ///@{
  /**
   * Processes that update the parts of one output together, one each: MemoryBudget is for each of
   * them, and an error of one, in an update that has become necessary by a setting or another time
   * step, is an error of all, and the first of them reports it. Default: null, every reader for
   * itself.
   */
  void SetController(vtkMultiProcessController* controller) override;
  vtkMultiProcessController* GetController() const;
  ///@}

  /**
   * For a reader that chooses files for this one: updates fail with this error, until the text is
   * empty or null. Not a change of a setting.
   */
  void Refuse(unsigned long code, const char* text) override;

  /**
   * Does nothing: to open a file is to read its text, which takes less than a thread.
   */
  void ReadAhead(const char* fileName) override;

  /**
   * What is to be said of an Update that has loaded a coarser level than Resolution asks for,
   * because of MemoryBudget; empty otherwise.
   */
  std::string GetCutByBudget() const override;

  /**
   * A setting has changed, so that an error is worth saying again.
   */
  void Modified() override;

protected:
  vtkIDXReader();
  ~vtkIDXReader() override;

  int RequestInformation(
    vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector) override;
  int RequestData(
    vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector) override;

  char* FileName = nullptr;
  int Resolution = 62;
  double MemoryBudget = 0.0;
  bool RefineWhileIdle = false;
  bool UseBox = false;
  double Box[6] = { 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 };
  double CacheSize = 512.0;
  vtkNew<vtkDataArraySelection> PointDataArraySelection;

  int Levels = 0;
  double Bounds[6] = { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 };
  double FullDimensions[3] = { 0.0, 0.0, 0.0 };
  int LoadedLevel = -1;
  int TargetLevel = -1;
  vtkIdType LoadedSamples = 0;
  vtkIdType BytesRead = 0;
  vtkNew<vtkDoubleArray> LoadCost;

private:
  vtkIDXReader(const vtkIDXReader&) = delete;
  void operator=(const vtkIDXReader&) = delete;

  class vtkInternals;

  void SelectionModified();
  void DescribeNothing(vtkInformation* outInfo);
  void DescribeFile(vtkInformation* outInfo);
  void DescribeFlow(vtkInformation* outInfo);
  void DeliverNothing(vtkImageData* output);
  void LoadExtent(vtkInformation* outInfo, vtkImageData* output);
  void Report(const bat_vtk::Failure& failure);
  void Warn(const std::string& kind, const std::string& text);

  std::unique_ptr<vtkInternals> Internals;
};

#endif
