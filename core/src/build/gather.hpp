// Copies values of chosen particles out of a caller's arrays.
#pragma once

#include "bat/particles.hpp"

#include <cstddef>
#include <cstdint>

namespace bat::build
{
[[nodiscard]] inline std::uint64_t tuple_bytes(const ArrayView& view)
{
  return size_of(view.type) * static_cast<std::uint64_t>(view.components);
}

/// Values of the caller's particles `source`, packed: shape (count, components).
void gather(const std::uint32_t* source, std::size_t count, const ArrayView& view, std::byte* out);
}
