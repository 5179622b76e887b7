// SPDX-License-Identifier: BSD-3-Clause
// Implements following particles through time.

#include "bat/follow.hpp"
#include "bat/series.hpp"
#include "bat/tracks.hpp"

#include "capi/handles.hpp"
#include "capi/status.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct bat_follow
{
  std::vector<bat::SeriesStep> steps;
  bat::FollowRequest request;
  bat::FollowOptions options;
  std::string refused; ///< the first thing that was; "" if nothing
};

struct bat_trails
{
  bat::Trails trails;
  std::vector<std::string> paths; ///< paths of the steps, as text
};

struct bat_tracks
{
  bat::Tracks tracks;
  std::vector<std::uint64_t> ids; ///< bits
  std::vector<std::uint64_t> second;
  std::vector<std::int64_t> steps;
  std::vector<double> times;
  std::vector<std::uint64_t> particles;
};

namespace bat::capi
{
namespace
{
// Works as guard() does. Nothing is followed if an argument was refused.
template <class F>
int guard_request(bat_follow* follow, F&& f) noexcept
{
  const int status = guard([&] { f(need(follow, "follow")); });
  if (status != BAT_OK && follow && follow->refused.empty())
  {
    (void)guard([&] { follow->refused = last_error(); });
  }
  return status;
}

std::vector<bat::Number> parse_ids(int type, const void* values, std::uint64_t count)
{
  const bat::ScalarType scalar = type_of(type);
  if (need_size(count, "the id count") != 0)
  {
    need(static_cast<const std::byte*>(values), "id array");
  }
  return numbers_of(scalar, values, static_cast<std::size_t>(count));
}

const bat::Trails& trails_of(const bat_trails* trails)
{
  return need(trails, "trails").trails;
}

// Returns element `index` of `all`; `what` names the elements in messages.
template <class T>
const T& one_of(const std::vector<T>& all, std::uint64_t index, const char* what)
{
  if (need_size(index, std::string("the number of the ") + what) >= all.size())
  {
    refuse(fmt::format(
      "{} number {} is out of range; allowed are numbers below {}", what, index, all.size()));
  }
  return all[static_cast<std::size_t>(index)];
}

template <class T>
void give(T* out, const T& value)
{
  if (out)
  {
    *out = value;
  }
}

// Returns the bits of values of 8 bytes.
std::vector<std::uint64_t> bits_of(const std::vector<bat::Number>& numbers)
{
  std::vector<std::uint64_t> all;
  for (const bat::Number& number : numbers)
  {
    all.push_back(std::visit(
      [](auto value)
      {
        std::uint64_t bits;
        static_assert(sizeof(value) == sizeof(bits));
        std::memcpy(&bits, &value, sizeof(bits));
        return bits;
      },
      number));
  }
  return all;
}

// Returns BAT_INT64, BAT_UINT64 or BAT_FLOAT64 according to the numbers; `type` if there are none.
int class_type(const std::vector<bat::Number>& numbers)
{
  return numbers.empty()                                     ? static_cast<int>(BAT_INT64)
    : std::holds_alternative<std::int64_t>(numbers.front())  ? static_cast<int>(BAT_INT64)
    : std::holds_alternative<std::uint64_t>(numbers.front()) ? static_cast<int>(BAT_UINT64)
                                                             : static_cast<int>(BAT_FLOAT64);
}

template <class T>
void give(int* has, T* out, const std::optional<T>& value)
{
  give(has, value ? 1 : 0);
  give(out, value.value_or(T{}));
}
}
}

using namespace bat::capi;

int bat_follow_create(bat_follow** out)
{
  return guard(
    [&]
    {
      need(out, "result pointer") = nullptr;
      *out = new bat_follow;
    });
}

void bat_follow_free(bat_follow* follow)
{
  delete follow;
}

int bat_series_steps(const char* path, const char** json)
{
  return guard(
    [&]
    {
      static thread_local std::string text;
      text = bat::to_json(bat::read_series(need_text(path, "path")));
      need(json, "result pointer") = text.c_str();
    });
}

int bat_follow_add_steps(bat_follow* follow, const char* path)
{
  return guard_request(follow,
    [&](bat_follow& own)
    {
      std::vector<bat::SeriesStep> steps = bat::read_series(need_text(path, "path"));
      std::move(steps.begin(), steps.end(), std::back_inserter(own.steps));
    });
}

