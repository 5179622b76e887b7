// SPDX-License-Identifier: BSD-3-Clause
// What the reader loads: quality, box, ranges, pieces, arrays, cells, and what it says about the
// file.
#include "vtk_support.hpp"

#include "bat/file.hpp"
#include "bat/writer.hpp"

#include "vtkCellArray.h"
#include "vtkDataArraySelection.h"
#include "vtkInformation.h"
#include "vtkStreamingDemandDrivenPipeline.h"
#include "vtkStringArray.h"
#include "vtkTransform.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

using namespace vtk_support;

namespace
{
constexpr vtkIdType kCount = 20000;
constexpr std::int64_t kBigId = 9007199254740993; // 2^53 + 1 is not a double

vtkSmartPointer<vtkPolyData> Sample()
{
  auto cloud = Cloud(kCount);
  vtkNew<vtkTypeInt64Array> id;
  vtkNew<vtkFloatArray> mass;
  vtkNew<vtkDoubleArray> velocity;
  id->SetNumberOfValues(kCount);
  mass->SetNumberOfValues(kCount);
  velocity->SetNumberOfComponents(3);
  velocity->SetNumberOfTuples(kCount);
  for (vtkIdType i = 0; i < kCount; ++i)
  {
    id->SetValue(i, kBigId - 10 + i);
    mass->SetValue(i, static_cast<float>(i % 100) / 100.0f);
    velocity->SetTuple3(i, 3.0 * static_cast<double>(i % 7), 4.0 * static_cast<double>(i % 7), 0.0);
  }
  AddArray(cloud->GetPointData(), id, "id");
  AddArray(cloud->GetPointData(), mass, "mass");
  AddArray(cloud->GetPointData(), velocity, "velocity");
  return cloud;
}

std::set<std::int64_t> Indices(vtkPolyData* data)
{
  std::set<std::int64_t> indices;
  for (const auto& [index, place] : PlacesByIndex(data))
  {
    indices.insert(index);
  }
  return indices;
}

class BATReader : public ::testing::Test
{
protected:
  BATReader()
    : Path(Folder / "sample.bat")
    , Input(Sample())
    , Caught(Reader)
  {
    Write(this->Input, this->Path);
    this->Reader->SetFileName(this->Path.c_str());
  }

  std::set<std::int64_t> Load()
  {
    this->Reader->Update();
    EXPECT_EQ(this->Caught.Errors, "");
    EXPECT_EQ(this->Reader->GetLoadedCount(), this->Reader->GetOutput()->GetNumberOfPoints());
    return Indices(this->Reader->GetOutput());
  }

  template <typename Predicate>
  std::set<std::int64_t> Expected(Predicate&& predicate)
  {
    std::set<std::int64_t> indices;
    for (vtkIdType i = 0; i < kCount; ++i)
    {
      if (predicate(i))
      {
        indices.insert(i);
      }
    }
    return indices;
  }

  TempDir Folder;
  std::string Path;
  vtkSmartPointer<vtkPolyData> Input;
  vtkNew<vtkBATReader> Reader;
  Messages Caught;
};
}

TEST_F(BATReader, information_tells_about_the_file_and_reads_little)
{
  this->Reader->UpdateInformation();
  EXPECT_EQ(this->Reader->GetParticleCount(), kCount);
  EXPECT_STREQ(this->Reader->GetFileVersion(), "1.0");
  EXPECT_LT(this->Reader->GetBytesRead(), 64 * 1024);
  double box[6];
  this->Input->GetBounds(box);
  for (int i = 0; i < 6; ++i)
  {
    EXPECT_EQ(this->Reader->GetBounds()[i], box[i]);
  }
  vtkInformation* info = this->Reader->GetOutputInformation(0);
  EXPECT_TRUE(info->Has(vtkDataObject::BOUNDING_BOX()));
  EXPECT_TRUE(info->Has(vtkAlgorithm::CAN_HANDLE_PIECE_REQUEST()));
  EXPECT_FALSE(info->Has(vtkStreamingDemandDrivenPipeline::TIME_STEPS()));
  EXPECT_EQ(this->Reader->GetPointDataArraySelection()->GetNumberOfArrays(), 4);

  vtkStringArray* ranges = this->Reader->GetAttributeRangesInfo();
  std::map<std::string, std::pair<std::string, std::string>> ends;
  for (vtkIdType i = 0; i + 2 < ranges->GetNumberOfValues(); i += 3)
  {
    ends[ranges->GetValue(i)] = { ranges->GetValue(i + 1), ranges->GetValue(i + 2) };
  }
  EXPECT_EQ(ends.size(), 7u); // index, id, mass, velocity and its components
  EXPECT_EQ(ends.at("id").first, std::to_string(kBigId - 10));
  EXPECT_EQ(ends.at("velocity").second, "30");
  EXPECT_EQ(ends.at("velocity[1]").second, "24");
}

