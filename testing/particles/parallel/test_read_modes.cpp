// SPDX-License-Identifier: BSD-3-Clause
// Ranks that read for others: every result equals that of a direct read, bit by bit; each leaf file
// is opened and read once, and communicators are duplicated once.
#include "parallel/nodes.hpp"
#include "particles/parallel/aggregated_read.hpp"
#include "particles/parallel/mpi_support.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace
{
std::atomic<std::uint64_t> leaf_opens{ 0 };
std::atomic<int> duplicates{ 0 };
std::atomic<int> splits{ 0 };
}

extern "C" int openat(int folder, const char* path, int flags, ...)
{
  using OpenAt = int (*)(int, const char*, int, ...);
  static const auto real = reinterpret_cast<OpenAt>(::dlsym(RTLD_NEXT, "openat"));
  std::va_list rest;
  va_start(rest, flags);
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, int) : 0;
  va_end(rest);
  leaf_opens += std::strstr(path, ".leaves/") != nullptr ? 1 : 0;
  return real(folder, path, flags, mode);
}

extern "C" int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made)
{
  ++duplicates;
  return PMPI_Comm_dup(comm, made);
}

extern "C" int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made)
{
  ++splits;
  return PMPI_Comm_split_type(comm, type, key, info, made);
}

namespace
{
using bat::mpi::Particles;
using bat::mpi::ReadMode;
using bat::mpi::ReadOptions;
using bat::mpi::ReadReport;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::SharedDir;

constexpr double kInf = std::numeric_limits<double>::infinity();

std::uint64_t sum(std::uint64_t local)
{
  MPI_Allreduce(MPI_IN_PLACE, &local, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return local;
}

clouds::Cloud make_cloud(std::uint64_t count)
{
  clouds::Random random(11);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::clustered_positions<float>(count, random));
  std::vector<double> heat(count);
  std::vector<float> velocity(3 * count);
  for (double& h : heat)
  {
    h = clouds::unit(random);
  }
  for (float& v : velocity)
  {
    v = static_cast<float>(clouds::normal(random));
  }
  cloud.add("id", bat::ScalarType::Int64, clouds::shuffled_ids(count, random, 1));
  cloud.add("heat", bat::ScalarType::Float64, heat);
  cloud.add("velocity", bat::ScalarType::Float32, velocity, 3);
  return cloud;
}

/// A dataset of `count` particles in leaf files of about `target` bytes.
class Written
{
public:
  explicit Written(std::uint64_t count = 20000, std::uint64_t target = 100000)
    : all(make_cloud(count))
  {
    bat::mpi::WriteOptions options;
    options.target_bytes = target;
    const clouds::Cloud local = mpi_test::subset(this->all,
      [](std::uint64_t i)
      { return static_cast<int>(i % static_cast<std::uint64_t>(ranks())) == rank(); });
    bat::mpi::write_dataset(MPI_COMM_WORLD, this->path, local.view(), options);
  }

  [[nodiscard]] bat::Dataset open(const bat::OpenOptions& options = {}) const
  {
    return bat::mpi::open_dataset(MPI_COMM_WORLD, this->path, options);
  }

