/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBricksWriter
 * @brief   writes velocity fields in bricks (.bricks), and series of their time steps
 *
 * The input is a vtkImageData (vtkUniformGrid), or a composite data set of such pieces of one grid,
 * in any decomposition: pieces may overlap, and shared points are taken from the first piece.
 * Ghosts are cut off. The velocity is point data with 2 or 3 components of type float or double;
 * every value keeps its bits. Hidden points (vtkGhostType) have no flow: NaN. vtkBricksReader
 * returns the same points.
 *
 * Input that a file cannot represent is an error: other data sets with points or rows, rotated
 * images, pieces that are not on one lattice (to a thousandth of the spacing), points that are in
 * no piece, cell data.
 *
 * FileName NAME.bricks is one time level. NAME.bricks.series is a list of levels, NAME_0000.bricks
 * and so on, which is replaced after each level: all time steps of the input (WriteAllTimeSteps,
 * which makes a series of NAME.bricks too), or one more with each write (OtherSteps). With
 * KEEP_EARLIER, for running simulations, a file is named after its step, NAME_000012.bricks, and
 * bat/bricks/growing_series.hpp defines the list. The time of a level is that of the input data
 * (DATA_TIME_STEP), otherwise the requested one, otherwise its number; its step is the value
 * "timestep" or "cycle" of the input's field data, otherwise TimeStep, otherwise its number.
 *
 * With an MPI controller of several ranks, all ranks write one file together: each requests its own
 * piece of the input, and the bytes of the file do not depend on the ranks
 * (bat/bricks/parallel.hpp). A failure on one rank is reported by the first rank, and Write()
 * returns 0 on all. The report of a level has bricks, blank_bricks, value_bytes and file_bytes.
 *
 * A file appears when it is complete: a write that fails, or is aborted, leaves the old one. Errors
 * set the error code (vtkBATErrors.h), are reported through vtkErrorMacro with the name of the
 * file, and make Write() return 0.
 */

#ifndef vtkBricksWriter_h
#define vtkBricksWriter_h

#include "vtkBricksWriterModule.h" // for export macro
#include "vtkGridWriter.h"

#include <memory> // for std::unique_ptr
#include <string> // for std::string
#include <vector> // for std::vector

namespace bat
{
namespace bricks
{
class GrowingSeries;
struct Header;
struct WriteOptions;
struct WriteReport;
}
}
namespace bat_vtk
{
struct Leaf;
}

class VTKBRICKSWRITER_EXPORT vtkBricksWriter : public vtkGridWriter
{
public:
  static vtkBricksWriter* New();
  vtkTypeMacro(vtkBricksWriter, vtkGridWriter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * Name of the velocity. If empty, the active vectors, otherwise the only suitable point data.
   * Default: empty.
   */
  vtkSetStringMacro(Field);
  vtkGetStringMacro(Field);
  ///@}

  ///@{
  /**
   * If on, bricks that become shorter are compressed, without loss. Default: on.
   */
  vtkSetMacro(Compression, bool);
  vtkGetMacro(Compression, bool);
  vtkBooleanMacro(Compression, bool);
  ///@}

  ///@{
  /**
   * Adds a last cell that leads from the last point along x, y, z to the first. Default: off.
   */
  vtkSetVector3Macro(Cyclic, int);
  vtkGetVector3Macro(Cyclic, int);
  ///@}

protected:
  vtkBricksWriter();
  ~vtkBricksWriter() override;

  std::string WriteStep() override;

  char* Field = nullptr;
  bool Compression = true;
  int Cyclic[3] = { 0, 0, 0 };

private:
  struct Target;
  struct Level;

  static Target TargetOf(const std::string& name, bool all, bool keep, bool staged);
  std::string WriteLevel();
  Level ReadLevel(const std::vector<bat_vtk::Leaf>& leaves, int steps);
  bat::bricks::Header HeaderOf(const Level& level);
  bool WriteCollective(const Level& level, bat::bricks::Header& header,
    const bat::bricks::WriteOptions& options, bat::bricks::WriteReport& report);
  bat::bricks::WriteReport WriteAlone(
    const Level& level, bat::bricks::Header& header, const bat::bricks::WriteOptions& options);
  void MoveStaged(const std::string& stem);

  vtkBricksWriter(const vtkBricksWriter&) = delete;
  void operator=(const vtkBricksWriter&) = delete;

  bat::bricks::GrowingSeries& SeriesAt(const std::string& list);

  bool IsStaged = false;   ///< while all steps are written: none has its name yet
  std::string GrowingList; ///< the list of Growing
  bool GrowingFlush = false;
  std::unique_ptr<bat::bricks::GrowingSeries> Growing;
};

#endif
