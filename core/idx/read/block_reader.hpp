// SPDX-License-Identifier: BSD-3-Clause
// Reads the blocks of one field and step, and puts their samples into an array.
#pragma once

#include "bat/idx/dataset.hpp"
#include "idx/format/names.hpp"
#include "idx/format/order.hpp"
#include "idx/read/block_server.hpp"
#include "idx/read/held_steps.hpp"
#include "idx/read/remote_blocks.hpp"
#include "idx/read/visus_address.hpp"
#include "idx/read/visus_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace bat::idx
{
/// What all reads of a dataset share.
struct Source
{
  /// The text and the header of what `address` names outlive the source. `changed` is the time at
  /// which the text on the server was last changed, if known.
  Source(const VisusAddress& address, const std::string& text, const Header& header,
    std::optional<std::int64_t> changed = std::nullopt);

  std::filesystem::path folder; ///< folder of the .idx, without secrets
  const Header& header;
  format::Order order;
  format::FileNames names;
  HeldSteps steps;
  std::optional<RemoteBlocks> remote; ///< set for an address
  std::optional<BlockServer> server;  ///< set for a mod_visus server, which has no files
  std::optional<VisusCache> cache;
};

struct BlockRead
{
  std::size_t field = 0;
  std::int64_t step = 0;
  Lattice lattice; ///< lattice of the array; not empty
  int level = 0;   ///< level of the lattice
  /// Blocks of levels up to this one are skipped; below bits_per_block none is.
  int known_level = -1;
  std::byte* array = nullptr; ///< null: blocks are checked only
  bool only_prefetch = false; ///< blocks are found and requested from the server, but not read
};

/// Reads as Dataset::read does after its checks. All results are from one version of the step.
[[nodiscard]] ReadReport read_blocks(
  const Source& source, const BlockRead& read, const ReadOptions& options);
}
