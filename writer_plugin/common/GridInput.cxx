// SPDX-License-Identifier: BSD-3-Clause
#include "GridInput.h"

#include "DataFacts.h"
#include "vtkBATArrays.h"
#include "vtkBATScalarTypes.h"

#include "bat/error.hpp"

#include "vtkCellData.h"
#include "vtkDataArray.h"
#include "vtkDataSet.h"
#include "vtkDataSetAttributes.h"
#include "vtkFieldData.h"
#include "vtkImageData.h"
#include "vtkMatrix3x3.h"
#include "vtkPointData.h"
#include "vtkTable.h"
#include "vtkUnsignedCharArray.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>

namespace
{
using bat_vtk::CommonGrid;
using bat_vtk::GridFacts;
using bat_vtk::GridInput;
using bat_vtk::GridPiece;
using bat_vtk::ImagePiece;
using bat_vtk::Missing;
using Extent = std::array<std::int64_t, 6>;

// Maximum deviation of pieces from a common lattice, as a share of a spacing.
constexpr double Tolerance = 1e-3;

// Indexes into GridFacts::Numbers.
constexpr std::size_t HasSamplesAt = 0;
constexpr std::size_t SameOriginAt = 1; // all pieces of the process have one
constexpr std::size_t HasPointDataAt = 2;
constexpr std::size_t HasCellDataAt = 3;
constexpr std::size_t OriginAt = 4;
constexpr std::size_t SpacingAt = 7;
constexpr std::size_t FirstAt = 10; // lowest number, of all extents
constexpr std::size_t LastAt = 13;
constexpr std::size_t LowestAt = 16; // where samples begin and end
constexpr std::size_t HighestAt = 19;
constexpr std::size_t HasStepAt = 22;
constexpr std::size_t StepAt = 23; // exact up to 2^53
constexpr std::size_t HasTimeAt = 24;
constexpr std::size_t TimeAt = 25;

[[noreturn]] void Refuse(const std::string& text)
{
  throw bat::Error(bat::ErrorCode::InvalidArgument, text);
}

std::string In(const ImagePiece& piece)
{
  return piece.Label.empty() ? "" : piece.Label + ": ";
}

Extent ComputeExtent(vtkImageData* image)
{
  int extent[6];
  image->GetExtent(extent);
  return { { extent[0], extent[1], extent[2], extent[3], extent[4], extent[5] } };
}

// Index of coordinates, counted from a corner of `extent`.
std::size_t Place(const Extent& extent, std::int64_t x, std::int64_t y, std::int64_t z)
{
  const std::int64_t nx = extent[1] - extent[0] + 1;
  const std::int64_t ny = extent[3] - extent[2] + 1;
  return static_cast<std::size_t>(x - extent[0] + nx * (y - extent[2] + ny * (z - extent[4])));
}

std::size_t SamplesIn(const Extent& extent)
{
  return Place(extent, extent[1], extent[3], extent[5]) + 1;
}

bool HasArrays(vtkDataSetAttributes* data)
{
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    const char* name = data->GetAbstractArray(i)->GetName();
    if (!name || std::strcmp(name, vtkDataSetAttributes::GhostArrayName()) != 0)
    {
      return true;
    }
  }
  return false;
}

// Calls visit(x, y, z, place) for all samples of an extent.
template <typename F>
void ForEach(const Extent& extent, const F& visit)
{
  std::size_t place = 0;
  for (std::int64_t z = extent[4]; z <= extent[5]; ++z)
  {
    for (std::int64_t y = extent[2]; y <= extent[3]; ++y)
    {
      for (std::int64_t x = extent[0]; x <= extent[1]; ++x)
      {
        visit(x, y, z, place++);
      }
    }
  }
}

// The box of the samples that are not duplicates, if it contains only these; otherwise the whole
// box.
Extent WithoutDuplicates(const Extent& all, const unsigned char* marks, unsigned char duplicate)
{
  Extent own{ { std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(),
    std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(),
    std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min() } };
  std::size_t count = 0;
  ForEach(all,
    [&](std::int64_t x, std::int64_t y, std::int64_t z, std::size_t place)
    {
      if ((marks[place] & duplicate) == 0)
      {
        ++count;
        const std::int64_t at[3] = { x, y, z };
        for (std::size_t axis = 0; axis < 3; ++axis)
        {
          own[2 * axis] = std::min(own[2 * axis], at[axis]);
          own[2 * axis + 1] = std::max(own[2 * axis + 1], at[axis]);
        }
      }
    });
  // A piece of duplicates keeps all of them, because other pieces have the same samples.
  return count == 0 || SamplesIn(own) != count ? all : own;
}

