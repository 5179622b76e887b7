// SPDX-License-Identifier: BSD-3-Clause
// The beginning of the paper's library's (libbat's) files: the length of a JSON text, and that
// text.
#pragma once

#include "bat/error.hpp"
#include "bat/file.hpp"
#include "common/fail.hpp"
#include "common/io/random_access_file.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bat::libbat
{
/// Smallest and largest value in float32, as that library records them.
struct FloatRange
{
  float lower = 0;
  float upper = 0;
};

/// An attribute as described in a header.
struct HeaderAttribute
{
  std::string name;
  ScalarType type = ScalarType::Float64;
  /// Empty if the file has null. Values may lie outside: the library omits the last particle added
  /// to the tree, and keeps a range given by the simulation.
  std::optional<FloatRange> range;
};

/// The JSON text of a file, with checked access.
class Header
{
public:
  /// Throws Error: NotABatFile, Truncated, Corrupt.
  explicit Header(const io::RandomAccessFile& file);

  /// Offset of the first byte after the text.
  [[nodiscard]] std::uint64_t end() const noexcept { return this->end_; }
  [[nodiscard]] bool has(std::string_view key) const;
  // The following throw Error{Corrupt} if the key is missing or something else.
  [[nodiscard]] std::uint64_t count(const char* key) const;
  [[nodiscard]] std::string text(const char* key) const;
  [[nodiscard]] bool flag(const char* key) const; ///< false if missing
  [[nodiscard]] std::vector<HeaderAttribute> attributes() const;
  /// x, y, z of the lower corner, then of the upper; nothing if one of them is null.
  [[nodiscard]] std::optional<std::array<float, 6>> bounds() const;

private:
  const nlohmann::json& at(const char* key) const;
  std::optional<float> number(const nlohmann::json& value, const std::string& what) const;

  std::string file_; ///< name, for messages
  nlohmann::json json_;
  std::uint64_t end_ = 0;
};
}
