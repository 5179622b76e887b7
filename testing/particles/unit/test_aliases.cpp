// SPDX-License-Identifier: BSD-3-Clause
// Aliases: an array that repeats positions or another attribute is stored once and answers every
// query as if it were stored.

#include "common/numbers.hpp"
#include "support/damage.hpp"
#include "support/dataset_files.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace
{
using bat::format::SectionKind;

// A copy of a component of an array, or of all of it.
std::vector<std::byte> copy_of(
  const std::vector<std::byte>& from, std::size_t components, std::size_t bytes, int component)
{
  if (component < 0)
  {
    return from;
  }
  std::vector<std::byte> to;
  for (std::size_t at = static_cast<std::size_t>(component) * bytes; at < from.size();
       at += components * bytes)
  {
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(at),
      from.begin() + static_cast<std::ptrdiff_t>(at + bytes));
  }
  return to;
}

// All arrays again, under other names.
clouds::Cloud with_repeats(clouds::Cloud cloud)
{
  const std::size_t bytes = bat::size_of(cloud.position_type);
  const auto add = [&](const std::string& name, int components, int component)
  {
    cloud.columns.push_back(
      { name, cloud.position_type, components, copy_of(cloud.positions, 3, bytes, component) });
  };
  const std::vector<clouds::Cloud::Column> others = cloud.columns;
  add("x", 1, 0);
  add("y", 1, 1);
  add("coords_z", 1, 2);
  add("Position", 3, -1);
  for (const clouds::Cloud::Column& c : others)
  {
    cloud.columns.push_back({ c.name + " again", c.type, c.components, c.bytes });
    if (c.components > 1)
    {
      cloud.columns.push_back({ c.name + " last", c.type, 1,
        copy_of(c.bytes, static_cast<std::size_t>(c.components), bat::size_of(c.type),
          c.components - 1) });
    }
  }
  return cloud;
}

bat::BuildOptions options_with(bat::Repeats repeats)
{
  bat::BuildOptions options;
  options.treelet_particles = 512;
  options.block_particles = 64; // the order depends on it, and it on a particle's bytes
  options.repeats = repeats;
  options.compare_values = true;
  return options;
}

clouds::Cloud odd_cloud()
{
  clouds::Cloud cloud = clouds::with_nan(6000, 5);
  auto* p = reinterpret_cast<double*>(cloud.positions.data());
  p[0] = -0.0;
  p[3] = 0.0;
  return cloud;
}

bat::Query random_query(const std::vector<bat::Attribute>& attributes, clouds::Random& random)
{
  bat::Query query;
  const auto number = [&](const bat::Attribute& a) -> bat::Number
  {
    if (bat::value_class(a.type) != bat::ValueClass::Float)
    {
      const auto low = std::get_if<std::int64_t>(&a.keys[0].minimum);
      return low ? *low + static_cast<std::int64_t>(random() % 4000)
                 : static_cast<std::int64_t>(random() % 5);
    }
    switch (random() % 8)
    {
      case 0:
        return std::numeric_limits<double>::infinity() * (random() % 2 == 0 ? 1 : -1);
      case 1:
        return static_cast<std::int64_t>(random() % 3);
      default:
        return (clouds::unit(random) * 1.4 - 0.2) * (random() % 4 == 0 ? 10.0 : 1.0);
    }
  };
  const auto component = [&](const bat::Attribute& a)
  {
    return a.components > 1 && random() % 3 != 0
      ? std::optional<int>(static_cast<int>(random() % static_cast<unsigned>(a.components)))
      : std::nullopt;
  };
  for (std::size_t i = 1 + random() % 2; i != 0; --i)
  {
    const bat::Attribute& a = attributes[random() % attributes.size()];
    bat::Number lower = number(a);
    bat::Number upper = number(a);
    if (bat::compare(lower, upper) > 0)
    {
      std::swap(lower, upper);
    }
    switch (random() % 3)
    {
      case 0:
        query.ranges.push_back({ a.name, component(a), lower, upper });
        break;
      case 1:
        query.values.push_back({ a.name, component(a), { lower, upper, bat::Number(0.0) }, {} });
        break;
      default:
        query.values.push_back({ a.name, component(a), { upper }, { { lower, upper } } });
        break;
    }
    if (!query.values.empty())
    {
      query.values.back().negated = random() % 3 == 0;
    }
  }
  if (random() % 3 == 0)
  {
    query.box = bat::Box{ { 0.1, 0.0, 0.2 }, { 0.8, 0.9, 1.0 } };
  }
  if (random() % 3 == 0)
  {
    query.quality = clouds::unit(random);
    query.after_quality = query.quality * (random() % 2 == 0 ? 0.0 : 0.5);
  }
  if (random() % 4 == 0)
  {
    query.parts = 3;
    query.part = static_cast<std::uint32_t>(random() % 3);
  }
  return query;
}

