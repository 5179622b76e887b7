// SPDX-License-Identifier: BSD-3-Clause
// How much the reader loads, and when: particle budget, step by step, only what is new, what is
// left of a damaged data set, and what comes next.
#include "vtk_support.hpp"

#include "bat/dataset.hpp"
#include "support/damage.hpp"
#include "support/dataset_files.hpp"

#include "vtkDataArraySelection.h"
#include "vtkFieldData.h"
#include "vtkInformation.h"
#include "vtkInformationDoubleVectorKey.h"
#include "vtkInformationInformationVectorKey.h"
#include "vtkStringArray.h"

#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace vtk_support;

namespace
{
constexpr vtkIdType kCount = 1200000;

// A reader's properties at each of its progress reports.
struct NumbersMeanwhile
{
  vtkBATReader* Reader;
  std::set<double> Qualities;
  std::set<vtkIdType> Counts;

  void Look()
  {
    this->Qualities.insert(this->Reader->GetLoadedQuality());
    this->Counts.insert(this->Reader->GetLoadedCount());
  }
};

// Where each particle is, by its index, which occurs once and is below kCount.
std::vector<std::array<double, 3>> PositionsByIndex(vtkPolyData* data)
{
  constexpr std::array<double, 3> nowhere{ -1.0, -1.0, -1.0 };
  std::vector<std::array<double, 3>> positions(kCount, nowhere);
  auto* index = vtkTypeInt64Array::SafeDownCast(data->GetPointData()->GetArray("index"));
  EXPECT_TRUE(index || data->GetNumberOfPoints() == 0);
  vtkIdType twice = 0;
  for (vtkIdType place = 0; index && place < data->GetNumberOfPoints(); ++place)
  {
    auto& position = positions.at(static_cast<std::size_t>(index->GetValue(place)));
    twice += position != nowhere;
    data->GetPoint(place, position.data());
  }
  EXPECT_EQ(twice, 0) << "particles that are there twice";
  return positions;
}

class BATReaderProgress : public ::testing::Test
{
protected:
  // Large enough for several steps; written once for all tests, which leave it as it is.
  static void SetUpTestSuite()
  {
    auto cloud = Cloud(kCount);
    vtkNew<vtkFloatArray> half;
    half->SetNumberOfValues(kCount);
    for (vtkIdType i = 0; i < kCount; ++i)
    {
      half->SetValue(i, static_cast<float>(i % 2));
    }
    AddArray(cloud->GetPointData(), half, "half");
    SampleFolder = std::make_unique<::TempDir>();
    Write(cloud, *SampleFolder / "sample.bat");
    Positions = PositionsByIndex(cloud);
  }
  static void TearDownTestSuite() { SampleFolder.reset(); }

  BATReaderProgress()
    : Path(*SampleFolder / "sample.bat")
    , Caught(Reader)
  {
    this->Reader->SetFileName(this->Path.c_str());
  }

  vtkPolyData* Load()
  {
    this->Reader->Update();
    EXPECT_EQ(this->Caught.Errors, "");
    return this->Reader->GetOutput();
  }

  unsigned long AbortLoads()
  {
    return this->Reader->AddObserver(
      vtkCommand::ProgressEvent, this->Reader.Get(), &vtkBATReader::SetAbortExecuteAndUpdateTime);
  }

  // Every particle once, with its own place.
  void ExpectAll(vtkPolyData* data)
  {
    ASSERT_EQ(data->GetNumberOfPoints(), kCount);
    EXPECT_TRUE(PositionsByIndex(data) == Positions);
  }

  // Makes the reader read these particles, from a file of this test alone.
  void ReadOwn(vtkDataObject* particles)
  {
    const std::string own = this->Folder / "own.bat";
    Write(particles, own);
    this->Reader->SetFileName(own.c_str());
    this->Reader->Modified();
  }

  static inline std::unique_ptr<::TempDir> SampleFolder;
  static inline std::vector<std::array<double, 3>> Positions; // of the sample
  vtk_support::TempDir Folder;
  std::string Path;
  vtkNew<vtkBATReader> Reader;
  Messages Caught;
};
}

