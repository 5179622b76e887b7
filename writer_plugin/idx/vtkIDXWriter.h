/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkIDXWriter
 * @brief   writes structured grids in many resolutions (.idx)
 *
 * The input is a vtkImageData (vtkUniformGrid), or a composite data set of such pieces of one grid,
 * in any decomposition: pieces may overlap, and their samples then count once, those of the first
 * piece. Ghosts are cut off. Point data become fields, or cell data as samples at the centres of
 * cells: every value bit for bit, integers of 8 to 64 bits and float and double, with 1 to 64
 * components. vtkIDXReader gives back the same arrays.
 *
 * What a file cannot say is an error: other data sets with points or rows, images that are turned,
 * pieces that do not lie on one lattice (to a thousandth of the spacing) or have other arrays,
 * arrays of other types and names (blanks, '+', '#', brackets, '/'), samples that no piece has, and
 * such as are hidden; the last two can be written as zeros (MissingSamples).
 *
 * A dataset is the named file and a folder beside it. It may have many time steps: those of the
 * input (WriteAllTimeSteps), or one more with each write (OtherSteps). The number of a step is the
 * value "timestep" or "cycle" of the input's field data, else TimeStep, else that of the input's
 * list of times; its time is that of the input data (DATA_TIME_STEP), else the one that the
 * pipeline was asked for.
 *
 * With an MPI controller of several ranks, all ranks write one dataset together: each asks its
 * input for its own piece, and the bytes of the files do not depend on the ranks
 * (bat/idx/parallel.hpp). What fails on one rank is reported by the first rank, and Write() returns
 * 0 on all.
 *
 * A step appears when it is complete: a write that fails, or is aborted, leaves the old dataset.
 * Errors set the error code (vtkBATErrors.h), are reported through vtkErrorMacro with the name of
 * the file, and make Write() return 0.
 */

#ifndef vtkIDXWriter_h
#define vtkIDXWriter_h

#include "vtkIDXWriterModule.h" // for export macro
#include "vtkWriter.h"

#include <cstdint>  // for std::int64_t
#include <map>      // for std::map
#include <optional> // for std::optional
#include <set>      // for std::set
#include <string>   // for std::string
#include <vector>   // for std::vector

class vtkMultiProcessController;

class VTKIDXWRITER_EXPORT vtkIDXWriter : public vtkWriter
{
public:
  static vtkIDXWriter* New();
  vtkTypeMacro(vtkIDXWriter, vtkWriter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * The file to write, NAME.idx. Default: none.
   */
  vtkSetFilePathMacro(FileName);
  vtkGetFilePathMacro(FileName);
  ///@}

  /**
   * What becomes samples: points if there is point data on any rank, or else cells.
   */
  enum SamplesType
  {
    AUTOMATIC = 0,
    POINTS = 1,
    CELLS = 2
  };

  ///@{
  /**
   * Default: AUTOMATIC.
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
   * How blocks are packed, without loss; one that does not shrink is not. Default: NONE.
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
   * that with names and keys as PIDX and VisIt expect them, which is never packed.
   */
  enum LayoutType
  {
    ROW_MAJOR = 0,
    HZ = 1,
    HZ_FOR_PIDX = 2
  };

  ///@{
  /**
   * Default: ROW_MAJOR.
   */
  vtkSetClampMacro(Layout, int, ROW_MAJOR, HZ_FOR_PIDX);
  vtkGetMacro(Layout, int);
  ///@}

  ///@{
  /**
   * Samples of a block: 2 to this power, 1 to 28; 0 chooses it. Smaller blocks make small boxes
   * faster. Default: 0.
   */
  vtkSetClampMacro(BitsPerBlock, int, 0, 28);
  vtkGetMacro(BitsPerBlock, int);
  ///@}

  ///@{
  /**
   * Size of a file of samples to aim at, in MiB of all fields. Default: 64.
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
   * What becomes of samples that no piece has, or that are hidden (vtkGhostType): an error, or
   * zeros. Default: REFUSE.
   */
  vtkSetClampMacro(MissingSamples, int, REFUSE, ZEROS);
  vtkGetMacro(MissingSamples, int);
  ///@}

  enum OtherStepsType
  {
    REMOVE = 0,
    KEEP = 1
  };

  ///@{
  /**
   * What becomes of other time steps that the dataset has: the new one takes their place, or is
   * added to them; it has to be of the same grid and the same fields then. Default: REMOVE.
   */
  vtkSetClampMacro(OtherSteps, int, REMOVE, KEEP);
  vtkGetMacro(OtherSteps, int);
  ///@}

  ///@{
  /**
   * Whether to write all time steps of the input into the dataset, and not only the present one.
   * Default: off.
   */
  vtkSetMacro(WriteAllTimeSteps, bool);
  vtkGetMacro(WriteAllTimeSteps, bool);
  vtkBooleanMacro(WriteAllTimeSteps, bool);
  ///@}

  ///@{
  /**
   * Number of the time step, unless the input's field data has one; -1 for none, which is 0. Of
   * several steps that this writer is given with one number and several times, as by a series of
   * files with one step each, the later ones get numbers behind the others. Default: -1.
   */
  vtkSetMacro(TimeStep, int);
  vtkGetMacro(TimeStep, int);
  ///@}

  ///@{
  /**
   * Whether to wait until all bytes are on disk before the dataset names them. Default: on.
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
   * What the last write did, as one line of JSON: samples, files, bytes and blocks of a step. Empty
   * before the first write and after one that failed.
   */
  const char* GetReport() const { return this->Report.c_str(); }

  int ProcessRequest(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

protected:
  vtkIDXWriter();
  ~vtkIDXWriter() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  void WriteData() override;

  char* FileName = nullptr;
  int Samples = AUTOMATIC;
  int Compression = NONE;
  int ZipLevel = 6;
  int Layout = ROW_MAJOR;
  int BitsPerBlock = 0;
  double FileSize = 64.0;
  int MissingSamples = REFUSE;
  int OtherSteps = REMOVE;
  bool WriteAllTimeSteps = false;
  int TimeStep = -1;
  bool Flush = true;
  int Threads = 0;
  vtkMultiProcessController* Controller = nullptr;
  std::string Report;

private:
  vtkIDXWriter(const vtkIDXWriter&) = delete;
  void operator=(const vtkIDXWriter&) = delete;

  bool IsFirst() const;
  void Fail(unsigned long code, const std::string& text);
  void Warn(const std::string& text);
  void WriteStep();
  /// `number`, or another one if a step of another time has it, as the files of a series may.
  std::int64_t StepFor(std::int64_t number, const std::optional<double>& time) const;

  std::vector<double> Times; ///< of the input
  std::size_t Current = 0;   ///< of Times, while all are written
  std::set<std::string> Warned;
  std::string WrittenTo;
  std::map<std::int64_t, std::optional<double>> Written; ///< steps of the dataset, with their times
};

#endif
