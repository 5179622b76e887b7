// SPDX-License-Identifier: BSD-3-Clause
// Encodes SCHEMA, ALIASES and METADATA.

#include "bat/error.hpp"
#include "bat/version.hpp"
#include "common/text.hpp"
#include "particles/format/encode.hpp"
#include "particles/format/encode_parts.hpp"

#include <algorithm>

namespace bat::format
{
std::vector<Attribute> attributes_of(const ParticleView& particles)
{
  std::vector<Attribute> attributes;
  for (const AttributeView& view : particles.attributes)
  {
    attributes.push_back(
      { view.name, view.values.type, view.values.components, view.role, view.host_type, {} });
  }
  for (const AliasView& view : particles.aliases)
  {
    const auto target = std::find_if(particles.attributes.begin(), particles.attributes.end(),
      [&](const AttributeView& a) { return a.name == view.attribute; });
    const bool of_positions = view.attribute.empty();
    const ArrayView& values = of_positions ? particles.positions : target->values;
    Alias alias{ std::nullopt, view.component };
    if (!of_positions)
    {
      alias.attribute = static_cast<std::size_t>(target - particles.attributes.begin());
    }
    attributes.push_back({ view.name, values.type, view.component < 0 ? values.components : 1,
      view.role, view.host_type, {}, alias });
  }
  return attributes;
}

std::vector<std::byte> schema_bytes(
  SchemaHead head, const std::vector<Attribute>& attributes, const std::vector<KeyRecord>& keys)
{
  head.attribute_count = 0;
  head.key_count = static_cast<std::uint32_t>(keys.size());
  std::vector<std::byte> records;
  std::vector<std::byte> names;
  std::uint32_t first_key = 0;
  for (const Attribute& attribute : attributes)
  {
    if (attribute.alias)
    {
      continue;
    }
    AttributeRecord record{};
    record.type = static_cast<std::uint8_t>(attribute.type);
    record.components = static_cast<std::uint8_t>(attribute.components);
    record.role = attribute.role;
    record.host_type = attribute.host_type;
    record.name_bytes = static_cast<std::uint32_t>(attribute.name.size());
    record.first_key = first_key;
    append(records, &record, sizeof(record));
    append(names, attribute.name.data(), attribute.name.size());
    first_key += key_count(attribute.components);
    ++head.attribute_count;
  }
  std::vector<std::byte> schema;
  append(schema, &head, sizeof(head));
  append(schema, records.data(), records.size());
  append(schema, keys.data(), keys.size() * sizeof(KeyRecord));
  append(schema, names.data(), names.size());
  return schema;
}

std::vector<std::byte> aliases_bytes(const std::vector<Attribute>& attributes,
  const std::array<LeafKeyRecord, kPositionKeys>& position_keys)
{
  AliasesHead head{};
  std::vector<std::byte> records;
  std::vector<std::byte> names;
  for (const Attribute& attribute : attributes)
  {
    if (!attribute.alias)
    {
      continue;
    }
    AliasRecord record{};
    record.attribute = attribute.alias->attribute
      ? static_cast<std::uint32_t>(*attribute.alias->attribute)
      : kPositionsAttribute;
    record.component = static_cast<std::int16_t>(attribute.alias->component);
    record.role = attribute.role;
    record.host_type = attribute.host_type;
    record.name_bytes = static_cast<std::uint32_t>(attribute.name.size());
    append(records, &record, sizeof(record));
    append(names, attribute.name.data(), attribute.name.size());
    ++head.alias_count;
  }
  std::vector<std::byte> bytes;
  append(bytes, &head, sizeof(head));
  append(bytes, position_keys.data(), sizeof(position_keys));
  append(bytes, records.data(), records.size());
  append(bytes, names.data(), names.size());
  return bytes;
}

std::vector<std::byte> sample_ids_bytes(const std::vector<SampleIdRecord>& ids)
{
  SampleIdsHead head{};
  head.id_count = static_cast<std::uint32_t>(ids.size());
  std::vector<std::byte> bytes;
  append(bytes, &head, sizeof(head));
  append(bytes, ids.data(), ids.size() * sizeof(SampleIdRecord));
  return bytes;
}

std::string metadata_text(const std::string& metadata)
{
  std::string text = metadata.empty() ? "{}" : metadata;
  const std::optional<JsonObject> object = scan_json_object(text, "writer");
  if (!object)
  {
    throw Error(ErrorCode::InvalidArgument, "metadata must be a JSON object in UTF-8");
  }
  if (!object->has_member)
  {
    text.insert(object->end,
      std::string(object->is_empty ? "" : ",") + "\"writer\":\"ParaBAT " + kLibraryVersion + "\"");
  }
  return text;
}
}
