// SPDX-License-Identifier: BSD-3-Clause
// Estimates the local distance between neighbouring particles.
#ifndef LocalSpacing_h
#define LocalSpacing_h

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

class vtkDataArray;

namespace bat_vtk
{
/// Estimates the local spacing of particles from an even sample of them. Only space with particles
/// counts: next to a surface the result is the same as inside, and on a plane or a line it is the
/// spacing along it. Varies continuously except for small steps, and does not depend on the size of
/// the sample, except for noise of a few percent. The same sample in the same order gives the same
/// bits.
class LocalSpacing
{
public:
  /// More particles resolve positions better, at 0.1 microseconds each.
  static constexpr std::size_t MaxSampledParticles = 1 << 17;

  /// Number of sampled particles in a cube, in which distances count as equal. Smaller numbers
  /// resolve more and are noisier.
  static constexpr std::uint32_t Smooth = 40;
  static constexpr std::uint32_t Fine = 10;

  /// Positions x, y, z in any units. Infinite and NaN positions are ignored.
  explicit LocalSpacing(
    const std::vector<std::array<double, 3>>& sample, std::uint32_t maxCubeParticles = Smooth);

  /// For each row, the local spacing divided by the sample's median, limited to at least 1/4 and at
  /// most 4 and `largest`. It is 1 if particles are spread evenly: differences below the noise are
  /// ignored.
  void Factors(vtkDataArray* positions, float largest, float* factors) const;

  /// The spacing that only a tenth of the particles exceed, divided by the spacing below which only
  /// a tenth fall. At least 1.
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
  std::vector<std::int32_t> First; ///< first cube of each level
  double SpreadOfSample = 1.0;
};
}

#endif