TEST_F(BATReader, histograms_are_made_when_asked_for_in_the_order_of_the_ranges)
{
  EXPECT_EQ(this->Reader->GetAttributeHistograms()->GetNumberOfValues(), 0);
  this->Reader->UpdateInformation();
  EXPECT_EQ(this->Reader->GetAttributeHistograms()->GetNumberOfValues(), 0);
  EXPECT_LT(this->Reader->GetBytesRead(), 64 * 1024);

  const vtkMTimeType before = this->Reader->GetMTime();
  this->Reader->SetComputeHistograms(true);
  EXPECT_EQ(this->Reader->GetMTime(), before);
  constexpr vtkIdType half = 4 + 64;
  vtkStringArray* ranges = this->Reader->GetAttributeRangesInfo();
  vtkDoubleArray* numbers = this->Reader->GetAttributeHistograms();
  ASSERT_EQ(numbers->GetNumberOfValues(), 2 * half * (ranges->GetNumberOfValues() / 3));
  for (vtkIdType i = 0; 3 * i < ranges->GetNumberOfValues(); ++i)
  {
    const std::string target = ranges->GetValue(3 * i);
    SCOPED_TRACE(target);
    for (const vtkIdType first : { 2 * half * i, 2 * half * i + half })
    {
      const double* histogram = numbers->GetPointer(first);
      EXPECT_EQ(histogram[0], std::stod(ranges->GetValue(3 * i + 1)));
      EXPECT_EQ(histogram[1], std::stod(ranges->GetValue(3 * i + 2)));
      EXPECT_EQ(histogram[2], target == "id" || target == "index" ? 1.0 : 0.0);
      EXPECT_EQ(histogram[3] > 0.0, first != 2 * half * i);
      double sum = 0.0;
      for (vtkIdType bin = 0; bin < 64; ++bin)
      {
        sum += histogram[4 + bin];
      }
      EXPECT_NEAR(sum, kCount, 1e-6 * kCount);
    }
    if (target == "velocity[0]") // 0 in a seventh of all, then 3, 6, ...
    {
      EXPECT_NEAR(numbers->GetValue(2 * half * i + 4), kCount / 7.0, 0.01 * kCount);
      EXPECT_EQ(numbers->GetValue(2 * half * i + 5), 0.0);
    }
  }

  // Not made twice.
  const vtkIdType read = this->Reader->GetBytesRead();
  EXPECT_GT(this->Reader->GetAttributeHistograms()->GetNumberOfValues(), 0);
  EXPECT_EQ(this->Reader->GetBytesRead(), read);
  this->Reader->SetComputeHistograms(false);
  EXPECT_EQ(this->Reader->GetAttributeHistograms()->GetNumberOfValues(), 0);
}

TEST_F(BATReader, quality_loads_its_share_and_grows_by_adding)
{
  std::set<std::int64_t> before;
  for (double quality : { 0.0, 0.001, 0.1, 0.5, 1.0 })
  {
    this->Reader->SetQuality(quality);
    const auto indices = this->Load();
    EXPECT_EQ(indices.size(), static_cast<std::size_t>(std::ceil(quality * kCount)));
    EXPECT_TRUE(std::includes(indices.begin(), indices.end(), before.begin(), before.end()));
    before = indices;
  }
}

