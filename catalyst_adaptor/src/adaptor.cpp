#include "adaptor.hpp"

#include "bat/catalyst_bat.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace bat::catalyst
{
namespace
{
using json = nlohmann::json;

constexpr const char* kConfigVariable = "CATALYST_BAT_CONFIG";

// The simulation's state, unless this rank has none.
std::optional<Step> read_step(const Node& root)
{
  const auto timestep = root.find("state/timestep");
  const auto number = timestep ? timestep : root.find("state/cycle");
  if (!number || number->is_empty())
  {
    return std::nullopt;
  }
  const auto numbers = number->numbers();
  const double value = numbers && numbers->count == 1 ? float64_at(*numbers, 0) : 0.5;
  if (value != std::floor(value) || std::abs(value) > 0x1p62)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "{} is of type {}; one whole number is allowed", number->path(), number->type_name()));
  }
  Step step;
  step.number =
    is_integer(numbers->type) ? int64_at(*numbers, 0) : static_cast<std::int64_t>(value);
  step.time = static_cast<double>(step.number);
  if (const auto time = root.find("state/time"); time && !time->is_empty())
  {
    const auto seconds = time->numbers();
    step.time = seconds && seconds->count == 1 ? float64_at(*seconds, 0)
                                               : std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(step.time))
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{} is of type {}; one finite number is allowed", time->path(),
          seconds && seconds->count == 1 ? fmt::format("{} with {}", time->type_name(), step.time)
                                         : time->type_name()));
    }
  }
  return step;
}

// For messages: also where the step is what is wrong.
std::string name_of_step(const std::optional<Node>& root, std::uint64_t call)
{
  try
  {
    if (const auto step = root ? read_step(*root) : std::nullopt)
    {
      return fmt::format("step {}", step->number);
    }
  }
  catch (const Error&)
  {
  }
  return fmt::format("call {} of catalyst_execute", call + 1);
}

json options_of(const Node& root)
{
  try
  {
    const auto node = root.find("bat");
    return node && !node->is_empty() ? to_json(*node) : json::object();
  }
  catch (...)
  {
    throw current_failure(CATALYST_BAT_BAD_OPTIONS);
  }
}

// If the options cannot be understood as a whole, this one may still be.
bool asks_to_stop(const json& options)
{
  const auto found = options.is_object() ? options.find("on_error") : options.end();
  return options.is_object() && found != options.end() && *found == "stop";
}

std::string config_path()
{
  const char* path = std::getenv(kConfigVariable);
  return path ? path : "";
}
}

void Adaptor::initialize(const conduit_node* params)
{
  try
  {
    this->read_params(params);
  }
  catch (...)
  {
    this->failure_ = current_failure(CATALYST_BAT_BAD_NODE);
  }
  if (Communicator::can_be_used())
  {
    this->join();
  }
  else if (this->failure_)
  {
    throw *this->failure_;
  }
}

void Adaptor::read_params(const conduit_node* params)
{
  this->api_ = find_conduit();
  const auto root = params ? Node(*this->api_, params, "").find("catalyst") : std::optional<Node>();
  if (!root)
  {
    return;
  }
  if (const auto comm = root->find("mpi_comm"); comm && !comm->is_empty())
  {
    const auto handle = comm->numbers();
    if (!handle || handle->count != 1 || !is_integer(handle->type))
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("{} is of type {}; one integer is allowed", comm->path(), comm->type_name()));
    }
    this->comm_handle_ = int64_at(*handle, 0);
  }
  this->node_options_ = options_of(*root);
  this->stops_on_error_ = asks_to_stop(this->node_options_);
  this->pipelines_ = read_pipelines(*root, this->warnings_);
}

