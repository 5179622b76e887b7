// SPDX-License-Identifier: BSD-3-Clause
#include "domains.hpp"

#include "names.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bat::catalyst
{
namespace
{
[[noreturn]] void refuse(const std::string& what)
{
  throw Error(ErrorCode::InvalidArgument, what);
}

// Nodes of one of several domains, or of the only one.
bool is_domain(const Node& mesh)
{
  constexpr std::array names = { "coordsets", "topologies", "fields", "state", "matsets",
    "specsets", "adjsets", "nestsets" };
  return std::any_of(
    names.begin(), names.end(), [&](const char* name) { return mesh.find(name).has_value(); });
}

// True for the domain of a rank without a box, which WarpX publishes without species names.
bool is_placeholder(const std::string& domain)
{
  return domain.rfind("domain_x", 0) == 0;
}

bool has_domains(const Node& mesh)
{
  for (std::size_t i = 0; i != mesh.size(); ++i)
  {
    const Node child = mesh.child(i);
    if (!child.is_empty() && !is_domain(child))
    {
      refuse(fmt::format(
        "{} is neither a mesh nor a domain: it has no coordsets and topologies", child.path()));
    }
  }
  return mesh.size() != 0;
}

void add_mesh(std::vector<DomainNode>& domains, const Node& mesh, const std::string& name)
{
  if (is_domain(mesh))
  {
    domains.push_back({ mesh, name });
  }
  else if (has_domains(mesh))
  {
    for (std::size_t i = 0; i != mesh.size(); ++i)
    {
      const Node domain = mesh.child(i);
      domains.push_back({ domain, name, mesh.is_object() && is_placeholder(domain.name()) });
    }
  }
  else if (!mesh.is_empty() && !mesh.is_object() && !mesh.is_list())
  {
    refuse(fmt::format("{} has type {}; it must be a mesh", mesh.path(), mesh.type_name()));
  }
}
}

// Meshes that simulations split up have names of pieces.
std::vector<DomainNode> domains_in(const Node& data, bool is_multimesh)
{
  std::vector<DomainNode> domains;
  if (!is_multimesh)
  {
    add_mesh(domains, data, "");
    return domains;
  }
  for (std::size_t i = 0; i != data.size(); ++i)
  {
    const Node mesh = data.child(i);
    const std::string name = data.is_list() ? std::to_string(i) : mesh.name();
    const std::string whole = parse_mesh(name, mesh.find("state/domain_id").has_value());
    if (is_placeholder(name) && is_domain(mesh))
    {
      domains.push_back({ mesh, whole, true });
    }
    else
    {
      add_mesh(domains, mesh, whole);
    }
  }
  return domains;
}
}