// Adds the place of an image to the facts of a process.
void AddPlace(vtkImageData* image, GridFacts& facts)
{
  auto& numbers = facts.Numbers;
  double origin[3];
  double spacing[3];
  image->GetOrigin(origin);
  image->GetSpacing(spacing);
  const Extent extent = ComputeExtent(image);
  const bool isFirst = numbers[HasSamplesAt] == 0.0;
  numbers[SameOriginAt] = isFirst ? 1.0 : numbers[SameOriginAt];
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const auto first = static_cast<double>(extent[2 * axis]);
    const auto last = static_cast<double>(extent[2 * axis + 1]);
    const double lowest = origin[axis] + first * spacing[axis];
    const double highest = origin[axis] + last * spacing[axis];
    if (isFirst)
    {
      numbers[OriginAt + axis] = origin[axis];
      numbers[SpacingAt + axis] = spacing[axis];
      numbers[FirstAt + axis] = first;
      numbers[LastAt + axis] = last;
      numbers[LowestAt + axis] = lowest;
      numbers[HighestAt + axis] = highest;
      continue;
    }
    if (numbers[OriginAt + axis] != origin[axis])
    {
      numbers[SameOriginAt] = 0.0;
    }
    numbers[FirstAt + axis] = std::min(numbers[FirstAt + axis], first);
    numbers[LastAt + axis] = std::max(numbers[LastAt + axis], last);
    numbers[LowestAt + axis] = std::min(numbers[LowestAt + axis], lowest);
    numbers[HighestAt + axis] = std::max(numbers[HighestAt + axis], highest);
  }
  numbers[HasSamplesAt] = 1.0;
}

// Reads one image as samples.
class PieceReader
{
public:
  PieceReader(const ImagePiece& piece, const CommonGrid& common, Missing missing)
    : Piece(piece)
    , Common(common)
    , Data(common.Cells ? static_cast<vtkDataSetAttributes*>(piece.Image->GetCellData())
                        : piece.Image->GetPointData())
    , All(ComputeExtent(piece.Image))
  {
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      if (common.Cells && !common.Flat[axis])
      {
        --this->All[2 * axis + 1];
        this->Empty = this->Empty || this->All[2 * axis + 1] < this->All[2 * axis];
      }
    }
    if (!this->Empty)
    {
      this->LookAtMarks(missing);
    }
  }

  [[nodiscard]] bool IsEmpty() const { return this->Empty; }

  // Adds the fields of the first piece, or checks that they are the same.
  void Read(GridInput& input, bool isFirst) const
  {
    GridPiece piece;
    this->SetBoxes(piece);
    std::size_t field = 0;
    for (int i = 0; i < this->Data->GetNumberOfArrays(); ++i)
    {
      vtkAbstractArray* any = this->Data->GetAbstractArray(i);
      const std::string name = any->GetName() ? any->GetName() : "";
      if (name == vtkDataSetAttributes::GhostArrayName())
      {
        continue;
      }
      vtkDataArray* array = vtkDataArray::SafeDownCast(any);
      const std::optional<bat::ScalarType> type =
        array ? bat_vtk::ToScalarType(array->GetDataType()) : std::nullopt;
      if (!type || array->GetDataType() == VTK_BIT)
      {
        Refuse(In(this->Piece) + "array '" + name + "' has type " + any->GetDataTypeAsString() +
          "; allowed are integers of 8 to 64 bits, float and double: choose the arrays to write");
      }
      const bat::idx::FieldValues values{ name, *type, array->GetNumberOfComponents(), nullptr };
      if (isFirst)
      {
        input.Fields.push_back(values);
      }
      else if (field >= input.Fields.size() || input.Fields[field].name != name ||
        input.Fields[field].type != *type || input.Fields[field].components != values.components)
      {
        Refuse(In(this->Piece) + "array '" + name +
          "' differs from that of the first block, or is missing there; all blocks of a grid "
          "must have the same arrays");
      }
      ++field;
      piece.Values.push_back(this->ValuesOf(array, *type, input));
    }
    if (field != input.Fields.size())
    {
      Refuse(In(this->Piece) + "has " + std::to_string(field) +
        " arrays, but the first block has " + std::to_string(input.Fields.size()) +
        "; all blocks of a grid must have the same arrays");
    }
    input.Pieces.push_back(std::move(piece));
  }

