// SPDX-License-Identifier: BSD-3-Clause
#include "conduit_api.hpp"

#include "bat/catalyst_bat.h"
#include "failure.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include <dlfcn.h>

namespace bat::catalyst
{
namespace
{
// libcatalyst renames the functions of its bundled Conduit; if built with an external Conduit, it
// uses the plain names.
constexpr std::array kPrefixes = { "catalyst_", "" };

void* find(const char* prefix, const std::string& function) noexcept
{
  return find_symbol({ "libcatalyst.so.3", "libcatalyst.so" }, (prefix + function).c_str());
}

[[noreturn]] void refuse(const std::string& what)
{
  throw Failure(CATALYST_BAT_NO_CONDUIT, ErrorCode::NotFound, what);
}

// All functions need the same prefix: nodes from one Conduit are meaningless to another.
const char* prefix_here()
{
  for (const char* prefix : kPrefixes)
  {
    if (find(prefix, "conduit_node_dtype"))
    {
      return prefix;
    }
  }
  refuse("Conduit is not loaded in this process: neither catalyst_conduit_node_dtype nor "
         "conduit_node_dtype is a symbol of libcatalyst.so.3 or of the program");
}

template <class Function>
void resolve(Function& function, const char* prefix, const char* name)
{
  void* symbol = find(prefix, name);
  if (!symbol)
  {
    refuse(
      fmt::format("the Conduit library of this process lacks the function {}{}", prefix, name));
  }
  function = reinterpret_cast<Function>(symbol);
}

void require_64_bits(const char* prefix)
{
  const auto size = reinterpret_cast<int (*)()>(find(prefix, "conduit_datatype_sizeof_index_t"));
  if (size && size() != sizeof(conduit_index))
  {
    refuse(fmt::format("the Conduit library of this process has {}-byte indexes; required are {} "
                       "bytes",
      size(), sizeof(conduit_index)));
  }
}
}

void* find_symbol(std::initializer_list<const char*> libraries, const char* symbol) noexcept
{
  for (const char* library : libraries)
  {
    if (void* handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD))
    {
      void* found = ::dlsym(handle, symbol);
      ::dlclose(handle); // the count only: whoever loaded it keeps it
      if (found)
      {
        return found;
      }
    }
  }
  return ::dlsym(RTLD_DEFAULT, symbol);
}

ConduitApi find_conduit()
{
  const char* prefix = prefix_here();
  require_64_bits(prefix);
  ConduitApi api;
  resolve(api.has_child, prefix, "conduit_node_has_child");
  resolve(api.child_by_name, prefix, "conduit_node_child_by_name");
  resolve(api.number_of_children, prefix, "conduit_node_number_of_children");
  resolve(api.child, prefix, "conduit_node_child");
  resolve(api.name, prefix, "conduit_node_name");
  resolve(api.dtype, prefix, "conduit_node_dtype");
  resolve(api.element_ptr, prefix, "conduit_node_element_ptr");
  resolve(api.type_id, prefix, "conduit_datatype_id");
  resolve(api.number_of_elements, prefix, "conduit_datatype_number_of_elements");
  resolve(api.stride, prefix, "conduit_datatype_stride");
  resolve(api.endianness_matches_machine, prefix, "conduit_datatype_endianness_matches_machine");
  resolve(api.fetch, prefix, "conduit_node_fetch");
  resolve(api.remove_child_by_name, prefix, "conduit_node_remove_child_by_name");
  resolve(api.append, prefix, "conduit_node_append");
  resolve(api.set_string, prefix, "conduit_node_set_char8_str");
  resolve(api.set_int32, prefix, "conduit_node_set_int32");
  resolve(api.set_int64, prefix, "conduit_node_set_int64");
  resolve(api.set_float64, prefix, "conduit_node_set_float64");
  return api;
}
}