TEST_F(BATReaderProgress, a_budget_lowers_the_quality_alike_in_all_pieces)
{
  this->Reader->SetParticleBudget(100000);
  vtkPolyData* output = this->Load();
  EXPECT_LE(output->GetNumberOfPoints(), 100000);
  EXPECT_GT(output->GetNumberOfPoints(), 99900);
  EXPECT_NEAR(this->Reader->GetLoadedQuality(), 100000.0 / kCount, 1e-4);
  EXPECT_EQ(this->Reader->GetTargetQuality(), this->Reader->GetLoadedQuality());
  const double quality = this->Reader->GetLoadedQuality();

  vtkIdType sum = 0;
  for (int piece = 0; piece < 3; ++piece)
  {
    this->Reader->UpdatePiece(piece, 3, 0);
    EXPECT_EQ(this->Reader->GetLoadedQuality(), quality);
    sum += output->GetNumberOfPoints();
  }
  EXPECT_LE(sum, 100000);
  EXPECT_GT(sum, 99900);

  this->Reader->SetQuality(0.01); // what is asked for fits
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), kCount / 100);
  EXPECT_EQ(this->Reader->GetLoadedQuality(), 0.01);
  this->Reader->SetQuality(1.0);
  this->Reader->SetParticleBudget(0);
  this->ExpectAll(this->Load());
}

// Without what the reader has told VTK of the array.
vtkSmartPointer<vtkDataArray> Untold(vtkDataArray* array)
{
  auto copy = vtkSmartPointer<vtkDataArray>::Take(array->NewInstance());
  copy->SetNumberOfComponents(array->GetNumberOfComponents());
  copy->InsertTuples(0, array->GetNumberOfTuples(), 0, array);
  return copy;
}

void ExpectRanges(vtkDataArray* array)
{
  ASSERT_TRUE(array->HasInformation());
  EXPECT_TRUE(array->GetInformation()->Has(vtkAbstractArray::PER_COMPONENT())) << array->GetName();
  auto untold = Untold(array);
  // VTK's magnitudes of what is not finite are its own affair.
  const bool magnitude = array->GetInformation()->Has(vtkDataArray::L2_NORM_RANGE());
  for (int c = magnitude ? -1 : 0; c < array->GetNumberOfComponents(); ++c)
  {
    std::array<double, 2> progress_seen{};
    std::array<double, 2> found{};
    array->GetRange(progress_seen.data(), c);
    untold->GetRange(found.data(), c);
    EXPECT_EQ(progress_seen, found) << array->GetName() << ' ' << c;
    array->GetFiniteRange(progress_seen.data(), c);
    untold->GetFiniteRange(found.data(), c);
    EXPECT_EQ(progress_seen, found) << array->GetName() << ' ' << c << " finite";
  }
}

TEST_F(BATReaderProgress, ranges_are_known_after_each_step)
{
  this->Reader->RefineWhileIdleOn();
  vtkPolyData* output = this->Load();
  for (int step = 0; step < 3; ++step)
  {
    ExpectRanges(output->GetPoints()->GetData());
    EXPECT_TRUE(
      output->GetPoints()->GetData()->GetInformation()->Has(vtkDataArray::L2_NORM_RANGE()));
    for (int i = 0; i < output->GetPointData()->GetNumberOfArrays(); ++i)
    {
      ExpectRanges(output->GetPointData()->GetArray(i));
    }
    this->Reader->LoadMore();
    this->Load();
  }
  EXPECT_EQ(output->GetNumberOfPoints(), kCount);
}

TEST_F(BATReaderProgress, ranges_leave_out_what_is_no_number_or_not_finite)
{
  constexpr double infinite = std::numeric_limits<double>::infinity();
  auto cloud = Cloud(4);
  vtkNew<vtkDoubleArray> odd;
  odd->SetNumberOfComponents(2);
  for (const auto& [x, y] : std::vector<std::pair<double, double>>{
         { std::nan(""), 3.0 }, { infinite, 4.0 }, { -2.0, -infinite }, { 5.0, std::nan("") } })
  {
    odd->InsertNextTuple2(x, y);
  }
  AddArray(cloud->GetPointData(), odd, "odd");
  vtkNew<vtkFloatArray> nothing;
  for (int i = 0; i < 4; ++i)
  {
    nothing->InsertNextValue(std::nanf(""));
  }
  AddArray(cloud->GetPointData(), nothing, "nothing");
  this->ReadOwn(cloud);
  vtkPolyData* output = this->Load();
  ExpectRanges(output->GetPointData()->GetArray("odd"));
  EXPECT_FALSE(
    output->GetPointData()->GetArray("odd")->GetInformation()->Has(vtkDataArray::L2_NORM_RANGE()));
  std::array<double, 2> range{};
  std::array<double, 2> untold{};
  vtkDataArray* none = output->GetPointData()->GetArray("nothing");
  none->GetRange(range.data());
  Untold(none)->GetRange(untold.data());
  EXPECT_EQ(range, untold);
}

