#include "outputs.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>

namespace bat::catalyst
{
namespace
{
mpi::WriteOptions write_options(const ChannelOptions& options)
{
  mpi::WriteOptions result;
  result.mode = options.mode;
  result.target_bytes = options.target_bytes;
  result.build.threads = options.threads;
  result.build.flush = options.flush;
  return result;
}

void require_different_files(
  const std::vector<Job>& jobs, const std::vector<insitu::FilePattern>& patterns, const Step& step)
{
  std::set<std::string> files;
  for (std::size_t i = 0; i != jobs.size(); ++i)
  {
    const std::string& name = jobs[i].species.name;
    for (const std::filesystem::path& path :
      { patterns[i].file(step.number, step.time, name), patterns[i].series(name) })
    {
      const std::string file = path.lexically_normal().string();
      if (!files.insert(file).second)
      {
        throw Error(ErrorCode::InvalidArgument,
          fmt::format("two species would be written to {}; the second is '{}'", file, name));
      }
    }
  }
}
}

// A pattern without the name of the species is that of one species only.
std::vector<insitu::FilePattern> Outputs::patterns_of(const std::vector<Job>& jobs)
{
  std::map<std::string, std::vector<std::string>> users;
  for (const Job& job : jobs)
  {
    users[job.pattern].push_back(job.species.name);
  }
  std::map<std::pair<std::string, std::string>, std::string> names;
  for (const auto& [pattern, species] : users)
  {
    const std::vector<std::string> found = this->file_names_.names(pattern, species);
    for (std::size_t i = 0; i != species.size(); ++i)
    {
      names.emplace(std::pair(pattern, species[i]), found[i]);
    }
  }
  std::vector<insitu::FilePattern> patterns;
  for (const Job& job : jobs)
  {
    patterns.emplace_back(job.pattern);
    if (names.at({ job.pattern, job.species.name }) != job.pattern)
    {
      patterns.back().add_name();
    }
  }
  return patterns;
}

insitu::SeriesWriter& Outputs::writer_of(const Job& job, const insitu::FilePattern& pattern)
{
  Output& output = this->outputs_[fmt::format("{}\n{}", job.pattern, job.species.name)];
  const std::string settings = fmt::format("{} {} {} {}", static_cast<int>(job.options.mode),
    job.options.target_bytes, job.options.threads, job.options.flush);
  if (!output.writer || output.settings != settings)
  {
    output.writer.emplace(pattern, write_options(job.options));
    output.settings = settings;
  }
  return *output.writer;
}

void Outputs::write(MPI_Comm comm, const Step& step, std::vector<Job> jobs)
{
  const std::vector<insitu::FilePattern> patterns = this->patterns_of(jobs);
  require_different_files(jobs, patterns, step);
  this->last_step_ = step;
  this->last_files_.clear();
  std::vector<insitu::SeriesWriter*> writers;
  for (std::size_t i = 0; i != jobs.size(); ++i)
  {
    writers.push_back(&this->writer_of(jobs[i], patterns[i]));
    for (insitu::WrittenFile& file :
      writers.back()->write_files(comm, step.number, step.time, { std::move(jobs[i].species) }))
    {
      ++this->totals_.files;
      this->totals_.particles += file.report.particles;
      this->totals_.bytes += file.report.file_bytes;
      this->totals_.seconds += file.report.seconds.total;
      this->last_files_.push_back(std::move(file));
    }
  }
  // When all particles are safe; one list that cannot be written does not keep the others back.
  std::optional<Error> failure;
  for (std::size_t i = 0; i != writers.size(); ++i)
  {
    try
    {
      writers[i]->write_lists(comm, { this->last_files_[i] }, step.number, step.time);
    }
    catch (const Error& e)
    {
      failure = failure ? failure : std::optional(e);
    }
  }
  if (failure)
  {
    throw *failure;
  }
  ++this->totals_.steps;
}
}
