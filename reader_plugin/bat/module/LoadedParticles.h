// SPDX-License-Identifier: BSD-3-Clause
// The particles that a reader has loaded, so that a change loads only new data.
#ifndef LoadedParticles_h
#define LoadedParticles_h

#include "ArrayRanges.h"
#include "GrowingMemory.h"

#include "bat/dataset.hpp"

#include "vtkSmartPointer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

class vtkDataArray;

namespace bat_vtk
{
/// The particles of a query, in the order in which they were loaded. If a query only requests a
/// finer quality than the previous one, its new particles follow the old ones; if it requests
/// another attribute, only that is read.
class LoadedParticles
{
public:
  struct Request
  {
    const bat::Dataset* File = nullptr;
    std::uint64_t Generation = 0; ///< generation of File; if it changes, nothing can be kept
    bat::Query Query;
    std::vector<std::size_t> Attributes; ///< numbers in File
    bool SkipDamaged = false;            ///< skip leaf files that cannot be read
    std::uint64_t MaxRows = 0;           ///< expected maximum, 0 if unknown
    /// Calls the function, which prefetches what is about to be read from a server. May be empty.
    std::function<void(const std::function<void()>&)> Prefetch;
    /// Gets the progress of loading, in [0, 1]; returns false to cancel.
    std::function<bool(double)> Progress;
  };

  /// Returns false if it was cancelled; previously loaded particles then stay, if they can be part
  /// of the answer. Throws bat::Error, after which nothing is loaded.
  bool Load(const Request& request);
  /// True if Load() would add to the loaded particles instead of starting again: the request is
  /// that of the last Load(), except for a quality that is not lower, and no leaf file was left out
  /// for an attribute that is no longer requested.
  [[nodiscard]] bool CanAdd(const Request& request) const;
  /// For several processes, before Load(): opens leaf files at an address, and in process 0 finds
  /// the particles of all processes, if either are few. The others get what it has read. Never
  /// fails: faults show when the files are read.
  void ReadCommon(const Request& request, bool isFirst) const;
  void Clear();

  [[nodiscard]] std::uint64_t Count() const { return this->Rows; }
  [[nodiscard]] double Quality() const { return this->LoadedQuality; }
  /// Shape (Count(), 3). Null if nothing was loaded.
  [[nodiscard]] vtkDataArray* Positions() const { return this->Attribute(PositionColumn); }
  /// Null if it was not requested.
  [[nodiscard]] vtkDataArray* Attribute(std::size_t index) const;
  /// Bounds of the positions (xmin, xmax, ymin, ...), ignoring NaN. Empty if there are no
  /// particles.
  [[nodiscard]] std::optional<std::array<double, 6>> Bounds() const;
  /// Sets VTK's cached ranges of the arrays; VTK discards them when an array is modified.
  void StoreRanges() const;
  /// The load's number, which is unique to these particles, then the number of rows after each of
  /// its steps.
  [[nodiscard]] std::vector<double> NumberedSteps() const;
  /// Why a leaf file was skipped.
  struct Damage
  {
    std::string Text;
    std::size_t Column = QueryColumn; ///< column in which it was found
  };
  static constexpr std::size_t PositionColumn = ~std::size_t(0);
  static constexpr std::size_t QueryColumn = PositionColumn - 1; ///< data that the query needs
  /// The damage in each leaf file.
  [[nodiscard]] const std::map<std::size_t, Damage>& Damaged() const { return this->Bad; }
  /// Makes the next Load() skip these leaf files too.
  void LeaveOut(const std::map<std::size_t, Damage>& damaged);

private:
  struct Column
  {
    vtkSmartPointer<vtkDataArray> Array;
    GrowingMemory Memory; ///< memory of the array, if it is plain
  };
  using ColumnMap = std::map<std::size_t, Column>;
  using OptionsOfColumn = std::function<bat::QueryOptions(std::size_t)>;

  struct Reading
  {
    const bat::Dataset& File;
    const std::function<bool(double)>& Progress;
    double BytesTotal = 1.0;
    double BytesDone = 0.0;
  };

  void Begin(const Request& request);
  OptionsOfColumn MakeOptions(bool skipDamaged, std::mutex& mutex);
  bool LoadNow(const Request& request);
  void DropUnread(std::size_t complete);
  std::uint64_t DropDamaged(bool more);
  void UpdateRanges(const ColumnMap& columns, std::uint64_t oldRows);
  bool ReadColumns(const Request& request, const OptionsOfColumn& options, ColumnMap& columns,
    std::uint64_t oldRows) const;
  bool ReadRows(Reading& reading, std::size_t column, std::uint64_t kept, std::byte* values,
    const bat::QueryOptions& options) const;

  std::uint64_t Generation = 0;
  std::uint64_t Number = 0;
  bat::Query Query;
  bool SkipDamaged = false;
  double LoadedQuality = 0.0;
  std::uint64_t Rows = 0;
  std::vector<bat::DatasetSelection> Steps; ///< one for each quality, coarse to fine
  ColumnMap Columns;
  std::map<std::size_t, ArrayRanges> Ranges; ///< ranges of the columns
  std::map<std::size_t, Damage> Bad;         ///< keys: leaf file
};

}

#endif