std::vector<std::byte> values_of(
  const bat::Dataset& dataset, const std::string& name, const bat::DatasetSelection& selection)
{
  const std::size_t index = dataset.attribute_index(name);
  const bat::Attribute& a = dataset.attributes()[index];
  std::vector<std::byte> values(
    selection.count * bat::size_of(a.type) * static_cast<std::size_t>(a.components));
  dataset.read_attribute(index, selection, values.data());
  return values;
}

void expect_same_keys(const bat::Attribute& a, const bat::Attribute& b)
{
  ASSERT_EQ(a.keys.size(), b.keys.size()) << a.name;
  for (std::size_t k = 0; k != a.keys.size(); ++k)
  {
    EXPECT_EQ(a.keys[k].component, b.keys[k].component) << a.name;
    EXPECT_EQ(bat::compare(a.keys[k].minimum, b.keys[k].minimum), 0) << a.name << " " << k;
    EXPECT_EQ(bat::compare(a.keys[k].maximum, b.keys[k].maximum), 0) << a.name << " " << k;
    EXPECT_EQ(a.keys[k].has_nan, b.keys[k].has_nan) << a.name << " " << k;
  }
}

// The dataset with aliases describes all names like the one without.
void expect_same_answers(const bat::Dataset& stored, const bat::Dataset& linked)
{
  ASSERT_EQ(stored.attributes().size(), linked.attributes().size());
  for (const bat::Attribute& a : stored.attributes())
  {
    const bat::Attribute& b = linked.attributes()[linked.attribute_index(a.name)];
    EXPECT_EQ(a.type, b.type) << a.name;
    EXPECT_EQ(a.components, b.components) << a.name;
    expect_same_keys(a, b);
    for (const bat::Key& key : a.keys)
    {
      const auto of = [&](const bat::Dataset& d)
      { return d.histogram(d.attribute_index(a.name), key.component, 16); };
      EXPECT_EQ(of(stored).counts.size(), of(linked).counts.size()) << a.name;
      EXPECT_EQ(bat::compare(of(stored).lower, of(linked).lower), 0) << a.name;
    }
  }
  clouds::Random random(11);
  std::uint64_t found = 0;
  for (int i = 0; i != 600; ++i)
  {
    const bat::Query query = random_query(stored.attributes(), random);
    const bat::DatasetSelection a = stored.select(query);
    const bat::DatasetSelection b = linked.select(query);
    ASSERT_EQ(a.count, b.count) << i;
    ASSERT_EQ(a.parts.size(), b.parts.size()) << i;
    for (std::size_t p = 0; p != a.parts.size(); ++p)
    {
      ASSERT_EQ(a.parts[p].leaf, b.parts[p].leaf) << i;
      ASSERT_TRUE(std::equal(a.parts[p].selection.spans.begin(), a.parts[p].selection.spans.end(),
        b.parts[p].selection.spans.begin(), b.parts[p].selection.spans.end(),
        [](const bat::Span& x, const bat::Span& y)
        { return x.first == y.first && x.count == y.count; }))
        << i;
    }
    EXPECT_GE(linked.upper_bound(query), b.count) << i;
    found += b.count;
    if (i % 20 == 0)
    {
      for (const bat::Attribute& attribute : stored.attributes())
      {
        EXPECT_TRUE(values_of(stored, attribute.name, a) == values_of(linked, attribute.name, b))
          << attribute.name;
      }
      bat::Query whole = query;
      whole.after_quality = 0;
      whole.part = 0;
      whole.parts = 1;
      EXPECT_EQ(stored.quality_within(whole, 100), linked.quality_within(whole, 100)) << i;
    }
  }
  EXPECT_GT(found, 1000u);
}