TEST_F(BATReaderProgress, steps_of_one_load_are_numbered_alike)
{
  const auto steps = [this]()
  {
    vtkInformation* info = this->Reader->GetOutput()->GetPoints()->GetData()->GetInformation();
    const double* numbers = info->Get(vtkBATReader::LOAD_STEPS());
    return std::vector<double>(numbers, numbers + info->Length(vtkBATReader::LOAD_STEPS()));
  };
  this->Reader->RefineWhileIdleOn();
  this->Load();
  const std::vector<double> first = steps();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[1], static_cast<double>(this->Reader->GetOutput()->GetNumberOfPoints()));
  this->Reader->LoadMore();
  this->Load();
  const std::vector<double> second = steps();
  ASSERT_EQ(second.size(), 3U);
  EXPECT_EQ(second[0], first[0]);
  EXPECT_EQ(second[1], first[1]);
  EXPECT_EQ(second[2], static_cast<double>(this->Reader->GetOutput()->GetNumberOfPoints()));
  this->Reader->UseBoxOn();
  this->Reader->SetBox(0, 0.5, 0, 1, 0, 1);
  this->Load();
  EXPECT_NE(steps()[0], first[0]);
}

TEST_F(BATReaderProgress, conditions_leave_room_for_a_finer_quality)
{
  this->Reader->SetParticleBudget(100000);
  this->Reader->UseBoxOn();
  this->Reader->SetBox(0, 0.5, 0, 0.5, 0, 0.5);
  vtkIdType found = this->Load()->GetNumberOfPoints();
  EXPECT_LE(found, 100000);
  EXPECT_GT(found, 80000);
  this->Reader->AddAttributeRange("half", "1", "1");
  found = this->Load()->GetNumberOfPoints();
  EXPECT_LE(found, 100000);
  EXPECT_GT(found, 70000); // of 75,000: everything fits
  this->Reader->UseBoxOff();
  found = this->Load()->GetNumberOfPoints();
  EXPECT_LE(found, 100000);
  EXPECT_GT(found, 90000);
}

TEST_F(BATReaderProgress, refining_takes_steps_that_read_only_what_is_new)
{
  this->Reader->RefineWhileIdleOn();
  vtkIdType before = this->Load()->GetNumberOfPoints();
  EXPECT_LE(before, 500000);
  EXPECT_EQ(this->Reader->GetTargetQuality(), 1.0);
  this->Reader->Modified(); // as any other change: no step
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), before);

  int steps = 0;
  while (this->Reader->GetLoadedQuality() < this->Reader->GetTargetQuality())
  {
    ASSERT_LT(++steps, 5);
    this->Reader->LoadMore();
    const vtkIdType now = this->Load()->GetNumberOfPoints();
    EXPECT_GT(now, before);
    EXPECT_LE(now, before + 500010);
    before = now;
  }
  EXPECT_EQ(steps, 2);
  this->ExpectAll(this->Reader->GetOutput());
  // 12 bytes of position, 8 of index, 4 of half for each particle, once; 3 % for the index and for
  // pages at both ends of each slice.
  EXPECT_LT(static_cast<double>(this->Reader->GetBytesRead()), kCount * 24 * 1.03);

  const vtkIdType all = this->Reader->GetBytesRead();
  this->Reader->LoadMore(); // nothing is left
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), kCount);
  EXPECT_LT(this->Reader->GetBytesRead(), all + 1000); // metadata
}

TEST_F(BATReaderProgress, refining_that_is_switched_on_later_keeps_what_is_loaded)
{
  constexpr vtkIdType loaded = kCount / 4 * 3; // more than a first step
  this->Reader->SetQuality(0.75);
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), loaded);
  const auto before = PositionsByIndex(this->Reader->GetOutput());
  const vtkIdType read = this->Reader->GetBytesRead();
  this->Reader->RefineWhileIdleOn();
  this->Reader->SetQuality(1.0);
  EXPECT_TRUE(PositionsByIndex(this->Load()) == before);
  EXPECT_LT(this->Reader->GetBytesRead() - read, 1000); // of the index
  EXPECT_EQ(this->Reader->GetLoadedQuality(), 0.75);
  EXPECT_EQ(this->Reader->GetTargetQuality(), 1.0);
  this->Reader->LoadMore();
  this->ExpectAll(this->Load());
}

