// SPDX-License-Identifier: BSD-3-Clause
// A C++ program that finds an installed ParaBAT.

#include "bat/bat.hpp"
#include "bat/insitu.hpp"
#include "bat/mpi.hpp"

#include <array>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const std::array<float, 6> positions{ 0, 0, 0, 1, 1, 1 };
  bat::ParticleView particles;
  particles.count = 2;
  particles.positions = bat::ArrayView::packed(bat::ScalarType::Float32, 3, positions.data());
  bat::mpi::write_dataset(MPI_COMM_WORLD, argv[1], particles);
  bat::insitu::SeriesWriter series(bat::insitu::FilePattern(argv[1]), {});
  const auto files = series.write(MPI_COMM_WORLD, 7, 0.5, { { "", { { particles, {} } } } });
  const bool good = bat::Dataset::open(argv[1]).particle_count() == 2 &&
    bat::Dataset::open(files[0].path).step() == 7;
  MPI_Finalize();
  return good ? 0 : 1;
}
