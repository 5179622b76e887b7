// SPDX-License-Identifier: BSD-3-Clause
// What goes through writer and reader comes back: types, components, roles, bits.
#include "vtk_support.hpp"

#include "vtkBATScalarTypes.h"

#include "vtkBitArray.h"
#include "vtkCellArray.h"
#include "vtkIdTypeArray.h"
#include "vtkInformation.h"
#include "vtkIntArray.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkUnsignedCharArray.h"

#include <cstring>
#include <limits>
#include <vector>

using namespace vtk_support;

namespace
{
const std::vector<int> kTypes = { VTK_BIT, VTK_CHAR, VTK_SIGNED_CHAR, VTK_UNSIGNED_CHAR, VTK_SHORT,
  VTK_UNSIGNED_SHORT, VTK_INT, VTK_UNSIGNED_INT, VTK_LONG, VTK_UNSIGNED_LONG, VTK_LONG_LONG,
  VTK_UNSIGNED_LONG_LONG, VTK_ID_TYPE, VTK_FLOAT, VTK_DOUBLE };

// Random bytes: every bit pattern, NaN payloads and negative zeros included.
vtkSmartPointer<vtkDataArray> RandomArray(int type, int components, vtkIdType n, unsigned seed)
{
  vtkSmartPointer<vtkDataArray> array;
  array.TakeReference(vtkDataArray::CreateDataArray(type));
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(n);
  std::mt19937 random(seed);
  if (auto* bits = vtkBitArray::SafeDownCast(array))
  {
    for (vtkIdType i = 0; i < n * components; ++i)
    {
      bits->SetValue(i, static_cast<int>(random() % 2));
    }
    return array;
  }
  auto* bytes = static_cast<unsigned char*>(array->GetVoidPointer(0));
  const std::size_t size = static_cast<std::size_t>(n) * components * array->GetDataTypeSize();
  for (std::size_t i = 0; i < size; ++i)
  {
    bytes[i] = static_cast<unsigned char>(random());
  }
  return array;
}

void ExpectSameTuple(vtkDataArray* a, vtkIdType i, vtkDataArray* b, vtkIdType k)
{
  const int components = a->GetNumberOfComponents();
  if (auto* bits = vtkBitArray::SafeDownCast(a))
  {
    auto* other = vtkBitArray::SafeDownCast(b);
    for (int c = 0; c < components; ++c)
    {
      ASSERT_EQ(bits->GetValue(i * components + c), other->GetValue(k * components + c));
    }
    return;
  }
  ASSERT_EQ(0,
    std::memcmp(a->GetVoidPointer(i * components), b->GetVoidPointer(k * components),
      static_cast<std::size_t>(components) * a->GetDataTypeSize()));
}

std::string NameOf(int type, int components)
{
  return std::string(vtkImageScalarTypeNameMacro(type)) + "_" + std::to_string(type) + "_" +
    std::to_string(components);
}
}

TEST(BATRoundTrip, every_scalar_type_with_1_3_and_9_components_keeps_type_and_bits)
{
  const TempDir folder;
  const vtkIdType n = 1000;
  auto cloud = Cloud(n);
  unsigned seed = 10;
  for (int type : kTypes)
  {
    for (int components : { 1, 3, 9 })
    {
      AddArray(cloud->GetPointData(), RandomArray(type, components, n, ++seed),
        NameOf(type, components).c_str());
    }
  }
  Write(cloud, folder / "types.bat");
  auto back = Read(folder / "types.bat");
  const auto places = PlacesByIndex(back);
  ASSERT_EQ(places.size(), 1000u);
  ASSERT_EQ(back->GetPointData()->GetNumberOfArrays(), cloud->GetPointData()->GetNumberOfArrays());
  for (int a = 0; a < cloud->GetPointData()->GetNumberOfArrays(); ++a)
  {
    vtkDataArray* in = cloud->GetPointData()->GetArray(a);
    vtkDataArray* out = back->GetPointData()->GetArray(a);
    ASSERT_STREQ(out->GetName(), in->GetName());
    EXPECT_EQ(out->GetDataType(), in->GetDataType()) << in->GetName();
    EXPECT_STREQ(out->GetClassName(), in->GetClassName());
    ASSERT_EQ(out->GetNumberOfComponents(), in->GetNumberOfComponents());
    for (vtkIdType i = 0; i < n; ++i)
    {
      ExpectSameTuple(in, i, out, places.at(i));
    }
  }
}

