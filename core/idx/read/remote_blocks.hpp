// SPDX-License-Identifier: BSD-3-Clause
// Block files of a dataset at an address.
#pragma once

#include "bat/idx/header.hpp"
#include "common/io/random_access_file.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace bat::idx
{
/// Opens block files, and keeps them open so that later reads do not ask the server again which
/// version it has. All functions may be called concurrently.
class RemoteBlocks
{
public:
  /// `path` is the address of the .idx.
  RemoteBlocks(std::filesystem::path path, const Header& header);

  /// Returns a file by its name relative to the .idx, or null if the server does not have it.
  /// Throws as io::RandomAccessFile().
  [[nodiscard]] std::shared_ptr<const io::RandomAccessFile> open(const std::string& name) const;
  /// Returns whether the .idx on the server has this text.
  [[nodiscard]] bool is_text(const std::string& text) const noexcept;

private:
  /// Number of files at which all are closed. In arco, every block is a file.
  static constexpr std::size_t kMaxOpen = 10000;

  std::filesystem::path path_;
  io::RemoteHints hints_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const io::RandomAccessFile>> files_;
};
}
