/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @class   vtkBATReader
 * @brief   reads particle files (.bat) by quality, box and attribute ranges
 *
 * The output is a vtkPolyData with the particles as points and the attributes as point data. What
 * is read from disk is what matches: a share of the particles (Quality), those in a box (Box) and
 * a region (Region), those whose attributes are in ranges (AddAttributeRange), those with given ids
 * or all but them (Ids), and of the attributes those that are selected
 * (GetPointDataArraySelection). Types, names, components and roles (active scalars, global ids and
 * so on) come back as they were written, every value bit for bit.
 *
 * RequestInformation reads a few KiB, whatever the size of the file. The file stays open until
 * another one is named or it changes on disk. An update that asks for a finer quality, or for more
 * attributes, reads only what is new; the new particles follow those that were there.
 *
 * Pieces: part k of n gets a compact region of space with its share of the particles of every
 * quality; the parts are disjoint and add up to the whole.
 *
 * Errors set the error code (vtkBATErrors.h) and the error text, and leave the output empty. They
 * are reported through vtkErrorMacro with the name of the file, and again only after a setting has
 * changed or the file has been read. All requests succeed for the pipeline: ParaView would not ask
 * again whoever fails one.
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
   * Key in the information of the array of positions: a number of the load, then the number of
   * particles after each of its steps, coarse to fine. Two outputs with the same number have the
   * same particles in the steps that both have. Whoever changes the array must take the key away.
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
   * 1 if the file begins as a .bat file of any version: a file that is too new is better reported
   * as such than taken for something else. Never reports an error.
   */
  static int CanReadFile(const char* fileName);

  ///@{
  /**
   * Share of the particles to read, an even sample of space: ceil(Quality * n) of n particles, of
   * which those are kept that also match box and ranges. A higher quality adds particles and takes
   * none away. In [0, 1], checked when reading. Default: 1, all particles.
   */
  vtkSetMacro(Quality, double);
  vtkGetMacro(Quality, double);
  ///@}

  ///@{
  /**
   * Most particles to load, over all pieces: the quality is lowered to the finest one that fits,
   * the same in all pieces (GetLoadedQuality). Box and ranges leave room for a finer one. 0 is no
   * limit. Default: 0.
   */
  vtkSetClampMacro(ParticleBudget, vtkIdType, 0, VTK_ID_MAX);
  vtkGetMacro(ParticleBudget, vtkIdType);
  ///@}

  ///@{
  /**
   * Whether the first update of a file, box or range loads only about half a million particles, and
   * each LoadMore() half a million more, or a tenth of what is there if that is more, until Quality
   * or ParticleBudget is reached. Default: false, everything at once.
   */
  vtkSetMacro(RefineWhileIdle, bool);
  vtkGetMacro(RefineWhileIdle, bool);
  vtkBooleanMacro(RefineWhileIdle, bool);
  ///@}

  /**
   * Makes the next update load some more particles, if RefineWhileIdle has left any.
   */
  void LoadMore();

  /**
   * From an observer of ProgressEvent: gives up what LoadMore has begun, until it is called again.
   * The output stays as it was. Does nothing in other updates.
   */
  void PutOffStep() override;

  ///@{
  /**
   * Whether to go on without leaf files that are missing or damaged; each is warned of once.
   * Default: false, they are errors.
   */
  vtkSetMacro(SkipDamaged, bool);
  vtkGetMacro(SkipDamaged, bool);
  vtkBooleanMacro(SkipDamaged, bool);
  ///@}

  ///@{
  /**
   * Whether to read only the particles in Box. Default: false.
   */
  vtkSetMacro(UseBox, bool);
  vtkGetMacro(UseBox, bool);
  vtkBooleanMacro(UseBox, bool);
  ///@}

  ///@{
  /**
   * The box to read as x min, x max, y min, y max, z min, z max. Particles on its faces are in it.
   * Ends may be infinite; a minimum above its maximum and NaN are errors when reading. Only used
   * with UseBox. Default: 0, 1, 0, 1, 0, 1.
   */
  vtkSetVector6Macro(Box, double);
  vtkGetVector6Macro(Box, double);
  ///@}

  /**
   * A further piece of space to read; it and Box have to hold together.
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
   * Which piece of space to read: what is within RegionRadius of RegionCenter; what has n . x
   * within RegionLimits, n being RegionNormal, of any length, so that limits are distances from the
   * origin if its length is 1; or what is in a box around RegionCenter with RegionHalfExtents along
   * its axes, which are turned by RegionRotation: degrees about x, y and z, applied y first, then
   * x, then z, as in vtkProp3D. Surfaces are inside. What makes no region (a negative radius, a
   * normal of 0, limits the wrong way round, NaN) is an error when reading. Default: NO_REGION, and
   * around the origin, radius 1, normal 0 0 1, limits 0 1, half extents 1 1 1, no rotation.
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
   * Whether to read what is outside of the region instead. Default: false.
   */
  vtkSetMacro(RegionOutside, bool);
  vtkGetMacro(RegionOutside, bool);
  vtkBooleanMacro(RegionOutside, bool);
  ///@}

  /**
   * Reads only particles whose attribute is in the closed range. Several ranges on one target are
   * alternatives; those on different targets must all hold. `target` is the name of an attribute:
   * its value, or its magnitude if it is a vector; "name[2]" is a component, counted from 0. A "!"
   * before it, unless an attribute has that very name, turns the condition round: what is in none
   * of the ranges with that target, NaN included. The ends are decimal texts, so that 64-bit
   * integers stay exact; an empty text is no limit on that side. An unknown attribute, a text that
   * is not a number, NaN and a minimum above its maximum are errors when reading. Default: no
   * ranges.
   */
  void AddAttributeRange(const char* target, const char* minimum, const char* maximum);

  /**
   * The same for a list whose texts come one by one: target, minimum, maximum, target and so on.
   * One that ends within a range is an error when reading.
   */
  void AddAttributeRangeText(const char* text);

  /**
   * Takes away all ranges.
   */
  void ClearAttributeRanges();

  ///@{
  /**
   * Reads only the particles with these ids: a text of numbers and closed ranges, separated by
   * blanks, commas or semicolons, exact also beyond 2^53. "5-90" and "5..90" are ranges, without
   * blanks in them; the minus sign of a number is part of it ("-3--1" is "-3..-1"); "100.." and
   * "..5" have no limit on one side. Ids that no particle has are no error; anything else, and a
   * range that ends before it begins, is one, when reading. Null or empty: any id. Default: null.
   */
  vtkSetStringMacro(Ids);
  vtkGetStringMacro(Ids);
  ///@}

  /**
   * What is wrong with a text as Ids; empty if nothing is.
   */
  static std::string FindIdsError(const char* text);

  /**
   * What Ids is for.
   */
  enum IdsModeType
  {
    ONLY_THESE = 0,
    ALL_BUT_THESE = 1
  };

  ///@{
  /**
   * Whether to read only the particles with Ids, or all but them; without Ids all in either case.
   * Default: ONLY_THESE.
   */
  vtkSetClampMacro(IdsMode, int, ONLY_THESE, ALL_BUT_THESE);
  vtkGetMacro(IdsMode, int);
  ///@}

  ///@{
  /**
   * The attribute that Ids means. Null or empty: the one with the role of global ids, else the one
   * called id, particle_id or global_id, in any case, with or without underscore and final s; it is
   * an error when reading if there is none. Default: null.
   */
  vtkSetStringMacro(IdAttribute);
  vtkGetStringMacro(IdAttribute);
  ///@}

  /**
   * Which attributes to read. Filled with the names in the file by UpdateInformation. A name that
   * no file has had so far is warned of when reading. Default: all.
   */
  vtkDataArraySelection* GetPointDataArraySelection();

  /**
   * Cells of the output. Filters that work on points alone and the Point Gaussian representation
   * need none.
   */
  enum VertexCellsType
  {
    NO_CELLS = 0,
    ONE_PER_PARTICLE = 1,
    ONE_POLY_VERTEX = 2
  };

  ///@{
  /**
   * Which cells to make: none, one vertex per particle, or one poly-vertex with all particles.
   * Default: ONE_PER_PARTICLE.
   */
  vtkSetClampMacro(VertexCells, int, NO_CELLS, ONE_POLY_VERTEX);
  vtkGetMacro(VertexCells, int);
  ///@}

  ///@{
  /**
   * What the file holds, after UpdateInformation: number of particles, their box (zeros if there
   * are none), number of leaf files, bytes of all files, and the format version ("1.0";
   * empty if no file is open).
   */
  vtkGetMacro(ParticleCount, vtkIdType);
  vtkGetVector6Macro(Bounds, double);
  vtkGetMacro(LeafFileCount, vtkIdType);
  vtkGetMacro(FileBytes, vtkIdType);
  const char* GetFileVersion() const;
  ///@}

  ///@{
  /**
   * What regions begin with, after UpdateInformation: middle and half extents of Bounds, the
   * largest of them, and the ends on z.
   */
  vtkGetVector3Macro(BoundsCenter, double);
  vtkGetVector3Macro(BoundsHalfExtents, double);
  vtkGetMacro(BoundsRadius, double);
  vtkGetVector2Macro(BoundsLimits, double);
  ///@}

  /**
   * The attribute that Ids means, after UpdateInformation; empty if there is none.
   */
  const char* GetFoundIdAttribute() const;

  /**
   * The attribute together with which the ids are unique, such as "cpu" of "id", after
   * UpdateInformation; empty if they are by themselves.
   */
  const char* GetFoundSecondIdAttribute() const;

  /**
   * The attributes by which all steps show the same particles at qualities such as 0.1, separated
   * by commas, after UpdateInformation; empty if a quality shows those that are spread most evenly.
   */
  const char* GetStableSamples() const;

  /**
   * The share of others that the particles of the file are, after UpdateInformation: 1, unless what
   * was written was a sample.
   */
  vtkGetMacro(SampleQuality, double);

  /**
   * Pairs of a name and the bytes that one particle takes in memory, after UpdateInformation:
   * positions, with an empty name, then each attribute.
   */
  vtkStringArray* GetParticleBytesInfo();

  /**
   * Triples of target, minimum and maximum for each range that can be asked of the file, after
   * UpdateInformation; the texts suit AddAttributeRange.
   */
  vtkStringArray* GetAttributeRangesInfo();

  ///@{
  /**
   * Whether GetAttributeHistograms and GetAttributeValues say anything. Changes nothing about what
   * is read. Default: false, so that opening a file stays cheap: who asks for all information about
   * a reader asks for its histograms too.
   */
  void SetComputeHistograms(bool compute);
  bool GetComputeHistograms() const;
  ///@}

  /**
   * With ComputeHistograms, after UpdateInformation: estimates of how the values are spread for
   * each range in GetAttributeRangesInfo, in its order, made when they are first asked for. Each is
   * 136 numbers: smallest and largest finite value, 1 for integers and else 0, 0, and the particles
   * in each of 64 bins of equal width; then the same on a logarithmic axis, whose bins are equally
   * wide in asinh(value / c), with c in the place of the second 0.
   */
  vtkDoubleArray* GetAttributeHistograms();

  /**
   * With ComputeHistograms, after UpdateInformation: what integer attributes of one component can
   * be, if their smallest and largest value have no more than 12 integers from one to the other.
   * Five texts for each value, ascending: the name, the value, and how many particles have it, at
   * least, probably and at most. Values that are known to be nowhere are left out.
   */
  vtkStringArray* GetAttributeValues();

  ///@{
  /**
   * Whether GetMatchEstimate says anything. Changes nothing about what is read. Default: false.
   */
  void SetEstimateMatches(bool estimate);
  bool GetEstimateMatches() const;
  ///@}

  /**
   * With EstimateMatches: how many particles of the file match the present settings, ParticleBudget
   * left aside: at least, probably, and at most, three equal numbers where it is known. From the
   * index and a sample (bat::Dataset::estimate_count), made when it is first asked for; needs no
   * Update. Empty if the settings make no query, or the file cannot be read.
   */
  vtkDoubleArray* GetMatchEstimate();

  /**
   * Why the last GetMatchEstimate was empty: what is wrong with the settings or the file, as an
   * Update would say it. Empty if nothing is.
   */
  const char* GetMatchError() const;

  /**
   * Particles that the last Update loaded into this piece.
   */
  vtkGetMacro(LoadedCount, vtkIdType);

  ///@{
  /**
   * Quality that the last Update loaded, and the one that LoadMore() leads to: Quality, or what
   * ParticleBudget allows of it. The same in all pieces.
   */
  vtkGetMacro(LoadedQuality, double);
  vtkGetMacro(TargetQuality, double);
  ///@}

  /**
   * A radius with which half of the particles that were loaded touch their neighbours, so that
   * shapes look closed at any quality: 0.6 times their spacing. The same in all pieces. 0 if
   * unknown.
   */
  vtkGetMacro(SuggestedRadius, double);

  /**
   * How clustered the particles of the open file are: the distance to the neighbours that a tenth
   * of them exceed, over the one that a tenth of them fall short of. Up to 1.5 for what fills a
   * shape evenly, 12 and more for galaxies and their clusters. Estimated from some ten thousand
   * particles, when it is asked for. 1 if none are loaded, or if they cannot be read.
   */
  double GetSpacingSpread();

  /**
   * Opens another file in the background and has the system read what an Update with the present
   * settings would need of it. For the next step of a time series. Errors are left for that Update.
   */
  void ReadAhead(const char* fileName) override;

  ///@{
  /**
   * Of a series whose first steps have no particles: whether no file so far has said what
   * attributes there will be, and a look at another file for them. Until they are loaded, enabled
   * ones are empty arrays.
   */
  bool LacksColumns() const override;
  void LearnColumns(const char* fileName) override;
  ///@}

  /**
   * What is to be said of an Update that has loaded fewer particles than Quality asks for, because
   * of ParticleBudget; empty otherwise.
   */
  std::string GetCutByBudget() const override;

  ///@{
  /**
   * Whether an update that is aborted (SetAbortExecute, by who watches its progress) leaves the
   * output as it was also where other particles were to be loaded: until those are complete, the
   * memory of both is needed. Else the output is empty then. One that only adds particles or
   * attributes always leaves it as it was. Default: false.
   */
  void SetKeepWhenAborted(bool keep) override;
  bool GetKeepWhenAborted() const;
  ///@}

  /**
   * Whether the last Update was aborted. Then LoadedCount, LoadedQuality, TargetQuality and
   * SuggestedRadius are those of the output, and an Update after Modified() or LoadMore() tries
   * again.
   */
  bool GetAborted() const override;

  /**
   * What is wrong with the file or the question, as it was reported; empty if nothing is. Of the
   * last update, also of one of the information.
   */
  const char* GetErrorText() const;

  ///@{
  /**
   * Processes that update the pieces of one output together, one each: an error of one is an error
   * of all then, and the first of them reports it, as well as the leaf files that any of them has
   * left out. Default: null, every reader for itself.
   */
  void SetController(vtkMultiProcessController* controller) override;
  vtkMultiProcessController* GetController() const;
  ///@}

  /**
   * For a reader that chooses files for this one: updates fail with this error, until the text is
   * empty or null. Not a change of a setting.
   */
  void Refuse(unsigned long code, const char* text) override;

  /**
   * A setting has changed, so that an error is worth saying again.
   */
  void Modified() override;

  /**
   * Bytes read from the open file so far.
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
  vtkNew<vtkStringArray> AttributeValues; // the same
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
