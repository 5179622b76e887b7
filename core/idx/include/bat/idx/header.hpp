// SPDX-License-Identifier: BSD-3-Clause
// The contents of an .idx text: box, fields, order of samples, file names, time steps.
#pragma once

#include "bat/logical_box.hpp"
#include "bat/types.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bat::idx
{
using bat::LogicalBox;

/// The compression of a block.
enum class Codec
{
  Raw,
  Zip, ///< a zlib stream
  Lz4  ///< one bare block of LZ4
};

/// The order of samples in a block.
enum class Layout
{
  RowMajor, ///< x fastest
  HZ        ///< hierarchical Z order: what PIDX and VisIt read
};

/// Maximum size of the text of an .idx file, in bytes.
inline constexpr std::uint64_t kMaxTextBytes = std::uint64_t{ 1 } << 20;
/// Maximum number of components of a field.
inline constexpr int kMaxFieldComponents = 64;

struct Field
{
  std::string name;
  ScalarType type = ScalarType::Float32;
  int components = 1; ///< interleaved
  /// Value of samples whose block is absent; the type of the field can hold it.
  Number default_value = std::int64_t{ 0 };
  /// How new blocks are written. Each block's header records how it was written; arco has no such
  /// headers and uses this value.
  Codec codec = Codec::Raw;
  Layout layout = Layout::RowMajor;
  /// Smallest and largest value of each component according to the writer, or empty. No reader
  /// relies on them.
  std::vector<double> minimum;
  std::vector<double> maximum;

  [[nodiscard]] std::uint64_t sample_bytes() const noexcept
  {
    return tuple_bytes(this->type, this->components);
  }
};

/// first, first + by, ... up to last.
struct StepRange
{
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t by = 1;
};

/// The time steps, and the part of a file's name that contains the step.
struct TimeSteps
{
  std::vector<StepRange> ranges{ {} }; ///< empty with `listed`
  bool listed = false;                 ///< "*": the steps whose folders exist
  std::string name_template;           ///< "time_%04d/"; empty if names have no step
};

/// The checked text of an .idx file (IDX.md section 2). A value type.
struct Header
{
  int version = 6;   ///< 1 to 6
  bool pidx = false; ///< PIDX's dialect, "6.1"
  LogicalBox box;
  std::vector<Field> fields;
  std::string bits;       ///< "V012012": a digit per halving, coarsest first
  int bits_per_block = 0; ///< at most the number of digits in `bits`
  std::uint64_t blocks_per_file = 1;
  std::uint64_t interleave = 1;
  TimeSteps time;
  std::string filename_template;
  /// The box [first, last + 1) as x0 x1 y0 y1 z0 z1.
  std::optional<std::array<double, 6>> physic_box;
  std::optional<std::array<double, 16>> logic_to_physic; ///< row by row
  std::uint64_t arco = 0;  ///< maximum bytes of a one-block file; 0: files of blocks_per_file
  bool big_endian = false; ///< samples; headers always are
  /// If this is a PIDX partition: the position of its sample 0 0 0 in the whole.
  std::array<std::int64_t, 3> partition_offset{};
  std::vector<std::string> axis_names;
  /// A key of this library: the time of each step, in order; empty if steps are times.
  std::vector<double> times;

  /// Returns the digits of `bits`, which is the number of the finest level.
  [[nodiscard]] int levels() const noexcept { return static_cast<int>(this->bits.size()) - 1; }
  /// Returns the number of axes in the text, 1 to 3; the others have one sample, 0.
  int axes = 3;
};

/// Parses the text. `name` is the file name, for messages. Throws Error: NotABatFile if it is not
/// an .idx text, UnsupportedVersion (unsupported features, which are named: IDX.md section 7),
/// Corrupt; each names the line, what was found and what is allowed.
[[nodiscard]] Header parse_header(std::string_view text, const std::string& name);

/// Returns the text that parse_header() reads as the same header.
[[nodiscard]] std::string to_text(const Header& header);
}
