// SPDX-License-Identifier: BSD-3-Clause
// Parses the text of an .idx file into a checked header.
#include "bat/idx/header.hpp"

#include "bat/error.hpp"
#include "idx/format/block_file.hpp"
#include "idx/format/field_text.hpp"
#include "idx/format/names.hpp"
#include "idx/format/refused.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <system_error>

namespace bat::idx
{
namespace
{
using format::Refused;

constexpr int kMaxBits = 62;
constexpr std::int64_t kMaxSteps = 1000000;
constexpr int kNewestVersion = 6;

struct Value
{
  std::string text;
  int line = 0;
};
using Values = std::map<std::string, Value, std::less<>>;

bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

std::string_view without_blanks(std::string_view text)
{
  while (!text.empty() && is_blank(text.front()))
  {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back()))
  {
    text.remove_suffix(1);
  }
  return text;
}

std::string shown(std::string_view text)
{
  return text.size() > 60 ? fmt::format("'{}...'", text.substr(0, 60)) : fmt::format("'{}'", text);
}

// The parser's position in the text, for messages.
struct Place
{
  const std::string* file;
  std::string key;
  int line = 0;
};

[[noreturn]] void fail(const Place& place, ErrorCode code, const std::string& what)
{
  throw Error(code, fmt::format("{}: line {}: ({}): {}", *place.file, place.line, place.key, what));
}

Values read_keys(std::string_view text, const std::string& name)
{
  Values values;
  Value* value = nullptr;
  int line = 0;
  for (std::size_t at = 0; at <= text.size();)
  {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view whole = text.substr(at, end - at);
    const std::string_view content = without_blanks(whole.substr(0, whole.find('#')));
    ++line;
    at = end + 1;
    if (content.empty())
    {
      continue;
    }
    if (content.front() == '(' && content.back() == ')')
    {
      const std::string key(without_blanks(content.substr(1, content.size() - 2)));
      const auto added = values.emplace(key, Value{ {}, line });
      if (!added.second)
      {
        fail({ &name, key, line }, ErrorCode::Corrupt,
          fmt::format(
            "occurs twice, also in line {}; it may occur once", added.first->second.line));
      }
      value = &added.first->second;
      continue;
    }
    if (!value)
    {
      throw Error(ErrorCode::NotABatFile,
        fmt::format("{}: line {} is {}; the text of an .idx file starts with a key such as "
                    "(version)",
          name, line, shown(content)));
    }
    value->text += value->text.empty() ? "" : " ";
    value->text += content;
  }
  return values;
}

std::vector<std::string_view> split_words(std::string_view text)
{
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();)
  {
    std::size_t end = at;
    while (end != text.size() && !is_blank(text[end]))
    {
      ++end;
    }
    if (end != at)
    {
      words.push_back(text.substr(at, end - at));
    }
    at = end + 1;
  }
  return words;
}

std::int64_t to_integer(
  std::string_view text, std::int64_t minimum, std::int64_t maximum, const char* what)
{
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || value < minimum ||
    value > maximum)
  {
    throw Refused(fmt::format(
      "{} is {}; allowed are integers from {} to {}", what, shown(text), minimum, maximum));
  }
  return value;
}

std::vector<double> to_finite(std::string_view text)
{
  std::vector<double> values;
  for (const std::string_view word : split_words(text))
  {
    double value = 0;
    try
    {
      value = to_double(parse_number(word));
    }
    catch (const Error&)
    {
      value = HUGE_VAL;
    }
    if (!std::isfinite(value))
    {
      throw Refused(fmt::format("has {}; numbers must be finite", shown(word)));
    }
    values.push_back(value);
  }
  return values;
}

class Parser
{
public:
  Parser(std::string_view text, const std::string& name)
    : name_(name)
    , values_(read_keys(text, name))
  {
  }

