// SPDX-License-Identifier: BSD-3-Clause
#include "adaptor.hpp"

#include "bat/catalyst_bat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

namespace bat::catalyst
{
namespace
{
using json = nlohmann::json;

constexpr const char* kConfigVariable = "CATALYST_BAT_CONFIG";

// Returns a name for messages, even if the step itself is wrong.
std::string name_of_step(const std::optional<Node>& root, std::uint64_t call)
{
  try
  {
    if (const auto number = root ? read_state(*root).number : std::nullopt)
    {
      return fmt::format("step {}", *number);
    }
  }
  catch (const Error&)
  {
  }
  return fmt::format("call {} of catalyst_execute", call + 1);
}

json collect_options(const Node& root)
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

// Even if the options are invalid as a whole, this one may be readable.
bool asks_to_stop(const json& options)
{
  const auto found = options.is_object() ? options.find("on_error") : options.end();
  return options.is_object() && found != options.end() && *found == "stop";
}

// All ranks write the same fields.
void drop_fields(std::vector<Channel>& channels, const std::vector<UnwrittenField>& fields)
{
  for (Channel& channel : channels)
  {
    for (FoundSpecies& species : channel.species)
    {
      const SpeciesKey key{ channel.name, species.mesh, species.topology };
      const auto is_dropped = [&](const AttributeView& attribute)
      {
        return std::any_of(fields.begin(), fields.end(),
          [&](const UnwrittenField& f) { return f.is_of(key) && f.field == attribute.name; });
      };
      for (Domain& domain : species.domains)
      {
        auto& attributes = domain.particles.attributes;
        attributes.erase(
          std::remove_if(attributes.begin(), attributes.end(), is_dropped), attributes.end());
      }
    }
  }
}

std::vector<mpi::Piece> pieces_of(const std::vector<Channel>& channels, const SpeciesKey& key)
{
  std::vector<mpi::Piece> pieces;
  for (const Channel& channel : channels)
  {
    for (const FoundSpecies& found : channel.species)
    {
      if (channel.name != key.channel || found.mesh != key.mesh || found.topology != key.topology)
      {
        continue;
      }
      for (const Domain& domain : found.domains)
      {
        pieces.push_back({ domain.particles, domain.ghosts, 1 });
      }
    }
  }
  return pieces;
}

// Throws all failures as one line.
void throw_all(const std::vector<Failure>& failures)
{
  if (failures.empty())
  {
    return;
  }
  std::vector<std::string> texts;
  for (const Failure& failure : failures)
  {
    texts.emplace_back(failure.what());
  }
  throw Failure(
    failures.front().status(), failures.front().code(), fmt::format("{}", fmt::join(texts, "; ")));
}

void set_count(const ConduitApi& api, conduit_node* node, const char* path, std::uint64_t value)
{
  api.set_int64(api.fetch(node, path), static_cast<std::int64_t>(value));
}

void report_files(
  const ConduitApi& api, conduit_node* root, const std::vector<insitu::WrittenFile>& files)
{
  for (const insitu::WrittenFile& file : files)
  {
    conduit_node* node = api.append(api.fetch(root, "last_step/files"));
    api.set_string(api.fetch(node, "species"), file.species.c_str());
    api.set_string(api.fetch(node, "file"), file.path.c_str());
    set_count(api, node, "particles", file.report.particles);
    set_count(api, node, "ghosts", file.report.skipped);
    set_count(api, node, "bytes", file.report.file_bytes);
    api.set_float64(api.fetch(node, "seconds"), file.report.seconds.total);
  }
}

void report_grids(const ConduitApi& api, conduit_node* root, const std::vector<WrittenGrid>& grids)
{
  for (const WrittenGrid& grid : grids)
  {
    conduit_node* node = api.append(api.fetch(root, "last_step/grids"));
    api.set_string(api.fetch(node, "grid"), grid.name.c_str());
    api.set_string(api.fetch(node, "file"), grid.path.c_str());
    set_count(api, node, "samples", grid.samples);
    set_count(api, node, "bytes", grid.bytes);
    api.set_float64(api.fetch(node, "seconds"), grid.seconds);
  }
}

// Returns the new node, so that the caller can add the name of a field.
conduit_node* report_left_out(
  const ConduitApi& api, conduit_node* root, const std::string& channel, const std::string& reason)
{
  conduit_node* node = api.append(api.fetch(root, "left_out"));
  api.set_string(api.fetch(node, "channel"), channel.c_str());
  api.set_string(api.fetch(node, "reason"), reason.c_str());
  return node;
}

void report_totals(const ConduitApi& api, conduit_node* root, const Totals& totals)
{
  set_count(api, root, "total/steps", totals.steps);
  set_count(api, root, "total/failed_steps", totals.failed_steps);
  set_count(api, root, "total/files", totals.files);
  set_count(api, root, "total/particles", totals.particles);
  set_count(api, root, "total/bytes", totals.bytes);
  api.set_float64(api.fetch(root, "total/seconds"), totals.seconds);
}

std::string config_path()
{
  const char* path = std::getenv(kConfigVariable);
  return path ? path : "";
}
}

Adaptor::Adaptor()
  : outputs_(&print_warning)
  , grid_outputs_(&print_warning)
{
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
        fmt::format("{} has type {}; it must be an integer", comm->path(), comm->type_name()));
    }
    this->comm_handle_ = int64_at(*handle, 0);
  }
  this->node_options_ = collect_options(*root);
  this->stops_on_error_ = asks_to_stop(this->node_options_);
  this->pipelines_ = read_pipelines(*root, this->early_warnings_);
}