  clouds::Cloud all;
  SharedDir folder;
  std::filesystem::path path = folder / "out.bat";
};

/// Slabs of equal width along x, one per rank, without upper faces and unbounded at the ends.
bat::Query slab(const bat::Dataset& dataset)
{
  const bat::Box bounds = dataset.bounds().value();
  const auto cut = [&](int i)
  {
    return i == 0    ? -kInf
      : i == ranks() ? kInf
                     : bounds.lower[0] + (bounds.upper[0] - bounds.lower[0]) * i / ranks();
  };
  bat::Query query;
  query.box = bat::Box{ { cut(rank()), -kInf, -kInf }, { cut(rank() + 1), kInf, kInf } };
  query.half_open = true;
  return query;
}

bat::Query part()
{
  bat::Query query;
  query.part = static_cast<std::uint32_t>(rank());
  query.parts = static_cast<std::uint32_t>(ranks());
  return query;
}

/// All kinds of queries, a different one on each rank.
std::vector<bat::Query> queries(const bat::Dataset& dataset)
{
  const double r = rank();
  std::vector<bat::Query> all{ {}, part(), slab(dataset) };
  bat::Query q;
  q.box = bat::Box{ { 0.05 * r, 0.1, 0.1 }, { 0.5 + 0.05 * r, 0.8, 0.8 } }; // covers several ranks
  all.push_back(q);
  q.quality = 0.5;
  q.after_quality = 0.1;
  q.ranges.push_back({ "heat", {}, 0.05 * r, 0.7 });
  q.ranges.push_back({ "velocity", 1, std::int64_t{ -1 }, kInf });
  all.push_back(q);
  q = {};
  q.values.push_back({ "id", {}, { std::int64_t{ 5 }, std::int64_t{ 700 + rank() } },
    { { std::int64_t{ 900 }, std::uint64_t{ 1100 } } } });
  all.push_back(q);
  q.values[0].negated = true;
  q.shapes.push_back({ bat::Sphere{ { 0.5, 0.5, 0.5 }, 0.3 + 0.01 * r }, rank() % 2 == 0 });
  q.shapes.push_back({ bat::Slab{ { 1, 1, 0 }, -1, 2 } });
  q.shapes.push_back({ bat::OrientedBox{ { 0.5, 0.5, 0.5 }, {}, { 0.4, 0.4, 0.4 } } });
  std::get<bat::OrientedBox>(q.shapes.back().form).axes = { { { 1, 1, 0 }, { -1, 1, 0 },
    { 0, 0, 1 } } };
  all.push_back(q);
  q = {};
  q.box = bat::Box{ { 7, 7, 7 }, { 8, 8, 8 } }; // nothing, on one rank
  all.push_back(rank() == ranks() - 1 ? q : bat::Query{});
  all.push_back(rank() == 0 ? bat::Query{} : q); // everything, on one rank
  all.push_back(q);                              // nothing at all
  return all;
}

void expect_equal(const Particles& a, const Particles& b, const std::string& what)
{
  EXPECT_EQ(a.count, b.count) << what;
  EXPECT_EQ(a.position_type, b.position_type) << what;
  EXPECT_TRUE(a.positions == b.positions) << what;
  ASSERT_EQ(a.columns.size(), b.columns.size()) << what;
  for (std::size_t c = 0; c != a.columns.size(); ++c)
  {
    EXPECT_EQ(a.columns[c].name, b.columns[c].name) << what;
    EXPECT_EQ(a.columns[c].type, b.columns[c].type) << what;
    EXPECT_EQ(a.columns[c].components, b.columns[c].components) << what;
    EXPECT_TRUE(a.columns[c].values == b.columns[c].values) << what << " " << a.columns[c].name;
  }
}

Particles read(const bat::Dataset& dataset, const bat::Query& query, ReadMode mode,
  const std::vector<std::string>& names = {}, ReadReport* report = nullptr,
  std::uint64_t memory_bytes = ReadOptions{}.memory_bytes)
{
  ReadOptions options;
  options.mode = mode;
  options.memory_bytes = memory_bytes;
  return bat::mpi::read_particles(MPI_COMM_WORLD, dataset, query, names, options, report);
}

void expect_equal_answers(const bat::Dataset& dataset, const std::string& what)
{
  const std::vector<bat::Query> all = queries(dataset);
  for (std::size_t i = 0; i != all.size(); ++i)
  {
    const std::string query = what + ", query " + std::to_string(i);
    const Particles direct = read(dataset, all[i], ReadMode::Direct);
    expect_equal(direct, read(dataset, all[i], ReadMode::Aggregated), query);
    expect_equal(direct, read(dataset, all[i], ReadMode::Auto), query + ", auto");
    // Ranks read one or two files at a time, or none.
    for (const std::uint64_t memory : { 250000, 1 })
    {
      expect_equal(direct, read(dataset, all[i], ReadMode::Aggregated, {}, nullptr, memory),
        query + ", memory " + std::to_string(memory));
    }
  }
}

TEST(ReadModes, give_the_same_answer_to_every_query)
{
  const Written written;
  EXPECT_GE(written.open().leaves().size(), 7u);
  expect_equal_answers(written.open(), "several leaf files");
  bat::OpenOptions mapped;
  mapped.map = true;
  expect_equal_answers(written.open(mapped), "mapped");
}

TEST(ReadModes, give_the_same_answer_from_one_leaf_file_or_none)
{
  expect_equal_answers(Written(3000, 1u << 30).open(), "one leaf file");
  const Written empty(0);
  EXPECT_EQ(read(empty.open(), {}, ReadMode::Aggregated).count, 0u);
}

TEST(ReadModes, give_the_same_answer_from_files_of_the_papers_library)
{
  const bat::Dataset dataset =
    bat::mpi::open_dataset(MPI_COMM_WORLD, BAT_LIBBAT_DATA "/lattice8/lattice8.pbat");
  bat::Query some = part();
  some.quality = 0.3;
  for (const bat::Query& query : { bat::Query{}, part(), slab(dataset), some })
  {
    const Particles direct = read(dataset, query, ReadMode::Direct);
    EXPECT_GT(sum(direct.count), 0u);
    for (const std::uint64_t memory : { 1 << 20, 1 })
    {
      expect_equal(
        direct, read(dataset, query, ReadMode::Aggregated, {}, nullptr, memory), "paper");
    }
  }
}

TEST(ReadModes, give_the_same_answer_for_some_of_the_attributes)
{
  const Written written;
  const bat::Dataset dataset = written.open();
  const std::vector<std::string> names{ "velocity", "id" };
  for (const bat::Query& query : { bat::Query{}, part(), slab(dataset) })
  {
    expect_equal(read(dataset, query, ReadMode::Direct, names),
      read(dataset, query, ReadMode::Aggregated, names), "velocity and id");
    // Each rank names the attributes in its own order, or twice.
    const std::vector<std::string> own = rank() % 2 == 0
      ? std::vector<std::string>{ "id", "velocity" }
      : std::vector<std::string>{ "velocity", "id", "velocity" };
    const Particles direct = read(dataset, query, ReadMode::Direct, own);
    ASSERT_EQ(direct.columns.size(), own.size());
    EXPECT_EQ(direct.columns.back().name, "velocity");
    expect_equal(direct, read(dataset, query, ReadMode::Aggregated, own), "in other orders");
    EXPECT_TRUE(direct.columns.front().values == direct.columns.back().values || rank() % 2 == 0);
  }
}

// Messages of one particle, of a few, and repeated lookups of the results.
TEST(ReadModes, give_the_same_answer_whatever_the_size_of_messages)
{
  const Written written(3000, 20000);
  const bat::Dataset dataset = written.open();
  const bat::mpi::OwnComm own(MPI_COMM_WORLD);
  const std::vector<std::string> names = dataset.attribute_names();
  for (const bat::Query& query : queries(dataset))
  {
    const Particles direct = read(dataset, query, ReadMode::Direct);
    const bat::mpi::RankQuery requested(dataset, query, names);
    for (const std::size_t message_bytes : { 1, 1000, 30000 })
    {
      bat::mpi::AggregatedRead plan;
      for (std::size_t leaf = 0; leaf != dataset.leaves().size(); ++leaf)
      {
        plan.tasks.push_back({ leaf, dataset.leaves()[leaf].file_bytes, 0, 0 });
      }
      plan.memory_bytes = 50000;
      plan.rounds =
        assign_readers(plan.tasks, bat::mpi::find_nodes(own).layout(), plan.memory_bytes);
      plan.message_bytes = message_bytes;
      plan.selection_bytes = message_bytes == 1000 ? 100 : plan.selection_bytes;
      Particles aggregated = bat::mpi::empty_answer(requested, names);
      bat::mpi::MessageCounter messages(own);
      (void)read_aggregated(own, requested, plan, {}, {}, aggregated, messages);
      expect_equal(direct, aggregated, "messages of " + std::to_string(message_bytes));
    }
  }
}

TEST(ReadModes, aggregated_opens_each_leaf_file_once_and_reads_its_bytes_once)
{
  const Written written(60000, 250000);
  for (const bool boxes : { true, false })
  {
    std::atomic<std::uint64_t> bytes{ 0 };
    bat::OpenOptions options;
    options.on_read = [&](std::uint64_t, std::uint64_t size) { bytes += size; };
    const bat::Dataset dataset = written.open(options);
    const std::uint64_t files = dataset.leaves().size();
    leaf_opens = 0;
    ReadReport report;
    const Particles local =
      read(dataset, boxes ? slab(dataset) : part(), ReadMode::Aggregated, {}, &report);
    EXPECT_EQ(sum(local.count), written.all.count);
    EXPECT_EQ(sum(leaf_opens), files);
    EXPECT_LE(static_cast<double>(sum(bytes)), 1.05 * static_cast<double>(dataset.file_bytes()));
    EXPECT_EQ(report.opens, files);
    EXPECT_LE(
      static_cast<double>(report.read_bytes), 1.05 * static_cast<double>(dataset.file_bytes()));
    EXPECT_EQ(report.leaf_files, files);
    EXPECT_EQ(report.particles, written.all.count);
    EXPECT_EQ(report.ranks, ranks());
    EXPECT_EQ(report.nodes, 1);
    EXPECT_EQ(report.aggregators, std::min(ranks(), static_cast<int>(files)));
    EXPECT_EQ(report.messages.between, 0u);
    EXPECT_EQ(report.messages.within == 0, ranks() == 1);
    EXPECT_GT(report.peak_memory_bytes, report.messages.max_received_bytes);
    EXPECT_EQ(mpi_test::of_root(to_json(report)), to_json(report));
    EXPECT_EQ(mpi_test::of_root(to_line(report)), to_line(report));
  }
}

// Only particles of one rank are requested: no other file is touched.
TEST(ReadModes, aggregated_leaves_files_alone_that_nobody_asks_for)
{
  const Written written;
  const bat::Dataset dataset = written.open();
  bat::Query query;
  query.box = dataset.leaves()[2].bounds;
  leaf_opens = 0;
  ReadReport report;
  const Particles local = read(dataset, query, ReadMode::Aggregated, {}, &report);
  EXPECT_GE(local.count, dataset.leaves()[2].particles);
  EXPECT_EQ(sum(leaf_opens), report.leaf_files);
  EXPECT_LT(report.leaf_files, dataset.leaves().size());
  EXPECT_EQ(report.data_bytes, report.particles * dataset.bytes_per_particle());
}

TEST(ReadModes, report_goes_to_whom_it_is_given_and_options_are_those_of_rank_zero)
{
  const Written written;
  const bat::Dataset dataset = written.open();
  ReadReport report;
  ReadOptions options;
  options.mode = rank() == 0 ? ReadMode::Aggregated : ReadMode::Direct;
  const bool wants = rank() == ranks() - 1;
  (void)bat::mpi::read_particles(
    MPI_COMM_WORLD, dataset, {}, {}, options, wants ? &report : nullptr);
  EXPECT_EQ(report.ranks, wants ? ranks() : 0);
  if (wants)
  {
    EXPECT_EQ(report.mode, ReadMode::Aggregated);
    EXPECT_EQ(report.reason, "requested");
    EXPECT_EQ(report.rounds, 1u);
  }
  EXPECT_EQ(bat::mpi::parse_read_mode("direct"), ReadMode::Direct);
  EXPECT_THROW((void)bat::mpi::parse_read_mode("collective"), bat::Error);
}

TEST(ReadModes, communicators_are_duplicated_once)
{
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const Written written(2000, 20000);
  duplicates = 0;
  splits = 0;
  for (int i = 0; i != 3; ++i)
  {
    const bat::Dataset dataset = bat::mpi::open_dataset(comm, written.path);
    const Particles local = bat::mpi::read_particles(comm, dataset, part());
    bat::mpi::write_dataset(comm, written.path, local.view());
  }
  EXPECT_EQ(duplicates, 1);
  EXPECT_EQ(splits, 1);
  // A freed communicator keeps nothing for the next, and a duplicate has its own state.
  MPI_Comm_free(&comm);
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  (void)bat::mpi::threads_per_rank(comm);
  EXPECT_EQ(duplicates, 2);
  MPI_Comm again = MPI_COMM_NULL;
  PMPI_Comm_dup(comm, &again);
  (void)bat::mpi::threads_per_rank(again);
  EXPECT_EQ(duplicates, 3);
  MPI_Comm_free(&comm);
  (void)bat::mpi::threads_per_rank(again);
  EXPECT_EQ(duplicates, 3);
  MPI_Comm_free(&again);
}

// As `mpirun -np 1` binds its rank to one core.
TEST(Report, names_the_option_that_gives_ranks_their_processors)
{
  const long there_are = ::sysconf(_SC_NPROCESSORS_ONLN);
  cpu_set_t before;
  CPU_ZERO(&before);
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t all;
  cpu_set_t one;
  CPU_ZERO(&all);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu != CPU_SETSIZE; ++cpu)
  {
    if (CPU_ISSET(cpu, &before) && CPU_COUNT(&one) == 0)
    {
      CPU_SET(cpu, &one);
    }
    if (cpu < there_are)
    {
      CPU_SET(cpu, &all);
    }
  }
  const auto advice = [](const cpu_set_t& processors)
  {
    EXPECT_EQ(::sched_setaffinity(0, sizeof(processors), &processors), 0);
    const SharedDir folder;
    const bat::mpi::DatasetReport report =
      bat::mpi::write_dataset(MPI_COMM_WORLD, folder / "out.bat", make_cloud(100).view());
    EXPECT_NE(to_line(report).find("leaf file by 1 aggregator on "), std::string::npos);
    EXPECT_EQ(to_line(report).find(report.advice) != std::string::npos, true);
    EXPECT_EQ(mpi_test::of_root(report.advice), report.advice);
    return report.advice;
  };
  const bool idle = there_are > ranks();
  EXPECT_EQ(advice(one).find("--bind-to none") != std::string::npos, idle);
  if (::sched_setaffinity(0, sizeof(all), &all) == 0 &&
    ::sched_getaffinity(0, sizeof(all), &all) == 0 && CPU_COUNT(&all) == there_are)
  {
    EXPECT_EQ(advice(all), "");
  }
  EXPECT_EQ(::sched_setaffinity(0, sizeof(before), &before), 0);
}

