// SPDX-License-Identifier: BSD-3-Clause
#include "vtkIDXWriter.h"

#include "DataFacts.h"
#include "DataLeaves.h"
#include "GridInput.h"
#include "JoinedGrid.h"
#include "WriterRanks.h"

#include "bat/error.hpp"
#include "bat/idx/write.hpp"
#ifdef BAT_WRITER_HAS_MPI
#include "bat/idx/parallel.hpp"
#endif

#include "vtkDataObject.h"
#include "vtkObjectFactory.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

//------------------------------------------------------------------------------
vtkStandardNewMacro(vtkIDXWriter);

namespace
{
constexpr double Mebibyte = 1024.0 * 1024.0;

std::string ToJson(const bat::idx::WriteReport& report)
{
  return "{\"samples\":" + std::to_string(report.samples) +
    ",\"files\":" + std::to_string(report.files) +
    ",\"file_bytes\":" + std::to_string(report.file_bytes) +
    ",\"blocks\":" + std::to_string(report.blocks) + "}";
}

// Array names may contain blanks, field names may not.
void NameFields(bat_vtk::GridInput& grid)
{
  std::vector<std::string> names;
  for (const bat::idx::FieldValues& field : grid.Fields)
  {
    names.push_back(field.name);
  }
  const std::vector<std::string> allowed = bat::idx::allowed_field_names(names);
  for (std::size_t i = 0; i < names.size(); ++i)
  {
    if (allowed[i] != names[i])
    {
      const std::string problem = bat::idx::find_field_name_problem(names[i]);
      grid.Warnings.push_back("array '" + names[i] + "' is written as the field '" + allowed[i] +
        "': its name " + (problem.empty() ? "is that of another one" : problem));
      grid.Fields[i].name = allowed[i];
    }
  }
}

// Collective with an MPI controller. May take the values of `grid`.
bat::idx::WriteReport WriteGrid(const std::filesystem::path& path, bat_vtk::GridInput& grid,
  const bat::idx::WriteOptions& options, [[maybe_unused]] vtkMultiProcessController* controller)
{
#ifdef BAT_WRITER_HAS_MPI
  if (MPI_Comm* communicator = bat_vtk::CommunicatorOf(controller))
  {
    bat::idx::GridPieces pieces;
    pieces.origin = grid.Origin;
    pieces.spacing = grid.Spacing;
    pieces.fields = grid.Fields;
    for (bat_vtk::GridPiece& piece : grid.Pieces)
    {
      pieces.pieces.push_back({ piece.Box, std::move(piece.Values), piece.Stored });
    }
    return bat::idx::write_collective(*communicator, path, pieces, options);
  }
#endif
  const bat_vtk::JoinedGrid joined = bat_vtk::JoinPieces(grid,
    options.missing == bat::idx::MissingSamples::Zero ? bat_vtk::Missing::Zero
                                                      : bat_vtk::Missing::Refuse);
  return bat::idx::write(path, joined.Grid, options);
}
}

//------------------------------------------------------------------------------
void vtkIDXWriter::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Samples: " << this->Samples << "\n";
  os << indent << "Compression: " << this->Compression << "\n";
  os << indent << "ZipLevel: " << this->ZipLevel << "\n";
  os << indent << "Layout: " << this->Layout << "\n";
  os << indent << "BitsPerBlock: " << this->BitsPerBlock << "\n";
  os << indent << "FileSize: " << this->FileSize << "\n";
  os << indent << "MissingSamples: " << this->MissingSamples << "\n";
}

//------------------------------------------------------------------------------
std::int64_t vtkIDXWriter::StepFor(std::int64_t number, const std::optional<double>& time) const
{
  const auto there = this->Written.find(number);
  if (!time || there == this->Written.end() || there->second == time)
  {
    return number;
  }
  const auto same = std::find_if(this->Written.begin(), this->Written.end(),
    [&](const auto& step) { return step.second == time; });
  return same != this->Written.end() ? same->first : this->Written.rbegin()->first + 1;
}

//------------------------------------------------------------------------------
bat::idx::WriteOptions vtkIDXWriter::MakeOptions(int others)
{
  bat::idx::WriteOptions options;
  options.mode = others == KEEP ? bat::idx::WriteMode::AddStep
    : others == KEEP_EARLIER    ? bat::idx::WriteMode::Continue
                                : bat::idx::WriteMode::Replace;
  options.codec = this->Compression == ZIP ? bat::idx::Codec::Zip
    : this->Compression == LZ4             ? bat::idx::Codec::Lz4
                                           : bat::idx::Codec::Raw;
  options.zip_level = this->ZipLevel;
  options.layout = this->Layout == ROW_MAJOR ? bat::idx::Layout::RowMajor : bat::idx::Layout::HZ;
  options.dialect =
    this->Layout == HZ_FOR_PIDX ? bat::idx::Dialect::PIDX : bat::idx::Dialect::OpenVisus;
  options.bits_per_block = this->BitsPerBlock;
  options.file_bytes = static_cast<std::uint64_t>(this->FileSize * Mebibyte);
  options.missing = this->MissingSamples == ZEROS ? bat::idx::MissingSamples::Zero
                                                  : bat::idx::MissingSamples::Refuse;
  options.flush = this->Flush;
  options.threads = this->Threads;
  options.progress = this->Progress();
  return options;
}

//------------------------------------------------------------------------------
std::string vtkIDXWriter::WriteStep()
{
  vtkDataObject* input = this->GetInput();
  const std::vector<bat_vtk::Leaf> leaves = bat_vtk::FindLeaves(input);
  const auto missing =
    this->MissingSamples == ZEROS ? bat_vtk::Missing::Zero : bat_vtk::Missing::Refuse;

  const int others = this->WhatBecomesOfSteps();
  bat::idx::WriteOptions options = this->MakeOptions(others);
  const std::int64_t number = this->WriteAllTimeSteps ? static_cast<std::int64_t>(this->Current)
                                                      : std::max<std::int64_t>(0, this->TimeStep);
  if (const std::optional<std::string> remark = bat_vtk::RemarkOnLevel(leaves))
  {
    this->Warn(*remark);
  }

  const std::filesystem::path path = std::filesystem::u8path(this->FileName);
  std::vector<bat_vtk::ImagePiece> images;
  std::optional<bat::Error> failure =
    bat::attempt([&] { images = bat_vtk::CollectImages(input, leaves); });
  const std::vector<bat_vtk::GridFacts> facts =
    bat_vtk::GatherFacts(this->Controller, bat_vtk::CollectFacts(input, leaves, images));
  const bat_vtk::CommonGrid common =
    bat_vtk::FindCommonGrid(facts, static_cast<bat_vtk::Samples>(this->Samples));
  std::int64_t step = common.Step.value_or(number);
  options.time =
    common.Time ? common.Time : bat_vtk::RequestedTime(this->GetInputInformation(0, 0));
  if (options.mode == bat::idx::WriteMode::Replace || this->WrittenTo != this->FileName)
  {
    this->Written.clear();
    this->WrittenTo = this->FileName;
  }
  if (others != KEEP_EARLIER) // KEEP_EARLIER may return to a number with another time
  {
    step = this->StepFor(step, options.time);
  }
  options.step = step;
  bat_vtk::GridInput grid;
  if (!failure)
  {
    failure = bat::attempt(
      [&]
      {
        grid = bat_vtk::ConvertGrid(images, common, missing);
        NameFields(grid);
      });
  }
  this->Agree(failure, grid.Warnings);
  const bat::idx::WriteReport report = WriteGrid(path, grid, options, this->Controller);
  this->Written[step] = options.time;
  return ToJson(report);
}
