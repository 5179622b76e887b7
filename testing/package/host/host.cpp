// SPDX-License-Identifier: BSD-3-Clause
// A C++ program in a project that has found ParaBAT.
#include "bat/bat.hpp"

#include <array>

int main()
{
  const std::array<float, 3> position{ 0, 0, 0 };
  return bat::ArrayView::packed(bat::ScalarType::Float32, 3, position.data()).components == 3 ? 0
                                                                                              : 1;
}
