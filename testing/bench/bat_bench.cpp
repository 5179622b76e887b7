// SPDX-License-Identifier: BSD-3-Clause
// bat_bench: measures what it costs to build, read and query a .bat file, compared with references
// in the same process on the same particles: a plain copy, a radix sort and gather, a scan of one
// column.
//
// Answers are summed into `answer_checksum`, so that fast but wrong results are noticed. README.md
// explains each figure.

#include "bat/bat.hpp"
#include "bench_data.hpp"
#include "common/memory/kept_memory.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

namespace
{
using nlohmann::json;
constexpr std::uint64_t kPage = 4096;

struct Options
{
  std::uint64_t particles = 1000000;
  std::string kind = "clustered";
  std::uint64_t seed = 1;
  int threads = 1;
  int repeat = 5;
  std::string output;
  std::string folder = std::filesystem::temp_directory_path().string();
  std::string dump;
  bool only_open = false;
  bool only_build = false;
  bool map = false;
  bat::BuildOptions build; ///< compression
};

/// What time_ms() measures: wall time, or the processor time of all threads.
clockid_t measured_clock = CLOCK_MONOTONIC;

double now_ms()
{
  timespec now{};
  ::clock_gettime(measured_clock, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

template <class F>
double time_ms(F&& f)
{
  const double start = now_ms();
  f();
  return now_ms() - start;
}

double median(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Two alternately timed operations: medians, and every time in the order of measurement.
struct Pairs
{
  double ms = 0;
  double reference_ms = 0;
  std::vector<double> all_ms;
  std::vector<double> all_reference_ms;
};

template <class A, class B>
Pairs paired(int repeat, A&& a, B&& reference)
{
  Pairs pairs;
  for (int i = 0; i != repeat; ++i)
  {
    pairs.all_ms.push_back(time_ms(a));
    pairs.all_reference_ms.push_back(time_ms(reference));
  }
  pairs.ms = median(pairs.all_ms);
  pairs.reference_ms = median(pairs.all_reference_ms);
  return pairs;
}

json samples(const Pairs& pairs, const char* reference)
{
  return { { "ms", pairs.all_ms }, { reference, pairs.all_reference_ms } };
}

std::uint64_t memory_now(const char* field)
{
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
  {
    if (line.rfind(field, 0) == 0)
    {
      return std::stoull(line.substr(std::string(field).size() + 1)) * 1024;
    }
  }
  return 0;
}

void reset_peak_memory()
{
  std::ofstream("/proc/self/clear_refs") << "5";
}

/// The set of pages of a file that were read.
class TouchedPages
{
public:
  bat::OpenOptions observer()
  {
    bat::OpenOptions options;
    options.on_read = [this](std::uint64_t offset, std::uint64_t bytes)
    {
      const std::lock_guard<std::mutex> lock(this->mutex_);
      const std::uint64_t last = (offset + bytes - 1) / kPage;
      this->pages_.resize(std::max<std::size_t>(this->pages_.size(), last + 1));
      for (std::uint64_t page = offset / kPage; page <= last; ++page)
      {
        this->pages_[page] = true;
      }
    };
    return options;
  }
  [[nodiscard]] double bytes() const
  {
    return static_cast<double>(std::count(this->pages_.begin(), this->pages_.end(), true)) *
      static_cast<double>(kPage);
  }

private:
  std::mutex mutex_;
  std::vector<bool> pages_;
};

template <class T>
bat::Number number(T value)
{
  if constexpr (std::is_floating_point_v<T>)
  {
    return double{ value };
  }
  else if constexpr (std::is_signed_v<T>)
  {
    return std::int64_t{ value };
  }
  else
  {
    return std::uint64_t{ value };
  }
}

class Bench
{
public:
  Bench(const Options& options)
    : options_(options)
    , path_(std::filesystem::path(options.folder) / fmt::format("bat_bench_{}.bat", ::getpid()))
  {
  }
  ~Bench()
  {
    std::error_code ignored;
    std::filesystem::remove(this->path_, ignored);
  }

  json run()
  {
    // Programs and threads that a first build loads into memory do not count as memory for the
    // data.
    (void)bat::encode(bench::make_data("uniform", 1000, 1).view());
    const std::uint64_t memory_before = memory_now("VmRSS:");
    this->cloud_ =
      bench::make_data(this->options_.kind, this->options_.particles, this->options_.seed);
    this->view_ = this->cloud_.view();
    std::uint64_t bytes = 3 * bat::size_of(this->cloud_.position_type);
    for (const auto& c : this->cloud_.columns)
    {
      bytes += bat::size_of(c.type) * static_cast<std::uint64_t>(c.components);
    }
    this->data_bytes_ = static_cast<double>(bytes * this->cloud_.count);
    this->out_["particles"] = this->cloud_.count;
    this->out_["bytes_per_particle"] = bytes;
    this->out_["kind"] = this->options_.kind;
    this->out_["seed"] = this->options_.seed;
    this->out_["threads"] = this->options_.threads;
    this->out_["repeat"] = this->options_.repeat;
    this->out_["library_version"] = bat::kLibraryVersion;

    if (!this->options_.dump.empty())
    {
      bench::write_npy_folder(this->options_.dump, this->cloud_);
      return this->out_;
    }
    bat::BuildOptions build = this->options_.build;
    build.threads = this->options_.threads;
    if (build.compression != bat::Compression::None)
    {
      this->measure_compression(build);
      this->out_["answer_checksum"] = fmt::format("{:016x}", this->checksum_);
      return this->out_;
    }
    if (this->options_.only_build)
    {
      (void)bat::encode(this->view_, build); // the memory of a virtual machine may grow first
      this->measure_build(build);
      return this->out_;
    }
    if (!this->options_.only_open)
    {
      this->measure_memory(memory_before, build);
      if (this->has_ids())
      {
        this->measure_memory_with_index(memory_before, build);
      }
      this->measure_build(build);
    }
    const bat::WriteReport report = bat::write_file(this->path_, this->view_, build);
    this->out_["index_ratio"] = static_cast<double>(report.index_bytes) / this->data_bytes_;
    this->out_["treelets"] = { { "count", report.treelets },
      { "largest_over_mean",
        static_cast<double>(report.largest_treelet) * static_cast<double>(report.treelets) /
          static_cast<double>(report.particles) } };
    this->out_["block_particles"] = report.block_particles;
    this->measure_open();
    if (!this->options_.only_open)
    {
      bat::OpenOptions open;
      open.map = this->options_.map;
      const bat::File file = bat::File::open(this->path_, open);
      this->measure_reads(file);
      this->measure_touched(file);
      this->measure_quality(file);
      this->measure_boxes(file);
      this->measure_attributes(file);
    }
    this->out_["answer_checksum"] = fmt::format("{:016x}", this->checksum_);
    return this->out_;
  }

private:
  void add_answer(const void* data, std::size_t bytes)
  {
    this->checksum_ = XXH64(data, bytes, this->checksum_);
  }
  void add_answer(const bat::Selection& selection)
  {
    this->add_answer(selection.spans.data(), selection.spans.size() * sizeof(bat::Span));
  }

  // Memory for input and result together, relative to the bytes of the input.
  void measure_memory(std::uint64_t before, const bat::BuildOptions& build)
  {
    reset_peak_memory();
    const bat::Bytes encoded = bat::encode(this->view_, build);
    const std::uint64_t peak = memory_now("VmHWM:");
    this->add_answer(encoded.data(), encoded.size());
    this->out_["peak_memory_ratio"] = static_cast<double>(peak - before) / this->data_bytes_;
  }

  // The same with a sorted index of ids.
  void measure_memory_with_index(std::uint64_t before, bat::BuildOptions build)
  {
    build.sorted_indexes = { "id" };
    reset_peak_memory();
    (void)bat::encode(this->view_, build);
    const std::uint64_t peak = memory_now("VmHWM:");
    this->out_["peak_memory_ratio_with_sorted_index"] =
      static_cast<double>(peak - before) / this->data_bytes_;
  }

  [[nodiscard]] bool has_ids() const
  {
    return std::any_of(this->cloud_.columns.begin(), this->cloud_.columns.end(),
      [](const auto& c) { return c.name == "id" && c.components == 1; });
  }

  void measure_build(const bat::BuildOptions& build)
  {
    std::vector<double> ms;
    std::vector<double> order_ms;
    std::vector<double> limit_ms;
    std::vector<double> copy_ms;
    for (int i = 0; i != this->options_.repeat; ++i)
    {
      bat::WriteReport report;
      ms.push_back(time_ms([&] { (void)bat::encode(this->view_, build, &report); }));
      order_ms.push_back(1000 * report.seconds_build);
      limit_ms.push_back(this->sort_and_gather());
      copy_ms.push_back(this->copy_all());
    }
    const double mega = static_cast<double>(this->cloud_.count) / 1e6;
    this->out_["build"] = { { "ms", median(ms) }, { "order_ms", median(order_ms) },
      { "mpts_per_s_per_core", mega / (median(ms) / 1000) / this->options_.threads },
      { "limit_sort_gather_mpts_per_s", mega / (median(limit_ms) / 1000) },
      { "copy_ms", median(copy_ms) },
      { "samples", { { "ms", ms }, { "limit_ms", limit_ms }, { "copy_ms", copy_ms } } } };
  }

  // Reference for threads: the speedup of copying all columns.
  double copy_all() const
  {
    constexpr std::size_t kBytesPerTask = std::size_t{ 1 } << 20;
    std::vector<std::byte> copy(static_cast<std::size_t>(this->data_bytes_));
    std::vector<const std::vector<std::byte>*> columns{ &this->cloud_.positions };
    for (const auto& column : this->cloud_.columns)
    {
      columns.push_back(&column.bytes);
    }
    tbb::task_arena arena(this->options_.threads);
    return time_ms(
      [&]
      {
        std::size_t first = 0;
        for (const std::vector<std::byte>* column : columns)
        {
          arena.execute(
            [&]
            {
              tbb::parallel_for(tbb::blocked_range<std::size_t>(0, column->size(), kBytesPerTask),
                [&](const auto& part) {
                  std::memcpy(&copy[first + part.begin()], &(*column)[part.begin()], part.size());
                });
            });
          first += column->size();
        }
      });
  }

  // Reference for the build, one thread: radix sort of 64-bit Morton keys and gather of all
  // columns.
  double sort_and_gather() const
  {
    struct Entry
    {
      std::uint64_t key;
      std::uint32_t index;
    };
    const std::uint64_t n = this->cloud_.count;
    std::array<double, 3> lower;
    std::array<double, 3> cells_per_unit;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      double upper = lower[axis] = this->coordinate(0, axis);
      for (std::uint64_t i = 1; i != n; ++i)
      {
        lower[axis] = std::min(lower[axis], this->coordinate(i, axis));
        upper = std::max(upper, this->coordinate(i, axis));
      }
      cells_per_unit[axis] = upper > lower[axis] ? 2097151 / (upper - lower[axis]) : 0;
    }
    std::vector<std::byte> gathered(static_cast<std::size_t>(this->data_bytes_));
    return time_ms(
      [&]
      {
        std::vector<Entry> entries(n);
        std::vector<Entry> other(n);
        for (std::uint64_t i = 0; i != n; ++i)
        {
          std::uint64_t key = 0;
          for (std::size_t axis = 0; axis != 3; ++axis)
          {
            auto x = static_cast<std::uint64_t>(
              (this->coordinate(i, axis) - lower[axis]) * cells_per_unit[axis]);
            x = (x | x << 32) & 0x001F00000000FFFF;
            x = (x | x << 16) & 0x001F0000FF0000FF;
            x = (x | x << 8) & 0x100F00F00F00F00F;
            x = (x | x << 4) & 0x10C30C30C30C30C3;
            x = (x | x << 2) & 0x1249249249249249;
            key |= x << (2 - axis);
          }
          entries[i] = { key, static_cast<std::uint32_t>(i) };
        }
        for (int shift = 0; shift < 64; shift += 11)
        {
          std::vector<std::uint64_t> starts(2049);
          for (const Entry& e : entries)
          {
            ++starts[(e.key >> shift & 2047) + 1];
          }
          std::partial_sum(starts.begin(), starts.end(), starts.begin());
          for (const Entry& e : entries)
          {
            other[starts[e.key >> shift & 2047]++] = e;
          }
          entries.swap(other);
        }
        std::byte* to = gathered.data();
        const auto gather = [&](const std::vector<std::byte>& from, std::size_t size)
        {
          for (const Entry& e : entries)
          {
            std::memcpy(to, &from[e.index * size], size);
            to += size;
          }
        };
        gather(this->cloud_.positions, 3 * bat::size_of(this->cloud_.position_type));
        for (const auto& c : this->cloud_.columns)
        {
          gather(c.bytes, bat::size_of(c.type) * static_cast<std::size_t>(c.components));
        }
      });
  }

  [[nodiscard]] double coordinate(std::uint64_t i, std::size_t axis) const
  {
    if (this->cloud_.position_type == bat::ScalarType::Float32)
    {
      float x;
      std::memcpy(&x, &this->cloud_.positions[(3 * i + axis) * 4], 4);
      return x;
    }
    double x;
    std::memcpy(&x, &this->cloud_.positions[(3 * i + axis) * 8], 8);
    return x;
  }

  void measure_open()
  {
    std::vector<double> ms;
    std::uint64_t bytes = 0;
    for (int i = 0; i != 21; ++i)
    {
      ms.push_back(time_ms([&] { bytes = bat::File::open(this->path_).bytes_read(); }));
    }
    std::vector<double> first_ms;
    bat::Query query;
    query.quality =
      std::min(1.0, 1e6 / static_cast<double>(std::max<std::uint64_t>(1, this->cloud_.count)));
    for (int i = 0; i != this->options_.repeat; ++i)
    {
      std::vector<std::byte> positions;
      first_ms.push_back(time_ms(
        [&]
        {
          const bat::File file = bat::File::open(this->path_);
          const bat::Selection some = file.select(query);
          positions.resize(some.count * 3 * bat::size_of(file.position_type()));
          file.read_positions(some, positions.data(), { this->options_.threads });
        }));
    }
    this->out_["open"] = { { "ms", median(ms) }, { "bytes_read", bytes },
      { "with_first_million_ms", median(first_ms) },
      { "samples", { { "ms", ms }, { "with_first_million_ms", first_ms } } } };
  }

  // Reads positions and one attribute with one thread, from the page cache into existing arrays.
  void measure_reads(const bat::File& file)
  {
    const std::uint64_t n = file.particle_count();
    const std::size_t column = this->read_column();
    const std::size_t position_bytes = 3 * bat::size_of(file.position_type());
    const bat::Attribute& attribute = file.attributes()[column];
    const std::size_t value_bytes =
      bat::size_of(attribute.type) * static_cast<std::size_t>(attribute.components);
    // Uses large pages if the system provides them: with small ones the kernel's copy takes longer.
    bat::Bytes positions(n * position_bytes, std::byte{ 0 });
    bat::Bytes values(n * value_bytes, std::byte{ 0 });
    const auto read = [&](const bat::File& from, double after, double to)
    {
      bat::Query query;
      query.after_quality = after;
      query.quality = to;
      const std::uint64_t before = from.particles_at(after);
      const bat::Selection some = from.select(query, { 1 });
      from.read_positions(some, &positions[before * position_bytes], { 1 });
      from.read_attribute(column, some, &values[before * value_bytes], { 1 });
    };
    const auto progress = [&](const bat::File& from)
    {
      for (int step = 0; step != 10; ++step)
      {
        read(from, step / 10.0, (step + 1) / 10.0);
      }
    };
    bat::Bytes positions_copy(positions.size(), std::byte{ 0 });
    bat::Bytes values_copy(values.size(), std::byte{ 0 });
    const auto copy = [&]
    {
      std::memcpy(positions_copy.data(), this->cloud_.positions.data(), positions_copy.size());
      std::memcpy(
        values_copy.data(), this->cloud_.columns[column].bytes.data(), values_copy.size());
    };
    const auto report = [&](const char* name, const Pairs& pairs)
    {
      const auto per_ms = [n](double ms) { return static_cast<double>(n) / ms; };
      this->out_[name] = { { "attribute", attribute.name }, { "pts_per_ms", per_ms(pairs.ms) },
        { "copy_pts_per_ms", per_ms(pairs.reference_ms) },
        { "samples", samples(pairs, "copy_ms") } };
    };
    const auto measure = [&](const char* name, const auto& f)
    {
      f();
      report(name, paired(this->options_.repeat, f, copy));
    };
    measure("read_full", [&] { read(file, 0, 1); });
    this->add_answer(positions.data(), positions.size());
    measure("progressive", [&] { progress(file); });
    this->out_["progressive"]["steps"] = 10;
    this->add_answer(values.data(), values.size());

    bat::OpenOptions mapping;
    mapping.map = true;
    {
      const bat::Bytes expected_positions = positions;
      const bat::Bytes expected_values = values;
      const auto measure_mapped = [&](const char* name, const auto& f)
      {
        std::fill(positions.begin(), positions.end(), std::byte{ 0 });
        std::fill(values.begin(), values.end(), std::byte{ 0 });
        measure(name, f);
        this->expect_same("positions of the mapped file", positions == expected_positions);
        this->expect_same("values of the mapped file", values == expected_values);
      };
      measure_mapped("read_mapped", [&] { read(bat::File::open(this->path_, mapping), 0, 1); });
      measure_mapped(
        "progressive_mapped", [&] { progress(bat::File::open(this->path_, mapping)); });
      this->out_["progressive_mapped"]["steps"] = 10;
      const bat::File mapped = bat::File::open(this->path_, mapping);
      measure_mapped("read_again", [&] { read(mapped, 0, 1); });
    }

    // Opened again each time, so that the cost of mapping is included.
    std::optional<bat::File> mapped;
    const void* positions_in_place = nullptr;
    const void* values_in_place = nullptr;
    report("in_place",
      paired(
        this->options_.repeat,
        [&]
        {
          mapped.emplace(bat::File::open(this->path_, mapping));
          positions_in_place = mapped->map_positions(n, { 1 });
          values_in_place = mapped->map_attribute(column, n, { 1 });
        },
        copy));
    this->expect_same("positions in place",
      std::memcmp(positions_in_place, positions.data(), positions.size()) == 0);
    this->expect_same(
      "values in place", std::memcmp(values_in_place, values.data(), values.size()) == 0);
  }

  [[nodiscard]] std::size_t read_column() const
  {
    // An 8-byte attribute if there is one, so that bytes compare between data sets.
    for (std::size_t k = 0; k != this->cloud_.columns.size(); ++k)
    {
      if (bat::size_of(this->cloud_.columns[k].type) == 8 &&
        this->cloud_.columns[k].components == 1)
      {
        return k;
      }
    }
    return 0;
  }

  // The distinct pages of a newly opened file that a query with all columns reads, relative to the
  // bytes that it returns; and the bytes returned.
  std::pair<double, double> touched(const bat::Query& query)
  {
    return this->touched(this->path_, query);
  }

  std::pair<double, double> touched(const std::filesystem::path& path, const bat::Query& query)
  {
    TouchedPages pages;
    double returned = 0;
    {
      const bat::File file = bat::File::open(path, pages.observer());
      const bat::Selection selection = file.select(query);
      std::vector<std::byte> values(selection.count * 3 * bat::size_of(file.position_type()));
      returned += static_cast<double>(values.size());
      file.read_positions(selection, values.data());
      this->add_answer(values.data(), values.size());
      for (std::size_t k = 0; k != file.attributes().size(); ++k)
      {
        const bat::Attribute& a = file.attributes()[k];
        values.resize(
          selection.count * bat::size_of(a.type) * static_cast<std::size_t>(a.components));
        returned += static_cast<double>(values.size());
        file.read_attribute(k, selection, values.data());
      }
    }
    return { pages.bytes() / returned, returned };
  }

  // A file with and one without compression, alternately.
  void measure_compression(const bat::BuildOptions& build)
  {
    bat::BuildOptions as_it_is;
    as_it_is.threads = build.threads;
    const std::filesystem::path raw = this->path_;
    const std::filesystem::path compressed = raw.string() + ".compressed";
    const auto remove = [](const std::filesystem::path* path) { std::filesystem::remove(*path); };
    const std::unique_ptr<const std::filesystem::path, decltype(remove)> owner(&compressed, remove);
    const bat::WriteReport raw_report = bat::write_file(raw, this->view_, as_it_is);
    const bat::WriteReport report = bat::write_file(compressed, this->view_, build);
    json out = { { "ratio", ratio_of(report.data_bytes, report.stored_bytes) },
      { "file_ratio", ratio_of(raw_report.file_bytes, report.file_bytes) },
      { "index_ratio", ratio_of(report.index_bytes, report.stored_bytes) } };
    (void)bat::encode(this->view_, as_it_is); // the memory of a virtual machine may grow first
    const auto beside = [](const Pairs& pairs)
    {
      std::vector<double> over;
      for (std::size_t i = 0; i != pairs.all_ms.size(); ++i)
      {
        over.push_back(pairs.all_ms[i] / pairs.all_reference_ms[i]);
      }
      return json{ { "ms", pairs.ms }, { "raw_ms", pairs.reference_ms },
        { "over_raw", median(over) }, { "samples", samples(pairs, "raw_ms") } };
    };
    // Reuses memory of the previous step, as in a series. Otherwise the time would be dominated by
    // the system, which must clear more memory with compression than without.
    const bat::KeptMemory kept(std::uint64_t{ 1 } << 40);
    const auto built = [&](const bat::BuildOptions& options)
    {
      const bat::KeptMemory::Use use(kept);
      (void)bat::encode(this->view_, options);
    };
    out["build"] = beside(paired(
      this->options_.repeat, [&] { built(build); }, [&] { built(as_it_is); }));
    bat::Query all;
    out["read"] = beside(this->pairs_of_reads(compressed, raw, all, false));
    out["read"]["gb_per_s"] = this->data_bytes_ / (1e6 * out["read"]["ms"].get<double>());
    bat::Query first;
    first.quality = 0.05;
    out["cold_5_percent"] = beside(this->pairs_of_reads(compressed, raw, first, true));
    const bat::File file = bat::File::open(raw);
    for (const auto& [name, count] : { std::pair<const char*, std::uint64_t>{ "box_1m", 1000000 },
           { "box_100k", 100000 }, { "box_10k", 10000 } })
    {
      if (file.particle_count() >= 2 * count)
      {
        bat::Query query;
        constexpr std::uint64_t kBoxes = 9;
        json of_boxes = json::array();
        double bytes = 0;
        double raw_bytes = 0;
        for (std::uint64_t i = 0; i != kBoxes; ++i)
        {
          query.box = this->box_with(file, count, (2 * i + 1) * this->cloud_.count / (2 * kBoxes));
          const auto [ratio, returned] = this->touched(compressed, query);
          const auto [raw_ratio, raw_returned] = this->touched(raw, query);
          bytes += ratio * returned / kBoxes;
          raw_bytes += raw_ratio * raw_returned / kBoxes;
          of_boxes.push_back(ratio * returned / (raw_ratio * raw_returned));
        }
        out[name] = { { "bytes", bytes }, { "raw_bytes", raw_bytes },
          { "over_raw", bytes / raw_bytes }, { "samples", of_boxes } };
      }
    }
    this->out_["compression"] = out;
  }

  static double ratio_of(std::uint64_t a, std::uint64_t b)
  {
    return static_cast<double>(a) / static_cast<double>(b);
  }

  // Opens a file and reads all columns of the matching particles. `cold`: no part of the file is in
  // the page cache.
  Pairs pairs_of_reads(const std::filesystem::path& compressed, const std::filesystem::path& raw,
    const bat::Query& query, bool cold)
  {
    std::vector<bat::Bytes> columns;
    const auto read = [&](const std::filesystem::path& path)
    {
      const bat::File file = bat::File::open(path);
      const bat::Selection selection = file.select(query);
      columns.resize(1 + file.attributes().size());
      const auto room = [&](std::size_t column, std::size_t value_bytes)
      {
        columns[column].resize(selection.count * value_bytes);
        return columns[column].data();
      };
      file.read_positions(selection, room(0, 3 * bat::size_of(file.position_type())));
      for (std::size_t k = 0; k != file.attributes().size(); ++k)
      {
        const bat::Attribute& a = file.attributes()[k];
        file.read_attribute(
          k, selection, room(1 + k, bat::size_of(a.type) * static_cast<std::size_t>(a.components)));
      }
    };
    Pairs pairs;
    for (int i = -1; i != this->options_.repeat; ++i) // the first run is not counted
    {
      for (const bool is_raw : { false, true })
      {
        const std::filesystem::path& path = is_raw ? raw : compressed;
        if (cold)
        {
          drop_from_page_cache(path);
        }
        const double ms = time_ms([&] { read(path); });
        if (i >= 0)
        {
          (is_raw ? pairs.all_reference_ms : pairs.all_ms).push_back(ms);
        }
      }
    }
    for (const bat::Bytes& column : columns)
    {
      this->add_answer(column.data(), column.size());
    }
    pairs.ms = median(pairs.all_ms);
    pairs.reference_ms = median(pairs.all_reference_ms);
    return pairs;
  }

  static void drop_from_page_cache(const std::filesystem::path& path)
  {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || ::fdatasync(file) != 0 || ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0)
    {
      throw std::runtime_error("cannot drop from the page cache: " + path.string());
    }
    ::close(file);
  }

  void measure_touched(const bat::File& file)
  {
    json ratios;
    for (const double quality : { 0.01, 0.1, 0.5, 1.0 })
    {
      bat::Query query;
      query.quality = quality;
      ratios[fmt::format("q{}", quality)] = this->touched(query).first;
    }
    for (const auto& [name, count] :
      { std::pair<const char*, std::uint64_t>{ "box_1m", 1000000 }, { "box_100k", 100000 } })
    {
      ratios[name] = nullptr;
      if (file.particle_count() >= 2 * count)
      {
        bat::Query query;
        query.box = this->box_with(file, count);
        ratios[name] = this->touched(query).first;
      }
    }
    this->out_["touched_ratio"] = ratios;
  }

  // A cube around a particle, or in the middle of uniform ones, that contains about `count`
  // particles.
  bat::Box box_with(const bat::File& file, std::uint64_t count) const
  {
    return this->box_with(file, count, this->cloud_.count / 2);
  }

  bat::Box box_with(const bat::File& file, std::uint64_t count, std::uint64_t row) const
  {
    const bat::Box all = file.bounds().value();
    std::array<double, 3> centre;
    double maximum = 0;
    for (std::size_t axis = 0; axis != 3; ++axis)
    {
      centre[axis] = this->options_.kind == "uniform" && row == this->cloud_.count / 2
        ? 0.5
        : this->coordinate(row, axis);
      maximum = std::max(maximum, all.upper[axis] - all.lower[axis]);
    }
    double minimum = 0;
    bat::Query query;
    for (int step = 0; step != 40; ++step)
    {
      const double half = (minimum + maximum) / 2;
      query.box.emplace();
      for (std::size_t axis = 0; axis != 3; ++axis)
      {
        query.box->lower[axis] = centre[axis] - half;
        query.box->upper[axis] = centre[axis] + half;
      }
      const std::uint64_t found = file.select(query).count;
      (found < count ? minimum : maximum) = half;
      if (found > count * 0.995 && found < count * 1.005)
      {
        break;
      }
    }
    return *query.box;
  }

  void measure_quality(const bat::File& file)
  {
    double error = 0;
    const auto n = static_cast<double>(file.particle_count());
    for (int i = 0; i <= 1000; ++i)
    {
      bat::Query query;
      query.quality = i / 1000.0;
      const auto count = static_cast<double>(file.select(query).count);
      error = std::max(error, std::abs(count / n - query.quality));
    }
    this->out_["quality_error_max"] = error;
  }

  void measure_boxes(const bat::File& file)
  {
    const std::uint64_t n = file.particle_count();
    json boxes;
    for (const auto& [name, share] : { std::pair<const char*, double>{ "share_0.1_percent", 0.001 },
           { "share_1_percent", 0.01 }, { "share_10_percent", 0.1 } })
    {
      bat::Query query;
      query.box = this->box_with(file, static_cast<std::uint64_t>(share * static_cast<double>(n)));
      bat::Selection selection;
      std::vector<std::uint32_t> rows;
      const Pairs pairs = paired(
        this->options_.repeat, [&] { selection = file.select(query, { this->options_.threads }); },
        [&]
        {
          rows.clear();
          const bat::Box& b = *query.box;
          for (std::uint64_t i = 0; i != n; ++i)
          {
            bool inside = true;
            for (std::size_t axis = 0; axis != 3; ++axis)
            {
              const double x = this->coordinate(i, axis);
              inside &= (x >= b.lower[axis]) & (x <= b.upper[axis]);
            }
            if (inside)
            {
              rows.push_back(static_cast<std::uint32_t>(i));
            }
          }
        });
      this->expect_equal(name, selection.count, rows.size());
      this->add_answer(selection);
      boxes[name] = { { "ms", pairs.ms }, { "rows", selection.count },
        { "scan_ms", pairs.reference_ms }, { "samples", samples(pairs, "scan_ms") },
        { "tested_ratio", static_cast<double>(selection.tested) / static_cast<double>(n) } };
    }
    this->out_["box"] = boxes;
  }

  void expect_equal(const std::string& what, std::uint64_t found, std::uint64_t expected) const
  {
    if (found != expected)
    {
      throw std::runtime_error(
        fmt::format("{}: the query found {} particles, the scan {}", what, found, expected));
    }
  }

  void expect_same(const std::string& what, bool same) const
  {
    if (!same)
    {
      throw std::runtime_error(what + ": other bytes than those that were read");
    }
  }

  void measure_attributes(const bat::File& file)
  {
    json attributes;
    if (this->options_.kind.rfind("npz:", 0) != 0)
    {
      attributes["correlated"] = this->measure_range(file, "temperature");
      attributes["heavy_tailed"] = this->measure_range(file, "density");
      attributes["uncorrelated"] = this->measure_range(file, "noise");
    }
    else
    {
      // For real data it is unknown which attribute is spatially correlated, so it is measured.
      std::optional<json> best;
      std::optional<json> worst;
      for (const auto& column : this->cloud_.columns)
      {
        if (column.components != 1 ||
          (column.type != bat::ScalarType::Float32 && column.type != bat::ScalarType::Float64))
        {
          continue;
        }
        const json figures = this->measure_range(file, column.name);
        attributes["all"][column.name] = figures;
        const double tested = figures["tested_ratio"];
        if (!best || tested < (*best)["tested_ratio"])
        {
          best = figures;
        }
        if (!worst || tested > (*worst)["tested_ratio"])
        {
          worst = figures;
        }
      }
      attributes["correlated"] = best.value_or(json());
      attributes["uncorrelated"] = worst.value_or(json());
    }
    if (!attributes["correlated"].is_null())
    {
      this->measure_mapped_range(attributes["correlated"]);
      this->measure_range_with_index(attributes["uncorrelated"]);
    }
    attributes["ids"] = this->has_ids() ? this->measure_ids(file) : json();
    attributes["list_of_ids"] = this->has_ids() ? this->measure_list_of_ids(file) : json();
    this->out_["attribute"] = attributes;
  }

  template <class F>
  auto with_column(const std::string& name, F&& f) const
  {
    const auto column = std::find_if(this->cloud_.columns.begin(), this->cloud_.columns.end(),
      [&](const auto& c) { return c.name == name; });
    switch (column->type)
    {
      case bat::ScalarType::Int64:
        return f(reinterpret_cast<const std::int64_t*>(column->bytes.data()));
      case bat::ScalarType::UInt64:
        return f(reinterpret_cast<const std::uint64_t*>(column->bytes.data()));
      case bat::ScalarType::UInt32:
        return f(reinterpret_cast<const std::uint32_t*>(column->bytes.data()));
      case bat::ScalarType::Float32:
        return f(reinterpret_cast<const float*>(column->bytes.data()));
      case bat::ScalarType::Float64:
        return f(reinterpret_cast<const double*>(column->bytes.data()));
      default:
        throw std::runtime_error(name + ": type is not measured");
    }
  }

  [[nodiscard]] auto selecting_from(const bat::File& file) const
  {
    return [&file, threads = this->options_.threads](const bat::Query& query)
    { return file.select(query, { threads }); };
  }

  json measure_range(const bat::File& file, const std::string& name)
  {
    return this->measure_range(name, this->selecting_from(file));
  }

  // Ranges that match 1 % of the particles, at seven places of the distribution; figures are means
  // over them.
  template <class Select>
  json measure_range(const std::string& name, const Select& select)
  {
    constexpr double share = 0.01;
    return this->with_column(name,
      [&](const auto* values)
      {
        using T = std::decay_t<decltype(*values)>;
        std::vector<T> sorted(values, values + this->cloud_.count);
        std::sort(sorted.begin(), sorted.end());
        json mean = json::object();
        json places;
        Pairs all;
        all.all_ms.resize(static_cast<std::size_t>(this->options_.repeat));
        all.all_reference_ms.resize(all.all_ms.size());
        const double starts[] = { 0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99 };
        for (const double start : starts)
        {
          const auto at = [&](double q)
          {
            return sorted[std::min(
              sorted.size() - 1, static_cast<std::size_t>(q * static_cast<double>(sorted.size())))];
          };
          const json figures =
            this->compare_range(select, name, values, at(start), at(start + share));
          places[fmt::format("from_{}", start)] = figures;
          for (const char* key : { "ms", "scan_ms", "tested_ratio", "rows" })
          {
            mean[key] = mean.value(key, 0.0) + figures[key].get<double>() / std::size(starts);
          }
          for (std::size_t i = 0; i != all.all_ms.size(); ++i)
          {
            const json& of_place = figures["samples"];
            all.all_ms[i] += of_place["ms"][i].get<double>() / std::size(starts);
            all.all_reference_ms[i] += of_place["scan_ms"][i].get<double>() / std::size(starts);
          }
        }
        mean["attribute"] = name;
        mean["places"] = places;
        mean["samples"] = samples(all, "scan_ms");
        return mean;
      });
  }

  template <class Select, class T>
  json compare_range(
    const Select& select, const std::string& name, const T* values, T lower, T upper)
  {
    bat::Query query;
    query.ranges = { { name, {}, number(lower), number(upper) } };
    std::vector<std::uint32_t> rows;
    const std::uint64_t n = this->cloud_.count;
    bat::Selection selection = select(query); // the first query reads the index
    const Pairs pairs = paired(
      this->options_.repeat, [&] { selection = select(query); },
      [&]
      {
        rows.clear();
        for (std::uint64_t i = 0; i != n; ++i)
        {
          if (values[i] >= lower && values[i] <= upper)
          {
            rows.push_back(static_cast<std::uint32_t>(i));
          }
        }
      });
    this->expect_equal("range on " + name, selection.count, rows.size());
    this->add_answer(selection);
    return { { "attribute", name }, { "ms", pairs.ms }, { "scan_ms", pairs.reference_ms },
      { "rows", selection.count }, { "samples", samples(pairs, "scan_ms") },
      { "tested_ratio", static_cast<double>(selection.tested) / static_cast<double>(n) } };
  }

  // A range that contains 101 ids.
  json measure_ids(const bat::File& file)
  {
    return this->with_column("id",
      [&](const auto* values)
      {
        using T = std::decay_t<decltype(*values)>;
        std::vector<T> sorted(values, values + this->cloud_.count);
        const std::size_t middle = sorted.size() / 2;
        const std::size_t end = std::min(sorted.size() - 1, middle + 100);
        std::sort(sorted.begin(), sorted.end());
        return this->compare_range(
          this->selecting_from(file), "id", values, sorted[middle], sorted[end]);
      });
  }

  // The particles with a sorted index of an attribute.
  bat::File file_with_index(const std::string& name, bat::WriteReport& report) const
  {
    bat::BuildOptions build;
    build.threads = this->options_.threads;
    build.sorted_indexes = { name };
    const std::filesystem::path path = this->path_.string() + ".indexed.bat";
    report = bat::write_file(path, this->view_, build);
    bat::File file = bat::File::open(path);
    std::filesystem::remove(path);
    return file;
  }

  // Adds to the results of measure_range() the time for a mapped file, both when an earlier query
  // has checked its pages and when it is opened for the query.
  void measure_mapped_range(json& figures)
  {
    bat::OpenOptions mapping;
    mapping.map = true;
    const std::string name = figures["attribute"];
    const std::uint64_t before = this->checksum_;
    const json again = this->measure_range(bat::File::open(this->path_, mapping), name);
    const std::uint64_t answers = std::exchange(this->checksum_, before);
    const json anew = this->measure_range(name,
      [&](const bat::Query& query)
      { return bat::File::open(this->path_, mapping).select(query, { this->options_.threads }); });
    this->expect_same(
      "ranges of the mapped file", answers == std::exchange(this->checksum_, before));
    for (const auto& [key, of] : { std::pair<const char*, const json&>{ "mapped_again_ms", again },
           { "mapped_anew_ms", anew } })
    {
      figures[key] = of["ms"];
      figures["samples"][key] = of["samples"]["ms"];
    }
  }

  // Adds to the results of measure_range() the time with a sorted index.
  void measure_range_with_index(json& figures)
  {
    bat::WriteReport report;
    const std::string name = figures["attribute"];
    const json indexed = this->measure_range(this->file_with_index(name, report), name);
    figures["sorted_index_ms"] = indexed["ms"];
    figures["sorted_index_tested_ratio"] = indexed["tested_ratio"];
    figures["samples"]["sorted_index_ms"] = indexed["samples"]["ms"];
  }

  // 101 ids from everywhere, and a tenth of a per cent of all ids, without and with a sorted index.
  // The scan looks up each value in a sorted list.
  json measure_list_of_ids(const bat::File& file)
  {
    bat::WriteReport report;
    const bat::File indexed = this->file_with_index("id", report);
    json figures;
    figures["build_ms"] = 1000 * (report.seconds_build + report.seconds_encode);
    figures["index_ratio"] = static_cast<double>(report.sorted_index_bytes) / this->data_bytes_;
    const std::uint64_t n = this->cloud_.count;
    for (const auto& [name, count] : { std::pair<const char*, std::uint64_t>{ "of_101", 101 },
           { "of_0.1_percent", std::max<std::uint64_t>(101, n / 1000) } })
    {
      const std::uint64_t listed = std::min(count, n);
      figures[name] = this->with_column("id",
        [&](const auto* values) { return this->compare_list(file, indexed, values, listed); });
    }
    return figures;
  }

  template <class T>
  json compare_list(
    const bat::File& file, const bat::File& indexed, const T* values, std::uint64_t count)
  {
    std::vector<T> reference;
    bat::Query query;
    query.values = { { "id", {}, {} } };
    for (std::uint64_t i = 0; i != count; ++i)
    {
      reference.push_back(values[i * (this->cloud_.count / count)]);
      query.values[0].values.push_back(number(reference.back()));
    }
    std::sort(reference.begin(), reference.end());
    std::vector<std::uint32_t> rows;
    bat::Selection selection;
    bat::Selection looked_up;
    const auto select = [&](const bat::File& from)
    { return from.select(query, { this->options_.threads }); };
    const Pairs pairs = paired(
      this->options_.repeat, [&] { selection = select(file); },
      [&]
      {
        rows.clear();
        for (std::uint64_t i = 0; i != this->cloud_.count; ++i)
        {
          if (std::binary_search(reference.begin(), reference.end(), values[i]))
          {
            rows.push_back(static_cast<std::uint32_t>(i));
          }
        }
      });
    std::vector<double> indexed_ms;
    for (int i = 0; i != this->options_.repeat; ++i)
    {
      indexed_ms.push_back(time_ms([&] { looked_up = select(indexed); }));
    }
    this->expect_equal("list of ids", selection.count, rows.size());
    this->expect_equal("list of ids with a sorted index", looked_up.count, rows.size());
    const double n = static_cast<double>(this->cloud_.count);
    json all = samples(pairs, "scan_ms");
    all["sorted_index_ms"] = indexed_ms;
    return { { "ms", pairs.ms }, { "scan_ms", pairs.reference_ms },
      { "sorted_index_ms", median(indexed_ms) }, { "samples", all }, { "rows", selection.count },
      { "tested_ratio", static_cast<double>(selection.tested) / n },
      { "sorted_index_tested_ratio", static_cast<double>(looked_up.tested) / n } };
  }

  Options options_;
  std::filesystem::path path_;
  clouds::Cloud cloud_;
  bat::ParticleView view_;
  double data_bytes_ = 0;
  std::uint64_t checksum_ = 0;
  json out_;
};
}

int main(int argc, char** argv)
{
  Options options;
  CLI::App app("Measures building, reading and querying .bat files.", "bat_bench");
  app.add_option("--particles", options.particles, "number of particles (not for npz:)");
  app.add_option("--kind", options.kind, "uniform, clustered, duplicates or npz:FILE");
  app.add_option("--seed", options.seed, "seed of the generator");
  app.add_option("--threads", options.threads, "threads for building and queries")
    ->check(CLI::Range(1, 1024));
  app.add_option("--repeat", options.repeat, "paired runs behind each median")
    ->check(CLI::Range(1, 1000));
  app.add_option("--folder", options.folder, "where the measured file is written");
  auto* only_open = app.add_flag(
    "--only-open", options.only_open, "write the file and measure opening it, no more");
  auto* only_build = app
                       .add_flag("--only-build", options.only_build,
                         "measure the build in memory and its reference, no more")
                       ->excludes(only_open);
  app
    .add_option("--dump", options.dump,
      "write the particles to this folder, one .npy file per array, and measure nothing")
    ->excludes(only_open)
    ->excludes(only_build);
  app.add_flag_callback(
    "--processor-time", [] { measured_clock = CLOCK_PROCESS_CPUTIME_ID; },
    "count the time that threads run, to which other programs add little, not the time that "
    "passes");
  app.add_flag("--map", options.map, "queries look at a mapped file");
  const std::map<std::string, bat::Compression> methods = {
    { "lossless", bat::Compression::Lossless }, { "bounded", bat::Compression::Bounded }
  };
  app
    .add_option("--compression", options.build.compression,
      "lossless or bounded: measure such a file beside one without compression, no more")
    ->transform(CLI::Transformer(methods))
    ->excludes(only_open)
    ->excludes(only_build);
  app.add_option(
    "--error-bounds", options.build.error_bounds, "of bounded, such as positions=0.01%");
  app.add_option("--chunk-particles", options.build.chunk_particles, "0 chooses");
  app.add_option("--json", options.output, "write the figures to this file (default: print them)");
  CLI11_PARSE(app, argc, argv);
  // Otherwise the allocator keeps freed blocks of up to 32 MiB, which would count as memory needed
  // for small data sets.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  try
  {
    const tbb::global_control control(
      tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(options.threads));
    const std::string text = Bench(options).run().dump(2);
    if (options.output.empty())
    {
      fmt::print("{}\n", text);
    }
    else
    {
      std::ofstream file(options.output);
      file << text << "\n";
      if (!file.flush())
      {
        throw std::runtime_error("cannot write " + options.output);
      }
    }
    return 0;
  }
  catch (const std::exception& e)
  {
    fmt::print(stderr, "bat_bench: {}\n", e.what());
    return 1;
  }
}