int bat_follow_add_step(bat_follow* follow, const char* path, double time)
{
  return guard_request(follow,
    [&](bat_follow& own)
    {
      if (!std::isfinite(time))
      {
        refuse(fmt::format("the time of a step is {}; times must be finite", time));
      }
      own.steps.push_back({ need_text(path, "path"), time });
    });
}

int bat_follow_set_ids(
  bat_follow* follow, const char* attribute, int type, const void* values, uint64_t count)
{
  return guard_request(follow,
    [&](bat_follow& own)
    {
      own.request.ids = parse_ids(type, values, count);
      own.request.id_attribute = attribute ? attribute : "";
    });
}

int bat_follow_set_second(
  bat_follow* follow, const char* attribute, int type, const void* values, uint64_t count)
{
  return guard_request(follow,
    [&](bat_follow& own)
    {
      own.request.second = parse_ids(type, values, count);
      own.request.second_attribute = attribute ? attribute : "";
    });
}

int bat_follow_set_attributes(bat_follow* follow, uint64_t count, const char* const* names)
{
  return guard_request(
    follow, [&](bat_follow& own) { own.request.attributes = names_of(count, names); });
}

int bat_follow_set_periodic(bat_follow* follow, const double* box)
{
  return guard_request(follow,
    [&](bat_follow& own)
    {
      own.request.unwrap_by_files = !box;
      own.request.periodic_box = box ? std::optional(box_of(box)) : std::nullopt;
    });
}

int bat_follow_set_leave_out_damaged(bat_follow* follow, int leave_out)
{
  return guard_request(follow,
    [&](bat_follow& own)
    { own.options.leave_out_damaged = need_at_most(leave_out, 1, "leave_out") != 0; });
}

int bat_follow_set_map(bat_follow* follow, int map)
{
  return guard_request(
    follow, [&](bat_follow& own) { own.options.map = need_at_most(map, 1, "map") != 0; });
}

int bat_follow_set_threads(bat_follow* follow, int64_t threads)
{
  return guard_request(follow, [&](bat_follow& own) { own.options.threads = threads_of(threads); });
}

int bat_follow_set_progress(bat_follow* follow, bat_progress progress, void* data)
{
  return guard_request(follow,
    [&](bat_follow& own)
    {
      own.options.progress = nullptr;
      if (progress)
      {
        own.options.progress = [progress, data](double done) { return progress(data, done) == 0; };
      }
    });
}

int bat_follow_run(const bat_follow* follow, bat_trails** out)
{
  return guard(
    [&]
    {
      need(out, "result pointer") = nullptr;
      const bat_follow& own = need(follow, "follow");
      if (!own.refused.empty())
      {
        refuse(own.refused);
      }
      auto result = std::make_unique<bat_trails>();
      result->trails = bat::follow(own.steps, own.request, own.options);
      for (const bat::TrailStep& step : result->trails.steps)
      {
        result->paths.push_back(step.path.string());
      }
      *out = result.release();
    });
}

void bat_trails_free(bat_trails* trails)
{
  delete trails;
}

int bat_trails_size(const bat_trails* trails, uint64_t* steps, uint64_t* ids, uint64_t* attributes,
  uint64_t* problems)
{
  return guard(
    [&]
    {
      const bat::Trails& own = trails_of(trails);
      give(steps, std::uint64_t{ own.steps.size() });
      give(ids, std::uint64_t{ own.ids });
      give(attributes, std::uint64_t{ own.attributes.size() });
      give(problems, std::uint64_t{ own.problems.size() });
    });
}

int bat_trails_step(const bat_trails* trails, uint64_t step, const char** path, int* has_time,
  double* time, int* has_number, int64_t* number)
{
  return guard(
    [&]
    {
      const bat::TrailStep& own = one_of(trails_of(trails).steps, step, "step");
      give(path, need(trails, "trails").paths[static_cast<std::size_t>(step)].c_str());
      give(has_time, time, own.time);
      give(has_number, number, own.step);
    });
}

int bat_trails_counts(const bat_trails* trails, const uint32_t** counts)
{
  return guard([&] { need(counts, "result pointer") = trails_of(trails).counts.data(); });
}

