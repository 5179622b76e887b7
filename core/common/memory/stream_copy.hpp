// SPDX-License-Identifier: BSD-3-Clause
// Copies data larger than a cache.
#pragma once

#include <cstddef>

namespace bat
{
/// memcpy for bytes that are not read soon: they bypass the caches, so that memory is not read
/// before it is written. Prefetches the bytes after `from` + `bytes`, if any. Other threads see the
/// bytes after finish_stream_copies().
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
void finish_stream_copies() noexcept;
}