std::vector<bat::mpi::ReadTask> make_tasks(std::uint64_t files, std::uint64_t bytes)
{
  std::vector<bat::mpi::ReadTask> tasks;
  for (std::uint64_t i = 0; i != files; ++i)
  {
    tasks.push_back({ i, bytes + i % 7, 0, 0 });
  }
  return tasks;
}

bat::mpi::NodeLayout find_nodes(std::uint32_t ranks, std::uint32_t ranks_per_node)
{
  std::vector<std::uint32_t> node_of_ranks;
  for (std::uint32_t rank = 0; rank != ranks; ++rank)
  {
    node_of_ranks.push_back(rank / ranks_per_node);
  }
  return bat::mpi::NodeLayout(node_of_ranks);
}

TEST(ReadPlan, spreads_readers_evenly_and_fills_rounds)
{
  std::vector<bat::mpi::ReadTask> few = make_tasks(1000, 1 << 20);
  EXPECT_EQ(assign_readers(few, find_nodes(1000000, 100), 1 << 21), 1u);
  std::set<int> readers;
  std::set<int> nodes;
  for (const bat::mpi::ReadTask& task : few)
  {
    readers.insert(task.reader);
    nodes.insert(task.reader / 100);
  }
  EXPECT_EQ(readers.size(), few.size());
  EXPECT_EQ(nodes.size(), few.size());
  std::vector<bat::mpi::ReadTask> many = make_tasks(1000, 1 << 20);
  const std::uint32_t rounds = assign_readers(many, find_nodes(30, 7), 5u << 20);
  EXPECT_GE(rounds, 9u); // 33 or 34 files each, four at a time
  EXPECT_LE(rounds, 10u);
  std::map<int, std::uint64_t> files;
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> bytes;
  for (const bat::mpi::ReadTask& task : many)
  {
    ++files[task.reader];
    bytes[{ task.reader, task.round }] += task.file_bytes;
  }
  EXPECT_EQ(files.size(), 30u);
  for (const auto& [reader, count] : files)
  {
    EXPECT_NEAR(static_cast<double>(count), 1000.0 / 30, 1.5) << reader;
  }
  for (const auto& [at, sum] : bytes)
  {
    EXPECT_LE(sum, 5u << 20) << at.first << " " << at.second;
  }
  // One giant among many files takes no reader from others, and does not count where it is not
  // held.
  std::vector<bat::mpi::ReadTask> uneven = make_tasks(8, 1000);
  uneven[3].file_bytes = std::uint64_t{ 1 } << 40;
  EXPECT_EQ(assign_readers(uneven, find_nodes(8, 8), 1 << 20), 1u);
  for (std::size_t i = 0; i != uneven.size(); ++i)
  {
    EXPECT_EQ(uneven[i].reader, static_cast<int>(i));
  }
}

