/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBATTrails
 * @brief   lines along which chosen particles move through the steps of a series
 *
 * Looks the ids up in every step, in the sorted index of the file where it has one, and reads what
 * the particles have there; nothing else of the files is read. What was found is kept: another time
 * or Show takes no reading.
 *
 * The first output has a polyline for each stretch of consecutive steps in which a particle is
 * there, and a vertex where that is a single step. Its points are the places of the particle, in
 * the order of the steps. The second output has the particles of the present time as vertices.
 * Points have the id, also as pedigree id, with SecondIdAttribute both numbers; "time" and "step
 * index"; and the attributes that are selected, NaN in steps that lack one. Of integers, which have
 * no NaN, "NAME is missing" is 1 there. If several particles of a step have an id, the first of
 * them is shown, and "particles with id" says how many there are.
 *
 * The present time is that of the pipeline, or where nothing asks for a time, that of the first
 * step, as readers have it.
 *
 * A tracks file (".tracks.bat"), which a simulation has written for chosen particles, is followed
 * in the same way; without Ids, all of its particles are.
 *
 * In parallel, each process follows its share of the ids.
 */

#ifndef vtkBATTrails_h
#define vtkBATTrails_h

#include "vtkBATTrailsModule.h" // for export macro
#include "vtkPolyDataAlgorithm.h"

#include <cstddef> // for std::size_t
#include <memory>  // for std::unique_ptr
#include <string>  // for std::string

class vtkDataArraySelection;

namespace bat
{
struct Trails;
}

class VTKBATTRAILS_EXPORT vtkBATTrails : public vtkPolyDataAlgorithm
{
public:
  static vtkBATTrails* New();
  vtkTypeMacro(vtkBATTrails, vtkPolyDataAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * The files, in the order of their steps: datasets, and lists of datasets (".bat.series"); or one
   * tracks file (".tracks.bat"). Steps have the times of the lists, else those in the files; where
   * not all have one, or times do not ascend, their numbers. Default: none, which is an error.
   */
  void AddFileName(const char* name);
  void RemoveAllFileNames();
  ///@}

  /**
   * 1 if `name` is the path of a tracks file that can be opened, else 0.
   */
  static int CanReadFile(const char* name);

  ///@{
  /**
   * The ids to follow, as vtkBATReader::SetIds takes them, at most MaximumIds; ranges have two ends
   * that are integers. Where ids are unique only together with a second attribute: pairs such as
   * "5:0, 7:3", or ids for all particles that have them. Without any, the outputs are empty, unless
   * the file is a tracks file, all of whose particles are then followed. Default: null.
   */
  vtkSetStringMacro(Ids);
  vtkGetStringMacro(Ids);
  static constexpr int MaximumIds = 1000000;
  ///@}

  ///@{
  /**
   * The attribute that has the ids; null or empty: as vtkBATReader::SetIdAttribute. Default: null.
   */
  vtkSetStringMacro(IdAttribute);
  vtkGetStringMacro(IdAttribute);
  ///@}

  ///@{
  /**
   * An attribute together with which ids are unique. Null or empty: "cpu" where they are called
   * "id", and "X_cpu" where "X_id", as of AMReX, if the file has it; else they are unique by
   * themselves. Default: null.
   */
  vtkSetStringMacro(SecondIdAttribute);
  vtkGetStringMacro(SecondIdAttribute);
  ///@}

  /**
   * Attributes to read, of those of the first file that has particles. Default: all.
   */
  vtkDataArraySelection* GetPointDataArraySelection() const;

  enum ShowType
  {
    WHOLE = 0,
    UP_TO_PRESENT = 1,
    LAST_STEPS = 2
  };

  ///@{
  /**
   * Which part of the trails: all, what is not after the present time, or of that the last
   * NumberOfSteps steps. Default: WHOLE, and 20.
   */
  vtkSetClampMacro(Show, int, WHOLE, LAST_STEPS);
  vtkGetMacro(Show, int);
  vtkSetClampMacro(NumberOfSteps, int, 1, VTK_INT_MAX);
  vtkGetMacro(NumberOfSteps, int);
  ///@}

  enum UnwrapType
  {
    NOT_PERIODIC = 0,
    BOX_OF_FILES = 1,
    PERIODIC_BOX = 2
  };

  ///@{
  /**
   * Whether particles that leave a periodic domain on one side and come back on the other go on
   * outside; the domain is the one that each file names in its metadata, or PeriodicBox: x min, x
   * max, y min, y max, z min, z max, infinite ends for an axis that is not periodic. Default:
   * NOT_PERIODIC, and 0, 1, 0, 1, 0, 1.
   */
  vtkSetClampMacro(Unwrap, int, NOT_PERIODIC, PERIODIC_BOX);
  vtkGetMacro(Unwrap, int);
  vtkSetVector6Macro(PeriodicBox, double);
  vtkGetVector6Macro(PeriodicBox, double);
  ///@}

  ///@{
  /**
   * Whether to go on without files that are missing or damaged, each of which is warned of.
   * Default: false, they are errors.
   */
  vtkSetMacro(SkipDamaged, bool);
  vtkGetMacro(SkipDamaged, bool);
  vtkBooleanMacro(SkipDamaged, bool);
  ///@}

  /**
   * Makes the next update read the lists and files again, e.g. those of a simulation that goes on.
   */
  void Reload();

  /**
   * Number of ids that were found in any step by the last update, of the first process.
   */
  vtkIdType GetFoundCount() const;

  /**
   * Includes that of the selection of attributes.
   */
  vtkMTimeType GetMTime() override;

protected:
  vtkBATTrails();
  ~vtkBATTrails() override;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  int RequestInformation(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int RequestData(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

private:
  vtkBATTrails(const vtkBATTrails&) = delete;
  void operator=(const vtkBATTrails&) = delete;

  int Fail(unsigned long code, const std::string& text);
  /// False if nobody is to be followed. Throws bat::Error.
  bool Follow(std::size_t piece, std::size_t pieces);
  void Warn(const bat::Trails& trails);

  class vtkInternals;
  std::unique_ptr<vtkInternals> Internals;

  char* Ids = nullptr;
  char* IdAttribute = nullptr;
  char* SecondIdAttribute = nullptr;
  int Show = WHOLE;
  int NumberOfSteps = 20;
  int Unwrap = NOT_PERIODIC;
  double PeriodicBox[6] = { 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 };
  bool SkipDamaged = false;
};

#endif
