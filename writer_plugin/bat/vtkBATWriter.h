/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBATWriter
 * @brief   writes particle files (.bat)
 *
 * The input is a vtkPointSet (vtkPolyData, vtkUnstructuredGrid, ...), a vtkTable with three columns
 * as coordinates, or a composite data set of these, whose blocks are written one after another.
 * Points become particles, and point data (columns of a table) their attributes: every numeric type
 * of VTK with 1 to 9 components, every value bit for bit. vtkBATReader returns the same arrays; the
 * order of the particles changes.
 *
 * Positions are float32 or float64 as in the input; other types become float64. Cell data is
 * written like point data if all cells are vertices and each point is in exactly one of them; a
 * cell array with the same name as a point array is written as "name_cell". Cells, other cell data
 * and arrays that are not numeric are not written, and a warning reports them. Ghosts are left out
 * by default.
 *
 * Blocks of a composite data set without points and rows (vtkImageData, ...) are left out. If it
 * has particles, so are blocks with cells other than vertices; a warning names them. Particles are
 * in a block without cells, on any rank, even while it is empty. If no such block exists, now or in
 * an earlier write, the points of all blocks are written.
 *
 * A writer gives each warning once, whatever the number of files and ranks that it concerns.
 *
 * The file's time is that of the input data (DATA_TIME_STEP), otherwise the value "TimeValue" or
 * "TIME" of its field data, otherwise the time that was requested from the pipeline. Its step
 * number is the value "timestep", "cycle" or "CYCLE" of the field data, otherwise TimeStep.
 *
 * With an MPI controller of several ranks, all ranks write one dataset together
 * (core/particles/parallel/MPI.md): each requests its own piece of the input, and particles are
 * moved so that leaf files are compact in space and of about equal size. A dataset of several leaf
 * files is the named file and a folder next to it, "name.bat.leaves". A failure on one rank is
 * reported by the first rank that failed, and Write() returns 0 on all.
 *
 * The file is replaced in one step when it is complete: a write that fails, or is aborted, keeps
 * the old file. Errors set the error code (vtkBATErrors.h), are reported through vtkErrorMacro with
 * the name of the file, and make Write() return 0.
 */

#ifndef vtkBATWriter_h
#define vtkBATWriter_h

#include "vtkBATWriterModule.h" // for export macro
#include "vtkWriter.h"

