// SPDX-License-Identifier: BSD-3-Clause
// A leaf file in this library's own format, as a dataset sees it.
#pragma once

#include "bat/validate.hpp"
#include "particles/query/column_reader.hpp"
#include "particles/query/leaf_source.hpp"
#include "particles/query/quantiles.hpp"
#include "particles/query/select.hpp"

#include <algorithm>
#include <utility>

namespace bat
{
class FileLeaf : public LeafSource
{
public:
  explicit FileLeaf(File file)
    : file_(std::move(file))
  {
  }
  [[nodiscard]] const File& file() const noexcept { return this->file_; }

  [[nodiscard]] const std::string& name() const noexcept override { return this->file_.name(); }
  [[nodiscard]] std::uint64_t file_bytes() const noexcept override
  {
    return this->file_.file_bytes();
  }
  [[nodiscard]] std::uint64_t particle_count() const noexcept override
  {
    return this->file_.particle_count();
  }
  [[nodiscard]] ScalarType position_type() const noexcept override
  {
    return this->file_.position_type();
  }
  [[nodiscard]] std::optional<Box> bounds() const noexcept override { return this->file_.bounds(); }
  [[nodiscard]] const std::vector<Attribute>& attributes() const noexcept override
  {
    return this->file_.attributes();
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override
  {
    return this->file_.bytes_read();
  }
  [[nodiscard]] std::vector<Region> regions() const override
  {
    return query::regions(this->file_.impl());
  }
  [[nodiscard]] std::uint64_t upper_bound(const query::Conditions& conditions) const override
  {
    return query::upper_bound(this->file_.impl(), conditions);
  }
  [[nodiscard]] CountEstimate estimate_count(
    const query::Conditions& conditions, std::uint64_t sampled) const override
  {
    return query::estimate_count(this->file_.impl(), conditions, sampled);
  }
  [[nodiscard]] Selection select(
    const query::Conditions& conditions, const QueryOptions& options) const override
  {
    return query::select(this->file_.impl(), conditions, options);
  }
  void read_positions(
    const Selection& selection, void* out, const QueryOptions& options) const override
  {
    this->file_.read_positions(selection, out, options);
  }
  void read_attribute(std::size_t index, const Selection& selection, void* out,
    const QueryOptions& options) const override
  {
    this->file_.read_attribute(index, selection, out, options);
  }
  void prefetch(
    const Selection& selection, const std::vector<std::size_t>& attributes) const override
  {
    query::prefetch(this->file_.impl(), selection, attributes);
  }
  [[nodiscard]] std::uint64_t coarse_particles(std::uint64_t maximum) const noexcept override
  {
    const std::vector<std::uint64_t>& ends = this->file_.level_ends();
    const auto above = std::upper_bound(ends.begin(), ends.end(), maximum);
    return above == ends.begin() ? std::min(maximum, this->particle_count()) : *(above - 1);
  }
  [[nodiscard]] std::vector<Number> quantiles(std::size_t attribute, std::size_t key) const override
  {
    return query::quantiles(this->file_, attribute, key);
  }
  void validate() const override { bat::validate(this->file_); }

private:
  File file_;
};
}
