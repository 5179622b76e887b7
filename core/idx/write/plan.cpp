// SPDX-License-Identifier: BSD-3-Clause
#include "idx/write/plan.hpp"
#include "common/box_in_arrays.hpp"

#include "bat/error.hpp"
#include "bat/text.hpp"
#include "common/fail.hpp"
#include "idx/format/block_file.hpp"
#include "idx/format/field_text.hpp"
#include "idx/format/geometry.hpp"
#include "idx/format/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace bat::idx
{
namespace
{
constexpr int kUsualBitsPerBlock = 15;
constexpr int kMinBitsPerBlock = 9;
constexpr int kMaxBitsPerBlock = 28;
constexpr int kMaxDigits = 62;
/// Minimum number of digits in which blocks differ, unless the grid is small: block 0, which a
/// coarse level reads, is then at most 1/8 of the data.
constexpr int kBitsOfBlocks = 3;

// Rounds of one digit per axis, coarsest first; the finest digits all belong to long axes.
std::string bits_of(const LogicalBox& box)
{
  std::array<int, 3> digits{};
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    while (box.upper[axis] >> digits[axis] != 0)
    {
      ++digits[axis];
    }
  }
  std::string bits = "V";
  const int rounds = *std::max_element(digits.begin(), digits.end());
  for (int round = 0; round < std::max(rounds, 1); ++round)
  {
    for (int axis = 0; axis != 3; ++axis)
    {
      const bool has = round < digits[static_cast<std::size_t>(axis)];
      bits +=
        has || (rounds == 0 && axis == 0) ? std::string(1, static_cast<char>('0' + axis)) : "";
    }
  }
  return bits;
}

void check_name(const std::filesystem::path& path)
{
  const std::string name = path.stem().string();
  if (path.extension() != ".idx" || name.empty())
  {
    refuse(path.string(), "is not the name of an .idx file; use NAME.idx");
  }
  const std::string problem = format::find_name_problem(name);
  if (!problem.empty() || name.find_first_of("%#") != std::string::npos || name.front() == ' ')
  {
    refuse(path.string(),
      fmt::format("the name {}; it becomes part of a template in the text",
        problem.empty() ? "contains '%' or '#', or starts with a space" : problem));
  }
}

LogicalBox box_of(const Grid& grid)
{
  LogicalBox box{ grid.first, grid.first };
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    box.upper[axis] += grid.dimensions[axis] - 1;
  }
  return box;
}

void check_fields(const std::filesystem::path& path, const std::vector<FieldValues>& fields)
{
  if (fields.empty() || fields.size() > format::kMaxFields)
  {
    refuse(path.string(),
      fmt::format("{} fields were given; allowed are 1 to {}", fields.size(), format::kMaxFields));
  }
  std::set<std::string> names;
  for (const FieldValues& field : fields)
  {
    const std::string problem = find_field_name_problem(field.name);
    if (!problem.empty())
    {
      refuse(path.string(), fmt::format("the name of field '{}' {}", field.name, problem));
    }
    if (field.components < 1 || field.components > kMaxFieldComponents)
    {
      refuse(path.string(),
        fmt::format("field '{}' has {} components; allowed are 1 to {}", field.name,
          field.components, kMaxFieldComponents));
    }
    if (!names.insert(field.name).second)
    {
      refuse(path.string(), fmt::format("two fields are called '{}'", field.name));
    }
  }
}

void check_grid(const std::filesystem::path& path, const Grid& grid)
{
  constexpr std::int64_t kMaxSamples = std::int64_t{ 1 } << kMaxDigits;
  static constexpr char kAxes[] = "xyz";
  __int128 samples = 1;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    const std::int64_t count = grid.dimensions[axis];
    if (count < 1 || grid.first[axis] < 0 || count > kMaxSamples ||
      grid.first[axis] > kMaxSamples - count)
    {
      refuse(path.string(),
        fmt::format("along {}, {} samples starting at {} were given; at least one sample is "
                    "required, at 0 or above, up to 2^{}",
          kAxes[axis], count, grid.first[axis], kMaxDigits));
    }
    if (!std::isfinite(grid.origin[axis]) || !std::isfinite(grid.spacing[axis]) ||
      !(grid.spacing[axis] > 0))
    {
      refuse(path.string(),
        fmt::format("along {}, origin {} and spacing {} were given; both must be finite, and the "
                    "spacing above 0",
          kAxes[axis], grid.origin[axis], grid.spacing[axis]));
    }
    samples = std::min<__int128>(samples * count, __int128{ 1 } << 62);
  }
  if (samples >= __int128{ 1 } << 62)
  {
    refuse(path.string(), "has 2^62 samples or more");
  }
  const std::string problem = grid.stored ? find_stored_problem(*grid.stored, box_of(grid)) : "";
  if (!problem.empty())
  {
    refuse(path.string(), "has " + problem);
  }
  check_fields(path, grid.fields);
}

