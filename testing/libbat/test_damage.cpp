// SPDX-License-Identifier: BSD-3-Clause
// Damaged files of the paper's library: an error or an answer, but never a crash, a hang or
// excessive memory. These files have no checksums, so the answer may be wrong.

#include "bat/dataset.hpp"
#include "samples.hpp"
#include "support/allocation_limit.hpp"
#include "support/thread_time.hpp"

#include <array>
#include <fcntl.h>
#include <functional>
#include <iostream>
#include <unistd.h>

namespace
{
using Bytes = std::vector<std::byte>;

std::vector<bat::Query> some_queries(const std::string& attribute)
{
  std::vector<bat::Query> queries(4);
  queries[1].quality = 0.3;
  queries[2].box = bat::Box{ { 0, 0, 0 }, { 0.5, 0.7, 0.6 } };
  queries[3].ranges.push_back({ attribute, std::nullopt, 0.05, 0.5 });
  return queries;
}

/// Runs every kind of request; returns nothing if it was rejected with an Error.
std::optional<std::vector<std::byte>> ask(
  const std::filesystem::path& path, const std::vector<bat::Query>& queries)
{
  try
  {
    (void)bat::libbat::is_leaf(path);
    const auto leaf = bat::libbat::open_leaf(path);
    std::vector<std::byte> answer;
    for (const bat::Query& query : queries)
    {
      const bat::OrdinalInterval ranks{ leaf->particle_count() / 5, leaf->particle_count() };
      for (const bat::OrdinalInterval& interval : { samples::all_ordinals(*leaf), ranks })
      {
        const samples::Values values =
          samples::read(*leaf, leaf->select(query, interval, { 1 }), 1);
        answer.insert(answer.end(), values.positions.begin(), values.positions.end());
        for (const auto& column : values.columns)
        {
          answer.insert(answer.end(), column.begin(), column.end());
        }
      }
    }
    return answer;
  }
  catch (const bat::Error& error)
  {
    EXPECT_NE(std::string(error.what()).find(path.filename().string()), std::string::npos)
      << error.what();
    return std::nullopt;
  }
}

void validate(const std::filesystem::path& path)
{
  try
  {
    bat::libbat::open_leaf(path, {}, bat::libbat::KeyRanges::Exact)->validate();
  }
  catch (const bat::Error&)
  {
  }
}

// A copy of a file in which single bytes can be changed.
class Patient
{
public:
  explicit Patient(Bytes bytes)
    : bytes_(std::move(bytes))
  {
    write_bytes(this->path(), this->bytes_);
    this->descriptor_ = ::open(this->path().c_str(), O_RDWR | O_CLOEXEC);
  }
  Patient(const Patient&) = delete;
  Patient& operator=(const Patient&) = delete;
  ~Patient() { ::close(this->descriptor_); }

