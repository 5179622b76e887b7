// SPDX-License-Identifier: BSD-3-Clause
// Constants of the grid reader that users see, each defined once. style.numbers checks that the XML
// and the documents agree.
#ifndef IDXNumbers_h
#define IDXNumbers_h

#include <cstdint>

namespace bat_vtk
{
/// A resolution finer than any file's.
constexpr int FinestResolution = 62;

/// Initial value, in MiB, of ParaView's property MemoryPerProcess. The class itself has no limit.
constexpr double DefaultMemoryBudget = 1024;

/// MiB per process that are loaded first with RefineWhileIdle: about a tenth of a second.
constexpr std::uint64_t FirstMebibytes = 16;

/// Levels added by each refining step; three double the resolution along three axes.
constexpr int LevelsOfStep = 3;
}

#endif
