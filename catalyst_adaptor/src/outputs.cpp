// SPDX-License-Identifier: BSD-3-Clause
#include "outputs.hpp"

#include "failures.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace bat::catalyst
{
namespace
{
void require_different_files(
  const std::vector<Job>& jobs, const std::vector<insitu::FilePattern>& patterns)
{
  std::set<std::string> files;
  for (std::size_t i = 0; i != jobs.size(); ++i)
  {
    const std::string& name = jobs[i].species.name;
    for (const std::filesystem::path& path :
      { patterns[i].file(jobs[i].step.number, jobs[i].step.time, name), patterns[i].series(name) })
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

// If only one channel has a pattern without the name of the species, the pattern belongs to the
// species with its channel's name, and other species add their names.
std::vector<insitu::FilePattern> Outputs::collect_patterns(const std::vector<Job>& jobs)
{
  std::map<std::string, std::string> users;
  for (const Job& job : jobs)
  {
    const auto [user, is_new] = users.emplace(job.pattern, job.channel);
    user->second = user->second == job.channel ? job.channel : "";
  }
  this->channels_.insert(users.begin(), users.end());
  std::vector<insitu::FilePattern> patterns;
  for (const Job& job : jobs)
  {
    patterns.emplace_back(job.pattern);
    if (this->channels_.at(job.pattern) != job.channel || job.species.name != job.channel)
    {
      patterns.back().add_name();
    }
  }
  return patterns;
}

insitu::SeriesWriter& Outputs::find_writer(const Job& job, const insitu::FilePattern& pattern)
{
  Output& output = this->outputs_[fmt::format("{}\n{}", job.pattern, job.species.name)];
  std::string settings = to_json(job.options.write) + job.options.tracks_text;
  if (!output.writer || output.settings != settings)
  {
    output.writer.reset(); // it completes its tracks before another one continues them
    output.writer.emplace(pattern, job.options.write, this->notice_);
    if (job.options.tracks)
    {
      output.writer->set_tracks(*job.options.tracks);
    }
    output.settings = std::move(settings);
  }
  return *output.writer;
}

void Outputs::write(MPI_Comm comm, const Step& step, std::vector<Job> jobs)
{
  const std::vector<insitu::FilePattern> patterns = this->collect_patterns(jobs);
  require_different_files(jobs, patterns);
  this->last_step_ = step;
  this->last_files_.clear();
  Failures failures;                                           // the same on all ranks
  std::vector<std::pair<insitu::SeriesWriter*, Step>> writers; // writers of last_files_
  for (std::size_t i = 0; i != jobs.size(); ++i)
  {
    insitu::SeriesWriter& writer = this->find_writer(jobs[i], patterns[i]);
    const Step& of_job = jobs[i].step;
    failures.attempt(
      [&]
      {
        if (!jobs[i].needs_file)
        {
          return;
        }
        for (insitu::WrittenFile& file :
          writer.write_files(comm, of_job.number, of_job.time, { jobs[i].species }))
        {
          ++this->totals_.files;
          this->totals_.particles += file.report.particles;
          this->totals_.bytes += file.report.file_bytes;
          this->totals_.seconds += file.report.seconds.total;
          this->last_files_.push_back(std::move(file));
          writers.emplace_back(&writer, of_job);
        }
      });
  }
  for (std::size_t i = 0; i != jobs.size(); ++i)
  {
    if (jobs[i].needs_tracks)
    {
      failures.attempt(
        [&]
        {
          (void)this->find_writer(jobs[i], patterns[i])
            .write_tracks(comm, jobs[i].step.number, jobs[i].step.time, { jobs[i].species });
        });
    }
  }
  // Runs once all particles are safe.
  for (std::size_t i = 0; i != writers.size(); ++i)
  {
    const auto& [writer, of_job] = writers[i];
    failures.attempt([&, w = writer, s = of_job]
      { w->write_lists(comm, { this->last_files_[i] }, s.number, s.time); });
  }
  failures.throw_if_any();
}
}
