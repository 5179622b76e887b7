// SPDX-License-Identifier: BSD-3-Clause
// Builds the top file of a dataset from its finished leaf files.
#pragma once

#include "bat/file.hpp"
#include "bat/particles.hpp"
#include "particles/format/hdf5_view.hpp"
#include "particles/format/layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bat
{
/// The entry of one leaf file in the top file.
struct LeafEntry
{
  format::LeafRecord record{};
  std::vector<format::LeafKeyRecord> keys;
  std::string name; ///< relative to the folder of the top file
  std::array<format::LeafKeyRecord, format::kPositionKeys> position_keys{}; ///< see Schema
  std::optional<std::vector<std::uint8_t>> in_view; ///< whether the HDF5 view shows each attribute
  std::vector<format::SampleIdRecord> sample_ids;   ///< see Schema; not among the bytes of an entry
};

/// Reads the entry from a finished leaf file. Throws as File::open does.
[[nodiscard]] LeafEntry describe_leaf(const std::filesystem::path& file, std::string name);

/// Appends the entry to `bytes`, for messages between ranks.
void append_entry(std::vector<char>& bytes, const LeafEntry& entry);

/// Merges the position keys of all leaf files, at least one.
[[nodiscard]] std::array<format::LeafKeyRecord, format::kPositionKeys> merge_position_keys(
  const std::vector<LeafEntry>& leaves);

/// Adds leaf files to the facts about the HDF5 view of a top file. Returns false if one has no
/// view.
bool add_leaves_to_view(format::TopViewFacts& facts, const std::vector<LeafEntry>& leaves);

struct TopContents
{
  ScalarType position_type = ScalarType::Float32;
  std::vector<Attribute> attributes; ///< aliases last; keys are ignored
  std::optional<double> time;
  std::optional<std::int64_t> step;
  std::string metadata;                           ///< JSON object, or empty
  std::vector<format::SampleIdRecord> sample_ids; ///< the same in each leaf file
  std::vector<LeafEntry> leaves; ///< at least one; consecutive ones are neighbours in space
};

/// Returns the contents known without leaf files: attributes, time, step and metadata of the
/// particles.
[[nodiscard]] TopContents make_contents(const ParticleView& schema);

/// Parses the bytes of append_entry(), for leaf files with these attributes.
[[nodiscard]] std::vector<LeafEntry> parse_entries(
  const std::vector<char>& bytes, const std::vector<Attribute>& attributes);

/// Returns the bytes of the top file (FORMAT.md section 15). It has an HDF5 view if all leaf files
/// have one and if the view is small beside the leaf files.
[[nodiscard]] std::vector<std::byte> encode_top(const TopContents& contents);
}
