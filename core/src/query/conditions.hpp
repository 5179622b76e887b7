// A query with its names looked up, its numbers checked and converted to the classes of its keys.
#pragma once

#include "bat/file.hpp"
#include "dataset/leaf_source.hpp"
#include "numbers.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bat::query
{
struct RangeCondition
{
  std::size_t attribute = 0;
  std::size_t key = 0;
  int component = 0; ///< -1 for the magnitude
  std::variant<ClassRange<double>, ClassRange<std::int64_t>, ClassRange<std::uint64_t>> range;
};

struct Conditions
{
  std::uint64_t first_position = 0; ///< of the progressive step
  std::uint64_t end_position = 0;
  std::uint64_t first_rank = 0; ///< of the part
  std::uint64_t end_rank = 0;
  std::optional<Box> box;
  std::vector<RangeCondition> ranges;
  bool nothing = false; ///< no particle can match

  [[nodiscard]] bool none() const noexcept { return !this->box && this->ranges.empty(); }
};

/// Throws Error{InvalidArgument}.
void check_quality(const std::string& file, double quality);
/// Looks at everything but `part` and `parts`, whose place `ranks` takes. `name` is for messages,
/// `particles` those of the whole file.
[[nodiscard]] Conditions make_conditions(const std::string& name,
  const std::vector<Attribute>& attributes, std::uint64_t particles, const RankInterval& ranks,
  const Query& query);
/// The ranks of a part of `particles` (FORMAT.md section 13).
[[nodiscard]] RankInterval part_ranks(
  const std::string& name, std::uint64_t particles, const Query& query);

/// Place of the attribute; throws Error{InvalidArgument} naming those there are.
[[nodiscard]] std::size_t find_attribute(
  const std::string& name, const std::vector<Attribute>& attributes, std::string_view wanted);
}
