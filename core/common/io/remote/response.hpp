// SPDX-License-Identifier: BSD-3-Clause
// What an answer of a server means: whether its body is used, and what follows a failure. Knows
// nothing of connections.
#pragma once

#include "bat/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bat::io
{
/// Identifies the version of a remote file. All fields are as the server sent them.
struct RemoteVersion
{
  std::uint64_t size = 0;
  std::string etag;
  std::string last_modified;

  [[nodiscard]] bool has_strong_etag() const noexcept;
  /// Returns the field that identifies the version: the strong ETag, else Last-Modified, else "".
  [[nodiscard]] const std::string& identifier() const noexcept;
  /// Returns whether an answer with these fields comes from another version. Absent fields never
  /// differ.
  [[nodiscard]] bool differs_from(const RemoteVersion& answer) const noexcept;
};

/// The bytes that a request asks for.
enum class Part
{
  Head, ///< the first `count` bytes of a file of unknown size, which may be shorter
  Tail, ///< the last `count` bytes of a file of unknown size, which may be shorter
  Range ///< bytes of a file of known version
};
struct Span
{
  Part part = Part::Range;
  std::uint64_t first = 0; ///< not for Tail
  std::uint64_t count = 0;
};

struct ContentRange
{
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t total = 0;
};
/// Parses "bytes 0-99/1000". Empty for everything else, such as an unknown total.
[[nodiscard]] std::optional<ContentRange> parse_content_range(std::string_view text);
/// Parses the total of "bytes */1000".
[[nodiscard]] std::optional<std::uint64_t> parse_unsatisfied_range(std::string_view text);
/// Parses Retry-After: seconds or a date. Empty if invalid. `now` is in seconds since 1970.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_retry_after(
  const std::string& text, std::int64_t now);

/// Headers of an answer that are kept; a server may send any number.
constexpr std::size_t kMaxHeaders = 1000;

/// The status and the headers of an answer.
struct Response
{
  int status = 0;
  RemoteVersion version; ///< without size
  std::optional<std::uint64_t> content_length;
  std::string content_range;
  std::string content_encoding;
  std::string retry_after;
  std::string bucket_region; ///< x-amz-bucket-region
  /// The other headers, names in lower case, up to kMaxHeaders.
  std::vector<std::pair<std::string, std::string>> others;

  /// Adds a header line, or starts again at a status line.
  void add_line(std::string_view line);
};

enum class BodyUse
{
  Keep,   ///< it is the requested part, or the whole file
  Detail, ///< it may explain a failure
  Refuse  ///< it is not wanted, and may be large
};
/// Decides from the headers. `max_whole` is the largest file to take whole.
[[nodiscard]] BodyUse classify_body(
  const Response& response, const Span& span, std::uint64_t max_whole);

enum class Outcome
{
  Done,
  Retry,
  Fail
};
struct Verdict
{
  Outcome outcome = Outcome::Done;
  ErrorCode code = ErrorCode::CannotOpen;
  std::string text;      ///< what is wrong, without the name of the file
  bool is_whole = false; ///< the body is the whole file
};
/// Judges a complete answer. `known` is the version of the file, null while it is being opened;
/// `detail` is the body of a failure.
[[nodiscard]] Verdict judge(const Response& response, const Span& span, const RemoteVersion* known,
  std::uint64_t max_whole, std::uint64_t body_bytes, const std::string& detail);
}