void check_options(const std::filesystem::path& path, const Grid& grid, const WriteOptions& options)
{
  if (const std::int64_t step = options.step_number(); step < 0 || step > kMaxStep)
  {
    refuse(path.string(), fmt::format("the time step is {}; allowed are 0 to {}", step, kMaxStep));
  }
  if (options.time && !std::isfinite(*options.time))
  {
    refuse(path.string(), fmt::format("the time is {}; times must be finite", *options.time));
  }
  if (options.bits_per_block < 0 || options.bits_per_block > kMaxBitsPerBlock)
  {
    refuse(path.string(),
      fmt::format("bits per block is {}; allowed are 1 to {}, or 0 to choose automatically",
        options.bits_per_block, kMaxBitsPerBlock));
  }
  if (options.zip_level < 1 || options.zip_level > 9)
  {
    refuse(
      path.string(), fmt::format("the zip level is {}; allowed are 1 to 9", options.zip_level));
  }
  if (options.dialect == Dialect::PIDX)
  {
    if (options.codec != Codec::Raw)
    {
      refuse(path.string(), "PIDX reads raw blocks only; zip or lz4 was requested");
    }
    if (grid.first != std::array<std::int64_t, 3>{})
    {
      refuse(path.string(), "boxes of PIDX start at 0 0 0, but the grid does not");
    }
  }
}

// Size of one sample: in the largest field, and in all fields together.
struct SampleBytes
{
  std::uint64_t largest = 1;
  std::uint64_t all = 0;
};

SampleBytes add_fields(const Grid& grid, const WriteOptions& options, Header& header)
{
  SampleBytes bytes;
  for (const FieldValues& values : grid.fields)
  {
    Field field;
    field.name = values.name;
    field.type = values.type;
    field.components = values.components;
    field.codec = options.codec;
    field.layout = header.pidx ? Layout::HZ : options.layout;
    bytes.largest = std::max(bytes.largest, field.sample_bytes());
    bytes.all += field.sample_bytes();
    header.fields.push_back(std::move(field));
  }
  return bytes;
}

int choose_bits_per_block(
  const std::filesystem::path& path, int digits, std::uint64_t largest, int requested)
{
  int b = requested;
  if (b == 0)
  {
    b = std::min(kUsualBitsPerBlock, std::max(kMinBitsPerBlock, digits - kBitsOfBlocks));
    while (b > 1 && largest << b > format::kMaxBlockBytes)
    {
      --b;
    }
  }
  b = std::min(b, digits);
  if (largest << b > format::kMaxBlockBytes)
  {
    refuse(path.string(),
      fmt::format("a block of 2^{} samples of {} bytes has more than {} bytes", b, largest,
        format::kMaxBlockBytes));
  }
  return b;
}

// Chooses a power of two, so that the numbers of files are round.
void choose_blocks_per_file(
  Header& header, std::uint64_t blocks, std::uint64_t block_bytes, std::uint64_t file_bytes)
{
  const std::uint64_t maximum =
    std::min<std::uint64_t>(blocks, (format::kMaxHeaderBytes - 40) / 40 / header.fields.size());
  while (
    2 * header.blocks_per_file <= maximum && 2 * header.blocks_per_file * block_bytes <= file_bytes)
  {
    header.blocks_per_file *= 2;
  }
}

// Chooses as many hexadecimal digits as the number of the last block needs. PIDX has at most
// four digits.
void choose_file_names(const std::filesystem::path& path, std::uint64_t blocks, Header& header)
{
  const bool pidx = header.pidx;
  int width = 1;
  while (width < (pidx ? 4 : 9) && (blocks - 1) >> (4 * width) != 0)
  {
    ++width;
  }
  if (pidx && (blocks - 1) >> (4 * width) != 0)
  {
    refuse(path.string(),
      fmt::format("the grid has {} blocks, but names in PIDX have 4 digits: use more bits per "
                  "block",
        blocks));
  }
  header.filename_template = fmt::format("%0{}x.bin", width);
  header.filename_template = filename_template(header, folder_name(path), ShapeFolder::First);
}
}

std::string folder_name(const std::filesystem::path& path)
{
  return path.stem().string();
}

std::string filename_template(const Header& header, const std::string& folder, ShapeFolder which)
{
  const std::string file = header.filename_template.substr(header.filename_template.rfind('/') + 1);
  if (header.pidx)
  {
    return fmt::format("./{}/{}", folder, file);
  }
  Header shape = header;
  shape.time = {};
  shape.times.clear();
  shape.filename_template = folder;
  for (Field& field : shape.fields)
  {
    field.minimum.clear();
    field.maximum.clear();
  }
  std::uint32_t sum = 2166136261u; // FNV-1a, of which only differences matter
  for (const char c : to_text(shape) + (which == ShapeFolder::Second ? "2" : ""))
  {
    sum = (sum ^ static_cast<unsigned char>(c)) * 16777619u;
  }
  return fmt::format("./{}/{:08x}/{}", folder, sum, file);
}