TEST(BATRoundTrip, structure_of_arrays_comes_back_as_array_of_structures)
{
  const TempDir folder;
  const vtkIdType n = 500;
  auto cloud = Cloud(n);
  vtkNew<vtkSOADataArrayTemplate<double>> soa;
  soa->SetNumberOfComponents(3);
  soa->SetNumberOfTuples(n);
  for (vtkIdType i = 0; i < n; ++i)
  {
    for (int c = 0; c < 3; ++c)
    {
      soa->SetTypedComponent(i, c, 10.0 * static_cast<double>(i) + c);
    }
  }
  AddArray(cloud->GetPointData(), soa, "velocity");

  vtkNew<vtkSOADataArrayTemplate<float>> positions;
  positions->SetNumberOfComponents(3);
  positions->SetNumberOfTuples(n);
  for (vtkIdType i = 0; i < n; ++i)
  {
    double p[3];
    cloud->GetPoint(i, p);
    for (int c = 0; c < 3; ++c)
    {
      positions->SetTypedComponent(i, c, static_cast<float>(p[c]));
    }
  }
  auto expected = Cloud(n);
  cloud->GetPoints()->SetData(positions);

  Write(cloud, folder / "soa.bat");
  auto back = Read(folder / "soa.bat");
  for (const auto& [index, place] : PlacesByIndex(back))
  {
    double p[3];
    expected->GetPoint(index, p);
    const double* q = back->GetPoint(place);
    EXPECT_EQ(p[0], q[0]);
    EXPECT_EQ(p[2], q[2]);
    double* v = back->GetPointData()->GetArray("velocity")->GetTuple3(place);
    EXPECT_EQ(v[0], 10.0 * static_cast<double>(index));
    EXPECT_EQ(v[2], 10.0 * static_cast<double>(index) + 2);
  }
}

TEST(BATRoundTrip, positions_keep_float_and_double_and_become_double_from_integers)
{
  const TempDir folder;
  for (int type : { VTK_FLOAT, VTK_DOUBLE })
  {
    auto cloud = Cloud(300, type);
    Write(cloud, folder / "p.bat");
    auto back = Read(folder / "p.bat");
    EXPECT_EQ(back->GetPoints()->GetDataType(), type);
    for (const auto& [index, place] : PlacesByIndex(back))
    {
      ExpectSameTuple(cloud->GetPoints()->GetData(), index, back->GetPoints()->GetData(), place);
    }
  }
  auto cloud = Cloud(300, VTK_INT);
  for (int i = 0; i < 300; ++i)
  {
    cloud->GetPoints()->SetPoint(i, i, 2 * i, -i);
  }
  Write(cloud, folder / "i.bat");
  auto back = Read(folder / "i.bat");
  EXPECT_EQ(back->GetPoints()->GetDataType(), VTK_DOUBLE);
  for (const auto& [index, place] : PlacesByIndex(back))
  {
    EXPECT_EQ(back->GetPoint(place)[2], -static_cast<double>(index));
  }
}

