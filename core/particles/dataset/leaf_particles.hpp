// SPDX-License-Identifier: BSD-3-Clause
// The part of validate() that reads the particles of a leaf file, treelet by treelet.
#pragma once

#include "bat/error.hpp"
#include "bat/file.hpp"
#include "bat/free_memory.hpp"
#include "particles/format/column.hpp"
#include "particles/format/page_reader.hpp"
#include "particles/tree/file_impl.hpp"
#include "particles/tree/ordinal_runs.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace bat
{
class LeafParticles
{
public:
  explicit LeafParticles(const File& file)
    : file_(file)
    , impl_(file.impl())
  {
    this->check_columns_fit();
    this->find_file_positions();
  }

  [[nodiscard]] const File& file() const noexcept { return this->file_; }
  [[nodiscard]] const File::Impl& impl() const noexcept { return this->impl_; }
  [[nodiscard]] const io::RandomAccessFile& source() const noexcept { return *this->impl_.source; }

  /// All elements of a section; each has `components` values.
  template <class T>
  [[nodiscard]] std::vector<T> read(format::SectionKind kind, std::uint32_t index,
    std::uint64_t elements, std::size_t components = 1) const
  {
    return read_all<T, format::PageReader>(this->impl_.paged(kind, index), elements, components);
  }

  /// Values of all particles, by file position.
  template <class T>
  [[nodiscard]] std::vector<T> read_column(
    format::SectionKind kind, std::uint32_t index, std::size_t components) const
  {
    return read_all<T, format::ColumnReader>(
      this->impl_.column(kind, index), this->file_.particle_count(), components);
  }

  /// Calls visit(t, ordinal offset in the treelet, first value of the particle) for all particles,
  /// treelet by treelet, with begin(t) before and end(t) after each treelet.
  template <class T, class Begin, class Visit, class End>
  void for_each_particle(const std::vector<T>& column, std::size_t components, const Begin& begin,
    const Visit& visit, const End& end) const
  {
    const SpatialIndex& spatial = this->impl_.spatial_index();
    for (std::size_t t = 0; t != spatial.treelets.size(); ++t)
    {
      begin(t);
      const std::uint64_t first = spatial.first_ordinal[t];
      for (std::uint64_t i = 0; i != spatial.treelets[t].count; ++i)
      {
        visit(t, i, &column[this->file_positions_[first + i] * components]);
      }
      end(t);
    }
  }

private:
  template <class T, class Reader, class Section>
  [[nodiscard]] std::vector<T> read_all(
    const Section& section, std::uint64_t elements, std::size_t components) const
  {
    Reader reader(section);
    std::vector<T> values;
    this->resize(values, elements * components);
    const Span all{ 0, elements };
    reader.gather(&all, 1, reinterpret_cast<std::byte*>(values.data()));
    return values;
  }

  // A small file may claim billions of identical particles.
  void check_columns_fit() const
  {
    std::size_t largest = 3 * size_of(this->file_.position_type());
    for (const Attribute& attribute : this->file_.attributes())
    {
      const auto components = static_cast<std::size_t>(attribute.components);
      largest = std::max(largest, components * size_of(attribute.type));
    }
    const std::size_t hash = this->impl_.schema.sample_ids.empty() ? 0 : sizeof(std::uint64_t);
    const std::uint64_t count = this->file_.particle_count();
    check_memory(
      static_cast<double>(count) * static_cast<double>(sizeof(std::uint32_t) + largest + hash),
      fmt::format("{}: the checks of {} particles", this->source().name(), count));
  }

  template <class T>
  void resize(std::vector<T>& values, std::uint64_t count) const
  {
    try
    {
      values.resize(count);
    }
    catch (const std::bad_alloc&)
    {
      throw Error(ErrorCode::OutOfMemory,
        fmt::format("{}: checking {} particles needs {} bytes of memory, which are not available",
          this->source().name(), this->file_.particle_count(), count * sizeof(T)));
    }
  }

  void find_file_positions()
  {
    this->resize(this->file_positions_, this->file_.particle_count());
    tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, this->file_positions_.size(), 4096),
      [&](const auto& ordinals)
      {
        OrdinalRuns runs(this->impl_);
        for (std::uint64_t ordinal = ordinals.begin(); ordinal != ordinals.end(); ++ordinal)
        {
          runs.for_each_run(ordinal, ordinal + 1,
            [&](std::size_t, std::uint64_t at, std::uint64_t, std::uint64_t count)
            {
              if (count == 1)
              {
                this->file_positions_[ordinal] = static_cast<std::uint32_t>(at);
              }
            });
        }
      });
  }

  const File& file_;
  const File::Impl& impl_;
  std::vector<std::uint32_t> file_positions_; ///< per ordinal
};
}
