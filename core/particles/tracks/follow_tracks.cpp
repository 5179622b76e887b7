// SPDX-License-Identifier: BSD-3-Clause
// Presents the samples of a tracks file as steps of follow(), like datasets.

#include "common/fail.hpp"
#include "particles/dataset/dataset_impl.hpp"
#include "particles/tracks/follow_steps.hpp"
#include "particles/tracks/tracks_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace bat
{
// Writes `count` values that mark unknown ones.
void fill_absent(ScalarType type, std::byte* out, std::size_t count)
{
  dispatch(type,
    [&](auto example)
    {
      using T = decltype(example);
      const T absent = std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN() : T{};
      for (std::size_t i = 0; i != count; ++i)
      {
        std::memcpy(out + i * sizeof(T), &absent, sizeof(T));
      }
    });
}

namespace
{
/// Histories this close together are read with one call.
constexpr std::uint64_t kMaxGapBytes = 1 << 16;

/// The source of a step's column.
struct Source
{
  enum Kind
  {
    Values,
    Id,
    Second
  };
  Kind kind = Values;
  std::size_t begin = 0; ///< beginning in a row of values
  std::size_t bytes = 0; ///< size of a value
};

/// A requested history.
struct RequestedHistory
{
  std::size_t id = 0;              ///< its number in the block
  std::vector<std::size_t> places; ///< places in the request
};

/// The same history, read.
struct History
{
  const RequestedHistory* requested = nullptr;
  std::vector<std::uint32_t> samples; ///< samples of its rows
  const std::byte* values = nullptr;  ///< its columns
};

// Returns the value encoded by `bits` in the value class of `type`.
void put_id(std::uint64_t bits, ScalarType type, std::byte* out)
{
  dispatch(type,
    [&](auto value)
    {
      value = static_cast<decltype(value)>(from_bits<ClassOf<decltype(value)>>(bits));
      std::memcpy(out, &value, sizeof(value));
    });
}

/// Reads one block.
class BlockReader
{
public:
  BlockReader(const io::RandomAccessFile& file, const format::BlockStart& start,
    const FollowRequest& request, const RequestedIds& requested)
    : file_(file)
    , block_(format::read_block(file, start))
    , request_(request)
    , requested_(requested)
    , bytes_read_(sizeof(start) + start.head_bytes)
  {
  }

  /// Returns the samples, still without particles.
  [[nodiscard]] std::vector<StepResult> samples()
  {
    const TrackSchema& schema = this->block_.schema;
    if (!this->block_.ids.empty())
    {
      this->check_ids();
      this->find_columns();
    }
    std::vector<StepResult> results;
    std::shared_ptr<const std::string> metadata; // source of `cell`
    std::optional<PeriodicCell> cell;
    for (const format::BlockSample& sample : this->block_.samples)
    {
      StepResult result;
      result.from_tracks = true;
      result.step.path = this->file_.name();
      result.step.time = sample.time;
      result.step.step = sample.step;
      result.counts.resize(this->request_.ids.size());
      if (this->request_.unwrap_by_files)
      {
        if (sample.metadata != metadata)
        {
          metadata = sample.metadata;
          cell = named_cell(*metadata, this->file_.name());
        }
        result.cell = cell;
        if (!result.cell && sample.rows != 0)
        {
          refuse(fmt::format("{}: the metadata of step {} does not define a periodic box",
            this->file_.name(), sample.step));
        }
      }
      if (sample.rows != 0)
      {
        result.columns = this->columns_;
        result.names.push_back(schema.id_attribute);
        for (const Attribute& attribute : schema.attributes)
        {
          result.names.push_back(attribute.name);
        }
      }
      results.push_back(std::move(result));
    }
    return results;
  }

  void fill(std::vector<StepResult>& results)
  {
    const std::vector<RequestedHistory> histories = this->find_histories();
    for (std::size_t first = 0; first != histories.size();)
    {
      const std::uint64_t begin = history_of(this->block_, histories[first].id).first;
      std::uint64_t end = begin;
      std::size_t last = first;
      for (; last != histories.size(); ++last)
      {
        const auto [from, to] = history_of(this->block_, histories[last].id);
        if (from > end + kMaxGapBytes)
        {
          break;
        }
        end = to;
      }
      const std::vector<std::byte> bytes =
        format::read_payload(this->file_, this->block_, begin, end);
      this->bytes_read_ += bytes.size();
      std::vector<History> run;
      for (; first != last; ++first)
      {
        const std::uint64_t from = history_of(this->block_, histories[first].id).first;
        run.push_back(this->open_history(histories[first], bytes.data() + (from - begin)));
      }
      this->put_histories(run, results);
    }
  }

  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return this->bytes_read_; }

private:
  void check_ids() const
  {
    const TrackSchema& schema = this->block_.schema;
    const auto check = [&](const std::string& requested, const std::string& there)
    {
      if (!requested.empty() && requested != there)
      {
        refuse(fmt::format("{}: its ids are {}; '{}' was requested", this->file_.name(),
          format::ids_text(schema), requested));
      }
    };
    check(this->request_.id_attribute, schema.id_attribute);
    check(this->request_.second_attribute, schema.second_attribute);
    if (!this->request_.second.empty() && schema.second_attribute.empty())
    {
      refuse(fmt::format(
        "{}: its ids are {}; pairs were requested", this->file_.name(), format::ids_text(schema)));
    }
  }

  void find_columns()
  {
    const TrackSchema& schema = this->block_.schema;
    this->add_column("positions", schema.position_type, 3, { Source::Values, 0, 0 });
    const auto& names = this->request_.attributes;
    const auto is_named = [&](const std::string& name)
    { return names && std::find(names->begin(), names->end(), name) != names->end(); };
    if (is_named(schema.id_attribute))
    {
      this->add_column(schema.id_attribute, schema.id_type, 1, { Source::Id, 0, 0 });
    }
    if (!schema.second_attribute.empty() &&
      (is_named(schema.second_attribute) || (!names && this->request_.second.empty())))
    {
      this->add_column(schema.second_attribute, schema.second_type, 1, { Source::Second, 0, 0 });
    }
    std::size_t begin = tuple_bytes(schema.position_type, 3);
    for (const Attribute& attribute : schema.attributes)
    {
      if (!names || is_named(attribute.name))
      {
        this->add_column(
          attribute.name, attribute.type, attribute.components, { Source::Values, begin, 0 });
      }
      begin += tuple_bytes(attribute.type, attribute.components);
    }
  }

  void add_column(const std::string& name, ScalarType type, int components, Source source)
  {
    const std::size_t ids = this->request_.ids.size();
    StepColumn column{ name, type, components, {} };
    column.values.resize(ids * tuple_bytes(type, components));
    fill_absent(type, column.values.data(), ids * static_cast<std::size_t>(components));
    this->columns_.push_back(std::move(column));
    source.bytes = tuple_bytes(type, components);
    this->sources_.push_back(source);
  }

  [[nodiscard]] std::vector<RequestedHistory> find_histories() const
  {
    const TrackSchema& schema = this->block_.schema;
    std::vector<RequestedHistory> histories;
    dispatch(value_class(schema.id_type),
      [&](auto example)
      {
        using V = decltype(example);
        for (std::size_t i = 0; i != this->block_.ids.size(); ++i)
        {
          RequestedHistory history;
          this->requested_.for_each(from_bits<V>(this->block_.ids[i]),
            [&](std::size_t place)
            {
              if (this->is_second(i, place))
              {
                history.places.push_back(place);
              }
            });
          if (!history.places.empty())
          {
            history.id = i;
            histories.push_back(std::move(history));
          }
        }
      });
    return histories;
  }

  [[nodiscard]] bool is_second(std::size_t i, std::size_t place) const
  {
    return this->request_.second.empty() ||
      compare(
        number_from_bits(this->block_.second[i], value_class(this->block_.schema.second_type)),
        this->request_.second[place]) == 0;
  }

  [[nodiscard]] History open_history(
    const RequestedHistory& requested, const std::byte* bytes) const
  {
    History history{ &requested, format::samples_of(this->file_, this->block_, requested.id, bytes),
      nullptr };
    history.values = bytes + history.samples.size() * sizeof(std::uint32_t);
    for (const std::uint32_t sample : history.samples)
    {
      if (this->block_.samples[sample].rows == 0)
      {
        format::corrupt(this->file_,
          fmt::format("step {} has rows, but its block says 0", this->block_.samples[sample].step));
      }
    }
    return history;
  }

  // Works tile by tile, because a history goes to as many places as it has samples.
  void put_histories(const std::vector<History>& run, std::vector<StepResult>& results) const
  {
    constexpr std::size_t kSamples = 64;
    constexpr std::size_t kHistories = 64;
    const std::size_t tiles = (results.size() + kSamples - 1) / kSamples;
    tbb::parallel_for(std::size_t{ 0 }, tiles,
      [&](std::size_t tile)
      {
        const std::size_t first = tile * kSamples;
        const std::size_t end = std::min(first + kSamples, results.size());
        for (std::size_t begin = 0; begin < run.size(); begin += kHistories)
        {
          const std::size_t stop = std::min(begin + kHistories, run.size());
          for (std::size_t h = begin; h != stop; ++h)
          {
            const std::vector<std::uint32_t>& samples = run[h].samples;
            auto at = std::lower_bound(samples.begin(), samples.end(), first);
            for (; at != samples.end() && *at < end; ++at)
            {
              this->put_row(run[h], static_cast<std::size_t>(at - samples.begin()), results[*at]);
            }
          }
        }
      });
  }

  void put_row(const History& history, std::size_t row, StepResult& result) const
  {
    const std::size_t rows = history.samples.size();
    for (const std::size_t place : history.requested->places)
    {
      if (result.counts[place]++ != 0)
      {
        continue; // the first particle's values stay
      }
      for (std::size_t c = 0; c != this->sources_.size(); ++c)
      {
        const Source& source = this->sources_[c];
        StepColumn& column = result.columns[c];
        std::byte* const out = &column.values[place * source.bytes];
        switch (source.kind)
        {
          case Source::Values:
            std::memcpy(
              out, history.values + source.begin * rows + row * source.bytes, source.bytes);
            break;
          case Source::Id:
            put_id(this->block_.ids[history.requested->id], column.type, out);
            break;
          case Source::Second:
            put_id(this->block_.second[history.requested->id], column.type, out);
            break;
        }
      }
    }
  }

  const io::RandomAccessFile& file_;
  format::TrackBlock block_;
  const FollowRequest& request_;
  const RequestedIds& requested_;
  std::uint64_t bytes_read_;
  std::vector<StepColumn> columns_; ///< columns of a sample with particles
  std::vector<Source> sources_;     ///< their sources
};
}

