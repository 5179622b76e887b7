// The file that a reader has open, and the next one that it will be asked for. Knows no VTK.
#ifndef OpenFile_h
#define OpenFile_h

#include "bat/dataset.hpp"

#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <vector>

namespace bat_vtk
{
/// Tells one state of a file on disk from another: a rewritten file has another inode, time or size.
struct FileStamp
{
  std::filesystem::file_time_type Time;
  std::uintmax_t Size = 0;
  std::uint64_t Inode = 0;

  bool operator==(const FileStamp& other) const;
};

/// Not thread-safe.
class OpenFile
{
public:
  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// The file, opened if it is another one than last time or has changed on disk. Throws bat::Error.
  const bat::Dataset& Get(const std::string& name);
  /// Changes whenever Get() opens a file; 0 before.
  [[nodiscard]] std::uint64_t Generation() const { return this->Opened; }
  /// Null if the last Get() failed.
  [[nodiscard]] const bat::Dataset* Current() const;

  /// Opens a file in the background and asks the system for what a query needs of it, so that a
  /// Get() that follows soon does not wait for the disk. What is wrong with it is left for Get()
  /// to say. Attributes are given by name; those that the file lacks are ignored. Does nothing
  /// while another file is being read ahead.
  void ReadAhead(const std::string& name, const bat::Query& query, std::uint64_t budget,
    const std::vector<std::string>& attributes);

private:
  struct Handle
  {
    std::string Name;
    std::optional<FileStamp> Stamp;
    std::optional<bat::Dataset> File;
  };

  Handle Now;
  std::uint64_t Opened = 0;
  std::string NextName;
  std::future<Handle> Next; ///< last: waits for its thread before the rest goes
};
}

#endif
