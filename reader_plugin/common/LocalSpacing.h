// SPDX-License-Identifier: BSD-3-Clause
// How far particles are from their neighbours, place by place.
#ifndef LocalSpacing_h
#define LocalSpacing_h

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

class vtkDataArray;

namespace bat_vtk
{
/// The spacing at a place, from an even sample of particles. It is that of the places where
/// particles are: next to a surface as inside, and along a plane or a line if they lie on one.
/// Varies continuously but for small steps, and is the same for any share of the particles as
/// sample, but for noise of a few percent. The same sample in the same order gives the same bits.
class LocalSpacing
{
public:
  /// More particles resolve the places better, at 0.1 microseconds each.
  static constexpr std::size_t MaxSampledParticles = 1 << 17;

  /// Of the sample, in a cube in which distances are taken for the same. Fewer resolve more and are
  /// noisier.
  static constexpr std::uint32_t Smooth = 40;
  static constexpr std::uint32_t Fine = 10;

  /// Positions x, y, z in any units. Those that are not finite are left out.
  explicit LocalSpacing(
    const std::vector<std::array<double, 3>>& sample, std::uint32_t maxCubeParticles = Smooth);

  /// For each row the spacing there over the median of the sample, from 1/4 to 4 and `largest`.
  /// Where particles are spread evenly it is 1: what differs less than noise does is no difference.
  void Factors(vtkDataArray* positions, float largest, float* factors) const;

  /// The spacing that a tenth of the particles have more of over that which a tenth have less of.
  /// At least 1.
  [[nodiscard]] double Spread() const { return this->SpreadOfSample; }

private:
  struct Node
  {
    std::array<float, 8> Corners{}; ///< factors; while they are found, logarithms of spacing
    std::int32_t Child = 0;         ///< the first of eight; if there are none, -level
  };
  struct Moments;
  using Point = std::array<float, 3>; ///< from 0 to 1 in the cube of the sample
  class Builder;

  [[nodiscard]] Point InCube(const double* point) const;
  [[nodiscard]] float At(const Point& point) const;

  std::array<double, 3> Origin{};
  double Scale = 0.0;
  std::vector<Node> Nodes;         ///< the root first
  std::vector<std::int32_t> First; ///< of the cubes of a level
  double SpreadOfSample = 1.0;
};
}

#endif
