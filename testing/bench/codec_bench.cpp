// SPDX-License-Identifier: BSD-3-Clause
// Measures columns in compressed chunks: ratio and single-thread speed, by column and chunk size.
//
//   codec_bench                                    clustered particles, in the order of a file
//   codec_bench --npy pos.npy id.npy               columns as stored in NumPy files
//   codec_bench --chunk 4096 65536 --bound 1e-4    sizes of chunks; positions within a bound
//
// 1 GB/s is 10^9 bytes of values per second of processor time. The methods are those of FORMAT.md
// section 18, with the number of chunks that use each.

#include "bench_data.hpp"

#include "bat/file.hpp"
#include "bat/writer.hpp"
#include "codec/chunk_codec.hpp"
#include "codec/snap.hpp"
#include "support/thread_time.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using bat::codec::ColumnShape;

struct Column
{
  std::string name;
  ColumnShape shape;
  std::vector<std::byte> values;
  double bound = 0;

  [[nodiscard]] std::size_t count() const
  {
    return this->values.size() / this->shape.value_bytes();
  }
};

struct Options
{
  std::string kind = "clustered";
  std::uint64_t particles = 1000000;
  std::vector<std::string> npy;
  std::vector<std::size_t> chunks{ 65536 };
  std::vector<double> bounds{ 1e-3, 1e-4, 1e-5 };
  int rounds = 3;
};

struct Result
{
  std::size_t bytes = 0; ///< all frames, their sizes and the model
  std::array<std::size_t, 256> methods{};
  double plan_seconds = 0;
  double encode_seconds = 0; ///< including those of the plan
  double decode_seconds = 0;
};

