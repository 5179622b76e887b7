// Small things that MPI leaves to its users.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bat::mpi
{
/// A communicator of our own over the same ranks, so that no message of the caller's can meet ours.
class OwnComm
{
public:
  /// Collective. Throws Error{InvalidArgument} if MPI does not run or `comm` is null.
  explicit OwnComm(MPI_Comm comm);
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  /// Collective.
  ~OwnComm();

  [[nodiscard]] MPI_Comm get() const noexcept { return this->comm_; }
  [[nodiscard]] int rank() const noexcept { return this->rank_; }
  [[nodiscard]] int size() const noexcept { return this->size_; }

private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

/// Type of a record of `bytes` bytes, so that counts are of records and stay below 2^31.
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

/// Collective. The records of all ranks, in order of rank, on rank 0; nothing elsewhere.
template <class Record>
std::vector<Record> gather_records(const OwnComm& comm, const std::vector<Record>& mine)
{
  const int count = static_cast<int>(mine.size());
  const bool root = comm.rank() == 0;
  std::vector<int> counts(root ? static_cast<std::size_t>(comm.size()) : 0);
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm.get());
  std::vector<int> first(counts.size());
  std::size_t total = 0;
  for (std::size_t r = 0; r != counts.size(); ++r)
  {
    first[r] = static_cast<int>(total);
    total += static_cast<std::size_t>(counts[r]);
  }
  std::vector<Record> all(total);
  const RecordType type(sizeof(Record));
  MPI_Gatherv(mine.data(), count, type.get(), all.data(), counts.data(), first.data(), type.get(),
    0, comm.get());
  return all;
}

/// Collective. Rank `root`'s records on all ranks.
template <class Record>
void broadcast_records(const OwnComm& comm, std::vector<Record>& records, int root = 0)
{
  std::uint64_t count = records.size();
  MPI_Bcast(&count, 1, MPI_UINT64_T, root, comm.get());
  records.resize(count);
  const RecordType type(sizeof(Record));
  MPI_Bcast(records.data(), static_cast<int>(count), type.get(), root, comm.get());
}

/// Collective. Rank `root`'s text on all ranks.
void broadcast_text(const OwnComm& comm, std::string& text, int root = 0);
}
