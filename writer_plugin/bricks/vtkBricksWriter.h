/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBricksWriter
 * @brief   writes velocity fields in bricks (.bricks), and series of their time steps
 *
 * The input is a vtkImageData (vtkUniformGrid), or a composite data set of such pieces of one grid,
 * in any decomposition: pieces may overlap, and their points then count once, those of the first
 * piece. Ghosts are cut off. The velocity are point data with 2 or 3 components of type float or
 * double, every value bit for bit. Where points are hidden (vtkGhostType) there is no flow: NaN.
 * vtkBricksReader gives back the same points.
 *
 * What a file cannot say is an error: other data sets with points or rows, images that are turned,
 * pieces that do not lie on one lattice (to a thousandth of the spacing), points that no piece has,
 * cell data.
 *
 * NAME.bricks is one time level. NAME.bricks.series is a list of levels, NAME_0000.bricks and so
 * on, which is replaced after each level: all time steps of the input (WriteAllTimeSteps, which
 * makes a series of NAME.bricks too), or one more with each write (OtherSteps). The time of a level
 * is that of the input data (DATA_TIME_STEP), else the one that the pipeline was asked for, else
 * its number.
 *
 * With an MPI controller of several ranks, all ranks write one file together: each asks its input
 * for its own piece, and the bytes of the file do not depend on the ranks
 * (bat/bricks/parallel.hpp). What fails on one rank is reported by the first rank, and Write()
 * returns 0 on all.
 *
 * A file appears when it is complete: a write that fails, or is aborted, leaves the old one. Errors
 * set the error code (vtkBATErrors.h), are reported through vtkErrorMacro with the name of the
 * file, and make Write() return 0.
 */

#ifndef vtkBricksWriter_h
#define vtkBricksWriter_h

#include "vtkBricksWriterModule.h" // for export macro
#include "vtkWriter.h"

#include <set>    // for std::set
#include <string> // for std::string
#include <vector> // for std::vector

class vtkMultiProcessController;

class VTKBRICKSWRITER_EXPORT vtkBricksWriter : public vtkWriter
{
public:
  static vtkBricksWriter* New();
  vtkTypeMacro(vtkBricksWriter, vtkWriter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * The file to write, NAME.bricks or NAME.bricks.series. Default: none.
   */
  vtkSetFilePathMacro(FileName);
  vtkGetFilePathMacro(FileName);
  ///@}

  ///@{
  /**
   * Name of the velocity. Empty: the active vectors, else the only point data that can be one.
   * Default: empty.
   */
  vtkSetStringMacro(Field);
  vtkGetStringMacro(Field);
  ///@}

  ///@{
  /**
   * Whether bricks are packed, without loss, where that makes them shorter. Default: on.
   */
  vtkSetMacro(Compression, bool);
  vtkGetMacro(Compression, bool);
  vtkBooleanMacro(Compression, bool);
  ///@}

  ///@{
  /**
   * Whether a last cell leads from the last point along x, y, z back to the first. Default: off.
   */
  vtkSetVector3Macro(Cyclic, int);
  vtkGetVector3Macro(Cyclic, int);
  ///@}

  enum OtherStepsType
  {
    REMOVE = 0,
    KEEP = 1
  };

  ///@{
  /**
   * What becomes of the levels that a series has: the new one takes their place, or is added to
   * them; it has to be of the same grid and later then. Default: REMOVE.
   */
  vtkSetClampMacro(OtherSteps, int, REMOVE, KEEP);
  vtkGetMacro(OtherSteps, int);
  ///@}

  ///@{
  /**
   * Whether to write all time steps of the input as a series, and not only the present one.
   * Default: off.
   */
  vtkSetMacro(WriteAllTimeSteps, bool);
  vtkGetMacro(WriteAllTimeSteps, bool);
  vtkBooleanMacro(WriteAllTimeSteps, bool);
  ///@}

  ///@{
  /**
   * Whether to wait until all bytes are on disk before the file has its name. Default: on.
   */
  vtkSetMacro(Flush, bool);
  vtkGetMacro(Flush, bool);
  vtkBooleanMacro(Flush, bool);
  ///@}

  ///@{
  /**
   * Most threads of a process; 0: the processors that it has to itself. Does not change the files.
   * Default: 0.
   */
  vtkSetClampMacro(Threads, int, 0, 1024);
  vtkGetMacro(Threads, int);
  ///@}

  ///@{
  /**
   * The ranks that write together. Default: the global controller, that of ParaView's servers. Null
   * or a controller without MPI: this process alone.
   */
  virtual void SetController(vtkMultiProcessController*);
  vtkGetObjectMacro(Controller, vtkMultiProcessController);
  ///@}

  /**
   * What the last write did, as one line of JSON: bricks, blank_bricks, value_bytes and file_bytes
   * of a level. Empty before the first write and after one that failed.
   */
  const char* GetReport() const { return this->Report.c_str(); }

  int ProcessRequest(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

protected:
  vtkBricksWriter();
  ~vtkBricksWriter() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  void WriteData() override;

  char* FileName = nullptr;
  char* Field = nullptr;
  bool Compression = true;
  int Cyclic[3] = { 0, 0, 0 };
  int OtherSteps = REMOVE;
  bool WriteAllTimeSteps = false;
  bool Flush = true;
  int Threads = 0;
  vtkMultiProcessController* Controller = nullptr;
  std::string Report;

private:
  vtkBricksWriter(const vtkBricksWriter&) = delete;
  void operator=(const vtkBricksWriter&) = delete;

  bool IsFirst() const;
  void Fail(unsigned long code, const std::string& text);
  void Warn(const std::string& text);
  void WriteLevel();

  std::vector<double> Times; ///< of the input
  std::size_t Current = 0;   ///< of Times, while all are written
  std::set<std::string> Warned;
};

#endif
