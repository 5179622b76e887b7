// SPDX-License-Identifier: BSD-3-Clause
// Remote files in a build without libcurl: an error that says so.
#include "common/io/remote/address.hpp"
#include "common/io/remote/remote_file.hpp"

#include "bat/address.hpp"
#include "bat/recorded_reads.hpp"
#include "common/fail.hpp"

namespace bat::io
{
RemoteFile::RemoteFile(const std::string& address, const RemoteHints&)
{
  fail(ErrorCode::CannotOpen, safe_name(parse_address(address)),
    "cannot be read by this build, which has no libcurl; download the file, or build with "
    "BAT_WITH_CURL=ON");
}

RemoteFile::~RemoteFile() = default;

std::optional<std::int64_t> RemoteFile::last_modified() const
{
  return std::nullopt;
}

std::string RemoteFile::header(const std::string&) const
{
  return {};
}

void RemoteFile::read(std::uint64_t, void*, std::size_t) const {}

void RemoteFile::prefetch(const std::vector<ByteRange>&) const noexcept {}

void RemoteFile::forget() const noexcept {}

RemoteStatistics remote_statistics()
{
  return {};
}
}

namespace bat
{
bool can_read_addresses() noexcept
{
  return false;
}

struct RecordedReads::Impl
{
};
RecordedReads::RecordedReads() = default;
RecordedReads::~RecordedReads() = default;
std::vector<std::byte> RecordedReads::pack() const
{
  return {};
}

struct HeldPrefetches::Impl
{
};
HeldPrefetches::HeldPrefetches() = default;
HeldPrefetches::~HeldPrefetches() = default;
std::vector<std::byte> HeldPrefetches::pack() const
{
  return {};
}

std::vector<std::vector<std::byte>> read_share(
  const std::vector<std::vector<std::byte>>& held, std::size_t)
{
  return std::vector<std::vector<std::byte>>(held.size());
}

struct ReplayedReads::Impl
{
};
ReplayedReads::ReplayedReads(const std::vector<std::byte>&) {}
ReplayedReads::~ReplayedReads() = default;
}
