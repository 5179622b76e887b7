// SPDX-License-Identifier: BSD-3-Clause
// Numbers of the reader of grids that a user meets, each once. style.numbers checks that the XML
// and the documents say the same.
#ifndef IDXNumbers_h
#define IDXNumbers_h

#include <cstdint>

namespace bat_vtk
{
/// Resolution that is finer than any file's.
constexpr int FinestResolution = 62;

/// MiB of a process that ParaView's property MemoryBudget begins with. The class itself has no
/// limit.
constexpr double DefaultMemoryBudget = 1024;

/// MiB of a process that are loaded first while RefineWhileIdle is on: about a tenth of a second.
constexpr std::uint64_t FirstMebibytes = 16;

/// Levels that each refining step adds; three are twice as fine along three axes.
constexpr int LevelsOfStep = 3;
}

#endif