// Connects the ranks, which can communicate from this point on.
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
  // All ranks stop, or none: a rank with wrong nodes may not have read its options.
  this->stops_on_error_ = this->communicator_->greatest(this->stops_on_error_ ? 1 : 0) != 0;
  this->collective(CATALYST_BAT_BAD_NODE,
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

// Only rank 0 reads the file; otherwise thousands of ranks would request the same bytes.
void Adaptor::share_options()
{
  json local = { { "node", this->node_options_ }, { "pipelines", json::array() } };
  for (const Pipeline& pipeline : this->pipelines_)
  {
    local["pipelines"].push_back({ pipeline.name, pipeline.channel, pipeline.file });
  }
  std::vector<std::string> texts;
  this->collective(CATALYST_BAT_BAD_OPTIONS,
    [&]
    {
      texts.push_back(local.dump());
      if (this->is_root() && !config_path().empty())
      {
        this->file_options_ = read_config(config_path());
        texts.push_back(
          json({ { "path", config_path() }, { "file", this->file_options_ } }).dump());
      }
    });
  std::string source;
  for (const std::string& text : this->compute_union(texts))
  {
    const json found = json::parse(text);
    if (found.contains("file"))
    {
      this->file_options_ = found["file"];
      source = found["path"];
    }
    else if (found != local)
    {
      throw Error(ErrorCode::InvalidArgument,
        fmt::format("options and pipelines differ between ranks: {} and {}", local.dump(), text));
    }
  }
  this->stops_on_error_ = this->stops_on_error_ || asks_to_stop(this->file_options_);
  static_cast<void>(parse_options(this->node_options_, "catalyst/bat"));
  static_cast<void>(parse_options(this->file_options_, source));
  this->options_ = parse_options(merged(this->node_options_, this->file_options_), "catalyst/bat");
  this->stops_on_error_ = this->options_.stop_on_error;
  if (this->options_.names_output && !this->pipelines_.empty())
  {
    this->early_warnings_.push_back(
      "catalyst/pipelines is ignored: the options define the outputs");
  }
}

// Runs each rank's own work before the next collective call. Fails on all ranks or on none.
void Adaptor::collective(int status, const std::function<void()>& local) const
{
  std::optional<Failure> failure;
  try
  {
    local();
  }
  catch (...)
  {
    failure = current_failure(status);
  }
  try
  {
    mpi::agree(this->communicator_->get(), failure ? std::optional<Error>(*failure) : std::nullopt);
  }
  catch (const Error& e)
  {
    throw Failure(
      this->communicator_->greatest(failure ? failure->status() : 0), e.code(), e.what());
  }
}

std::vector<std::string> Adaptor::compute_union(const std::vector<std::string>& texts) const
{
  return mpi::gather_names(this->communicator_->get(), texts);
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
      "catalyst_initialize failed: catalyst_execute writes nothing");
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
    this->outputs_.count_step(false);
    const std::string what =
      fmt::format("{}: {}", name_of_step(root, this->calls_++), failure.what());
    throw Failure(failure.status(), failure.code(), what);
  }
}