std::string difference(const Header& there, const Header& step)
{
  const auto message = [](const char* what, const std::string& a, const std::string& b)
  { return fmt::format("its {} is '{}', that of the new step is '{}'", what, a, b); };
  const auto format_fields = [](Header header)
  {
    for (Field& field : header.fields)
    {
      field.minimum.clear();
      field.maximum.clear();
    }
    return format::fields_text(header.fields, header.pidx);
  };
  const auto box_of = [](const Header& header)
  {
    return fmt::format("{} {} {} {} {} {}", header.box.lower[0], header.box.upper[0],
      header.box.lower[1], header.box.upper[1], header.box.lower[2], header.box.upper[2]);
  };
  if (there.pidx != step.pidx || there.version != step.version)
  {
    return message("version", there.pidx ? "6.1" : std::to_string(there.version),
      step.pidx ? "6.1" : std::to_string(step.version));
  }
  if (!(there.box == step.box))
  {
    return message("box", box_of(there), box_of(step));
  }
  if (format_fields(there) != format_fields(step))
  {
    return message("field list", format_fields(there), format_fields(step));
  }
  if (there.bits != step.bits || there.bits_per_block != step.bits_per_block ||
    there.blocks_per_file != step.blocks_per_file || there.interleave != step.interleave)
  {
    return message("division into blocks and files",
      fmt::format("{} {} {}", there.bits, there.bits_per_block, there.blocks_per_file),
      fmt::format("{} {} {}", step.bits, step.bits_per_block, step.blocks_per_file));
  }
  if (there.physic_box != step.physic_box || there.logic_to_physic != step.logic_to_physic)
  {
    return "its position in space differs";
  }
  if (there.filename_template != step.filename_template ||
    there.time.name_template != step.time.name_template || there.time.listed)
  {
    return message("files", there.filename_template + " " + there.time.name_template,
      step.filename_template + " " + step.time.name_template);
  }
  return {};
}

std::string find_field_name_problem(const std::string& name)
{
  if (name.empty() || !is_utf8(name))
  {
    return name.empty() ? "is empty" : "is not valid UTF-8";
  }
  for (const char c : name)
  {
    if (static_cast<unsigned char>(c) <= 32 || c == 127 || std::strchr("+#()[]/\"\\", c))
    {
      return fmt::format("contains {}; names must not contain spaces, control characters, "
                         "brackets, quotes, slashes, '+' or '#'",
        static_cast<unsigned char>(c) <= 32 || c == 127 ? "a space or a control character"
                                                        : fmt::format("'{}'", c));
    }
  }
  return name == "." || name == ".." ? "is a reserved folder name" : "";
}

std::vector<std::string> allowed_field_names(const std::vector<std::string>& names)
{
  std::vector<std::string> allowed(names.size());
  std::set<std::string> taken;
  const auto is_as_requested = [&](std::size_t i)
  { return find_field_name_problem(names[i]).empty() && taken.insert(names[i]).second; };
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i != names.size(); ++i)
  {
    allowed[i] = names[i];
    if (!is_as_requested(i))
    {
      others.push_back(i);
    }
  }
  for (const std::size_t i : others)
  {
    if (!is_utf8(names[i]))
    {
      continue;
    }
    std::string name;
    for (const char c : names[i])
    {
      const bool is_good = find_field_name_problem("a" + std::string(1, c) + "a").empty() ||
        static_cast<unsigned char>(c) >= 0x80; // part of a multi-byte character
      name += is_good ? std::string(1, c) : name.empty() || name.back() != '_' ? "_" : "";
    }
    name = name.empty() ? "field" : name == "." || name == ".." ? "_" : name;
    allowed[i] = name;
    for (int number = 2; !taken.insert(allowed[i]).second; ++number)
    {
      allowed[i] = fmt::format("{}_{}", name, number);
    }
  }
  return allowed;
}

Header plan_header(const std::filesystem::path& path, const Grid& grid, const WriteOptions& options)
{
  check_name(path);
  check_grid(path, grid);
  check_options(path, grid, options);
  Header header;
  header.pidx = options.dialect == Dialect::PIDX;
  const SampleBytes bytes = add_fields(grid, options, header);
  header.box = box_of(grid);
  format::set_geometry(header, grid.origin, grid.spacing);
  header.bits = bits_of(header.box);
  const int digits = header.levels();
  if (digits > kMaxDigits)
  {
    refuse(path.string(),
      fmt::format("the grid needs {} bit digits; at most {} are allowed", digits, kMaxDigits));
  }
  const int b = choose_bits_per_block(path, digits, bytes.largest, options.bits_per_block);
  header.bits_per_block = b;
  const std::uint64_t blocks = std::uint64_t{ 1 } << (digits - b);
  choose_blocks_per_file(header, blocks, bytes.all << b, options.file_bytes);

  header.time.name_template = header.pidx ? "time%09d/" : "time_%06d/";
  header.time.ranges = { { options.step_number(), options.step_number(), 1 } };
  if (options.time)
  {
    header.times = { *options.time };
  }
  choose_file_names(path, blocks, header);
  return header;
}
}
