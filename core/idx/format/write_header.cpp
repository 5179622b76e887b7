// SPDX-License-Identifier: BSD-3-Clause
// Formats a header as the text of an .idx file.
#include "bat/idx/header.hpp"

#include "idx/format/field_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bat::idx
{
namespace
{
std::string box_text(const Header& header)
{
  std::string text;
  for (std::size_t axis = 0; axis != static_cast<std::size_t>(header.axes); ++axis)
  {
    text +=
      fmt::format("{}{} {}", axis == 0 ? "" : " ", header.box.lower[axis], header.box.upper[axis]);
  }
  return text + (header.pidx ? " 0 0 0 0" : "");
}

std::string time_text(const TimeSteps& time)
{
  if (time.listed)
  {
    return "* * " + time.name_template;
  }
  if (time.ranges.size() == 1 && time.ranges[0].by == 1)
  {
    return fmt::format("{} {} {}", time.ranges[0].first, time.ranges[0].last, time.name_template);
  }
  std::string text = time.name_template;
  for (const StepRange& range : time.ranges)
  {
    text += range.first == range.last
      ? fmt::format(" ({})", range.first)
      : fmt::format(" ({},{},{})", range.first, range.last, range.by);
  }
  return text;
}
}

std::string to_text(const Header& header)
{
  std::string text;
  const auto key = [&](const char* name, const std::string& value)
  {
    text += fmt::format("({})\n{}", name, value);
    text += text.back() == '\n' ? "" : "\n";
  };
  key("version", header.pidx ? "6.1" : std::to_string(header.version));
  if (header.pidx)
  {
    const bool whole = header.partition_offset == std::array<std::int64_t, 3>{};
    key("io mode", whole ? "idx" : "l_part_idx");
    if (!whole)
    {
      key("partition offset", fmt::format("{}", fmt::join(header.partition_offset, " ")));
    }
    key("endian", header.big_endian ? "big" : "little");
    key("compression type", "0");
  }
  key("box", box_text(header));
  key("fields", format::fields_text(header.fields, header.pidx));
  key("bits", header.bits);
  key("bitsperblock", std::to_string(header.bits_per_block));
  if (header.arco != 0)
  {
    key("arco", std::to_string(header.arco));
  }
  else
  {
    key("blocksperfile", std::to_string(header.blocks_per_file));
    if (!header.pidx)
    {
      key("interleave block", std::to_string(header.interleave == 1 ? 0 : header.interleave));
    }
    key("filename_template", header.filename_template);
  }
  key("time", time_text(header.time));
  if (header.physic_box)
  {
    key("physic_box", fmt::format("{}", fmt::join(*header.physic_box, " ")));
  }
  if (header.logic_to_physic)
  {
    key("logic_to_physic", fmt::format("{}", fmt::join(*header.logic_to_physic, " ")));
  }
  if (!header.axis_names.empty())
  {
    key("axis", fmt::format("{}", fmt::join(header.axis_names, " ")));
  }
  if (!header.times.empty())
  {
    key("parabat_times", fmt::format("{}", fmt::join(header.times, " ")));
  }
  return text;
}
}