  [[nodiscard]] std::filesystem::path path() const { return this->dir_ / "patient.bat"; }
  [[nodiscard]] const Bytes& bytes() const { return this->bytes_; }
  void set(std::size_t offset, std::byte value) const
  {
    ASSERT_EQ(::pwrite(this->descriptor_, &value, 1, static_cast<off_t>(offset)), 1);
  }
  void cut(std::size_t size) const
  {
    ASSERT_EQ(::ftruncate(this->descriptor_, static_cast<off_t>(size)), 0);
  }

private:
  TempDir dir_;
  Bytes bytes_;
  int descriptor_ = -1;
};

TEST(Damage, a_file_cut_at_any_length_is_refused)
{
  for (const char* name : { "one_particle/one_particle0.bat", "good/good0.bat" })
  {
    const Patient patient(read_bytes(samples::file(name)));
    const auto queries = some_queries(name[0] == 'g' ? "a" : "e");
    ASSERT_TRUE(ask(patient.path(), queries));
    for (std::size_t size = patient.bytes().size(); size-- != 0;)
    {
      patient.cut(size);
      ASSERT_FALSE(ask(patient.path(), queries)) << name << " cut to " << size;
    }
  }
}

TEST(Damage, any_flipped_bit_is_an_error_or_harmless)
{
  // For the larger file, every bit of header and trees; damage to particles cannot be detected.
  const std::array<std::pair<const char*, std::size_t>, 2> files{ {
    { "one_particle/one_particle0.bat", 1 },
    { "good/good0.bat", 37 },
  } };
  for (const auto& [name, payload_step] : files)
  {
    const Patient patient(read_bytes(samples::file(name)));
    const auto queries = some_queries(name[0] == 'g' ? "a" : "e");
    const auto whole = ask(patient.path(), queries);
    ASSERT_TRUE(whole);
    std::size_t refused = 0;
    std::size_t cases = 0;
    std::size_t changed = 0;
    allocations::take_largest();
    for (std::size_t bit = 0; bit != 8 * patient.bytes().size(); ++bit)
    {
      const std::size_t at = bit / 8;
      const bool tree = at < 480 || (at >= 4096 && at < 4400) || (at >= 8192 && at % 4096 < 80);
      if (!tree && bit % payload_step != 0)
      {
        continue;
      }
      patient.set(at, patient.bytes()[at] ^ static_cast<std::byte>(1 << bit % 8));
      const double begin = thread_seconds();
      const auto answer = ask(patient.path(), queries);
      validate(patient.path());
      patient.set(at, patient.bytes()[at]);
      ++cases;
      refused += answer ? 0 : 1;
      changed += answer && answer != whole ? 1 : 0;
      ASSERT_LT(thread_seconds() - begin, 10.0) << bit;
      ASSERT_LT(allocations::take_largest(), 4U << 20) << bit;
    }
    std::cout << name << ": " << cases << " bits, " << refused << " refused, " << changed
              << " with another answer\n";
    EXPECT_GT(refused, 100U);
  }
}

TEST(Damage, every_count_in_the_header_is_checked)
{
  const TempDir dir;
  const auto path = dir / "hostile.bat";
  const Bytes good = read_bytes(samples::file("good/good0.bat"));
  write_bytes(path, good);
  const auto queries = some_queries("a");
  const auto whole = ask(path, queries);
  ASSERT_TRUE(whole);
  allocations::take_largest();
  const nlohmann::json values[] = { 0, 1, 2, 3, 6, 9, 12, 4095, 65535, 65536, 1000000000,
    std::uint64_t{ 1 } << 32, std::uint64_t{ 1 } << 45, std::uint64_t{ 1 } << 62,
    ~std::uint64_t{ 0 }, -1, 1.5, 1e300, "x", nullptr, true, nlohmann::json::array(),
    nlohmann::json::object(), nlohmann::json::array({ 1, 2 }),
    nlohmann::json::array({ 1, 2, 3, 4, 5, "x" }),
    nlohmann::json::array({ 1, 2, 3, 4, 5, 1e300 }) };
  const char* keys[] = { "attributes", "bitmap_dict_size", "bounds", "has_ranges", "max_lod",
    "min_lod", "num_lod_prims", "num_nodes", "num_points", "num_treelets" };
  for (const char* key : keys)
  {
    for (const nlohmann::json& value : values)
    {
      SCOPED_TRACE(std::string(key) + " = " + value.dump());
      write_bytes(path, samples::with_json(good, [&](nlohmann::json& json) { json[key] = value; }));
      const auto answer = ask(path, queries);
      validate(path);
      ASSERT_LT(allocations::take_largest(), 4U << 20);
      const std::string name = key;
      if (name == "max_lod" || name == "min_lod")
      {
        EXPECT_EQ(answer, whole); // nothing depends on these
      }
      if (name == "num_nodes" || name == "num_points" || name == "num_treelets")
      {
        EXPECT_FALSE(answer);
      }
    }
    write_bytes(path, samples::with_json(good, [&](nlohmann::json& json) { json.erase(key); }));
    (void)ask(path, queries);
  }
  for (const nlohmann::json& value : values)
  {
    for (const char* key : { "dtype", "name", "range" })
    {
      SCOPED_TRACE(std::string(key) + " = " + value.dump());
      write_bytes(path,
        samples::with_json(
          good, [&](nlohmann::json& json) { json["attributes"][0][key] = value; }));
      (void)ask(path, queries);
      validate(path);
    }
  }
}

TEST(Damage, a_header_that_hides_attributes_or_has_too_many_is_refused)
{
  const TempDir dir;
  const auto path = dir / "hidden.bat";
  const Bytes good = read_bytes(samples::file("good/good0.bat"));
  const nlohmann::json more{ { "name", "b" }, { "dtype", 9 }, { "range", { 0.0, 1.0 } } };
  const std::function<void(nlohmann::json&)> changes[] = {
    [](nlohmann::json& json) { json["attributes"] = nlohmann::json::array(); },
    [](nlohmann::json& json) { json.erase("attributes"); },
    [](nlohmann::json& json) { json["attributes"][0]["dtype"] = 1; },
    [&](nlohmann::json& json) { json["attributes"].push_back(more); },
  };
  for (const auto& change : changes)
  {
    write_bytes(path, samples::with_json(good, change));
    EXPECT_FALSE(ask(path, { bat::Query{} }));
    bat::Query query;
    query.box = bat::Box{ { 0, 0, 0 }, { 1, 1, 1 } };
    EXPECT_THROW((void)bat::Dataset::open(path).select(query), bat::Error);
  }
}

/// Writes 32 bits.
Bytes with(Bytes file, std::size_t offset, std::uint32_t value)
{
  std::memcpy(file.data() + offset, &value, 4);
  return file;
}

// In good0.bat: 7 shallow nodes from 4096, 8 offsets from 4208, a dictionary of 11 from 4272,
// treelet 0 from 8192 (3 nodes, 198 particles).
TEST(Damage, broken_trees_are_refused)
{
  const TempDir dir;
  const auto path = dir / "broken.bat";
  const Bytes good = read_bytes(samples::file("good/good0.bat"));
  const auto queries = some_queries("a");
  const std::pair<const char*, Bytes> cases[] = {
    { "shallow node its own child", with(good, 4096, 2) },
    { "shallow node with a child beyond the nodes", with(good, 4096, 7 << 2) },
    { "shallow node with a huge child", with(good, 4100, 0x80000000) },
    { "shallow axis 1000000", with(good, 4108, 1000000) },
    { "shallow axis -1", with(good, 4108, 0xffffffff) },
    { "treelet offset 2^45", with(good, 4212, 1 << 13) },
    { "treelet offset 0", with(good, 4208, 0) },
    { "treelet offset without alignment", with(good, 4208, 4097) },
    { "two treelets at one place", with(good, 4216, 4096) },
    { "0 nodes", with(good, 8192, 0) },
    { "1 node", with(good, 8192, 1) },
    { "2^32 - 1 nodes", with(good, 8192, 0xffffffff) },
    { "2^32 - 1 particles", with(good, 8196, 0xffffffff) },
    { "one particle more", with(good, 8196, 199) },
    { "right child 2^29", with(good, 8204, 0x80000000) },
    { "right child itself", with(good, 8204, 0) },
    { "right child its parent's left", with(good, 8204, 1 << 2) },
    { "LOD particles elsewhere", with(good, 8208, 100) },
    { "leaf elsewhere", with(good, 8212, 9) },
    { "leaf too large", with(good, 8216, (2000 << 2) | 3) },
    { "leaf becomes inner node", with(good, 8216, 2 << 2) },
    { "bitmap beyond the dictionary", with(good, 8192 + 8 + 36, 0xffffffff) },
  };
  for (const auto& [what, bytes] : cases)
  {
    write_bytes(path, bytes);
    EXPECT_FALSE(ask(path, queries)) << what;
  }
  // A number in the tree over the treelets is ignored.
  write_bytes(path, with(good, 4316, 0xffff));
  EXPECT_TRUE(ask(path, queries));
}

TEST(Damage, texts_that_are_no_header_are_refused)
{
  const TempDir dir;
  const auto path = dir / "text.bat";
  const auto file_of = [](const std::string& text, std::uint64_t length)
  {
    Bytes bytes(8 + text.size());
    std::memcpy(bytes.data(), &length, 8);
    std::memcpy(bytes.data() + 8, text.data(), text.size());
    bytes.resize(std::max<std::size_t>(bytes.size(), 16384));
    return bytes;
  };
  const std::string deep = "{\"num_treelets\":" + std::string(1 << 20, '[');
  for (const std::string& text : { std::string(), std::string("{"), std::string("{}"),
         std::string("[1,2]"), std::string("{\"a\": [1,2          "), deep,
         std::string("{\"\xff\":1}"), std::string(100, '\0') })
  {
    for (const std::uint64_t length : { std::uint64_t{ text.size() }, std::uint64_t{ 0 },
           std::uint64_t{ 1 } << 40, ~std::uint64_t{ 0 } })
    {
      write_bytes(path, file_of(text, length));
      EXPECT_FALSE(ask(path, {}));
      EXPECT_FALSE(bat::libbat::is_leaf(path));
      EXPECT_FALSE(bat::libbat::is_top(path));
    }
  }
  write_bytes(path, {});
  EXPECT_FALSE(bat::libbat::is_leaf(path));
  EXPECT_FALSE(ask(path, {}));
  EXPECT_FALSE(bat::libbat::is_leaf(dir.path()));
  EXPECT_FALSE(bat::libbat::is_top(dir / "absent.pbat"));
}

TEST(Damage, a_top_file_cut_at_any_length_is_refused)
{
  const TempDir dir;
  std::filesystem::copy(samples::file("good/good0.bat"), dir / "good0.bat");
  const Bytes whole = read_bytes(samples::file("good/good.pbat"));
  for (std::size_t size = 0; size <= whole.size(); ++size)
  {
    write_bytes(
      dir / "good.pbat", { whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size) });
    bool read = true;
    try
    {
      (void)bat::libbat::read_top(dir / "good.pbat");
    }
    catch (const bat::Error&)
    {
      read = false;
    }
    ASSERT_EQ(read, size == whole.size()) << size;
  }
}

