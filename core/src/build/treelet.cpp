#include "build/treelet.hpp"

#include "build/bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bat::build
{
namespace
{
constexpr std::size_t kCellParticles = 16;

// A fixed permutation that depends on the particles only.
template <class T>
void shuffle(TreeletParticle<T>* particles, std::size_t count)
{
  std::uint64_t state = (particles[0].source + std::uint64_t{ 1 }) * 0x9E3779B97F4A7C15u;
  for (std::size_t i = count; i > 1; --i)
  {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::swap(particles[i - 1], particles[(state >> 32) * i >> 32]);
  }
}

// Particles whose coordinate is below the pivot (or equal to it, if `or_equal`) come first; returns
// how many they are. No branch depends on a coordinate: half of such branches would be
// mispredicted.
template <bool or_equal, class T>
std::size_t partition(TreeletParticle<T>* particles, std::size_t count, std::size_t axis, T pivot)
{
  std::size_t low = 0;
  for (std::size_t i = 0; i != count; ++i)
  {
    const TreeletParticle<T> particle = particles[i];
    const T x = particle.position[axis];
    particles[i] = particles[low];
    particles[low] = particle;
    low += or_equal ? x <= pivot : x < pivot;
  }
  return low;
}

// A coordinate near the one that `left` of the `count` particles are below.
template <class T>
T estimate(
  const TreeletParticle<T>* particles, std::size_t left, std::size_t count, std::size_t axis)
{
  std::array<T, 31> sample;
  const std::size_t size = count > 1024 ? sample.size() : count > 128 ? 11 : 5;
  for (std::size_t i = 0; i != size; ++i)
  {
    sample[i] = particles[(2 * i + 1) * count / (2 * size)].position[axis];
  }
  T* const nth = sample.data() + left * size / count;
  std::nth_element(sample.data(), nth, sample.data() + size);
  return *nth;
}

// Moves the `left` particles with the lowest coordinates to the front, as std::nth_element does.
template <class T>
void split(TreeletParticle<T>* particles, std::size_t left, std::size_t count, std::size_t axis)
{
  constexpr std::size_t kSmall = 24;
  constexpr int kMostRounds = 24; // beyond, the coordinates mislead the estimate
  for (int round = 0; count > kSmall && round != kMostRounds; ++round)
  {
    const T pivot = estimate(particles, left, count, axis);
    std::size_t low = partition<false>(particles, count, axis, pivot);
    if (left < low)
    {
      count = low;
      continue;
    }
    if (low == 0) // the pivot is the lowest: those equal to it come off, however many they are
    {
      low = partition<true>(particles, count, axis, pivot);
    }
    if (left <= low)
    {
      return;
    }
    particles += low;
    left -= low;
    count -= low;
  }
  std::nth_element(particles, particles + left, particles + count,
    [axis](const TreeletParticle<T>& a, const TreeletParticle<T>& b)
    { return a.position[axis] < b.position[axis]; });
}

std::uint8_t quantise_below(double value, double a, double b)
{
  const double half = b * 0.5 - a * 0.5;
  const double t = half > 0 ? (value * 0.5 - a * 0.5) / half * 255.0 : 0.0;
  int q = static_cast<int>(std::clamp(std::floor(t), 0.0, 255.0));
  while (q > 0 && format::block_coordinate(a, b, static_cast<std::uint8_t>(q)) > value)
  {
    --q;
  }
  return static_cast<std::uint8_t>(q);
}

std::uint8_t quantise_above(double value, double a, double b)
{
  const double half = b * 0.5 - a * 0.5;
  const double t = half > 0 ? (value * 0.5 - a * 0.5) / half * 255.0 : 255.0;
  int q = static_cast<int>(std::clamp(std::ceil(t), 0.0, 255.0));
  while (q < 255 && format::block_coordinate(a, b, static_cast<std::uint8_t>(q)) < value)
  {
    ++q;
  }
  return static_cast<std::uint8_t>(q);
}
}

template <class T>
Box tight_box(const TreeletParticle<T>* particles, std::size_t count)
{
  std::array<T, 3> lower = particles[0].position;
  std::array<T, 3> upper = lower;
  for (std::size_t i = 1; i != count; ++i)
  {
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      const T x = particles[i].position[axis];
      lower[axis] = x < lower[axis] ? x : lower[axis];
      upper[axis] = x > upper[axis] ? x : upper[axis];
    }
  }
  Box box;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box.lower[axis] = static_cast<double>(lower[axis]);
    box.upper[axis] = static_cast<double>(upper[axis]);
  }
  return box;
}

template <class T>
void order_treelet(TreeletParticle<T>* particles, std::size_t count, std::size_t block_particles)
{
  if (count <= kCellParticles)
  {
    shuffle(particles, count);
    return;
  }
  const std::size_t blocks = (count + block_particles - 1) / block_particles;
  const std::size_t left = blocks > 1 ? (blocks + 1) / 2 * block_particles : count / 2;
  const std::size_t axis = longest_axis(tight_box(particles, count));
  split(particles, left, count, axis);
  order_treelet(particles, left, block_particles);
  order_treelet(particles + left, count - left, block_particles);
}

format::BlockBoxRecord quantise_box(const Box& box, const Box& treelet)
{
  format::BlockBoxRecord record;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    record.lower[axis] = quantise_below(box.lower[axis], treelet.lower[axis], treelet.upper[axis]);
    record.upper[axis] = quantise_above(box.upper[axis], treelet.lower[axis], treelet.upper[axis]);
  }
  return record;
}

template void order_treelet(TreeletParticle<float>*, std::size_t, std::size_t);
template void order_treelet(TreeletParticle<double>*, std::size_t, std::size_t);
template Box tight_box(const TreeletParticle<float>*, std::size_t);
template Box tight_box(const TreeletParticle<double>*, std::size_t);
}
