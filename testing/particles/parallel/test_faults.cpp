// SPDX-License-Identifier: BSD-3-Clause
// Parallel writes and reads that cannot be finished: the same error on every rank within seconds,
// the old dataset intact, nothing new visible, and a clean next write.
#include "particles/dataset/dataset_folder.hpp"
#include "particles/parallel/mpi_support.hpp"
#include "support/file_size_limit.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace
{
using bat::ErrorCode;
using bat::mpi::Phase;
using mpi_test::of_root;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::rows;
using mpi_test::SharedDir;
namespace fs = std::filesystem;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMaxSeconds = 10;
constexpr std::uint64_t kSeveral = 20000;  // target bytes: about 6 leaf files
constexpr std::uint64_t kOne = 1u << 30;   // one leaf file
constexpr std::uint64_t kParticles = 4000; // 32 bytes each

bool is_last()
{
  return rank() == ranks() - 1;
}

clouds::Cloud make_cloud(std::uint64_t seed, std::uint64_t count = kParticles)
{
  clouds::Random random(seed);
  clouds::Cloud cloud;
  cloud.set_positions(clouds::clustered_positions<float>(count, random));
  std::vector<double> heat(count);
  for (double& h : heat)
  {
    h = clouds::unit(random);
  }
  cloud.add("id", bat::ScalarType::Int64,
    clouds::shuffled_ids(count, random, static_cast<std::int64_t>(seed) << 32));
  cloud.add("heat", bat::ScalarType::Float64, heat);
  return cloud;
}

clouds::Cloud dealt(const clouds::Cloud& all)
{
  return mpi_test::subset(all,
    [](std::uint64_t i)
    { return static_cast<int>(i % static_cast<std::uint64_t>(ranks())) == rank(); });
}

/// Everything below a folder: names, and for files the bytes.
std::map<std::string, std::vector<std::byte>> everything(const fs::path& folder)
{
  std::map<std::string, std::vector<std::byte>> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
  {
    all[entry.path().string()] =
      entry.is_regular_file() ? read_bytes(entry.path()) : std::vector<std::byte>();
  }
  return all;
}

/// Checks on rank 0 that the dataset is valid and contains `all`, and that no other files exist.
void expect_dataset(const fs::path& path, const clouds::Cloud& all)
{
  if (rank() == 0)
  {
    EXPECT_NO_THROW(bat::validate(path));
    EXPECT_TRUE(rows(mpi_test::read_alone(path).view()) == rows(all.view()));
    const std::vector<bat::LeafInfo> leaves = bat::Dataset::open(path).leaves();
    std::vector<std::string> files;
    const std::string name = path.filename().string();
    for (const std::string& found : names_in(path.parent_path()))
    {
      if (found.find(name) != std::string::npos)
      {
        files.push_back(found);
      }
    }
    if (leaves.size() == 1)
    {
      EXPECT_EQ(files, std::vector<std::string>{ name });
    }
    else
    {
      EXPECT_EQ(files, (std::vector<std::string>{ name, name + ".leaves" }));
      EXPECT_EQ(names_in(path.string() + ".leaves").size(), leaves.size());
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Calls f, which must fail with `code` and `words` in the same text on every rank, in time.
template <class F>
void expect_same_error(ErrorCode code, const std::vector<std::string>& words, F&& f)
{
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  std::string text;
  int found = -1;
  try
  {
    f();
    ADD_FAILURE() << "did not fail";
  }
  catch (const bat::Error& error)
  {
    text = error.what();
    found = static_cast<int>(error.code());
  }
  EXPECT_LT(MPI_Wtime() - start, kMaxSeconds);
  EXPECT_EQ(found, static_cast<int>(code)) << text;
  EXPECT_EQ(text, of_root(text));
  for (const std::string& word : words)
  {
    EXPECT_NE(text.find(word), std::string::npos) << text << "\nlacks: " << word;
  }
}

/// Write options as BAT_TEST_LEADERS requires: flat, or through this many leaders on nodes of two
/// ranks.
bat::mpi::WriteOptions routed()
{
  bat::mpi::WriteOptions options;
  if (const char* const leaders = std::getenv("BAT_TEST_LEADERS"))
  {
    options.routing = { bat::Route::Leaders, std::atoi(leaders), 2 };
  }
  return options;
}

/// The particles that a rank passes to a write.
struct Attempt
{
  fs::path path;
  clouds::Cloud local;
  bat::ParticleView view; ///< views `local`
  bat::mpi::WriteOptions options = routed();
  std::shared_ptr<void> guard; ///< must live as long as the write
};

/// A write that spoil(attempt) spoils, over an existing dataset and without one.
template <class Spoil>
void expect_failure(
  std::uint64_t target, ErrorCode code, const std::vector<std::string>& words, const Spoil& spoil)
{
  SCOPED_TRACE(target == kOne ? "one leaf file" : "several leaf files");
  const clouds::Cloud before = make_cloud(1);
  const clouds::Cloud after = make_cloud(2);
  bat::mpi::WriteOptions good = routed();
  for (const std::uint64_t old_target : { target == kOne ? kOne : std::uint64_t{ 0 }, kSeveral })
  {
    SCOPED_TRACE(old_target == 0 ? "nothing before"
        : old_target == kOne     ? "one leaf file before"
                                 : "several leaf files before");
    const SharedDir folder;
    const fs::path path = folder / "out.bat";
    if (old_target != 0)
    {
      good.target_bytes = old_target;
      bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(before).view(), good);
    }
    std::map<std::string, std::vector<std::byte>> files;
    if (rank() == 0)
    {
      fs::permissions(folder / "", fs::perms(0755));
      files = everything(folder / "");
    }
    Attempt attempt;
    attempt.path = path;
    attempt.local = dealt(after);
    attempt.view = attempt.local.view();
    attempt.options.target_bytes = target;
    MPI_Barrier(MPI_COMM_WORLD);
    spoil(attempt);
    expect_same_error(code, words,
      [&]
      {
        const std::shared_ptr<void> guard = std::move(attempt.guard);
        bat::mpi::write_dataset(MPI_COMM_WORLD, attempt.path, attempt.view, attempt.options);
      });
    attempt = {}; // its functions may hold a guard, too
    if (rank() == 0)
    {
      EXPECT_TRUE(everything(folder / "") == files) << "files differ from those before";
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (old_target != 0)
    {
      expect_dataset(path, before);
    }
    good.target_bytes = target;
    bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(after).view(), good);
    expect_dataset(path, after);
  }
}

template <class Spoil>
void expect_failure(ErrorCode code, const std::vector<std::string>& words, const Spoil& spoil)
{
  expect_failure(kSeveral, code, words, spoil);
  expect_failure(kOne, code, words, spoil);
}

std::string last_rank()
{
  return "rank " + std::to_string(ranks() - 1) + ": ";
}

TEST(Faults, attribute_missing_on_one_rank)
{
  expect_failure(ErrorCode::InvalidArgument,
    { last_rank() + "attribute 'heat' is missing here", "on rank 0 it is 1 x float64" },
    [](Attempt& a)
    {
      if (is_last())
      {
        a.view.attributes.pop_back();
      }
    });
}

TEST(Faults, attribute_of_another_type_on_one_rank)
{
  expect_failure(ErrorCode::InvalidArgument,
    { last_rank() + "attribute 'heat' is 1 x int64 here and 1 x float64 on rank 0" },
    [](Attempt& a)
    {
      if (is_last())
      {
        a.view.attributes[1].values.type = bat::ScalarType::Int64;
      }
    });
}

TEST(Faults, attribute_of_more_components_on_one_rank)
{
  expect_failure(ErrorCode::InvalidArgument,
    { last_rank() + "attribute 'heat' is 3 x float32 here and 1 x float64 on rank 0" },
    [](Attempt& a)
    {
      if (is_last())
      {
        a.view.attributes[1].values =
          bat::ArrayView::packed(bat::ScalarType::Float32, 3, a.local.positions.data());
      }
    });
}

TEST(Faults, extra_attribute_on_one_rank)
{
  expect_failure(ErrorCode::InvalidArgument,
    { last_rank() + "attribute 'more' (1 x float64) exists here but not on rank 0" },
    [](Attempt& a)
    {
      if (is_last())
      {
        a.view.attributes.push_back({ "more", a.view.attributes[1].values });
      }
    });
}

TEST(Faults, positions_of_another_type_on_one_rank)
{
  std::vector<double> positions(3 * kParticles, 0.5);
  expect_failure(ErrorCode::InvalidArgument,
    { last_rank() + "positions are float64 here and float32 on rank 0" },
    [&](Attempt& a)
    {
      if (is_last())
      {
        a.view.positions = bat::ArrayView::packed(bat::ScalarType::Float64, 3, positions.data());
      }
    });
}

TEST(Faults, null_pointer_on_one_rank)
{
  expect_failure(ErrorCode::InvalidArgument, { last_rank(), "heat" },
    [](Attempt& a)
    {
      if (is_last())
      {
        a.view.attributes[1].values = bat::ArrayView::packed(bat::ScalarType::Float64, 1, nullptr);
        a.view.attributes[1].values.component = {};
      }
    });
}

TEST(Faults, duplicate_names_on_one_rank)
{
  expect_failure(ErrorCode::InvalidArgument, { last_rank(), "'id' occurs twice" },
    [](Attempt& a)
    {
      if (is_last())
      {
        a.view.attributes[1].name = "id";
      }
    });
}

TEST(Faults, metadata_that_is_no_object_on_one_rank)
{
  expect_failure(ErrorCode::InvalidArgument, { last_rank() },
    [](Attempt& a) { a.view.metadata = is_last() ? "[" : "{}"; });
}

TEST(Faults, options_out_of_range)
{
  expect_failure(ErrorCode::InvalidArgument, { "index_budget is nan" },
    [](Attempt& a) { a.options.build.index_budget = kNaN; });
  expect_failure(ErrorCode::InvalidArgument, { "max_split_imbalance_ratio is nan" },
    [](Attempt& a) { a.options.max_split_imbalance_ratio = kNaN; });
}

TEST(Faults, nan_box_on_one_rank)
{
  for (const bat::PlanMode mode : { bat::PlanMode::RankBorder, bat::PlanMode::Aug })
  {
    expect_failure(ErrorCode::InvalidArgument, { last_rank(), "local bounds on the y axis", "nan" },
      [&](Attempt& a)
      {
        a.options.mode = mode;
        a.options.local_bounds = bat::Box{ { 0, 0, 0 }, { 1, is_last() ? kNaN : 1, 1 } };
      });
  }
}

TEST(Faults, huge_box_is_cut_to_float)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud(1);
  bat::mpi::WriteOptions options = routed();
  options.mode = bat::PlanMode::RankBorder;
  options.target_bytes = kSeveral;
  options.local_bounds = bat::Box{ { -1e300, -1e300, -1e300 }, { 1e300, 1e300, 1e300 } };
  bat::mpi::write_dataset(MPI_COMM_WORLD, folder / "out.bat", dealt(all).view(), options);
  expect_dataset(folder / "out.bat", all);
}

TEST(Faults, whatever_is_thrown_in_any_phase)
{
  struct Case
  {
    ErrorCode code;
    std::string word;
    std::function<void()> raise;
  };
  const std::vector<Case> cases{
    { ErrorCode::OutOfMemory, "out of memory", [] { throw std::bad_alloc(); } },
    { ErrorCode::NoSpace, "No space left",
      [] {
        throw fs::filesystem_error("mine", std::make_error_code(std::errc::no_space_on_device));
      } },
    { ErrorCode::InvalidArgument, "mine", [] { throw std::runtime_error("mine"); } },
    { ErrorCode::Corrupt, "mine", [] { throw bat::Error(ErrorCode::Corrupt, "mine"); } },
    { ErrorCode::InvalidArgument, "unknown exception", [] { throw 42; } },
  };
  for (int phase = 0; phase != 5; ++phase)
  {
    SCOPED_TRACE(bat::mpi::name_of(static_cast<Phase>(phase)));
    const Case& c = cases[static_cast<std::size_t>(phase)];
    const auto spoil = [phase](const Case& thrown)
    {
      return [&thrown, phase](Attempt& a)
      {
        a.options.on_phase = [&thrown, phase](Phase now)
        {
          if (is_last() && now == static_cast<Phase>(phase))
          {
            thrown.raise();
          }
        };
      };
    };
    // Throws bad_alloc in each phase, and another exception in each.
    expect_failure(cases[0].code, { last_rank(), cases[0].word }, spoil(cases[0]));
    expect_failure(kSeveral, c.code, { last_rank(), c.word }, spoil(c));
  }
}

TEST(Faults, of_several_ranks_the_lowest_speaks)
{
  expect_failure(ErrorCode::InvalidArgument, { "rank 0: from 0" },
    [](Attempt& a)
    {
      a.options.on_phase = [](Phase now)
      {
        if (now == Phase::Write)
        {
          throw std::runtime_error("from " + std::to_string(rank()));
        }
      };
    });
}

TEST(Faults, progress_cancels_or_throws_at_any_time)
{
  for (const std::uint64_t target : { kSeveral, kOne })
  {
    // The calls during a whole write; the last comes when the dataset is in its place.
    int calls = 0;
    {
      const SharedDir folder;
      bat::mpi::WriteOptions options = routed();
      options.target_bytes = target;
      double last = 0;
      options.build.progress = [&](double fraction)
      {
        EXPECT_EQ(rank(), 0);
        EXPECT_GE(fraction, last);
        last = fraction;
        ++calls;
        return true;
      };
      bat::mpi::write_dataset(
        MPI_COMM_WORLD, folder / "out.bat", dealt(make_cloud(2)).view(), options);
      MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
      EXPECT_EQ(rank() == 0 ? last : 1, 1);
    }
    ASSERT_GE(calls, 8);
    const int step = std::max(1, calls / 4);
    for (int at = 1; at < calls; at = at < calls - 1 ? std::min(at + step, calls - 1) : calls)
    {
      SCOPED_TRACE(at);
      const bool cancel = at % 2 == 0;
      int call = 0;
      expect_failure(target, cancel ? ErrorCode::Cancelled : ErrorCode::InvalidArgument,
        { cancel ? "cancelled" : "rank 0: mine" },
        [&](Attempt& a)
        {
          call = 0;
          a.options.build.progress = [&call, at, cancel](double)
          {
            if (++call == at && !cancel)
            {
              throw std::runtime_error("mine");
            }
            EXPECT_LE(call, at) << "progress was told after it cancelled";
            return call != at;
          };
        });
    }
  }
}

TEST(Faults, progress_that_throws_when_all_is_done_throws_on_all)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud(1);
  bat::mpi::WriteOptions options = routed();
  options.target_bytes = kSeveral;
  options.build.progress = [](double fraction) -> bool
  { return fraction < 1 ? true : throw std::runtime_error("late"); };
  expect_same_error(ErrorCode::InvalidArgument, { "late" },
    [&]
    { bat::mpi::write_dataset(MPI_COMM_WORLD, folder / "out.bat", dealt(all).view(), options); });
  expect_dataset(folder / "out.bat", all);
}

TEST(Faults, file_size_limit_on_one_rank)
{
  for (const rlim_t bytes : { 0, 5000 })
  {
    expect_failure(kSeveral, ErrorCode::NoSpace, { last_rank(), "File too large" },
      [&](Attempt& a)
      {
        if (is_last())
        {
          a.guard = std::make_shared<FileSizeLimit>(bytes);
        }
      });
    expect_failure(kOne, ErrorCode::NoSpace, { "rank 0: ", "File too large" },
      [&](Attempt& a)
      {
        if (rank() == 0)
        {
          a.guard = std::make_shared<FileSizeLimit>(bytes);
        }
      });
  }
}

TEST(Faults, file_size_limit_at_the_top_file)
{
  expect_failure(kSeveral, ErrorCode::NoSpace, { "rank 0: ", "out.bat: ", "File too large" },
    [](Attempt& a)
    {
      auto limit = std::make_shared<std::unique_ptr<FileSizeLimit>>();
      a.guard = limit;
      a.options.on_phase = [limit](Phase now)
      {
        if (now == Phase::Commit && rank() == 0)
        {
          *limit = std::make_unique<FileSizeLimit>(100);
        }
      };
    });
}

/// While it exists, this process runs as the user nobody, who cannot write into root's folders.
class Nobody
{
public:
  Nobody() { EXPECT_EQ(::seteuid(65534), 0); }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;
  ~Nobody() { EXPECT_EQ(::seteuid(0), 0); }
};

TEST(Faults, folder_that_one_rank_may_not_write_to)
{
  if (::geteuid() != 0)
  {
    GTEST_SKIP() << "only root can become nobody on one rank";
  }
  expect_failure(kSeveral, ErrorCode::CannotOpen, { last_rank(), "Permission denied" },
    [](Attempt& a)
    {
      if (is_last())
      {
        a.guard = std::make_shared<Nobody>();
      }
    });
  for (const std::uint64_t target : { kSeveral, kOne })
  {
    expect_failure(target, ErrorCode::CannotOpen, { "rank 0: ", "out.bat" },
      [](Attempt& a)
      {
        if (rank() == 0)
        {
          a.guard = std::make_shared<Nobody>();
        }
      });
  }
}

TEST(Faults, path_is_a_folder_or_in_none)
{
  for (const std::uint64_t target : { kSeveral, kOne })
  {
    expect_failure(target, ErrorCode::CannotOpen, { "rank 0: ", "not a regular file" },
      [](Attempt& a) { a.path = a.path.parent_path(); });
    expect_failure(target, ErrorCode::CannotOpen, { "rank 0: ", "No such file" },
      [](Attempt& a) { a.path = a.path.parent_path() / "no" / "out.bat"; });
  }
}

TEST(Faults, something_else_is_named_as_the_folder_of_leaf_files)
{
  const SharedDir folder;
  const fs::path path = folder / "out.bat";
  const fs::path in_the_way = folder / "out.bat.leaves";
  const clouds::Cloud all = make_cloud(1);
  bat::mpi::WriteOptions options = routed();
  options.target_bytes = kOne;
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(all).view(), options);
  if (rank() == 0)
  {
    write_bytes(in_the_way, { std::byte{ 7 } });
  }
  options.target_bytes = kSeveral;
  expect_same_error(ErrorCode::CannotOpen, { "rank 0: ", in_the_way.string(), "folder" },
    [&] { bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(make_cloud(2)).view(), options); });
  if (rank() == 0)
  {
    EXPECT_EQ(read_bytes(in_the_way), std::vector<std::byte>{ std::byte{ 7 } });
    EXPECT_TRUE(rows(mpi_test::read_alone(path).view()) == rows(all.view()));
    EXPECT_EQ(names_in(folder / ""), (std::vector<std::string>{ "out.bat", "out.bat.leaves" }));
    fs::remove(in_the_way);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(make_cloud(2)).view(), options);
  expect_dataset(path, make_cloud(2));
}