void Adaptor::execute_step(const std::optional<Node>& root)
{
  this->stops_on_error_ = this->options_.stop_on_error;
  const auto options = this->parse_step_options(root);
  this->stops_on_error_ = options ? options->stop_on_error : this->stops_on_error_;
  if (options && this->is_due(*options))
  {
    this->write_step(root, *options);
  }
}

// Empty if nothing is due; most calls find this out with one small message.
std::optional<Options> Adaptor::parse_step_options(const std::optional<Node>& root) const
{
  const bool has_own = root && root->find("bat");
  if (this->communicator_->greatest(has_own ? 1 : 0) == 0)
  {
    return this->is_due(this->options_) ? std::optional(this->options_) : std::nullopt;
  }
  std::string local;
  Options options;
  this->collective(CATALYST_BAT_BAD_OPTIONS,
    [&]
    {
      const json own = root ? collect_options(*root) : json::object();
      static_cast<void>(parse_options(own, "catalyst/bat"));
      local = own.dump();
      options = parse_options(
        merged(merged(this->node_options_, own), this->file_options_), "catalyst/bat");
    });
  const std::vector<std::string> all = this->compute_union({ local });
  if (all.size() > 1)
  {
    const std::string what =
      fmt::format("catalyst/bat differs between ranks: {} and {}", all[0], all[1]);
    throw Failure(CATALYST_BAT_BAD_OPTIONS, ErrorCode::InvalidArgument, what);
  }
  return options;
}

bool Adaptor::is_requested(const std::string& channel, const Options& options) const
{
  if (options.names_output || this->pipelines_.empty())
  {
    return options.has(channel);
  }
  return std::any_of(this->pipelines_.begin(), this->pipelines_.end(),
    [&](const Pipeline& pipeline) { return pipeline.channel == channel; });
}

bool Adaptor::needs_file(const ChannelOptions& options) const
{
  return this->calls_ % options.every == 0;
}

bool Adaptor::needs_tracks(const ChannelOptions& options) const
{
  return options.tracks && this->calls_ % static_cast<std::uint64_t>(options.tracks->every) == 0;
}

bool Adaptor::is_due(const ChannelOptions& options) const
{
  return this->needs_file(options) || this->needs_tracks(options) ||
    std::any_of(options.of_species.begin(), options.of_species.end(),
      [&](const auto& entry) { return this->is_due(entry.second); });
}

bool Adaptor::is_due(const Options& options) const
{
  return this->is_due(options.all) ||
    std::any_of(options.of_channel.begin(), options.of_channel.end(),
      [&](const auto& entry) { return this->is_due(entry.second); });
}

// Collective. Reads the channels of this rank and the census of all ranks.
Adaptor::StepData Adaptor::read_step(const std::optional<Node>& root, const Options& options) const
{
  StepData data;
  std::vector<std::string> texts;
  this->collective(CATALYST_BAT_BAD_NODE,
    [&]
    {
      Census local;
      local.add_warnings(this->early_warnings_);
      if (root)
      {
        local.add(read_state(*root));
        if (const auto pipelines = selected_pipelines(*root))
        {
          local.add_pipelines(*pipelines);
        }
        data.channels = this->read_channels(*root, options, local, data.grids);
      }
      texts = local.texts();
    });
  data.census = Census::of(this->compute_union(texts));
  return data;
}