std::string target_of(const bat::Dataset& dataset, const std::string& name)
{
  const bat::Attribute& a = dataset.attributes()[dataset.attribute_index(name)];
  return a.alias ? bat::to_string(*a.alias, dataset.attributes()) : "stored";
}

bat::Dataset write_and_open(const TempDir& folder, const std::string& name,
  const bat::ParticleView& view, const bat::BuildOptions& options)
{
  bat::write_file(folder / name, view, options);
  return bat::Dataset::open(folder / name);
}
}

TEST(Aliases, answer_as_if_they_were_stored)
{
  const TempDir folder;
  for (const clouds::Cloud& cloud :
    { with_repeats(clouds::uniform(5000, 3)), with_repeats(odd_cloud()) })
  {
    const bat::Dataset stored =
      write_and_open(folder, "stored.bat", cloud.view(), options_with(bat::Repeats::Store));
    const bat::Dataset linked =
      write_and_open(folder, "linked.bat", cloud.view(), options_with(bat::Repeats::Link));
    EXPECT_EQ(target_of(linked, "x"), "position[0]");
    EXPECT_EQ(target_of(linked, "coords_z"), "position[2]");
    EXPECT_EQ(target_of(linked, "Position"), "position");
    EXPECT_EQ(linked.bytes_per_particle(),
      3 * bat::size_of(cloud.position_type) + (cloud.columns.size() > 12 ? 53u : 20u));
    EXPECT_NO_THROW(bat::validate(stored));
    EXPECT_NO_THROW(bat::validate(linked));
    expect_same_answers(stored, linked);
  }
}

TEST(Aliases, answer_for_several_leaf_files)
{
  const TempDir folder;
  for (const clouds::Cloud& cloud :
    { with_repeats(clouds::clustered(6000, 4)), with_repeats(odd_cloud()) })
  {
    const std::vector<clouds::Cloud> parts = dataset_files::slabs(cloud, 4);
    dataset_files::write(folder / "stored.bat", parts, options_with(bat::Repeats::Store));
    dataset_files::write(folder / "linked.bat", parts, options_with(bat::Repeats::Link));
    const bat::Dataset stored = bat::Dataset::open(folder / "stored.bat");
    const bat::Dataset linked = bat::Dataset::open(folder / "linked.bat");
    EXPECT_EQ(linked.leaves().size(), 4u);
    EXPECT_EQ(target_of(linked, "y"), "position[1]");
    EXPECT_LT(linked.data_bytes(), stored.data_bytes());
    EXPECT_NO_THROW(bat::validate(linked));
    expect_same_answers(stored, linked);
    bat::Query query;
    query.ranges = { { "x", {}, 1e9, 2e9 } };
    const bool is_finite = !stored.attributes()[stored.attribute_index("x")].keys[0].has_nan;
    const std::uint64_t opened = linked.bytes_read();
    EXPECT_TRUE(!is_finite || linked.upper_bound(query) == 0);
    EXPECT_TRUE(!is_finite || linked.bytes_read() == opened) << "leaf files are apart from it";
  }
}

TEST(Aliases, keep_hints_and_are_named_by_bat_info)
{
  const std::vector<float> p{ 1, 2, 3, 4, 5, 6 };
  bat::ParticleView view;
  view.count = 2;
  view.positions = bat::ArrayView::packed(bat::ScalarType::Float32, 3, p.data());
  view.aliases = { { "height", "", 2, 4, 10 }, { "all", "" } };
  const bat::File file = bat::File::from_memory(bat::encode(view), "memory");
  ASSERT_EQ(file.attributes().size(), 2u);
  EXPECT_EQ(file.attributes()[0].role, 4);
  EXPECT_EQ(file.attributes()[0].host_type, 10u);
  EXPECT_EQ(file.attributes()[1].components, 3);
  std::array<float, 2> heights{};
  file.read_attribute(0, file.select({}), heights.data());
  EXPECT_EQ(heights[0] + heights[1], 9);
  EXPECT_NO_THROW(bat::validate(file));
  EXPECT_NO_THROW(bat::validate(bat::File::from_memory(
    [&]
    {
      view.count = 0;
      return bat::encode(view);
    }(),
    "empty")));
}

