// SPDX-License-Identifier: BSD-3-Clause
// query_lines FILE: answers one query per line of standard input, in JSON both ways. For
// compare_queries.py.
//
// In:  {"quality": "1", "after_quality": "0", "box": null or six numbers, "ranges": [{"attribute":
// "a",
//       "component": null or number, "lower": "0", "upper": "1"}], "values": [{"attribute": "a",
//       "component": null or number, "values": ["0", "1"]}], "part": 0, "parts": 1, "rows": true}
// Out: {"spans": [[first, count], ...] (counted on through the leaf files), "upper_bound": n,
// "rows": hexadecimal of the rows, column by column} Numbers of the query are texts, so that none
// is rounded on the way.

#include "bat/bat.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <exception>
#include <iostream>
#include <iterator>
#include <string>

namespace
{
using nlohmann::json;

double real(const json& text)
{
  return bat::to_double(bat::parse_number(text.get<std::string>()));
}

bat::Query parse(const json& line)
{
  bat::Query query;
  query.quality = real(line.at("quality"));
  query.after_quality = real(line.at("after_quality"));
  query.part = line.at("part").get<std::uint32_t>();
  query.parts = line.at("parts").get<std::uint32_t>();
  if (!line.at("box").is_null())
  {
    query.box.emplace();
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      query.box->lower[axis] = real(line.at("box").at(axis));
      query.box->upper[axis] = real(line.at("box").at(axis + 3));
    }
  }
  for (const json& range : line.at("ranges"))
  {
    bat::AttributeRange r;
    r.attribute = range.at("attribute").get<std::string>();
    if (!range.at("component").is_null())
    {
      r.component = range.at("component").get<int>();
    }
    r.lower = bat::parse_number(range.at("lower").get<std::string>());
    r.upper = bat::parse_number(range.at("upper").get<std::string>());
    query.ranges.push_back(r);
  }
  for (const json& list : line.at("values"))
  {
    bat::AttributeValues v;
    v.attribute = list.at("attribute").get<std::string>();
    if (!list.at("component").is_null())
    {
      v.component = list.at("component").get<int>();
    }
    for (const json& number : list.at("values"))
    {
      v.values.push_back(bat::parse_number(number.get<std::string>()));
    }
    query.values.push_back(v);
  }
  return query;
}

void append_hex(std::string& text, const std::vector<unsigned char>& bytes)
{
  for (const unsigned char byte : bytes)
  {
    fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  }
}

std::string rows(const bat::Dataset& file, const bat::DatasetSelection& selection)
{
  std::string text;
  std::vector<unsigned char> values(selection.count * 3 * bat::size_of(file.position_type()));
  file.read_positions(selection, values.data());
  append_hex(text, values);
  for (std::size_t k = 0; k != file.attributes().size(); ++k)
  {
    const bat::Attribute& a = file.attributes()[k];
    values.resize(selection.count * bat::size_of(a.type) * static_cast<std::size_t>(a.components));
    file.read_attribute(k, selection, values.data());
    append_hex(text, values);
  }
  return text;
}
}

int main(int argc, char** argv)
{
  try
  {
    const bat::Dataset file = bat::Dataset::open(argc == 2 ? argv[1] : "");
    std::vector<std::uint64_t> first{ 0 };
    for (const bat::LeafInfo& leaf : file.leaves())
    {
      first.push_back(first.back() + leaf.particles);
    }
    std::string line;
    while (std::getline(std::cin, line))
    {
      const json requested = json::parse(line);
      const bat::Query query = parse(requested);
      const bat::DatasetSelection selection = file.select(query);
      json answer;
      answer["spans"] = json::array();
      for (const bat::DatasetSelection::Part& part : selection.parts)
      {
        for (const bat::Span& span : part.selection.spans)
        {
          answer["spans"].push_back({ first[part.leaf] + span.first, span.count });
        }
      }
      answer["upper_bound"] = file.upper_bound(query);
      if (requested.value("rows", false))
      {
        answer["rows"] = rows(file, selection);
      }
      std::cout << answer.dump() << '\n';
    }
    return 0;
  }
  catch (const std::exception& e)
  {
    std::cerr << "query_lines: " << e.what() << '\n';
    return 1;
  }
}
