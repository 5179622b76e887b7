// SPDX-License-Identifier: BSD-3-Clause
// Data as passed by widely used simulations, described by layouts/*.json. Leaves are those of
// Conduit's JSON ("dtype", "value", "offset" and "stride" in bytes); "null": true makes them null
// pointers, and those of a mesh with "in": "struct" lie in the same structs.
#include "simulation.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>

using namespace sim;

namespace
{
using json = nlohmann::json;

template <class T>
std::vector<std::byte> bytes_of(const json& leaf)
{
  const std::size_t offset = leaf.value("offset", std::size_t{ 0 });
  const std::size_t stride = leaf.value("stride", sizeof(T));
  std::vector<std::byte> bytes(offset + stride * leaf["value"].size() + 1, std::byte{ 0xa5 });
  std::size_t place = offset;
  for (const json& value : leaf["value"])
  {
    const T number = value.get<T>();
    std::memcpy(bytes.data() + place, &number, sizeof(T));
    place += stride;
  }
  return bytes;
}

std::pair<ScalarType, std::vector<std::byte>> values_of(const json& leaf)
{
  const std::string type = leaf["dtype"];
  return type == "float64" ? std::pair(ScalarType::Float64, bytes_of<double>(leaf))
    : type == "float32"    ? std::pair(ScalarType::Float32, bytes_of<float>(leaf))
    : type == "int64"      ? std::pair(ScalarType::Int64, bytes_of<std::int64_t>(leaf))
    : type == "uint64"     ? std::pair(ScalarType::UInt64, bytes_of<std::uint64_t>(leaf))
                           : std::pair(ScalarType::Int32, bytes_of<std::int32_t>(leaf));
}

// The structs of a field's or coordset's mesh; `bytes` if there are none yet.
std::byte* structs_of(const std::string& path, std::map<std::string, std::byte*>& structs,
  std::size_t bytes, Memory& memory)
{
  const std::size_t end = std::min(path.find("/coordsets/"), path.find("/fields/"));
  std::byte*& data = structs[path.substr(0, end)];
  return data ? data : data = room(memory, bytes);
}

void put(Params& params, const std::string& path, const json& node, Memory& memory,
  std::map<std::string, std::byte*>& structs)
{
  if (node.is_object() && node.contains("dtype"))
  {
    const bool is_null = node.value("null", false);
    const json leaf =
      is_null ? json{ { "dtype", node["dtype"] }, { "value", json::array() } } : node;
    auto [type, bytes] = values_of(leaf);
    const std::size_t count =
      is_null ? node["number_of_elements"].get<std::size_t>() : node["value"].size();
    std::byte* data = nullptr;
    if (node.contains("in"))
    {
      const std::size_t stride = node["stride"];
      data = structs_of(path, structs, count * stride, memory);
      for (std::size_t at = node["offset"]; at < count * stride; at += stride)
      {
        std::memcpy(data + at, bytes.data() + at, bat::size_of(type));
      }
    }
    else if (!is_null)
    {
      data = room(memory, bytes.size());
      std::copy(bytes.begin(), bytes.end(), data);
    }
    params.array(path, type, data, count, node.value("offset", std::size_t{ 0 }),
      node.value("stride", bat::size_of(type)));
  }
  else if (node.is_object())
  {
    params.touch(path);
    for (const auto& [name, child] : node.items())
    {
      put(params, path + "/" + name, child, memory, structs);
    }
  }
  else if (node.is_array())
  {
    conduit_node* list = conduit_node_fetch(params.get(), path.c_str());
    for (const json& child : node)
    {
      conduit_node* item = conduit_node_append(list);
      if (child.is_string())
      {
        conduit_node_set_char8_str(item, child.get<std::string>().c_str());
        continue;
      }
      Params below(item);
      for (const auto& [name, value] : child.items())
      {
        put(below, name, value, memory, structs);
      }
    }
  }
  else
  {
    params.set(path, node.get<std::string>());
  }
}

bool is_mesh(const json& piece)
{
  return piece.contains("topologies");
}

// Columns of a topology in one mesh, in order of their names.
void add_to(std::map<std::string, json>& columns, const json& mesh, const json& series)
{
  const std::string topology = series["topology"];
  const auto without = series.value("without", std::vector<std::string>());
  if (!mesh["topologies"].contains(topology))
  {
    return;
  }
  const auto add = [&](const std::string& name, const json& values)
  {
    const json parts = values.contains("dtype") ? json{ { "", values } } : values;
    json& column = columns[name];
    column["dtype"] = parts.begin().value()["dtype"];
    column["components"] = parts.size();
    for (std::size_t i = 0; i != parts.begin().value()["value"].size(); ++i)
    {
      for (const json& part : parts)
      {
        column["value"].push_back(part["value"][i]);
      }
    }
  };
  add("", mesh["coordsets"][mesh["topologies"][topology]["coordset"].get<std::string>()]["values"]);
  for (const auto& [name, field] : mesh["fields"].items())
  {
    if (field["topology"] == topology &&
      std::find(without.begin(), without.end(), name) == without.end())
    {
      add(name, field["values"]);
    }
  }
}

// AMReX's packed ids by division: rank, then magnitude, then sign.
void unpack(std::map<std::string, json>& columns, const std::vector<std::string>& packed)
{
  if (packed.empty())
  {
    return;
  }
  constexpr std::uint64_t kHalf = 4294967296;
  json& ids = columns["id"];
  json& cpus = columns["cpu"];
  ids = { { "dtype", "int64" }, { "components", 1 } };
  cpus = { { "dtype", "int32" }, { "components", 1 } };
  for (std::size_t i = 0; i != columns[packed[0]]["value"].size(); ++i)
  {
    const auto part = [&](std::size_t at) { return columns[packed[at]]["value"][i]; };
    const std::uint64_t whole = packed.size() == 1 ? part(0).get<std::uint64_t>()
                                                   : (part(0).get<std::int64_t>() + kHalf) % kHalf +
        (part(1).get<std::int64_t>() + kHalf) % kHalf * kHalf;
    const auto magnitude = static_cast<std::int64_t>(whole / 16777216 % 549755813888);
    cpus["value"].push_back(whole % 16777216);
    ids["value"].push_back(whole / 549755813888 / 16777216 == 1 ? magnitude : -magnitude);
  }
  for (const std::string& name : packed)
  {
    columns.erase(name);
  }
}

Cloud expected_of(const json& fixture, const json& series)
{
  std::map<std::string, json> columns;
  for (const json& piece : fixture["pieces"])
  {
    add_to(columns, is_mesh(piece) ? piece : piece.begin().value(), series);
  }
  unpack(columns, series.value("packed ids", std::vector<std::string>()));
  Cloud cloud;
  for (const auto& [name, column] : columns)
  {
    auto [type, bytes] = values_of(column);
    bytes.pop_back();
    if (name.empty())
    {
      cloud.position_type = type;
      cloud.positions = bytes;
      cloud.count = column["value"].size() / 3;
    }
    else
    {
      cloud.columns.push_back({ name, type, column["components"].get<int>(), bytes });
    }
  }
  return cloud;
}

class Codes : public ::testing::TestWithParam<const char*>
{
};

// Boxes are distributed, so that with many ranks some have none; single meshes are on the last
// rank.
TEST_P(Codes, write_the_same_series_on_any_number_of_ranks)
{
  std::ifstream file(std::string(BAT_TEST_LAYOUTS) + "/" + GetParam() + ".json");
  const json fixture = json::parse(file);
  const std::string at = fixture["at"];
  Session run;
  for (int time = 0; time != 2; ++time)
  {
    Params params;
    Memory memory;
    std::map<std::string, std::byte*> structs;
    put(params, "catalyst", fixture["every rank"]["catalyst"], memory, structs);
    bool has_piece = false;
    int number = 0;
    for (const json& piece : fixture["pieces"])
    {
      const int owner = is_mesh(piece) ? mpi_test::ranks() - 1 : number++ % mpi_test::ranks();
      if (owner == mpi_test::rank())
      {
        has_piece = true;
        put(params, at, piece, memory, structs);
      }
    }
    if (!has_piece)
    {
      put(params, at, fixture["elsewhere"], memory, structs);
    }
    EXPECT_EQ(run.execute(params), 0) << run.reported;
    const auto warnings = fixture["warnings"].get<std::vector<std::string>>();
    EXPECT_EQ(lines_in(run.reported), time == 0 ? warnings.size() : 0U) << run.reported;
    for (std::size_t i = 0; time == 0 && i != warnings.size(); ++i)
    {
      EXPECT_NE(run.reported.find(warnings[i]), std::string::npos)
        << run.reported << "lacks " << warnings[i];
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, series] : fixture["series"].items())
  {
    const std::string step = std::to_string(1000000 + fixture["step"].get<int>()).substr(1);
    names.push_back(name + ".bat.series");
    names.push_back(name + ".vtkhdf.series");
    names.push_back(name + "_" + step + ".bat");
    expect_file(run / names.back(), { expected_of(fixture, series) });
  }
  for (const std::string& grid : fixture.value("grids", std::vector<std::string>()))
  {
    names.push_back(grid);
    names.push_back(grid + ".idx");
  }
  std::sort(names.begin(), names.end());
  if (mpi_test::rank() == 0)
  {
    EXPECT_EQ(run.files(), names);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Codes, ::testing::Values("amrex", "kitware", "sph_exa", "warpx"),
  [](const auto& info) { return std::string(info.param); });
}