private:
  // Duplicates are cut off if possible. Hidden samples are a gap.
  void LookAtMarks(Missing missing)
  {
    using Attributes = vtkDataSetAttributes;
    const auto marksOf = [](vtkDataSetAttributes* data)
    { return vtkUnsignedCharArray::SafeDownCast(data->GetArray(Attributes::GhostArrayName())); };
    vtkImageData* image = this->Piece.Image;
    vtkUnsignedCharArray* cells = marksOf(image->GetCellData());
    vtkUnsignedCharArray* points = marksOf(image->GetPointData());
    vtkUnsignedCharArray* marks = this->Common.Cells ? cells : points;
    constexpr unsigned char hiddenPoint = Attributes::HIDDENPOINT;
    constexpr unsigned char hiddenCell = Attributes::HIDDENCELL;
    constexpr unsigned char duplicatePoint = Attributes::DUPLICATEPOINT;
    constexpr unsigned char duplicateCell = Attributes::DUPLICATECELL;
    const unsigned char hidden = this->Common.Cells ? hiddenCell : hiddenPoint;
    const unsigned char duplicate = this->Common.Cells ? duplicateCell : duplicatePoint;
    this->Own = this->All;
    const auto any = [](vtkUnsignedCharArray* array, unsigned char mark)
    {
      return array &&
        std::any_of(array->GetPointer(0), array->GetPointer(0) + array->GetNumberOfValues(),
          [mark](unsigned char value) { return (value & mark) != 0; });
    };
    if (any(points, hiddenPoint) || any(cells, hiddenCell))
    {
      if (missing != Missing::Zero)
      {
        Refuse(In(this->Piece) + "samples are hidden (" +
          std::string(Attributes::GhostArrayName()) +
          "), which files cannot represent; use MissingSamples = Zeros to write them as zeros");
      }
      if (any(marks, hidden))
      {
        this->Hidden = marks->GetPointer(0);
        this->HiddenMark = hidden;
      }
    }
    if (marks && static_cast<std::size_t>(marks->GetNumberOfValues()) == SamplesIn(this->All))
    {
      this->Own = WithoutDuplicates(this->All, marks->GetPointer(0), duplicate);
    }
  }

  void SetBoxes(GridPiece& piece) const
  {
    double origin[3];
    double spacing[3];
    this->Piece.Image->GetOrigin(origin);
    this->Piece.Image->GetSpacing(spacing);
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      const double unit = this->Common.Spacing[axis];
      const std::int64_t count = this->All[2 * axis + 1] - this->All[2 * axis] + 1;
      if (!this->Common.Flat[axis] &&
        !(std::fabs(spacing[axis] - unit) * static_cast<double>(count) <= Tolerance * unit))
      {
        std::ostringstream text;
        text << In(this->Piece) << "spacing " << spacing[axis] << " along "
             << std::string("xyz")[axis] << ", and " << unit
             << " elsewhere; all pieces of a grid must have the same spacing";
        Refuse(text.str());
      }
      std::int64_t shift = 0;
      if (!this->Common.UsesExtents)
      {
        // The position of this piece's sample 0 on the lattice of all pieces.
        const double number = (origin[axis] - this->Common.Origin[axis]) / unit;
        shift = static_cast<std::int64_t>(std::llround(number));
        if (!(std::fabs(number - std::round(number)) <= Tolerance) || std::fabs(number) > 1e15)
        {
          std::ostringstream text;
          text << In(this->Piece) << "lies " << number - std::floor(number)
               << " of a spacing off the samples of other pieces along " << std::string("xyz")[axis]
               << "; all pieces of a grid must lie on one lattice";
          Refuse(text.str());
        }
      }
      piece.Box.lower[axis] = this->Own[2 * axis] + shift;
      piece.Box.upper[axis] = this->Own[2 * axis + 1] + shift;
      piece.Stored.lower[axis] = this->All[2 * axis] + shift;
      piece.Stored.upper[axis] = this->All[2 * axis + 1] + shift;
    }
  }

  // Uses the array's own memory if it is contiguous and nothing is hidden.
  const void* ValuesOf(vtkDataArray* array, bat::ScalarType type, GridInput& input) const
  {
    vtkSmartPointer<vtkDataArray> plain = array;
    if (!bat_vtk::IsPlain(array))
    {
      plain.TakeReference(vtkDataArray::CreateDataArray(array->GetDataType()));
      plain->DeepCopy(array);
    }
    input.Arrays.push_back(plain);
    const auto* values = static_cast<const char*>(plain->GetVoidPointer(0));
    if (!this->Hidden)
    {
      return values;
    }
    const std::size_t bytes = bat::tuple_bytes(type, array->GetNumberOfComponents());
    auto copy = std::make_shared<std::vector<char>>(SamplesIn(this->All) * bytes);
    for (std::size_t place = 0; place < SamplesIn(this->All); ++place)
    {
      if ((this->Hidden[place] & this->HiddenMark) == 0)
      {
        std::memcpy(copy->data() + place * bytes, values + place * bytes, bytes);
      }
    }
    input.Copies.push_back(copy);
    return copy->data();
  }

  const ImagePiece& Piece;
  const CommonGrid& Common;
  vtkDataSetAttributes* Data;
  Extent All; ///< samples of the image
  Extent Own{};
  bool Empty = false;
  const unsigned char* Hidden = nullptr; ///< marks, if any are
  unsigned char HiddenMark = 0;
};
}