TEST_F(BATReader, box_loads_what_is_inside)
{
  this->Reader->UseBoxOn();
  this->Reader->SetBox(0.25, 0.5, 0.0, 0.75, 0.125, 1.0);
  EXPECT_EQ(this->Load(),
    this->Expected(
      [&](vtkIdType i)
      {
        double p[3];
        this->Input->GetPoint(i, p);
        return p[0] >= 0.25 && p[0] <= 0.5 && p[1] <= 0.75 && p[2] >= 0.125;
      }));
  this->Reader->UseBoxOff();
  EXPECT_EQ(this->Load().size(), static_cast<std::size_t>(kCount));
}

TEST_F(BATReader, ranges_hold_together_and_are_exact)
{
  this->Reader->AddAttributeRange("id", "9007199254740993", "9007199254740993");
  EXPECT_EQ(this->Load(), std::set<std::int64_t>({ 10 }));

  this->Reader->ClearAttributeRanges();
  this->Reader->AddAttributeRange("velocity", "20", "25"); // magnitude: 5 (i mod 7)
  this->Reader->AddAttributeRange("velocity[0]", "", "12");
  this->Reader->AddAttributeRange("mass", "5e-1", "inf");
  EXPECT_EQ(this->Load(), this->Expected([](vtkIdType i) { return i % 7 == 4 && i % 100 >= 50; }));

  this->Reader->ClearAttributeRanges();
  this->Reader->AddAttributeRange("index", "2.5", "5.0"); // real ends on integers
  EXPECT_EQ(this->Load(), std::set<std::int64_t>({ 3, 4, 5 }));
}

TEST_F(BATReader, ids_are_found_exactly)
{
  this->Reader->SetIds("9007199254740993, 9007199254740995;17\n9007199254740993");
  EXPECT_EQ(this->Load(), std::set<std::int64_t>({ 10, 12 }));
  this->Reader->UseBoxOn();
  this->Reader->SetBox(2, 3, 2, 3, 2, 3);
  EXPECT_TRUE(this->Load().empty());
  this->Reader->UseBoxOff();
  this->Reader->SetIdAttribute("index");
  EXPECT_EQ(this->Load(), std::set<std::int64_t>({ 17 }));
  this->Reader->SetIds("");
  EXPECT_EQ(this->Load().size(), static_cast<std::size_t>(kCount));

  this->Reader->SetIds("1 two");
  this->Reader->Update();
  EXPECT_NE(this->Caught.Errors.find("two"), std::string::npos) << this->Caught.Errors;
  this->Caught.Errors.clear();
  this->Reader->SetIds("1");
  this->Reader->SetIdAttribute("names");
  this->Reader->Update();
  EXPECT_NE(this->Caught.Errors.find("names"), std::string::npos) << this->Caught.Errors;

  // The role of global ids comes before any name.
  auto cloud = Cloud(100);
  vtkNew<vtkTypeInt64Array> id;
  vtkNew<vtkTypeInt64Array> global;
  for (vtkIdType i = 0; i < 100; ++i)
  {
    id->InsertNextValue(i);
    global->InsertNextValue(1000 + i);
  }
  AddArray(cloud->GetPointData(), id, "id");
  global->SetName("tags");
  cloud->GetPointData()->SetGlobalIds(global);
  const std::string tagged = this->Folder / "tagged.bat";
  Write(cloud, tagged);
  vtkNew<vtkBATReader> reader;
  reader->SetFileName(tagged.c_str());
  reader->SetIds("1003");
  reader->Update();
  EXPECT_EQ(Indices(reader->GetOutput()), std::set<std::int64_t>({ 3 }));

  // Without ids there is nothing to look for.
  const std::string plain = this->Folder / "plain.bat";
  Write(Cloud(10), plain);
  vtkNew<vtkBATReader> lost;
  Messages reported(lost);
  lost->SetFileName(plain.c_str());
  lost->SetIds("1");
  lost->Update();
  EXPECT_NE(reported.Errors.find("index"), std::string::npos) << reported.Errors;
}

