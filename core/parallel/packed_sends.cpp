// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/packed_sends.hpp"

#include <sched.h>

#include <algorithm>

namespace bat::mpi
{
void PackedSends::make_room(std::uint64_t messages, std::size_t bytes)
{
  const auto slots = static_cast<std::size_t>(std::min(messages, kMaxPendingMessages));
  this->requests_.assign(slots, MPI_REQUEST_NULL);
  this->memory_.clear();
  for (std::size_t slot = 0; slot != slots; ++slot)
  {
    this->memory_.emplace_back(bytes);
  }
  this->used_ = 0;
}

std::byte* PackedSends::next()
{
  if (this->used_ < this->requests_.size())
  {
    this->slot_ = this->used_++;
  }
  else
  {
    int done = 0;
    MPI_Waitany(
      static_cast<int>(this->requests_.size()), this->requests_.data(), &done, MPI_STATUS_IGNORE);
    this->slot_ = static_cast<std::size_t>(done);
  }
  return this->memory_[this->slot_].data();
}

std::byte* PackedSends::next(const std::function<bool()>& receive)
{
  if (this->used_ < this->requests_.size())
  {
    return this->next();
  }
  while (true)
  {
    int slot = 0;
    int done = 0;
    MPI_Testany(static_cast<int>(this->requests_.size()), this->requests_.data(), &slot, &done,
      MPI_STATUS_IGNORE);
    if (done != 0)
    {
      this->slot_ = static_cast<std::size_t>(slot);
      return this->memory_[this->slot_].data();
    }
    if (!receive())
    {
      ::sched_yield(); // if there are more ranks than processors
    }
  }
}

void PackedSends::send(const OwnComm& comm, int target, int tag, std::uint64_t bytes)
{
  MPI_Isend(this->memory_[this->slot_].data(), static_cast<int>(bytes), MPI_BYTE, target, tag,
    comm.get(), &this->requests_[this->slot_]);
}

void PackedSends::wait()
{
  MPI_Waitall(
    static_cast<int>(this->requests_.size()), this->requests_.data(), MPI_STATUSES_IGNORE);
}
}
