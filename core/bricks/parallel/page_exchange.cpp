// SPDX-License-Identifier: BSD-3-Clause
#include "bricks/parallel/page_exchange.hpp"

#include "common/box_in_arrays.hpp"
#include "parallel/flat_exchange.hpp"
#include "parallel/leader_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace bat::bricks
{
namespace
{
// The part of a piece that a page needs, with few enough points to send as one message.
struct Run
{
  const RankBox* part = nullptr;
  LogicalBox box;
  std::uint64_t bytes = 0;
};

std::uint64_t points_in(const LogicalBox& box)
{
  std::uint64_t points = 1;
  for (std::size_t a = 0; a != 3; ++a)
  {
    points *= static_cast<std::uint64_t>(box.upper[a] - box.lower[a] + 1);
  }
  return points;
}

void add_runs(
  const Run& run, std::size_t point_bytes, std::uint64_t max_bytes, std::vector<Run>& runs)
{
  const std::uint64_t bytes = points_in(run.box) * point_bytes;
  if (bytes <= max_bytes)
  {
    runs.push_back({ run.part, run.box, bytes });
    return;
  }
  std::size_t axis = 2; // rows along x stay whole as long as they can
  while (axis != 0 && run.box.lower[axis] == run.box.upper[axis])
  {
    --axis;
  }
  const std::int64_t middle = run.box.lower[axis] + (run.box.upper[axis] - run.box.lower[axis]) / 2;
  Run half = run;
  half.box.upper[axis] = middle;
  add_runs(half, point_bytes, max_bytes, runs);
  half.box = run.box;
  half.box.lower[axis] = middle + 1;
  add_runs(half, point_bytes, max_bytes, runs);
}

// Sender and receiver both compute this from the boxes.
std::vector<Run> compute_runs(
  const PageSource& source, std::size_t rank, const Window& page, std::uint64_t max_bytes)
{
  std::vector<Run> runs;
  const auto requested = static_cast<std::int64_t>(rank);
  const auto begin = std::lower_bound(source.parts.begin(), source.parts.end(), requested,
    [](const RankBox& part, std::int64_t r) { return part.rank < r; });
  for (auto part = begin; part != source.parts.end() && part->rank == requested; ++part)
  {
    Run run{ &*part, part->box, 0 };
    for (std::size_t a = 0; a != 3; ++a)
    {
      const std::int64_t first = source.whole.lower[a] + page.first[a];
      run.box.lower[a] = std::max(run.box.lower[a], first);
      run.box.upper[a] = std::min(run.box.upper[a], first + page.count[a] - 1);
    }
    if (!run.box.is_empty())
    {
      add_runs(run, source.point_bytes, max_bytes, runs);
    }
  }
  return runs;
}

// Calls visit(index of the row's first point in an array of `stored`, points) for each row.
template <class Visit>
void for_each_row(const LogicalBox& box, const LogicalBox& stored, const Visit& visit)
{
  const BoxInArrays place = place_in(stored, box);
  const auto row = static_cast<std::size_t>(box.upper[0] - box.lower[0] + 1);
  for (std::int64_t z = 0; z <= box.upper[2] - box.lower[2]; ++z)
  {
    for (std::int64_t y = 0; y <= box.upper[1] - box.lower[1]; ++y)
    {
      visit(
        static_cast<std::size_t>(place.first + place.dimensions[0] * (y + place.dimensions[1] * z)),
        row);
    }
  }
}

class Round
{
public:
  Round(const PageSource& source, const std::vector<Window>& pages)
    : source_(source)
    , pages_(pages)
    , me_(static_cast<std::size_t>(source.comm.rank()))
    , max_bytes_(
        std::min(bat::mpi::kMaxParcelBytes, bat::mpi::compute_parcel_bytes(source.nodes.layout())))
  {
  }

  [[nodiscard]] bat::mpi::Mail mail()
  {
    const Window& page = this->pages_[this->me_];
    this->coming_.resize(this->pages_.size());
    if (is_some(page))
    {
      std::size_t points = 1;
      for (std::size_t a = 0; a != 3; ++a)
      {
        this->box_.lower[a] = this->source_.whole.lower[a] + page.first[a];
        this->box_.upper[a] = this->box_.lower[a] + page.count[a] - 1;
        points *= static_cast<std::size_t>(page.count[a]);
      }
      this->values_.resize(points * this->source_.point_bytes);
      for (const Run& run : compute_runs(this->source_, this->me_, page, ~std::uint64_t{ 0 }))
      {
        this->copy_own(run);
      }
    }
    bat::mpi::Mail mail;
    for (std::size_t rank = 0; rank != this->pages_.size(); ++rank)
    {
      if (rank == this->me_)
      {
        continue;
      }
      if (is_some(this->pages_[rank]))
      {
        for (const Run& run :
          compute_runs(this->source_, this->me_, this->pages_[rank], this->max_bytes_))
        {
          mail.parcels.push_back(
            { static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(run.bytes) });
          this->going_.push_back(run);
        }
      }
      if (is_some(page))
      {
        this->coming_[rank].runs = compute_runs(this->source_, rank, page, this->max_bytes_);
        for (const Run& run : this->coming_[rank].runs)
        {
          mail.expected_bytes += run.bytes;
        }
      }
    }
    mail.pack = [this](std::size_t parcel, std::byte* out) { this->pack(parcel, out); };
    mail.take = [this](std::uint32_t from, const std::byte* bytes, std::size_t)
    { this->put(from, bytes); };
    return mail;
  }

  [[nodiscard]] std::vector<std::byte> take() { return std::move(this->values_); }

private:
  [[nodiscard]] static bool is_some(const Window& page) { return page.count[0] != 0; }

  // visit(address of the first point, bytes) for each row of a run of this rank
  template <class Visit>
  void for_each_own_row(const Run& run, const Visit& visit) const
  {
    const Piece& piece = this->source_.pieces[static_cast<std::size_t>(run.part->piece)];
    for_each_row(run.box, piece.stored.value_or(piece.box),
      [&](std::size_t at, std::size_t row)
      {
        visit(static_cast<const std::byte*>(piece.values) + at * this->source_.point_bytes,
          row * this->source_.point_bytes);
      });
  }

  void pack(std::size_t parcel, std::byte* out) const
  {
    this->for_each_own_row(this->going_[parcel],
      [&](const std::byte* from, std::size_t bytes)
      {
        std::memcpy(out, from, bytes);
        out += bytes;
      });
  }

  void copy_own(const Run& run)
  {
    std::vector<std::byte> packed(points_in(run.box) * this->source_.point_bytes);
    std::byte* out = packed.data();
    this->for_each_own_row(run,
      [&](const std::byte* from, std::size_t bytes)
      {
        std::memcpy(out, from, bytes);
        out += bytes;
      });
    this->unpack(run, packed.data());
  }

  void unpack(const Run& run, const std::byte* bytes)
  {
    for_each_row(run.box, this->box_,
      [&](std::size_t at, std::size_t row)
      {
        const std::size_t size = row * this->source_.point_bytes;
        std::memcpy(this->values_.data() + at * this->source_.point_bytes, bytes, size);
        bytes += size;
      });
  }

  // Returns the next run of a rank.
  void put(std::uint32_t from, const std::byte* bytes)
  {
    Coming& coming = this->coming_[from];
    this->unpack(coming.runs[coming.next++], bytes);
  }

  /// Returns the runs of a rank.
  struct Coming
  {
    std::vector<Run> runs;
    std::size_t next = 0;
  };

  const PageSource& source_;
  const std::vector<Window>& pages_;
  std::size_t me_;
  std::uint64_t max_bytes_;
  LogicalBox box_; ///< box of this rank's page
  std::vector<std::byte> values_;
  std::vector<Run> going_; ///< one for each parcel
  std::vector<Coming> coming_;
};
}

std::vector<std::byte> exchange_pages(const PageSource& source, const std::vector<Window>& pages)
{
  Round round(source, pages);
  bat::mpi::Mail mail;
  bat::mpi::collective(source.comm.get(), [&] { mail = round.mail(); });
  bat::mpi::exchange_parcels(source.comm, source.nodes, Route::Auto, 1, std::move(mail));
  return round.take();
}
}
