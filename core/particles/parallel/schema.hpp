// SPDX-License-Identifier: BSD-3-Clause
// Agrees on the attributes that must be the same on all ranks.
#pragma once

#include "parallel/comm.hpp"
#include "particles/parallel/rank_particles.hpp"

#include <string>

namespace bat::mpi
{
/// Collective. Makes the `particles` of every rank match those of the first rank that has any:
/// attributes in its order with its hints, its time, step and metadata; on empty ranks, its
/// attributes without values. If no rank has particles, all get the attributes that any rank
/// declares, lower ranks first, and time, step and metadata of rank 0. Returns the number of
/// particles on all ranks. Throws Error{InvalidArgument} on all ranks if types or components
/// differ, or if names differ between ranks with particles.
std::uint64_t agree_on_schema(const OwnComm& comm, RankParticles& particles);

/// Collective, after agree_on_schema. Replaces relative error bounds, which are shares of the
/// range over the particles of all ranks, by absolute numbers. All ranks throw as
/// write::error_bounds().
void agree_on_bounds(const OwnComm& comm, const RankParticles& particles, BuildOptions& options);

/// Returns the options for a rank that has no particles and need not know their attributes.
void leave_out_bounds(BuildOptions& options);

/// Collective, after agree_on_schema. Attributes that repeat the same array on all ranks become
/// aliases or are omitted, depending on options.repeats.
void link_repeats(const OwnComm& comm, RankParticles& particles, const BuildOptions& options);
}