// From here on the ranks know each other.
void Adaptor::join()
{
  try
  {
    this->communicator_.emplace(this->comm_handle_);
  }
  catch (const Error& e)
  {
    throw Failure(CATALYST_BAT_NO_MPI, e.code(), e.what());
  }
  // All ranks stop, or none: one whose nodes are wrong may not have come to its options.
  this->stops_on_error_ = this->communicator_->greatest(this->stops_on_error_ ? 1 : 0) != 0;
  this->together(CATALYST_BAT_BAD_NODE,
    [&]
    {
      if (this->failure_)
      {
        throw *this->failure_;
      }
    });
  try
  {
    this->share_options();
  }
  catch (const Failure&)
  {
    throw;
  }
  catch (...)
  {
    throw current_failure(CATALYST_BAT_BAD_OPTIONS);
  }
  this->joined_ = true;
}

// The file is that of rank 0: thousands of ranks would ask for the same bytes.
void Adaptor::share_options()
{
  json mine = { { "node", this->node_options_ }, { "pipelines", json::array() } };
  for (const Pipeline& pipeline : this->pipelines_)
  {
    mine["pipelines"].push_back({ pipeline.channel, pipeline.file });
  }
  std::vector<std::string> texts;
  this->together(CATALYST_BAT_BAD_OPTIONS,
    [&]
    {
      texts.push_back(mine.dump());
      if (this->is_root() && !config_path().empty())
      {
        this->file_options_ = read_config(config_path());
        texts.push_back(
          json({ { "path", config_path() }, { "file", this->file_options_ } }).dump());
      }
    });
  std::string source;
  for (const std::string& text : this->union_of(texts))
  {
    const json found = json::parse(text);
    if (found.contains("file"))
    {
      this->file_options_ = found["file"];
      source = found["path"];
    }
    else if (found != mine)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("ranks have different options and pipelines: {} and {}", mine.dump(), text));
    }
  }
  this->stops_on_error_ = this->stops_on_error_ || asks_to_stop(this->file_options_);
  static_cast<void>(parse_options(this->node_options_, "catalyst/bat"));
  static_cast<void>(parse_options(this->file_options_, source));
  this->options_ = parse_options(merged(this->node_options_, this->file_options_), "catalyst/bat");
  this->stops_on_error_ = this->options_.stop_on_error;
  if (this->options_.names_output && !this->pipelines_.empty())
  {
    this->warnings_.push_back(
      "catalyst/pipelines is ignored: the options say what is written where");
  }
}

// What each rank does for itself before the next collective call: fails on all ranks, or on none.
void Adaptor::together(int status, const std::function<void()>& mine) const
{
  std::optional<Failure> failure;
  try
  {
    mine();
  }
  catch (...)
  {
    failure = current_failure(status);
  }
  try
  {
    mpi::agree(this->communicator_->get(), failure ? &*failure : nullptr);
  }
  catch (const Error& e)
  {
    throw Failure(
      this->communicator_->greatest(failure ? failure->status() : 0), e.code(), e.what());
  }
}

std::vector<std::string> Adaptor::union_of(const std::vector<std::string>& texts) const
{
  return mpi::union_of_names(this->communicator_->get(), texts);
}

bool Adaptor::is_root() const
{
  return !this->communicator_ || this->communicator_->is_root();
}

void Adaptor::stop(int status) const
{
  if (this->communicator_)
  {
    this->communicator_->abort(status);
  }
  std::abort();
}

void Adaptor::execute(const conduit_node* params)
{
  if (!this->joined_ && this->communicator_)
  {
    throw Failure(CATALYST_BAT_NOT_INITIALIZED, ErrorCode::InvalidArgument,
      "catalyst_initialize has failed: catalyst_execute writes nothing");
  }
  if (!this->joined_)
  {
    this->join();
  }
  if (!Communicator::can_be_used())
  {
    throw Failure(CATALYST_BAT_NO_MPI, ErrorCode::InvalidArgument,
      "catalyst_execute after MPI_Finalize writes nothing");
  }
  const auto root = params ? Node(*this->api_, params, "").find("catalyst") : std::nullopt;
  try
  {
    this->execute_step(root);
    ++this->calls_;
  }
  catch (...)
  {
    const Failure failure = current_failure(CATALYST_BAT_BAD_NODE);
    this->outputs_.count_failed_step();
    const std::string what =
      fmt::format("{}: {}", name_of_step(root, this->calls_++), failure.what());
    throw Failure(failure.status(), failure.code(), what);
  }
}

