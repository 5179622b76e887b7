// SPDX-License-Identifier: BSD-3-Clause
// Encodes the parts that leaf files and top files have in common.
#pragma once

#include "bat/file.hpp"
#include "bat/particles.hpp"
#include "particles/format/layout.hpp"
#include "particles/format/leaf_files.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bat::format
{
/// Attributes and aliases to be written, as a reader finds them, without keys.
[[nodiscard]] std::vector<Attribute> attributes_of(const ParticleView& particles);

/// Encodes SCHEMA (section 7). `attributes` have name, type, components, role and host_type; the
/// rest of their records and the counts in `head` are filled in. Aliases among them are ignored.
/// `keys` are the keys of the others in order.
[[nodiscard]] std::vector<std::byte> schema_bytes(
  SchemaHead head, const std::vector<Attribute>& attributes, const std::vector<KeyRecord>& keys);

/// Encodes ALIASES (section 7) for the aliases among `attributes`, at least one.
[[nodiscard]] std::vector<std::byte> aliases_bytes(const std::vector<Attribute>& attributes,
  const std::array<LeafKeyRecord, kPositionKeys>& position_keys);

/// Encodes SAMPLE_IDS (section 8).
[[nodiscard]] std::vector<std::byte> sample_ids_bytes(const std::vector<SampleIdRecord>& ids);

/// Encodes LEAF_FILES (section 15) except for the nodes, which are AGGREGATION_TREE.
[[nodiscard]] std::vector<std::byte> leaf_files_bytes(const LeafFiles& files);

/// Encodes METADATA: the text of the given object unchanged, or of an empty one, with `writer`
/// added if it has none. Throws Error{InvalidArgument} if it is not a JSON object.
[[nodiscard]] std::string metadata_text(const std::string& metadata);

/// Returns the record of a section that contains `data`.
[[nodiscard]] SectionRecord plain_section(SectionKind kind, std::uint32_t index,
  std::uint64_t offset, const void* data, std::uint64_t bytes);

/// Sorts the section table; header and table match after this.
[[nodiscard]] Header finish_header(std::vector<SectionRecord>& sections,
  std::uint64_t section_table_offset, std::uint64_t particles, std::uint64_t required_features,
  std::optional<double> time, std::optional<std::int64_t> step);
}
