// SPDX-License-Identifier: BSD-3-Clause
// The interface through which a time series reader uses its inner reader of one file. Independent
// of VTK.
#ifndef SeriesMember_h
#define SeriesMember_h

#include <string>

class vtkMultiProcessController;

namespace bat_vtk
{
class SeriesMember
{
public:
  virtual ~SeriesMember() = default;
  SeriesMember(const SeriesMember&) = delete;
  SeriesMember& operator=(const SeriesMember&) = delete;

  /// Processes that update the parts of one output together; null for none.
  virtual void SetController(vtkMultiProcessController* controller) = 0;
  /// Updates fail with this error (of vtkErrorCode), until the text is empty or null. Not a change
  /// of a setting.
  virtual void Refuse(unsigned long code, const char* text) = 0;
  /// Opens another file of the series in the background, if that helps.
  virtual void ReadAhead(const char* fileName) = 0;
  /// True if the open file has no particles and does not define the columns that the series will
  /// have.
  virtual bool LacksColumns() const { return false; }
  /// Takes the columns from another file of the series if it defines more.
  virtual void LearnColumns(const char*) {}
  /// The warning after an update that loaded less than requested, to stay within a budget;
  /// otherwise empty.
  virtual std::string GetCutByBudget() const = 0;

protected:
  SeriesMember() = default;
};
}

#endif
