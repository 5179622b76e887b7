#include "build/gather.hpp"

#include <cstring>
#include <type_traits>

namespace bat::build
{
void gather(const std::uint32_t* source, std::size_t count, const ArrayView& view, std::byte* local)
{
  const std::uint64_t value_bytes = size_of(view.type);
  bool together = true;
  for (int c = 1; c != view.components; ++c)
  {
    together = together &&
      view.component[static_cast<std::size_t>(c)] ==
        view.component[0] + value_bytes * static_cast<std::uint64_t>(c);
  }
  if (!together)
  {
    for (std::size_t i = 0; i != count; ++i)
    {
      for (int c = 0; c != view.components; ++c, local += value_bytes)
      {
        std::memcpy(local,
          view.component[static_cast<std::size_t>(c)] + source[i] * view.stride_bytes, value_bytes);
      }
    }
    return;
  }
  const auto copy_tuples = [&](auto size)
  {
    const std::byte* from = view.component[0];
    const std::size_t stride = view.stride_bytes;
    for (std::size_t i = 0; i != count; ++i, local += size)
    {
      std::memcpy(local, from + source[i] * stride, size);
    }
  };
  using std::integral_constant;
  switch (tuple_bytes(view)) // constant sizes turn the copy into a move
  {
    case 1:
      return copy_tuples(integral_constant<std::size_t, 1>{});
    case 2:
      return copy_tuples(integral_constant<std::size_t, 2>{});
    case 4:
      return copy_tuples(integral_constant<std::size_t, 4>{});
    case 8:
      return copy_tuples(integral_constant<std::size_t, 8>{});
    case 12:
      return copy_tuples(integral_constant<std::size_t, 12>{});
    case 24:
      return copy_tuples(integral_constant<std::size_t, 24>{});
    default:
      return copy_tuples(static_cast<std::size_t>(tuple_bytes(view)));
  }
}
}
