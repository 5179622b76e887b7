/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBricksReader
 * @brief   reads unsteady velocity fields in bricks (.bricks, .bricks.series)
 *
 * The output is a vtkImageData with the velocity at the present time as point data: the first point
 * of each brick, 1/512 of them, which every file has in one place; or, with FullResolution, all
 * points, or those in a box. A field of two components has a third one of 0. NaN is where there is
 * no flow.
 *
 * Filters that trace particles (vtkFlowPathLines) take nothing from the image: they read bricks
 * through the vtkFlowSource in the information of the output, wherever particles are.
 *
 * RequestInformation reads the list, and the header of one file. Errors set the error code
 * (vtkBATErrors.h) and the error text, leave the output empty, and are reported through
 * vtkErrorMacro once; again after a setting has changed. All requests succeed for the pipeline:
 * ParaView would not ask again whoever fails one.
 */

#ifndef vtkBricksReader_h
#define vtkBricksReader_h

#include "vtkFlowModule.h" // for export macro
#include "vtkImageAlgorithm.h"

#include <memory> // for std::unique_ptr
#include <string> // for std::string

namespace bat_vtk
{
struct Failure;
}
class vtkImageData;

class VTKFLOW_EXPORT vtkBricksReader : public vtkImageAlgorithm
{
public:
  static vtkBricksReader* New();
  vtkTypeMacro(vtkBricksReader, vtkImageAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * The list of the time levels (.bricks.series), or .bricks files, one for each level, in the
   * order of their times. Default: none. GetFileName() is the first one.
   */
  void SetFileName(VTK_FILEPATH const char* name);
  void AddFileName(VTK_FILEPATH const char* name);
  void RemoveAllFileNames();
  VTK_FILEPATH const char* GetFileName() const;
  ///@}

  /**
   * 1 if the file begins as a file of bricks, also one that is refused with a reason, or is called
   * .bricks.series. Never reports an error.
   */
  static int CanReadFile(const char* fileName);

  ///@{
  /**
   * Whether the image has all points, those in Box with UseBox, if they fit MemoryBudget. Otherwise
   * it has the first point of each brick. Default: false.
   */
  vtkSetMacro(FullResolution, bool);
  vtkGetMacro(FullResolution, bool);
  vtkBooleanMacro(FullResolution, bool);
  ///@}

  ///@{
  /**
   * Most MiB of the image in a process with FullResolution. If it would have more, it is that
   * without FullResolution, which is warned of. 0 is no limit. Default: 1024.
   */
  vtkSetClampMacro(MemoryBudget, double, 0.0, 1e12);
  vtkGetMacro(MemoryBudget, double);
  ///@}

  ///@{
  /**
   * Whether the image has only what is in Box. Default: false.
   */
  vtkSetMacro(UseBox, bool);
  vtkGetMacro(UseBox, bool);
  vtkBooleanMacro(UseBox, bool);
  ///@}

  ///@{
  /**
   * The box: x min, x max, y min, y max, z min, z max. Points on its faces are in it. Ends may be
   * infinite; a minimum above its maximum and NaN are errors. No bound for particles. Default: 0,
   * 1, 0, 1, 0, 1.
   */
  vtkSetVector6Macro(Box, double);
  vtkGetVector6Macro(Box, double);
  ///@}

  ///@{
  /**
   * Most MiB of memory of a process for bricks that filters read; they share it. What is too little
   * for the threads of a trace is raised to the least. Default: 512.
   */
  vtkSetClampMacro(CacheSize, double, 0.0, 1e12);
  vtkGetMacro(CacheSize, double);
  ///@}

  ///@{
  /**
   * Reads of bricks at the same time, 1 to 1024. They wait for the disk more than for processors.
   * Default: 32.
   */
  vtkSetClampMacro(IOThreads, int, 1, 1024);
  vtkGetMacro(IOThreads, int);
  ///@}

  ///@{
  /**
   * What the file has, after UpdateInformation: box of the domain, points along each axis, bricks
   * of all times. Zeros if there is none.
   */
  vtkGetVector6Macro(Bounds, double);
  vtkGetVector3Macro(FullDimensions, double);
  vtkGetMacro(BrickCount, vtkIdType);
  ///@}

  /**
   * What is wrong with the file or the settings, as it was reported; empty if nothing is.
   */
  const char* GetErrorText() const;

  /**
   * Makes the next update read the list again. Filters go on with the times that it has more, where
   * no file that they have read was changed.
   */
  void Reload();

  /**
   * A setting has changed, so that an error is worth saying again.
   */
  void Modified() override;

protected:
  vtkBricksReader();
  ~vtkBricksReader() override;

  int RequestInformation(
    vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector) override;
  int RequestData(
    vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector) override;

  bool FullResolution = false;
  double MemoryBudget = 1024.0;
  bool UseBox = false;
  double Box[6] = { 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 };
  double CacheSize = 512.0;
  int IOThreads = 32;

  double Bounds[6] = { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 };
  double FullDimensions[3] = { 0.0, 0.0, 0.0 };
  vtkIdType BrickCount = 0;

private:
  vtkBricksReader(const vtkBricksReader&) = delete;
  void operator=(const vtkBricksReader&) = delete;

  class vtkInternals;

  void DescribeNothing(vtkInformation* outInfo);
  void DescribeFile(vtkInformation* outInfo);
  void Report(const bat_vtk::Failure& failure);
  void Warn(const std::string& text);

  std::unique_ptr<vtkInternals> Internals;
};

#endif
