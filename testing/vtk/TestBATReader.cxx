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

#include <cmath>
#include <set>
#include <sstream>
#include <vector>

using namespace vtk_support;

namespace
{
constexpr vtkIdType kCount = 20000;
constexpr std::int64_t kBigId = 9007199254740993; // 2^53 + 1 is no double

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
  EXPECT_STREQ(this->Reader->GetFileVersion(), "1.2");
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
  Messages said(lost);
  lost->SetFileName(plain.c_str());
  lost->SetIds("1");
  lost->Update();
  EXPECT_NE(said.Errors.find("index"), std::string::npos) << said.Errors;
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
  for (const char* word :
    { "FileName: /", "Quality: 1", "UseBox: off", "Box: 1 2 3 4 5 6", "mass: 0.5 to 0.75",
      "VertexCells: 1", "PointDataArraySelection", "FileVersion: 1.2", "ParticleCount: 20000",
      "LoadedCount: ", "BytesRead: ", "Bounds: ", "AttributeRangesInfo" })
  {
    EXPECT_NE(text.str().find(word), std::string::npos) << word;
  }
}
