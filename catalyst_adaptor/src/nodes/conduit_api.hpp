// SPDX-License-Identifier: BSD-3-Clause
// The Conduit C functions that the adaptor calls. They are looked up in the running process,
// because the simulation's libcatalyst determines the Conduit in use and its symbol names.
#pragma once

#include <cstdint>
#include <initializer_list>

// Opaque types, as in Conduit's headers.
struct conduit_node_impl;
struct conduit_datatype_impl;

namespace bat::catalyst
{
using conduit_node = conduit_node_impl;
using conduit_datatype = conduit_datatype_impl;
using conduit_index = std::int64_t;

/// Type numbers in conduit_datatype_id.
enum class ConduitType : std::int64_t
{
  Empty = 0,
  Object = 1,
  List = 2,
  Int8 = 3,
  Int16 = 4,
  Int32 = 5,
  Int64 = 6,
  UInt8 = 7,
  UInt16 = 8,
  UInt32 = 9,
  UInt64 = 10,
  Float32 = 11,
  Float64 = 12,
  Char8Str = 13
};

struct ConduitApi
{
  int (*has_child)(const conduit_node*, const char*) = nullptr;
  conduit_node* (*child_by_name)(conduit_node*, const char*) = nullptr;
  conduit_index (*number_of_children)(conduit_node*) = nullptr;
  conduit_node* (*child)(conduit_node*, conduit_index) = nullptr;
  char* (*name)(const conduit_node*) = nullptr; ///< result must be freed
  const conduit_datatype* (*dtype)(const conduit_node*) = nullptr;
  void* (*element_ptr)(conduit_node*, conduit_index) = nullptr;

  conduit_index (*type_id)(const conduit_datatype*) = nullptr;
  conduit_index (*number_of_elements)(const conduit_datatype*) = nullptr;
  conduit_index (*stride)(const conduit_datatype*) = nullptr;
  int (*endianness_matches_machine)(const conduit_datatype*) = nullptr;

  conduit_node* (*fetch)(conduit_node*, const char*) = nullptr; ///< makes it if it is missing
  void (*remove_child_by_name)(conduit_node*, const char*) = nullptr;
  conduit_node* (*append)(conduit_node*) = nullptr;
  void (*set_string)(conduit_node*, const char*) = nullptr;
  void (*set_int32)(conduit_node*, std::int32_t) = nullptr;
  void (*set_int64)(conduit_node*, std::int64_t) = nullptr;
  void (*set_float64)(conduit_node*, double) = nullptr;
};

/// The functions in this process. Loads nothing. Throws Failure{CATALYST_BAT_NO_CONDUIT}, naming
/// the first missing one, also if this Conduit uses 32-bit counts.
[[nodiscard]] ConduitApi find_conduit();

/// Finds a symbol among the libraries of this process: in those named by `libraries`, if they are
/// loaded, then in the global scope. Null if not found. Loads nothing.
[[nodiscard]] void* find_symbol(
  std::initializer_list<const char*> libraries, const char* symbol) noexcept;
}
