// SPDX-License-Identifier: BSD-3-Clause
// Checks every byte of a file against FORMAT.md.

#include "bat/validate.hpp"

#include "bat/file.hpp"
#include "bat/tracks.hpp"
#include "particles/dataset/dataset_impl.hpp"
#include "particles/tree/file_impl.hpp"
#include "particles/validate/validate_leaf.hpp"
#include "particles/validate/validate_sections.hpp"
#include "particles/validate/validate_top.hpp"

#include <fmt/format.h>

namespace bat
{
namespace
{
// Checks that the schema uses the section.
void check_expected(const File::Impl& impl, const format::SectionRecord& s)
{
  const format::Schema& schema = impl.schema;
  check_place(*impl.source, s, schema, format::FileKind::Leaf);
  const auto kind = static_cast<format::SectionKind>(s.kind);
  const bool is_of_bitmaps =
    kind == format::SectionKind::BlockBitmaps || kind == format::SectionKind::BitmapDictionary;
  if (is_of_bitmaps && !format::shape_of(kind, s.index, schema, impl.header.particle_count))
  {
    format::corrupt(*impl.source,
      fmt::format("unexpected section {}: the bitmaps of its key have {} bytes",
        format::describe(s, schema), schema.keys[s.index].bitmap_bytes));
  }
  const bool is_of_samples = kind == format::SectionKind::SampleIds ||
    kind == format::SectionKind::TreeletLevels || kind == format::SectionKind::BlockLevels;
  if (is_of_samples && schema.sample_ids.empty())
  {
    format::corrupt(*impl.source,
      fmt::format(
        "unexpected section {}: the header does not have feature 2", format::describe(s, schema)));
  }
  if (kind == format::SectionKind::ChunkTable)
  {
    const bool is_of_positions = s.index == 0;
    const format::ColumnSection& column = is_of_positions
      ? impl.column(format::SectionKind::Positions)
      : impl.column(format::SectionKind::Attribute, s.index - 1);
    if (!column.has_chunks())
    {
      format::corrupt(*impl.source,
        fmt::format(
          "unexpected section {}: {} is not in chunks", format::describe(s), column.name()));
    }
    (void)column.chunks();
  }
}

format::Hdf5Objects leaf_objects(const File::Impl& impl)
{
  const format::LeafViewFacts facts = format::leaf_view_facts(impl.header, impl.sections,
    impl.schema, format::read_text(*impl.source, impl.sections, format::SectionKind::Metadata));
  const std::string reason = format::reason_against_view(facts);
  if (!reason.empty())
  {
    format::corrupt(*impl.source, "HDF5_OBJECTS exists, but " + reason);
  }
  return format::leaf_objects(facts);
}
}

void validate(const File& file)
{
  const File::Impl& impl = file.impl();
  check_layout(*impl.source, impl.header, impl.sections);
  for (const format::SectionRecord& section : impl.sections)
  {
    check_expected(impl, section);
  }
  check_checksums(*impl.source, impl.sections, impl.schema);
  check_metadata(*impl.source, impl.sections);
  check_hdf5_view(*impl.source, impl.header, impl.sections, [&] { return leaf_objects(impl); });
  (void)impl.spatial_index(); // counts agree before they are used
  const LeafParticles particles(file);
  check_sample(particles);
  check_positions(particles);
  for (std::uint32_t k = 0; k != impl.schema.head.attribute_count; ++k)
  {
    check_attribute(particles, k);
  }
}

void validate(const Dataset& dataset)
{
  const Dataset::Impl& impl = dataset.impl();
  if (impl.top)
  {
    validate_top(*impl.top);
  }
  std::vector<LeafEntry> leaves;
  for (std::size_t i = 0; i != impl.leaves().size(); ++i)
  {
    impl.leaf(i).validate();
    if (impl.top)
    {
      leaves.push_back(validate_entry(*impl.top, i, impl.leaf_path(i)));
    }
  }
  if (impl.top)
  {
    validate_position_keys(*impl.top, leaves);
    validate_hdf5_view(*impl.top, leaves);
  }
}

void validate(const std::filesystem::path& path)
{
  is_tracks(path) ? validate_tracks(path) : validate(Dataset::open(path));
}
}
