// Orders the particles inside one treelet.
#pragma once

#include "bat/types.hpp"
#include "build/positions.hpp"
#include "format/layout.hpp"

#include <cstdint>
#include <vector>

namespace bat::build
{
/// A particle while its treelet is being ordered.
template <class T>
struct TreeletParticle
{
  std::array<T, 3> position;
  std::uint32_t source;
};

/// Median-split k-d order (paper, section III-C2): whole blocks of `block_particles` stay together, and
/// go on being halved down to small cells, inside which the order is shuffled by a fixed rule. So every
/// run of consecutive particles is compact, and picking every k-th of them is a stratified sample
/// that does not lock onto a lattice.
template <class T>
void order_treelet(TreeletParticle<T>* particles, std::size_t count, std::size_t block_particles);

/// Tight box of `count` particles.
template <class T>
[[nodiscard]] Box tight_box(const TreeletParticle<T>* particles, std::size_t count);

/// Smallest quantised box that contains `box` (FORMAT.md section 10).
[[nodiscard]] format::BlockBoxRecord quantise_box(const Box& box, const Box& treelet);
}
