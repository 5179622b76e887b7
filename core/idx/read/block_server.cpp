// SPDX-License-Identifier: BSD-3-Clause
// A query names blocks by their numbers:
//
//   http://HOST/mod_visus?action=rangequery&dataset=D&field=F&time=T&compression=zip&block=0 4 5
//
// The answer to one block is its packed bytes. Headers say how they are packed: visus-compression,
// visus-layout and visus-nsamples ("16 16 16"). The answer to several is their bytes one after
// another, and the header response-compose-num is their number. Block i has the headers status-i
// (404: absent), body-size-i, visus-compression-i and so on.
#include "idx/read/block_server.hpp"

#include "bat/error.hpp"
#include "common/io/random_access_file.hpp"
#include "common/io/remote/address.hpp"
#include "idx/format/codec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace bat::idx
{
namespace
{
constexpr std::string_view kReadDataset = "action=readdataset&";

std::optional<std::uint64_t> parse_count(const std::string& text)
{
  std::uint64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, count);
  return error == std::errc() && last == end ? std::optional(count) : std::nullopt;
}

Codec parse_codec(const std::string& text, const std::string& name)
{
  if (text.empty() || text == "raw")
  {
    return Codec::Raw;
  }
  if (text != "zip" && text != "lz4")
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format(
        "{}: the server packs blocks as '{}'; supported are raw, zip and lz4", name, text));
  }
  return text == "zip" ? Codec::Zip : Codec::Lz4;
}

Layout parse_layout(const std::string& text, const std::string& name)
{
  if (!text.empty() && text != "hzorder" && text != "row_major" && text != "rowmajor")
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format("{}: the server sends blocks in the layout '{}'; supported are row_major and "
                  "hzorder",
        name, text));
  }
  return text == "hzorder" ? Layout::HZ : Layout::RowMajor;
}

// "16 16 16" has 4096 samples.
std::uint64_t count_samples(const std::string& text)
{
  std::istringstream numbers(text);
  std::uint64_t samples = 1;
  std::uint64_t number = 0;
  while (numbers >> number)
  {
    constexpr std::uint64_t kMax = std::uint64_t{ 1 } << 32; // far above any block
    samples = number < kMax && samples < kMax ? samples * number : 0;
  }
  return samples;
}
}

BlockServer::BlockServer(
  const std::string& address, std::string name, const std::string& compression, int bits_per_block)
  : begin_(address)
  , name_(std::move(name))
  , bits_per_block_(bits_per_block)
{
  this->begin_.replace(this->begin_.find(kReadDataset), kReadDataset.size(),
    fmt::format("action=rangequery&compression={}&", compression));
}

BlockAnswer BlockServer::query(
  const Field& field, std::int64_t step, const std::vector<std::uint64_t>& blocks) const
{
  if (blocks.size() == 1 || this->has_lists_)
  {
    BlockAnswer answer = this->ask(field, step, blocks);
    if (answer.parts.size() == blocks.size())
    {
      return answer;
    }
    // An old server answers the first block only.
    this->has_lists_ = this->has_lists_ && answer.is_not_found;
  }
  BlockAnswer all;
  for (const std::uint64_t block : blocks)
  {
    const BlockAnswer one = this->ask(field, step, { block });
    all.parts.push_back(one.parts.front());
    all.parts.back().offset = all.body.size();
    all.body.insert(all.body.end(), one.body.begin(), one.body.end());
  }
  return all;
}

BlockAnswer BlockServer::ask(
  const Field& field, std::int64_t step, const std::vector<std::uint64_t>& blocks) const
{
  const std::uint64_t raw = field.sample_bytes() << this->bits_per_block_;
  const std::string address = fmt::format("{}&field={}&time={}&block={}", this->begin_,
    io::percent_encode(field.name), step, fmt::join(blocks, "%20"));
  const std::uint64_t max_bytes = blocks.size() * format::max_packed_bytes(raw);
  BlockAnswer answer;
  std::optional<io::RandomAccessFile> file;
  try
  {
    // All of it, since a second request would be another query.
    file.emplace(address, io::RemoteHints{ max_bytes, 0, /*keeps_headers=*/true });
  }
  catch (const Error& error)
  {
    if (error.code() != ErrorCode::NotFound)
    {
      throw;
    }
    answer.is_not_found = true;
    answer.parts.resize(blocks.size() == 1 ? 1 : 0); // of a list, it may be about the first only
    return answer;
  }
  if (file->size() > max_bytes)
  {
    throw Error(ErrorCode::Corrupt,
      fmt::format("{}: field '{}': the server sent {} bytes for {} blocks, which have at most {}",
        this->name_, field.name, file->size(), blocks.size(), max_bytes));
  }
  answer.body.resize(file->size());
  file->read(0, answer.body.data(), answer.body.size());
  const std::optional<std::uint64_t> count = parse_count(file->header("response-compose-num"));
  if (blocks.size() > 1 && count != blocks.size())
  {
    return answer;
  }
  std::size_t offset = 0;
  for (std::size_t i = 0; i != blocks.size(); ++i)
  {
    const std::string suffix = count ? fmt::format("-{}", i) : std::string();
    BlockAnswer::Part part;
    const std::string status = count ? file->header("status" + suffix) : std::string("200");
    part.is_there = status == "200";
    if (!part.is_there && status != "404")
    {
      throw Error(ErrorCode::CannotOpen,
        fmt::format("{}: field '{}': the server cannot send block {} (status '{}')", this->name_,
          field.name, blocks[i], status));
    }
    part.offset = offset;
    part.bytes = count ? parse_count(file->header("body-size" + suffix)).value_or(0) : file->size();
    if (part.bytes > file->size() - offset)
    {
      throw Error(ErrorCode::Corrupt,
        fmt::format("{}: field '{}': block {} lies at [{}, +{}) of an answer of {} bytes",
          this->name_, field.name, blocks[i], offset, part.bytes, file->size()));
    }
    offset += part.bytes;
    if (part.is_there)
    {
      part.codec = parse_codec(file->header("visus-compression" + suffix), this->name_);
      part.layout = parse_layout(file->header("visus-layout" + suffix), this->name_);
      const std::string samples = file->header("visus-nsamples" + suffix);
      if (count_samples(samples) != std::uint64_t{ 1 } << this->bits_per_block_)
      {
        throw Error(ErrorCode::Corrupt,
          fmt::format("{}: field '{}': the server sent '{}' samples for block {}; a block has {}",
            this->name_, field.name, samples, blocks[i],
            std::uint64_t{ 1 } << this->bits_per_block_));
      }
    }
    answer.parts.push_back(part);
  }
  return answer;
}
}
