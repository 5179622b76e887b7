// SPDX-License-Identifier: BSD-3-Clause
// A Catalyst 2 loader: finds an implementation by name, then forwards calls to it.
#include "catalyst_host.h"

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace
{
struct Implementation
{
  int version;
  catalyst_status (*initialize)(const conduit_node*);
  catalyst_status (*execute)(const conduit_node*);
  catalyst_status (*finalize)(const conduit_node*);
  catalyst_status (*about)(conduit_node*);
  catalyst_status (*results)(conduit_node*);
};

const Implementation* loaded = nullptr; // for the life of the process

std::string variable(const char* name)
{
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool prefers_environment()
{
  return !variable("CATALYST_IMPLEMENTATION_PREFER_ENV").empty();
}

std::string name_of_implementation(conduit_node* params)
{
  const std::string environment = variable("CATALYST_IMPLEMENTATION_NAME");
  const bool has_node = conduit_node_has_path(params, "catalyst_load/implementation") != 0;
  return has_node && !(prefers_environment() && !environment.empty())
    ? conduit_node_fetch_path_as_char8_str(params, "catalyst_load/implementation")
    : environment;
}

std::vector<std::string> folders_of_nodes(conduit_node* params)
{
  std::vector<std::string> folders;
  if (conduit_node_has_path(params, "catalyst_load/search_paths"))
  {
    conduit_node* paths = conduit_node_fetch(params, "catalyst_load/search_paths");
    for (conduit_index_t i = 0; i != conduit_node_number_of_children(paths); ++i)
    {
      folders.emplace_back(conduit_node_as_char8_str(conduit_node_child(paths, i)));
    }
  }
  return folders;
}

std::vector<std::string> folders_of_environment()
{
  std::vector<std::string> folders;
  std::istringstream paths(variable("CATALYST_IMPLEMENTATION_PATHS"));
  for (std::string folder; std::getline(paths, folder, ':');)
  {
    folders.push_back(folder);
  }
  return folders;
}

std::string folder_beside_this()
{
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(&catalyst_initialize), &info);
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/')) + "/catalyst";
}

void* open_implementation(conduit_node* params, const std::string& name)
{
  std::vector<std::string> folders = folders_of_nodes(params);
  const std::vector<std::string> more = folders_of_environment();
  folders.insert(prefers_environment() ? folders.begin() : folders.end(), more.begin(), more.end());
  folders.push_back(folder_beside_this());
  for (const std::string& folder : folders)
  {
    const std::string file = folder + "/libcatalyst-" + name + ".so";
    if (void* library = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_GLOBAL))
    {
      return library;
    }
  }
  return nullptr;
}

catalyst_status load(conduit_node* params)
{
  const std::string name = name_of_implementation(params);
  if (name.empty())
  {
    return catalyst_status_error_no_implementation;
  }
  void* library = open_implementation(params, name);
  if (!library)
  {
    return catalyst_status_error_not_found;
  }
  const auto* found = static_cast<const Implementation*>(::dlsym(library, "catalyst_api_impl"));
  if (!found)
  {
    return catalyst_status_error_not_catalyst;
  }
  if (found->version != 1)
  {
    return catalyst_status_error_unsupported_version;
  }
  if (!found->initialize || !found->execute || !found->finalize || !found->about || !found->results)
  {
    return catalyst_status_error_incomplete;
  }
  loaded = found;
  return catalyst_status_ok;
}
}

extern "C"
{
  catalyst_status catalyst_initialize(const conduit_node* params)
  {
    const catalyst_status status =
      loaded ? catalyst_status_ok : load(const_cast<conduit_node*>(params));
    return status == catalyst_status_ok ? loaded->initialize(params) : status;
  }
  catalyst_status catalyst_execute(const conduit_node* params)
  {
    return loaded ? loaded->execute(params) : catalyst_status_error_no_implementation;
  }
  catalyst_status catalyst_finalize(const conduit_node* params)
  {
    return loaded ? loaded->finalize(params) : catalyst_status_error_no_implementation;
  }
  catalyst_status catalyst_about(conduit_node* params)
  {
    return loaded ? loaded->about(params) : catalyst_status_error_no_implementation;
  }
  catalyst_status catalyst_results(conduit_node* params)
  {
    return loaded ? loaded->results(params) : catalyst_status_error_no_implementation;
  }
}