TEST_F(BATReader, ranges_on_one_target_are_alternatives)
{
  this->Reader->AddAttributeRange("mass", "", "0.1");
  this->Reader->AddAttributeRange("index", "0", "999");
  this->Reader->AddAttributeRange("mass[0]", "0.90625", ""); // the same target as "mass"
  this->Reader->AddAttributeRange("velocity", "0", "4");
  this->Reader->AddAttributeRange("velocity", "28", "inf");
  const auto light = [](vtkIdType i) { return static_cast<float>(i % 100) / 100.0f <= 0.1; };
  const auto heavy = [](vtkIdType i) { return static_cast<float>(i % 100) / 100.0f >= 0.90625; };
  const auto reference = this->Expected(
    [&](vtkIdType i) { return (light(i) || heavy(i)) && i < 1000 && (i % 7 == 0 || i % 7 == 6); });
  EXPECT_EQ(this->Load(), reference);

  // Another range alone is another question.
  this->Reader->AddAttributeRange("velocity", "15", "15");
  EXPECT_EQ(this->Load(),
    this->Expected([&](vtkIdType i)
      { return (light(i) || heavy(i)) && i < 1000 && (i % 7 == 0 || i % 7 == 3 || i % 7 == 6); }));

  // Alternatives are exact.
  this->Reader->ClearAttributeRanges();
  this->Reader->AddAttributeRange("id", "9007199254740993", "9007199254740993");
  this->Reader->AddAttributeRange("id", "9007199254740995", "9007199254740996");
  EXPECT_EQ(this->Load(), std::set<std::int64_t>({ 10, 12, 13 }));

  this->Reader->AddAttributeRange("id", "2", "1");
  this->Reader->Update();
  EXPECT_NE(this->Caught.Errors.find("'id'"), std::string::npos) << this->Caught.Errors;
}

TEST_F(BATReader, negated_ranges_leave_out_what_is_in_any_of_them)
{
  this->Reader->AddAttributeRange("!velocity[0]", "3", "6");
  this->Reader->AddAttributeRange("!velocity[0]", "18", "");
  EXPECT_EQ(this->Load(),
    this->Expected([](vtkIdType i) { return i % 7 == 0 || (i % 7 >= 3 && i % 7 <= 5); }));
  this->Reader->AddAttributeRange("velocity[0]", "", "9");
  EXPECT_EQ(this->Load(), this->Expected([](vtkIdType i) { return i % 7 == 0 || i % 7 == 3; }));
  this->Reader->ClearAttributeRanges();
  this->Reader->AddAttributeRange("velocity[0]", "3", "6");
  EXPECT_EQ(this->Load(), this->Expected([](vtkIdType i) { return i % 7 == 1 || i % 7 == 2; }));
  this->Reader->ClearAttributeRanges();
  this->Reader->AddAttributeRange("!velocity[0]", "3", "6"); // nothing else has changed
  EXPECT_EQ(this->Load(), this->Expected([](vtkIdType i) { return i % 7 != 1 && i % 7 != 2; }));

  this->Reader->AddAttributeRange("!speed", "3", "6");
  this->Reader->Update();
  EXPECT_NE(this->Caught.Errors.find("'speed'"), std::string::npos) << this->Caught.Errors;
}

TEST_F(BATReader, negation_takes_nan_in_and_gives_way_to_names)
{
  const auto cloud = Cloud(100);
  vtkNew<vtkFloatArray> shock;
  vtkNew<vtkFloatArray> plain;
  for (int i = 0; i < 100; ++i)
  {
    shock->InsertNextValue(static_cast<float>(i));
    plain->InsertNextValue(i < 10 ? std::nanf("") : static_cast<float>(-i));
  }
  AddArray(cloud->GetPointData(), shock, "!mark");
  AddArray(cloud->GetPointData(), plain, "mark");
  Write(cloud, this->Path);
  const auto load = [this](const char* target, const char* minimum, const char* maximum)
  {
    this->Reader->ClearAttributeRanges();
    this->Reader->AddAttributeRange(target, minimum, maximum);
    return this->Load();
  };
  const auto below = [](std::int64_t end, std::int64_t first = 0)
  {
    std::set<std::int64_t> indices;
    for (std::int64_t i = first; i < end; ++i)
    {
      indices.insert(i);
    }
    return indices;
  };
  EXPECT_EQ(load("!mark", "", "19"), below(20));
  EXPECT_EQ(load("!!mark", "20", ""), below(20));
  EXPECT_EQ(load("mark", "-19", ""), below(20, 10));

  cloud->GetPointData()->RemoveArray("!mark");
  Write(cloud, this->Path);
  this->Reader->Modified();
  EXPECT_EQ(load("!mark", "", "-20"), below(20));
  EXPECT_EQ(load("!mark", "", ""), below(10));
}

