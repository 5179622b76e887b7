// SPDX-License-Identifier: BSD-3-Clause
// Datasets of several leaf files without MPI, for tests. Needs core in the include path.
#pragma once

#include "bat/bat.hpp"
#include "particles/dataset/dataset_folder.hpp"
#include "particles/dataset/top_writer.hpp"
#include "support/clouds.hpp"
#include "support/temp_dir.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace dataset_files
{
namespace fs = std::filesystem;

/// Particles `which` of `all`, in that order.
inline clouds::Cloud subset(const clouds::Cloud& all, const std::vector<std::uint64_t>& which)
{
  clouds::Cloud part;
  part.count = which.size();
  part.position_type = all.position_type;
  const auto take = [&](const std::vector<std::byte>& from)
  {
    const std::size_t bytes = all.count == 0 ? 0 : from.size() / all.count;
    std::vector<std::byte> to;
    for (const std::uint64_t i : which)
    {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(i * bytes);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(bytes));
    }
    return to;
  };
  part.positions = take(all.positions);
  for (const clouds::Cloud::Column& c : all.columns)
  {
    part.columns.push_back({ c.name, c.type, c.components, take(c.bytes) });
  }
  return part;
}

/// The cloud in `count` slabs of x of different sizes; NaN last.
inline std::vector<clouds::Cloud> slabs(const clouds::Cloud& all, std::size_t count)
{
  const auto x_of = [&](std::uint64_t i)
  {
    double x = 0;
    const std::byte* at = &all.positions[i * 3 * bat::size_of(all.position_type)];
    if (all.position_type == bat::ScalarType::Float64)
    {
      std::memcpy(&x, at, sizeof(x));
      return x;
    }
    float narrow = 0;
    std::memcpy(&narrow, at, sizeof(narrow));
    return static_cast<double>(narrow);
  };
  std::vector<std::uint64_t> order(all.count);
  std::iota(order.begin(), order.end(), std::uint64_t{ 0 });
  std::stable_sort(order.begin(), order.end(),
    [&](std::uint64_t a, std::uint64_t b)
    {
      const double x = x_of(a);
      const double y = x_of(b);
      return x < y || (x == x && y != y);
    });
  std::vector<clouds::Cloud> parts;
  std::uint64_t begin = 0;
  const std::uint64_t shares = count * (count + 1) / 2;
  for (std::size_t k = 0, share = 0; k != count; ++k)
  {
    share += k + 1;
    const std::uint64_t end = all.count * share / shares;
    parts.push_back(subset(all,
      { order.begin() + static_cast<std::ptrdiff_t>(begin),
        order.begin() + static_cast<std::ptrdiff_t>(end) }));
    begin = end;
  }
  return parts;
}

/// Writes the parts as leaf files of `top`, and `top`. `change` may falsify the top file.
inline void write(const fs::path& top, const std::vector<bat::ParticleView>& parts,
  const bat::BuildOptions& options = {}, const std::function<void(bat::TopContents&)>& change = {})
{
  const fs::path folder = bat::leaves_folder(top);
  fs::create_directories(folder);
  bat::TopContents contents;
  for (const bat::ParticleView& part : parts)
  {
    const bat::Bytes bytes = bat::encode(part, options);
    write_bytes(folder / "new", { bytes.begin(), bytes.end() });
    bat::LeafEntry entry = bat::describe_leaf(folder / "new", "");
    const std::string name = bat::leaf_file_name(
      static_cast<std::uint32_t>(contents.leaves.size()), entry.record.header_checksum);
    fs::rename(folder / "new", folder / name);
    entry.name = folder.filename().string() + "/" + name;
    entry.record.name_bytes = static_cast<std::uint32_t>(entry.name.size());
    if (contents.leaves.empty())
    {
      contents.position_type = part.positions.type;
      contents.attributes = bat::File::open(folder / name).attributes();
      contents.time = part.time;
      contents.step = part.step;
      contents.metadata = part.metadata;
    }
    contents.sample_ids = entry.sample_ids;
    contents.leaves.push_back(std::move(entry));
  }
  if (change)
  {
    change(contents);
  }
  write_bytes(top, bat::encode_top(contents));
}

inline void write(const fs::path& top, const std::vector<clouds::Cloud>& parts,
  const bat::BuildOptions& options = {}, const std::function<void(bat::TopContents&)>& change = {})
{
  std::vector<bat::ParticleView> views;
  for (const clouds::Cloud& part : parts)
  {
    views.push_back(part.view());
  }
  write(top, views, options, change);
}

/// A dataset of `leaves` leaf files with two particles each, with ids from 0 on.
inline void write_pairs(const fs::path& top, std::size_t leaves)
{
  std::vector<float> positions(6 * leaves);
  std::vector<std::int64_t> ids(2 * leaves);
  for (std::size_t i = 0; i != ids.size(); ++i)
  {
    positions[3 * i] = static_cast<float>(i);
    ids[i] = static_cast<std::int64_t>(i);
  }
  std::vector<bat::ParticleView> parts(leaves);
  for (std::size_t leaf = 0; leaf != leaves; ++leaf)
  {
    parts[leaf].count = 2;
    parts[leaf].positions =
      bat::ArrayView::packed(bat::ScalarType::Float32, 3, &positions[6 * leaf]);
    parts[leaf].attributes = { { "id",
      bat::ArrayView::packed(bat::ScalarType::Int64, 1, &ids[2 * leaf]), 0, 0 } };
  }
  write(top, parts);
}

/// Top file and leaf files, as a dataset that can be damaged.
inline void copy(const fs::path& top, const fs::path& to)
{
  fs::copy_file(top, to);
  fs::copy(top.string() + ".leaves", (to.parent_path() / (top.filename().string() + ".leaves")));
}

using Rows = std::vector<std::vector<std::byte>>;

/// All values of each particle, sorted.
inline Rows rows_of(const fs::path& path)
{
  const bat::Dataset dataset = bat::Dataset::open(path);
  const bat::DatasetSelection all = dataset.select({});
  Rows rows(all.count);
  const auto add = [&](const std::vector<std::byte>& values)
  {
    const std::size_t bytes = rows.empty() ? 0 : values.size() / rows.size();
    for (std::size_t i = 0; i != rows.size(); ++i)
    {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * bytes);
      rows[i].insert(rows[i].end(), begin, begin + static_cast<std::ptrdiff_t>(bytes));
    }
  };
  std::vector<std::byte> values(all.count * 3 * bat::size_of(dataset.position_type()));
  dataset.read_positions(all, values.data());
  add(values);
  for (std::size_t k = 0; k != dataset.attributes().size(); ++k)
  {
    const bat::Attribute& a = dataset.attributes()[k];
    values.resize(all.count * bat::tuple_bytes(a.type, a.components));
    dataset.read_attribute(k, all, values.data());
    add(values);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}
}