  Header parse()
  {
    for (const char* key : { "version", "box", "fields", "bits", "bitsperblock" })
    {
      if (this->values_.count(key) == 0)
      {
        const bool other = this->values_.count("version") == 0 || this->values_.count("bits") == 0;
        throw Error(other ? ErrorCode::NotABatFile : ErrorCode::Corrupt,
          fmt::format("{}: key ({}) is missing; keys (version), (box), (fields), (bits) and "
                      "(bitsperblock) are required",
            this->name_, key));
      }
    }
    this->with("version", [this](auto text) { this->parse_version(text); });
    this->header_.pidx = this->header_.pidx || this->is_of_early_pidx();
    this->with("io mode", [this](auto text) { this->parse_io_mode(text); });
    this->with("compression type", [](auto text) { check_compression(text); });
    this->with("arco", [this](auto text) { this->parse_arco(text); });
    this->with("fields", [this](auto text) { this->parse_fields(text); });
    this->with("bits", [this](auto text) { this->parse_bits(text); });
    this->with("box", [this](auto text) { this->parse_box(text); });
    this->with("bitsperblock", [this](auto text) { this->parse_block(text); });
    this->parse_files();
    this->with("time", [this](auto text) { this->parse_time(text); });
    this->check_names();
    this->with("endian", [this](auto text) { this->parse_endian(text); });
    this->with("physic_box", [this](auto text) { this->parse_physic_box(text); });
    this->with("logic_to_physic", [this](auto text) { this->parse_matrix(text); });
    this->with("partition offset", [this](auto text) { this->parse_offset(text); });
    this->with("axis", [this](auto text) { this->parse_axis(text); });
    this->with("parabat_times", [this](auto text) { this->parse_times(text); });
    return std::move(this->header_);
  }

private:
  // Calls f with the value of a key, if present; if f refuses it, the message contains the line.
  template <class F>
  bool with(const char* key, F&& f)
  {
    const auto found = this->values_.find(std::string_view(key));
    if (found == this->values_.end())
    {
      return false;
    }
    try
    {
      f(std::string_view(found->second.text));
    }
    catch (const Refused& refused)
    {
      fail({ &this->name_, key, found->second.line }, refused.code, refused.what);
    }
    return true;
  }

  void parse_version(std::string_view text)
  {
    if (text == "6.1")
    {
      this->header_.pidx = true;
      return;
    }
    const std::int64_t version = to_integer(text, 1, 1000000, "the version");
    if (version > kNewestVersion)
    {
      throw Refused(fmt::format("is {}, newer than this reader; supported are 1 to {} and 6.1",
                      version, kNewestVersion),
        ErrorCode::UnsupportedVersion);
    }
    this->header_.version = static_cast<int>(version);
  }

  // Old PIDX texts have no key that identifies PIDX. They are recognized by its forms: five axes
  // that begin at 0, steps in folders "time000000000/", and the absence of a key that OpenVisus
  // always writes.
  [[nodiscard]] bool is_of_early_pidx() const
  {
    const auto words_at = [&](const char* key)
    {
      const auto found = this->values_.find(std::string_view(key));
      return found == this->values_.end() ? std::vector<std::string_view>()
                                          : split_words(found->second.text);
    };
    const std::vector<std::string_view> box = words_at("box");
    const std::vector<std::string_view> time = words_at("time");
    bool from_zero = box.size() == 10;
    for (std::size_t i = 0; i < box.size(); i += 2)
    {
      from_zero = from_zero && box[i] == "0";
    }
    const std::string_view step = time.size() == 3 ? time[2] : std::string_view();
    const bool own_steps = step.size() == 9 && step.substr(0, 6) == "time%0" && step[6] >= '1' &&
      step[6] <= '9' && step.substr(7) == "d/";
    return from_zero && own_steps && words_at("version").front() == "6" &&
      this->values_.count("interleave block") == 0;
  }

  void parse_fields(std::string_view text)
  {
    this->header_.fields = format::parse_fields(text, this->header_.arco != 0);
    for (Field& field : this->header_.fields)
    {
      // PIDX has no key for the order, because it has only one.
      field.layout = this->header_.pidx ? Layout::HZ : field.layout;
    }
  }

  void parse_io_mode(std::string_view text)
  {
    this->header_.pidx = true;
    // Older texts have numbers. With a single index for all partitions, blocks are where they would
    // be without partitions.
    static constexpr std::string_view kModes[] = { "idx", "g_part_idx", "l_part_idx", "raw" };
    const std::string_view reported_text = text;
    if (text.size() == 1 && text[0] >= '1' && text[0] <= '4')
    {
      text = kModes[text[0] - '1'];
    }
    if (text == "l_part_idx" && this->values_.count("partition offset") == 0)
    {
      const std::string stem = this->name_.substr(0, this->name_.rfind('.'));
      throw Refused(fmt::format("has no samples itself: they are in the partitions {0}_0.idx, "
                                "{0}_1.idx, ...; open one of those",
                      stem),
        ErrorCode::UnsupportedVersion);
    }
    if (text != "idx" && text != "g_part_idx" && text != "l_part_idx")
    {
      throw Refused(fmt::format("is {}{}; supported are idx, g_part_idx and l_part_idx, or 1 to 3",
                      shown(reported_text), reported_text == text ? "" : fmt::format(", {}", text)),
        ErrorCode::UnsupportedVersion);
    }
  }

