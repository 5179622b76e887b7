// SPDX-License-Identifier: BSD-3-Clause
// Fails to compile if the headers of libcatalyst differ from the adaptor's assumptions.
#include "catalyst_table.hpp"

#include <catalyst.h>
#include <catalyst_impl.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace
{
template <class Result, class Function, class... Arguments>
constexpr bool can_call = std::is_invocable_r_v<Result, Function, Arguments...>;

// Function pointers in the two tables differ only in the names of their types.
template <class Theirs, class Ours>
constexpr bool is_same_member = sizeof(Theirs) == sizeof(Ours) && std::is_pointer_v<Theirs>;

using Theirs = ::catalyst_impl;
using Ours = bat::catalyst::Table;
static_assert(sizeof(Theirs) == sizeof(Ours));
static_assert(offsetof(Theirs, version) == offsetof(Ours, version));
static_assert(offsetof(Theirs, initialize) == offsetof(Ours, initialize));
static_assert(offsetof(Theirs, execute) == offsetof(Ours, execute));
static_assert(offsetof(Theirs, finalize) == offsetof(Ours, finalize));
static_assert(offsetof(Theirs, about) == offsetof(Ours, about));
static_assert(offsetof(Theirs, results) == offsetof(Ours, results));
static_assert(is_same_member<decltype(Theirs::initialize), decltype(Ours::initialize)>);
static_assert(sizeof(enum catalyst_status) == sizeof(int) && catalyst_status_ok == 0);

static_assert(sizeof(conduit_index_t) == sizeof(std::int64_t));
static_assert(CONDUIT_OBJECT_ID == 1 && CONDUIT_LIST_ID == 2 && CONDUIT_INT8_ID == 3 &&
  CONDUIT_UINT64_ID == 10 && CONDUIT_FLOAT64_ID == 12 && CONDUIT_CHAR8_STR_ID == 13);

using Index = conduit_index_t;
static_assert(can_call<int, decltype(&conduit_node_has_child), const conduit_node*, const char*>);
static_assert(
  can_call<conduit_node*, decltype(&conduit_node_child_by_name), conduit_node*, const char*>);
static_assert(can_call<Index, decltype(&conduit_node_number_of_children), conduit_node*>);
static_assert(can_call<conduit_node*, decltype(&conduit_node_child), conduit_node*, Index>);
static_assert(can_call<char*, decltype(&conduit_node_name), const conduit_node*>);
static_assert(
  can_call<const conduit_datatype*, decltype(&conduit_node_dtype), const conduit_node*>);
static_assert(can_call<void*, decltype(&conduit_node_element_ptr), conduit_node*, Index>);
static_assert(can_call<Index, decltype(&conduit_datatype_id), const conduit_datatype*>);
static_assert(
  can_call<Index, decltype(&conduit_datatype_number_of_elements), const conduit_datatype*>);
static_assert(can_call<Index, decltype(&conduit_datatype_stride), const conduit_datatype*>);
static_assert(
  can_call<int, decltype(&conduit_datatype_endianness_matches_machine), const conduit_datatype*>);
static_assert(can_call<conduit_node*, decltype(&conduit_node_fetch), conduit_node*, const char*>);
static_assert(
  can_call<void, decltype(&conduit_node_remove_child_by_name), conduit_node*, const char*>);
static_assert(can_call<conduit_node*, decltype(&conduit_node_append), conduit_node*>);
static_assert(can_call<void, decltype(&conduit_node_set_char8_str), conduit_node*, const char*>);
static_assert(can_call<void, decltype(&conduit_node_set_int32), conduit_node*, conduit_int32>);
static_assert(can_call<void, decltype(&conduit_node_set_int64), conduit_node*, conduit_int64>);
static_assert(can_call<void, decltype(&conduit_node_set_float64), conduit_node*, conduit_float64>);
}
