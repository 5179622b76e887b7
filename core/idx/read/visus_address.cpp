// SPDX-License-Identifier: BSD-3-Clause
#include "idx/read/visus_address.hpp"

#include "common/fail.hpp"
#include "common/io/remote/address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace bat::idx
{
namespace
{
constexpr std::string_view kServer = "/mod_visus";

struct Query
{
  std::string kept; ///< what the server needs
  std::string dataset;
  std::string cached;
  std::string cache_compression = "zip";
  std::string compression;
};

void check_key(std::string_view value, const std::string& shown)
{
  if (!value.empty() && value != "any")
  {
    refuse(shown,
      "has keys in its query, where logs and state files would show them; set AWS_ACCESS_KEY_ID, "
      "AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL, and use an s3:// address");
  }
}

Query parse_query(std::string_view text, bool is_server, const std::string& shown)
{
  Query query;
  io::for_each_parameter(text,
    [&](std::string_view name, std::string_view value, std::string_view part)
    {
      if (name == "access_key" || name == "secret_key")
      {
        check_key(value, shown);
      }
      else if (name == "cached")
      {
        query.cached = value;
      }
      else if (name == "cache_compression")
      {
        query.cache_compression = value;
      }
      else if (name == "compression")
      {
        query.compression = value;
      }
      else if (is_server && name == "dataset")
      {
        query.dataset = io::percent_decode(value);
      }
      else if (name != "endpoint_url" && !(is_server && name == "action"))
      {
        query.kept += (query.kept.empty() ? "" : "&") + std::string(part);
      }
    });
  return query;
}

bool ends_with(const std::string& text, std::string_view end)
{
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::optional<Codec> parse_codec(const std::string& name)
{
  return name == "zip" ? std::optional(Codec::Zip)
    : name == "lz4"    ? std::optional(Codec::Lz4)
    : name == "raw"    ? std::optional(Codec::Raw)
                       : std::nullopt;
}

// A file name must not lead out of the folder of the cache.
bool is_safe(std::string_view path)
{
  while (true)
  {
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == "..")
    {
      return false;
    }
    if (part.size() == path.size())
    {
      return true;
    }
    path.remove_prefix(part.size() + 1);
  }
}

// The copies of a dataset lie in DiskAccess/HOST/PORT/CODEC/PATH without extension. What a query
// selects is not part of that path, so an address with another query has none.
void find_cache(const io::Address& address, const Query& query, VisusAddress& found)
{
  const std::optional<Codec> codec = parse_codec(query.cache_compression);
  if (query.cached != "arco" || !codec || !query.kept.empty() ||
    address.scheme == io::Address::Scheme::S3 || address.scheme == io::Address::Scheme::Reader)
  {
    return;
  }
  const std::string path =
    address.path.substr(1) + (found.is_server ? "/" + query.dataset + "/visus.idx" : "");
  if (!is_safe(path))
  {
    return;
  }
  const int port = address.port != 0              ? address.port
    : address.scheme == io::Address::Scheme::Http ? 80
                                                  : 443;
  const std::filesystem::path text = std::filesystem::path("DiskAccess") / address.host /
    std::to_string(port) / query.cache_compression / path;
  found.cache_folder = text.parent_path();
  found.cache_stem = text.stem().string();
  found.cache_codec = *codec;
}
}

VisusAddress parse_visus_address(const std::filesystem::path& path)
{
  VisusAddress found;
  found.file = path;
  found.name = display_name(path);
  const std::string text = path.string();
  if (!is_address(text))
  {
    return found;
  }
  const std::size_t question = std::min(text.find('?'), text.size());
  std::string file = text.substr(0, question);
  found.is_server = ends_with(file, kServer);
  const Query query = parse_query(
    question == text.size() ? "" : text.substr(question + 1), found.is_server, found.name);
  std::string kept = query.kept;
  if (found.is_server)
  {
    found.name = io::safe_name(file);
    if (io::parse_address(file).scheme == io::Address::Scheme::Reader)
    {
      refuse(
        found.name, "is a mod_visus server, which only libcurl reads, because it needs headers");
    }
    if (query.dataset.empty())
    {
      refuse(found.name,
        "is a mod_visus server; name a dataset, as in http://HOST/mod_visus?dataset=NAME");
    }
    kept = fmt::format("action=readdataset&dataset={}{}{}", io::percent_encode(query.dataset),
      kept.empty() ? "" : "&", kept);
    found.name += "?dataset=" + query.dataset;
    if (parse_codec(query.compression))
    {
      found.compression = query.compression;
    }
  }
  file += (kept.empty() ? "" : "?") + kept;
  found.file = file;
  find_cache(io::parse_address(file), query, found);
  return found;
}
}
