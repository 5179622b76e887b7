// SPDX-License-Identifier: BSD-3-Clause
// Formats the reports of writes and reads.

#include "bat/mpi.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>
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

const char* name_of(ReadMode mode) noexcept
{
  switch (mode)
  {
    case ReadMode::Auto:
      return "auto";
    case ReadMode::Direct:
      return "direct";
    case ReadMode::Aggregated:
      break;
  }
  return "aggregated";
}

ReadMode parse_read_mode(std::string_view name)
{
  for (const ReadMode mode : { ReadMode::Auto, ReadMode::Direct, ReadMode::Aggregated })
  {
    if (name == name_of(mode))
    {
      return mode;
    }
  }
  throw Error(ErrorCode::InvalidArgument,
    fmt::format("the read mode is '{}'; allowed are auto, direct and aggregated", name));
}

namespace
{
void add_run(nlohmann::json& json, const RunReport& report)
{
  const MessageCounts& m = report.messages;
  json["ranks"] = report.ranks;
  json["nodes"] = report.nodes;
  json["aggregators"] = report.aggregators;
  json["threads"] = report.threads;
  json["messages_within_nodes"] = m.within;
  json["bytes_within_nodes"] = m.bytes_within;
  json["messages_between_nodes"] = m.between;
  json["bytes_between_nodes"] = m.bytes_between;
  json["max_received_messages"] = m.max_received;
  json["max_received_bytes"] = m.max_received_bytes;
  json["peak_memory_bytes"] = report.peak_memory_bytes;
  json["advice"] = report.advice;
}

std::string counted(std::uint64_t count, const char* thing)
{
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string amount(std::uint64_t bytes)
{
  return bytes < 10'000'000 ? fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3)
                            : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// Formats "on 8 ranks of 2 nodes, at least 1 thread each".
std::string place_of(const RunReport& report)
{
  return fmt::format("on {} of {}, {} each",
    counted(static_cast<std::uint64_t>(report.ranks), "rank"),
    counted(static_cast<std::uint64_t>(report.nodes), "node"),
    counted(static_cast<std::uint64_t>(report.threads), "thread"));
}

std::string format_messages(const RunReport& report)
{
  const MessageCounts& m = report.messages;
  return fmt::format("{} ({}) within nodes and {} ({}) between them, at most {} ({}) to one rank; "
                     "peak memory {}{}{}",
    counted(m.within, "message"), amount(m.bytes_within), m.between, amount(m.bytes_between),
    m.max_received, amount(m.max_received_bytes), amount(report.peak_memory_bytes),
    report.advice.empty() ? "" : ". ", report.advice);
}
}

std::string to_json(const DatasetReport& report)
{
  const PhaseSeconds& s = report.seconds;
  nlohmann::json json{ { "particles", report.particles }, { "skipped", report.skipped },
    { "leaf_files", report.leaf_files }, { "target_bytes", report.target_bytes },
    { "file_bytes", report.file_bytes }, { "data_bytes", report.data_bytes },
    { "largest_leaf_bytes", report.largest_leaf_bytes }, { "moved_bytes", report.moved_bytes },
    { "leaders", report.leaders },
    { "seconds",
      { { "check", s.check }, { "plan", s.plan }, { "exchange", s.exchange }, { "build", s.build },
        { "write", s.write }, { "commit", s.commit }, { "total", s.total } } } };
  add_run(json, report);
  return json.dump();
}

std::string to_line(const DatasetReport& report)
{
  const PhaseSeconds& s = report.seconds;
  return fmt::format(
    "wrote {} ({}) as {} by {} {}{}: {:.3f} s (check {:.3f}, plan {:.3f}, exchange {:.3f}, build "
    "{:.3f}, write {:.3f}, commit {:.3f}); {}",
    counted(report.particles, "particle"), amount(report.data_bytes),
    counted(report.leaf_files, "leaf file"),
    counted(static_cast<std::uint64_t>(report.aggregators), "aggregator"), place_of(report),
    report.leaders == 0
      ? ""
      : ", through " + counted(static_cast<std::uint64_t>(report.leaders), "leader"),
    s.total, s.check, s.plan, s.exchange, s.build, s.write, s.commit, format_messages(report));
}

std::string to_json(const ReadReport& report)
{
  const ReadSeconds& s = report.seconds;
  nlohmann::json json{ { "mode", name_of(report.mode) }, { "reason", report.reason },
    { "particles", report.particles }, { "data_bytes", report.data_bytes },
    { "leaf_files", report.leaf_files }, { "opens", report.opens },
    { "read_bytes", report.read_bytes }, { "rounds", report.rounds },
    { "seconds",
      { { "plan", s.plan }, { "load", s.load }, { "select", s.select }, { "fetch", s.fetch },
        { "total", s.total } } } };
  add_run(json, report);
  return json.dump();
}

std::string to_line(const ReadReport& report)
{
  const ReadSeconds& s = report.seconds;
  return fmt::format(
    "read {} ({}) {} {} ({}): {} opened {} ({} read); {:.3f} s (plan {:.3f}, load {:.3f}, "
    "select {:.3f}, fetch {:.3f}); {}",
    counted(report.particles, "particle"), amount(report.data_bytes),
    report.mode == ReadMode::Direct ? "directly" : "aggregated", place_of(report), report.reason,
    counted(static_cast<std::uint64_t>(report.aggregators), "rank"),
    counted(report.opens, "leaf file"), amount(report.read_bytes), s.total, s.plan, s.load,
    s.select, s.fetch, format_messages(report));
}
}