TEST_F(BATReaderProgress, while_a_load_runs_the_numbers_are_those_of_what_is_shown)
{
  this->Reader->RefineWhileIdleOn();
  const vtkIdType first = this->Load()->GetNumberOfPoints();
  const double quality = this->Reader->GetLoadedQuality();
  this->Reader->RefineWhileIdleOff();
  NumbersMeanwhile meanwhile{ this->Reader, {}, {} };
  const unsigned long tag =
    this->Reader->AddObserver(vtkCommand::ProgressEvent, &meanwhile, &NumbersMeanwhile::Look);
  this->ExpectAll(this->Load());
  this->Reader->RemoveObserver(tag);
  // VTK says itself that an update is complete.
  EXPECT_EQ(meanwhile.Qualities, (std::set<double>{ quality, 1.0 }));
  EXPECT_EQ(meanwhile.Counts, (std::set<vtkIdType>{ first, kCount }));
}

TEST_F(BATReaderProgress, a_look_at_other_files_in_between_keeps_what_is_loaded)
{
  std::vector<std::string> others;
  for (const char* name : { "a.bat", "b.bat", "c.bat", "d.bat", "e.bat" })
  {
    others.push_back(this->Folder / name);
    Write(Cloud(10), others.back());
  }
  this->Reader->RefineWhileIdleOn();
  vtkIdType before = this->Load()->GetNumberOfPoints();
  for (int step = 0; step < 2; ++step)
  {
    for (const std::string& other : others) // as a series looks for times
    {
      this->Reader->SetFileName(other.c_str());
      this->Reader->UpdateInformation();
    }
    this->Reader->SetFileName(this->Path.c_str());
    this->Reader->LoadMore();
    EXPECT_GT(this->Load()->GetNumberOfPoints(), before);
    before = this->Reader->GetOutput()->GetNumberOfPoints();
  }
  this->ExpectAll(this->Reader->GetOutput());
}

TEST_F(BATReaderProgress, nothing_is_left_to_refine_after_an_error)
{
  this->Reader->RefineWhileIdleOn();
  this->Load();
  this->Reader->AddAttributeRange("none", "0", "1");
  this->Reader->Update();
  EXPECT_NE(this->Caught.Errors, "");
  EXPECT_EQ(this->Reader->GetTargetQuality(), 0.0);
  EXPECT_EQ(this->Reader->GetLoadedQuality(), 0.0);
}

TEST_F(BATReaderProgress, another_box_starts_coarse_again)
{
  this->Reader->RefineWhileIdleOn();
  this->Load();
  this->Reader->LoadMore();
  EXPECT_GT(this->Load()->GetNumberOfPoints(), 500000);
  this->Reader->UseBoxOn();
  this->Reader->SetBox(0, 1, 0, 1, 0, 0.9);
  EXPECT_LE(this->Load()->GetNumberOfPoints(), 500000);
  this->Reader->RefineWhileIdleOff();
  EXPECT_GT(this->Load()->GetNumberOfPoints(), 1000000);
}

TEST_F(BATReaderProgress, a_finer_quality_and_another_attribute_read_only_what_is_new)
{
  this->Reader->UpdateInformation();
  this->Reader->GetPointDataArraySelection()->DisableAllArrays();
  this->Reader->SetQuality(0.5);
  this->Load();
  const vtkIdType half = this->Reader->GetBytesRead();
  this->Reader->SetQuality(1.0);
  this->Load();
  const vtkIdType whole = this->Reader->GetBytesRead();
  EXPECT_LT(whole - half, kCount * 12 / 2 + 400000);
  this->Reader->GetPointDataArraySelection()->EnableArray("index");
  this->ExpectAll(this->Load());
  EXPECT_LT(this->Reader->GetBytesRead() - whole, kCount * 8 + 400000);
  // Other cells read nothing.
  const vtkIdType all = this->Reader->GetBytesRead();
  this->Reader->SetVertexCells(vtkBATReader::NO_CELLS);
  this->ExpectAll(this->Load());
  EXPECT_LT(this->Reader->GetBytesRead(), all + 1000); // metadata
  this->Reader->SetQuality(0.25);
  EXPECT_NEAR(static_cast<double>(this->Load()->GetNumberOfPoints()), kCount / 4.0, 10);
}

TEST_F(BATReaderProgress, outputs_of_earlier_updates_stay_as_they_were)
{
  this->Reader->SetQuality(0.25);
  vtkNew<vtkPolyData> early;
  early->ShallowCopy(this->Load());
  const auto before = PositionsByIndex(early);
  this->Reader->SetQuality(1.0);
  this->Load();
  EXPECT_TRUE(PositionsByIndex(early) == before);
}

