/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkGridWriter
 * @brief   what writers of structured grids share: input, time steps, ranks, errors
 *
 * The input is a vtkImageData (vtkUniformGrid), or a composite data set of such pieces of one grid.
 * A subclass writes one time step in WriteStep().
 *
 * With an MPI controller of several ranks, all ranks write together: each asks its input for its
 * own piece. What fails on one rank is reported by the first rank, and Write() returns 0 on all.
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
   * The file to write; the subclass says what its name ends in. Default: none.
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
   * What becomes of the time steps that are there: the new one takes their place, or is added to
   * them; it has to be of the same grid then. KEEP_EARLIER is for running simulations, which may
   * come back to a step: those before it stay, and later ones are gone. Default: REMOVE.
   */
  vtkSetClampMacro(OtherSteps, int, REMOVE, KEEP_EARLIER);
  vtkGetMacro(OtherSteps, int);
  ///@}

  ///@{
  /**
   * Whether to write all time steps of the input, and not only the present one. Default: off.
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
   * Whether to wait until all bytes are on disk before they have a name. Default: on.
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
   * What the last write did, as one line of JSON. Empty before the first write and after one that
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

  /// Writes the present time step and returns the report. Collective; throws on all ranks.
  virtual std::string WriteStep() = 0;

  bool IsFirst() const; ///< of the ranks
  /// OtherSteps; of a step behind the first one that is written, KEEP in the place of REMOVE.
  int WhatBecomesOfSteps() const;
  /// Steps that are written: all of the input, or one.
  std::size_t CountSteps() const;
  /// Once for each text, on the first rank.
  void Warn(const std::string& text);
  /// Collective. What one rank cannot do is an error of all, thrown as bat::Error: none may wait
  /// for it in a collective call. Else the warnings of all ranks are said.
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

  std::vector<double> Times; ///< of the input
  std::string Report;
  std::set<std::string> Warned;
};

#endif