// Collective. Writes particles and then grids, and returns the failures: grids are also written if
// particles fail.
std::vector<Failure> Adaptor::write_files(StepData& data, const Options& options)
{
  const Census& census = data.census;
  const Step step = census.step(static_cast<std::int64_t>(this->calls_));
  drop_fields(data.channels, this->left_out_.fields);
  this->unpack_ids(data.channels, census);
  std::vector<Job> jobs = this->make_jobs(data.channels, census, step, options);
  std::vector<Failure> failures;
  if (!jobs.empty() || this->left_out_.channels.empty())
  {
    try
    {
      this->outputs_.write(this->communicator_->get(), step, std::move(jobs));
    }
    catch (...)
    {
      failures.push_back(current_failure(CATALYST_BAT_BAD_NODE));
    }
  }
  try
  {
    this->grid_outputs_.write(this->communicator_->get(),
      this->make_grid_jobs(census, step, options, data.grids), data.grids);
  }
  catch (...)
  {
    failures.push_back(current_failure(CATALYST_BAT_BAD_NODE));
  }
  return failures;
}

void Adaptor::write_step(const std::optional<Node>& root, const Options& options)
{
  StepData data = this->read_step(root, options);
  Census& census = data.census;
  this->choose_fields(census, options);
  this->warnings_.add(census, options, this->is_root());
  this->early_warnings_.clear();
  this->left_out_ = { census.unreadable(), census.unwritten() };
  if (options.stop_on_error)
  {
    this->refuse_wrong_fields();
  }
  std::vector<Failure> failures = this->write_files(data, options);
  for (const auto& [channel, reason] : this->left_out_.channels)
  {
    failures.emplace_back(CATALYST_BAT_BAD_NODE, ErrorCode::InvalidArgument,
      fmt::format("channel {} was not written: {}", channel, reason));
  }
  // Runs once all particles are safe.
  for (const std::string& missing : this->named_fields_.find_missing(census, options, this->known_))
  {
    failures.emplace_back(CATALYST_BAT_BAD_OPTIONS, ErrorCode::InvalidArgument, missing);
  }
  throw_all(failures);
  this->outputs_.count_step(true);
}

// Chooses the fields that are written for each species.
void Adaptor::choose_fields(Census& census, const Options& options)
{
  std::vector<SpeciesKey> unpacked;
  std::map<SpeciesKey, std::vector<std::string>> chosen;
  for (const SpeciesKey& key : census.species(this->known_))
  {
    const ChannelOptions& own = options.of(key);
    if (own.fields)
    {
      chosen.emplace(key, *own.fields);
    }
    if (!own.unpack_ids)
    {
      continue;
    }
    unpacked.push_back(key);
    if (const std::optional<PackedIds> packed = census.packed_ids(key))
    {
      const std::string fields = fmt::format("{}", fmt::join(packed->fields, " and "));
      this->warnings_.note(packed->taken.empty()
          ? fmt::format("series {}: id and cpu were written, unpacked from {} of AMReX; set the "
                        "option amrex_ids: keep to write it unchanged",
              name_of(key), fields)
          : fmt::format("series {}: the AMReX ids stay packed in {}, because another field is "
                        "called {}",
              name_of(key), fields, packed->taken),
        this->is_root());
    }
  }
  census.set_unpacked(unpacked);
  census.set_chosen(std::move(chosen));
}

