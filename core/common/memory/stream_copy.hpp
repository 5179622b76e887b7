// SPDX-License-Identifier: BSD-3-Clause
// Copies more bytes than a cache holds.
#pragma once

#include <cstddef>

namespace bat
{
/// memcpy for bytes that nobody reads soon: they go past the caches, so that memory is not read
/// before it is written. Fetches what lies behind `from` + `bytes`, if anything does. Bytes are
/// there for other threads after finish_stream_copies().
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
void finish_stream_copies() noexcept;
}
