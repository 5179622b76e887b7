/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkIDXWriter
 * @brief   writes structured grids in many resolutions (.idx)
 *
 * The input is a vtkImageData (vtkUniformGrid), or a composite data set of such pieces of one grid,
 * in any decomposition: pieces may overlap, and shared samples are taken from the first piece.
 * Ghosts are cut off. Point data become fields, or cell data as samples at cell centres: integers
 * of 8 to 64 bits, float and double, with 1 to 64 components; every value keeps its bits.
 * vtkIDXReader returns the same arrays.
 *
 * Input that a file cannot represent is an error: other data sets with points or rows, rotated
 * images, pieces that are not on one lattice (to a thousandth of the spacing) or have other arrays,
 * unsupported array types and names (blanks, '+', '#', brackets, '/'), missing samples, and hidden
 * ones; the last two can be written as zeros (MissingSamples).
 *
 * FileName is NAME.idx. A dataset is that file and a folder next to it. It may have many time
 * steps: those of the input (WriteAllTimeSteps), or one more with each write (OtherSteps). The
 * number of a step is the value "timestep" or "cycle" of the input's field data, otherwise
 * TimeStep, otherwise that in the input's list of times; its time is that of the input data
 * (DATA_TIME_STEP), otherwise the requested one. If several steps have one number and several
 * times, as in a series of files with one step each, the later ones get numbers after the
 * others.
 *
 * With an MPI controller of several ranks, all ranks write one dataset together: each requests its
 * own piece of the input, and the bytes of the files do not depend on the ranks
 * (bat/idx/parallel.hpp). A failure on one rank is reported by the first rank, and Write() returns
 * 0 on all. The report of a step has samples, files, bytes and blocks.
 *
 * A step appears when it is complete: a write that fails, or is aborted, leaves the old dataset.
 * Errors set the error code (vtkBATErrors.h), are reported through vtkErrorMacro with the name of
 * the file, and make Write() return 0.
 */

#ifndef vtkIDXWriter_h
#define vtkIDXWriter_h

#include "vtkGridWriter.h"
#include "vtkIDXWriterModule.h" // for export macro

#include <cstdint>  // for std::int64_t
#include <map>      // for std::map
#include <optional> // for std::optional
#include <string>   // for std::string

#ifndef __VTK_WRAP__
namespace bat::idx
{
struct WriteOptions;
}
#endif

class VTKIDXWRITER_EXPORT vtkIDXWriter : public vtkGridWriter
{
public:
  static vtkIDXWriter* New();
  vtkTypeMacro(vtkIDXWriter, vtkGridWriter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * The source of the samples: points if there is point data on any rank, otherwise cells.
   */
  enum SamplesType
  {
    AUTOMATIC = 0,
    POINTS = 1,
    CELLS = 2
  };

  ///@{
  /**
   * The source of the samples. Default: AUTOMATIC.
   */
  vtkSetClampMacro(Samples, int, AUTOMATIC, CELLS);
  vtkGetMacro(Samples, int);
  ///@}

  enum CompressionType
  {
    NONE = 0,
    ZIP = 1,
    LZ4 = 2
  };

  ///@{
  /**
   * Lossless compression of blocks, except those that do not shrink. Default: NONE.
   */
  vtkSetClampMacro(Compression, int, NONE, LZ4);
  vtkGetMacro(Compression, int);
  ///@}

  ///@{
  /**
   * Level of ZIP, 1 (fast) to 9 (small). Default: 6.
   */
  vtkSetClampMacro(ZipLevel, int, 1, 9);
  vtkGetMacro(ZipLevel, int);
  ///@}

  /**
   * The order of the samples in a block: rows, which are read fastest; hierarchical Z order; or
   * that with names and keys that PIDX and VisIt expect, without compression.
   */
  enum LayoutType
  {
    ROW_MAJOR = 0,
    HZ = 1,
    HZ_FOR_PIDX = 2
  };

  ///@{
  /**
   * The order of the samples. Default: ROW_MAJOR.
   */
  vtkSetClampMacro(Layout, int, ROW_MAJOR, HZ_FOR_PIDX);
  vtkGetMacro(Layout, int);
  ///@}

  ///@{
  /**
   * Number of samples in a block: 2 to this power, 1 to 28; 0 chooses it. Smaller blocks make
   * reading small boxes faster. Default: 0.
   */
  vtkSetClampMacro(BitsPerBlock, int, 0, 28);
  vtkGetMacro(BitsPerBlock, int);
  ///@}

  ///@{
  /**
   * Target size of a file of samples, in MiB of all fields. Default: 64.
   */
  vtkSetClampMacro(FileSize, double, 0.001, 4194304.0);
  vtkGetMacro(FileSize, double);
  ///@}

  enum MissingSamplesType
  {
    REFUSE = 0,
    ZEROS = 1
  };

  ///@{
  /**
   * Handling of samples that are in no piece, or are hidden (vtkGhostType): an error, or zeros.
   * Default: REFUSE.
   */
  vtkSetClampMacro(MissingSamples, int, REFUSE, ZEROS);
  vtkGetMacro(MissingSamples, int);
  ///@}

protected:
  vtkIDXWriter() = default;
  ~vtkIDXWriter() override = default;

  std::string WriteStep() override;

  int Samples = AUTOMATIC;
  int Compression = NONE;
  int ZipLevel = 6;
  int Layout = ROW_MAJOR;
  int BitsPerBlock = 0;
  double FileSize = 64.0;
  int MissingSamples = REFUSE;

private:
  vtkIDXWriter(const vtkIDXWriter&) = delete;
  void operator=(const vtkIDXWriter&) = delete;

  /// Returns `number`, or another one if a step with a different time has it, as in a series of
  /// files.
  std::int64_t StepFor(std::int64_t number, const std::optional<double>& time) const;
  /// Returns the options set by the properties. `others` selects how other steps are handled.
  bat::idx::WriteOptions MakeOptions(int others);

  std::string WrittenTo;
  std::map<std::int64_t, std::optional<double>> Written; ///< steps of the dataset, with their times
};

#endif