int bat_trails_values(const bat_trails* trails, int64_t index, const char** name, int* type,
  int* components, const void** values, const uint8_t** in_step)
{
  return guard(
    [&]
    {
      const bat::Trails& own = trails_of(trails);
      const bat::TrailColumn& column = index == BAT_POSITIONS
        ? own.positions
        : one_of(own.attributes, static_cast<std::uint64_t>(index), "attribute");
      give(name, column.name.c_str());
      give(type, static_cast<int>(column.type));
      give(components, column.components);
      give(values, static_cast<const void*>(column.values.data()));
      give(in_step, column.in_step.data());
    });
}

int bat_trails_problem(
  const bat_trails* trails, uint64_t index, uint64_t* step, int* status, const char** text)
{
  return guard(
    [&]
    {
      const bat::TrailProblem& own = one_of(trails_of(trails).problems, index, "problem");
      give(step, std::uint64_t{ own.step });
      give(status, status_of(own.code));
      give(text, own.text.c_str());
    });
}

int bat_trails_advice(const bat_trails* trails, const char** text)
{
  return guard([&] { need(text, "result pointer") = trails_of(trails).advice.c_str(); });
}

int bat_tracks_open(const char* path, bat_tracks** out)
{
  return guard(
    [&]
    {
      need(out, "result pointer") = nullptr;
      auto result = std::make_unique<bat_tracks>();
      result->tracks = bat::Tracks::open(need_text(path, "path"));
      result->ids = bits_of(result->tracks.ids);
      result->second = bits_of(result->tracks.second);
      for (const bat::Tracks::Sample& sample : result->tracks.samples)
      {
        result->steps.push_back(sample.step);
        result->times.push_back(sample.time.value_or(std::numeric_limits<double>::quiet_NaN()));
        result->particles.push_back(sample.particles);
      }
      *out = result.release();
    });
}

void bat_tracks_free(bat_tracks* tracks)
{
  delete tracks;
}

int bat_tracks_ids(const bat_tracks* tracks, uint64_t* count, const char** attribute, int* type,
  const void** ids, const char** second_attribute, int* second_type, const void** second)
{
  return guard(
    [&]
    {
      const bat_tracks& own = need(tracks, "tracks");
      give(count, std::uint64_t{ own.ids.size() });
      give(attribute, own.tracks.schema.id_attribute.c_str());
      give(type, class_type(own.tracks.ids));
      give(ids, static_cast<const void*>(own.ids.data()));
      give(second_attribute, own.tracks.schema.second_attribute.c_str());
      give(second_type, class_type(own.tracks.second));
      give(second, own.second.empty() ? nullptr : static_cast<const void*>(own.second.data()));
    });
}

int bat_tracks_samples(const bat_tracks* tracks, uint64_t* count, const int64_t** steps,
  const double** times, const uint64_t** particles)
{
  return guard(
    [&]
    {
      const bat_tracks& own = need(tracks, "tracks");
      give(count, std::uint64_t{ own.steps.size() });
      give(steps, own.steps.data());
      give(times, own.times.data());
      give(particles, own.particles.data());
    });
}

int bat_tracks_attribute_count(const bat_tracks* tracks, int* position_type, uint64_t* attributes)
{
  return guard(
    [&]
    {
      const bat::TrackSchema& schema = need(tracks, "tracks").tracks.schema;
      give(position_type, static_cast<int>(schema.position_type));
      give(attributes, std::uint64_t{ schema.attributes.size() });
    });
}

int bat_tracks_attribute(
  const bat_tracks* tracks, uint64_t index, const char** name, int* type, int* components)
{
  return guard(
    [&]
    {
      const bat::Attribute& own =
        one_of(need(tracks, "tracks").tracks.schema.attributes, index, "attribute");
      give(name, own.name.c_str());
      give(type, static_cast<int>(own.type));
      give(components, own.components);
    });
}

int bat_tracks_size(
  const bat_tracks* tracks, uint64_t* blocks, uint64_t* file_bytes, uint64_t* unfinished_bytes)
{
  return guard(
    [&]
    {
      const bat::Tracks& own = need(tracks, "tracks").tracks;
      give(blocks, own.blocks);
      give(file_bytes, own.file_bytes);
      give(unfinished_bytes, own.unfinished_bytes);
    });
}

int bat_tracks_validate(const char* path)
{
  return guard([&] { bat::validate_tracks(need_text(path, "path")); });
}
