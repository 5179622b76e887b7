// SPDX-License-Identifier: BSD-3-Clause
// Parses ids as typed by a user.
#ifndef IdList_h
#define IdList_h

#include "bat/query.hpp"
#include "bat/types.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bat_vtk
{
/// Numbers and ranges as vtkBATReader::SetIds describes them. Throws bat::Error.
bat::AttributeValues ParseIds(const std::string& text);

/// The same with each number of a range listed: numbers first. Throws bat::Error also for ranges
/// without an end or with ends that are not integers, and for more than `maximum` numbers.
std::vector<bat::Number> ListIds(const std::string& text, std::size_t maximum);

/// Ids that are unique together with a second attribute.
struct IdPairs
{
  std::vector<bat::Number> First;
  std::vector<bat::Number> Second;
};

/// Pairs such as "5:0", with blanks or commas between them. Throws bat::Error.
IdPairs ParseIdPairs(const std::string& text);
}

#endif
