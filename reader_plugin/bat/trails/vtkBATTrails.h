/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBATTrails
 * @brief   lines along which chosen particles move through the steps of a series
 *
 * Looks the ids up in every step, in the sorted index of the file if it has one, and reads only the
 * data of these particles. The result is kept: another time or another Show does not read the files
 * again.
 *
 * The first output has a polyline for each run of consecutive steps that contain a particle, and a
 * vertex if that is a single step. Its points are the positions of the particle, in the order of
 * the steps. The second output has the particles of the present time as vertices. Points have the
 * id, also as pedigree id, with SecondIdAttribute both numbers; "time" and "step index"; and the
 * selected attributes, NaN in steps that lack one. For integers, which have no NaN, "NAME is
 * missing" is 1 there. If several particles of a step have the same id, the first of them is shown,
 * and "particles with id" is their number.
 *
 * The present time is that of the pipeline. If no time is requested, it is that of the first step,
 * as for readers.
 *
 * A tracks file (".tracks.bat"), written by a simulation for chosen particles, is followed in the
 * same way; without Ids, all of its particles are followed.
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
   * tracks file (".tracks.bat"). Steps have the times of the lists, otherwise those in the files;
   * if some have none, or times do not ascend, their numbers. Default: none, which is an error.
   */
  void AddFileName(const char* name);
  void RemoveAllFileNames();
  ///@}

  /**
   * Returns 1 if `name` is the path of a tracks file that can be opened, else 0.
   */
  static int CanReadFile(const char* name);

  ///@{
  /**
   * The ids to follow, as vtkBATReader::SetIds takes them, at most MaximumIds; ranges have two ends
   * that are integers. If a second attribute makes ids unique: pairs such as "5:0, 7:3", or ids for
   * all particles that have them. Without ids, the outputs are empty, unless the file is a tracks
   * file, all of whose particles are then followed. Default: null.
   */
  vtkSetStringMacro(Ids);
  vtkGetStringMacro(Ids);
  static constexpr int MaximumIds = 1000000;
  ///@}

  ///@{
  /**
   * The attribute that has the ids, as in vtkBATReader::SetIdAttribute. Default: null.
   */
  vtkSetStringMacro(IdAttribute);
  vtkGetStringMacro(IdAttribute);
  ///@}

  ///@{
  /**
   * An attribute that makes ids unique together with them. Null or empty: "cpu" for "id" and
   * "X_cpu" for "X_id", as in AMReX data, if the file has it; otherwise ids are unique by
   * themselves. Default: null.
   */
  vtkSetStringMacro(SecondIdAttribute);
  vtkGetStringMacro(SecondIdAttribute);
  ///@}

  /**
   * Attributes to read, from those of the first file that has particles. Default: all.
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
   * The part of the trails to show: all, the part up to the present time, or the last NumberOfSteps
   * steps of that. Default: WHOLE, and 20.
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
   * Unwraps a periodic domain: particles that leave it on one side and return on the other continue
   * outside. The domain is the one in each file's metadata, or PeriodicBox: x min, x max, y min, y
   * max, z min, z max, with infinite ends for an axis that is not periodic. Default: NOT_PERIODIC,
   * and 0, 1, 0, 1, 0, 1.
   */
  vtkSetClampMacro(Unwrap, int, NOT_PERIODIC, PERIODIC_BOX);
  vtkGetMacro(Unwrap, int);
  vtkSetVector6Macro(PeriodicBox, double);
  vtkGetVector6Macro(PeriodicBox, double);
  ///@}

  ///@{
  /**
   * If true, files that are missing or damaged are skipped, with a warning for each. Default:
   * false, they are errors.
   */
  vtkSetMacro(SkipDamaged, bool);
  vtkGetMacro(SkipDamaged, bool);
  vtkBooleanMacro(SkipDamaged, bool);
  ///@}

  /**
   * Makes the next update read lists and files again, e.g. those of a running simulation.
   */
  void Reload();

  /**
   * Number of ids that the last update found in any step, on the first process.
   */
  vtkIdType GetFoundCount() const;

  /**
   * Includes the time of the attribute selection.
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
  /// Returns false if no particles are to be followed. Throws bat::Error.
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