struct TracksReader::Impl
{
  Impl(const std::filesystem::path& path, const FollowRequest& request_,
    const RequestedIds& requested_, const FollowOptions& options_)
    : file(path, options_.map ? io::Access::Map : io::Access::Read)
    , request(request_)
    , requested(requested_)
    , options(options_)
  {
  }

  // Stands for samples that cannot be read.
  [[nodiscard]] std::vector<StepResult> left_out(const Error& error) const
  {
    StepResult result;
    result.step.path = this->file.name();
    result.from_tracks = true;
    result.counts.resize(this->request.ids.size());
    result.problems.push_back({ 0, error.code(), error.what() });
    std::vector<StepResult> results;
    results.push_back(std::move(result));
    return results;
  }

  io::RandomAccessFile file;
  format::TrackBlocks blocks;
  std::optional<Error> damage; ///< damage after the blocks
  const FollowRequest& request;
  const RequestedIds& requested;
  const FollowOptions& options;
};

TracksReader::TracksReader(const SeriesStep& listed, const FollowRequest& request,
  const RequestedIds& requested, const FollowOptions& options)
  : impl_(std::make_unique<Impl>(listed.path, request, requested, options))
{
  this->impl_->damage =
    attempt([&] { format::find_blocks(this->impl_->file, this->impl_->blocks); });
  if (this->impl_->damage && this->impl_->blocks.starts.empty())
  {
    throw Error(*this->impl_->damage);
  }
}

