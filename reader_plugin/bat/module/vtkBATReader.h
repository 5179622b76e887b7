/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBATReader
 * @brief   reads particle files (.bat) by quality, box and attribute ranges
 *
 * The output is a vtkPolyData with the particles as points and the attributes as point data. Only
 * matching data is read from disk: a share of the particles (Quality), those in a box (Box) and a
 * region (Region), those whose attributes are in ranges (AddAttributeRange), those with given ids
 * or all others (Ids), and only the selected attributes (GetPointDataArraySelection). Types, names,
 * components and roles (active scalars, global ids and so on) are restored as written, every value
 * bit for bit.
 *
 * RequestInformation reads a few KiB, whatever the size of the file. The file stays open until
 * another one is named or it changes on disk. An update that requests a finer quality, or more
 * attributes, reads only the additional data; new particles follow the previous ones.
 *
 * Pieces: part k of n gets a compact region of space with its share of the particles of every
 * quality; the parts are disjoint and add up to the whole.
 *
 * Errors set the error code (vtkBATErrors.h) and the error text, and leave the output empty. They
 * are reported through vtkErrorMacro with the name of the file, and again only after a setting has
 * changed or the file has been read. All requests succeed for the pipeline, because ParaView never
 * asks again after a failed one.
 */

#ifndef vtkBATReader_h
#define vtkBATReader_h

#include "SeriesMember.h"       // for SeriesMember
#include "SteppedLoad.h"        // for SteppedLoad
#include "vtkBATReaderModule.h" // for export macro
#include "vtkNew.h"             // for vtkNew
#include "vtkPolyDataAlgorithm.h"

#include <memory> // for std::unique_ptr
#include <string> // for std::string

namespace bat_vtk
{
struct Failure;
}
class vtkDataArraySelection;
class vtkDoubleArray;
class vtkInformationDoubleVectorKey;
class vtkMultiProcessController;
class vtkPolyData;
class vtkStringArray;

class VTKBATREADER_EXPORT vtkBATReader
  : public vtkPolyDataAlgorithm
#ifndef __VTK_WRAP__
  , public bat_vtk::SteppedLoad
  , public bat_vtk::SeriesMember