void Adaptor::unpack_ids(std::vector<Channel>& channels, const Census& census) const
{
  for (Channel& channel : channels)
  {
    for (FoundSpecies& species : channel.species)
    {
      const SpeciesKey key{ channel.name, species.mesh, species.topology };
      const auto packed = census.unpacked_ids(key);
      for (Domain& domain : species.domains)
      {
        if (packed)
        {
          catalyst::unpack_ids(domain.particles, *packed, channel.arrays);
        }
        // Halves of ids are read if one of them is requested, and may turn out not to be halves.
        auto& attributes = domain.particles.attributes;
        attributes.erase(std::remove_if(attributes.begin(), attributes.end(),
                           [&](const AttributeView& a) { return !census.is_chosen(key, a.name); }),
          attributes.end());
      }
    }
  }
}

// A user who wants to stop on errors needs to know early what is missing.
void Adaptor::refuse_wrong_fields() const
{
  for (const UnwrittenField& field : this->left_out_.fields)
  {
    if (field.is_wrong)
    {
      throw Error(ErrorCode::InvalidArgument, this->warnings_.of(field));
    }
  }
}

std::vector<Channel> Adaptor::read_channels(
  const Node& root, const Options& options, Census& census, std::vector<Grids>& grids) const
{
  std::vector<Channel> channels;
  const auto nodes = root.find("channels");
  for (std::size_t i = 0; nodes && i != nodes->size(); ++i)
  {
    const Node node = nodes->child(i);
    const std::string name = node.name();
    const ChannelOptions& own = options.of(name);
    census.add_channel(name);
    if (!this->is_requested(name, options) || !this->is_due(own))
    {
      continue;
    }
    try
    {
      ReadOptions requested{ own.keep_ghosts, own.fields, own.unpack_ids };
      for (const auto& [species, of_species] : own.of_species)
      {
        requested.fields_of_species.emplace(species, of_species.fields);
        requested.unpack_ids = requested.unpack_ids || of_species.unpack_ids;
      }
      Channel channel = read_channel(node, requested);
      Grids read = this->needs_file(own) ? read_grids(node, requested, channel) : Grids{};
      for (UnreadField& field : channel.unread)
      {
        // Reported once: otherwise thousands of ranks would report the same in every step.
        field.reason = this->warnings_.has({ name, field.mesh, field.topology }, field.name)
          ? ""
          : (field.is_wrong ? this->communicator_->prefix() : "") + field.reason;
      }
      census.add(channel);
      for (const GridDomain& domain : read.domains)
      {
        Schema schema;
        for (const idx::FieldValues& field : domain.fields)
        {
          schema.emplace(field.name, type_name(field.type, field.components));
        }
        census.add_grid(domain.key, domain.spacing, schema);
      }
      channels.push_back(std::move(channel));
      grids.push_back(std::move(read));
    }
    catch (const Error& e)
    {
      if (e.code() != ErrorCode::InvalidArgument)
      {
        throw;
      }
      census.add_unreadable(name, this->communicator_->prefix() + e.what());
    }
  }
  return channels;
}

std::vector<std::string> Adaptor::grid_patterns(
  const std::string& channel, const Census& census, const Options& options) const
{
  if (options.names_output || this->pipelines_.empty())
  {
    return options.of(channel).list_grid_outputs();
  }
  std::vector<std::string> outputs;
  for (const Pipeline& pipeline : this->pipelines_)
  {
    if (pipeline.channel == channel && GridPattern::is_one(pipeline.file) &&
      census.has_pipeline(pipeline.name))
    {
      outputs.push_back(pipeline.file);
    }
  }
  return outputs;
}

