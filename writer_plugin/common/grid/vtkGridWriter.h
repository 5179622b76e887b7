/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkGridWriter
 * @brief   base class of writers of structured grids: input, time steps, ranks, errors
 *
 * The input is a vtkImageData (vtkUniformGrid), or a composite data set of such pieces of one grid.
 * A subclass writes one time step in WriteStep().
 *
 * With an MPI controller of several ranks, all ranks write together: each requests its own piece of
 * the input. A failure on one rank is reported by the first rank, and Write() returns 0 on all.
 *
 * Errors set the error code (vtkBATErrors.h), are reported through vtkErrorMacro with the name of
 * the file, and make Write() return 0.
 */

#ifndef vtkGridWriter_h
#define vtkGridWriter_h

#include "vtkGridWriterModule.h" // for export macro
#include "vtkWriter.h"

#include <cstddef>    // for std::size_t
#include <functional> // for std::function
#include <optional>   // for std::optional
#include <set>        // for std::set
#include <string>     // for std::string
#include <vector>     // for std::vector

class vtkMultiProcessController;

namespace bat
{
class Error;
}

class VTKGRIDWRITER_EXPORT vtkGridWriter : public vtkWriter
{
public:
  vtkAbstractTypeMacro(vtkGridWriter, vtkWriter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * The file to write; the subclass defines the extension of its name. Default: none.
   */
  vtkSetFilePathMacro(FileName);
  vtkGetFilePathMacro(FileName);
  ///@}

  enum OtherStepsType
  {
    REMOVE = 0,
    KEEP = 1,
    KEEP_EARLIER = 2
  };

  ///@{
  /**
   * Handling of existing time steps: the new one replaces them, or is added, which requires the
   * same grid. KEEP_EARLIER is for running simulations, which may return to a step: earlier steps
   * stay, and later ones are removed. Default: REMOVE.
   */
  vtkSetClampMacro(OtherSteps, int, REMOVE, KEEP_EARLIER);
  vtkGetMacro(OtherSteps, int);
  ///@}

  ///@{
  /**
   * If on, all time steps of the input are written, not only the present one. Default: off.
   */
  vtkSetMacro(WriteAllTimeSteps, bool);
  vtkGetMacro(WriteAllTimeSteps, bool);
  vtkBooleanMacro(WriteAllTimeSteps, bool);
  ///@}

  ///@{
  /**
   * Number of the time step, unless the input's field data has one; -1 for none. Default: -1.
   */
  vtkSetMacro(TimeStep, int);
  vtkGetMacro(TimeStep, int);
  ///@}

  ///@{
  /**
   * If on, waits until all bytes are on disk before they get a name. Default: on.
   */
  vtkSetMacro(Flush, bool);
  vtkGetMacro(Flush, bool);
  vtkBooleanMacro(Flush, bool);
  ///@}

  ///@{
  /**
   * Maximum number of threads per process; 0: the processors available to it alone. Does not affect
   * the files. Default: 0.
   */
  vtkSetClampMacro(Threads, int, 0, 1024);
  vtkGetMacro(Threads, int);
  ///@}

  ///@{
  /**
   * The ranks that write together. Default: the global controller of ParaView's servers. Null, or a
   * controller without MPI: this process alone.
   */
  virtual void SetController(vtkMultiProcessController*);
  vtkGetObjectMacro(Controller, vtkMultiProcessController);
  ///@}

  /**
   * Report of the last write, as one line of JSON. Empty before the first write and after one that
   * failed.
   */
  const char* GetReport() const { return this->Report.c_str(); }

  int ProcessRequest(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

protected:
  vtkGridWriter();
  ~vtkGridWriter() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  void WriteData() override;

  /// Writes the present time step and returns the report. Collective; all ranks throw.
  virtual std::string WriteStep() = 0;

  bool IsFirst() const; ///< first rank
  /// OtherSteps; for the second written step and later ones, KEEP instead of REMOVE.
  int WhatBecomesOfSteps() const;
  /// The steps to write: all steps of the input, or one.
  std::size_t CountSteps() const;
  /// Warns once for each text, on the first rank.
  void Warn(const std::string& text);
  /// Collective. A failure on one rank is thrown on all, as bat::Error, so that none waits for it
  /// in a collective call. Otherwise the warnings of all ranks are reported.
  void Agree(const std::optional<bat::Error>& failure, std::vector<std::string> warnings = {});
  /// Callback for the core: reports progress, and returns false to cancel.
  std::function<bool(double)> Progress();

  char* FileName = nullptr;
  int OtherSteps = REMOVE;
  bool WriteAllTimeSteps = false;
  int TimeStep = -1;
  bool Flush = true;
  int Threads = 0;
  vtkMultiProcessController* Controller = nullptr;
  std::size_t Current = 0; ///< step of the input, while all are written

private:
  vtkGridWriter(const vtkGridWriter&) = delete;
  void operator=(const vtkGridWriter&) = delete;

  void Fail(unsigned long code, const std::string& text);

  std::vector<double> Times; ///< time steps of the input
  std::string Report;
  std::set<std::string> Warned;
};

#endif
