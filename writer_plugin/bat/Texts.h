// SPDX-License-Identifier: BSD-3-Clause
// Texts that describe the problems with an input.
#ifndef Texts_h
#define Texts_h

#include "bat/error.hpp"

#include <string>
#include <vector>

namespace bat_vtk
{
/// Throws bat::Error{InvalidArgument}.
[[noreturn]] inline void Refuse(const std::string& text)
{
  throw bat::Error(bat::ErrorCode::InvalidArgument, text);
}

inline std::string Quote(const std::string& name)
{
  return "'" + name + "'";
}

/// Joins names with commas; "none" without names.
inline std::string Join(const std::vector<std::string>& names)
{
  std::string text;
  for (const std::string& name : names)
  {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

/// Returns why a data set of this class is refused.
inline std::string CannotBeWritten(const std::string& className)
{
  return "a " + className +
    " cannot be written; particles are points (vtkPointSet) or rows of a table (vtkTable)";
}
}

#endif
