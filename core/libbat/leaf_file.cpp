// SPDX-License-Identifier: BSD-3-Clause
#include "libbat/leaf_file.hpp"

#include "libbat/leaf.hpp"
#include "libbat/leaf_query.hpp"
#include "libbat/leaf_validate.hpp"
#include "libbat/parallel.hpp"
#include "particles/query/conditions.hpp"
#include "particles/query/select.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bat::libbat
{
namespace
{
// Finds the particles of a selection, by treelet and ascending in each.
std::vector<std::vector<Piece>> find_pieces(const LeafIndex& index, const Selection& selection)
{
  std::vector<std::vector<Piece>> pieces(index.treelets.size());
  std::uint64_t out = 0;
  for (const Span& span : selection.spans)
  {
    const std::uint64_t end = span.first + span.count;
    auto run = std::upper_bound(index.runs.begin(), index.runs.end(), span.first,
                 [](std::uint64_t position, const Run& r) { return position < r.position; }) -
      1;
    for (std::uint64_t at = span.first; at != end; ++run)
    {
      const std::uint64_t run_end =
        run + 1 != index.runs.end() ? (run + 1)->position : index.level_begins.back();
      const auto count = static_cast<std::uint32_t>(std::min(end, run_end) - at);
      pieces[run->treelet].push_back(
        { static_cast<std::uint32_t>(run->first + (at - run->position)), count, out });
      out += count;
      at += count;
    }
  }
  for (std::vector<Piece>& some : pieces)
  {
    std::sort(
      some.begin(), some.end(), [](const Piece& a, const Piece& b) { return a.first < b.first; });
  }
  return pieces;
}

class LeafFile : public LeafSource
{
public:
  LeafFile(const std::filesystem::path& path, const OpenOptions& options, KeyRanges ranges)
    : leaf_(path, options, ranges)
  {
  }

  const std::string& name() const noexcept override { return this->leaf_.file().name(); }
  std::uint64_t file_bytes() const noexcept override { return this->leaf_.file().size(); }
  std::uint64_t particle_count() const noexcept override
  {
    return this->leaf_.header().particle_count;
  }
  ScalarType position_type() const noexcept override { return ScalarType::Float32; }
  std::optional<Box> bounds() const noexcept override { return this->leaf_.bounds(); }
  const std::vector<Attribute>& attributes() const noexcept override
  {
    return this->leaf_.attributes();
  }
  std::uint64_t bytes_read() const noexcept override { return this->leaf_.file().bytes_read(); }

  // Planes between treelets need not hold to the last bit, and splits do not bound particles.
  std::vector<Region> regions() const override
  {
    const std::optional<Box> box = this->bounds();
    return box ? std::vector<Region>{ { *box, this->particle_count() } } : std::vector<Region>();
  }

  std::uint64_t upper_bound(const query::Conditions& conditions) const override
  {
    return libbat::upper_bound(this->leaf_, conditions);
  }

  // The particles of the coarsest nodes come first.
  CountEstimate estimate_count(
    const query::Conditions& conditions, std::uint64_t sampled) const override
  {
    CountEstimate estimate;
    estimate.maximum = this->upper_bound(conditions);
    if (conditions.none() || estimate.maximum == 0)
    {
      estimate.minimum = estimate.likely = estimate.maximum;
      return estimate;
    }
    query::Conditions coarse = conditions;
    coarse.end_position -= coarse.first_position;
    coarse.end_position = coarse.first_position + std::min(coarse.end_position, sampled);
    const std::uint64_t tested = this->upper_bound(coarse);
    estimate.minimum = this->select(coarse, {}).count;
    const std::uint64_t rest = estimate.maximum - tested;
    estimate.likely = estimate.minimum + query::estimate_share(rest, estimate.minimum, tested);
    estimate.maximum = estimate.minimum + rest;
    return estimate;
  }

  Selection select(const query::Conditions& conditions, const QueryOptions& options) const override
  {
    return libbat::select(this->leaf_, conditions, options);
  }

  void read_positions(
    const Selection& selection, void* out, const QueryOptions& options) const override
  {
    this->read(
      selection, 12, out, options, [](const Treelet& treelet) { return treelet.positions_begin; });
  }

  void read_attribute(std::size_t index, const Selection& selection, void* out,
    const QueryOptions& options) const override
  {
    if (index >= this->attributes().size())
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{}: attribute {} is out of range; the file has {}", this->name(), index,
          this->attributes().size()));
    }
    this->read(selection, size_of(this->attributes()[index].type), out, options,
      [&](const Treelet& treelet) { return this->leaf_.attribute_begin(treelet, index); });
  }

  // Each treelet has its columns next to its nodes, so any selection is spread over the file.
  void prefetch(const Selection& selection, const std::vector<std::size_t>&) const override
  {
    if (selection.count != 0)
    {
      this->leaf_.file().prefetch(0, this->leaf_.file().size());
    }
  }
  std::uint64_t coarse_particles(std::uint64_t maximum) const noexcept override
  {
    return std::min(maximum, this->particle_count());
  }
  std::vector<Number> quantiles(std::size_t, std::size_t) const override { return {}; }

  void validate() const override { libbat::validate(this->leaf_); }

private:
  template <class F>
  void read(const Selection& selection, std::uint64_t tuple_bytes, void* out,
    const QueryOptions& options, F&& begin_of) const
  {
    query::check_selection(this->name(), this->particle_count(), selection);
    if (selection.count == 0)
    {
      return;
    }
    const LeafIndex& index = this->leaf_.index();
    const std::vector<std::vector<Piece>> pieces = find_pieces(index, selection);
    for_each_parallel(pieces.size(), options.threads,
      [&](std::size_t t)
      {
        this->leaf_.gather(
          begin_of(index.treelets[t]), tuple_bytes, pieces[t], static_cast<std::byte*>(out));
      });
  }

  Leaf leaf_;
};
}

bool is_leaf(const std::filesystem::path& path) noexcept
{
  try
  {
    const io::RandomAccessFile file(path);
    const Header header(file);
    return header.has("num_treelets") || header.has("num_lod_prims");
  }
  catch (...)
  {
    return false;
  }
}

std::unique_ptr<LeafSource> open_leaf(
  const std::filesystem::path& path, const OpenOptions& options, KeyRanges ranges)
{
  return std::make_unique<LeafFile>(path, options, ranges);
}
}