  static void check_compression(std::string_view text)
  {
    if (text != "0")
    {
      throw Refused(fmt::format("is {}; only 0, not compressed by PIDX, is supported", shown(text)),
        ErrorCode::UnsupportedVersion);
    }
  }

  void parse_arco(std::string_view text)
  {
    this->header_.arco = static_cast<std::uint64_t>(
      to_integer(text, 0, static_cast<std::int64_t>(format::kMaxBlockBytes), "the file size"));
  }

  void parse_bits(std::string_view text)
  {
    if (text.empty() || text.front() != 'V')
    {
      throw Refused(
        fmt::format("is {}; only bits starting with V are supported{}", shown(text),
          !text.empty() && text.front() == 'F' ? ", not F, blocks at full resolution" : ""),
        ErrorCode::UnsupportedVersion);
    }
    const std::string_view digits = text.substr(1);
    if (digits.empty() || digits.size() > kMaxBits)
    {
      throw Refused(
        fmt::format("has {} digits after V; allowed are 1 to {}", digits.size(), kMaxBits));
    }
    for (const char digit : digits)
    {
      if (digit == '3' || digit == '4')
      {
        throw Refused(fmt::format("has the digit {}, for {} axes; supported are 1 to 3 axes", digit,
                        digit - '0' + 1),
          ErrorCode::UnsupportedVersion);
      }
      if (digit < '0' || digit > '2')
      {
        throw Refused(fmt::format("is {}; allowed are V and the digits 0, 1 and 2", shown(text)));
      }
    }
    this->header_.bits = std::string(text);
  }

  void parse_box(std::string_view text)
  {
    const std::vector<std::string_view> words = split_words(text);
    if (words.size() < 2 || words.size() % 2 != 0 || words.size() > 10)
    {
      throw Refused(
        fmt::format("has {} numbers; first and last for 1 to 3 axes are required, followed only "
                    "by 0 0",
          words.size()));
    }
    for (std::size_t i = 0; i != words.size(); i += 2)
    {
      const std::size_t axis = i / 2;
      const char* const what = axis == 0 ? "an end along x"
        : axis == 1                      ? "an end along y"
        : axis == 2                      ? "an end along z"
                                         : "an end along another axis";
      const auto digits = std::count(
        this->header_.bits.begin(), this->header_.bits.end(), static_cast<char>('0' + axis));
      const std::int64_t maximum = (std::int64_t{ 1 } << digits) - 1;
      const std::int64_t first = to_integer(words[i], 0, maximum, what);
      const std::int64_t last = to_integer(words[i + 1], first, maximum, what);
      if (axis < 3)
      {
        this->header_.box.lower[axis] = first;
        this->header_.box.upper[axis] = last;
      }
    }
    this->header_.axes = static_cast<int>(std::min<std::size_t>(words.size() / 2, 3));
    for (const char digit : this->header_.bits.substr(1))
    {
      if (digit - '0' >= this->header_.axes)
      {
        throw Refused(fmt::format("has {} axes, but the bits have the digit {}, for axis {}",
          this->header_.axes, digit, digit - '0' + 1));
      }
    }
  }

  void parse_block(std::string_view text)
  {
    Header& header = this->header_;
    const int digits = header.levels();
    std::int64_t bits = to_integer(text, 0, 1000, "the number");
    std::uint64_t largest = 1;
    for (const Field& field : header.fields)
    {
      largest = std::max(largest, field.sample_bytes());
    }
    if (header.arco != 0)
    {
      const std::uint64_t samples = header.arco / largest;
      if (samples == 0)
      {
        throw Refused(
          fmt::format("(arco) files have {} bytes, but a sample has {}", header.arco, largest));
      }
      bits = 63 - __builtin_clzll(samples);
    }
    bits = std::min<std::int64_t>(bits, digits);
    if (bits > 31 || (largest << bits) > format::kMaxBlockBytes)
    {
      throw Refused(fmt::format("is {}: a block would have 2^{} samples of {} bytes; at most {} "
                                "bytes are allowed",
        shown(text), bits, largest, format::kMaxBlockBytes));
    }
    header.bits_per_block = static_cast<int>(bits);
  }

