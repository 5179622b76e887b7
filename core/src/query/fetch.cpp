#include "query/fetch.hpp"

#include "file_impl.hpp"
#include "query/conditions.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

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
  tbb::task_arena arena(options.threads > 0 ? options.threads : tbb::task_arena::automatic);
  arena.execute([&] {
    tbb::parallel_for(std::size_t{ 0 }, jobs.size(), [&](std::size_t j) {
      format::PageReader reader(column);
      reader.gather(
        &spans[jobs[j].first_span], jobs[j].span_count, tuple_bytes, out + jobs[j].out * tuple_bytes);
    });
  });
}
}
