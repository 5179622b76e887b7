// SPDX-License-Identifier: BSD-3-Clause
#include "common/io/remote/response.hpp"

#include "common/io/remote/ascii.hpp"
#include "common/io/remote/curl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace bat::io
{
namespace
{
constexpr const char* kChanged = "changed on the server since it was opened; reload it";
constexpr const char* kGuide = "see core/common/io/REMOTE.md for the requirements on servers";

template <class T>
bool take_number(std::string_view& text, T& value)
{
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc())
  {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view prefix)
{
  if (text.substr(0, prefix.size()) != prefix)
  {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

bool is_encoded(const Response& response)
{
  return !response.content_encoding.empty() && lower_case(response.content_encoding) != "identity";
}

bool has_requested_range(const ContentRange& range, const Span& span)
{
  if (span.count == 0 || range.total == 0 || range.last >= range.total || range.first > range.last)
  {
    return false;
  }
  switch (span.part)
  {
    case Part::Head:
      return range.first == 0 && range.last == std::min(span.count, range.total) - 1;
    case Part::Tail:
      return range.last == range.total - 1 &&
        range.first == range.total - std::min(span.count, range.total);
    case Part::Range:
      break;
  }
  return range.first == span.first && range.last == span.first + span.count - 1;
}

// A whole file, if it was requested or if the server has no ranges.
bool is_usable_whole(const Response& response, const Span& span, std::uint64_t max_whole)
{
  if (span.part == Part::Head)
  {
    return response.content_length.value_or(0) <= max_whole;
  }
  return span.part == Part::Range && span.first == 0 && response.content_length == span.count;
}

// The <Code> of an S3 error, such as "ExpiredToken".
std::string find_s3_code(const std::string& detail)
{
  const std::size_t begin = detail.find("<Code>");
  const std::size_t end = detail.find("</Code>", std::min(begin, detail.size()));
  return end == std::string::npos ? std::string() : detail.substr(begin + 6, end - begin - 6);
}

Verdict failure(ErrorCode code, std::string text)
{
  return { Outcome::Fail, code, std::move(text) };
}

Verdict retry(std::string text)
{
  return { Outcome::Retry, ErrorCode::CannotOpen, std::move(text) };
}

Verdict judge_part(
  const Response& response, const Span& span, const RemoteVersion* known, std::uint64_t body_bytes)
{
  const std::optional<ContentRange> range = parse_content_range(response.content_range);
  if (!range)
  {
    return failure(ErrorCode::CannotOpen,
      fmt::format("the server sent a part of the file with the Content-Range '{}'; required: "
                  "'bytes FIRST-LAST/TOTAL'; {}",
        response.content_range, kGuide));
  }
  RemoteVersion found = response.version;
  found.size = range->total;
  if (known && known->differs_from(found))
  {
    return failure(ErrorCode::CannotOpen, kChanged);
  }
  if (!has_requested_range(*range, span))
  {
    return failure(ErrorCode::CannotOpen,
      span.part == Part::Range
        ? fmt::format("the server sent bytes {} to {} instead of {} to {}; {}", range->first,
            range->last, span.first, span.first + span.count - 1, kGuide)
        : fmt::format("the server sent bytes {} to {} of {} instead of the {} {} bytes; {}",
            range->first, range->last, range->total, span.part == Part::Head ? "first" : "last",
            span.count, kGuide));
  }
  const std::uint64_t expected = range->last - range->first + 1;
  if (body_bytes != expected)
  {
    return retry(fmt::format("the server sent {} bytes instead of {}", body_bytes, expected));
  }
  return {};
}

Verdict judge_whole(const Response& response, const Span& span, const RemoteVersion* known,
  std::uint64_t max_whole, std::uint64_t body_bytes)
{
  RemoteVersion found = response.version;
  found.size = response.content_length.value_or(known ? known->size : 0);
  if (known && known->differs_from(found))
  {
    return failure(ErrorCode::CannotOpen, kChanged);
  }
  if (!is_usable_whole(response, span, max_whole) ||
    (span.part == Part::Head && body_bytes > max_whole))
  {
    if (known)
    {
      return failure(ErrorCode::CannotOpen,
        fmt::format("the server sent the whole file instead of bytes {} to {}; {}", span.first,
          span.first + span.count - 1, kGuide));
    }
    const std::string size = response.content_length
      ? fmt::format("the file has {} bytes", *response.content_length)
      : std::string("the file is larger");
    return failure(ErrorCode::CannotOpen,
      fmt::format("the server does not support range requests, and {}; without ranges at most {} "
                  "bytes are loaded. Enable ranges on the server, download the file, or raise "
                  "PARABAT_REMOTE_WHOLE",
        size, max_whole));
  }
  if (response.content_length && body_bytes != *response.content_length)
  {
    return retry(
      fmt::format("the server sent {} bytes instead of {}", body_bytes, *response.content_length));
  }
  Verdict whole;
  whole.is_whole = true;
  return whole;
}

Verdict judge_denied(const Response& response, const std::string& detail)
{
  const std::string code = find_s3_code(detail);
  const std::string shown =
    code.empty() ? std::to_string(response.status) : fmt::format("{}, {}", response.status, code);
  if (response.status == 401)
  {
    return failure(ErrorCode::CannotOpen,
      fmt::format("the server requires valid credentials (status {}); check the user and password "
                  "or the token in the address",
        shown));
  }
  if (code == "RequestTimeTooSkewed")
  {
    return failure(ErrorCode::CannotOpen,
      fmt::format(
        "the server refuses the signature (status {}); set the clock of this computer", shown));
  }
  return failure(ErrorCode::CannotOpen,
    fmt::format(
      "no permission, or the signature has expired (status {}); check the credentials, or "
      "request a new address",
      shown));
}
}

bool RemoteVersion::has_strong_etag() const noexcept
{
  return this->etag.size() > 2 && this->etag.front() == '"';
}

const std::string& RemoteVersion::identifier() const noexcept
{
  return this->has_strong_etag() ? this->etag : this->last_modified;
}

bool RemoteVersion::differs_from(const RemoteVersion& answer) const noexcept
{
  if (this->size != answer.size)
  {
    return true;
  }
  if (this->has_strong_etag())
  {
    return answer.has_strong_etag() && this->etag != answer.etag;
  }
  return !this->last_modified.empty() && !answer.last_modified.empty() &&
    this->last_modified != answer.last_modified;
}

std::optional<ContentRange> parse_content_range(std::string_view text)
{
  ContentRange range;
  text = trim(text);
  if (lower_case(text.substr(0, 6)) != "bytes ")
  {
    return std::nullopt;
  }
  text = trim(text.substr(6));
  if (take_number(text, range.first) && take(text, "-") && take_number(text, range.last) &&
    take(text, "/") && take_number(text, range.total) && text.empty())
  {
    return range;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_unsatisfied_range(std::string_view text)
{
  std::uint64_t total = 0;
  text = trim(text);
  if (take(text, "bytes */") && take_number(text, total) && text.empty())
  {
    return total;
  }
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> parse_retry_after(
  const std::string& text, std::int64_t now)
{
  std::string_view rest = trim(text);
  std::uint32_t seconds = 0;
  if (take_number(rest, seconds))
  {
    return rest.empty() ? std::optional(std::chrono::milliseconds(std::int64_t{ seconds } * 1000))
                        : std::nullopt;
  }
  const std::time_t date = curl().getdate(text.c_str(), nullptr);
  if (date < 0)
  {
    return std::nullopt;
  }
  return std::chrono::milliseconds(std::max<std::int64_t>(date - now, 0) * 1000);
}

void Response::add_line(std::string_view line)
{
  line = trim(line);
  if (line.substr(0, 5) == "HTTP/")
  {
    *this = Response();
    const std::size_t blank = line.find(' ');
    std::string_view rest = blank == std::string_view::npos ? "" : trim(line.substr(blank));
    (void)take_number(rest, this->status);
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos)
  {
    return;
  }
  const std::string name = lower_case(line.substr(0, colon));
  const std::string_view value = trim(line.substr(colon + 1));
  if (name == "etag")
  {
    this->version.etag = value;
  }
  else if (name == "last-modified")
  {
    this->version.last_modified = value;
  }
  else if (name == "content-length")
  {
    std::string_view rest = value;
    std::uint64_t length = 0;
    this->content_length =
      take_number(rest, length) && rest.empty() ? std::optional(length) : std::nullopt;
  }
  else if (name == "content-range")
  {
    this->content_range = value;
  }
  else if (name == "content-encoding")
  {
    this->content_encoding = value;
  }
  else if (name == "retry-after")
  {
    this->retry_after = value;
  }
  else if (name == "x-amz-bucket-region")
  {
    this->bucket_region = value;
  }
  else if (this->others.size() < kMaxHeaders)
  {
    this->others.emplace_back(name, value);
  }
}

BodyUse classify_body(const Response& response, const Span& span, std::uint64_t max_whole)
{
  if (response.status == 206)
  {
    const std::optional<ContentRange> range = parse_content_range(response.content_range);
    return !is_encoded(response) && range && has_requested_range(*range, span) ? BodyUse::Keep
                                                                               : BodyUse::Refuse;
  }
  if (response.status == 200)
  {
    return !is_encoded(response) && is_usable_whole(response, span, max_whole) ? BodyUse::Keep
                                                                               : BodyUse::Refuse;
  }
  return BodyUse::Detail;
}

Verdict judge(const Response& response, const Span& span, const RemoteVersion* known,
  std::uint64_t max_whole, std::uint64_t body_bytes, const std::string& detail)
{
  switch (response.status)
  {
    case 200:
    case 206:
      if (is_encoded(response))
      {
        return failure(ErrorCode::CannotOpen,
          fmt::format(
            "the server sent the file with Content-Encoding '{}'; turn off compression for "
            "this type of file on the server",
            response.content_encoding));
      }
      return response.status == 206 ? judge_part(response, span, known, body_bytes)
                                    : judge_whole(response, span, known, max_whole, body_bytes);
    case 401:
    case 403:
      return judge_denied(response, detail);
    case 404:
    case 410:
      return failure(ErrorCode::NotFound,
        known ? fmt::format("no longer exists on the server (status {})", response.status)
              : fmt::format(
                  "does not exist on the server (status {}); check the address", response.status));
    case 412:
      return failure(ErrorCode::CannotOpen, kChanged);
    case 416:
      if (!known && parse_unsatisfied_range(response.content_range).value_or(1) == 0)
      {
        Verdict empty;
        empty.is_whole = true;
        return empty;
      }
      if (known &&
        parse_unsatisfied_range(response.content_range).value_or(known->size) != known->size)
      {
        return failure(ErrorCode::CannotOpen, kChanged);
      }
      return failure(ErrorCode::CannotOpen,
        fmt::format("the server refuses the range of bytes (status 416); {}", kGuide));
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return retry(fmt::format("the server is busy or has failed (status {})", response.status));
    default:
      return failure(ErrorCode::CannotOpen,
        fmt::format("the server answered with status {}; check the address", response.status));
  }
}
}
