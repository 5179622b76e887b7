// SPDX-License-Identifier: BSD-3-Clause
// A check of every checksum and every rule of FORMAT.md.
#pragma once

#include <filesystem>
#include <string>

namespace bat
{
class Dataset;
class File;

/// Checks the whole file, and all leaf files if it is the top file of a dataset: all checksums, all
/// structural rules, that boxes, ranges, bitmaps and sorted indexes contain their particles, and
/// that unused bytes are zero. Returns normally if all is well; throws the Error for the first
/// thing that is wrong, in words. Reads everything once; memory: the largest column, a sorted
/// index, and 4 bytes per particle, 12 with stable samples.
void validate(const std::filesystem::path& path);
/// The same for what is open.
void validate(const Dataset& dataset);
void validate(const File& file);
}