// Finds the first sample of each grid, on whichever rank it is. Both .bricks and .idx need it; .idx
// cannot have hidden samples.
std::vector<Adaptor::Origins> Adaptor::find_origins(
  const std::map<GridKey, GridPlan>& plans, const std::vector<Grids>& grids) const
{
  std::vector<double> begins;
  for (const auto& [key, plan] : plans)
  {
    std::array<double, 6> lowest{};
    lowest.fill(std::numeric_limits<double>::infinity());
    for (const Grids& local : grids)
    {
      for (const GridDomain& domain : local.domains)
      {
        const auto of_bricks = begin_of(domain, domain.own);
        const auto of_grid = begin_of(domain, domain.shown.value_or(domain.own));
        const bool has_shown = !domain.shown || !domain.shown->is_empty();
        for (std::size_t axis = 0; axis != 3 && domain.key == key; ++axis)
        {
          lowest[axis] = std::min(lowest[axis], of_bricks[axis]);
          lowest[3 + axis] =
            has_shown ? std::min(lowest[3 + axis], of_grid[axis]) : lowest[3 + axis];
        }
      }
    }
    begins.insert(begins.end(), lowest.begin(), lowest.end());
  }
  begins = this->communicator_->minimum(std::move(begins));
  std::vector<Origins> origins(plans.size());
  auto from = begins.begin();
  for (Origins& of_plan : origins)
  {
    std::copy_n(from, 3, of_plan.of_bricks.begin());
    std::copy_n(from + 3, 3, of_plan.of_grid.begin());
    from += 6;
  }
  return origins;
}

std::vector<GridJob> Adaptor::make_grid_jobs(
  const Census& census, const Step& step, const Options& options, const std::vector<Grids>& grids)
{
  std::map<GridKey, GridPlan> plans = plan_grids(census);
  const std::map<GridKey, GridCensus> censuses = census.grids();
  const std::vector<Origins> origins = this->find_origins(plans, grids);
  const auto leave_out = [&](const std::string& name, const char* how, const std::string& why)
  {
    this->warnings_.add(
      fmt::format("grid {} was not written{}: {}", name, how, why), this->is_root());
  };
  std::vector<GridJob> jobs;
  auto origin = origins.begin();
  for (auto& [key, plan] : plans)
  {
    const Origins& begins = *origin++;
    if (!plan.unsuited.empty())
    {
      leave_out(plan.name, "", plan.unsuited);
      continue;
    }
    const std::string& channel = key.topology.channel;
    const ChannelOptions& of_channel = options.of(channel);
    const Step own = census.step(channel, step);
    GridJob job{ key, std::move(plan), "", of_channel.write_grid, {}, of_channel.bricks };
    job.options.mode = idx::WriteMode::Continue;
    job.options.step = own.number;
    job.options.time = own.time;
    for (std::string& pattern : this->grid_patterns(channel, census, options))
    {
      const bool is_bricks = GridPattern(pattern).is_bricks();
      if (is_bricks)
      {
        job.velocity = find_velocity(job.plan, censuses.at(key), job.bricks.velocity);
        if (!job.velocity.problem.empty())
        {
          leave_out(job.plan.name, " as .bricks", job.velocity.problem);
          continue;
        }
      }
      job.plan.origin = is_bricks ? begins.of_bricks : begins.of_grid;
      job.pattern = std::move(pattern);
      jobs.push_back(job);
    }
  }
  return jobs;
}

std::vector<Job> Adaptor::make_jobs(
  std::vector<Channel>& channels, const Census& census, const Step& step, const Options& options)
{
  const std::vector<SpeciesKey> keys = census.species(this->known_);
  const std::vector<std::string> names = names_of(keys);
  for (const SpeciesKey& key : keys)
  {
    Fields fields;
    fields.written = census.written_attributes(key);
    for (const Attribute& attribute : fields.written)
    {
      fields.names.insert(attribute.name);
    }
    if (const auto packed = census.unpacked_ids(key))
    {
      fields.names.insert(packed->fields.begin(), packed->fields.end());
    }
    if (!fields.written.empty())
    {
      this->fields_[key] = std::move(fields);
    }
  }
  std::vector<Job> jobs;
  for (std::size_t i = 0; i != keys.size(); ++i)
  {
    const SpeciesKey& key = keys[i];
    if (!key.topology.empty() &&
      std::find(this->known_.begin(), this->known_.end(), key) == this->known_.end())
    {
      this->known_.push_back(key);
    }
    Job job{ key.channel, { names[i], pieces_of(channels, key) }, census.step(key.channel, step),
      "", options.of(key) };
    job.needs_file = this->needs_file(job.options);
    job.needs_tracks = this->needs_tracks(job.options);
    this->set_fields(job, key, census);
    if (options.names_output || this->pipelines_.empty())
    {
      job.pattern = job.options.output;
      jobs.push_back(std::move(job));
      continue;
    }
    for (const Pipeline& pipeline : this->pipelines_)
    {
      if (pipeline.channel == key.channel && !GridPattern::is_one(pipeline.file) &&
        census.has_pipeline(pipeline.name))
      {
        job.pattern = pipeline.file;
        jobs.push_back(job);
      }
    }
  }
  return jobs;
}

