// SPDX-License-Identifier: BSD-3-Clause
#include "particles/query/column_reader.hpp"

#include "bat/error.hpp"
#include "common/arena.hpp"
#include "particles/query/conditions.hpp"
#include "particles/tree/file_impl.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

namespace bat::query
{
namespace
{
constexpr std::uint64_t kJobParticles = 1 << 17;
constexpr std::size_t kRequestedJobs = 8; // ahead of the one that is read

// Consecutive spans that one task copies.
struct Job
{
  std::size_t first_span;
  std::size_t span_count;
  std::uint64_t out; ///< particles before it
};

template <std::size_t Bytes>
void copy_values(const std::byte* from, std::uint64_t stride, std::size_t count, std::byte* to)
{
  for (std::size_t i = 0; i != count; ++i)
  {
    std::memcpy(to + i * Bytes, from + i * stride, Bytes);
  }
}

void read(const Column& column, const Span* spans, std::size_t span_count, std::byte* out)
{
  format::ColumnReader reader(column.section);
  const std::uint64_t element_bytes = column.section.element_bytes();
  if (column.value_bytes == element_bytes)
  {
    reader.gather(spans, span_count, out);
    return;
  }
  const std::uint64_t bytes = column.value_bytes; // size of one number
  reader.visit(spans, span_count,
    [&](const Elements* parts, std::size_t count)
    {
      for (const Elements* part = parts; part != parts + count; ++part)
      {
        const auto copy = bytes == 1 ? copy_values<1>
          : bytes == 2               ? copy_values<2>
          : bytes == 4               ? copy_values<4>
                                     : copy_values<8>;
        copy(part->first + column.offset_bytes, element_bytes, part->count, out);
        out += part->count * bytes;
      }
    });
}
}

void fetch(const File::Impl& file, const Column& column, const Selection& selection, std::byte* out,
  const QueryOptions& options)
{
  check_selection(file.source->name(), file.header.particle_count, selection);
  std::vector<Span> spans; // none longer than a job
  std::vector<Job> jobs;
  std::uint64_t total = 0;
  std::uint64_t in_job = kJobParticles;
  for (const Span& span : selection.spans)
  {
    const std::uint64_t end = span.first + span.count;
    for (std::uint64_t first = span.first; first != end;)
    {
      if (in_job >= kJobParticles)
      {
        jobs.push_back({ spans.size(), 0, total });
        in_job = 0;
      }
      const std::uint64_t count = std::min(kJobParticles - in_job, end - first);
      spans.push_back({ first, count });
      ++jobs.back().span_count;
      first += count;
      total += count;
      in_job += count;
    }
  }
  // Of a remote file, the next jobs' values arrive while those of one are copied.
  const auto request = [&](std::size_t j)
  {
    if (file.source->is_remote() && j < jobs.size())
    {
      const auto first = spans.begin() + static_cast<std::ptrdiff_t>(jobs[j].first_span);
      column.section.prefetch({ first, first + static_cast<std::ptrdiff_t>(jobs[j].span_count) });
    }
  };
  for (std::size_t j = 0; j != kRequestedJobs; ++j)
  {
    request(j);
  }
  in_arena(options.threads,
    [&]
    {
      tbb::parallel_for(std::size_t{ 0 }, jobs.size(),
        [&](std::size_t j)
        {
          request(j + kRequestedJobs);
          read(column, &spans[jobs[j].first_span], jobs[j].span_count,
            out + jobs[j].out * column.value_bytes);
        });
    });
}

const std::byte* map_column(
  const File::Impl& file, const Column& column, std::uint64_t count, const QueryOptions& options)
{
  const io::RandomAccessFile& source = *file.source;
  if (!source.is_mapped())
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: was opened for reading; only mapped files can be accessed without a copy",
        source.name()));
  }
  if (column.section.has_chunks())
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: {} is compressed and cannot be accessed without a copy; read it instead",
        source.name(), column.section.name()));
  }
  if (count > file.header.particle_count)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: {} particles are requested; the file has {}", source.name(), count,
        file.header.particle_count));
  }
  return in_arena(options.threads, [&] { return column.section.view_front(count); });
}

void prefetch(
  const File::Impl& file, const Selection& selection, const std::vector<std::size_t>& attributes)
{
  file.column(format::SectionKind::Positions).prefetch(selection.spans);
  for (std::size_t a : attributes)
  {
    if (const std::optional<Alias>& alias = file.schema.attributes.at(a).alias)
    {
      if (!alias->attribute)
      {
        continue; // positions are requested
      }
      a = *alias->attribute;
    }
    file.column(format::SectionKind::Attribute, static_cast<std::uint32_t>(a))
      .prefetch(selection.spans);
  }
}
}
