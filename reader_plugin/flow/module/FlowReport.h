// SPDX-License-Identifier: BSD-3-Clause
// Statistics of a filter's runs, for its panel and the field data of its output.
#ifndef FlowReport_h
#define FlowReport_h

#include "bat/flow/trace.hpp"

#include "vtkType.h"

#include <array>
#include <iosfwd>
#include <string>

class vtkFieldData;
class vtkIndent;
class vtkMultiProcessController;

namespace bat_vtk
{
class FlowReport
{
public:
  // Counts from Same on are equal in all processes and are not summed up.
  enum Count
  {
    Touched,
    BytesRead,
    Hits,
    Reads,
    Waits,
    Prefetched,
    PrefetchesUsed,
    PrefetchesWasted,
    Hinted,
    HintsUsed,
    CacheBytes,
    Same,
    Bricks = Same,
    Counts
  };

  /// Adds another run of this process.
  void Add(const bat::flow::Statistics& statistics);

  /// Collective. Replaces this process's counts with those of all processes.
  void SumUp(vtkMultiProcessController* controller);

  [[nodiscard]] vtkTypeInt64 Get(Count count) const { return this->Numbers[count]; }

  void AddTo(vtkFieldData* field) const;
  /// "1,234 of 5,184 bricks (24 %), 45.2 MiB read"
  [[nodiscard]] std::string Text() const;
  void Print(std::ostream& os, vtkIndent indent) const;

private:
  std::array<vtkTypeInt64, Counts> Numbers{};
  double WaitSeconds = 0;
};

/// "1,234,567"
std::string WithThousands(vtkTypeInt64 number);
}

#endif
