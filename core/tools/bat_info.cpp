// SPDX-License-Identifier: BSD-3-Clause
// bat_info FILE...: shows the contents of .bat files and grids, for people or (--json) for
// programs. Exit status 1: one cannot be read; 2: usage.

#include "bat/bat.hpp"
#include "tools/grids.hpp"
#include "tools/program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <system_error>
#include <type_traits>

namespace
{
// JSON has no infinities; a text is better than null.
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

// Returns the metadata as an object; as text if it is not an object, or so deep that printing it
// would end the program.
nlohmann::json to_json_object(const std::string& metadata)
{
  constexpr int kMaxDepth = 1000;
  int deepest = 0;
  nlohmann::json object = nlohmann::json::parse(
    metadata,
    [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&)
    {
      deepest = std::max(deepest, depth);
      return true;
    },
    false);
  return object.is_object() && deepest <= kMaxDepth ? object : nlohmann::json(metadata);
}

nlohmann::json to_json(const std::optional<bat::Box>& box)
{
  return box ? nlohmann::json{ { "lower", box->lower }, { "upper", box->upper } }
             : nlohmann::json();
}

// Properties that only leaf files report and that all leaf files of a dataset share: sorted
// indexes, and how columns are stored.
struct Columns
{
  std::vector<bat::Attribute> attributes;
  std::vector<bat::ColumnStorage> storage; ///< positions, then attributes; nothing if no leaf says