TEST_F(BATReader, ids_come_in_ranges_and_can_be_hidden)
{
  this->Reader->UpdateInformation();
  EXPECT_STREQ(this->Reader->GetFoundIdAttribute(), "id");
  this->Reader->SetIdAttribute("index");
  this->Reader->UpdateInformation();
  EXPECT_STREQ(this->Reader->GetFoundIdAttribute(), "index");
  const auto load = [this](const char* ids)
  {
    this->Reader->SetIds(ids);
    return this->Load();
  };
  const auto within = [this](vtkIdType lower, vtkIdType upper)
  { return this->Expected([=](vtkIdType i) { return i >= lower && i <= upper; }); };
  EXPECT_EQ(load("3, 5-90;100..200"),
    this->Expected(
      [](vtkIdType i) { return i == 3 || (i >= 5 && i <= 90) || (i >= 100 && i <= 200); }));
  EXPECT_EQ(load("5-91"), within(5, 91));
  EXPECT_EQ(load("..5"), within(0, 5));
  EXPECT_EQ(load("19990.."), within(19990, kCount));
  EXPECT_EQ(load("-3-2"), within(0, 2));
  EXPECT_EQ(load("-3..2"), within(0, 2));
  EXPECT_EQ(load("-5--1"), within(1, 0));
  EXPECT_EQ(load("1e1-2e1"), within(10, 20));
  EXPECT_EQ(load("1e-1 5"), within(5, 5));
  EXPECT_EQ(load("0-inf"), within(0, kCount));
  this->Reader->SetIdAttribute("id");
  EXPECT_EQ(load("9007199254740993-9007199254740995, 9007199254740997"),
    std::set<std::int64_t>({ 10, 11, 12, 14 }));

  this->Reader->SetIdsMode(vtkBATReader::ALL_BUT_THESE);
  EXPECT_EQ(
    this->Load(), this->Expected([](vtkIdType i) { return !(i >= 10 && i <= 12) && i != 14; }));
  EXPECT_EQ(load("9007199254740993"), this->Expected([](vtkIdType i) { return i != 10; }));
  EXPECT_EQ(load("1-2"), within(0, kCount));
  EXPECT_EQ(load(" "), within(0, kCount));

  for (const auto& [text, found] :
    std::vector<std::pair<const char*, const char*>>{
      { "5-9x", "in '5-9x': '9x' is not a number; allowed are" }, { "..", "in '..': ''" },
      { "5-", "in '5-': ''" }, { "5 - 9", "'-' is not" }, { "2020-01-05", "'01-05'" },
      { "..7x", "'7x'" }, { "90-5", "the range '90-5' ends before it starts" },
      { "9007199254740993..9007199254740992", "ends before" }, { "nan", "'nan' is not a number" } })
  {
    SCOPED_TRACE(text);
    this->Caught.Errors.clear();
    this->Reader->SetIds(text);
    this->Reader->Update();
    EXPECT_NE(this->Caught.Errors.find(found), std::string::npos) << this->Caught.Errors;
    EXPECT_EQ(this->Reader->GetOutput()->GetNumberOfPoints(), 0);
  }
}

