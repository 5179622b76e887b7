// SPDX-License-Identifier: BSD-3-Clause
// Constants of the reader that users see, each defined once. style.numbers checks that the XML and
// the documents agree.
#ifndef ReaderNumbers_h
#define ReaderNumbers_h

#include <cstddef>
#include <cstdint>

namespace bat_vtk
{
/// Initial value of ParaView's property ParticleBudget. The class itself has no limit.
constexpr std::uint64_t DefaultBudget = 5000000;

/// With RefineWhileIdle: the number of particles loaded first, and by each step; the share of the
/// loaded particles that a step adds if that is more; and the share of a step that is too small for
/// a separate step.
constexpr std::uint64_t StepParticles = 500000;
constexpr double StepGrowth = 0.1;
constexpr double SmallRest = 0.25;

/// Ratio of SuggestedRadius to the particles' spacing: half of them touch their neighbours.
constexpr double RadiusOfSpacing = 0.6;

/// Size of a histogram in numbers: its ends, two that describe its axis, and its bins.
constexpr int HistogramBins = 64;
constexpr int HistogramNumbers = 4 + HistogramBins;

/// Maximum number of values for which an integer attribute's values are listed individually.
constexpr std::size_t MaxListedValues = 12;
}

#endif
