// SPDX-License-Identifier: BSD-3-Clause
// Estimates how many particles the settings of a panel will match, while they are edited.
#ifndef pqBATMatchEstimate_h
#define pqBATMatchEstimate_h

#include "pqCount.h"
#include "pqPendingReader.h"

/// Reads a few MiB of the file.
class pqBATMatchEstimate : public pqPendingReader
{
  Q_OBJECT

public:
  explicit pqBATMatchEstimate(vtkSMProxy* reader, QObject* parentObject = nullptr)
    : pqPendingReader(reader, { "MatchEstimate", "MatchError", "EstimateMatches" }, parentObject)
  {
  }

  bool isKnown() const { return this->answer().size() == 3; }
  pqCount count() const
  {
    const std::vector<double>& counts = this->answer();
    return this->isKnown() ? pqCount{ counts[0], counts[1], counts[2] } : pqCount{};
  }

private:
  Q_DISABLE_COPY(pqBATMatchEstimate)
};

#endif