TEST_F(BATReader, regions_are_spheres_slabs_and_oriented_boxes)
{
  const auto place = [this](vtkIdType i)
  {
    std::array<double, 3> p;
    this->Input->GetPoint(i, p.data());
    return p;
  };
  const auto inSphere = [&](vtkIdType i)
  {
    const auto p = place(i);
    const double dx = p[0] - 0.25;
    const double dy = p[1] - 0.5;
    const double dz = p[2] - 0.75;
    return (dx * dx + dy * dy) + dz * dz <= 0.3 * 0.3;
  };
  EXPECT_EQ(this->Load().size(), static_cast<std::size_t>(kCount));
  this->Reader->SetRegion(vtkBATReader::SPHERE);
  this->Reader->SetRegionCenter(0.25, 0.5, 0.75);
  this->Reader->SetRegionRadius(0.3);
  EXPECT_EQ(this->Load(), this->Expected(inSphere));
  this->Reader->RegionOutsideOn();
  EXPECT_EQ(this->Load(), this->Expected([&](vtkIdType i) { return !inSphere(i); }));
  this->Reader->UseBoxOn();
  this->Reader->SetBox(0.0, 0.5, 0.0, 1.0, 0.0, 1.0);
  this->Reader->AddAttributeRange("mass", "0.5", "");
  EXPECT_EQ(this->Load(),
    this->Expected(
      [&](vtkIdType i) { return !inSphere(i) && place(i)[0] <= 0.5 && i % 100 >= 50; }));
  this->Reader->UseBoxOff();
  this->Reader->ClearAttributeRanges();
  this->Reader->RegionOutsideOff();

  this->Reader->SetRegion(vtkBATReader::SLAB);
  this->Reader->SetRegionNormal(2.0, 0.0, -1.0);
  this->Reader->SetRegionLimits(0.25, 0.75);
  EXPECT_EQ(this->Load(),
    this->Expected(
      [&](vtkIdType i)
      {
        const double along = 2.0 * place(i)[0] - place(i)[2];
        return along >= 0.25 && along <= 0.75;
      }));

  // Turned about y, then x, then z; a quarter turn is exact.
  this->Reader->SetRegion(vtkBATReader::ORIENTED_BOX);
  this->Reader->SetRegionCenter(0.5, 0.5, 0.5);
  this->Reader->SetRegionHalfExtents(0.5, 0.125, 0.25);
  this->Reader->SetRegionRotation(0.0, 0.0, 90.0);
  EXPECT_EQ(this->Load(),
    this->Expected(
      [&](vtkIdType i)
      {
        const auto p = place(i);
        return std::abs(p[0] - 0.5) <= 0.125 && std::abs(p[1] - 0.5) <= 0.5 &&
          std::abs(p[2] - 0.5) <= 0.25;
      }));
  this->Reader->SetRegionRotation(30.0, -40.0, 75.0);
  vtkNew<vtkTransform> back;
  back->RotateZ(75.0);
  back->RotateX(30.0);
  back->RotateY(-40.0);
  back->Inverse();
  EXPECT_EQ(this->Load(),
    this->Expected(
      [&](vtkIdType i)
      {
        const auto p = place(i);
        const double d[3] = { p[0] - 0.5, p[1] - 0.5, p[2] - 0.5 };
        double turned[3];
        back->TransformPoint(d, turned);
        return std::abs(turned[0]) <= 0.5 && std::abs(turned[1]) <= 0.125 &&
          std::abs(turned[2]) <= 0.25;
      }));

  this->Reader->SetRegion(vtkBATReader::SLAB);
  this->Reader->SetRegionNormal(0.0, 0.0, 0.0);
  this->Reader->Update();
  EXPECT_NE(this->Caught.Errors.find("must not be zero"), std::string::npos) << this->Caught.Errors;
  this->Caught.Errors.clear();
  this->Reader->SetRegion(vtkBATReader::SPHERE);
  this->Reader->SetRegionRadius(-1.0);
  this->Reader->Update();
  EXPECT_NE(this->Caught.Errors.find("radius"), std::string::npos) << this->Caught.Errors;
}

TEST_F(BATReader, a_region_and_negation_leave_room_in_the_budget)
{
  this->Reader->SetParticleBudget(1000);
  this->Load();
  const double alone = this->Reader->GetLoadedQuality();
  EXPECT_EQ(alone, 0.05);
  const double radius = this->Reader->GetSuggestedRadius();
  this->Reader->SetRegion(vtkBATReader::SLAB);
  this->Reader->SetRegionLimits(0.5, 0.625);
  const auto slab = this->Load();
  EXPECT_LE(slab.size(), 1000u);
  EXPECT_GT(this->Reader->GetLoadedQuality(), 1.5 * alone);
  EXPECT_LT(this->Reader->GetSuggestedRadius(), radius);
  this->Reader->SetRegion(vtkBATReader::NO_REGION);
  this->Reader->SetIdAttribute("index");
  this->Reader->SetIds("2000..");
  this->Reader->SetIdsMode(vtkBATReader::ALL_BUT_THESE);
  const auto others = this->Load();
  EXPECT_LE(others.size(), 1000u);
  EXPECT_GT(this->Reader->GetLoadedQuality(), 4.0 * alone);
}