// Options that name fields apply to the species that have them.
void Adaptor::set_fields(Job& job, const SpeciesKey& key, const Census& census)
{
  const std::map<std::string, int> fields = census.written_fields(key);
  BuildOptions& build = job.options.write.build;
  build.sorted_indexes = resolve_indexes(census.resolve(key, build.sorted_indexes, false), fields);
  build.stable_samples = resolve_indexes(census.resolve(key, build.stable_samples, true), fields);
  if (!build.error_bounds.empty())
  {
    build.error_bounds = resolve_error_bounds(build.error_bounds, fields);
    build.compression = build.error_bounds.empty() && build.compression == Compression::Bounded
      ? Compression::Lossless
      : build.compression;
  }
  if (!job.options.tracks)
  {
    return;
  }
  const std::vector<Attribute>& own = this->fields_[key].written;
  std::set<std::string> of_others;
  for (const auto& [other, has] : this->fields_)
  {
    if (other.channel == key.channel && !(other == key))
    {
      of_others.insert(has.names.begin(), has.names.end());
    }
  }
  insitu::TrackOptions& tracks = *job.options.tracks;
  const auto as_written = [&](std::string& name)
  {
    if (!name.empty())
    {
      name = census.resolve(key, { name }, false).front();
    }
  };
  as_written(tracks.id_attribute);
  as_written(tracks.second_attribute);
  if (tracks.attributes)
  {
    tracks.attributes = census.resolve(key, *tracks.attributes, false);
  }
  const bool is_of_others = of_others.count(tracks.id_attribute) != 0;
  tracks = track_options_for(tracks, own, of_others, key.topology);
  const bool has_id = tracks.id_attribute.empty() ||
    std::any_of(
      own.begin(), own.end(), [&](const Attribute& a) { return a.name == tracks.id_attribute; });
  job.needs_tracks = job.needs_tracks && (has_id || !is_of_others);
  job.options.tracks_text += fmt::format("{}\n{}\n{}", tracks.id_attribute, tracks.second_attribute,
    fmt::join(tracks.attributes.value_or(std::vector<std::string>()), "\n"));
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
  api.set_int64(api.fetch(root, "status"), status);
  api.set_string(api.fetch(root, "message"), message.c_str());
  if (const auto& step = this->outputs_.last_step())
  {
    api.set_int64(api.fetch(root, "last_step/timestep"), step->number);
    api.set_float64(api.fetch(root, "last_step/time"), step->time);
  }
  report_files(api, root, this->outputs_.last_files());
  report_grids(api, root, this->grid_outputs_.last());
  for (const auto& [channel, reason] : this->left_out_.channels)
  {
    report_left_out(api, root, channel, reason);
  }
  for (const UnwrittenField& field : this->left_out_.fields)
  {
    conduit_node* node =
      report_left_out(api, root, field.topology.channel, this->warnings_.of(field));
    api.set_string(api.fetch(node, "topology"), field.topology.topology.c_str());
    api.set_string(api.fetch(node, "field"), field.field.c_str());
  }
  report_totals(api, root, this->outputs_.totals());
}
}
