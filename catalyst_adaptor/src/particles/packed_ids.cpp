// SPDX-License-Identifier: BSD-3-Clause
#include "packed_ids.hpp"

#include "bat/ids.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace bat::catalyst
{
namespace
{
constexpr std::string_view kId = "_id";
constexpr std::string_view kCpu = "_cpu";
constexpr std::string_view kIdCpu = "_idcpu";

bool contains(const std::vector<std::string>& names, const std::string& name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns X for X_id; empty if the name does not end in _id.
std::optional<std::string> stem_of(const std::string& name, std::string_view end)
{
  return name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0
    ? std::optional(name.substr(0, name.size() - end.size()))
    : std::nullopt;
}

template <class T>
T value_at(const ArrayView& values, std::uint64_t i)
{
  T value;
  std::memcpy(&value, values.component[0] + i * values.stride_bytes, sizeof(value));
  return value;
}

template <class T>
void put(std::byte* values, std::uint64_t i, T value)
{
  std::memcpy(values + i * sizeof(value), &value, sizeof(value));
}
}

std::string PackedIds::name_of(const std::string& field) const
{
  const auto found = std::find(this->fields.begin(), this->fields.end(), field);
  return found == this->fields.end() ? field : found == this->fields.begin() ? "id" : "cpu";
}

std::vector<std::string> find_half_pairs(const std::map<std::string, std::string>& types)
{
  std::vector<std::string> pairs;
  for (const auto& [name, type] : types)
  {
    const std::optional<std::string> stem = stem_of(name, kId);
    const auto other = stem ? types.find(*stem + std::string(kCpu)) : types.end();
    if (type == "int32" && other != types.end() && other->second == "int32")
    {
      pairs.push_back(*stem);
    }
  }
  return pairs;
}

std::optional<PackedIds> find_packed_ids(
  const std::map<std::string, std::string>& types, const std::vector<std::string>& apart)
{
  PackedIds packed;
  for (const auto& [name, type] : types)
  {
    if (type == "uint64" && stem_of(name, kIdCpu))
    {
      packed.fields = { name };
    }
  }
  for (const std::string& stem : find_half_pairs(types))
  {
    if (packed.fields.empty() && !contains(apart, stem))
    {
      packed.fields = { stem + std::string(kId), stem + std::string(kCpu) };
    }
  }
  if (packed.fields.empty())
  {
    return std::nullopt;
  }
  packed.taken = types.count("id") != 0 ? "id" : types.count("cpu") != 0 ? "cpu" : "";
  return packed;
}

bool may_hold_ids(const std::string& field, const std::vector<std::string>& requested)
{
  const auto wants = [&](const char* part, const std::string& name)
  { return contains(requested, part) || contains(requested, name); };
  if (stem_of(field, kIdCpu))
  {
    return wants("id", "cpu");
  }
  const std::optional<std::string> of_id = stem_of(field, kId);
  const std::optional<std::string> stem = of_id ? of_id : stem_of(field, kCpu);
  return stem && (wants("id", *stem + std::string(kId)) || wants("cpu", *stem + std::string(kCpu)));
}

void unpack_ids(ParticleView& particles, const PackedIds& packed, Arrays& arrays)
{
  const std::uint64_t count = particles.count;
  std::vector<AttributeView>& attributes = particles.attributes;
  std::vector<ArrayView> parts;
  for (const std::string& name : packed.fields)
  {
    const auto found = std::find_if(
      attributes.begin(), attributes.end(), [&](const AttributeView& a) { return a.name == name; });
    if (found == attributes.end())
    {
      return;
    }
    parts.push_back(found->values);
  }
  const bool is_whole = parts.size() == 1;
  const ArrayView& low = parts.front();
  const ArrayView& high = parts.back();
  std::byte* const ids = arrays.room(count * sizeof(std::int64_t));
  std::byte* const cpus = arrays.room(count * sizeof(std::int32_t));
  for (std::uint64_t i = 0; i != count; ++i)
  {
    const AmrexId one = unpack_amrex_id(is_whole
        ? value_at<std::uint64_t>(low, i)
        : join_amrex_halves(value_at<std::int32_t>(low, i), value_at<std::int32_t>(high, i)));
    put(ids, i, one.id);
    put(cpus, i, one.cpu);
  }
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(),
                     [&](const AttributeView& a) { return contains(packed.fields, a.name); }),
    attributes.end());
  attributes.push_back({ "id", ArrayView::packed(ScalarType::Int64, 1, ids) });
  attributes.push_back({ "cpu", ArrayView::packed(ScalarType::Int32, 1, cpus) });
}
}