#endif
{
public:
  static vtkBATReader* New();
  vtkTypeMacro(vtkBATReader, vtkPolyDataAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * Key in the information of the positions' array: a number of the load, then the number of
   * particles after each of its steps, coarse to fine. Outputs with the same number have the same
   * particles in the steps that both have. Code that changes the array must remove the key.
   */
  static vtkInformationDoubleVectorKey* LOAD_STEPS();

  ///@{
  /**
   * The file to read. Default: none.
   */
  void SetFileName(VTK_FILEPATH const char* name);
  vtkGetFilePathMacro(FileName);
  ///@}

  /**
   * Returns 1 if the file begins as a .bat file of any version: a file that is too new should be
   * reported as such, not taken for another type. Never reports an error.
   */
  static int CanReadFile(const char* fileName);

  ///@{
  /**
   * Share of the particles to read, an even sample of space: ceil(Quality * n) of n particles, of
   * which those that match box and ranges are kept. A higher quality only adds particles. In [0,
   * 1], checked when reading. Default: 1, all particles.
   */
  vtkSetMacro(Quality, double);
  vtkGetMacro(Quality, double);
  ///@}

  ///@{
  /**
   * Maximum number of particles to load, over all pieces: the quality is lowered to the finest one
   * that fits, the same in all pieces (GetLoadedQuality). Box and ranges allow a finer one. 0 means
   * no limit. Default: 0.
   */
  vtkSetClampMacro(ParticleBudget, vtkIdType, 0, VTK_ID_MAX);
  vtkGetMacro(ParticleBudget, vtkIdType);
  ///@}

  ///@{
  /**
   * If true, the first update of a file, box or range loads only about half a million particles,
   * and each LoadMore() half a million more, or a tenth of the loaded ones if that is more, until
   * Quality or ParticleBudget is reached. Default: false, which loads everything in one update.
   */
  vtkSetMacro(RefineWhileIdle, bool);
  vtkGetMacro(RefineWhileIdle, bool);
  vtkBooleanMacro(RefineWhileIdle, bool);
  ///@}

  /**
   * Makes the next update load more particles, if RefineWhileIdle has left any.
   */
  void LoadMore();

  /**
   * Called by an observer of ProgressEvent: cancels what LoadMore has begun, until it is called
   * again. The output stays as it was. Does nothing in other updates.
   */
  void PutOffStep() override;

  ///@{
  /**
   * If true, leaf files that are missing or damaged are skipped, with one warning each. Default:
   * false, they are errors.
   */
  vtkSetMacro(SkipDamaged, bool);
  vtkGetMacro(SkipDamaged, bool);
  vtkBooleanMacro(SkipDamaged, bool);
  ///@}

  ///@{
  /**
   * If true, only the particles in Box are read. Default: false.
   */
  vtkSetMacro(UseBox, bool);
  vtkGetMacro(UseBox, bool);
  vtkBooleanMacro(UseBox, bool);
  ///@}

  ///@{
  /**
   * The box to read as x min, x max, y min, y max, z min, z max. Particles on its faces are
   * included. Ends may be infinite; a minimum above its maximum and NaN are errors when reading.
   * Only used with UseBox. Default: 0, 1, 0, 1, 0, 1.
   */
  vtkSetVector6Macro(Box, double);
  vtkGetVector6Macro(Box, double);
  ///@}

  /**
   * An additional region to read. Particles must be in both the region and Box.
   */
  enum RegionType
  {
    NO_REGION = 0,
    SPHERE = 1,
    SLAB = 2,
    ORIENTED_BOX = 3
  };

  ///@{
  /**
   * The region to read: points within RegionRadius of RegionCenter; points with n . x within
   * RegionLimits, where n is RegionNormal, of any length, so that limits are distances from the
   * origin if its length is 1; or points in a box around RegionCenter with RegionHalfExtents along
   * its axes, which RegionRotation turns: degrees about x, y and z, applied y first, then x, then
   * z, as in vtkProp3D. Surfaces are inside. An invalid region (negative radius, normal of 0,
   * limits the wrong way round, NaN) is an error when reading. Default: NO_REGION, with the origin,
   * radius 1, normal 0 0 1, limits 0 1, half extents 1 1 1, no rotation.
   */
  vtkSetClampMacro(Region, int, NO_REGION, ORIENTED_BOX);
  vtkGetMacro(Region, int);
  vtkSetVector3Macro(RegionCenter, double);
  vtkGetVector3Macro(RegionCenter, double);
  vtkSetMacro(RegionRadius, double);
  vtkGetMacro(RegionRadius, double);
  vtkSetVector3Macro(RegionNormal, double);
  vtkGetVector3Macro(RegionNormal, double);
  vtkSetVector2Macro(RegionLimits, double);
  vtkGetVector2Macro(RegionLimits, double);
  vtkSetVector3Macro(RegionHalfExtents, double);
  vtkGetVector3Macro(RegionHalfExtents, double);
  vtkSetVector3Macro(RegionRotation, double);
  vtkGetVector3Macro(RegionRotation, double);
  ///@}

  ///@{
  /**
   * If true, only points outside the region are read instead. Default: false.
   */
  vtkSetMacro(RegionOutside, bool);
  vtkGetMacro(RegionOutside, bool);
  vtkBooleanMacro(RegionOutside, bool);
  ///@}

  /**
   * Reads only particles whose attribute is in the closed range. Several ranges on one target are
   * alternatives; those on different targets must all hold. `target` is the name of an attribute:
   * its value, or its magnitude if it is a vector; "name[2]" is a component, counted from 0. A
   * "!" before it, unless an attribute has that very name, negates the condition: it selects
   * values in none of the ranges with that target, NaN included. The ends are decimal texts, so
   * that 64-bit integers stay exact; an empty text is no limit on that side. An unknown
   * attribute, a text that is not a number, NaN and a minimum above its maximum are errors when
   * reading. Default: none.
   */
  void AddAttributeRange(const char* target, const char* minimum, const char* maximum);

  /**
   * The same for a list whose texts come one by one: target, minimum, maximum, target and so on. A
   * list that ends within a range is an error when reading.
   */
  void AddAttributeRangeText(const char* text);

  /**
   * Removes all ranges.
   */
  void ClearAttributeRanges();

  ///@{
  /**
   * Reads only the particles with these ids: a text of numbers and closed ranges, separated by
   * blanks, commas or semicolons, exact also beyond 2^53. "5-90" and "5..90" are ranges, without
   * blanks in them; the minus sign of a number is part of it ("-3--1" is "-3..-1"); "100.." and
   * "..5" have no limit on one side. Ids without a particle are ignored; anything else, and a range
   * that ends before it begins, is an error when reading. Null or empty: any id. Default: null.
   */
  vtkSetStringMacro(Ids);
  vtkGetStringMacro(Ids);
  ///@}

  /**
   * Returns the error in a text for Ids; empty if there is none.
   */
  static std::string FindIdsError(const char* text);

  /**
   * How Ids is used.
   */
  enum IdsModeType
  {
    ONLY_THESE = 0,
    ALL_BUT_THESE = 1
  };

  ///@{
  /**
   * Selects whether only the particles with Ids are read, or all others. Without Ids, all are read
   * in either case. Default: ONLY_THESE.
   */
  vtkSetClampMacro(IdsMode, int, ONLY_THESE, ALL_BUT_THESE);
  vtkGetMacro(IdsMode, int);
  ///@}

  ///@{
  /**
   * The attribute that Ids refers to. Null or empty: the one with the role of global ids, otherwise
   * the one called id, particle_id or global_id, in any case, with or without underscore and final
   * s. It is an error when reading if there is none. Default: null.
   */
  vtkSetStringMacro(IdAttribute);
  vtkGetStringMacro(IdAttribute);
  ///@}

  /**
   * The attributes to read. UpdateInformation adds the names in the file. A name that no file has
   * had so far causes a warning when reading. Default: all.
   */
  vtkDataArraySelection* GetPointDataArraySelection();

  /**
   * Cells of the output. Filters that work on points alone, and the Point Gaussian representation,
   * do not need any.
   */
  enum VertexCellsType
  {
    NO_CELLS = 0,
    ONE_PER_PARTICLE = 1,
    ONE_POLY_VERTEX = 2
  };

  ///@{
  /**
   * The cells to make: none, one vertex per particle, or one poly-vertex with all particles.
   * Default: ONE_PER_PARTICLE.
   */
  vtkSetClampMacro(VertexCells, int, NO_CELLS, ONE_POLY_VERTEX);
  vtkGetMacro(VertexCells, int);
  ///@}

  ///@{
  /**
   * Contents of the file, after UpdateInformation: number of particles, their box (zeros if there
   * are none), number of leaf files, bytes of all files, and the format version ("1.0"; empty if no
   * file is open).
   */
  vtkGetMacro(ParticleCount, vtkIdType);
  vtkGetVector6Macro(Bounds, double);
  vtkGetMacro(LeafFileCount, vtkIdType);
  vtkGetMacro(FileBytes, vtkIdType);
  const char* GetFileVersion() const;
  ///@}

  ///@{
  /**
   * Initial values for regions, after UpdateInformation: middle and half extents of Bounds, the
   * largest of them, and the ends on z.
   */
  vtkGetVector3Macro(BoundsCenter, double);
  vtkGetVector3Macro(BoundsHalfExtents, double);
  vtkGetMacro(BoundsRadius, double);
  vtkGetVector2Macro(BoundsLimits, double);
  ///@}

  /**
   * The attribute that Ids refers to, after UpdateInformation; empty if there is none.
   */
  const char* GetFoundIdAttribute() const;

  /**
   * The attribute that makes ids unique together with them, such as "cpu" for "id", after
   * UpdateInformation; empty if ids are unique by themselves.
   */
  const char* GetFoundSecondIdAttribute() const;

  /**
   * The attributes that make all steps show the same particles at qualities such as 0.1, separated
   * by commas, after UpdateInformation; empty if a quality shows the most evenly spread particles.
   */
  const char* GetStableSamples() const;

  /**
   * The share of an original dataset that the file's particles represent, after UpdateInformation:
   * 1, unless a sample was written.
   */
  vtkGetMacro(SampleQuality, double);

  /**
   * Pairs of a name and the bytes that one particle takes in memory, after UpdateInformation:
   * positions, with an empty name, then each attribute.
   */
  vtkStringArray* GetParticleBytesInfo();

  /**
   * Triples of target, minimum and maximum for each range that the file supports, after
   * UpdateInformation; the texts suit AddAttributeRange.
   */
  vtkStringArray* GetAttributeRangesInfo();

  ///@{
  /**
   * If true, GetAttributeHistograms and GetAttributeValues return results. Does not affect what is
   * read. Default: false, so that opening a file stays cheap: code that asks for all information
   * about a reader also asks for its histograms.
   */
  void SetComputeHistograms(bool compute);
  bool GetComputeHistograms() const;
  ///@}

  /**
   * With ComputeHistograms, after UpdateInformation: estimated distributions of the values for each
   * range in GetAttributeRangesInfo, in its order, computed on the first request. Each is 136
   * numbers: smallest and largest finite value, 1 for integers and else 0, 0, and the particles in
   * each of 64 bins of equal width; then the same on a logarithmic axis, whose bins are equally
   * wide in asinh(value / c), with c in place of the second 0.
   */
  vtkDoubleArray* GetAttributeHistograms();

  /**
   * With ComputeHistograms, after UpdateInformation: the values of integer attributes of one
   * component, if their smallest and largest value have no more than 12 integers from one to the
   * other. Five texts for each value, ascending: the name, the value, and the minimum, likely and
   * maximum number of particles that have it. Values that certainly do not occur are left out.
   */
  vtkStringArray* GetAttributeValues();

  ///@{
  /**
   * If true, GetMatchEstimate returns a result. Does not affect what is read. Default: false.
   */
  void SetEstimateMatches(bool estimate);
  bool GetEstimateMatches() const;
  ///@}

  /**
   * With EstimateMatches: the minimum, likely and maximum number of particles of the file that
   * match the present settings, regardless of ParticleBudget; three equal numbers if it is known.
   * Computed from the index and a sample (bat::Dataset::estimate_count) on the first request; needs
   * no Update. Empty if the settings are an error, or the file cannot be read.
   */
  vtkDoubleArray* GetMatchEstimate();

  /**
   * The reason why the last GetMatchEstimate was empty: the error in the settings or the file,
   * worded as in an Update. Empty if there is none.
   */
  const char* GetMatchError() const;

  /**
   * Number of particles that the last Update loaded into this piece.
   */
  vtkGetMacro(LoadedCount, vtkIdType);

  ///@{
  /**
   * The quality that the last Update loaded, and the one at which LoadMore() ends: Quality, or less
   * if ParticleBudget requires it. The same in all pieces.
   */
  vtkGetMacro(LoadedQuality, double);
  vtkGetMacro(TargetQuality, double);
  ///@}

  /**
   * A radius with which half of the loaded particles touch their neighbours, so that shapes
   * look closed at any quality: 0.6 times their spacing. The same in all pieces. 0 if
   * unknown.
   */
  vtkGetMacro(SuggestedRadius, double);

  /**
   * How clustered the particles of the open file are: the neighbour distance that only a tenth of
   * the particles exceed, divided by the one below which only a tenth fall. At most 1.5 if they
   * fill a shape evenly, at least 12 for galaxies and their clusters. Estimated from tens of
   * thousands of particles on request. 1 if none are loaded, or if they cannot be read.
   */
  double GetSpacingSpread();

  /**
   * Opens another file in the background and has the system read what an Update with the present
   * settings would need, for the next step of a time series. Errors are left for that Update.
   */
  void ReadAhead(const char* fileName) override;

  ///@{
  /**
   * For a series whose first steps have no particles: true if no file so far has defined the
   * attributes; and takes them from another file. Until attributes are loaded, enabled ones are
   * empty arrays.
   */
  bool LacksColumns() const override;
  void LearnColumns(const char* fileName) override;
  ///@}

  /**
   * The warning after an Update that has loaded fewer particles than Quality requests because of
   * ParticleBudget; empty otherwise.
   */
  std::string GetCutByBudget() const override;

  ///@{
  /**
   * If true, an update that is aborted (SetAbortExecute, by an observer of its progress) keeps the
   * output even if it was to load other particles: until those are complete, the memory of both is
   * needed. Otherwise the output is then empty. An update that only adds particles or attributes
   * always keeps it. Default: false.
   */
  void SetKeepWhenAborted(bool keep) override;
  bool GetKeepWhenAborted() const;
  ///@}

  /**
   * True if the last Update was aborted. LoadedCount, LoadedQuality, TargetQuality and
   * SuggestedRadius then describe the output, and an Update after Modified() or LoadMore() tries
   * again.
   */
  bool GetAborted() const override;

  /**
   * The error in the file or the settings, as it was reported by the last update, including one of
   * the information; empty if there is none.
   */
  const char* GetErrorText() const;

  ///@{
  /**
   * Processes that update the pieces of one output together, one each: an error in one is an error
   * in all. The first process reports it, and also the leaf files that any process has skipped.
   * Default: null, every reader by itself.
   */
  void SetController(vtkMultiProcessController* controller) override;
  vtkMultiProcessController* GetController() const;
  ///@}

  /**
   * For a reader that chooses files for this one: updates fail with this error until the text is
   * empty or null. Does not count as a change of a setting.
   */
  void Refuse(unsigned long code, const char* text) override;

  /**
   * Called after a setting has changed, so that an error is reported again.
   */
  void Modified() override;

  /**
   * Number of bytes read from the open file so far.
   */
  vtkIdType GetBytesRead() const;

protected:
  vtkBATReader();
  ~vtkBATReader() override;

  int RequestInformation(
    vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector) override;
  int RequestData(
    vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector) override;

  char* FileName = nullptr;
  double Quality = 1.0;
  vtkIdType ParticleBudget = 0;
  bool RefineWhileIdle = false;
  bool SkipDamaged = false;
  bool UseBox = false;
  double Box[6] = { 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 };
  int Region = NO_REGION;
  bool RegionOutside = false;
  double RegionCenter[3] = { 0.0, 0.0, 0.0 };
  double RegionRadius = 1.0;
  double RegionNormal[3] = { 0.0, 0.0, 1.0 };
  double RegionLimits[2] = { 0.0, 1.0 };
  double RegionHalfExtents[3] = { 1.0, 1.0, 1.0 };
  double RegionRotation[3] = { 0.0, 0.0, 0.0 };
  char* Ids = nullptr;
  int IdsMode = ONLY_THESE;
  char* IdAttribute = nullptr;
  int VertexCells = ONE_PER_PARTICLE;
  vtkNew<vtkDataArraySelection> PointDataArraySelection;

  vtkIdType ParticleCount = 0;
  vtkIdType LeafFileCount = 0;
  vtkIdType FileBytes = 0;
  double SampleQuality = 1.0;
  vtkIdType LoadedCount = 0;
  double LoadedQuality = 0.0;
  double TargetQuality = 0.0;
  double SuggestedRadius = 0.0;
  double Bounds[6] = { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 };
  double BoundsCenter[3] = { 0.0, 0.0, 0.0 };
  double BoundsHalfExtents[3] = { 0.0, 0.0, 0.0 };
  double BoundsRadius = 0.0;
  double BoundsLimits[2] = { 0.0, 0.0 };
  vtkNew<vtkStringArray> AttributeRangesInfo;
  vtkNew<vtkStringArray> ParticleBytesInfo;
  vtkNew<vtkDoubleArray> AttributeHistograms; // kept while ComputeHistograms is off
  vtkNew<vtkDoubleArray> NoHistograms;
  vtkNew<vtkStringArray> AttributeValues; // kept likewise
  vtkNew<vtkStringArray> NoValues;
  vtkNew<vtkDoubleArray> MatchEstimate;

private:
  vtkBATReader(const vtkBATReader&) = delete;
  void operator=(const vtkBATReader&) = delete;

  class vtkInternals;

  void SelectionModified();
  void DescribeNothing(vtkInformation* outInfo);
  void DescribeBounds();
  void DescribeFile(vtkInformation* outInfo);
  bool DescribeSpread();
  void DeliverNothing(vtkPolyData* output);
  void LoadPiece(vtkInformation* outInfo, vtkPolyData* output);
  void Report(const bat_vtk::Failure& failure);
  void Say(const std::string& text);

  std::unique_ptr<vtkInternals> Internals;
};

#endif