TEST(Aliases, in_the_same_memory_are_found_without_a_look_at_values)
{
  const TempDir folder;
  std::vector<double> p(3000);
  for (std::size_t i = 0; i != p.size(); ++i)
  {
    p[i] = std::cos(static_cast<double>(i));
  }
  std::vector<double> other = p;
  bat::ParticleView view;
  view.count = 1000;
  view.positions = bat::ArrayView::packed(bat::ScalarType::Float64, 3, p.data());
  bat::ArrayView second = bat::ArrayView::packed(bat::ScalarType::Float64, 1, p.data() + 1);
  second.stride_bytes = 24;
  view.attributes = { { "a", second },
    { "b", bat::ArrayView::packed(bat::ScalarType::Float64, 3, p.data()) },
    { "c", bat::ArrayView::packed(bat::ScalarType::Float64, 3, other.data()) },
    { "not in the same way", bat::ArrayView::packed(bat::ScalarType::Float64, 1, p.data() + 1) },
    { "bits", bat::ArrayView::packed(bat::ScalarType::Int64, 3, p.data()) } };
  bat::BuildOptions options;
  options.repeats = bat::Repeats::Link;
  const bat::Dataset linked = write_and_open(folder, "linked.bat", view, options);
  EXPECT_EQ(target_of(linked, "a"), "position[1]");
  EXPECT_EQ(target_of(linked, "b"), "position");
  for (const char* name : { "c", "not in the same way", "bits" })
  {
    EXPECT_EQ(target_of(linked, name), "stored") << name;
  }
  options.repeats = bat::Repeats::LeaveOut;
  EXPECT_EQ(write_and_open(folder, "out.bat", view, options).attribute_names(),
    (std::vector<std::string>{ "c", "not in the same way", "bits" }));
  options.repeats = bat::Repeats::Link;
  options.sorted_indexes = { "a" };
  EXPECT_EQ(target_of(write_and_open(folder, "indexed.bat", view, options), "a"), "stored");
}

TEST(Aliases, do_not_take_the_names_of_attributes_that_look_like_their_components)
{
  clouds::Cloud cloud = clouds::uniform(2000, 9);
  std::vector<std::int32_t> numbers(2000);
  std::iota(numbers.begin(), numbers.end(), 0);
  cloud.add("pos[0]", bat::ScalarType::Int32, numbers);
  bat::ParticleView view = cloud.view();
  view.aliases = { { "pos", "", -1 } };
  bat::BuildOptions options;
  options.sorted_indexes = { "pos[0]" };
  const bat::File file = bat::File::from_memory(bat::encode(view, options), "memory");
  EXPECT_TRUE(file.attributes()[file.attribute_index("pos[0]")].keys[0].has_sorted_index);
  options.sorted_indexes = { "pos[1]" };
  EXPECT_THROW((void)bat::encode(view, options), bat::Error);
}

TEST(Aliases, use_the_sorted_index_of_what_they_repeat)
{
  const clouds::Cloud cloud = clouds::uniform(20000, 9);
  bat::ParticleView view = cloud.view();
  view.aliases = { { "number", "id", -1 } };
  bat::BuildOptions options;
  options.sorted_indexes = { "id" };
  const bat::File file = bat::File::from_memory(bat::encode(view, options), "memory");
  const bat::Attribute& number = file.attributes()[file.attribute_index("number")];
  EXPECT_TRUE(number.keys[0].has_sorted_index);
  bat::Query query;
  query.values = { { "number", {}, { number.keys[0].minimum } } };
  const bat::Selection selection = file.select(query);
  EXPECT_EQ(selection.count, 1u);
  EXPECT_EQ(selection.tested, 0u);
}

