/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkIDXReader
 * @brief   reads structured grids in many resolutions (.idx)
 *
 * The output is a vtkImageData with the selected fields as point data. One level of a file is read
 * from disk (Resolution, MemoryBudget), and of that the samples in a box (Box) at one time step. A
 * level has every sample of the full grid whose coordinates are multiples of a power of two along
 * each axis: sub-sampled, not averaged. A sample has the same position at every level: Origin is
 * the position of logical 0 0 0, Spacing is that of the level, and the extent counts samples of the
 * level from logical 0.
 *
 * RequestInformation reads only the text of the file, whatever the size of the data. Any extent can
 * be requested, and nothing else is read. Processes choose their level from the text alone.
 *
 * Blocks that are absent from a file have the default value of their field, with one warning for
 * each time step. Anything else that is missing or damaged is an error.
 *
 * Errors set the error code (vtkBATErrors.h) and the error text, and leave the output empty. They
 * are reported through vtkErrorMacro with the name of the file, and again only after a setting has
 * changed or the file has been read. All requests succeed for the pipeline, because ParaView never
 * asks again after a failed one.
 *
 * The time steps of a velocity are also a flow, which filters read in bricks of the finest level,
 * whatever is loaded (vtkFlowSource.h). The velocity is the only selected field with 2 or 3
 * components of type float or double. If two or three fields are selected, and all have one
 * component, these form it, in the order of the file.
 *
 * The field data of the output describe it: level, level_requested (without a budget), levels (the
 * number of the finest), samples (of the whole image), bytes_read and absent_blocks (of this
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
   * Returns 1 if the file begins as an .idx file, even if it is refused with a reason. Never
   * reports an error.
   */
  static int CanReadFile(const char* fileName);

  ///@{
  /**
   * Finest level to load: 0 is one sample, GetLevels() all samples; three levels are twice as fine
   * along three axes. A number above that of the file means all. In 0 to 62. Default: 62.
   */
  vtkSetClampMacro(Resolution, int, 0, 62);
  vtkGetMacro(Resolution, int);
  ///@}

  ///@{
  /**
   * Memory limit per process, in MiB, for arrays: loads the finest level that fits, for the
   * requested fields and box, in all processes together. Level 0 is always loaded. 0 means no
   * limit. Default: 0.
   */
  vtkSetClampMacro(MemoryBudget, double, 0.0, 1e12);
  vtkGetMacro(MemoryBudget, double);
  ///@}

  ///@{
  /**
   * If true, the first update of a file, box or selection of fields loads only a level that takes
   * about a tenth of a second, and each LoadMore() three levels more, until Resolution or
   * MemoryBudget is reached. Default: false, which loads everything in one update.
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
   * Called by an observer of ProgressEvent: cancels what LoadMore has begun, until it is called
   * again. The output stays as it was. Does nothing in other updates.
   */
  void PutOffStep() override;

  ///@{
  /**
   * If true, only the samples in Box are read. Default: false.
   */
  vtkSetMacro(UseBox, bool);
  vtkGetMacro(UseBox, bool);
  vtkBooleanMacro(UseBox, bool);
  ///@}

  ///@{
  /**
   * The box to read as x min, x max, y min, y max, z min, z max, in the coordinates of the samples.
   * Samples on its faces are included. Ends may be infinite; a minimum above its maximum and NaN
   * are errors. A box between the samples of a level gives an empty image and a warning. Only used
   * with UseBox. Default: 0, 1, 0, 1, 0, 1.
   */
  vtkSetVector6Macro(Box, double);
  vtkGetVector6Macro(Box, double);
  ///@}

  ///@{
  /**
   * Memory limit of this process, in MiB, for data that flow filters have read, which they share.
   * Does not affect lines. Default: 512.
   */
  vtkSetClampMacro(CacheSize, double, 0.0, 1e12);
  vtkGetMacro(CacheSize, double);
  ///@}

  /**
   * The fields to read. UpdateInformation adds the names in the file. A name that no file has had
   * so far causes a warning when reading. Default: all.
   */
  vtkDataArraySelection* GetPointDataArraySelection();

  ///@{
  /**
   * Contents of the file, after UpdateInformation: the number of its finest level, its version
   * ("6", "6.1 (PIDX)"; empty if no file is open), the box of its samples (zeros if there are
   * none), and their number along each axis at the finest level.
   */
  vtkGetMacro(Levels, int);
  const char* GetFileVersion() const;
  vtkGetVector6Macro(Bounds, double);
  vtkGetVector3Macro(FullDimensions, double);
  ///@}

  /**
   * The cost of an Update with the present settings, on all processes: the resulting level, the
   * samples along each axis, the bytes of the arrays, the bytes of the blocks to read; then the
   * level that Resolution requests, and the bytes of its arrays; then the number of the finest
   * level, and the bytes of the next finer level, or 0. Computed from the text of the file on
   * each request; needs no Update. Empty if the settings are an error, or the file cannot be
   * read.
   */
  vtkDoubleArray* GetLoadCost();

  /**
   * The reason why the last GetLoadCost was empty: the error in the settings or the file, worded as
   * in an Update. Empty if there is none.
   */
  const char* GetLoadError() const;

  ///@{
  /**
   * The level that the last Update loaded, and the one at which LoadMore() ends: Resolution, or
   * less if MemoryBudget requires it. The same in all processes. -1 if nothing is loaded.
   */
  vtkGetMacro(LoadedLevel, int);
  vtkGetMacro(TargetLevel, int);
  ///@}

  ///@{
  /**
   * Samples that the last Update loaded into this process, and the bytes that it read for them.
   */
  vtkGetMacro(LoadedSamples, vtkIdType);
  vtkGetMacro(BytesRead, vtkIdType);
  ///@}

  ///@{
  /**
   * If true, an Update that is aborted (SetAbortExecute) keeps the output. It then loads nothing,
   * which is not an error. Default: false, the output is empty, unless it was a step.
   */
  void SetKeepWhenAborted(bool keep) override;
  bool GetKeepWhenAborted() const;
  ///@}

  /**
   * True if the last Update was aborted. LoadedLevel and TargetLevel then describe the output, and
   * an Update after Modified() or LoadMore() tries again.
   */
  bool GetAborted() const override;

  /**
   * The error in the file or the settings, as it was reported by the last update, including one of
   * the information; empty if there is none.
   */
  const char* GetErrorText() const;

  ///@{
  /**
   * Processes that update the parts of one output together, one each. MemoryBudget applies to
   * each of them. If a setting or another time step made an update necessary, an error in one
   * is an error in all, and the first process reports it. Default: null, every reader by
   * itself.
   */
  void SetController(vtkMultiProcessController* controller) override;
  vtkMultiProcessController* GetController() const;
  ///@}

  /**
   * For a reader that chooses files for this one: updates fail with this error until the text is
   * empty or null. Does not count as a change of a setting.
   */
  void Refuse(unsigned long code, const char* text) override;

  /**
   * Does nothing: opening a file only reads its text, which is faster than starting a thread.
   */
  void ReadAhead(const char* fileName) override;

  /**
   * The warning after an Update that has loaded a coarser level than Resolution requests because of
   * MemoryBudget; empty otherwise.
   */
  std::string GetCutByBudget() const override;

  /**
   * Called after a setting has changed, so that an error is reported again.
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
  bat_vtk::Failure TryLoading(vtkInformation* outInfo, vtkImageData* output, bool& cancelled);
  void DeliverEnd(
    vtkImageData* output, const bat_vtk::Failure& failure, bool cancelled, bool isSame);
  void DeliverNothing(vtkImageData* output);
  void LoadExtent(vtkInformation* outInfo, vtkImageData* output);
  void Report(const bat_vtk::Failure& failure);
  void Warn(const std::string& kind, const std::string& text);

  std::unique_ptr<vtkInternals> Internals;
};

#endif
