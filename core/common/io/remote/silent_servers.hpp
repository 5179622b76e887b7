// SPDX-License-Identifier: BSD-3-Clause
// Addresses at which a server was silent until the time-out. A program that opens one several times
// in a row, as ParaView does, waits only once.
#pragma once

#include "bat/error.hpp"

#include <chrono>
#include <string>

namespace bat::io
{
/// Throws the error of the last attempt to open an address if a server was silent then, and that
/// ended less than a tenth of the time-out ago. Thread-safe.
void refuse_silent(const std::string& address);

/// Remembers a failed attempt that began at `begin`, if it was the silence of a server.
/// Thread-safe.
void note_silence(
  const std::string& address, std::chrono::steady_clock::time_point begin, const Error& error);
}