TEST_F(BATReaderProgress, a_step_copies_nothing_that_is_there)
{
  auto reader = vtkSmartPointer<vtkBATReader>::New();
  reader->SetFileName(this->Path.c_str());
  reader->RefineWhileIdleOn();
  vtkNew<vtkPolyData> early;
  reader->Update();
  early->ShallowCopy(reader->GetOutput());
  const auto before = PositionsByIndex(early);
  reader->LoadMore();
  vtkNew<vtkPolyData> late;
  reader->Update();
  late->ShallowCopy(reader->GetOutput());
  const auto address = [](vtkPolyData* data, int i)
  { return data->GetPointData()->GetArray(i)->GetVoidPointer(0); };
  EXPECT_EQ(early->GetPoints()->GetVoidPointer(0), late->GetPoints()->GetVoidPointer(0));
  EXPECT_EQ(address(early, 0), address(late, 0));

  // Code that appends values to one of them gets separate memory, and all outlive the reader.
  const auto all = PositionsByIndex(late);
  vtkDataArray* grown = early->GetPoints()->GetData();
  grown->InsertNextTuple3(7.0, 8.0, 9.0);
  EXPECT_NE(grown->GetVoidPointer(0), late->GetPoints()->GetVoidPointer(0));
  reader = nullptr;
  EXPECT_EQ(grown->GetComponent(grown->GetNumberOfTuples() - 1, 2), 9.0);
  grown->SetNumberOfTuples(early->GetNumberOfPoints() - 1);
  EXPECT_TRUE(PositionsByIndex(early) == before);
  EXPECT_TRUE(PositionsByIndex(late) == all);
}

TEST_F(BATReaderProgress, bounds_are_those_that_vtk_would_find)
{
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const double odd : { 0.5, std::nan(""), infinite })
  {
    auto cloud = Cloud(100);
    cloud->GetPoints()->SetPoint(3, odd, 0.5, odd);
    cloud->GetPoints()->SetPoint(4, -1e30, 0.5, 5e-40);
    this->ReadOwn(cloud);
    vtkPolyData* output = this->Load();
    vtkNew<vtkPoints> untold;
    untold->SetDataType(output->GetPoints()->GetDataType());
    untold->SetData(Untold(output->GetPoints()->GetData()));
    for (int i = 0; i < 6; ++i)
    {
      EXPECT_EQ(output->GetBounds()[i], untold->GetBounds()[i]) << i;
    }
  }
}

TEST_F(BATReaderProgress, radius_grows_as_particles_become_fewer)
{
  this->Load();
  const double fine = this->Reader->GetSuggestedRadius();
  EXPECT_NEAR(fine, 0.6 * std::cbrt(1.0 / kCount), 0.15 * fine);
  this->Reader->SetQuality(0.125);
  this->Load();
  EXPECT_NEAR(this->Reader->GetSuggestedRadius(), 2.0 * fine, 0.2 * fine);
}

TEST_F(BATReaderProgress, what_is_damaged_is_named_and_can_be_skipped)
{
  const clouds::Cloud cloud = clouds::uniform(kCount / 10, 5);
  const std::string path = this->Folder / "several.bat";
  dataset_files::write(path, dataset_files::slabs(cloud, 4));
  const vtkSmartPointer<vtkPolyData> whole = Read(path);
  std::set<std::array<double, 3>> input;
  for (vtkIdType i = 0; i < kCount / 10; ++i)
  {
    std::array<double, 3> p{};
    whole->GetPoint(i, p.data());
    input.insert(p);
  }

  const std::vector<bat::LeafInfo> leaves = bat::Dataset::open(path).leaves();
  ASSERT_EQ(leaves.size(), 4U);
  std::filesystem::remove(leaves[0].path);
  {
    std::fstream file(leaves[2].path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(leaves[2].file_bytes / 2));
    file.put('?').put('!').put('?');
  }
  this->Reader->SetFileName(path.c_str());
  this->Reader->Update();
  EXPECT_NE(this->Caught.Errors.find(leaves[0].path.string()), std::string::npos)
    << this->Caught.Errors;
  EXPECT_EQ(this->Reader->GetOutput()->GetNumberOfPoints(), 0);

  this->Caught.Errors.clear();
  this->Reader->SkipDamagedOn();
  vtkPolyData* output = this->Load();
  EXPECT_EQ(output->GetNumberOfPoints(),
    kCount / 10 - static_cast<vtkIdType>(leaves[0].particles + leaves[2].particles));
  for (const std::size_t leaf : { 0, 2 })
  {
    EXPECT_NE(this->Caught.Warnings.find(leaves[leaf].path.string()), std::string::npos)
      << this->Caught.Warnings;
  }
  for (vtkIdType i = 0; i < output->GetNumberOfPoints(); ++i)
  {
    std::array<double, 3> p{};
    output->GetPoint(i, p.data());
    ASSERT_EQ(input.count(p), 1U) << i;
  }
  // Each one causes one warning.
  this->Caught.Warnings.clear();
  this->Reader->SetQuality(0.5);
  EXPECT_GT(this->Load()->GetNumberOfPoints(), 0);
  EXPECT_EQ(this->Caught.Warnings, "");
}