TEST(BATRoundTrip, roles_of_arrays_come_back)
{
  const TempDir folder;
  const vtkIdType n = 50;
  auto cloud = Cloud(n);
  vtkPointData* data = cloud->GetPointData();
  vtkNew<vtkIdTypeArray> ids;
  vtkNew<vtkFloatArray> mass;
  vtkNew<vtkFloatArray> velocity;
  ids->SetNumberOfValues(n);
  mass->SetNumberOfValues(n);
  velocity->SetNumberOfComponents(3);
  velocity->SetNumberOfTuples(n);
  mass->Fill(1.0);
  velocity->Fill(2.0);
  for (vtkIdType i = 0; i < n; ++i)
  {
    ids->SetValue(i, i);
  }
  ids->SetName("ids");
  mass->SetName("mass");
  velocity->SetName("velocity");
  data->SetGlobalIds(ids);
  data->SetScalars(mass);
  data->SetVectors(velocity);

  Write(cloud, folder / "roles.bat");
  auto back = Read(folder / "roles.bat");
  ASSERT_NE(back->GetPointData()->GetGlobalIds(), nullptr);
  ASSERT_NE(back->GetPointData()->GetScalars(), nullptr);
  ASSERT_NE(back->GetPointData()->GetVectors(), nullptr);
  EXPECT_STREQ(back->GetPointData()->GetGlobalIds()->GetName(), "ids");
  EXPECT_STREQ(back->GetPointData()->GetScalars()->GetName(), "mass");
  EXPECT_STREQ(back->GetPointData()->GetVectors()->GetName(), "velocity");
  EXPECT_EQ(back->GetPointData()->GetNormals(), nullptr);
}

TEST(BATRoundTrip, time_comes_back)
{
  const TempDir folder;
  auto cloud = Cloud(10);
  cloud->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), 0.1);
  Write(cloud, folder / "time.bat");
  auto back = Read(folder / "time.bat");
  ASSERT_TRUE(back->GetInformation()->Has(vtkDataObject::DATA_TIME_STEP()));
  EXPECT_EQ(back->GetInformation()->Get(vtkDataObject::DATA_TIME_STEP()), 0.1);
}

TEST(BATRoundTrip, no_particles_keep_the_names_and_types_of_their_arrays)
{
  const TempDir folder;
  auto cloud = Cloud(0);
  AddArray(cloud->GetPointData(), RandomArray(VTK_UNSIGNED_SHORT, 3, 0, 1), "v");
  Write(cloud, folder / "none.bat");
  auto back = Read(folder / "none.bat");
  EXPECT_EQ(back->GetNumberOfPoints(), 0);
  EXPECT_EQ(back->GetNumberOfCells(), 0);
  ASSERT_NE(back->GetPointData()->GetArray("v"), nullptr);
  EXPECT_EQ(back->GetPointData()->GetArray("v")->GetDataType(), VTK_UNSIGNED_SHORT);
  EXPECT_EQ(back->GetPointData()->GetArray("v")->GetNumberOfComponents(), 3);

  vtkNew<vtkPolyData> nothing; // no vtkPoints at all
  Write(nothing, folder / "nothing.bat");
  EXPECT_EQ(Read(folder / "nothing.bat")->GetNumberOfPoints(), 0);
}

TEST(BATRoundTrip, stored_types_without_a_fitting_host_type_get_the_fixed_size_type)
{
  using bat::ScalarType;
  EXPECT_EQ(bat_vtk::ToVTKType(ScalarType::Int64, VTK_ID_TYPE), VTK_ID_TYPE);
  EXPECT_EQ(bat_vtk::ToVTKType(ScalarType::Int64, VTK_LONG_LONG), VTK_LONG_LONG);
  EXPECT_EQ(bat_vtk::ToVTKType(ScalarType::Int64, 0), VTK_TYPE_INT64);
  EXPECT_EQ(bat_vtk::ToVTKType(ScalarType::Int32, VTK_FLOAT), VTK_TYPE_INT32);
  EXPECT_EQ(bat_vtk::ToVTKType(ScalarType::UInt8, VTK_BIT), VTK_BIT);
  EXPECT_EQ(
    bat_vtk::ToVTKType(ScalarType::Float32, std::numeric_limits<std::uint32_t>::max()), VTK_FLOAT);
  EXPECT_FALSE(bat_vtk::ToScalarType(VTK_STRING));
}
