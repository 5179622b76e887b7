/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBricksReader
 * @brief   reads unsteady velocity fields in bricks (.bricks, .bricks.series)
 *
 * The output is a vtkImageData with the velocity at the present time as point data: the first point
 * of each brick, 1/512 of all points, which every file stores in one place; or, with
 * FullResolution, all points, or those in a box. A field with two components gets a third one of 0.
 * Points without flow have NaN.
 *
 * Filters that trace particles (vtkFlowPathLines) do not use the image: they read bricks through
 * the vtkFlowSource in the information of the output, wherever particles go.
 *
 * RequestInformation reads the list, and the header of one file. Errors set the error code
 * (vtkBATErrors.h) and the error text, leave the output empty, and are reported through
 * vtkErrorMacro once; again after a setting has changed. All requests succeed for the pipeline,
 * because ParaView never asks again after a failed one.
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
   * The list of the time levels (.bricks.series), or one .bricks file for each level, in the order
   * of their times. Default: none. GetFileName() is the first one.
   */
  void SetFileName(VTK_FILEPATH const char* name);
  void AddFileName(VTK_FILEPATH const char* name);
  void RemoveAllFileNames();
  VTK_FILEPATH const char* GetFileName() const;
  ///@}

  /**
   * Returns 1 if the file begins as a file of bricks, even if it is refused with a reason, or is
   * called .bricks.series. Never reports an error.
   */
  static int CanReadFile(const char* fileName);

  ///@{
  /**
   * If true, the image has all points (those in Box with UseBox), if they fit MemoryBudget.
   * Otherwise it has the first point of each brick. Default: false.
   */
  vtkSetMacro(FullResolution, bool);
  vtkGetMacro(FullResolution, bool);
  vtkBooleanMacro(FullResolution, bool);
  ///@}

  ///@{
  /**
   * Memory limit per process, in MiB, for the image with FullResolution. If it needs more, the
   * image is made without FullResolution, with a warning. 0 means no limit. Default: 1024.
   */
  vtkSetClampMacro(MemoryBudget, double, 0.0, 1e12);
  vtkGetMacro(MemoryBudget, double);
  ///@}

  ///@{
  /**
   * If true, the image has only the points in Box. Default: false.
   */
  vtkSetMacro(UseBox, bool);
  vtkGetMacro(UseBox, bool);
  vtkBooleanMacro(UseBox, bool);
  ///@}

  ///@{
  /**
   * The box: x min, x max, y min, y max, z min, z max. Points on its faces are included. Ends may
   * be infinite; a minimum above its maximum and NaN are errors. Does not restrict particles.
   * Default: 0, 1, 0, 1, 0, 1.
   */
  vtkSetVector6Macro(Box, double);
  vtkGetVector6Macro(Box, double);
  ///@}

  ///@{
  /**
   * Memory limit per process, in MiB, for bricks that filters read, shared by all of them. Raised
   * to the minimum if the threads of a trace need more. Default: 512.
   */
  vtkSetClampMacro(CacheSize, double, 0.0, 1e12);
  vtkGetMacro(CacheSize, double);
  ///@}

  ///@{
  /**
   * Number of concurrent brick reads, 1 to 1024. They wait for the disk more than for processors.
   * Default: 32.
   */
  vtkSetClampMacro(IOThreads, int, 1, 1024);
  vtkGetMacro(IOThreads, int);
  ///@}

  ///@{
  /**
   * Contents of the file, after UpdateInformation: box of the domain, points along each axis,
   * bricks of all times. Zeros if there is none.
   */
  vtkGetVector6Macro(Bounds, double);
  vtkGetVector3Macro(FullDimensions, double);
  vtkGetMacro(BrickCount, vtkIdType);
  ///@}

  /**
   * The error in the file or the settings, as it was reported; empty if there is none.
   */
  const char* GetErrorText() const;

  /**
   * Makes the next update read the list again. Filters continue with its additional times, if no
   * file that they have read was changed.
   */
  void Reload();

  /**
   * Called after a setting has changed, so that an error is reported again.
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