class BATReaderDamage
  : public BATReaderProgress
  , public testing::WithParamInterface<bat::Compression>
{
};

INSTANTIATE_TEST_SUITE_P(
  Columns, BATReaderDamage, testing::Values(bat::Compression::None, bat::Compression::Lossless));

TEST_P(BATReaderDamage, of_an_attribute_that_is_not_wanted_leaves_no_particles_out)
{
  const clouds::Cloud cloud = clouds::uniform(kCount / 10, 5);
  const std::string path = this->Folder / "several.bat";
  bat::BuildOptions build;
  build.compression = this->GetParam();
  dataset_files::write(path, dataset_files::slabs(cloud, 4), build);
  const bat::Dataset file = bat::Dataset::open(path);
  const std::uint32_t attribute = 1;
  const std::string name = file.attributes().at(attribute).name;
  ASSERT_EQ(file.leaf_file(2).storage(attribute).is_compressed,
    build.compression != bat::Compression::None);
  const bat::LeafInfo leaf = file.leaves().at(2);
  damage::Bytes bytes = read_bytes(leaf.path);
  const auto record = damage::load<bat::format::SectionRecord>(
    bytes, damage::section_record(bytes, bat::format::SectionKind::Attribute, attribute));
  damage::flip(bytes, 8 * (record.offset + record.bytes / 2));
  write_bytes(leaf.path, bytes);

  this->Reader->SetFileName(path.c_str());
  this->Reader->Update();
  EXPECT_NE(this->Caught.Errors.find("attribute '" + name + "'"), std::string::npos)
    << this->Caught.Errors;
  EXPECT_EQ(this->Reader->GetOutput()->GetNumberOfPoints(), 0);

  this->Caught.Errors.clear();
  this->Reader->SkipDamagedOn();
  const auto all = static_cast<vtkIdType>(cloud.count);
  const vtkIdType without = all - static_cast<vtkIdType>(leaf.particles);
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), without);
  EXPECT_NE(this->Caught.Warnings.find(name), std::string::npos) << this->Caught.Warnings;
  this->Reader->GetPointDataArraySelection()->DisableArray(name.c_str());
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), all);
  this->Reader->GetPointDataArraySelection()->EnableArray(name.c_str());
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), without);
}

TEST_F(BATReaderProgress, giving_up_a_step_keeps_the_particles_before_it)
{
  this->Reader->SetQuality(0.25);
  const auto before = PositionsByIndex(this->Load());
  EXPECT_FALSE(this->Reader->GetAborted());
  const double radius = this->Reader->GetSuggestedRadius();
  const unsigned long tag = this->AbortLoads();
  this->Reader->SetQuality(1.0);
  EXPECT_TRUE(PositionsByIndex(this->Load()) == before);
  EXPECT_TRUE(this->Reader->GetAborted());
  EXPECT_EQ(this->Reader->GetLoadedCount(), kCount / 4);
  EXPECT_EQ(this->Reader->GetLoadedQuality(), 0.25);
  EXPECT_EQ(this->Reader->GetTargetQuality(), 0.25);
  EXPECT_EQ(this->Reader->GetSuggestedRadius(), radius);
  this->Reader->RemoveObserver(tag);
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), kCount / 4); // not by itself
  this->Reader->Modified();
  this->ExpectAll(this->Load());
  EXPECT_FALSE(this->Reader->GetAborted());
}