//------------------------------------------------------------------------------
std::vector<bat_vtk::ImagePiece> bat_vtk::CollectImages(
  vtkDataObject* input, const std::vector<Leaf>& leaves)
{
  std::vector<ImagePiece> images;
  for (std::size_t i = 0; i < leaves.size(); ++i)
  {
    vtkDataObject* data = leaves[i].Data;
    const std::string label = data == input ? "" : FormatLabel(i, leaves[i].Name);
    vtkImageData* image = vtkImageData::SafeDownCast(data);
    vtkDataSet* other = vtkDataSet::SafeDownCast(data);
    vtkTable* table = vtkTable::SafeDownCast(data);
    const bool isEmpty = other ? other->GetNumberOfPoints() == 0
      : table                  ? table->GetNumberOfRows() == 0
                               : data->GetNumberOfElements(vtkDataObject::POINT) == 0;
    if (isEmpty)
    {
      continue;
    }
    if (!image)
    {
      Refuse((label.empty() ? "" : label + ": ") + "a " + data->GetClassName() +
        " is not a grid with uniform spacing; allowed: images (vtkImageData, vtkUniformGrid)");
    }
    if (!image->GetDirectionMatrix()->IsIdentity())
    {
      Refuse((label.empty() ? "" : label + ": ") +
        "the image is rotated (direction matrix); the axes of a grid must be x, y and z");
    }
    images.push_back({ image, label });
  }
  return images;
}

//------------------------------------------------------------------------------
bat_vtk::GridFacts bat_vtk::CollectFacts(
  vtkDataObject* input, const std::vector<Leaf>& leaves, const std::vector<ImagePiece>& images)
{
  GridFacts facts;
  auto& numbers = facts.Numbers;
  if (const std::optional<std::int64_t> step = StepOf(input, leaves))
  {
    numbers[HasStepAt] = 1.0;
    numbers[StepAt] = static_cast<double>(*step);
  }
  if (const std::optional<double> time = TimeOf(input, leaves))
  {
    numbers[HasTimeAt] = 1.0;
    numbers[TimeAt] = *time;
  }
  for (const ImagePiece& piece : images)
  {
    AddPlace(piece.Image, facts);
    if (HasArrays(piece.Image->GetPointData()))
    {
      numbers[HasPointDataAt] = 1.0;
    }
    if (HasArrays(piece.Image->GetCellData()))
    {
      numbers[HasCellDataAt] = 1.0;
    }
  }
  return facts;
}

