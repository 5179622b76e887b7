#include "bat/query/fetch.hpp"

#include "bat/error.hpp"
#include "bat/query/conditions.hpp"
#include "bat/tree/file_impl.hpp"
#include "common/arena.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>

namespace bat::query
{
namespace
{
constexpr std::uint64_t kJobParticles = 1 << 17;

// Consecutive spans that one task copies.
struct Job
{
  std::size_t first_span;
  std::size_t span_count;
  std::uint64_t out; ///< particles before it
};
}

void fetch(const File::Impl& file, const format::PagedSection& column, std::uint64_t tuple_bytes,
  const Selection& selection, std::byte* out, const QueryOptions& options)
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
  in_arena(options.threads,
    [&]
    {
      tbb::parallel_for(std::size_t{ 0 }, jobs.size(),
        [&](std::size_t j)
        {
          format::PageReader reader(column);
          reader.gather(&spans[jobs[j].first_span], jobs[j].span_count, tuple_bytes,
            out + jobs[j].out * tuple_bytes);
        });
    });
}

const std::byte* map_column(const File::Impl& file, const format::PagedSection& column,
  std::uint64_t tuple_bytes, std::uint64_t count, const QueryOptions& options)
{
  constexpr std::uint64_t kJobPages = format::kPageBytes / 4; // whose checksums are one page
  const io::RandomAccessFile& source = *file.source;
  if (!source.is_mapped())
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "{}: was opened to be read; only mapped files are given without a copy", source.name()));
  }
  if (count > file.header.particle_count)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: {} particles are asked for; there are {}", source.name(), count,
        file.header.particle_count));
  }
  source.check_length();
  const std::uint64_t pages = format::page_count(count * tuple_bytes);
  in_arena(options.threads,
    [&]
    {
      tbb::parallel_for(std::uint64_t{ 0 }, (pages + kJobPages - 1) / kJobPages,
        [&](std::uint64_t job)
        {
          const std::uint64_t first = job * kJobPages;
          const std::uint64_t end = std::min(
            column.record().bytes, std::min(pages, first + kJobPages) * format::kPageBytes);
          format::PageReader(column).view_pages(first, end - first * format::kPageBytes);
        });
    });
  return source.view(column.record().offset, 0);
}

void prefetch(
  const File::Impl& file, const Selection& selection, const std::vector<std::size_t>& attributes)
{
  constexpr std::uint64_t gap_bytes = 1 << 17; // cheaper to read than to ask twice
  const auto column = [&](const format::PagedSection& section, std::uint64_t tuple_bytes)
  {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    for (const Span& span : selection.spans)
    {
      const std::uint64_t first = span.first * tuple_bytes;
      if (first > end + gap_bytes)
      {
        file.source->prefetch(section.record().offset + begin, end - begin);
        begin = first;
      }
      end = first + span.count * tuple_bytes;
    }
    file.source->prefetch(section.record().offset + begin, end - begin);
  };
  column(file.paged(format::SectionKind::Positions),
    3 * size_of(static_cast<ScalarType>(file.schema.head.position_type)));
  for (const std::size_t a : attributes)
  {
    const Attribute& attribute = file.schema.attributes.at(a);
    column(file.paged(format::SectionKind::Attribute, static_cast<std::uint32_t>(a)),
      size_of(attribute.type) * static_cast<std::uint64_t>(attribute.components));
  }
}
}
