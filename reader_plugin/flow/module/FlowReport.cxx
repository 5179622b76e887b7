// SPDX-License-Identifier: BSD-3-Clause
#include "FlowReport.h"

#include "Agreement.h"
#include "FlowFields.h"

#include "bat/free_memory.hpp"

#include "vtkCommunicator.h"
#include "vtkDoubleArray.h"
#include "vtkFieldData.h"
#include "vtkIndent.h"
#include "vtkMultiProcessController.h"
#include "vtkTypeInt64Array.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>

namespace
{
// Names of the counts in the field data.
constexpr std::array<const char*, bat_vtk::FlowReport::Counts> Names = { { "bricks_touched",
  "bytes_read", "hits", "reads", "waits", "prefetched", "prefetches_used", "prefetches_wasted",
  "hinted", "hints_used", "cache_bytes", "bricks" } };
}

namespace bat_vtk
{
//------------------------------------------------------------------------------
void FlowReport::Add(const bat::flow::Statistics& s)
{
  const auto add = [&](Count count, std::uint64_t number)
  { this->Numbers[count] += static_cast<vtkTypeInt64>(number); };
  const auto set = [&](Count count, std::uint64_t number)
  { this->Numbers[count] = static_cast<vtkTypeInt64>(number); };
  add(Touched, s.touched);
  add(BytesRead, s.bytes_read);
  add(Hits, s.hits);
  add(Reads, s.read);
  add(Waits, s.waits);
  add(Prefetched, s.prefetched);
  add(PrefetchesUsed, s.prefetches_used);
  add(PrefetchesWasted, s.prefetches_wasted);
  add(Hinted, s.hinted);
  add(HintsUsed, s.hints_used);
  set(CacheBytes, s.cache_bytes);
  set(Bricks, s.bricks);
  this->WaitSeconds += s.wait_seconds;
}

//------------------------------------------------------------------------------
void FlowReport::SumUp(vtkMultiProcessController* controller)
{
  ReduceSum(controller, this->Numbers.data(), Same);
  if (controller && controller->GetNumberOfProcesses() > 1)
  {
    const double seconds = this->WaitSeconds;
    controller->AllReduce(&seconds, &this->WaitSeconds, 1, vtkCommunicator::SUM_OP);
  }
}

//------------------------------------------------------------------------------
void FlowReport::AddTo(vtkFieldData* field) const
{
  for (std::size_t i = 0; i < Counts; ++i)
  {
    AddNumber<vtkTypeInt64Array>(field, Names[i], this->Numbers[i]);
  }
  const auto share = static_cast<double>(this->Numbers[Touched]) /
    static_cast<double>(std::max<vtkTypeInt64>(this->Numbers[Bricks], 1));
  AddNumber<vtkDoubleArray>(field, "touched_percent", 100 * share);
  AddNumber<vtkDoubleArray>(field, "wait_seconds", this->WaitSeconds);
}

//------------------------------------------------------------------------------
std::string FlowReport::Text() const
{
  const vtkTypeInt64 touched = this->Numbers[Touched];
  const vtkTypeInt64 bricks = std::max<vtkTypeInt64>(this->Numbers[Bricks], 1);
  const double percent = 100.0 * static_cast<double>(touched) / static_cast<double>(bricks);
  std::ostringstream text;
  text << WithThousands(touched) << " of " << WithThousands(this->Numbers[Bricks]) << " bricks ("
       << std::setprecision(2) << percent << " %), "
       << bat::size_text(static_cast<double>(this->Numbers[BytesRead])) << " read";
  return text.str();
}

//------------------------------------------------------------------------------
std::string WithThousands(vtkTypeInt64 number)
{
  std::string text = std::to_string(number);
  const std::size_t first = text[0] == '-' ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;)
  {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

//------------------------------------------------------------------------------
void FlowReport::Print(std::ostream& os, vtkIndent indent) const
{
  for (std::size_t i = 0; i < Counts; ++i)
  {
    os << indent << Names[i] << ": " << this->Numbers[i] << "\n";
  }
}
}
