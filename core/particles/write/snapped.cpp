// SPDX-License-Identifier: BSD-3-Clause
#include "particles/write/snapped.hpp"

#include "codec/snap.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

namespace bat::write
{
namespace
{
constexpr std::uint64_t kParticlesPerBatch = 1 << 14; // particles

// The array of a part, packed and snapped, in the part's rows; other rows are undefined.
void fill(const ParticleParts& particles, const ParticleParts::Part& part, const ErrorBound& bound,
  std::byte* out)
{
  const ArrayView& view = particles.array(bound.array);
  const std::size_t bytes = tuple_bytes(view.type, view.components);
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, part.count, kParticlesPerBatch),
    [&](const auto& range)
    {
      std::vector<std::byte> values;
      for (std::uint64_t first = range.begin(); first < range.end(); first += kParticlesPerBatch)
      {
        const std::uint64_t count = std::min(kParticlesPerBatch, range.end() - first);
        values.resize(count * bytes);
        particles.copy(part.first + first, count, bound.array, values.data());
        codec::snap({ view.type, static_cast<std::uint32_t>(view.components) }, bound.value,
          values.data(), count);
        for (std::uint64_t i = 0; i != count; ++i)
        {
          std::memcpy(
            out + part.row(part.first + first + i) * bytes, values.data() + i * bytes, bytes);
        }
      }
    });
}
}

SnappedParticles::SnappedParticles(
  const ParticleParts& particles, const std::vector<ErrorBound>& bounds)
  : parts_(particles.schema())
{
  for (const ParticleParts::Part& part : particles.parts())
  {
    ParticleView view = part.view;
    for (const ErrorBound& bound : bounds)
    {
      ArrayView& array =
        bound.array == 0 ? view.positions : view.attributes[bound.array - 1].values;
      this->arrays_.emplace_back(view.count * tuple_bytes(array.type, array.components));
      fill(particles, part, bound, this->arrays_.back().data());
      array = ArrayView::packed(array.type, array.components, this->arrays_.back().data());
    }
    this->parts_.add(view, part.rows, part.count);
  }
}
}
