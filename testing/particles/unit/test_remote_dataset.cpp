// SPDX-License-Identifier: BSD-3-Clause
// A dataset of many leaf files on a server: what a viewer does before its first picture takes few
// round trips, few more bytes than it shows, and gives the answers of the local dataset.

#include "bat/dataset.hpp"
#include "common/io/remote/remote_file.hpp"
#include "common/remote/remote_server.hpp"
#include "support/dataset_files.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

namespace
{
constexpr std::size_t kLeaves = 12;
constexpr std::uint64_t kParticles = 600000;

class RemoteDataset : public testing::Test
{
protected:
  RemoteDataset()
  {
    dataset_files::write(this->folder / "out.bat", dataset_files::slabs(this->cloud, kLeaves));
    this->server = std::make_unique<RemoteServer>(this->folder.path());
  }

  TempDir folder;
  clouds::Cloud cloud = clouds::clustered(kParticles, 4);
  std::unique_ptr<RemoteServer> server;
};

struct Picture
{
  double spacing = 0;
  std::uint64_t bound = 0;
  bat::CountEstimate estimate;
  std::vector<std::byte> bytes; ///< of positions and attributes
};

Picture make_picture(const bat::Dataset& dataset, bat::Query query)
{
  Picture picture;
  query.quality = dataset.quality_within(query, 100000);
  picture.spacing = dataset.spacing(query);
  picture.bound = dataset.upper_bound(query);
  picture.estimate = dataset.estimate_count(query);
  const bat::DatasetSelection selection = dataset.select(query);
  std::vector<std::size_t> attributes(dataset.attributes().size());
  std::iota(attributes.begin(), attributes.end(), std::size_t{ 0 });
  dataset.prefetch(selection, attributes);
  const auto room = [&](std::size_t one)
  {
    picture.bytes.resize(picture.bytes.size() + one * selection.count);
    return picture.bytes.data() + picture.bytes.size() - one * selection.count;
  };
  dataset.read_positions(selection, room(3 * bat::size_of(dataset.position_type())));
  for (const std::size_t i : attributes)
  {
    const bat::Attribute& a = dataset.attributes()[i];
    dataset.read_attribute(
      i, selection, room(static_cast<std::size_t>(a.components) * bat::size_of(a.type)));
  }
  return picture;
}

void expect_same(const Picture& a, const Picture& b)
{
  EXPECT_EQ(a.spacing, b.spacing);
  EXPECT_EQ(a.bound, b.bound);
  EXPECT_EQ(a.estimate.minimum, b.estimate.minimum);
  EXPECT_EQ(a.estimate.likely, b.estimate.likely);
  EXPECT_EQ(a.estimate.maximum, b.estimate.maximum);
  EXPECT_EQ(a.bytes, b.bytes);
}

TEST_F(RemoteDataset, the_first_picture_takes_few_round_trips)
{
  const bat::io::RemoteStatistics before = bat::io::remote_statistics();
  const bat::Dataset remote = bat::Dataset::open(this->server->at("plain/out.bat"));
  const Picture picture = make_picture(remote, {});
  const bat::io::RemoteStatistics after = bat::io::remote_statistics();
  EXPECT_LE(after.round_trips - before.round_trips, 8);
  // The ends of all leaf files are requested, too.
  EXPECT_LE(after.bytes_received - before.bytes_received,
    picture.bytes.size() + (kLeaves + 1) * (200 << 10));
  EXPECT_EQ(after.bytes_repeated, before.bytes_repeated);
  expect_same(picture, make_picture(bat::Dataset::open(this->folder / "out.bat"), {}));
}

TEST_F(RemoteDataset, a_box_takes_few_round_trips)
{
  const bat::Dataset local = bat::Dataset::open(this->folder / "out.bat");
  bat::Query query;
  query.box = local.bounds();
  for (std::size_t a = 0; a != 3; ++a)
  {
    const double size = query.box->upper[a] - query.box->lower[a];
    query.box->lower[a] += 0.3 * size;
    query.box->upper[a] -= 0.3 * size;
  }
  const bat::io::RemoteStatistics before = bat::io::remote_statistics();
  const bat::Dataset remote = bat::Dataset::open(this->server->at("plain;id=box/out.bat"));
  const Picture picture = make_picture(remote, query);
  EXPECT_LE(bat::io::remote_statistics().round_trips - before.round_trips, 12);
  expect_same(picture, make_picture(local, query));
}
}
