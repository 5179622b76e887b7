// SPDX-License-Identifier: BSD-3-Clause
// Small helpers that MPI lacks.
#pragma once

#include "bat/ranks.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bat::mpi
{
/// A private communicator over the same ranks, so that messages cannot be confused with the
/// caller's. The first call with a communicator creates it and attaches it until the caller's is
/// freed, because creating one per call would be expensive on thousands of ranks.
class OwnComm
{
public:
  /// Collective. Throws Error{InvalidArgument} if MPI does not run or `comm` is null.
  explicit OwnComm(MPI_Comm comm);
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;

  [[nodiscard]] MPI_Comm get() const noexcept { return this->comm_; }
  [[nodiscard]] int rank() const noexcept { return this->rank_; }
  [[nodiscard]] int size() const noexcept { return this->size_; }

  /// Further objects attached to the caller's communicator, by number, until it is freed.
  [[nodiscard]] std::map<int, std::shared_ptr<void>>& kept() const noexcept;

private:
  struct Kept;
  static int forget(MPI_Comm comm, int key, void* kept, void* nothing);

  Kept* kept_ = nullptr;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

/// MPI type for a record of `bytes` bytes, so that counts are in records and stay below 2^31.
class RecordType
{
public:
  explicit RecordType(std::size_t bytes);
  RecordType(const RecordType&) = delete;
  RecordType& operator=(const RecordType&) = delete;
  ~RecordType();
  [[nodiscard]] MPI_Datatype get() const noexcept { return this->type_; }

private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Throws Error{InvalidArgument} if MPI's counts cannot hold `count`.
[[nodiscard]] int checked_count(std::uint64_t count);

/// Collective. Returns the records of all ranks, in rank order, on rank 0; empty elsewhere. All
/// ranks throw if memory runs out, or if there are 2^31 or more.
template <class Record>
std::vector<Record> gather_records(const OwnComm& comm, const std::vector<Record>& local)
{
  const std::uint64_t count = local.size();
  std::vector<std::uint64_t> counts;
  std::vector<int> sizes;
  std::vector<int> first;
  std::vector<Record> all;
  const bool root = comm.rank() == 0;
  collective(comm.get(),
    [&]
    {
      (void)checked_count(count);
      counts.resize(root ? static_cast<std::size_t>(comm.size()) : 0);
    });
  MPI_Gather(&count, 1, MPI_UINT64_T, counts.data(), 1, MPI_UINT64_T, 0, comm.get());
  collective(comm.get(),
    [&]
    {
      std::uint64_t total = 0;
      for (const std::uint64_t c : counts)
      {
        first.push_back(checked_count(total));
        sizes.push_back(checked_count(c));
        total += c;
      }
      all.resize(total);
    });
  const RecordType type(sizeof(Record));
  MPI_Gatherv(local.data(), static_cast<int>(count), type.get(), all.data(), sizes.data(),
    first.data(), type.get(), 0, comm.get());
  return all;
}

/// Collective. Returns rank `root`'s records on all ranks. Throws as gather_records.
template <class Record>
void broadcast_records(const OwnComm& comm, std::vector<Record>& records, int root = 0)
{
  std::uint64_t count = records.size();
  MPI_Bcast(&count, 1, MPI_UINT64_T, root, comm.get());
  collective(comm.get(),
    [&]
    {
      (void)checked_count(count);
      records.resize(count);
    });
  const RecordType type(sizeof(Record));
  MPI_Bcast(records.data(), static_cast<int>(count), type.get(), root, comm.get());
}

/// Collective. Calls f on rank 0, and if it succeeds, on the others. With `is_remote`, the others
/// get what rank 0 has read from servers, and do not ask these again. All ranks throw if one fails.
void read_first_on_root(const OwnComm& comm, bool is_remote, const std::function<void()>& f);

/// Implementations of the functions in bat/ranks.hpp.
[[nodiscard]] std::vector<std::string> gather_names(
  const OwnComm& comm, const std::vector<std::string>& names);
void require_same(const OwnComm& comm, std::int64_t value, const std::string& what);
void require_same(const OwnComm& comm, std::vector<std::string> names, const std::string& what);

/// Collective. Returns rank `root`'s text on all ranks.
void broadcast_text(const OwnComm& comm, std::string& text, int root = 0);
/// Collective. Returns rank 0's names on all ranks.
void broadcast_names(const OwnComm& comm, std::vector<std::string>& names);
}
