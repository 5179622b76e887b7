// SPDX-License-Identifier: BSD-3-Clause
// An update error with its VTK error code.
#ifndef Failure_h
#define Failure_h

#include "vtkBATErrors.h"

#include "vtkErrorCode.h"

#include <string>

namespace bat_vtk
{
struct Failure
{
  unsigned long Code = vtkErrorCode::NoError;
  std::string Text;

  /// Returns what f() throws as a failure.
  template <typename F>
  static Failure Of(const F& f)
  {
    try
    {
      f();
    }
    catch (const Failure& failure)
    {
      return failure;
    }
    catch (...)
    {
      const bat::Error error = bat::current_error();
      return { ToVTKErrorCode(error.code()), error.what() };
    }
    return {};
  }
  explicit operator bool() const { return this->Code != vtkErrorCode::NoError; }

  /// The text, including the name of the file, which the core adds if it can.
  [[nodiscard]] std::string TextWith(const std::string& fileName) const
  {
    const bool named = fileName.empty() || this->Text.find(fileName) != std::string::npos;
    return *this && !named ? fileName + ": " + this->Text : this->Text;
  }
};
}

#endif