// Eight ranks, each of which requests a part of each of two files of 27 MB.
TEST(ReadPlan, aggregates_where_requests_are_slow_and_files_shared)
{
  bat::mpi::ReadDemand demand;
  demand.ranks = 8;
  demand.leaf_files = 2;
  demand.opens = 16;
  demand.answer_bytes = demand.file_bytes = 54e6;
  demand.largest_leaf = 27000000;
  demand.direct_bytes = 16 * bat::mpi::direct_bytes(1.0 / 8, 1, 27e6);
  constexpr std::uint64_t memory = std::uint64_t{ 256 } << 20;
  EXPECT_EQ(reason_for_direct(demand, memory), "");
  EXPECT_EQ(choose_read_mode(demand, { 5e-3, 1e-3, 500e6 }).mode, ReadMode::Aggregated);
  const bat::mpi::ReadChoice cached = choose_read_mode(demand, { 1e-4, 5e-6, 5e9 });
  EXPECT_EQ(cached.mode, ReadMode::Direct);
  EXPECT_NE(cached.reason.find("memory"), std::string::npos);
  // Ids are looked up in few requests, however slow these are.
  bat::mpi::ReadDemand ids = demand;
  ids.answer_bytes = ids.direct_bytes = 0;
  EXPECT_EQ(choose_read_mode(ids, { 5e-3, 1e-3, 500e6 }).mode, ReadMode::Direct);

  EXPECT_NE(reason_for_direct(demand, 1000), "");
  bat::mpi::ReadDemand other = demand;
  other.opens = 2;
  EXPECT_NE(reason_for_direct(other, memory), "");
  other = demand;
  other.query_bytes = std::uint64_t{ 8 } << 20;
  EXPECT_NE(reason_for_direct(other, memory), "");
  other = demand;
  other.ranks = 1;
  EXPECT_NE(reason_for_direct(other, memory), "");

  // Files are read whole if much is requested or many ranks request it, but not a huge file for a
  // few.
  EXPECT_TRUE(bat::mpi::reads_whole(1, 0.1, 1, 27e6));
  EXPECT_TRUE(bat::mpi::reads_whole(8, 0.01, 1, 27e6));
  EXPECT_FALSE(bat::mpi::reads_whole(8, 0.001, 1, 1e9));
  EXPECT_FALSE(bat::mpi::reads_whole(0, 0, 1, 27e6));
}
}