//------------------------------------------------------------------------------
bat_vtk::CommonGrid bat_vtk::FindCommonGrid(const std::vector<GridFacts>& all, Samples samples)
{
  CommonGrid common;
  const GridFacts* reference = nullptr;
  GridFacts sum;
  auto& numbers = sum.Numbers;
  for (const GridFacts& facts : all)
  {
    const auto& own = facts.Numbers;
    if (own[HasStepAt] != 0.0 && !common.Step)
    {
      common.Step = static_cast<std::int64_t>(own[StepAt]);
    }
    if (own[HasTimeAt] != 0.0 && !common.Time)
    {
      common.Time = own[TimeAt];
    }
    if (own[HasSamplesAt] == 0.0)
    {
      continue;
    }
    if (!reference)
    {
      reference = &facts;
      numbers = own;
    }
    numbers[HasPointDataAt] = std::max(numbers[HasPointDataAt], own[HasPointDataAt]);
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      if (own[SameOriginAt] == 0.0 || own[OriginAt + axis] != reference->Numbers[OriginAt + axis])
      {
        numbers[SameOriginAt] = 0.0;
      }
      numbers[FirstAt + axis] = std::min(numbers[FirstAt + axis], own[FirstAt + axis]);
      numbers[LastAt + axis] = std::max(numbers[LastAt + axis], own[LastAt + axis]);
      numbers[LowestAt + axis] = std::min(numbers[LowestAt + axis], own[LowestAt + axis]);
      numbers[HighestAt + axis] = std::max(numbers[HighestAt + axis], own[HighestAt + axis]);
    }
  }
  if (!reference)
  {
    return common;
  }
  common.HasSamples = true;
  common.Cells =
    samples == Samples::Cells || (samples == Samples::Automatic && numbers[HasPointDataAt] == 0.0);
  common.UsesExtents = numbers[SameOriginAt] != 0.0 &&
    std::all_of(numbers.begin() + FirstAt, numbers.begin() + FirstAt + 3,
      [](double first) { return first >= 0.0; });
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const double unit = numbers[SpacingAt + axis];
    common.Flat[axis] = numbers[HighestAt + axis] - numbers[LowestAt + axis] < 0.5 * unit;
    // The distance between layers is arbitrary if there is only one.
    common.Spacing[axis] = common.Flat[axis] && !(unit > 0.0) ? 1.0 : unit;
    common.Origin[axis] = common.UsesExtents ? numbers[OriginAt + axis] : numbers[LowestAt + axis];
  }
  return common;
}

//------------------------------------------------------------------------------
std::optional<std::string> bat_vtk::RemarkOnLevel(const std::vector<Leaf>& leaves)
{
  for (const Leaf& leaf : leaves)
  {
    const auto number = [&](const char* name)
    {
      vtkFieldData* field = leaf.Data->GetFieldData();
      vtkDataArray* array = field ? field->GetArray(name) : nullptr;
      return array && array->GetNumberOfValues() == 1 ? array->GetComponent(0, 0) : -1.0;
    };
    const double level = number("level");
    const double requested = number("level_requested");
    if (level >= 0.0 && level < requested)
    {
      std::ostringstream text;
      text << "only level " << level << " of " << requested
           << " is written; to write all, set Memory Per Process of the IDX reader to 0 and wait "
              "until it has refined";
      return text.str();
    }
  }
  return std::nullopt;
}

//------------------------------------------------------------------------------
bat_vtk::GridInput bat_vtk::ConvertGrid(
  const std::vector<ImagePiece>& images, const CommonGrid& common, Missing missing)
{
  GridInput input;
  input.Spacing = common.Spacing;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const double half = common.Cells && !common.Flat[axis] ? 0.5 : 0.0;
    input.Origin[axis] = common.Origin[axis] + half * common.Spacing[axis];
  }
  for (const ImagePiece& image : images)
  {
    const PieceReader reader(image, common, missing);
    if (!reader.IsEmpty())
    {
      reader.Read(input, input.Pieces.empty());
      if (!common.Cells && HasArrays(image.Image->GetCellData()))
      {
        input.Warnings = { "cell data is not written; write it to a separate file with Samples = "
                           "Cells" };
      }
      else if (common.Cells && HasArrays(image.Image->GetPointData()))
      {
        input.Warnings = { "point data is not written; write it to a separate file with Samples "
                           "= Points" };
      }
    }
  }
  if (!input.Pieces.empty() && input.Fields.empty())
  {
    Refuse("no arrays to write");
  }
  return input;
}
