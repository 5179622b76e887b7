// bat_info FILE...: what .bat files hold, for people or (--json) for programs. Exit status 1: one
// cannot be read; 2: usage.

#include "bat/bat.hpp"
#include "tools/program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace
{
// JSON has no infinities; a text that says so is better than null.
nlohmann::json to_json(const bat::Number& number)
{
  return std::visit(
    [](auto value) -> nlohmann::json
    {
      if constexpr (std::is_same_v<decltype(value), double>)
      {
        if (!std::isfinite(value))
        {
          return fmt::format("{}", value);
        }
      }
      return value;
    },
    number);
}

std::string key_name(const bat::Attribute& attribute, const bat::Key& key)
{
  if (attribute.components == 1)
  {
    return attribute.name;
  }
  return key.component < 0 ? attribute.name + " (magnitude)"
                           : fmt::format("{}[{}]", attribute.name, key.component);
}

bool is_empty(const bat::Key& key)
{
  return bat::to_double(key.minimum) > bat::to_double(key.maximum);
}

// Metadata as an object; as text if it is none, or so deep that printing it would end the program.
nlohmann::json to_json_object(const std::string& metadata)
{
  constexpr int kMostDepth = 1000;
  int deepest = 0;
  nlohmann::json object = nlohmann::json::parse(
    metadata,
    [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&)
    {
      deepest = std::max(deepest, depth);
      return true;
    },
    false);
  return object.is_object() && deepest <= kMostDepth ? object : nlohmann::json(metadata);
}

nlohmann::json to_json(const std::optional<bat::Box>& box)
{
  return box ? nlohmann::json{ { "lower", box->lower }, { "upper", box->upper } }
             : nlohmann::json();
}

// Those of the dataset. Of several leaf files only these say which sorted indexes there are, all
// the same.
std::vector<bat::Attribute> attributes_of(const bat::Dataset& file)
{
  if (file.single_file())
  {
    return file.attributes();
  }
  for (const bat::LeafInfo& leaf : file.leaves())
  {
    try
    {
      std::vector<bat::Attribute> attributes = file.attributes();
      const bat::File first = bat::File::open(leaf.path);
      for (std::size_t a = 0; a != attributes.size(); ++a)
      {
        for (std::size_t k = 0; k != attributes[a].keys.size(); ++k)
        {
          attributes[a].keys[k].has_sorted_index =
            first.attributes().at(a).keys.at(k).has_sorted_index;
        }
      }
      return attributes;
    }
    catch (const std::exception&)
    {
      // Missing, damaged, or of the paper's library: another may say.
    }
  }
  return file.attributes();
}

nlohmann::json describe(const bat::Dataset& file)
{
  nlohmann::json info;
  info["file"] = file.name();
  info["format_version"] = file.format_version();
  info["file_bytes"] = file.file_bytes();
  info["particles"] = file.particle_count();
  info["bytes_per_particle"] = file.bytes_per_particle();
  info["data_bytes"] = file.data_bytes();
  info["index_bytes"] = file.file_bytes() - file.data_bytes();
  info["position_type"] = bat::name_of(file.position_type());
  info["bounds"] = to_json(file.bounds());
  info["time"] = file.time() ? to_json(*file.time()) : nlohmann::json();
  info["step"] = file.step() ? nlohmann::json(*file.step()) : nlohmann::json();
  info["leaf_files"] = file.leaves().size();
  if (const bat::File* single = file.single_file())
  {
    info["treelets"] = single->treelet_count();
    info["blocks"] = single->block_count();
    info["block_particles"] = single->block_particles();
    info["level_ends"] = single->level_ends();
  }
  else
  {
    for (const bat::LeafInfo& leaf : file.leaves())
    {
      info["leaves"].push_back({ { "file", leaf.path.string() }, { "particles", leaf.particles },
        { "file_bytes", leaf.file_bytes }, { "bounds", to_json(leaf.bounds) } });
    }
  }
  info["attributes"] = nlohmann::json::array();
  for (const bat::Attribute& attribute : attributes_of(file))
  {
    nlohmann::json a{ { "name", attribute.name }, { "type", bat::name_of(attribute.type) },
      { "components", attribute.components } };
    if (attribute.alias)
    {
      a["alias_of"] = bat::to_string(*attribute.alias, file.attributes());
    }
    for (const bat::Key& key : attribute.keys)
    {
      a["keys"].push_back({ { "component", key.component }, { "minimum", to_json(key.minimum) },
        { "maximum", to_json(key.maximum) }, { "has_nan", key.has_nan },
        { "has_sorted_index", key.has_sorted_index } });
    }
    info["attributes"].push_back(std::move(a));
  }
  const std::string metadata = file.metadata();
  info["metadata"] = metadata.empty() ? nlohmann::json() : to_json_object(metadata);
  return info;
}

std::string to_text(const bat::Box& b)
{
  return fmt::format("[{}, {}] x [{}, {}] x [{}, {}]", b.lower[0], b.upper[0], b.lower[1],
    b.upper[1], b.lower[2], b.upper[2]);
}

void print_leaves(const bat::Dataset& file)
{
  constexpr std::size_t kMostLines = 16; // --json has them all
  const std::vector<bat::LeafInfo>& leaves = file.leaves();
  const auto [least, most] = std::minmax_element(leaves.begin(), leaves.end(),
    [](const bat::LeafInfo& a, const bat::LeafInfo& b) { return a.particles < b.particles; });
  fmt::print("  leaf files       {}, of {} to {} particles, mean {:.0f}\n", leaves.size(),
    least->particles, most->particles,
    static_cast<double>(file.particle_count()) / static_cast<double>(leaves.size()));
  const std::size_t lines = std::min(leaves.size(), kMostLines);
  std::size_t missing = 0;
  for (std::size_t i = 0; i != leaves.size(); ++i)
  {
    std::error_code unknown;
    const bool is_missing = !std::filesystem::exists(leaves[i].path, unknown);
    missing += is_missing;
    if (i < lines)
    {
      fmt::print("    {}: {} particles, {} bytes, {}{}\n", leaves[i].path.filename().string(),
        leaves[i].particles, leaves[i].file_bytes,
        leaves[i].bounds ? to_text(*leaves[i].bounds) : std::string("nowhere finite"),
        is_missing ? ", missing" : "");
    }
  }
  if (lines != leaves.size())
  {
    fmt::print("    and {} more (--json lists them all)\n", leaves.size() - lines);
  }
  if (missing != 0)
  {
    fmt::print("    {} of {} leaf files {} missing: the dataset cannot be read in full\n", missing,
      leaves.size(), missing == 1 ? "is" : "are");
  }
}

void print(const bat::Dataset& file)
{
  const double data = static_cast<double>(file.data_bytes());
  const double index = static_cast<double>(file.file_bytes()) - data;
  fmt::print("{}\n", file.name());
  fmt::print("  format version   {}\n", file.format_version());
  fmt::print("  particles        {}\n", file.particle_count());
  fmt::print("  size             {} bytes: data {}, index and checksums {}{}\n", file.file_bytes(),
    file.data_bytes(), file.file_bytes() - file.data_bytes(),
    data > 0 ? fmt::format(" ({:.2f} %)", 100 * index / data) : std::string());
  fmt::print("  positions        3 x {}\n", bat::name_of(file.position_type()));
  if (const auto b = file.bounds())
  {
    fmt::print("  bounds           {}\n", to_text(*b));
  }
  if (file.time())
  {
    fmt::print("  time             {}\n", *file.time());
  }
  if (file.step())
  {
    fmt::print("  step             {}\n", *file.step());
  }
  if (const bat::File* single = file.single_file())
  {
    fmt::print("  tree             {} treelets, {} blocks of {} particles, {} levels\n",
      single->treelet_count(), single->block_count(), single->block_particles(),
      single->level_ends().size());
  }
  else
  {
    print_leaves(file);
  }
  fmt::print("  attributes       {}\n", file.attributes().size());
  for (const bat::Attribute& attribute : attributes_of(file))
  {
    fmt::print("    {}: {} x {}{}\n", attribute.name, attribute.components,
      bat::name_of(attribute.type),
      attribute.alias ? " = " + bat::to_string(*attribute.alias, file.attributes()) : "");
    for (const bat::Key& key : attribute.keys)
    {
      fmt::print("      {}: {}{}{}\n", key_name(attribute, key),
        is_empty(key)
          ? std::string("no values")
          : fmt::format("{} to {}", bat::to_string(key.minimum), bat::to_string(key.maximum)),
        key.has_nan ? ", with NaN" : "", key.has_sorted_index ? ", sorted index" : "");
    }
  }
  const std::string metadata = file.metadata();
  if (!metadata.empty())
  {
    fmt::print("  metadata         {}\n", metadata);
  }
}
}

int main(int argc, char** argv)
{
  CLI::App app("Tells what .bat files hold.", "bat_info");
  app.set_version_flag("--version", std::string("bat_info ") + bat::kLibraryVersion);
  std::vector<std::string> paths;
  bool json = false;
  bat::tools::add_files(app, paths);
  app.add_flag("--json", json, "print one JSON object; of several files, a list of them");
  if (const std::optional<int> status = bat::tools::parse(app, argc, argv))
  {
    return *status;
  }
  return bat::tools::run("bat_info",
    [&]
    {
      const bool one = paths.size() == 1 && !bat::tools::is_series(paths.front());
      nlohmann::json infos = nlohmann::json::array();
      const int status = bat::tools::for_each_file("bat_info", paths,
        [&](const std::string& path)
        {
          const bat::Dataset file = bat::Dataset::open(path);
          if (json)
          {
            infos.push_back(describe(file));
          }
          else
          {
            print(file);
          }
        });
      if (json && !(one && infos.empty()))
      {
        // Bytes that are not UTF-8 can only come from a path; they must not end the program.
        fmt::print("{}\n",
          (one ? infos.front() : infos)
            .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
      }
      return status;
    });
}
