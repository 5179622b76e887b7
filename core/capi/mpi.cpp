// SPDX-License-Identifier: BSD-3-Clause
// Implements the collective functions of bat/bat_mpi.h.

#include "bat/bat_mpi.h"

#include "capi/collective.hpp"
#include "capi/handles.hpp"
#include "capi/mpi_calls.hpp"
#include "capi/status.hpp"

#include "bat/mpi.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bat::capi
{
namespace
{
#if defined(OPEN_MPI)
const std::string kBuiltWith =
  fmt::format("Open MPI {}.{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#elif defined(I_MPI_VERSION)
const std::string kBuiltWith = "Intel MPI " I_MPI_VERSION;
#elif defined(MPICH_VERSION)
const std::string kBuiltWith = "MPICH " MPICH_VERSION;
#else
const std::string kBuiltWith =
  fmt::format("an implementation of MPI {}.{}", MPI_VERSION, MPI_SUBVERSION);
#endif

// Returns the name of an MPI of another family if its functions came first in this process and are
// the ones called here; the handles compiled in from mpi.h are meaningless to it. Otherwise "".
std::string another_mpi()
{
  std::array<char, 16384> text{}; // more than the most of any MPI
  int size = 0;
  MPI_Get_library_version(text.data(), &size);
  const std::string_view name(text.data());
  [[maybe_unused]] const auto has = [&](const char* word)
  { return name.find(word) != std::string_view::npos; };
#if defined(OPEN_MPI)
  const bool other = has("MPICH") || has("MVAPICH") || has("Intel(R) MPI");
#elif defined(MPICH_VERSION)
  const bool other = has("Open MPI");
#else
  const bool other = false;
#endif
  return other ? std::string(name.substr(0, name.find_first_of(",\n"))) : std::string();
}

bool runs()
{
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}
}

void check_comm(MPI_Comm comm)
{
  static const std::string other = another_mpi();
  if (!other.empty())
  {
    refuse(
      fmt::format("this library was built with {}, but the program runs with {}; build both with "
                  "the same MPI",
        kBuiltWith, other));
  }
  if (!runs())
  {
    int finalized = 0;
    MPI_Finalized(&finalized);
    refuse(finalized
        ? std::string("MPI is finalized")
        : fmt::format("MPI is not initialized (the one of this library, {})", kBuiltWith));
  }
  if (comm == MPI_COMM_NULL)
  {
    refuse("the communicator is MPI_COMM_NULL");
  }
}

int agree(MPI_Comm comm, int status) noexcept
{
  return agree(comm,
    attempt(
      [&]
      {
        if (status != BAT_OK)
        {
          throw Error(code_of(status), last_error());
        }
      }));
}

int agree(MPI_Comm comm, const std::optional<Error>& local) noexcept
{
  return guard([&] { mpi::agree(comm, local); });
}

bat::mpi::WriteOptions write_options(const bat_options* options)
{
  bat::mpi::WriteOptions result;
  if (options)
  {
    static_cast<bat::WriteOptions&>(result) = *options;
  }
  return result;
}

bat_report c_report(const bat::mpi::DatasetReport& report)
{
  bat_report result{};
  result.particles = report.particles;
  result.leaf_files = report.leaf_files;
  result.target_bytes = report.target_bytes;
  result.file_bytes = report.file_bytes;
  result.data_bytes = report.data_bytes;
  result.largest_leaf_bytes = report.largest_leaf_bytes;
  result.moved_bytes = report.moved_bytes;
  result.ranks = report.ranks;
  result.nodes = report.nodes;
  result.aggregators = report.aggregators;
  result.threads = report.threads;
  result.leaders = report.leaders;
  result.messages_within = report.messages.within;
  result.bytes_within = report.messages.bytes_within;
  result.messages_between = report.messages.between;
  result.bytes_between = report.messages.bytes_between;
  result.max_received = report.messages.max_received;
  result.max_received_bytes = report.messages.max_received_bytes;
  result.peak_memory_bytes = report.peak_memory_bytes;
  report.advice.copy(result.advice, sizeof(result.advice) - 1);
  result.skipped = report.skipped;
  result.seconds_check = report.seconds.check;
  result.seconds_plan = report.seconds.plan;
  result.seconds_exchange = report.seconds.exchange;
  result.seconds_build = report.seconds.build;
  result.seconds_write = report.seconds.write;
  result.seconds_commit = report.seconds.commit;
  result.seconds_total = report.seconds.total;
  return result;
}

std::string path_of_root(MPI_Comm comm, const char* path)
{
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank == 0 ? need_text(path, "path") : std::string();
}

MPI_Comm from_fortran(MPI_Fint comm)
{
  int initialized = 0;
  MPI_Initialized(&initialized);
  return initialized ? MPI_Comm_f2c(comm) : MPI_COMM_NULL;
}
}

using namespace bat::capi;

int bat_mpi_write(MPI_Comm comm, const char* path, const bat_particles* particles,
  const bat_options* options, bat_report* report)
{
  if (report)
  {
    *report = {};
  }
  std::string target;
  const int status = collective(comm,
    [&]
    {
      target = path_of_root(comm, path);
      (void)accepted(need(particles, "particles"));
      if (options)
      {
        check(*options);
      }
    });
  if (status != BAT_OK)
  {
    return status;
  }
  return guard(
    [&]
    {
      const bat::mpi::DatasetReport written =
        bat::mpi::write_dataset(comm, target, particles->view, write_options(options));
      if (report)
      {
        *report = c_report(written);
      }
    });
}

namespace
{
int open(MPI_Comm comm, const char* path, const bat::OpenOptions& options, bat_dataset** out)
{
  std::string source;
  const int status = collective(comm,
    [&]
    {
      need(out, "result pointer") = nullptr;
      source = path_of_root(comm, path);
    });
  if (status != BAT_OK)
  {
    return status;
  }
  return guard(
    [&]
    {
      const int threads = options.map ? bat::mpi::threads_per_rank(comm) : 0;
      *out = new bat_dataset(bat::mpi::open_dataset(comm, source, options));
      (*out)->map_options.threads = threads;
    });
}
}

int bat_mpi_open(MPI_Comm comm, const char* path, bat_dataset** out)
{
  return open(comm, path, {}, out);
}

int bat_mpi_open_mapped(MPI_Comm comm, const char* path, bat_dataset** out)
{
  bat::OpenOptions options;
  options.map = true;
  return open(comm, path, options, out);
}

int bat_mpi_select(
  MPI_Comm comm, const bat_dataset* dataset, const bat_query* query, bat_selection** out)
{
  if (out)
  {
    *out = nullptr;
  }
  int threads = 0;
  int status = guard(
    [&]
    {
      check_comm(comm);
      threads = bat::mpi::threads_per_rank(comm);
    });
  if (status != BAT_OK)
  {
    return status;
  }
  bat_selection* local = nullptr;
  status = collective(comm,
    [&]
    {
      need(out, "result pointer");
      local = select(dataset, query, threads);
    });
  if (status != BAT_OK)
  {
    bat_selection_free(local);
    return status;
  }
  *out = local;
  return BAT_OK;
}

int bat_mpi_read(MPI_Comm comm, const bat_dataset* dataset, const bat_query* query, uint64_t count,
  const char* const* names, const char* mode, uint64_t memory_bytes, int report,
  bat_selection** out)
{
  if (out)
  {
    *out = nullptr;
  }
  std::vector<std::string> requested;
  bat::mpi::ReadOptions options;
  bat_selection* local = nullptr;
  const int status = collective(comm,
    [&]
    {
      need(out, "result pointer");
      need(dataset, "dataset");
      (void)request(query);
      requested = names_of(count, names);
      if (mode)
      {
        options.mode = bat::mpi::parse_read_mode(mode);
      }
      if (memory_bytes != 0)
      {
        options.memory_bytes = need_size(memory_bytes, "memory_bytes");
      }
      options.threads = query ? query->options.threads : 0;
      local = new bat_selection;
    });
  if (status != BAT_OK)
  {
    delete local;
    return status;
  }
  std::unique_ptr<bat_selection> own(local);
  return guard(
    [&]
    {
      int wants = report != 0 ? 1 : 0;
      MPI_Allreduce(MPI_IN_PLACE, &wants, 1, MPI_INT, MPI_MAX, comm);
      bat::mpi::ReadReport did;
      bat::mpi::Particles particles = bat::mpi::read_particles(
        comm, dataset->dataset, request(query), requested, options, wants != 0 ? &did : nullptr);
      own->dataset = dataset;
      own->selection.count = particles.count;
      ReadValues& values = own->values.emplace();
      values.positions = std::move(particles.positions);
      for (bat::mpi::Particles::Column& column : particles.columns)
      {
        values.attributes[dataset->dataset.attribute_index(column.name)] = std::move(column.values);
      }
      if (wants != 0)
      {
        values.report = to_json(did);
        values.line = to_line(did);
      }
      *out = own.release();
    });
}

int bat_mpi_read_positions(MPI_Comm comm, const bat_dataset* dataset,
  const bat_selection* selection, void* out, size_t bytes)
{
  return collective(comm, [&] { read_positions(dataset, selection, out, bytes); });
}

int bat_mpi_read_attribute(MPI_Comm comm, const bat_dataset* dataset, const char* name,
  const bat_selection* selection, void* out, size_t bytes)
{
  return bat_mpi_read_attributes(comm, dataset, 1, &name, selection, &out, &bytes);
}

int bat_mpi_read_attributes(MPI_Comm comm, const bat_dataset* dataset, uint64_t count,
  const char* const* names, const bat_selection* selection, void* const* out, const size_t* bytes)
{
  std::vector<std::string> requested;
  int status = collective(comm, [&] { requested = names_of(count, names); });
  if (status == BAT_OK)
  {
    status = guard([&] { bat::mpi::require_same(comm, requested, "the attributes to read"); });
  }
  return status != BAT_OK
    ? status
    : collective(comm, [&] { read_attributes(dataset, requested, selection, out, bytes); });
}

int bat_mpi_agree(MPI_Comm comm, int status)
{
  if (const int alone = guard([&] { check_comm(comm); }))
  {
    return alone;
  }
  return agree(comm, status);
}

int bat_mpi_write_f(MPI_Fint comm, const char* path, const bat_particles* particles,
  const bat_options* options, bat_report* report)
{
  return bat_mpi_write(from_fortran(comm), path, particles, options, report);
}

int bat_mpi_open_f(MPI_Fint comm, const char* path, bat_dataset** out)
{
  return bat_mpi_open(from_fortran(comm), path, out);
}

int bat_mpi_open_mapped_f(MPI_Fint comm, const char* path, bat_dataset** out)
{
  return bat_mpi_open_mapped(from_fortran(comm), path, out);
}

int bat_mpi_select_f(
  MPI_Fint comm, const bat_dataset* dataset, const bat_query* query, bat_selection** out)
{
  return bat_mpi_select(from_fortran(comm), dataset, query, out);
}

int bat_mpi_read_f(MPI_Fint comm, const bat_dataset* dataset, const bat_query* query,
  uint64_t count, const char* const* names, const char* mode, uint64_t memory_bytes, int report,
  bat_selection** out)
{
  return bat_mpi_read(
    from_fortran(comm), dataset, query, count, names, mode, memory_bytes, report, out);
}

int bat_mpi_read_positions_f(MPI_Fint comm, const bat_dataset* dataset,
  const bat_selection* selection, void* out, size_t bytes)
{
  return bat_mpi_read_positions(from_fortran(comm), dataset, selection, out, bytes);
}

int bat_mpi_read_attribute_f(MPI_Fint comm, const bat_dataset* dataset, const char* name,
  const bat_selection* selection, void* out, size_t bytes)
{
  return bat_mpi_read_attribute(from_fortran(comm), dataset, name, selection, out, bytes);
}

int bat_mpi_read_attributes_f(MPI_Fint comm, const bat_dataset* dataset, uint64_t count,
  const char* const* names, const bat_selection* selection, void* const* out, const size_t* bytes)
{
  return bat_mpi_read_attributes(from_fortran(comm), dataset, count, names, selection, out, bytes);
}

int bat_mpi_library(const char** text, int* runs)
{
  return guard(
    [&]
    {
      need(text, "result pointer") = kBuiltWith.c_str();
      need(runs, "result pointer") = bat::capi::runs() ? 1 : 0;
    });
}

int bat_mpi_agree_f(MPI_Fint comm, int status)
{
  return bat_mpi_agree(from_fortran(comm), status);
}