double median(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Result measure(const Column& column, std::size_t chunk, int rounds)
{
  bat::codec::Encoder encoder;
  bat::codec::Decoder decoder;
  const std::size_t value_bytes = column.shape.value_bytes();
  std::vector<std::vector<std::byte>> frames((column.count() + chunk - 1) / chunk);
  std::vector<std::byte> back(column.values.size());
  std::vector<double> encode;
  std::vector<double> decode;
  const bat::codec::Grid grid{ bat::codec::grid_step(column.bound) };
  std::vector<double> plans;
  std::size_t model_bytes = 0;
  const auto values_in = [&](std::size_t i) { return std::min(chunk, column.count() - i * chunk); };
  for (int round = 0; round <= rounds; ++round) // the first warms up
  {
    double begin = thread_seconds();
    const bat::codec::Plan plan(column.shape, grid, column.values.data(), column.count(), chunk);
    plans.push_back(thread_seconds() - begin);
    model_bytes = plan.model().size();
    for (std::size_t i = 0; i != frames.size(); ++i)
    {
      encoder.encode(plan, column.values.data() + i * chunk * value_bytes, values_in(i), frames[i]);
    }
    encode.push_back(thread_seconds() - begin);
    begin = thread_seconds();
    const bat::codec::Model model(column.shape, plan.model().data(), plan.model().size());
    for (std::size_t i = 0; i != frames.size(); ++i)
    {
      decoder.decode(model, frames[i].data(), frames[i].size(),
        back.data() + i * chunk * value_bytes, values_in(i));
    }
    decode.push_back(thread_seconds() - begin);
  }
  if (back != column.values)
  {
    throw std::runtime_error(column.name + ": other values come back");
  }
  Result result;
  result.bytes = model_bytes;
  for (const std::vector<std::byte>& frame : frames)
  {
    result.bytes += frame.size() + sizeof(std::uint32_t);
    ++result.methods[std::to_integer<std::size_t>(frame[0])];
  }
  result.plan_seconds = median({ plans.begin() + 1, plans.end() });
  result.encode_seconds = median({ encode.begin() + 1, encode.end() });
  result.decode_seconds = median({ decode.begin() + 1, decode.end() });
  return result;
}

Column from_npy(const std::string& path)
{
  std::ifstream stream(path, std::ios::binary);
  std::string text{ std::istreambuf_iterator<char>(stream), {} };
  std::uint16_t header_bytes = 0;
  if (text.size() < 10 || text.compare(0, 7, "\x93NUMPY\x01") != 0)
  {
    throw std::runtime_error(path + ": is no file of numpy, version 1");
  }
  std::memcpy(&header_bytes, text.data() + 8, sizeof(header_bytes));
  const std::string header = text.substr(10, header_bytes);
  std::smatch match;
  const std::regex form("'descr': '[<|]([fiu])([1248])'.*'shape': \\((\\d+),(?: (\\d+))?\\)");
  static const std::array<std::pair<const char*, bat::ScalarType>, 10> kTypes = {
    { { "i1", bat::ScalarType::Int8 }, { "u1", bat::ScalarType::UInt8 },
      { "i2", bat::ScalarType::Int16 }, { "u2", bat::ScalarType::UInt16 },
      { "i4", bat::ScalarType::Int32 }, { "u4", bat::ScalarType::UInt32 },
      { "i8", bat::ScalarType::Int64 }, { "u8", bat::ScalarType::UInt64 },
      { "f4", bat::ScalarType::Float32 }, { "f8", bat::ScalarType::Float64 } }
  };
  if (std::regex_search(header, match, form))
  {
    for (const auto& [name, type] : kTypes)
    {
      if (match[1].str() + match[2].str() == name)
      {
        Column column;
        column.name = std::filesystem::path(path).stem().string();
        column.shape.type = type;
        column.shape.components =
          match[4].matched ? static_cast<std::uint32_t>(std::stoul(match[4])) : 1;
        const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
        column.values.assign(bytes + 10 + header_bytes, bytes + text.size());
        return column;
      }
    }
  }
  throw std::runtime_error(path + ": numbers or shape of another form: " + header);
}

std::vector<Column> make_columns(const Options& options)
{
  std::vector<Column> columns;
  for (const std::string& path : options.npy)
  {
    columns.push_back(from_npy(path));
  }
  if (!columns.empty())
  {
    return columns;
  }
  const clouds::Cloud cloud = bench::make_data(options.kind, options.particles, 1);
  const bat::File file = bat::File::from_memory(bat::encode(cloud.view()), "codec_bench.bat");
  const bat::Selection all = file.select({});
  columns.push_back(
    { "positions", { cloud.position_type, 3 }, std::vector<std::byte>(cloud.positions.size()), 0 });
  file.read_positions(all, columns[0].values.data());
  for (std::size_t i = 0; i != cloud.columns.size(); ++i)
  {
    const clouds::Cloud::Column& from = cloud.columns[i];
    columns.push_back({ from.name, { from.type, static_cast<std::uint32_t>(from.components) },
      std::vector<std::byte>(from.bytes.size()), 0 });
    file.read_attribute(i, all, columns.back().values.data());
  }
  return columns;
}

template <class T>
double extent_of(const Column& column)
{
  std::array<double, 3> lower;
  std::array<double, 3> upper;
  lower.fill(std::numeric_limits<double>::infinity());
  upper.fill(-lower[0]);
  for (std::size_t i = 0; i != 3 * column.count(); ++i)
  {
    T value;
    std::memcpy(&value, column.values.data() + i * sizeof(T), sizeof(T));
    lower[i % 3] = std::min<double>(lower[i % 3], value);
    upper[i % 3] = std::max<double>(upper[i % 3], value);
  }
  double extent = 0;
  for (std::size_t axis = 0; axis != 3; ++axis)
  {
    extent = std::max(extent, upper[axis] - lower[axis]);
  }
  return extent;
}

// Positions within bounds, relative to their extent.
void add_bounded(std::vector<Column>& columns, const std::vector<double>& bounds)
{
  const std::size_t given = columns.size();
  for (std::size_t i = 0; i != given; ++i)
  {
    const bool is_float32 = columns[i].shape.type == bat::ScalarType::Float32;
    if (columns[i].shape.components != 3 ||
      (!is_float32 && columns[i].shape.type != bat::ScalarType::Float64))
    {
      continue;
    }
    const double extent = is_float32 ? extent_of<float>(columns[i]) : extent_of<double>(columns[i]);
    for (const double bound : bounds)
    {
      Column column = columns[i];
      column.name += fmt::format(" {:.0e}", bound);
      column.bound = bound * extent;
      const double begin = thread_seconds();
      const std::size_t kept =
        bat::codec::snap(column.shape, column.bound, column.values.data(), column.count());
      fmt::print("{:<18} snapped at {:.2f} GB/s, {} numbers are kept\n", column.name,
        1e-9 * static_cast<double>(column.values.size()) / (thread_seconds() - begin), kept);
      columns.push_back(std::move(column));
    }
  }
}

void print_row(const std::string& name, std::size_t chunk, std::size_t raw, const Result& result)
{
  std::string methods;
  static const std::array<const char*, 4> kNames = { "stored", "constant", "planes", "streams" };
  for (std::size_t method = 0; method != kNames.size(); ++method)
  {
    if (result.methods[method] != 0)
    {
      methods += fmt::format(" {} {}", result.methods[method], kNames[method]);
    }
  }
  fmt::print("{:<18}{:>8}{:>9.3f}{:>9.1f}{:>12.2f}{:>12.2f} {}\n", name, chunk,
    static_cast<double>(raw) / static_cast<double>(result.bytes), 1e3 * result.plan_seconds,
    1e-9 * static_cast<double>(raw) / result.encode_seconds,
    1e-9 * static_cast<double>(raw) / result.decode_seconds, methods);
}

void run(const Options& options)
{
  std::vector<Column> columns = make_columns(options);
  const std::size_t lossless = columns.size();
  add_bounded(columns, options.bounds);
  fmt::print("{:<18}{:>8}{:>9}{:>9}{:>12}{:>12}  methods\n", "column", "chunk", "ratio", "plan, ms",
    "encode GB/s", "decode GB/s");
  for (const std::size_t chunk : options.chunks)
  {
    Result sum;
    std::size_t raw = 0;
    for (std::size_t i = 0; i != columns.size(); ++i)
    {
      const Result result = measure(columns[i], chunk, options.rounds);
      print_row(columns[i].name, chunk, columns[i].values.size(), result);
      if (i < lossless)
      {
        raw += columns[i].values.size();
        sum.bytes += result.bytes;
        sum.plan_seconds += result.plan_seconds;
        sum.encode_seconds += result.encode_seconds;
        sum.decode_seconds += result.decode_seconds;
      }
    }
    print_row("all, lossless", chunk, raw, sum);
  }
}
}

int main(int argc, char** argv)
{
  Options options;
  CLI::App app("Ratio and speed of compressed chunks, in one thread.");
  app.add_option("--kind", options.kind, "uniform, clustered, duplicates or npz:FILE");
  app.add_option("--particles", options.particles)->check(CLI::Range(1, 1000000000));
  app.add_option("--npy", options.npy, "columns instead of particles: files of numpy");
  app.add_option("--chunk", options.chunks, "values in a chunk")
    ->check(CLI::Range(std::size_t{ 1 }, bat::codec::kMaxValues));
  app.add_option("--bound", options.bounds, "of positions, relative to their extent");
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  try
  {
    run(options);
  }
  catch (const std::exception& error)
  {
    fmt::print(stderr, "codec_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
