// SPDX-License-Identifier: BSD-3-Clause
#include "InputFacts.h"

#include "DataFacts.h"

#include "bat/query.hpp"

#include "vtkDataArray.h"
#include "vtkDataObject.h"
#include "vtkFieldData.h"

#include <cstdint>
#include <iomanip>
#include <optional>
#include <sstream>
#include <string>

namespace
{
// The sampling described by the BAT reader in its field data.
struct Sample
{
  double Quality;
  double Requested;
  double Count; ///< number of all particles
};

std::optional<Sample> SampleIn(vtkDataObject* data)
{
  const auto number = [&](const char* name)
  {
    vtkDataArray* array = data->GetFieldData() ? data->GetFieldData()->GetArray(name) : nullptr;
    const vtkIdType values = array ? array->GetNumberOfValues() : 0;
    return values == 1 || values == 2 ? array->GetComponent(0, 0) : -1.0; // twice from the reader
  };
  const Sample sample{ number("quality"), number("quality_requested"), number("particle_count") };
  const bool isOne = sample.Quality >= 0.0 && sample.Quality < 1.0 && sample.Count >= 0.0;
  return isOne ? std::optional<Sample>(sample) : std::nullopt;
}

// The metadata record that the file is a sample, so that it is not mistaken for all particles.
std::string FormatMetadata(const Sample& sample)
{
  return R"({"sample":{"quality":)" + bat::to_string(sample.Quality) + R"(,"particle_count":)" +
    bat::to_string(static_cast<std::int64_t>(sample.Count)) + "}}";
}

// Applies if less was loaded than requested.
std::optional<std::string> RemarkOn(const Sample& sample)
{
  if (sample.Quality >= sample.Requested)
  {
    return std::nullopt;
  }
  std::ostringstream text;
  text << "only a sample is written, quality " << sample.Quality << " of " << std::fixed
       << std::setprecision(0) << sample.Count
       << " particles; to write all, set Particle Budget of the BAT reader to 0 and wait until "
          "it has refined";
  return text.str();
}
}

//------------------------------------------------------------------------------
void bat_vtk::ReadFacts(
  vtkDataObject* input, const std::vector<Leaf>& leaves, ConvertedInput& result)
{
  bat::ParticleView& particles = result.Particles;
  particles.time = TimeOf(input, leaves);
  particles.step = StepOf(input, leaves);
  for (const Leaf& leaf : leaves)
  {
    if (const std::optional<Sample> sample = SampleIn(leaf.Data))
    {
      particles.metadata =
        particles.metadata.empty() ? FormatMetadata(*sample) : particles.metadata;
      const std::optional<std::string> remark = RemarkOn(*sample);
      if (remark && result.Warnings.empty())
      {
        result.Warnings.push_back({ "sample", *remark, "", 1 });
      }
    }
  }
}
