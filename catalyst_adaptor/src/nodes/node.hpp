// SPDX-License-Identifier: BSD-3-Clause
// Checked access to a Conduit node: Conduit's own typed reads end the process if a path is missing,
// and return garbage if a type differs.
#pragma once

#include "conduit_api.hpp"

#include "bat/types.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bat::catalyst
{
/// The numbers in a leaf: `count` values, `stride_bytes` apart, unaligned, in this machine's byte
/// order. Borrowed from the simulation for the duration of a call.
struct Numbers
{
  ScalarType type = ScalarType::Float64;
  std::uint64_t count = 0;
  std::size_t stride_bytes = 0;
  const std::byte* data = nullptr; ///< not null if count > 0
};

/// Value `i`, converted. `i` is not checked.
[[nodiscard]] double float64_at(const Numbers& numbers, std::uint64_t i) noexcept;
/// Converts a value of an integer type; uint64 beyond int64 wraps around.
[[nodiscard]] std::int64_t int64_at(const Numbers& numbers, std::uint64_t i) noexcept;
[[nodiscard]] bool is_integer(ScalarType type) noexcept;

/// An existing node and the path by which it was reached. Valid during one call of the
/// simulation.
class Node
{
public:
  Node(const ConduitApi& api, const conduit_node* node, std::string path);

  [[nodiscard]] const std::string& path() const noexcept { return this->path_; }
  /// Last part of the path.
  [[nodiscard]] std::string name() const;

  [[nodiscard]] bool is_empty() const { return this->type() == ConduitType::Empty; }
  [[nodiscard]] bool is_object() const { return this->type() == ConduitType::Object; }
  [[nodiscard]] bool is_list() const { return this->type() == ConduitType::List; }
  [[nodiscard]] bool is_string() const { return this->type() == ConduitType::Char8Str; }
  /// "object", "int32", ... for messages.
  [[nodiscard]] std::string type_name() const;

  /// Number of children of an object or list, else 0.
  [[nodiscard]] std::size_t size() const;
  /// Child `i` < size().
  [[nodiscard]] Node child(std::size_t i) const;
  /// The node at a relative path like "a/b", if it exists.
  [[nodiscard]] std::optional<Node> find(std::string_view path) const;
  /// The child of that name, which may contain slashes.
  [[nodiscard]] std::optional<Node> child_named(const std::string& name) const;

  /// The text, if this is one.
  [[nodiscard]] std::optional<std::string> string() const;
  /// The numbers, if this is a leaf of numbers. Throws Error{InvalidArgument}: the byte order is
  /// swapped, the values are at a null pointer, or the stride is negative.
  [[nodiscard]] std::optional<Numbers> numbers() const;

  /// Like find, but throws Error{InvalidArgument} with the names that exist.
  [[nodiscard]] Node require(std::string_view path) const;
  /// The text at `path`. Throws Error{InvalidArgument}if no such node exists or it is not text.
  [[nodiscard]] std::string require_string(std::string_view path) const;
  /// The names of the children: "a, b, c".
  [[nodiscard]] std::string format_child_names() const;

private:
  [[nodiscard]] ConduitType type() const;

  const ConduitApi* api_;
  conduit_node* node_;
  std::string path_;
};
}
