// SPDX-License-Identifier: BSD-3-Clause
// A .bricks file: one time level of a velocity field (core/bricks/BRICKS.md).
#pragma once

#include "bat/brick_source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bat::bricks
{
/// The description that a file gives of itself.
struct Header
{
  BrickGrid grid;
  std::string field; ///< name of the velocity field, UTF-8
  std::optional<double> time;
  std::optional<std::int64_t> step;
  double largest_speed = 0;        ///< largest speed of points without NaN
  std::array<double, 3> minimum{}; ///< per component; +inf where there are no numbers
  std::array<double, 3> maximum{}; ///< -inf where there are no numbers
  std::string metadata;            ///< a JSON object, or empty
};

/// What validate() has checked.
struct Checked
{
  std::uint64_t bricks = 0;
  std::uint64_t blank_bricks = 0; ///< bricks without flow
  std::uint64_t brick_bytes = 0;  ///< stored bytes
  std::uint64_t value_bytes = 0;  ///< bytes of all values
};

/// What the index of a file reports about its bricks.
struct BrickCounts
{
  std::uint64_t bricks = 0;
  std::uint64_t blank = 0;        ///< bricks without flow
  std::uint64_t at_rest = 0;      ///< bricks whose velocities are all 0
  std::uint64_t stored_bytes = 0; ///< stored bytes of the other bricks
};

/// An open file. All data are checked before they are used. Reads refer to the file that was
/// opened, even if another file takes its name. All const functions may be called concurrently.
/// Movable.
class File
{
public:
  /// Reads the header and the texts. Throws Error: NotFound, CannotOpen, NotABatFile,
  /// UnsupportedVersion, Truncated, Corrupt; the text names file, field, what was found and what is
  /// allowed.
  static File open(const std::filesystem::path& path);
  /// Opens a file in memory; `name` is used in messages.
  static File from_memory(std::vector<std::byte> bytes, std::string name);
  /// Returns true if the file begins as one that open() reads or refuses with a reason. Never
  /// throws.
  static bool can_open(const std::filesystem::path& path) noexcept;

  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  ~File();

  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] const Header& header() const noexcept;
  [[nodiscard]] const BrickGrid& grid() const noexcept { return this->header().grid; }
  /// The same for files of one series.
  [[nodiscard]] std::uint64_t grid_id() const noexcept;
  [[nodiscard]] std::uint64_t file_bytes() const noexcept;
  /// Returns whether that file name still leads to the opened file, unchanged.
  [[nodiscard]] bool is_as_opened() const noexcept;

  /// Reads the points of a brick; NaN where there is no flow. Returns the number of bytes read from
  /// the file: none if the index says that all velocities are 0. Throws Error: InvalidArgument (no
  /// such brick), Corrupt, Truncated, CannotOpen, UnsupportedVersion.
  std::uint64_t read(std::uint64_t brick, BrickMemory to) const;
  /// Requests bricks of a remote file that will be read soon, merged into few requests; does
  /// nothing for other files. May wait for the index. Never fails: faults appear when bricks are
  /// read.
  void prefetch(const std::vector<std::uint64_t>& bricks) const noexcept;
  /// The same for the bricks that a box of points touches; see read_box().
  void prefetch_box(const std::array<std::int64_t, 3>& first,
    const std::array<std::int64_t, 3>& count) const noexcept;
  /// Returns the stored bytes of a brick; 0 if it has no flow or is at rest. Throws as read().
  [[nodiscard]] std::uint64_t stored_bytes(std::uint64_t brick) const;

  /// Reads the index, 8 bytes per brick. Throws as read().
  [[nodiscard]] BrickCounts count_bricks() const;

  /// Returns the first point of each brick, packed, x fastest: brick_count() values of the grid's
  /// type and components. Throws as read().
  [[nodiscard]] std::vector<std::byte> preview() const;

  /// Reads the points of a box, packed, x fastest: `count` points along each axis from `first`.
  /// Throws as read(), and InvalidArgument unless the box is inside the grid and `bytes` is its
  /// size.
  void read_box(const std::array<std::int64_t, 3>& first, const std::array<std::int64_t, 3>& count,
    void* values, std::size_t bytes, int threads = 0) const;

  /// Checks every byte and every rule. `progress` is called from the calling thread with a fraction
  /// in [0, 1]; false cancels. Throws Error as read(), and Cancelled.
  Checked validate(const std::function<bool(double)>& progress = {}) const;

private:
  struct Impl;
  class Validation;
  explicit File(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};
}
