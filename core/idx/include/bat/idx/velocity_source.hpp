// SPDX-License-Identifier: BSD-3-Clause
// Presents the time steps of an .idx dataset as an unsteady flow, without conversion.
#pragma once

#include "bat/brick_source.hpp"
#include "bat/idx/dataset.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace bat::idx
{
struct VelocityOptions
{
  /// Names of the velocity fields: one field with 2 or 3 components, or 2 or 3 with one component
  /// each, for x, y, z; all float32, or all float64. Empty selects the only field with 2 or 3
  /// components of these types.
  std::vector<std::string> fields;
  /// Axes along which a last cell leads from the last sample back to the first; .idx files do not
  /// store this.
  std::array<bool, 3> cyclic{};
  int edge = 8; ///< edge of a brick, in samples: BrickGrid::edge
  /// Memory limit for blocks. It is raised to what one read needs: three blocks and their
  /// bookkeeping. Neighbouring samples lie in blocks of all levels, which many bricks share, so
  /// with little memory blocks are read repeatedly. Does not affect results.
  std::uint64_t block_bytes = std::uint64_t{ 128 } << 20;
};

/// Bricks of the finest level. The most recently read blocks stay in memory, unpacked. Absent
/// blocks have no flow: NaN. No file stays open.
class VelocitySource : public BrickSource
{
public:
  /// Reads the text of the dataset. Throws Error: as Dataset::open(); InvalidArgument (naming the
  /// existing fields; a position that origin and spacing cannot express; more samples than a
  /// BrickGrid may have; options), NotFound (no time step exists yet), Corrupt (times that do not
  /// increase).
  static std::shared_ptr<const VelocitySource> open(
    const std::filesystem::path& path, const VelocityOptions& options = {});
  ~VelocitySource() override;

  [[nodiscard]] const BrickGrid& grid() const noexcept override;
  [[nodiscard]] const std::vector<double>& times() const noexcept override;
  [[nodiscard]] std::string level_name(std::size_t level) const override;
  /// Throws Error as Dataset::read(), and InvalidArgument if the level or brick does not exist.
  std::uint64_t read(std::size_t level, std::uint64_t brick, BrickMemory to) const override;

  [[nodiscard]] const Dataset& dataset() const noexcept;
  /// Returns the largest amount of memory used for blocks.
  [[nodiscard]] std::uint64_t max_block_bytes() const;
  /// Return the number of blocks read, counting repetitions, and the number of those that were
  /// absent.
  [[nodiscard]] std::uint64_t blocks_read() const;
  [[nodiscard]] std::uint64_t absent_blocks() const;

private:
  struct Impl;
  explicit VelocitySource(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};
}
