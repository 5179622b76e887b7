// SPDX-License-Identifier: BSD-3-Clause
// Checks every checksum and every rule of FORMAT.md.
#pragma once

#include <filesystem>
#include <string>

namespace bat
{
class Dataset;
class File;

/// Checks the whole file, and all leaf files if it is the top file of a dataset: all checksums, all
/// structural rules, that boxes, ranges, bitmaps and sorted indexes contain their particles, and
/// that unused bytes are zero. Returns normally if all is well; throws an Error that describes the
/// first fault. Reads everything once. Needs memory for the largest column, a sorted index, and 4
/// bytes per particle, 12 with stable samples.
void validate(const std::filesystem::path& path);
/// The same for an open dataset or file.
void validate(const Dataset& dataset);
void validate(const File& file);
}