TEST(Faults, another_writer_of_the_dataset_is_an_error_of_all_ranks_and_keeps_its_files)
{
  const SharedDir folder;
  const fs::path path = folder / "out.bat";
  bat::mpi::WriteOptions options = routed();
  options.target_bytes = kSeveral;
  std::optional<bat::LeavesLock> other;
  const fs::path leaf = folder / ("out.bat.leaves/" + bat::leaf_file_name(0, 1));
  if (rank() == 0)
  {
    other.emplace(path);
    write_bytes(leaf, { std::byte{ 7 } });
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expect_same_error(ErrorCode::CannotOpen, { "rank 0: ", path.string(), "another writer" },
    [&] { bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(make_cloud(1)).view(), options); });
  options.target_bytes = kOne;
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(make_cloud(2)).view(), options);
  if (rank() == 0)
  {
    EXPECT_TRUE(fs::exists(leaf));
    other.reset();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  options.target_bytes = kSeveral;
  bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(make_cloud(1)).view(), options);
  expect_dataset(path, make_cloud(1));
  if (rank() == 0)
  {
    EXPECT_FALSE(fs::exists(leaf));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Faults, leftovers_of_killed_writers_go_and_others_files_stay)
{
  for (const std::uint64_t target : { kSeveral, kOne })
  {
    const SharedDir folder;
    const fs::path path = folder / "out.bat";
    const fs::path leaves = folder / "out.bat.leaves";
    const std::vector<fs::path> others{ folder / "other.bat", folder / ".other.bat.01234567.tmp",
      leaves / "notes.txt" };
    if (rank() == 0)
    {
      fs::create_directory(leaves);
      for (const fs::path& file : { others[0], others[1], others[2],
             folder / ".out.bat.01234567.tmp", leaves / "00003-0123456789abcdef.bat",
             leaves / ".00003-0123456789abcdef.bat.01234567.tmp" })
      {
        write_bytes(file, { std::byte{ 7 } });
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    bat::mpi::WriteOptions options = routed();
    options.target_bytes = target;
    const auto report =
      bat::mpi::write_dataset(MPI_COMM_WORLD, path, dealt(make_cloud(1)).view(), options);
    if (rank() == 0)
    {
      EXPECT_EQ(names_in(folder / ""),
        (std::vector<std::string>{
          ".other.bat.01234567.tmp", "other.bat", "out.bat", "out.bat.leaves" }));
      EXPECT_EQ(names_in(leaves).size(), 1 + (target == kOne ? 0 : report.leaf_files));
      EXPECT_TRUE(fs::exists(others[2]));
      EXPECT_TRUE(rows(mpi_test::read_alone(path).view()) == rows(make_cloud(1).view()));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Faults, empty_ranks_all_empty_and_one_rank_with_everything)
{
  const SharedDir folder;
  const fs::path path = folder / "out.bat";
  bat::mpi::WriteOptions options = routed();
  for (const std::uint64_t target : { kSeveral, kOne })
  {
    options.target_bytes = target;
    for (const int owner : { 0, ranks() - 1 })
    {
      const clouds::Cloud all = make_cloud(static_cast<std::uint64_t>(owner) + 1);
      bat::mpi::write_dataset(
        MPI_COMM_WORLD, path, rank() == owner ? all.view() : bat::ParticleView{}, options);
      expect_dataset(path, all);
      const clouds::Cloud none = make_cloud(1, 0);
      bat::mpi::write_dataset(
        MPI_COMM_WORLD, path, rank() == owner ? none.view() : bat::ParticleView{}, options);
      if (rank() == 0)
      {
        EXPECT_EQ(bat::Dataset::open(path).particle_count(), 0u);
        EXPECT_EQ(names_in(path.parent_path()), std::vector<std::string>{ "out.bat" });
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

TEST(Faults, options_are_those_of_rank_zero)
{
  const SharedDir folder;
  const clouds::Cloud all = make_cloud(1);
  bat::mpi::WriteOptions options = routed();
  options.target_bytes = kSeveral;
  options.build.threads = 0; // asks all ranks for their processors
  bat::mpi::write_dataset(MPI_COMM_WORLD, folder / "a.bat", dealt(all).view(), options);
  if (rank() != 0)
  {
    options.target_bytes = kOne;
    options.mode = bat::PlanMode::Aug;
    options.max_overfull_factor = kNaN;
    options.build.threads = 2;
    options.build.treelet_particles = 1;
  }
  bat::mpi::write_dataset(MPI_COMM_WORLD, folder / "b.bat", dealt(all).view(), options);
  expect_dataset(folder / "b.bat", all);
  if (rank() == 0)
  {
    EXPECT_EQ(names_in(folder / "a.bat.leaves"), names_in(folder / "b.bat.leaves"));
  }
}

TEST(Faults, calls_come_on_the_calling_thread)
{
  const SharedDir folder;
  const std::thread::id here = std::this_thread::get_id();
  bat::mpi::WriteOptions options = routed();
  options.target_bytes = kSeveral;
  options.build.threads = 2;
  int phases = 0;
  // Every phase calls MPI where it calls on_phase.
  options.on_phase = [&](Phase now)
  {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(static_cast<int>(now), phases++);
  };
  options.build.progress = [&](double)
  {
    EXPECT_EQ(std::this_thread::get_id(), here);
    return true;
  };
  bat::mpi::write_dataset(MPI_COMM_WORLD, folder / "out.bat", dealt(make_cloud(1)).view(), options);
  EXPECT_EQ(phases, 5);
}

TEST(Faults, communicators_that_cannot_work)
{
  const SharedDir folder;
  expect_same_error(ErrorCode::InvalidArgument, { "MPI_COMM_NULL" },
    [&] { bat::mpi::write_dataset(MPI_COMM_NULL, folder / "out.bat", {}, {}); });
  if (ranks() > 1)
  {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm both = MPI_COMM_NULL;
    const int side = rank() == 0 ? 0 : 1;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank(), &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, &both);
    expect_same_error(ErrorCode::InvalidArgument, { "inter-communicator" },
      [&] { bat::mpi::write_dataset(both, folder / "out.bat", {}, {}); });
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
  }
}

/// A dataset of several leaf files to read.
struct Written
{
  Written()
  {
    bat::mpi::WriteOptions options = routed();
    options.target_bytes = kSeveral;
    bat::mpi::write_dataset(MPI_COMM_WORLD, this->path, dealt(this->all).view(), options);
  }
  SharedDir folder;
  fs::path path = folder / "out.bat";
  clouds::Cloud all = make_cloud(1);
};

/// An aggregated read in one round, or with `memory_bytes` of 1 in several.
bat::mpi::ReadOptions aggregated(std::uint64_t memory_bytes = 1u << 30)
{
  bat::mpi::ReadOptions options;
  options.mode = bat::mpi::ReadMode::Aggregated;
  options.memory_bytes = memory_bytes;
  return options;
}

const std::vector<bat::mpi::ReadOptions> kReadModes{ {}, aggregated(), aggregated(1) };

TEST(ReadFaults, query_that_cannot_be_honoured_on_one_rank)
{
  const Written written;
  const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, written.path);
  const auto expect = [&](const std::string& word, const bat::Query& query,
                        const std::vector<std::string>& attributes = {})
  {
    for (const bat::mpi::ReadOptions& options : kReadModes)
    {
      expect_same_error(ErrorCode::InvalidArgument, { last_rank(), word },
        [&]
        {
          (void)bat::mpi::read_particles(MPI_COMM_WORLD, dataset, is_last() ? query : bat::Query{},
            is_last() ? attributes : std::vector<std::string>{}, options);
        });
      EXPECT_EQ(
        bat::mpi::read_particles(MPI_COMM_WORLD, dataset, {}, {}, options).count, kParticles);
    }
  };
  bat::Query query;
  query.box = bat::Box{ { 0, 0, 0 }, { 1, kNaN, 1 } };
  expect("NaN", query);
  query.half_open = true;
  expect("NaN", query);
  query.box.reset();
  query.part = query.parts = 3;
  expect("3", query);
  query.part = 0;
  query.quality = 2;
  expect("2", query);
  expect("mass", {}, { "mass" });
}

TEST(ReadFaults, dataset_that_cannot_be_opened)
{
  const Written written;
  expect_same_error(ErrorCode::NotFound, { "rank 0: ", "no.bat" },
    [&] { (void)bat::mpi::open_dataset(MPI_COMM_WORLD, written.folder / "no.bat"); });
  // Each rank's working folder contains another file with this name, as if another writer had been
  // faster.
  const clouds::Cloud other = make_cloud(static_cast<std::uint64_t>(rank()) + 5);
  TempDir own;
  bat::write_file(own / "here.bat", other.view());
  const fs::path before = fs::current_path();
  fs::current_path(own.path());
  expect_same_error(ErrorCode::CannotOpen, { "rank 1: ", "here.bat: was replaced" },
    [&] { (void)bat::mpi::open_dataset(MPI_COMM_WORLD, "here.bat"); });
  fs::current_path(before);
}

TEST(ReadFaults, leaf_file_that_is_gone)
{
  const Written written;
  const fs::path gone = bat::mpi::open_dataset(MPI_COMM_WORLD, written.path).leaves()[0].path;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0)
  {
    fs::remove(gone);
  }
  for (const bat::mpi::ReadOptions& options : kReadModes)
  {
    const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, written.path);
    expect_same_error(ErrorCode::NotFound,
      { "rank 0: ", gone.filename().string(), "does not exist" },
      [&] { (void)bat::mpi::read_particles(MPI_COMM_WORLD, dataset, {}, {}, options); });
  }
}

// The last file has a damaged byte that is detected when its values are fetched, and then one
// detected when it is opened; the other, valid files are already being sent.
TEST(ReadFaults, leaf_file_that_is_damaged)
{
  const Written written;
  const fs::path damaged =
    bat::mpi::open_dataset(MPI_COMM_WORLD, written.path).leaves().back().path;
  MPI_Barrier(MPI_COMM_WORLD);
  for (const bool in_values : { true, false })
  {
    if (rank() == 0)
    {
      std::vector<std::byte> bytes = read_bytes(damaged);
      bytes[in_values ? bytes.size() / 2 : 20] ^= std::byte{ 1 };
      write_bytes(damaged, bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (const bat::mpi::ReadOptions& options : kReadModes)
    {
      const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, written.path);
      expect_same_error(ErrorCode::Corrupt, { "rank ", damaged.filename().string() },
        [&] { (void)bat::mpi::read_particles(MPI_COMM_WORLD, dataset, {}, {}, options); });
      // Nothing of it is left for the next read to receive.
      bat::Query sound;
      sound.part = 0;
      sound.parts = 8;
      EXPECT_EQ(bat::mpi::read_particles(MPI_COMM_WORLD, dataset, sound, {}, options).count,
        kParticles / 8);
    }
  }
}

TEST(ReadFaults, whatever_is_thrown_in_any_phase)
{
  const Written written;
  const bat::Dataset dataset = bat::mpi::open_dataset(MPI_COMM_WORLD, written.path);
  for (bat::mpi::ReadOptions options : kReadModes)
  {
    for (const bat::mpi::ReadPhase phase :
      { bat::mpi::ReadPhase::Plan, bat::mpi::ReadPhase::Select, bat::mpi::ReadPhase::Fetch })
    {
      const auto on_phase = [phase](bool throws)
      {
        return [phase, throws](bat::mpi::ReadPhase now)
        {
          if (throws && now == phase)
          {
            throw std::bad_alloc();
          }
        };
      };
      options.on_phase = on_phase(is_last());
      expect_same_error(ErrorCode::OutOfMemory, { last_rank(), "out of memory" },
        [&] { (void)bat::mpi::read_particles(MPI_COMM_WORLD, dataset, {}, {}, options); });
      options.on_phase = on_phase(true); // if several ranks fail, the lowest reports
      expect_same_error(ErrorCode::OutOfMemory, { "rank 0: ", "out of memory" },
        [&] { (void)bat::mpi::read_particles(MPI_COMM_WORLD, dataset, {}, {}, options); });
      options.on_phase = nullptr;
      EXPECT_EQ(
        bat::mpi::read_particles(MPI_COMM_WORLD, dataset, {}, {}, options).count, kParticles);
    }
  }
}

// The last rank reads while the others replace the dataset again and again.
TEST(ReadFaults, while_the_dataset_is_replaced)
{
  constexpr int kWrites = 30;
  constexpr int kDone = 1;
  const SharedDir folder;
  const fs::path path = folder / "out.bat";
  const std::vector<clouds::Cloud> contents{ make_cloud(1), make_cloud(2, 3000) };
  MPI_Comm side = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_last() ? 1 : 0, rank(), &side);
  int number = 0;
  int writers = 1;
  MPI_Comm_rank(side, &number);
  MPI_Comm_size(side, &writers);
  const auto write = [&](int i)
  {
    bat::mpi::WriteOptions options = routed();
    options.build.threads = 1;
    options.target_bytes = i % 5 == 4 ? kOne : kSeveral;
    const clouds::Cloud local = mpi_test::subset(contents[static_cast<std::size_t>(i % 2)],
      [&](std::uint64_t p)
      { return static_cast<int>(p % static_cast<std::uint64_t>(writers)) == number; });
    bat::mpi::write_dataset(side, path, local.view(), options);
  };
  if (!is_last())
  {
    write(0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (!is_last())
  {
    for (int i = 1; i != kWrites; ++i)
    {
      write(i);
    }
    if (rank() == 0)
    {
      MPI_Send(nullptr, 0, MPI_BYTE, ranks() - 1, kDone, MPI_COMM_WORLD);
    }
  }
  else
  {
    const std::vector<std::vector<std::string>> expected{ rows(contents[0].view()),
      rows(contents[1].view()) };
    std::vector<int> seen{ 0, 0 };
    int errors = 0;
    for (int done = 0; !done;)
    {
      MPI_Iprobe(0, kDone, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
      try
      {
        const auto found = rows(mpi_test::read_alone(path).view());
        const bool first = found == expected[0];
        EXPECT_TRUE(first || found == expected[1]) << "a mixture of " << found.size();
        ++seen[first ? 0 : 1];
      }
      catch (const bat::Error& error)
      {
        ++errors;
        const std::string text = error.what();
        EXPECT_TRUE(text.find("does not exist") != std::string::npos ||
          text.find("No such file") != std::string::npos ||
          text.find("differs from the file") != std::string::npos)
          << text;
      }
    }
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, kDone, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_GT(seen[0] + seen[1], 0);
    RecordProperty("reads", seen[0] + seen[1]);
    RecordProperty("errors", errors);
  }
  MPI_Comm_free(&side);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_dataset(path, contents[(kWrites - 1) % 2]);
}
}
