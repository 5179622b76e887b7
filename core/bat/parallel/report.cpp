// What a write tells of itself.

#include "bat/mpi.hpp"

#include <nlohmann/json.hpp>

namespace bat::mpi
{
const char* name_of(Phase phase) noexcept
{
  switch (phase)
  {
    case Phase::Check:
      return "check";
    case Phase::Plan:
      return "plan";
    case Phase::Exchange:
      return "exchange";
    case Phase::Write:
      return "write";
    case Phase::Commit:
      break;
  }
  return "commit";
}

std::string to_json(const DatasetReport& report)
{
  const PhaseSeconds& s = report.seconds;
  const nlohmann::json json{ { "particles", report.particles }, { "skipped", report.skipped },
    { "leaf_files", report.leaf_files }, { "target_bytes", report.target_bytes },
    { "file_bytes", report.file_bytes }, { "data_bytes", report.data_bytes },
    { "largest_leaf_bytes", report.largest_leaf_bytes }, { "moved_bytes", report.moved_bytes },
    { "ranks", report.ranks },
    { "seconds",
      { { "check", s.check }, { "plan", s.plan }, { "exchange", s.exchange }, { "build", s.build },
        { "write", s.write }, { "commit", s.commit }, { "total", s.total } } } };
  return json.dump();
}
}
