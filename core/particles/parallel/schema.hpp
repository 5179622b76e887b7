// SPDX-License-Identifier: BSD-3-Clause
// The attributes that all ranks must have alike.
#pragma once

#include "parallel/comm.hpp"
#include "particles/parallel/rank_particles.hpp"

#include <string>

namespace bat::mpi
{
/// Collective. Makes `particles` of every rank fit those of the first rank that has any: attributes
/// in its order with its hints, its time, step and metadata; on empty ranks, its attributes without
/// values. If no rank has particles, all get the attributes that any rank declares, those of lower
/// ranks first, and time, step and metadata of rank 0. Gives the number of particles of all ranks.
/// Throws Error{InvalidArgument} on all ranks if types or components differ, or if names differ
/// between ranks with particles.
std::uint64_t agree_on_schema(const OwnComm& comm, RankParticles& particles);

/// Collective, after agree_on_schema. Puts absolute numbers in the place of relative error bounds,
/// which are shares of the range over the particles of all ranks. Throws on all ranks as
/// write::error_bounds().
void agree_on_bounds(const OwnComm& comm, const RankParticles& particles, BuildOptions& options);

/// The options of a rank that has no particles and need not know their attributes.
void leave_out_bounds(BuildOptions& options);

/// Collective, after agree_on_schema. Attributes that on all ranks repeat the same become aliases
/// or are left out, as options.repeats asks.
void link_repeats(const OwnComm& comm, RankParticles& particles, const BuildOptions& options);
}