  void parse_files()
  {
    Header& header = this->header_;
    if (header.arco != 0)
    {
      return;
    }
    constexpr std::int64_t kMax = std::int64_t{ 1 } << 40;
    const bool known = this->with("blocksperfile",
      [&](auto text)
      {
        header.blocks_per_file =
          static_cast<std::uint64_t>(to_integer(text, 1, kMax, "the block count"));
        const std::uint64_t maximum = (format::kMaxHeaderBytes - 40) / 40 / header.fields.size();
        if (header.blocks_per_file > maximum)
        {
          throw Refused(
            fmt::format("is {}: the headers of {} fields would have more than {} bytes; "
                        "at most {} blocks are allowed",
              shown(text), header.fields.size(), format::kMaxHeaderBytes, maximum));
        }
      });
    if (!known || this->values_.count("filename_template") == 0)
    {
      throw Error(ErrorCode::Corrupt,
        fmt::format("{}: key ({}) is missing; it is required without (arco)", this->name_,
          known ? "filename_template" : "blocksperfile"));
    }
    this->with("interleave block",
      [&](auto text)
      {
        header.interleave = static_cast<std::uint64_t>(
          std::max<std::int64_t>(1, to_integer(text, 0, kMax, "the number")));
      });
    this->with("filename_template",
      [&](auto text)
      {
        header.filename_template = std::string(text);
        const format::NameTemplate name = format::parse_name_template(text);
        if (header.version <= 4 && name.parts.size() > 1)
        {
          throw Refused(
            fmt::format("is {}; one %0Nx is allowed in version {}", shown(text), header.version),
            ErrorCode::UnsupportedVersion);
        }
        const std::uint64_t last =
          (std::uint64_t{ 1 } << (header.levels() - header.bits_per_block)) - 1;
        if (name.parts.empty() && last / header.interleave / header.blocks_per_file != 0)
        {
          throw Refused(fmt::format("is {}, a single file, which holds {} of {} blocks; a part "
                                    "%0Nx is required",
            shown(text), header.blocks_per_file, last + 1));
        }
      });
  }

  static StepRange parse_range(std::string_view text)
  {
    std::vector<std::string_view> numbers;
    for (std::size_t at = 0; at <= text.size();)
    {
      const std::size_t end = std::min(text.find(',', at), text.size());
      numbers.push_back(without_blanks(text.substr(at, end - at)));
      at = end + 1;
    }
    if (numbers.size() > 3)
    {
      throw Refused(fmt::format("has ({}); allowed are (from,to,by), (from,to) and (step)", text));
    }
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / 2;
    StepRange range;
    range.first = to_integer(numbers[0], -kMax, kMax, "a step");
    range.last =
      numbers.size() > 1 ? to_integer(numbers[1], range.first, kMax, "the last step") : range.first;
    range.by = numbers.size() > 2 ? to_integer(numbers[2], 1, kMax, "the step interval") : 1;
    return range;
  }

  void parse_time(std::string_view text)
  {
    TimeSteps& time = this->header_.time;
    const std::vector<std::string_view> words = split_words(text);
    if (words.empty())
    {
      return; // same as without the key
    }
    time.ranges.clear();
    std::size_t used = 0;
    if (words[0] == "*")
    {
      time.listed = true;
      used = words.size() > 1 && words[1] == "*" ? 2 : 1;
    }
    else if (words.size() > 1 &&
      words[0].find_first_not_of("+-0123456789") == std::string_view::npos)
    {
      time.ranges.push_back(parse_range(fmt::format("{},{}", words[0], words[1])));
      used = 2;
    }
    if (used < words.size() && words[used].front() != '(')
    {
      time.name_template = std::string(words[used]);
      ++used;
    }
    for (std::string_view rest = used < words.size()
           ? text.substr(static_cast<std::size_t>(words[used].data() - text.data()))
           : std::string_view();
         !rest.empty();)
    {
      const std::size_t end = rest.find(')');
      if (rest.front() != '(' || end == std::string_view::npos)
      {
        throw Refused(fmt::format("has {}; allowed are 'first last template', 'template "
                                  "(from,to,by) ...' and '* * template'",
          shown(rest)));
      }
      time.ranges.push_back(parse_range(rest.substr(1, end - 1)));
      rest = without_blanks(rest.substr(end + 1));
    }
    this->check_steps();
  }