TracksReader::TracksReader(TracksReader&&) noexcept = default;
TracksReader& TracksReader::operator=(TracksReader&&) noexcept = default;
TracksReader::~TracksReader() = default;

std::size_t TracksReader::blocks() const noexcept
{
  return this->impl_->blocks.starts.size() + (this->impl_->damage ? 1 : 0);
}

std::vector<StepResult> TracksReader::read(std::size_t block) const
{
  const Impl& impl = *this->impl_;
  const auto may_leave_out = [&](const std::optional<Error>& error)
  {
    if (error && (!impl.options.leave_out_damaged || !Dataset::Impl::is_damage(error->code())))
    {
      throw Error(*error);
    }
    return error.has_value();
  };
  if (block == impl.blocks.starts.size() && may_leave_out(impl.damage))
  {
    return impl.left_out(*impl.damage);
  }
  std::optional<BlockReader> reader;
  std::vector<StepResult> results;
  const std::optional<Error> of_head = attempt(
    [&]
    {
      reader.emplace(impl.file, impl.blocks.starts[block], impl.request, impl.requested);
      results = reader->samples();
    });
  if (may_leave_out(of_head))
  {
    return impl.left_out(*of_head);
  }
  const std::optional<Error> of_values = attempt([&] { reader->fill(results); });
  if (may_leave_out(of_values))
  {
    for (StepResult& result : results)
    {
      result.columns.clear();
      std::fill(result.counts.begin(), result.counts.end(), 0);
      result.problems.push_back({ 0, of_values->code(), of_values->what() });
    }
  }
  results.front().bytes_read = reader->bytes_read();
  return results;
}

void TracksReader::leave_out_replaced(std::vector<StepResult>& samples)
{
  std::optional<std::int64_t> limit;
  std::vector<StepResult> kept;
  for (auto sample = samples.rbegin(); sample != samples.rend(); ++sample)
  {
    const std::optional<std::int64_t> step = sample->step.step;
    if (!step || !limit || *step < *limit)
    {
      kept.push_back(std::move(*sample));
    }
    limit = step && (!limit || *step < *limit) ? step : limit;
  }
  std::reverse(kept.begin(), kept.end());
  samples = std::move(kept);
}
}
