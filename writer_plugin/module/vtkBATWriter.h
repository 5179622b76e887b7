/**
 * @class   vtkBATWriter
 * @brief   writes particle files (.bat)
 *
 * The input is a vtkPointSet (vtkPolyData, vtkUnstructuredGrid, ...), a vtkTable with three columns
 * as coordinates, or a composite data set of these, whose blocks are written one behind the other.
 * Points become particles and point data (columns of a table) their attributes: every numeric type
 * of VTK with 1 to 9 components, every value bit for bit. vtkBATReader gives back the same arrays;
 * the order of the particles changes.
 *
 * Positions are float32 or float64 as in the input; other types become float64. Cells and ghost
 * points are not written; nor are cell data and arrays that hold no numbers, which a warning names.
 *
 * The file is replaced in one step when it is complete: a write that fails, or is aborted, leaves
 * the old file. Errors set the error code (vtkBATErrors.h), are reported through vtkErrorMacro with
 * the name of the file, and make Write() return 0.
 */

#ifndef vtkBATWriter_h
#define vtkBATWriter_h

#include "vtkBATWriterModule.h" // for export macro
#include "vtkWriter.h"

#include <string> // for std::string

class VTKBATWRITER_EXPORT vtkBATWriter : public vtkWriter
{
public:
  static vtkBATWriter* New();
  vtkTypeMacro(vtkBATWriter, vtkWriter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * The file to write. Default: none.
   */
  vtkSetFilePathMacro(FileName);
  vtkGetFilePathMacro(FileName);
  ///@}

  ///@{
  /**
   * Columns of a table that hold the coordinates; "name[component]" for a column with several
   * components. Empty: the usual names are tried: x, y, z; X, Y, Z; Points:0, Points:1, Points:2;
   * Points_0, Points_1, Points_2; a column Points with three components. ZColumn "none" means 0. A
   * column that is a coordinate is not also written as an attribute. Not used for other inputs.
   * Default: empty.
   */
  vtkSetStdStringFromCharMacro(XColumn);
  vtkGetCharFromStdStringMacro(XColumn);
  vtkSetStdStringFromCharMacro(YColumn);
  vtkGetCharFromStdStringMacro(YColumn);
  vtkSetStdStringFromCharMacro(ZColumn);
  vtkGetCharFromStdStringMacro(ZColumn);
  ///@}

  ///@{
  /**
   * Most particles of a block, the smallest unit that a reader can skip: 16 to 65536, or 0 to
   * choose the smallest size whose index stays below one percent of the data. Smaller blocks make
   * narrow queries faster and the index larger. Checked when writing. Default: 0.
   */
  vtkSetClampMacro(BlockParticles, int, 0, VTK_INT_MAX);
  vtkGetMacro(BlockParticles, int);
  ///@}

  ///@{
  /**
   * Most particles of a treelet, a compact region of space with its own ranges: 256 to 65536.
   * Larger ones make a smaller index and coarser ranges. Checked when writing. Default: 8192.
   */
  vtkSetClampMacro(TreeletParticles, int, 0, VTK_INT_MAX);
  vtkGetMacro(TreeletParticles, int);
  ///@}

protected:
  vtkBATWriter() = default;
  ~vtkBATWriter() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  void WriteData() override;

  char* FileName = nullptr;
  std::string XColumn;
  std::string YColumn;
  std::string ZColumn;
  int BlockParticles = 0;
  int TreeletParticles = 8192;

private:
  vtkBATWriter(const vtkBATWriter&) = delete;
  void operator=(const vtkBATWriter&) = delete;

  void Fail(unsigned long code, const std::string& text);
};

#endif
