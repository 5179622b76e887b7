// SPDX-License-Identifier: BSD-3-Clause
#include "host_numbers.hpp"

#include "bat/error.hpp"

#include <fmt/format.h>

namespace bat::catalyst
{
namespace
{
[[noreturn]] void refuse(const std::string& what)
{
  throw Error(ErrorCode::InvalidArgument, what);
}
}

Numbers host_numbers(const Node& node, const DeviceMemory& device)
{
  const auto numbers = node.numbers();
  if (!numbers)
  {
    refuse(
      fmt::format("{} has type {}; it must be a numeric array", node.path(), node.type_name()));
  }
  if (numbers->count == 0)
  {
    return *numbers;
  }
  if (device.has(numbers->data))
  {
    refuse(fmt::format("{} is in GPU memory; it must be in host memory: copy it before "
                       "catalyst_execute, or allocate it managed",
      node.path()));
  }
  if (!is_mapped(
        numbers->data, (numbers->count - 1) * numbers->stride_bytes + size_of(numbers->type)))
  {
    refuse(fmt::format("{} has {} values at {}, where this process has no memory", node.path(),
      numbers->count, static_cast<const void*>(numbers->data)));
  }
  return *numbers;
}
}