void Adaptor::execute_step(const std::optional<Node>& root)
{
  this->stops_on_error_ = this->options_.stop_on_error;
  const auto options = this->options_of_step(root);
  this->stops_on_error_ = options ? options->stop_on_error : this->stops_on_error_;
  if (options && this->is_due(*options))
  {
    this->write_step(root, *options);
  }
}

// None if nothing is due, which most calls find out with one small message.
std::optional<Options> Adaptor::options_of_step(const std::optional<Node>& root) const
{
  const bool has_own = root && root->find("bat");
  if (this->communicator_->greatest(has_own ? 1 : 0) == 0)
  {
    return this->is_due(this->options_) ? std::optional(this->options_) : std::nullopt;
  }
  std::string mine;
  Options options;
  this->together(CATALYST_BAT_BAD_OPTIONS,
    [&]
    {
      const json own = root ? options_of(*root) : json::object();
      static_cast<void>(parse_options(own, "catalyst/bat"));
      mine = own.dump();
      options = parse_options(
        merged(merged(this->node_options_, own), this->file_options_), "catalyst/bat");
    });
  const std::vector<std::string> all = this->union_of({ mine });
  if (all.size() > 1)
  {
    const std::string what =
      fmt::format("ranks have different catalyst/bat: {} and {}", all[0], all[1]);
    throw Failure(CATALYST_BAT_BAD_OPTIONS, ErrorCode::InvalidArgument, what);
  }
  return options;
}

bool Adaptor::is_wanted(const std::string& channel, const Options& options) const
{
  if (options.names_output || this->pipelines_.empty())
  {
    return options.has(channel);
  }
  return std::any_of(this->pipelines_.begin(), this->pipelines_.end(),
    [&](const Pipeline& pipeline) { return pipeline.channel == channel; });
}

bool Adaptor::is_due(const ChannelOptions& options) const
{
  return this->calls_ % options.every == 0;
}

bool Adaptor::is_due(const Options& options) const
{
  return this->is_due(options.all) ||
    std::any_of(options.of_channel.begin(), options.of_channel.end(),
      [&](const auto& entry) { return this->is_due(entry.second); });
}

void Adaptor::write_step(const std::optional<Node>& root, const Options& options)
{
  std::vector<Channel> channels;
  std::vector<std::string> texts;
  this->together(CATALYST_BAT_BAD_NODE,
    [&]
    {
      Census mine;
      mine.add_warnings(this->warnings_);
      if (root)
      {
        if (const auto step = read_step(*root))
        {
          mine.add(*step);
        }
        channels = this->read_channels(*root, options, mine);
      }
      texts = mine.texts();
    });
  const Census census = Census::of(this->union_of(texts));
  this->warn(census, options);
  const auto number = static_cast<std::int64_t>(this->calls_);
  const Step step = census.step().value_or(Step{ number, static_cast<double>(number) });
  this->outputs_.write(this->communicator_->get(), step, this->jobs_of(channels, census, options));
}

std::vector<Channel> Adaptor::read_channels(
  const Node& root, const Options& options, Census& census) const
{
  std::vector<Channel> channels;
  const auto nodes = root.find("channels");
  for (std::size_t i = 0; nodes && i != nodes->size(); ++i)
  {
    const Node node = nodes->child(i);
    const std::string name = node.name();
    const ChannelOptions& own = options.of(name);
    census.add_channel(name);
    if (this->is_wanted(name, options) && this->is_due(own))
    {
      channels.push_back(read_channel(node, { own.keep_ghosts, own.fields }));
      census.add(channels.back());
    }
  }
  return channels;
}

