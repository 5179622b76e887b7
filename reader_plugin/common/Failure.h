// SPDX-License-Identifier: BSD-3-Clause
// An update error with its VTK error code.
#ifndef Failure_h
#define Failure_h

#include "vtkBATErrors.h"

#include "bat/address.hpp"

#include "vtkErrorCode.h"

#include <string>

namespace bat_vtk
{
/// Returns why a file name must not be a property; empty if it may. Properties are saved in state
/// files and traces.
inline std::string FindNameFault(const std::string& fileName)
{
  const std::string secret = bat::find_secret(fileName);
  return secret.empty() ? ""
                        : "the address contains a secret (" + secret +
      "), which state files would show; put users and passwords into ~/.netrc, and keys of S3 into "
      "the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)";
}

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

  /// The text, including the name of the file, which the core adds if it can, without secrets.
  [[nodiscard]] std::string TextWith(const std::string& fileName) const
  {
    const std::string shown = bat::display_name(fileName);
    const bool named = shown.empty() || this->Text.find(shown) != std::string::npos;
    return *this && !named ? shown + ": " + this->Text : this->Text;
  }
};
}

#endif