TEST_F(BATReaderProgress, giving_up_another_box_keeps_the_particles_if_that_is_wanted)
{
  this->Load();
  const unsigned long tag = this->AbortLoads();
  this->Reader->SetKeepWhenAborted(true);
  this->Reader->UseBoxOn();
  this->Reader->SetBox(0, 1, 0, 1, 0, 0.5);
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), kCount);
  this->Reader->SetQuality(0.5);
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), kCount);
  this->Reader->SetKeepWhenAborted(false);
  this->Reader->Modified();
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), 0);
  EXPECT_EQ(this->Reader->GetLoadedCount(), 0);
  EXPECT_TRUE(this->Reader->GetAborted());
  this->Reader->RemoveObserver(tag);
  this->Reader->Modified();
  EXPECT_NEAR(static_cast<double>(this->Load()->GetNumberOfPoints()), kCount / 4.0, kCount * 0.01);
}

TEST_F(BATReaderProgress, giving_up_a_step_of_refining_ends_it_until_the_next_change)
{
  this->Reader->RefineWhileIdleOn();
  const vtkIdType first = this->Load()->GetNumberOfPoints();
  const unsigned long tag = this->AbortLoads();
  this->Reader->LoadMore();
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), first);
  EXPECT_EQ(this->Reader->GetTargetQuality(), this->Reader->GetLoadedQuality());
  this->Reader->RemoveObserver(tag);
  this->Reader->Modified();
  EXPECT_GT(this->Load()->GetNumberOfPoints(), first);
  EXPECT_EQ(this->Reader->GetTargetQuality(), 1.0);
}

TEST_F(BATReaderProgress, a_step_that_was_given_up_is_the_next_one)
{
  this->Reader->RefineWhileIdleOn();
  const vtkIdType first = this->Load()->GetNumberOfPoints();
  const unsigned long tag = this->AbortLoads();
  for (int i = 0; i < 3; ++i)
  {
    this->Reader->LoadMore();
    EXPECT_EQ(this->Load()->GetNumberOfPoints(), first);
  }
  this->Reader->RemoveObserver(tag);
  this->Reader->LoadMore();
  EXPECT_NEAR(
    static_cast<double>(this->Load()->GetNumberOfPoints()), 2.0 * static_cast<double>(first), 10.0);
}

TEST_F(BATReaderProgress, a_step_can_be_put_off_and_another_update_cannot)
{
  this->Reader->RefineWhileIdleOn();
  const unsigned long tag = this->Reader->AddObserver(
    vtkCommand::ProgressEvent, this->Reader.Get(), &vtkBATReader::PutOffStep);
  const vtkIdType first = this->Load()->GetNumberOfPoints();
  EXPECT_GT(first, 0);
  for (int i = 0; i < 3; ++i)
  {
    this->Reader->LoadMore();
    EXPECT_EQ(this->Load()->GetNumberOfPoints(), first);
    EXPECT_FALSE(this->Reader->GetAborted());
    EXPECT_EQ(this->Reader->GetTargetQuality(), 1.0);
  }
  this->Reader->RemoveObserver(tag);
  this->Reader->LoadMore();
  EXPECT_NEAR(
    static_cast<double>(this->Load()->GetNumberOfPoints()), 2.0 * static_cast<double>(first), 10.0);
}

TEST_F(BATReaderProgress, writing_less_than_was_asked_for_is_warned_of)
{
  const auto write = [&]()
  {
    vtkNew<vtkBATWriter> writer;
    Messages reported(writer);
    writer->SetInputConnection(this->Reader->GetOutputPort());
    writer->SetFileName((this->Folder / "copy.bat").c_str());
    EXPECT_EQ(writer->Write(), 1);
    return reported.Warnings;
  };
  this->Reader->SetQuality(0.1);
  EXPECT_EQ(write(), ""); // as was asked for
  this->Reader->SetParticleBudget(10000);
  const std::string warning = write();
  EXPECT_NE(warning.find("of 1200000 particles"), std::string::npos) << warning;
  this->Reader->SetParticleBudget(0);
  EXPECT_EQ(write(), "");
}

TEST_F(BATReaderProgress, reading_ahead_opens_the_next_file)
{
  const std::string next = this->Folder / "next.bat";
  Write(Cloud(1000), next);
  this->ReadOwn(Cloud(100));
  this->Load();
  const std::string own = this->Reader->GetFileName();
  this->Reader->ReadAhead(next.c_str());
  this->Reader->ReadAhead((this->Folder / "none.bat").c_str());
  this->Reader->ReadAhead(next.c_str());
  this->Reader->SetFileName(next.c_str());
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), 1000);
  // A file that is rewritten after it was read ahead is opened again.
  this->Reader->ReadAhead(own.c_str());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  std::filesystem::remove_all(own + ".leaves");
  this->ReadOwn(Cloud(17));
  EXPECT_EQ(this->Load()->GetNumberOfPoints(), 17);
}