TEST(Aliases, that_cannot_be_are_refused)
{
  const clouds::Cloud cloud = clouds::uniform(100, 1);
  const auto refusal = [&](
                         std::vector<bat::AliasView> aliases, std::vector<std::string> indexes = {})
  {
    bat::ParticleView view = cloud.view();
    view.aliases = std::move(aliases);
    bat::BuildOptions options;
    options.sorted_indexes = std::move(indexes);
    try
    {
      (void)bat::encode(view, options);
    }
    catch (const bat::Error& error)
    {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto expect = [](const std::string& text, const std::string& part)
  { EXPECT_NE(text.find(part), std::string::npos) << text; };
  expect(refusal({ { "id", "", 0 } }), "'id' occurs twice");
  expect(refusal({ { "", "", 0 } }), "name");
  expect(refusal({ { "a", "nothing", -1 } }), "no attribute 'nothing'");
  expect(refusal({ { "a", "", 3 } }), "component 3 of the positions; allowed are -1 (all) to 2");
  expect(refusal({ { "a", "velocity", -2 } }), "component -2 of 'velocity'");
  expect(refusal({ { "a", "", 0 }, { "b", "a", 0 } }), "no attribute 'a'");
  expect(refusal({ { "a", "", 0 } }, { "a" }), "'a' is an alias of the positions");
  EXPECT_EQ(refusal({ { "a", "", 0 }, { "b", "velocity", 1 } }), "");

  bat::ParticleView view = cloud.view();
  view.aliases = { { "a", "", 0 }, { "b", "velocity", -1 } };
  const TempDir folder;
  bat::write_file(folder / "mapped.bat", view);
  bat::OpenOptions map;
  map.map = true;
  const bat::File file = bat::File::open(folder / "mapped.bat", map);
  EXPECT_EQ(file.map_attribute(file.attribute_index("b"), 100),
    file.map_attribute(file.attribute_index("velocity"), 100));
  try
  {
    (void)file.map_attribute(file.attribute_index("a"), 100);
    ADD_FAILURE() << "positions are not x after x";
  }
  catch (const bat::Error& error)
  {
    expect(error.what(), "'a' is position[0] and not stored in a column of its own");
  }
}

TEST(Aliases, that_lie_are_corrupt)
{
  const clouds::Cloud cloud = clouds::uniform(100, 1);
  bat::ParticleView view = cloud.view();
  view.aliases = { { "one", "", 0 }, { "two", "id", -1 } };
  const bat::Bytes bytes = bat::encode(view);
  const damage::Bytes sound(bytes.begin(), bytes.end());
  const auto complaint = [&](std::uint64_t offset, auto value)
  {
    damage::Bytes file = sound;
    const auto record = damage::load<bat::format::SectionRecord>(
      file, damage::section_record(file, SectionKind::Aliases));
    damage::store(file, record.offset + offset, value);
    damage::repair_checksums(file);
    try
    {
      bat::validate(bat::File::from_memory(file, "lie.bat"));
    }
    catch (const bat::Error& error)
    {
      EXPECT_EQ(error.code(), bat::ErrorCode::Corrupt);
      return std::string(error.what());
    }
    return std::string();
  };
  const auto expect = [](const std::string& text, const std::string& part)
  { EXPECT_NE(text.find(part), std::string::npos) << text; };
  constexpr std::uint64_t first = 8 + 4 * 24; // record
  expect(complaint(0, std::uint32_t{ 0 }), "alias_count is 0");
  expect(complaint(0, std::uint32_t{ 3 }), "ALIASES");
  expect(complaint(4, std::uint32_t{ 1 }), "reserved");
  expect(complaint(8, std::numeric_limits<double>::quiet_NaN()), "position key 0");
  expect(complaint(8, -7.0), "position key 0 does not match its values");
  expect(complaint(8 + 3 * 24 + 8, 99.0), "position key 3 does not match its values");
  expect(complaint(8 + 16, std::uint32_t{ 1 }), "NaN mark of position key 0");
  expect(complaint(first, std::uint32_t{ 77 }), "alias 0");
  expect(complaint(first + 4, std::int16_t{ 3 }), "component 3");
  expect(complaint(first + 4, std::int16_t{ -2 }), "component -2");
  expect(complaint(first + 7, std::uint8_t{ 1 }), "alias 0");
  expect(complaint(first + 12, std::uint32_t{ 0 }), "alias 0");
  expect(complaint(first + 12, std::uint32_t{ 900 }), "a name");
  EXPECT_EQ(complaint(first + 32, 't'), ""); // another name
  expect(complaint(first + 32, '\0'), "the name of alias 0");
  expect(complaint(first + 32, '\xff'), "not valid UTF-8");
  EXPECT_EQ(complaint(first + 6, std::uint8_t{ 5 }), ""); // another hint
}
