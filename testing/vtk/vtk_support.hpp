// SPDX-License-Identifier: BSD-3-Clause
// Shared code of the VTK class tests: folders, caught messages, small data sets, write and read.
#pragma once

#include "vtkBATReader.h"
#include "vtkBATWriter.h"

#include "vtkCommand.h"
#include "vtkDataArray.h"
#include "vtkDataObject.h"
#include "vtkDoubleArray.h"
#include "vtkErrorCode.h"
#include "vtkExecutive.h"
#include "vtkFloatArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"
#include "vtkTypeInt64Array.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>

namespace vtk_support
{
/// A separate folder for each test, removed at the end.
class TempDir
{
public:
  TempDir()
  {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    this->Path = std::filesystem::temp_directory_path() /
      (std::string("bat_") + info->test_suite_name() + "_" + info->name() + "_" +
        std::to_string(std::random_device()()));
    std::filesystem::create_directories(this->Path);
  }
  ~TempDir() { std::filesystem::remove_all(this->Path); }
  std::string operator/(const std::string& name) const { return (this->Path / name).string(); }

  std::filesystem::path Path;
};

/// Collects what an algorithm and its executive report instead of printing it.
class Messages
{
public:
  explicit Messages(vtkAlgorithm* algorithm)
  {
    for (vtkObject* object :
      { static_cast<vtkObject*>(algorithm), static_cast<vtkObject*>(algorithm->GetExecutive()) })
    {
      object->AddObserver(vtkCommand::ErrorEvent, this, &Messages::OnError);
      object->AddObserver(vtkCommand::WarningEvent, this, &Messages::OnWarning);
    }
  }
  void OnError(vtkObject*, unsigned long, void* text) { this->Errors += static_cast<char*>(text); }
  void OnWarning(vtkObject*, unsigned long, void* text)
  {
    this->Warnings += static_cast<char*>(text);
  }

  std::string Errors;
  std::string Warnings;
};

inline void AddArray(vtkDataSetAttributes* data, vtkAbstractArray* array, const char* name)
{
  array->SetName(name);
  data->AddArray(array);
}

/// `n` random points in the unit cube with their number as int64 attribute "index".
inline vtkSmartPointer<vtkPolyData> Cloud(
  vtkIdType n, int pointType = VTK_FLOAT, std::int64_t firstIndex = 0, unsigned seed = 1)
{
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  vtkNew<vtkPoints> points;
  points->SetDataType(pointType);
  points->SetNumberOfPoints(n);
  vtkNew<vtkTypeInt64Array> index;
  index->SetNumberOfValues(n);
  for (vtkIdType i = 0; i < n; ++i)
  {
    points->SetPoint(i, uniform(random), uniform(random), uniform(random));
    index->SetValue(i, firstIndex + i);
  }
  auto cloud = vtkSmartPointer<vtkPolyData>::New();
  cloud->SetPoints(points);
  AddArray(cloud->GetPointData(), index, "index");
  return cloud;
}

/// Writes without errors, or fails the test.
inline void Write(vtkDataObject* data, const std::string& path)
{
  vtkNew<vtkBATWriter> writer;
  Messages messages(writer);
  writer->SetInputDataObject(data);
  writer->SetFileName(path.c_str());
  EXPECT_EQ(writer->Write(), 1) << messages.Errors;
  EXPECT_EQ(messages.Errors, "");
  EXPECT_EQ(messages.Warnings, "");
}

/// Everything in the file, without errors, or fails the test.
inline vtkSmartPointer<vtkPolyData> Read(const std::string& path)
{
  vtkNew<vtkBATReader> reader;
  Messages messages(reader);
  reader->SetFileName(path.c_str());
  reader->Update();
  EXPECT_EQ(messages.Errors, "");
  EXPECT_EQ(reader->GetErrorCode(), static_cast<unsigned long>(vtkErrorCode::NoError));
  return reader->GetOutput();
}

/// The index of each value of "index" in the output.
inline std::map<std::int64_t, vtkIdType> PlacesByIndex(vtkPolyData* data)
{
  std::map<std::int64_t, vtkIdType> places;
  auto* index = vtkTypeInt64Array::SafeDownCast(data->GetPointData()->GetArray("index"));
  if (index)
  {
    for (vtkIdType i = 0; i < index->GetNumberOfValues(); ++i)
    {
      places[index->GetValue(i)] = i;
    }
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(data->GetNumberOfPoints()));
  return places;
}
}