std::vector<Job> Adaptor::jobs_of(
  std::vector<Channel>& channels, const Census& census, const Options& options)
{
  const std::vector<SpeciesKey> keys = census.species(this->names_);
  const std::vector<std::string> names = this->names_.names(keys);
  std::vector<Job> jobs;
  for (std::size_t i = 0; i != keys.size(); ++i)
  {
    Job job{ { names[i], {} }, "", options.of(keys[i].channel) };
    for (Channel& channel : channels)
    {
      for (FoundSpecies& found : channel.species)
      {
        if (channel.name != keys[i].channel || found.mesh != keys[i].mesh ||
          found.topology != keys[i].topology)
        {
          continue;
        }
        for (Domain& domain : found.domains)
        {
          job.species.pieces.push_back({ domain.particles, domain.ghosts, 1 });
        }
      }
    }
    if (options.names_output || this->pipelines_.empty())
    {
      job.pattern = job.options.output;
      jobs.push_back(std::move(job));
      continue;
    }
    for (const Pipeline& pipeline : this->pipelines_)
    {
      if (pipeline.channel == keys[i].channel)
      {
        job.pattern = pipeline.file;
        jobs.push_back(job);
      }
    }
  }
  return jobs;
}

void Adaptor::warn(const Census& census, const Options& options)
{
  std::vector<std::string> warnings = census.warnings();
  const auto& there = census.channels();
  const auto lacks = [](const std::vector<std::string>& names, const std::string& name)
  { return std::find(names.begin(), names.end(), name) == names.end(); };
  for (const std::string& channel : options.channels.value_or(std::vector<std::string>()))
  {
    if (lacks(there, channel))
    {
      warnings.push_back(fmt::format("channel {} of the options is not there; there are {}",
        channel, there.empty() ? "none" : fmt::format("{}", fmt::join(there, ", "))));
    }
  }
  for (const std::string& channel : there)
  {
    const std::vector<std::string> fields = census.fields(channel);
    const auto& asked = options.of(channel).fields;
    for (const std::string& field : asked.value_or(std::vector<std::string>()))
    {
      if (!fields.empty() && lacks(fields, field))
      {
        warnings.push_back(fmt::format("field {} of the options is not in channel {}; there are {}",
          field, channel, fmt::join(fields, ", ")));
      }
    }
  }
  this->warnings_.clear();
  for (const std::string& warning : warnings)
  {
    if (this->told_.insert(warning).second && this->is_root())
    {
      // Whether it can be printed or not: the other ranks go on.
      (void)std::fprintf(stderr, "catalyst-bat: warning: %s\n", warning.c_str());
    }
  }
}

void Adaptor::report(conduit_node* params, int status, const std::string& message) const
{
  const ConduitApi api = this->api_ ? *this->api_ : find_conduit();
  conduit_node* catalyst = api.fetch(params, "catalyst");
  if (api.has_child(catalyst, "bat"))
  {
    api.remove_child_by_name(catalyst, "bat");
  }
  conduit_node* root = api.fetch(catalyst, "bat");
  const auto set = [&](conduit_node* node, const char* path, std::uint64_t value)
  { api.set_int64(api.fetch(node, path), static_cast<std::int64_t>(value)); };
  api.set_int64(api.fetch(root, "status"), status);
  api.set_string(api.fetch(root, "message"), message.c_str());
  if (const auto& step = this->outputs_.last_step())
  {
    api.set_int64(api.fetch(root, "last_step/timestep"), step->number);
    api.set_float64(api.fetch(root, "last_step/time"), step->time);
  }
  for (const insitu::WrittenFile& file : this->outputs_.last_files())
  {
    conduit_node* node = api.append(api.fetch(root, "last_step/files"));
    api.set_string(api.fetch(node, "species"), file.species.c_str());
    api.set_string(api.fetch(node, "file"), file.path.c_str());
    set(node, "particles", file.report.particles);
    set(node, "ghosts", file.report.skipped);
    set(node, "bytes", file.report.file_bytes);
    api.set_float64(api.fetch(node, "seconds"), file.report.seconds.total);
  }
  const Totals& totals = this->outputs_.totals();
  set(root, "total/steps", totals.steps);
  set(root, "total/failed_steps", totals.failed_steps);
  set(root, "total/files", totals.files);
  set(root, "total/particles", totals.particles);
  set(root, "total/bytes", totals.bytes);
  api.set_float64(api.fetch(root, "total/seconds"), totals.seconds);
}
}