class Dataset
{
public:
  Dataset() { std::filesystem::copy(samples::file("good/good0.bat"), this->dir_ / "good0.bat"); }

  /// Returns false if it is rejected.
  bool reads(const nlohmann::json& json, const std::vector<std::uint32_t>& nodes) const
  {
    const std::string text = json.dump();
    Bytes bytes(8 + text.size() + 4 * nodes.size() + 10);
    const std::uint64_t length = text.size();
    std::memcpy(bytes.data(), &length, 8);
    std::memcpy(bytes.data() + 8, text.data(), text.size());
    for (std::size_t i = 0; i != nodes.size(); ++i)
    {
      std::memcpy(bytes.data() + 8 + text.size() + 4 * i, &nodes[i], 4);
    }
    write_bytes(this->dir_ / "good.pbat", bytes);
    try
    {
      (void)bat::libbat::read_top(this->dir_ / "good.pbat");
      return true;
    }
    catch (const bat::Error&)
    {
      return false;
    }
  }

private:
  TempDir dir_;
};

TEST(Damage, hostile_top_files_are_refused)
{
  const Dataset dataset;
  nlohmann::json good;
  {
    const Bytes bytes = read_bytes(samples::file("good/good.pbat"));
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    const char* text = reinterpret_cast<const char*>(bytes.data()) + 8;
    good = nlohmann::json::parse(text, text + length);
  }
  const std::vector<std::uint32_t> leaf{ 0, 7 };
  ASSERT_TRUE(dataset.reads(good, leaf));
  const auto changed = [&](const char* key, const nlohmann::json& value)
  {
    nlohmann::json json = good;
    json[key] = value;
    return json;
  };
  EXPECT_FALSE(dataset.reads(changed("bat_prefix", "nothere"), leaf));
  EXPECT_FALSE(dataset.reads(changed("bat_prefix", "../good"), leaf));
  EXPECT_FALSE(dataset.reads(changed("bat_prefix", std::string("good\0", 5)), leaf));
  EXPECT_FALSE(dataset.reads(changed("bat_prefix", 3), leaf));
  EXPECT_FALSE(dataset.reads(changed("num_nodes", 10000000), leaf));
  EXPECT_FALSE(dataset.reads(changed("num_nodes", ~std::uint64_t{ 0 }), leaf));
  EXPECT_FALSE(dataset.reads(changed("num_aggregators", std::uint64_t{ 1 } << 63), leaf));
  EXPECT_FALSE(dataset.reads(changed("num_aggregators", 0), leaf));
  EXPECT_FALSE(dataset.reads(changed("bitmap_dict_size", std::uint64_t{ 1 } << 62), leaf));
  EXPECT_FALSE(dataset.reads(changed("num_points", 1499), leaf));
  EXPECT_FALSE(dataset.reads(changed("num_points", 1501), leaf));
  EXPECT_FALSE(dataset.reads(changed("attributes", nlohmann::json::array()), leaf));
  nlohmann::json other = good;
  other["attributes"][0]["dtype"] = 10;
  EXPECT_FALSE(dataset.reads(other, leaf));
  EXPECT_FALSE(dataset.reads(good, { 0, 5000 << 2 }));
  EXPECT_FALSE(dataset.reads(good, {}));

  nlohmann::json three = good;
  three["num_nodes"] = 3;
  three["num_aggregators"] = 2;
  EXPECT_TRUE(dataset.reads(three, { 0, 2 << 2, 0, 7, 1, 7 }));  // rank 1 has no particles
  EXPECT_FALSE(dataset.reads(three, { 0, 2 << 2, 0, 7, 0, 7 })); // a leaf file twice
  EXPECT_FALSE(dataset.reads(three, { 0, 1 << 2, 0, 7, 1, 7 }));
  EXPECT_FALSE(dataset.reads(three, { 0, 0 << 2, 0, 7, 1, 7 }));
  EXPECT_FALSE(dataset.reads(three, { 0, 2 << 2, 0, 2 << 2, 1, 7 }));
  EXPECT_FALSE(dataset.reads(three, { 0, 7, 1, 7, 2, 7 }));
}

