// SPDX-License-Identifier: BSD-3-Clause
// A simulation for tests: particles, nodes that describe them, and the expected contents of files.
#pragma once

#include "catalyst_host.h"

#include "bat/catalyst_bat.h"
#include "particles/parallel/mpi_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sim
{
using bat::ScalarType;
using clouds::Cloud;

/// A node, from its root.
class Params
{
public:
  Params()
    : node_(conduit_node_create(), &conduit_node_destroy)
  {
  }
  /// A node of a separate tree.
  explicit Params(conduit_node* node)
    : node_(node, [](conduit_node*) {})
  {
  }

  Params& set(const std::string& path, const char* text)
  {
    conduit_node_set_path_char8_str(this->node_.get(), path.c_str(), text);
    return *this;
  }
  Params& set(const std::string& path, const std::string& text)
  {
    return this->set(path, text.c_str());
  }
  Params& set(const std::string& path, int value)
  {
    conduit_node_set_path_int32(this->node_.get(), path.c_str(), value);
    return *this;
  }
  Params& set(const std::string& path, std::int64_t value)
  {
    conduit_node_set_path_int64(this->node_.get(), path.c_str(), value);
    return *this;
  }
  Params& set(const std::string& path, double value)
  {
    conduit_node_set_path_float64(this->node_.get(), path.c_str(), value);
    return *this;
  }
  /// A list of texts.
  Params& set(const std::string& path, const std::vector<std::string>& texts)
  {
    for (const std::string& text : texts)
    {
      conduit_node_set_char8_str(
        conduit_node_append(conduit_node_fetch(this->node_.get(), path.c_str())), text.c_str());
    }
    return *this;
  }
  /// An empty node.
  Params& touch(const std::string& path)
  {
    conduit_node_fetch(this->node_.get(), path.c_str());
    return *this;
  }
  /// A child of an existing node.
  Params& remove(const std::string& path)
  {
    const std::size_t slash = path.rfind('/');
    conduit_node* parent = conduit_node_fetch(this->node_.get(), path.substr(0, slash).c_str());
    conduit_node_remove_child_by_name(parent, path.substr(slash + 1).c_str());
    return *this;
  }
  /// Numbers that remain the caller's.
  Params& array(const std::string& path, ScalarType type, void* data, std::uint64_t count,
    std::size_t offset, std::size_t stride, int endianness = CONDUIT_ENDIANNESS_DEFAULT_ID);
  template <class T>
  Params& array(const std::string& path, ScalarType type, std::vector<T>& values)
  {
    return this->array(path, type, values.data(), values.size(), 0, sizeof(T));
  }
  Params& step(std::int64_t number)
  {
    this->set("catalyst/state/timestep", number);
    return this->set("catalyst/state/time", 0.5 * static_cast<double>(number));
  }

  [[nodiscard]] conduit_node* get() const { return this->node_.get(); }
  [[nodiscard]] std::int64_t integer(const std::string& path) const
  {
    return conduit_node_fetch_path_as_int64(this->node_.get(), path.c_str());
  }
  [[nodiscard]] double real(const std::string& path) const
  {
    return conduit_node_fetch_path_as_float64(this->node_.get(), path.c_str());
  }
  [[nodiscard]] std::string text(const std::string& path) const
  {
    return conduit_node_fetch_path_as_char8_str(this->node_.get(), path.c_str());
  }

private:
  std::unique_ptr<conduit_node, void (*)(conduit_node*)> node_;
};

inline Params& Params::array(const std::string& path, ScalarType type, void* data,
  std::uint64_t count, std::size_t offset, std::size_t stride, int endianness)
{
  const auto set = [&](auto* values, auto&& function)
  {
    function(this->node_.get(), path.c_str(), values, static_cast<conduit_index_t>(count),
      static_cast<conduit_index_t>(offset), static_cast<conduit_index_t>(stride),
      static_cast<conduit_index_t>(sizeof(*values)), endianness);
  };
#define BAT_TEST_ARRAY(id, name, type)                                                             \
  case ScalarType::id:                                                                             \
    set(static_cast<type*>(data), conduit_node_set_path_external_##name##_ptr_detailed);           \
    break;
  switch (type)
  {
    BAT_TEST_ARRAY(Int8, int8, std::int8_t)
    BAT_TEST_ARRAY(Int16, int16, std::int16_t)
    BAT_TEST_ARRAY(Int32, int32, std::int32_t)
    BAT_TEST_ARRAY(Int64, int64, std::int64_t)
    BAT_TEST_ARRAY(UInt8, uint8, std::uint8_t)
    BAT_TEST_ARRAY(UInt16, uint16, std::uint16_t)
    BAT_TEST_ARRAY(UInt32, uint32, std::uint32_t)
    BAT_TEST_ARRAY(UInt64, uint64, std::uint64_t)
    BAT_TEST_ARRAY(Float32, float32, float)
    BAT_TEST_ARRAY(Float64, float64, double)
  }
#undef BAT_TEST_ARRAY
  return *this;
}

/// How the arrays of a simulation lie in memory.
enum class Layout
{
  Separate,    // one array per component
  Interleaved, // one array per field
  Records      // one array of structs without padding, so that nothing is aligned
};

/// The memory of a simulation.
using Memory = std::vector<std::unique_ptr<std::vector<std::byte>>>;

inline std::byte* room(Memory& memory, std::size_t bytes)
{
  // One extra element, since an address must not be null.
  return memory.emplace_back(std::make_unique<std::vector<std::byte>>(bytes + 1))->data();
}

template <class T>
std::vector<T> numbers(std::uint64_t n, const std::function<double(std::uint64_t)>& f)
{
  std::vector<T> values(n);
  for (std::uint64_t i = 0; i != n; ++i)
  {
    values[i] = static_cast<T>(f(i));
  }
  return values;
}

inline void add_column(Cloud& cloud, const std::string& name, ScalarType type, int components,
  const std::function<double(std::uint64_t)>& f)
{
  const std::uint64_t n = cloud.count * static_cast<std::uint64_t>(components);
  switch (type)
  {
    case ScalarType::Float32:
      return cloud.add(name, type, numbers<float>(n, f), components);
    case ScalarType::Float64:
      return cloud.add(name, type, numbers<double>(n, f), components);
    case ScalarType::Int32:
      return cloud.add(name, type, numbers<std::int32_t>(n, f), components);
    case ScalarType::Int64:
      return cloud.add(name, type, numbers<std::int64_t>(n, f), components);
    case ScalarType::UInt8:
      return cloud.add(name, type,
        numbers<std::uint8_t>(n, [&](std::uint64_t i) { return static_cast<int>(f(i)) % 256; }),
        components);
    default:
      std::abort();
  }
}

/// `n` particles of a rank, with ids beyond the exact range of doubles.
inline Cloud particles(int rank, std::uint64_t n, ScalarType real = ScalarType::Float64,
  ScalarType integer = ScalarType::Int32)
{
  Cloud cloud;
  const auto seed = static_cast<double>(rank) + 1;
  const auto coordinate = [&](std::uint64_t i)
  { return seed + 0.001 * static_cast<double>((i * 7919) % 10007); };
  if (real == ScalarType::Float32)
  {
    cloud.set_positions(numbers<float>(3 * n, coordinate));
  }
  else
  {
    cloud.set_positions(numbers<double>(3 * n, coordinate));
  }
  std::vector<std::int64_t> ids(n);
  std::iota(ids.begin(), ids.end(), (std::int64_t{ 1 } << 60) + 1000000 * rank + 1);
  cloud.add("id", ScalarType::Int64, ids);
  add_column(cloud, "type", integer, 1, [&](std::uint64_t i) { return static_cast<double>(i); });
  add_column(
    cloud, "mass", real, 1, [&](std::uint64_t i) { return seed / static_cast<double>(i + 1); });
  add_column(cloud, "velocity", real, 3,
    [&](std::uint64_t i) { return seed - 0.25 * static_cast<double>(i); });
  return cloud;
}

/// Where each component of positions and columns is stored.
struct Place
{
  std::byte* data = nullptr;
  std::size_t offset = 0;
  std::size_t stride = 0;
};

inline std::vector<Place> places_of(
  const Cloud& cloud, const std::vector<bat::ArrayView>& views, Layout layout, Memory& memory)
{
  std::vector<Place> places;
  std::size_t record = 0;
  for (const bat::ArrayView& view : views)
  {
    record += bat::size_of(view.type) * static_cast<std::size_t>(view.components);
  }
  std::byte* records = layout == Layout::Records ? room(memory, record * cloud.count) : nullptr;
  std::size_t offset = 0;
  for (const bat::ArrayView& view : views)
  {
    const std::size_t size = bat::size_of(view.type);
    const std::size_t row = size * static_cast<std::size_t>(view.components);
    std::byte* field = layout == Layout::Interleaved ? room(memory, row * cloud.count) : nullptr;
    for (std::size_t c = 0; c != static_cast<std::size_t>(view.components); ++c, offset += size)
    {
      places.push_back(records ? Place{ records, offset, record }
          : field              ? Place{ field, c * size, row }
                               : Place{ room(memory, size * cloud.count), 0, size });
    }
  }
  return places;
}

inline void copy(const bat::ArrayView& view, std::size_t c, std::uint64_t n, const Place& place)
{
  for (std::uint64_t i = 0; i != n; ++i)
  {
    std::memcpy(place.data + place.offset + i * place.stride,
      view.component[c] + i * view.stride_bytes, bat::size_of(view.type));
  }
}

/// Describes particles as one topology of the mesh at `mesh`, its fields named with a prefix.
inline void publish(Params& params, const std::string& mesh, const Cloud& cloud, Memory& memory,
  Layout layout = Layout::Separate, const std::string& topology = "particles",
  const std::string& prefix = "", const std::string& association = "vertex")
{
  const bat::ParticleView view = cloud.view();
  std::vector<bat::ArrayView> views = { view.positions };
  for (const auto& attribute : view.attributes)
  {
    views.push_back(attribute.values);
  }
  const std::vector<Place> places = places_of(cloud, views, layout, memory);
  const std::string root = mesh.empty() ? "" : mesh + "/";
  const std::string coords = root + "coordsets/" + topology + "_coords";
  params.set(coords + "/type", "explicit");
  params.set(root + "topologies/" + topology + "/type", "points");
  params.set(root + "topologies/" + topology + "/coordset", topology + "_coords");
  const auto put =
    [&](const std::string& path, const bat::ArrayView& values, std::size_t c, const Place& place)
  {
    copy(values, c, cloud.count, place);
    params.array(path, values.type, place.data, cloud.count, place.offset, place.stride);
  };
  std::size_t next = 0;
  for (std::size_t c = 0; c != 3; ++c)
  {
    put(coords + "/values/" + "xyz"[c], views[0], c, places[next++]);
  }
  for (std::size_t a = 0; a != view.attributes.size(); ++a)
  {
    const bat::ArrayView& values = views[a + 1];
    const std::string field = root + "fields/" + prefix + view.attributes[a].name;
    params.set(field + "/association", association);
    params.set(field + "/topology", topology);
    for (std::size_t c = 0; c != static_cast<std::size_t>(values.components); ++c)
    {
      put(field + (values.components == 1 ? "/values" : "/values/c" + std::to_string(c)), values, c,
        places[next++]);
    }
  }
}

inline void publish_channel(Params& params, const Cloud& cloud, Memory& memory,
  Layout layout = Layout::Separate, const std::string& channel = "particles")
{
  params.set("catalyst/channels/" + channel + "/type", "mesh");
  publish(params, "catalyst/channels/" + channel + "/data", cloud, memory, layout);
}

/// Columns in the order of their names; files do not guarantee another order.
inline bat::ParticleView sorted(bat::ParticleView view)
{
  std::sort(view.attributes.begin(), view.attributes.end(),
    [](const auto& a, const auto& b) { return a.name < b.name; });
  return view;
}

inline std::string make_schema(const bat::ParticleView& view)
{
  std::string text(bat::name_of(view.positions.type));
  for (const auto& attribute : view.attributes)
  {
    text += " " + attribute.name + ":" + std::string(bat::name_of(attribute.values.type)) + "x" +
      std::to_string(attribute.values.components);
  }
  return text;
}

/// Checks on rank 0 that the file contains exactly the particles of all clouds, bit by bit.
inline void expect_file(const std::filesystem::path& path, const std::vector<Cloud>& clouds)
{
  if (mpi_test::rank() != 0)
  {
    return;
  }
  SCOPED_TRACE(path.string());
  ASSERT_TRUE(std::filesystem::exists(path)) << "no such file";
  const bat::mpi::Particles found = mpi_test::read_alone(path);
  std::vector<std::string> expected;
  for (const Cloud& cloud : clouds)
  {
    if (cloud.count == 0)
    {
      continue;
    }
    const auto view = sorted(cloud.view());
    EXPECT_EQ(make_schema(sorted(found.view())), make_schema(view));
    const auto rows = mpi_test::rows(view);
    expected.insert(expected.end(), rows.begin(), rows.end());
  }
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(found.count, expected.size());
  EXPECT_TRUE(mpi_test::rows(sorted(found.view())) == expected) << "other values";
}

/// The results of f(rank) for each rank.
template <class F>
std::vector<Cloud> of_all_ranks(F&& f)
{
  std::vector<Cloud> clouds;
  for (int rank = 0; rank != mpi_test::ranks(); ++rank)
  {
    clouds.push_back(f(rank));
  }
  return clouds;
}

/// From catalyst_initialize to catalyst_finalize, with a folder for the files.
class Session
{
public:
  explicit Session(const std::function<void(Params&, const std::string& folder)>& describe = {})
  {
    Params params;
    params.set("catalyst_load/implementation", "bat");
    const std::string folder = (this->dir_ / "").string();
    if (describe)
    {
      describe(params, folder);
    }
    else
    {
      params.set("catalyst/bat/output", folder + "{name}_{timestep:06d}.bat");
    }
    this->status = catalyst_initialize(params.get());
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session()
  {
    EXPECT_EQ(catalyst_finalize(Params().get()), 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  /// The status; rank 0's message is in `reported` on all ranks.
  int execute(const Params& params)
  {
    ::testing::internal::CaptureStderr();
    const int result = catalyst_execute(params.get());
    const std::string local = ::testing::internal::GetCapturedStderr();
    if (mpi_test::rank() != 0)
    {
      EXPECT_EQ(local, "");
    }
    this->reported = mpi_test::of_root(local);
    MPI_Barrier(MPI_COMM_WORLD);
    return result;
  }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const
  {
    return this->dir_ / name;
  }
  /// Names in the folder, on rank 0, without the locks of lists, which disappear when the run ends.
  [[nodiscard]] std::vector<std::string> files() const
  {
    std::vector<std::string> names = names_in(this->dir_ / "");
    names.erase(
      std::remove_if(names.begin(), names.end(),
        [](const std::string& name) { return std::filesystem::path(name).extension() == ".lock"; }),
      names.end());
    return names;
  }

  int status = 0; ///< returned by catalyst_initialize
  std::string reported;

private:
  mpi_test::SharedDir dir_;
};

inline std::size_t lines_in(const std::string& text)
{
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}
}
