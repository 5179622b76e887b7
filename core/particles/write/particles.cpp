// SPDX-License-Identifier: BSD-3-Clause
#include "bat/particles.hpp"

#include <algorithm>

namespace bat
{
ArrayView ArrayView::packed(ScalarType type, int components, const void* data)
{
  ArrayView view;
  view.type = type;
  view.components = components;
  view.stride_bytes = tuple_bytes(type, std::max(components, 0));
  for (int c = 0; c < std::min(components, kMaxComponents); ++c)
  {
    view.component[static_cast<std::size_t>(c)] = data
      ? static_cast<const std::byte*>(data) + size_of(type) * static_cast<std::size_t>(c)
      : nullptr;
  }
  return view;
}

ArrayView ArrayView::separate(ScalarType type, std::initializer_list<const void*> components)
{
  ArrayView view;
  view.type = type;
  view.components = static_cast<int>(components.size());
  view.stride_bytes = size_of(type);
  std::size_t c = 0;
  for (const void* data : components)
  {
    if (c < view.component.size())
    {
      view.component[c++] = static_cast<const std::byte*>(data);
    }
  }
  return view;
}

std::uint64_t bytes_per_particle(const ParticleView& particles) noexcept
{
  std::uint64_t bytes = tuple_bytes(particles.positions.type, 3);
  for (const AttributeView& attribute : particles.attributes)
  {
    bytes += tuple_bytes(attribute.values.type, attribute.values.components);
  }
  return bytes;
}
}
