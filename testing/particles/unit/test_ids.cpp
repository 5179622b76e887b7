// SPDX-License-Identifier: BSD-3-Clause
// Packed AMReX ids, and how ids are found among attributes.
#include "bat/file.hpp"
#include "bat/ids.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace
{
using bat::ScalarType;
using Names = std::vector<std::string>;

bat::Attribute attribute(
  const std::string& name, ScalarType type = ScalarType::Int64, std::uint8_t role = 0)
{
  return { name, type, 1, role, 0, {} };
}

// The name of the id attribute, and of the one together with which ids are unique.
Names parse_ids(const std::vector<bat::Attribute>& attributes, const std::string& species = "")
{
  const auto id = bat::find_id_attribute(attributes, species);
  if (!id)
  {
    return {};
  }
  const auto second = bat::find_second_id_attribute(attributes, *id);
  return second ? Names{ attributes[*id].name, attributes[*second].name }
                : Names{ attributes[*id].name };
}

TEST(Ids, of_amrex_are_unpacked)
{
  struct Case
  {
    std::uint64_t packed;
    std::int64_t id;
    std::int32_t cpu;
  };
  // The first two are WarpX's: ids from 1 on, of rank 0 and of rank 2.
  for (const Case& c : { Case{ 0x8000000001000000u, 1, 0 }, Case{ 0x8000000001000002u, 1, 2 },
         Case{ 0x0000000005000003u, -5, 3 }, Case{ 0xFFFFFFFFFFFFFFFFu, 549755813887, 16777215 },
         Case{ 0x7FFFFFFFFF000000u, -549755813887, 0 }, Case{ 0x8000000000000000u, 0, 0 },
         Case{ 0u, 0, 0 } })
  {
    const bat::AmrexId one = bat::unpack_amrex_id(c.packed);
    EXPECT_EQ(one.id, c.id) << c.packed;
    EXPECT_EQ(one.cpu, c.cpu) << c.packed;
    const auto low = static_cast<std::int32_t>(static_cast<std::uint32_t>(c.packed));
    const auto high = static_cast<std::int32_t>(static_cast<std::uint32_t>(c.packed >> 32));
    EXPECT_EQ(bat::join_amrex_halves(low, high), c.packed);
  }
}

TEST(Ids, are_found_by_themselves)
{
  const auto a = [](const char* name) { return attribute(name); };
  EXPECT_EQ(parse_ids({ a("mass"), a("id"), a("cpu") }), (Names{ "id", "cpu" }));
  EXPECT_EQ(parse_ids({ a("cpu"), a("Particle_IDs") }), (Names{ "Particle_IDs" }));
  EXPECT_EQ(parse_ids({ a("id"), attribute("tag", ScalarType::Int32, 6) }), (Names{ "tag" }));
  EXPECT_EQ(parse_ids({ a("dust_cpu"), a("dust_id") }), (Names{ "dust_id", "dust_cpu" }));
  EXPECT_EQ(parse_ids({ attribute("ions_idcpu", ScalarType::UInt64) }), (Names{ "ions_idcpu" }));
  EXPECT_EQ(parse_ids({ a("ions_idcpu") }), Names()); // packed ids are uint64
  EXPECT_EQ(parse_ids({ attribute("id"), attribute("cpu", ScalarType::Float64) }), (Names{ "id" }));
}

TEST(Ids, that_end_in_id_are_those_of_the_species_of_this_name_only)
{
  const std::vector<bat::Attribute> attributes{ attribute("material_id"), attribute("dust_id") };
  EXPECT_EQ(parse_ids(attributes), Names());
  EXPECT_EQ(parse_ids(attributes, "dust"), (Names{ "dust_id" }));
}

TEST(Ids, names_in_options_become_those_of_attributes)
{
  const std::vector<bat::Attribute> halves{ attribute("dust_id"), attribute("dust_cpu") };
  EXPECT_EQ(bat::resolve_id_names({ "id", "mass" }, halves, false), (Names{ "dust_id", "mass" }));
  EXPECT_EQ(bat::resolve_id_names({ "id" }, halves, true), (Names{ "dust_id", "dust_cpu" }));
  const std::vector<bat::Attribute> both{ attribute("id"), attribute("cpu"), attribute("x_id") };
  EXPECT_EQ(bat::resolve_id_names({ "cpu", "id" }, both, true), (Names{ "cpu", "id" }));
  EXPECT_EQ(bat::resolve_id_names({ "id" }, { attribute("mass") }, true), (Names{ "id" }));
}
}