#include <functional> // for std::function
#include <map>        // for std::map
#include <memory>     // for std::unique_ptr
#include <set>        // for std::set
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace bat
{
struct WriteOptions;
}
class vtkMultiProcessController;

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
   * Table columns that contain the coordinates; "name[component]" for a column with several
   * components. If empty, the usual names are tried: x, y, z; X, Y, Z; Points:0, Points:1,
   * Points:2; Points_0, Points_1, Points_2; a column Points with three components. ZColumn "none"
   * means 0. A coordinate column is not also written as an attribute. Not used for other inputs.
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
   * Maximum number of particles in a block, the smallest unit that a reader can skip: 16 to 65536,
   * or 0 to choose the smallest size whose index stays below one percent of the data. Smaller
   * blocks make narrow queries faster and the index larger. Checked when writing. Default: 0.
   */
  void SetBlockParticles(int particles);
  int GetBlockParticles() const;
  ///@}

  ///@{
  /**
   * Maximum number of particles in a treelet, a compact region with its own ranges: 256 to 65536.
   * Larger ones make a smaller index and coarser ranges. Checked when writing. Default: 8192.
   */
  void SetTreeletParticles(int particles);
  int GetTreeletParticles() const;
  ///@}

  ///@{
  /**
   * The ranks that write together. Default: the global controller of ParaView's servers. Null, or a
   * controller without MPI: this process alone.
   */
  virtual void SetController(vtkMultiProcessController*);
  vtkGetObjectMacro(Controller, vtkMultiProcessController);
  ///@}

  ///@{
  /**
   * Target size of a leaf file, in MiB of positions and attributes; 0 derives it from the number of
   * particles and ranks. Only used with several ranks. Default: 0.
   */
  vtkSetClampMacro(LeafFileSize, double, 0.0, 4194304.0);
  vtkGetMacro(LeafFileSize, double);
  ///@}

  /**
   * Method of dividing particles into leaf files: cuts anywhere, so that leaf files do not overlap
   * and have about equal size; cuts at the borders of ranks only; or a uniform grid of whole ranks.
   */
  enum AggregationType
  {
    ADAPTIVE = 0,
    RANK_BORDER = 1,
    UNIFORM_GRID = 2
  };

  ///@{
  /**
   * The method. Only used with several ranks. Default: ADAPTIVE.
   */
  void SetAggregation(int type);
  int GetAggregation() const;
  ///@}

  ///@{
  /**
   * If on, points that vtkGhostType marks as duplicate or hidden are written too, together with
   * that array. A particle on several ranks is then in the file several times. Default: off.
   */
  vtkSetMacro(WriteGhostParticles, bool);
  vtkGetMacro(WriteGhostParticles, bool);
  vtkBooleanMacro(WriteGhostParticles, bool);
  ///@}

  ///@{
  /**
   * Attributes that get a sorted index, which finds particles with given values, e.g. ids, without
   * reading all of them. A name means the value or the magnitude, "velocity[2]" a component. Each
   * index takes 12 bytes per particle. Default: none.
   */
  void AddSortedIndex(const char* attribute);
  void ClearSortedIndexes();
  ///@}

  ///@{
  /**
   * Integer attributes, e.g. ids, that make all time steps show the same particles at
   * qualities such as 0.1; between two levels, all but a tenth are the same. A name means all
   * components, "ids[1]" one of them. Default: none, a quality shows the most evenly spread
   * particles.
   */
  void AddStableSample(const char* attribute);
  void ClearStableSamples();
  ///@}

  ///@{
  /**
   * Error bounds for the option "compression" with the value "bounded": "NAME=NUMBER" in the units
   * of an array, or "NAME=NUMBER%" of its range; "positions" are the points. Default: none.
   */
  void AddErrorBound(const char* bound);
  void ClearErrorBounds();
  ///@}

  ///@{
  /**
   * Sets any write option by its name in the core (bat/write_options.hpp), e.g. "flush": a whole
   * number (0 or 1 for flags), a number, or a word, which is appended if the option is a list. A
   * value that is refused is reported, and makes writes fail until the option is accepted.
   * LeafFileSize, unless it is 0, takes precedence over "target_bytes".
   */
  void SetIntegerOption(const char* name, int value);
  void SetRealOption(const char* name, double value);
  void SetTextOption(const char* name, const char* value);
  void ClearTextOption(const char* name); ///< clears a list option
  ///@}

  ///@{
  /**
   * Number of the time step, stored unless the input's field data has one; -1 for none. Default:
   * -1.
   */
  vtkSetMacro(TimeStep, int);
  vtkGetMacro(TimeStep, int);
  ///@}

  /**
   * Report of the last write, as one line of JSON: particles, leaf files, bytes, ranks and the
   * seconds of each phase. Empty before the first write and after one that failed.
   */
  const char* GetReport() const { return this->Report.c_str(); }

  int ProcessRequest(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

protected:
  vtkBATWriter();
  ~vtkBATWriter() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  void WriteData() override;

  char* FileName = nullptr;
  std::string XColumn;
  std::string YColumn;
  std::string ZColumn;
  vtkMultiProcessController* Controller = nullptr;
  double LeafFileSize = 0.0;
  bool WriteGhostParticles = false;
  int TimeStep = -1;
  std::string Report;

private:
  vtkBATWriter(const vtkBATWriter&) = delete;
  void operator=(const vtkBATWriter&) = delete;

  struct Conversion;
  using Union = std::function<std::vector<std::string>(const std::vector<std::string>&)>;

  Conversion Convert(const Union& all);
  bat::WriteOptions WriteOptions();
  void Fail(unsigned long code, const std::string& text);
  void Warn(const std::vector<std::string>& remarks);
  template <typename T>
  void SetMember(T& member, T value);
  template <typename F>
  void SetOption(const char* name, const F& set);

  std::unique_ptr<bat::WriteOptions> Options; ///< all except LeafFileSize, which is in MiB
  std::map<std::string, std::string> Refused; ///< keys: option name
  std::set<std::string> Warned;
  bool HadParticles = false; ///< particles, besides any grids, in this or an earlier write
};

#endif
