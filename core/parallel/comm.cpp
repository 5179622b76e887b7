// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm.hpp"

#include "bat/error.hpp"
#include "bat/ranks.hpp"
#include "bat/recorded_reads.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

namespace bat::mpi
{
/// The data attached to a caller's communicator.
struct OwnComm::Kept
{
  MPI_Comm comm = MPI_COMM_NULL;
  std::map<int, std::shared_ptr<void>> others;
};

// MPI calls it when the caller's communicator is freed, which all ranks do.
int OwnComm::forget(MPI_Comm, int, void* kept, void*)
{
  int finished = 0;
  MPI_Finalized(&finished);
  if (!finished) // otherwise it is too late for calls, and the process ends
  {
    std::unique_ptr<Kept> local(static_cast<Kept*>(kept));
    local->others.clear();
    MPI_Comm_free(&local->comm);
  }
  return MPI_SUCCESS;
}

OwnComm::OwnComm(MPI_Comm comm)
{
  int running = 0;
  int finished = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&finished);
  if (!running || finished)
  {
    throw Error(ErrorCode::InvalidArgument,
      running ? "MPI was finalized before this call" : "MPI is not initialized");
  }
  if (comm == MPI_COMM_NULL)
  {
    throw Error(ErrorCode::InvalidArgument, "the communicator is MPI_COMM_NULL");
  }
  int between_groups = 0;
  MPI_Comm_test_inter(comm, &between_groups);
  if (between_groups != 0)
  {
    throw Error(ErrorCode::InvalidArgument, "the communicator is an inter-communicator");
  }
  static const int key = []
  {
    int made = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &OwnComm::forget, &made, nullptr);
    return made;
  }();
  int is_known = 0;
  MPI_Comm_get_attr(comm, key, &this->kept_, &is_known);
  if (is_known == 0)
  {
    auto kept = std::make_unique<Kept>();
    MPI_Comm_dup(comm, &kept->comm);
    // Callers such as mpi4py make MPI return errors, which calls here do not check: a lost message
    // must end the job instead of corrupting particles.
    MPI_Comm_set_errhandler(kept->comm, MPI_ERRORS_ARE_FATAL);
    this->kept_ = kept.release();
    MPI_Comm_set_attr(comm, key, this->kept_);
  }
  this->comm_ = this->kept_->comm;
  MPI_Comm_rank(this->comm_, &this->rank_);
  MPI_Comm_size(this->comm_, &this->size_);
}

std::map<int, std::shared_ptr<void>>& OwnComm::kept() const noexcept
{
  return this->kept_->others;
}

RecordType::RecordType(std::size_t bytes)
{
  MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &this->type_);
  MPI_Type_commit(&this->type_);
}

RecordType::~RecordType()
{
  MPI_Type_free(&this->type_);
}

int checked_count(std::uint64_t count)
{
  if (count > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
  {
    throw Error(
      ErrorCode::InvalidArgument, fmt::format("{} records do not fit in a message", count));
  }
  return static_cast<int>(count);
}

void broadcast_text(const OwnComm& comm, std::string& text, int root)
{
  std::vector<char> bytes(text.begin(), text.end());
  broadcast_records(comm, bytes, root);
  text.assign(bytes.begin(), bytes.end());
}

void read_first_on_root(const OwnComm& comm, bool is_remote, const std::function<void()>& f)
{
  std::vector<std::byte> reads;
  collective(comm.get(),
    [&]
    {
      if (comm.rank() == 0)
      {
        const auto record = is_remote ? std::make_unique<RecordedReads>() : nullptr;
        f();
        reads = record ? record->pack() : std::vector<std::byte>();
      }
    });
  if (is_remote)
  {
    broadcast_records(comm, reads);
  }
  collective(comm.get(),
    [&]
    {
      if (comm.rank() != 0)
      {
        const ReplayedReads replay(reads);
        f();
      }
    });
}

namespace
{
// Encodes names as characters with the length before each, because names may contain any byte.
void append(std::vector<char>& bytes, const std::string& name)
{
  const std::uint64_t size = name.size();
  const auto* begin = reinterpret_cast<const char*>(&size);
  bytes.insert(bytes.end(), begin, begin + sizeof(size));
  bytes.insert(bytes.end(), name.begin(), name.end());
}

std::vector<char> joined(const std::vector<std::string>& names)
{
  std::vector<char> bytes;
  for (const std::string& name : names)
  {
    append(bytes, name);
  }
  return bytes;
}

std::vector<std::string> split(const std::vector<char>& bytes)
{
  std::vector<std::string> result;
  for (std::size_t at = 0; at != bytes.size();)
  {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + at, sizeof(size));
    at += sizeof(size);
    result.emplace_back(bytes.data() + at, size);
    at += size;
  }
  return result;
}

std::string listed(const std::vector<std::string>& names)
{
  return names.empty() ? std::string("none") : fmt::format("'{}'", fmt::join(names, "', '"));
}
}

void broadcast_names(const OwnComm& comm, std::vector<std::string>& names)
{
  std::vector<char> bytes;
  collective(comm.get(), [&] { bytes = joined(names); });
  broadcast_records(comm, bytes);
  collective(comm.get(), [&] { names = split(bytes); });
}

std::vector<std::string> gather_names(MPI_Comm comm, const std::vector<std::string>& names)
{
  return gather_names(OwnComm(comm), names);
}

std::vector<std::string> gather_names(const OwnComm& comm, const std::vector<std::string>& names)
{
  std::vector<char> local;
  collective(comm.get(), [&] { local = joined(names); });
  std::vector<char> bytes = gather_records(comm, local);
  collective(comm.get(),
    [&]
    {
      std::vector<char> once;
      std::set<std::string> seen;
      for (const std::string& name : split(bytes))
      {
        if (seen.insert(name).second)
        {
          append(once, name);
        }
      }
      bytes = std::move(once);
    });
  broadcast_records(comm, bytes);
  std::vector<std::string> all;
  collective(comm.get(), [&] { all = split(bytes); });
  return all;
}

void require_same(MPI_Comm comm, std::int64_t value, const std::string& what)
{
  require_same(OwnComm(comm), value, what);
}

void require_same(const OwnComm& comm, std::int64_t value, const std::string& what)
{
  std::int64_t first = value;
  MPI_Bcast(&first, 1, MPI_INT64_T, 0, comm.get());
  collective(comm.get(),
    [&]
    {
      if (value != first)
      {
        throw Error(ErrorCode::InvalidArgument,
          fmt::format("{} is {} here and {} on rank 0; all ranks must agree", what, value, first));
      }
    });
}

void require_same(MPI_Comm comm, std::vector<std::string> names, const std::string& what)
{
  require_same(OwnComm(comm), std::move(names), what);
}

void require_same(const OwnComm& comm, std::vector<std::string> names, const std::string& what)
{
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<std::string> first = names;
  broadcast_names(comm, first);
  collective(comm.get(),
    [&]
    {
      if (names != first)
      {
        throw Error(ErrorCode::InvalidArgument,
          fmt::format("{} are {} here and {} on rank 0; all ranks must agree", what, listed(names),
            listed(first)));
      }
    });
}
}