  [[nodiscard]] bool is_compressed() const
  {
    return std::any_of(this->storage.begin(), this->storage.end(),
      [](const bat::ColumnStorage& column) { return column.is_compressed; });
  }
};

Columns make_columns(const bat::Dataset& file)
{
  Columns columns{ file.attributes(), {} };
  for (std::size_t leaf = 0; leaf != file.leaves().size(); ++leaf)
  {
    try
    {
      const bat::File& first = file.leaf_file(leaf);
      std::vector<bat::ColumnStorage> storage{ first.storage({}) };
      for (std::size_t a = 0; a != columns.attributes.size(); ++a)
      {
        storage.push_back(first.storage(a));
        std::vector<bat::Key>& keys = columns.attributes[a].keys;
        for (std::size_t k = 0; k != keys.size(); ++k)
        {
          keys[k].has_sorted_index = first.attributes().at(a).keys.at(k).has_sorted_index;
        }
      }
      columns.storage = std::move(storage);
      break;
    }
    catch (const std::exception&)
    {
      // The file is missing, damaged, or from the paper's library: another one may report it.
    }
  }
  return columns;
}

// Describes array 0, the positions, or 1 + k, attribute k.
nlohmann::json storage_json(const Columns& columns, std::size_t array)
{
  if (columns.storage.empty())
  {
    return nullptr;
  }
  const bat::ColumnStorage& storage = columns.storage[array];
  return { { "compressed", storage.is_compressed }, { "bound", storage.bound },
    { "raw_bytes", storage.raw_bytes }, { "stored_bytes", storage.stored_bytes } };
}

std::string storage_text(const Columns& columns, std::size_t array)
{
  if (columns.storage.empty() || !columns.storage[array].is_compressed)
  {
    return "";
  }
  const bat::ColumnStorage& storage = columns.storage[array];
  const std::string bound =
    storage.bound == 0 ? "lossless" : fmt::format("within {}", storage.bound);
  return storage.stored_bytes == 0
    ? ", " + bound
    : fmt::format(", {}, {:.2f} : 1", bound,
        static_cast<double>(storage.raw_bytes) / static_cast<double>(storage.stored_bytes));
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
  info["position_type"] = bat::name_of(file.position_type());
  info["bounds"] = to_json(file.bounds());
  info["time"] = file.time() ? to_json(*file.time()) : nlohmann::json();
  info["step"] = file.step() ? nlohmann::json(*file.step()) : nlohmann::json();
  info["stable_samples"] = file.stable_samples();
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
  const Columns columns = make_columns(file);
  info["position_storage"] = storage_json(columns, 0);
  if (!columns.is_compressed())
  {
    info["index_bytes"] = file.file_bytes() - file.data_bytes();
  }
  info["hdf5_view"] = nlohmann::json::parse(bat::to_json(file.hdf5_view()));
  for (std::size_t k = 0; k != columns.attributes.size(); ++k)
  {
    const bat::Attribute& attribute = columns.attributes[k];
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
    a["storage"] = storage_json(columns, k + 1);
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
  constexpr std::size_t kMaxLines = 16; // --json has them all
  const std::vector<bat::LeafInfo>& leaves = file.leaves();
  const auto [low, high] = std::minmax_element(leaves.begin(), leaves.end(),
    [](const bat::LeafInfo& a, const bat::LeafInfo& b) { return a.particles < b.particles; });
  fmt::print("  leaf files       {}, with {} to {} particles, mean {:.0f}\n", leaves.size(),
    low->particles, high->particles,
    static_cast<double>(file.particle_count()) / static_cast<double>(leaves.size()));
  const std::size_t lines = std::min(leaves.size(), kMaxLines);
  std::size_t missing = 0;
  for (std::size_t i = 0; i != leaves.size(); ++i)
  {
    std::error_code unknown;
    const bool is_missing = !std::filesystem::exists(leaves[i].path, unknown);
    missing += is_missing;
    if (i < lines)
    {
      fmt::print("    {}: {} particles, {} bytes, {}{}\n",
        bat::printable(leaves[i].path.filename().string()), leaves[i].particles,
        leaves[i].file_bytes,
        leaves[i].bounds ? to_text(*leaves[i].bounds) : std::string("no finite position"),
        is_missing ? ", missing" : "");
    }
  }
  if (lines != leaves.size())
  {
    fmt::print("    and {} more (--json lists all)\n", leaves.size() - lines);
  }
  if (missing != 0)
  {
    fmt::print("    {} of {} leaf files {} missing: the dataset is incomplete\n", missing,
      leaves.size(), missing == 1 ? "is" : "are");
  }
}

void print_size(const bat::Dataset& file, const Columns& columns)
{
  const auto share = [](std::uint64_t bytes, std::uint64_t of)
  {
    return of == 0
      ? std::string()
      : fmt::format(" ({:.2f} %)", 100 * static_cast<double>(bytes) / static_cast<double>(of));
  };
  if (columns.is_compressed())
  {
    fmt::print("  size             {} bytes{} of {} bytes of data\n", file.file_bytes(),
      share(file.file_bytes(), file.data_bytes()), file.data_bytes());
    return;
  }
  const std::uint64_t index = file.file_bytes() - file.data_bytes();
  fmt::print("  size             {} bytes: data {}, index and checksums {}{}\n", file.file_bytes(),
    file.data_bytes(), index, share(index, file.data_bytes()));
}

void print_view(const bat::Hdf5ViewInfo& view)
{
  std::string text = view.exists ? "yes" : "no";
  if (!view.reason.empty())
  {
    text += ", " + view.reason;
  }
  for (const bat::LeftOut& array : view.left_out)
  {
    text +=
      fmt::format(", without {}: {}", bat::printable(array.name), bat::printable(array.reason));
  }
  fmt::print("  HDF5 view        {}\n", text);
}

void print(const bat::Dataset& file)
{
  const Columns columns = make_columns(file);
  fmt::print("{}\n", bat::printable(file.name()));
  fmt::print("  format version   {}\n", file.format_version());
  fmt::print("  particles        {}\n", file.particle_count());
  print_size(file, columns);
  fmt::print(
    "  positions        3 x {}{}\n", bat::name_of(file.position_type()), storage_text(columns, 0));
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
  if (const std::vector<std::string> ids = file.stable_samples(); !ids.empty())
  {
    fmt::print(
      "  stable samples   by {}\n", bat::printable(fmt::format("{}", fmt::join(ids, ", "))));
  }
  print_view(file.hdf5_view());
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
  for (std::size_t a = 0; a != columns.attributes.size(); ++a)
  {
    const bat::Attribute& attribute = columns.attributes[a];
    fmt::print("    {}: {} x {}{}{}\n", bat::printable(attribute.name), attribute.components,
      bat::name_of(attribute.type),
      attribute.alias ? " = " + bat::printable(bat::to_string(*attribute.alias, file.attributes()))
                      : "",
      storage_text(columns, a + 1));
    for (const bat::Key& key : attribute.keys)
    {
      fmt::print("      {}: {}{}{}\n", bat::printable(key_name(attribute, key)),
        is_empty(key)
          ? std::string("no values")
          : fmt::format("{} to {}", bat::to_string(key.minimum), bat::to_string(key.maximum)),
        key.has_nan ? ", with NaN" : "", key.has_sorted_index ? ", sorted index" : "");
    }
  }
  const std::string metadata = file.metadata();
  if (!metadata.empty())
  {
    fmt::print("  metadata         {}\n", bat::printable(metadata, "\n\t"));
  }
}
}

int main(int argc, char** argv)
{
  CLI::App app("Shows what .bat, .bricks and .idx files contain.", "bat_info");
  app.set_version_flag("--version", std::string("bat_info ") + bat::kLibraryVersion);
  std::vector<std::string> paths;
  bool json = false;
  bat::tools::add_files(app, paths);
  app.add_flag("--json", json, "print one JSON object, or a list of them for several files");
  if (const std::optional<int> status = bat::tools::parse(app, argc, argv))
  {
    return *status;
  }
  return bat::tools::run("bat_info",
    [&]
    {
      const bool one =
        paths.size() == 1 && (bat::tools::is_grid(paths.front()) || !bat::is_series(paths.front()));
      nlohmann::json infos = nlohmann::json::array();
      const int status = bat::tools::for_each_file("bat_info", paths,
        [&](const std::string& path)
        {
          if (bat::tools::is_grid(path))
          {
            bool is_whole = true;
            nlohmann::json about = bat::tools::describe_grid(path, is_whole);
            if (json)
            {
              infos.push_back(std::move(about));
            }
            else
            {
              fmt::print("{}", bat::printable(bat::tools::tell_grid(about), "\n"));
            }
            if (!is_whole)
            {
              throw bat::Error(bat::ErrorCode::Corrupt, path + ": not all levels can be read");
            }
            return;
          }
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
          bat::printable((one ? infos.front() : infos)
                           .dump(2, ' ', false, nlohmann::json::error_handler_t::replace),
            "\n"));
      }
      return status;
    });
}