TEST_F(BATReader, pieces_are_disjoint_and_add_up_at_every_quality)
{
  for (double quality : { 0.1, 1.0 })
  {
    this->Reader->SetQuality(quality);
    this->Reader->UpdatePiece(0, 1, 0);
    const auto whole = Indices(this->Reader->GetOutput());
    std::set<std::int64_t> all;
    std::size_t sum = 0;
    for (int piece = 0; piece < 3; ++piece)
    {
      this->Reader->UpdatePiece(piece, 3, 0);
      const auto part = Indices(this->Reader->GetOutput());
      EXPECT_GT(part.size(), whole.size() / 6);
      sum += part.size();
      all.insert(part.begin(), part.end());
    }
    EXPECT_EQ(sum, whole.size());
    EXPECT_EQ(all, whole);
  }
}

TEST_F(BATReader, only_selected_arrays_are_read_from_disk)
{
  this->Reader->Update();
  const vtkIdType everything = this->Reader->GetBytesRead();
  EXPECT_EQ(this->Reader->GetOutput()->GetPointData()->GetNumberOfArrays(), 4);

  vtkNew<vtkBATReader> sparse;
  sparse->SetFileName(this->Path.c_str());
  sparse->UpdateInformation();
  sparse->GetPointDataArraySelection()->DisableAllArrays();
  sparse->GetPointDataArraySelection()->EnableArray("mass");
  sparse->Update();
  EXPECT_EQ(sparse->GetOutput()->GetPointData()->GetNumberOfArrays(), 1);
  EXPECT_NE(sparse->GetOutput()->GetPointData()->GetArray("mass"), nullptr);
  EXPECT_LT(sparse->GetBytesRead(), everything / 2);

  sparse->GetPointDataArraySelection()->EnableArray("id"); // modifies the reader
  sparse->Update();
  EXPECT_EQ(sparse->GetOutput()->GetPointData()->GetNumberOfArrays(), 2);
}

TEST_F(BATReader, cells_are_none_or_one_per_particle_or_one_for_all)
{
  this->Reader->Update();
  vtkPolyData* output = this->Reader->GetOutput();
  ASSERT_EQ(output->GetNumberOfVerts(), kCount);
  for (vtkIdType cell : { vtkIdType(0), vtkIdType(17), kCount - 1 })
  {
    ASSERT_EQ(output->GetCellType(cell), VTK_VERTEX);
    ASSERT_EQ(output->GetCellSize(cell), 1);
  }
  this->Reader->SetVertexCells(vtkBATReader::ONE_POLY_VERTEX);
  this->Reader->Update();
  ASSERT_EQ(output->GetNumberOfCells(), 1);
  EXPECT_EQ(output->GetCellType(0), VTK_POLY_VERTEX);
  EXPECT_EQ(output->GetCellSize(0), kCount);
  this->Reader->SetVertexCells(vtkBATReader::NO_CELLS);
  this->Reader->Update();
  EXPECT_EQ(output->GetNumberOfCells(), 0);
  EXPECT_EQ(output->GetNumberOfPoints(), kCount);
}

TEST_F(BATReader, a_rewritten_file_is_read_anew)
{
  EXPECT_EQ(this->Load().size(), static_cast<std::size_t>(kCount));
  Write(Cloud(123), this->Path);
  this->Reader->Modified();
  EXPECT_EQ(this->Load().size(), 123u);
  EXPECT_EQ(this->Reader->GetParticleCount(), 123);
}