TEST(Damage, arguments_that_cannot_be_honoured_are_refused)
{
  const auto leaf = bat::libbat::open_leaf(samples::file("good/good0.bat"));
  const auto refused = [](const std::function<void()>& call)
  {
    try
    {
      call();
      return false;
    }
    catch (const bat::Error& error)
    {
      return error.code() == bat::ErrorCode::InvalidArgument;
    }
  };
  std::vector<std::byte> out(1 << 20);
  const bat::OrdinalInterval all = samples::all_ordinals(*leaf);
  bat::Query query;
  query.quality = 2;
  EXPECT_TRUE(refused([&] { (void)leaf->select(query, all, {}); }));
  query = {};
  query.ranges.push_back({ "b", std::nullopt, 0.0, 1.0 });
  EXPECT_TRUE(refused([&] { (void)leaf->select(query, all, {}); }));
  EXPECT_TRUE(refused([&] { (void)leaf->select({}, { 0, 1501 }, {}); }));
  EXPECT_TRUE(refused([&] { (void)leaf->select({}, { 2, 1 }, {}); }));
  EXPECT_TRUE(refused([&] { leaf->read_attribute(1, {}, out.data(), {}); }));
  EXPECT_TRUE(refused(
    [&] {
      leaf->read_positions({ { { 1000, 501 } }, 501, 0 }, out.data(), {});
    }));
  EXPECT_TRUE(refused(
    [&] {
      leaf->read_positions({ { { 5, 5 }, { 9, 1 } }, 6, 0 }, out.data(), {});
    }));
  EXPECT_TRUE(refused([&] { leaf->read_positions({ { { 5, 5 } }, 6, 0 }, out.data(), {}); }));
  const auto dataset = bat::Dataset::open(samples::file("good/good0.bat"));
  EXPECT_TRUE(refused([&] { (void)dataset.leaf_file(0); })); // not a bat::File
  query = {};
  query.part = 7; // the interval of ranks replaces it
  EXPECT_EQ(leaf->select(query, all, {}).count, 1500U);
}
}
