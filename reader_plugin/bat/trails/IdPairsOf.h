// SPDX-License-Identifier: BSD-3-Clause
// Ids that several particles share.
#ifndef IdPairsOf_h
#define IdPairsOf_h

#include "IdList.h"

#include "bat/bat.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bat_vtk
{
/// The particles in any step that have one of the ids: each id with every value of the second
/// attribute that occurs with it, or with 0 if it occurs nowhere. Ids keep their order. Steps that
/// lack the attributes are ignored, and damaged ones if `skipsDamaged`. Throws bat::Error, also for
/// more than `maximum` pairs.
IdPairs FindIdPairs(const std::vector<bat::SeriesStep>& steps, const std::string& idName,
  const std::string& secondName, const std::vector<bat::Number>& ids, std::size_t maximum,
  bool skipsDamaged);

/// The same for a tracks file, which lists its particles.
IdPairs FindIdPairs(
  const bat::Tracks& tracks, const std::vector<bat::Number>& ids, std::size_t maximum);
}

#endif