TEST_F(BATReaderProgress, a_sample_that_is_saved_says_that_it_is_one)
{
  const std::string path = this->Folder / "quarter.bat";
  this->Reader->SetQuality(0.25);
  Write(this->Load(), path);
  vtkNew<vtkBATReader> reader;
  reader->SetFileName(path.c_str());
  const auto expect = [&](const char* name, double value)
  { EXPECT_EQ(reader->GetOutput()->GetFieldData()->GetArray(name)->GetTuple1(0), value) << name; };
  reader->Update();
  EXPECT_EQ(reader->GetParticleCount(), kCount / 4);
  EXPECT_EQ(reader->GetLoadedQuality(), 1.0); // of the file
  EXPECT_EQ(reader->GetSampleQuality(), 0.25);
  expect("quality", 0.25);
  expect("quality_requested", 0.25);
  expect("particle_count", kCount);

  // A sample of a sample.
  reader->SetQuality(0.5);
  reader->Update();
  expect("quality", 0.125);
  const std::string eighth = this->Folder / "eighth.bat";
  Write(reader->GetOutput(), eighth);
  reader->SetFileName(eighth.c_str());
  reader->SetQuality(1.0);
  reader->Update();
  EXPECT_EQ(reader->GetSampleQuality(), 0.125);
  expect("quality", 0.125);
  expect("particle_count", kCount);

  // All particles are none.
  this->Reader->SetQuality(1.0);
  Write(this->Load(), path);
  reader->SetFileName(path.c_str());
  reader->Update();
  EXPECT_EQ(reader->GetSampleQuality(), 1.0);
  expect("quality", 1.0);
}

TEST_F(BATReaderProgress, field_data_and_information_tell_where_the_particles_are_from)
{
  this->Reader->SetQuality(0.5);
  vtkFieldData* field = this->Load()->GetFieldData();
  EXPECT_EQ(field->GetArray("quality")->GetTuple1(0), 0.5);
  EXPECT_EQ(field->GetArray("particle_count")->GetTuple1(0), kCount);
  EXPECT_EQ(field->GetArray("quality_requested")->GetTuple1(0), 0.5);
  auto* version = vtkStringArray::SafeDownCast(field->GetAbstractArray("format_version"));
  ASSERT_TRUE(version);
  EXPECT_EQ(version->GetValue(0), "1.0");
  auto* provenance = vtkStringArray::SafeDownCast(field->GetAbstractArray("provenance"));
  ASSERT_TRUE(provenance);
  EXPECT_NE(provenance->GetValue(0).find("ParaBAT"), std::string::npos);
  EXPECT_FALSE(field->GetAbstractArray("compression"));
  // How a compressed file is stored.
  const clouds::Cloud cloud = clouds::uniform(kCount / 10, 5);
  const std::string path = this->Folder / "compressed.bat";
  bat::BuildOptions build;
  for (const char* text : { "lossless", "positions within 0.25; all others exact" })
  {
    const bool isBounded = std::string(text) != "lossless";
    build.compression = isBounded ? bat::Compression::Bounded : bat::Compression::Lossless;
    build.error_bounds =
      isBounded ? std::vector<std::string>{ "positions=0.25" } : std::vector<std::string>{};
    bat::write_file(path, cloud.view(), build);
    const vtkSmartPointer<vtkPolyData> read = Read(path);
    auto* stored =
      vtkStringArray::SafeDownCast(read->GetFieldData()->GetAbstractArray("compression"));
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->GetValue(0), text);
  }

  const bat::Dataset dataset = bat::Dataset::open(this->Path);
  EXPECT_EQ(this->Reader->GetLeafFileCount(), static_cast<vtkIdType>(dataset.leaves().size()));
  EXPECT_EQ(this->Reader->GetFileBytes(), static_cast<vtkIdType>(dataset.file_bytes()));
  vtkStringArray* bytes = this->Reader->GetParticleBytesInfo();
  ASSERT_EQ(bytes->GetNumberOfValues(), 6);
  EXPECT_EQ(bytes->GetValue(0), "");
  EXPECT_EQ(bytes->GetValue(1), "12");
  EXPECT_EQ(bytes->GetValue(2), "index");
  EXPECT_EQ(bytes->GetValue(3), "8");
}