  void check_steps()
  {
    TimeSteps& time = this->header_.time;
    if (time.listed)
    {
      time.ranges.clear();
    }
    else if (time.ranges.empty())
    {
      throw Refused("has no steps; allowed are 'first last template', 'template (from,to,by) "
                    "...' and '* * template'");
    }
    std::int64_t count = 0;
    for (const StepRange& range : time.ranges)
    {
      count = std::min(
        kMaxSteps + 1, count + std::min(kMaxSteps, (range.last - range.first) / range.by) + 1);
    }
    if (count > kMaxSteps)
    {
      throw Refused(fmt::format("has more than {} steps, the maximum", kMaxSteps));
    }
    const format::TimeTemplate name = format::parse_time_template(time.name_template);
    if (this->header_.arco == 0 && !name.has_number && (count > 1 || time.listed))
    {
      throw Refused(fmt::format("has several steps with the same template {}; %d, %Nd or %0Nd is "
                                "required",
        shown(time.name_template)));
    }
  }

  void check_names()
  {
    const Header& header = this->header_;
    if (header.arco == 0 && !header.time.name_template.empty() &&
      header.filename_template.find('%') == std::string::npos &&
      (header.time.listed || header.time.ranges.size() > 1 ||
        header.time.ranges[0].first != header.time.ranges[0].last))
    {
      throw Error(ErrorCode::Corrupt,
        fmt::format("{}: (filename_template) is {}, a single file; several steps require a part "
                    "%0Nx",
          this->name_, shown(header.filename_template)));
    }
    for (const Field& field : header.fields)
    {
      const bool a_path = field.name.find('/') != std::string::npos || field.name == ".." ||
        field.name == "." || field.name.find('\0') != std::string::npos;
      if (header.arco != 0 && a_path)
      {
        throw Error(ErrorCode::Corrupt,
          fmt::format("{}: with (arco), the field '{}' would be a folder; its name must not "
                      "contain '/'",
            this->name_, field.name));
      }
    }
  }

  void parse_endian(std::string_view text)
  {
    if (text != "little" && text != "big" && text != "1" && text != "0")
    {
      throw Refused(fmt::format("is {}; allowed are little and big, or 1 and 0", shown(text)));
    }
    this->header_.big_endian = text == "big" || text == "0";
  }

  void parse_physic_box(std::string_view text)
  {
    const std::vector<double> values = to_finite(text);
    if (values.size() < 2 * static_cast<std::size_t>(this->header_.axes) || values.size() % 2 != 0)
    {
      throw Refused(fmt::format("has {} numbers; two for each of the {} axes are required",
        values.size(), this->header_.axes));
    }
    std::array<double, 6> box{ 0, 1, 0, 1, 0, 1 };
    std::copy_n(values.begin(), std::min<std::size_t>(values.size(), 6), box.begin());
    this->header_.physic_box = box;
  }

  void parse_matrix(std::string_view text)
  {
    const std::vector<double> values = to_finite(text);
    if (values.size() != 16)
    {
      throw Refused(fmt::format("has {} numbers; 16 are required, row by row", values.size()));
    }
    this->header_.logic_to_physic.emplace();
    std::copy(values.begin(), values.end(), this->header_.logic_to_physic->begin());
  }

  void parse_offset(std::string_view text)
  {
    const std::vector<std::string_view> words = split_words(text);
    if (words.size() < 3)
    {
      throw Refused(fmt::format("has {} numbers; 3 are required", words.size()));
    }
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      this->header_.partition_offset[axis] =
        to_integer(words[axis], 0, std::int64_t{ 1 } << kMaxBits, "an offset");
    }
  }

  void parse_axis(std::string_view text)
  {
    for (const std::string_view word : split_words(text))
    {
      this->header_.axis_names.emplace_back(word);
    }
  }

  void parse_times(std::string_view text)
  {
    this->header_.times = to_finite(text);
    if (!std::is_sorted(this->header_.times.begin(), this->header_.times.end()))
    {
      throw Refused("is not in ascending order");
    }
  }

  const std::string& name_;
  Values values_;
  Header header_;
};
}

Header parse_header(std::string_view text, const std::string& name)
{
  const std::string_view begin = without_blanks(text.substr(0, text.find('\n')));
  if (begin.substr(0, 8) == "<dataset")
  {
    throw Error(ErrorCode::UnsupportedVersion,
      fmt::format("{}: is XML, a <dataset> of several datasets (.midx) or of an old form; open "
                  "the .idx files it refers to",
        name));
  }
  if (text.size() > kMaxTextBytes)
  {
    throw Error(ErrorCode::Corrupt,
      fmt::format("{}: has {} bytes; the text of an .idx file has at most {}", name, text.size(),
        kMaxTextBytes));
  }
  if (text.find('\0') != std::string_view::npos)
  {
    throw Error(
      ErrorCode::NotABatFile, fmt::format("{}: is not a text file: it contains a zero byte", name));
  }
  return Parser(text, name).parse();
}
}
