// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/leaf_writer.hpp"

#include "particles/format/index_layout.hpp"
#include "particles/write/check_input.hpp"
#include "particles/write/encoder.hpp"
#include "particles/write/repeats.hpp"

#include <nlohmann/json.hpp>

namespace bat
{
std::string to_json(const WriteReport& report)
{
  const nlohmann::json json{ { "particles", report.particles }, { "leaf_files", 1 },
    { "file_bytes", report.file_bytes }, { "data_bytes", report.data_bytes }, { "ranks", 1 },
    { "seconds",
      { { "build", report.seconds_build + report.seconds_encode },
        { "write", report.seconds_write },
        { "total", report.seconds_build + report.seconds_encode + report.seconds_write } } } };
  return json.dump();
}

WriteReport write_leaf(
  io::AtomicFile& file, const write::ParticleParts& particles, const BuildOptions& options)
{
  write::check_input(particles, options);
  write::FileOutput output(file, options.flush);
  WriteReport report = write::encode_leaf(particles, options, output);
  report.seconds_write = output.seconds();
  report.seconds_encode -= output.seconds();
  return report;
}

Bytes encode(const ParticleView& particles, const BuildOptions& options, WriteReport* report)
{
  const write::ParticleParts parts = write::link_repeats(particles, options);
  write::check_input(parts, options);
  write::MemoryOutput output(parts.row_bytes() * parts.count(),
    options.sorted_indexes.size() * format::IndexLayout(parts.count()).bytes());
  const WriteReport result = write::encode_leaf(parts, options, output);
  if (report)
  {
    *report = result;
  }
  return output.take();
}
}
