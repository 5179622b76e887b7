// SPDX-License-Identifier: BSD-3-Clause
// The file that a reader has open, and the next one that it will need. Independent of VTK.
#ifndef OpenFile_h
#define OpenFile_h

#include "FileStamp.h"

#include "bat/dataset.hpp"

#include <atomic>
#include <cstdint>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bat_vtk
{
/// A file that stays open. Not thread-safe.
class OpenFile
{
public:
  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  /// Returns the file, which is opened if it is not one of the last few or has changed on disk. A
  /// series inspects other files in between, for their times. Throws bat::Error.
  const bat::Dataset& Get(const std::string& name);
  /// Distinguishes the file of the last Get() from any other opened file; 0 before.
  [[nodiscard]] std::uint64_t Generation() const;
  /// Keeps the file of the last Get() open, however many others are inspected.
  void Keep();
  /// The dataset of the last Get(); null if it failed.
  [[nodiscard]] const bat::Dataset* Current() const;

  /// Opens a file in the background and prefetches the parts that a query needs, so that a Get()
  /// soon after does not wait for the disk. Faults of the file are left for Get() to report.
  /// Attributes are given by name; those that the file lacks are ignored. If another file is being
  /// read ahead, cancels that and does nothing else.
  void ReadAhead(const std::string& name, const bat::Query& query, std::uint64_t budget,
    const std::vector<std::string>& attributes);

private:
  struct Handle
  {
    std::string Name;
    std::optional<FileStamp> Stamp;
    std::optional<bat::Dataset> File;
    std::uint64_t Generation = 0;
  };
  using Flag = std::shared_ptr<std::atomic<bool>>;

  static Handle OpenAhead(const std::string& name, bat::Query query, std::uint64_t budget,
    const std::vector<std::string>& attributes, const Flag& cancelled);

  std::list<Handle> Handles; ///< the last one first; a few
  bool Failed = false;       ///< the last Get()
  std::uint64_t Opened = 0;
  std::uint64_t Kept = 0;
  std::string NextName;
  Flag Cancelled;
  std::future<Handle> Next; ///< last: waits for its thread before the rest goes
};
}

#endif
