// SPDX-License-Identifier: BSD-3-Clause
// Includes the public headers for particle files.
#pragma once

#include "bat/bytes.hpp"
#include "bat/dataset.hpp"
#include "bat/error.hpp"
#include "bat/file.hpp"
#include "bat/follow.hpp"
#include "bat/particles.hpp"
#include "bat/piece_writer.hpp"
#include "bat/plan.hpp"
#include "bat/query.hpp"
#include "bat/repack.hpp"
#include "bat/series.hpp"
#include "bat/text.hpp"
#include "bat/tracks.hpp"
#include "bat/types.hpp"
#include "bat/validate.hpp"
#include "bat/version.hpp"
#include "bat/writer.hpp"