TEST_F(BATReader, time_of_the_file_is_offered)
{
  this->Input->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), 2.5);
  Write(this->Input, this->Path);
  this->Reader->UpdateInformation();
  vtkInformation* info = this->Reader->GetOutputInformation(0);
  ASSERT_EQ(info->Length(vtkStreamingDemandDrivenPipeline::TIME_STEPS()), 1);
  EXPECT_EQ(info->Get(vtkStreamingDemandDrivenPipeline::TIME_STEPS())[0], 2.5);
}

TEST_F(BATReader, abort_leaves_nothing_half_loaded)
{
  this->Reader->AddObserver(
    vtkCommand::ProgressEvent, this->Reader.Get(), &vtkBATReader::SetAbortExecuteAndUpdateTime);
  this->Reader->Update();
  EXPECT_EQ(this->Reader->GetOutput()->GetNumberOfPoints(), 0);
  EXPECT_EQ(this->Reader->GetOutput()->GetPointData()->GetNumberOfArrays(), 0);
}

TEST_F(BATReader, print_self_shows_everything)
{
  this->Reader->SetBox(1, 2, 3, 4, 5, 6);
  this->Reader->AddAttributeRange("mass", "0.5", "0.75");
  this->Reader->Update();
  std::ostringstream text;
  this->Reader->Print(text);
  for (const char* word : { "FileName: /", "Quality: 1", "UseBox: off", "Box: 1 2 3 4 5 6",
         "mass: 0.5 to 0.75", "Region: 0", "RegionNormal: 0 0 1", "IdsMode: only these",
         "VertexCells: 1", "PointDataArraySelection", "FileVersion: 1.0", "ParticleCount: 20000",
         "LoadedCount: ", "BytesRead: ", "Bounds: ", "AttributeRangesInfo" })
  {
    EXPECT_NE(text.str().find(word), std::string::npos) << word;
  }
}

TEST_F(BATReader, aliases_are_arrays_like_others)
{
  std::vector<double> points;
  for (vtkIdType i = 0; i < kCount; ++i)
  {
    const double* p = this->Input->GetPoint(i);
    points.insert(points.end(), p, p + 3);
  }
  bat::ParticleView view;
  view.count = kCount;
  view.positions = bat::ArrayView::packed(bat::ScalarType::Float64, 3, points.data());
  auto* ids = vtkTypeInt64Array::SafeDownCast(this->Input->GetPointData()->GetArray("id"));
  view.attributes = { { "id", bat::ArrayView::packed(bat::ScalarType::Int64, 1, ids->GetPointer(0)),
    0, 0 } };
  view.aliases = { { "height", "", 2 }, { "where", "", -1 }, { "number", "id" } };
  bat::write_file(this->Path, view);

  this->Reader->SetQuality(0.25);
  this->Reader->Update();
  this->Reader->SetQuality(1.0); // a step that adds to the loaded particles
  this->Reader->AddAttributeRange("height", "0.25", "0.5");
  this->Reader->Update();
  EXPECT_EQ(this->Caught.Errors, "");
  EXPECT_EQ(this->Reader->GetPointDataArraySelection()->GetNumberOfArrays(), 4);
  vtkPolyData* output = this->Reader->GetOutput();
  vtkIdType expected = 0;
  for (vtkIdType i = 0; i < kCount; ++i)
  {
    const double z = points[static_cast<std::size_t>(3 * i + 2)];
    expected += z >= 0.25 && z <= 0.5;
  }
  ASSERT_EQ(output->GetNumberOfPoints(), expected);
  vtkPointData* data = output->GetPointData();
  auto* numbers = vtkTypeInt64Array::SafeDownCast(data->GetArray("number"));
  ASSERT_TRUE(numbers != nullptr);
  for (vtkIdType i = 0; i < expected; ++i)
  {
    double point[3];
    output->GetPoint(i, point);
    ASSERT_EQ(data->GetArray("height")->GetTuple1(i), point[2]);
    for (int axis = 0; axis < 3; ++axis)
    {
      ASSERT_EQ(data->GetArray("where")->GetComponent(i, axis), point[axis]);
    }
    ASSERT_EQ(
      numbers->GetValue(i), vtkTypeInt64Array::SafeDownCast(data->GetArray("id"))->GetValue(i));
  }
}
