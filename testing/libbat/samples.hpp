// SPDX-License-Identifier: BSD-3-Clause
// The sample files, and comparisons that several tests use.
#pragma once

#include "bat/error.hpp"
#include "libbat/leaf_file.hpp"
#include "libbat/top_file.hpp"
#include "oracle.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace samples
{
/// Folders of sample datasets: those of the repository, and those in BAT_LIBBAT_SAMPLES if it is
/// set.
inline std::vector<std::filesystem::path> folders()
{
  std::vector<std::filesystem::path> found;
  const char* more = std::getenv("BAT_LIBBAT_SAMPLES");
  for (const std::string& root : { std::string(BAT_LIBBAT_DATA), std::string(more ? more : "") })
  {
    if (root.empty())
    {
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(root))
    {
      if (entry.is_directory() && entry.path().filename() != "damaged")
      {
        found.push_back(entry.path());
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// A leaf file with another JSON text; the padding after it absorbs the difference.
inline std::vector<std::byte> with_json(
  std::vector<std::byte> file, const std::function<void(nlohmann::json&)>& change)
{
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  const char* text = reinterpret_cast<const char*>(file.data()) + 8;
  nlohmann::json json = nlohmann::json::parse(text, text + length);
  change(json);
  std::string changed = json.dump();
  length = changed.size();
  changed.resize(4096 - 8);
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, changed.data(), changed.size());
  return file;
}

inline std::vector<std::filesystem::path> files_in(
  const std::filesystem::path& folder, const std::string& extension)
{
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
  {
    if (entry.path().extension() == extension)
    {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

inline std::filesystem::path file(const std::string& name)
{
  return std::filesystem::path(BAT_LIBBAT_DATA) / name;
}

inline bat::OrdinalInterval all_ordinals(const bat::LeafSource& leaf)
{
  return { 0, leaf.particle_count() };
}

/// Values of a selection, as read by the source.
struct Values
{
  std::vector<std::byte> positions;
  std::vector<std::vector<std::byte>> columns;
};

inline Values read(const bat::LeafSource& leaf, const bat::Selection& selection, int threads = 0)
{
  Values values;
  values.positions.resize(selection.count * 12);
  leaf.read_positions(selection, values.positions.data(), { threads });
  for (std::size_t k = 0; k != leaf.attributes().size(); ++k)
  {
    values.columns.emplace_back(selection.count * bat::size_of(leaf.attributes()[k].type));
    leaf.read_attribute(k, selection, values.columns.back().data(), { threads });
  }
  return values;
}

/// Fails unless the whole file is read as by the oracle.
inline void expect_equal(const bat::LeafSource& leaf, const oracle::Leaf& expected)
{
  ASSERT_EQ(leaf.particle_count(), expected.table.count);
  const Values values = read(leaf, leaf.select({}, all_ordinals(leaf), {}));
  EXPECT_EQ(values.positions, expected.table.positions);
  ASSERT_EQ(values.columns.size(), expected.table.columns.size());
  for (std::size_t k = 0; k != values.columns.size(); ++k)
  {
    EXPECT_EQ(leaf.attributes()[k].name, expected.table.columns[k].attribute.name);
    EXPECT_EQ(leaf.attributes()[k].type, expected.table.columns[k].attribute.type);
    EXPECT_EQ(values.columns[k], expected.table.columns[k].bytes) << leaf.attributes()[k].name;
  }
}

/// Runs random queries and compares them with a scan. Returns their number.
inline int compare_queries(
  const bat::LeafSource& leaf, const oracle::Leaf& expected, int queries, std::uint64_t seed)
{
  clouds::Random random(seed);
  const std::uint64_t n = expected.table.count;
  for (int i = 0; i != queries; ++i)
  {
    SCOPED_TRACE(leaf.name() + ": seed " + std::to_string(seed) + ", query " + std::to_string(i));
    const bat::Query query = brute_force::random_query(expected.table, random);
    bat::OrdinalInterval ranks{ 0, n };
    if (random() % 3 == 0)
    {
      ranks.begin = random() % (n + 1);
      ranks.end = ranks.begin + random() % (n - ranks.begin + 1);
    }
    const int threads = i % 8 == 0 ? 2 : 1;
    const bat::Selection selection = leaf.select(query, ranks, { threads });
    const auto found = oracle::select(expected, query, ranks.begin, ranks.end);
    EXPECT_EQ(brute_force::positions_of(selection), found);
    EXPECT_EQ(selection.count, found.size());
    const std::uint64_t bound = leaf.upper_bound(query, ranks);
    EXPECT_LE(selection.count, bound);
    const bool is_plain =
      !query.box && query.shapes.empty() && query.ranges.empty() && query.values.empty();
    const bool may_be_plain = std::any_of(query.values.begin(), query.values.end(),
      [](const bat::AttributeValues& list) { return list.negated; });
    EXPECT_TRUE(
      selection.tested == (is_plain ? 0 : bound) || (may_be_plain && selection.tested == 0));
    const Values values = read(leaf, selection, threads);
    for (std::size_t j = 0; j != found.size(); ++j)
    {
      if (std::memcmp(&values.positions[12 * j], &expected.table.positions[12 * found[j]], 12) != 0)
      {
        ADD_FAILURE() << "position of particle " << found[j];
        break;
      }
    }
    for (std::size_t k = 0; k != values.columns.size(); ++k)
    {
      const std::size_t size = bat::size_of(leaf.attributes()[k].type);
      for (std::size_t j = 0; j != found.size(); ++j)
      {
        if (std::memcmp(&values.columns[k][size * j],
              &expected.table.columns[k].bytes[size * found[j]], size) != 0)
        {
          ADD_FAILURE() << leaf.attributes()[k].name << " of particle " << found[j];
          break;
        }
      }
    }
    if (testing::Test::HasFailure())
    {
      return i;
    }
  }
  return queries;
}
}
