// SPDX-License-Identifier: BSD-3-Clause
// Writes one file of particles, replacing an existing dataset.

#include "common/io/atomic_file.hpp"
#include "particles/dataset/dataset_folder.hpp"
#include "particles/write/leaf_writer.hpp"
#include "particles/write/repeats.hpp"

#include <chrono>
#include <set>
#include <string>

namespace bat
{
WriteReport write_file(
  const std::filesystem::path& path, const ParticleView& particles, const BuildOptions& options)
{
  check_name(path);
  check_view_name(path, options);
  io::AtomicFile file(path);
  WriteReport report = write_leaf(file, write::link_repeats(particles, options), options);
  const std::set<std::string> replaced = list_leaf_files(path);
  const auto start = std::chrono::steady_clock::now();
  file.commit(options.flush);
  report.seconds_write +=
    std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  remove_leftovers(path, {}, replaced);
  if (options.progress)
  {
    options.progress(1.0); // too late to cancel
  }
  return report;
}
}
