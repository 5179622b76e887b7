// SPDX-License-Identifier: BSD-3-Clause
#include "bat/dataset.hpp"

#include "bat/address.hpp"
#include "bat/error.hpp"
#include "common/arena.hpp"
#include "common/io/atomic_file.hpp"
#include "common/io/remote/address.hpp"
#include "common/stop_relay.hpp"
#include "libbat/leaf_file.hpp"
#include "particles/dataset/dataset_checksum.hpp"
#include "particles/dataset/dataset_impl.hpp"
#include "particles/dataset/file_leaf.hpp"
#include "particles/format/levels.hpp"
#include "particles/query/conditions.hpp"
#include "particles/tree/file_impl.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <system_error>

namespace bat
{
namespace
{
bool is_apart(const format::LeafKeyRecord& key, const query::KeyCondition& condition)
{
  return std::visit(
    [&](const auto& requested)
    {
      using V = typename std::decay_t<decltype(requested)>::Value;
      const V minimum = from_bits<V>(key.minimum);
      const V maximum = from_bits<V>(key.maximum);
      const bool has_nan = (key.flags & format::kHasNaN) != 0;
      return condition.negated ? !has_nan && query::covers(requested, minimum, maximum)
                               : !query::meets(requested, minimum, maximum);
    },
    condition.requested);
}

std::optional<Box> make_box(const double (&lower)[3], const double (&upper)[3])
{
  if (lower[0] > upper[0])
  {
    return std::nullopt;
  }
  return Box{ { lower[0], lower[1], lower[2] }, { upper[0], upper[1], upper[2] } };
}

// A leaf file's schema must match the top file's in these parts.
bool same_schema(const std::vector<Attribute>& a, const std::vector<Attribute>& b)
{
  const auto same_alias = [](const std::optional<Alias>& x, const std::optional<Alias>& y)
  {
    return x.has_value() == y.has_value() &&
      (!x || (x->attribute == y->attribute && x->component == y->component));
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
    [&](const Attribute& x, const Attribute& y)
    {
      return x.name == y.name && x.type == y.type && x.components == y.components &&
        same_alias(x.alias, y.alias);
    });
}

bool same_sample(
  const std::vector<format::SampleIdRecord>& a, const std::vector<format::SampleIdRecord>& b)
{
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
    [](const format::SampleIdRecord& x, const format::SampleIdRecord& y)
    { return x.attribute == y.attribute && x.component == y.component; });
}

// Returns whether no particle of a leaf file can satisfy a condition on positions.
bool is_apart(const format::LeafRecord& leaf, const query::KeyCondition& condition)
{
  return (leaf.flags & format::kNonFinite) == 0 &&
    query::relate(leaf.lower, leaf.upper, condition) == query::Relation::Outside;
}
}

Dataset::Impl::Impl(std::unique_ptr<LeafSource> leaf, std::string version)
  : name(leaf->name())
  , version(std::move(version))
  , particles(leaf->particle_count())
  , position_type(leaf->position_type())
  , bounds(leaf->bounds())
  , attributes(leaf->attributes())
{
  if (const auto* own = dynamic_cast<const FileLeaf*>(leaf.get()))
  {
    this->single = &own->file();
    this->time = own->file().time();
    this->step = own->file().step();
  }
  std::vector<LeafInfo> one{ { leaf->name(), leaf->particle_count(), leaf->file_bytes(),
    leaf->bounds() } };
  this->set_leaves(std::move(one), nullptr);
  this->slots_[0].leaf = std::move(leaf);
}

Dataset::Impl::Impl(std::unique_ptr<TopFile> opened, OpenOptions options)
  : name(opened->source->name())
  , version(fmt::format("{}.{}", opened->header.version_major, opened->header.version_minor))
  , particles(opened->header.particle_count)
  , position_type(static_cast<ScalarType>(opened->schema.head.position_type))
  , attributes(opened->schema.attributes)
  , top(std::move(opened))
  , options_(std::move(options))
{
  const format::SchemaHead& head = this->top->schema.head;
  this->bounds = make_box(head.lower, head.upper);
  const format::Header& header = this->top->header;
  if ((header.flags & format::kHasTime) != 0)
  {
    this->time = header.time;
  }
  if ((header.flags & format::kHasStep) != 0)
  {
    this->step = header.step;
  }
}

Dataset::Impl::Impl(libbat::Top top_of_paper, OpenOptions options)
  : name(top_of_paper.name)
  , version("libbat")
  , particles(top_of_paper.particle_count)
  , position_type(top_of_paper.position_type)
  , bounds(top_of_paper.bounds)
  , attributes(std::move(top_of_paper.attributes))
  , top_bytes(top_of_paper.file_bytes)
  , options_(std::move(options))
{
  std::vector<LeafInfo> leaves;
  for (const libbat::LeafEntry& leaf : top_of_paper.leaves)
  {
    std::error_code unknown;
    const std::uintmax_t bytes = std::filesystem::file_size(leaf.path, unknown);
    leaves.push_back({ leaf.path, leaf.particle_count, unknown ? 0 : bytes, std::nullopt });
  }
  this->set_leaves(std::move(leaves),
    [this](std::size_t i)
    {
      std::unique_ptr<LeafSource> leaf = libbat::open_leaf(this->leaves_[i].path, this->options_);
      if (leaf->particle_count() != this->leaves_[i].particles ||
        !same_schema(leaf->attributes(), this->attributes))
      {
        throw Error(ErrorCode::Corrupt,
          fmt::format("{}: changed after {} was opened", leaf->name(), this->name));
      }
      return leaf;
    });
}

void Dataset::Impl::set_leaves(std::vector<LeafInfo> leaves, Opener opener) const
{
  this->leaves_ = std::move(leaves);
  this->opener_ = std::move(opener);
  this->slots_ = std::make_unique<Slot[]>(this->leaves_.size());
  std::uint64_t ordinal = 0;
  for (const LeafInfo& leaf : this->leaves_)
  {
    this->first_ordinal_.push_back(ordinal);
    ordinal += leaf.particles;
  }
  this->first_ordinal_.push_back(ordinal);
  this->ready_ = true;
}

const std::vector<LeafInfo>& Dataset::Impl::leaves() const
{
  std::call_once(this->loaded_,
    [this]
    {
      if (this->ready_)
      {
        return; // since the dataset was opened
      }
      const format::LeafFiles& files = this->top->leaf_files();
      const std::filesystem::path top = this->is_remote()
        ? std::filesystem::path(this->top->source->path())
        : io::follow_links(this->name);
      std::vector<LeafInfo> leaves;
      for (std::size_t i = 0; i != files.leaves.size(); ++i)
      {
        const format::LeafRecord& record = files.leaves[i];
        leaves.push_back({ display_name(io::path_beside(top, files.names[i])), record.particles,
          record.file_bytes, make_box(record.lower, record.upper) });
      }
      this->set_leaves(std::move(leaves), [this](std::size_t i) { return this->open_own(i); });
    });
  return this->leaves_;
}

std::filesystem::path Dataset::Impl::leaf_path(std::size_t i) const
{
  return this->top && this->is_remote()
    ? io::path_beside(this->top->source->path(), this->top->leaf_files().names[i])
    : this->leaves()[i].path;
}

std::unique_ptr<LeafSource> Dataset::Impl::open_own(std::size_t i) const
{
  const format::LeafRecord& record = this->top->leaf_files().leaves[i];
  const std::string path = this->leaves_[i].path.string();
  const std::string role =
    fmt::format("; leaf file {} of {} in {}", i + 1, this->leaves_.size(), this->name);
  const auto bad = [&](ErrorCode code, const std::string& what)
  { throw Error(code, fmt::format("{}: {}{}", path, what, role)); };
  const auto open = [&]
  {
    try
    {
      return File::open(this->leaf_path(i), this->options_);
    }
    catch (const Error& error) // the name does not show its dataset
    {
      if (error.code() == ErrorCode::NotFound)
      {
        bad(ErrorCode::NotFound, "does not exist");
      }
      throw Error(error.code(), error.what() + role);
    }
  };
  File file = open();
  if (file.impl().header.header_checksum != record.header_checksum ||
    file.particle_count() != record.particles || file.file_bytes() != record.file_bytes)
  {
    bad(ErrorCode::Corrupt,
      fmt::format("differs from the file that was written: {} particles and checksum {:016x} "
                  "instead of {} and {:016x}",
        file.particle_count(), file.impl().header.header_checksum, record.particles,
        record.header_checksum));
  }
  if (file.position_type() != this->position_type ||
    !same_schema(file.attributes(), this->attributes))
  {
    bad(ErrorCode::Corrupt, "its attributes differ from those in the top file");
  }
  if (!same_sample(file.impl().schema.sample_ids, this->top->schema.sample_ids))
  {
    bad(ErrorCode::Corrupt,
      fmt::format("has stable samples by [{}], the top file by [{}]",
        fmt::join(file.stable_samples(), ", "),
        fmt::join(format::sample_names(this->top->schema), ", ")));
  }
  return std::make_unique<FileLeaf>(std::move(file));
}

const LeafSource& Dataset::Impl::leaf(std::size_t i) const
{
  (void)this->leaves();
  Slot& slot = this->slots_[i];
  const std::lock_guard<std::mutex> lock(slot.mutex);
  if (!slot.leaf)
  {
    slot.leaf = this->opener_(i);
  }
  return *slot.leaf;
}

void Dataset::Impl::close_leaf(std::size_t i) const
{
  if (this->opener_)
  {
    const std::lock_guard<std::mutex> lock(this->slots_[i].mutex);
    this->slots_[i].leaf.reset();
  }
}

std::unique_ptr<LeafSource> Dataset::Impl::image(std::size_t i) const
{
  constexpr std::uint64_t maximum = std::uint64_t{ 8 } << 20; // bytes per piece
  const auto* own = dynamic_cast<const FileLeaf*>(&this->leaf(i));
  if (!own)
  {
    return nullptr;
  }
  const io::RandomAccessFile& source = *own->file().impl().source;
  if (source.is_mapped())
  {
    source.prefetch(0, source.size());
    return nullptr;
  }
  Bytes bytes(source.size());
  for (std::uint64_t at = 0; at < bytes.size(); at += maximum)
  {
    source.read(at, bytes.data() + at, std::min(maximum, bytes.size() - at));
  }
  return std::make_unique<FileLeaf>(File::from_memory(std::move(bytes), source.name()));
}

std::shared_ptr<const io::RandomAccessFile> Dataset::Impl::bytes_of(std::size_t i) const
{
  (void)this->leaves(); // makes the slots
  {
    const std::lock_guard<std::mutex> lock(this->slots_[i].mutex);
    if (const auto* own = dynamic_cast<const FileLeaf*>(this->slots_[i].leaf.get()))
    {
      return { std::shared_ptr<void>(), own->file().impl().source.get() };
    }
  }
  try
  {
    auto file = std::make_shared<io::RandomAccessFile>(this->leaf_path(i));
    file->set_observer(this->options_.on_read);
    return file;
  }
  catch (const Error&)
  {
    (void)this->leaf(i); // an error names the dataset
    throw;
  }
}

std::uint64_t Dataset::Impl::bytes_read() const noexcept
{
  std::uint64_t bytes = this->top ? this->top->source->bytes_read() : 0;
  for (std::size_t i = 0; this->ready_ && i != this->leaves_.size(); ++i)
  {
    const std::lock_guard<std::mutex> lock(this->slots_[i].mutex);
    bytes += this->slots_[i].leaf ? this->slots_[i].leaf->bytes_read() : 0;
  }
  return bytes;
}

query::Conditions Dataset::Impl::conditions(const Query& query) const
{
  return query::make_conditions({ this->name, this->particles, this->attributes },
    query::part_ordinals(this->name, this->particles, query), query);
}

bool Dataset::Impl::is_remote() const noexcept
{
  return this->top ? this->top->source->is_remote()
                   : this->single && this->single->impl().source->is_remote();
}

// Waiting takes longer than computing: more leaf files are opened at once than there are
// processors.
void Dataset::Impl::prepare_leaves(const std::vector<Task>& tasks,
  const std::function<void(const Task&, const LeafSource&)>& read) const
{
  constexpr std::size_t kMaxThreads = 16;
  if (tasks.size() < 2 || !this->is_remote())
  {
    return;
  }
  std::atomic<std::size_t> next{ 0 };
  const auto prepare = [&]
  {
    for (std::size_t i = next++; i < tasks.size(); i = next++)
    {
      (void)attempt(
        [&]
        {
          const LeafSource& leaf = this->leaf(tasks[i].leaf);
          if (read)
          {
            read(tasks[i], leaf);
          }
        });
    }
  };
  run_in_threads(std::min(kMaxThreads, tasks.size()), prepare);
}

std::vector<Dataset::Impl::Task> Dataset::Impl::tasks(const query::Conditions& conditions) const
{
  (void)this->leaves();
  std::vector<Task> tasks;
  if (conditions.never)
  {
    return tasks;
  }
  const format::LeafFiles* files = this->top ? &this->top->leaf_files() : nullptr;
  const auto add = [&](std::size_t leaf)
  {
    const std::uint64_t first = this->first_ordinal_[leaf];
    const std::uint64_t end = this->first_ordinal_[leaf + 1];
    const std::uint64_t a = std::max(conditions.first_ordinal, first);
    const std::uint64_t b = std::min(conditions.end_ordinal, end);
    // A step that adds no particle overall may still add one in a leaf file.
    const bool takes_none =
      count_at(conditions.after_quality, end - first) >= count_at(conditions.quality, end - first);
    if (a >= b || takes_none)
    {
      return;
    }
    for (const query::KeyCondition& key : conditions.keys)
    {
      if (files &&
        (key.of_positions
            ? is_apart(files->leaves[leaf], key)
            : is_apart(files->keys[leaf * this->top->schema.keys.size() + key.key], key)))
      {
        return;
      }
    }
    tasks.push_back({ leaf, { a - first, b - first } });
  };
  if (!files)
  {
    for (std::size_t leaf = 0; leaf != this->leaves_.size(); ++leaf)
    {
      add(leaf);
    }
    return tasks;
  }
  const std::vector<format::NodeRecord>& nodes = files->nodes;
  for (std::size_t node = 0; node != nodes.size();)
  {
    const format::NodeRecord& record = nodes[node];
    if (query::relate(record.lower, record.upper, conditions.places) == query::Relation::Outside)
    {
      node = record.skip;
      continue;
    }
    if (record.skip == node + 1)
    {
      add(record.first_treelet);
    }
    ++node;
  }
  return tasks;
}

Dataset::Dataset(std::unique_ptr<Impl> impl)
  : impl_(std::move(impl))
{
}
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

Dataset Dataset::open(const std::filesystem::path& path, const OpenOptions& options)
{
  auto source =
    std::make_unique<io::RandomAccessFile>(path, options.map ? io::Access::Map : io::Access::Read);
  source->set_observer(options.on_read);
  const std::optional<format::FileKind> kind = format::peek_kind(*source);
  if (kind == format::FileKind::Top)
  {
    return Dataset(std::make_unique<Impl>(std::make_unique<TopFile>(std::move(source)), options));
  }
  // Files of the paper's library: users see their keys as ranges, so they must be exact.
  if (!kind && !source->is_remote() && libbat::is_top(path))
  {
    return Dataset(
      std::make_unique<Impl>(libbat::read_top(path, options, libbat::KeyRanges::Exact), options));
  }
  if (!kind && !source->is_remote() && libbat::is_leaf(path))
  {
    return Dataset(
      std::make_unique<Impl>(libbat::open_leaf(path, options, libbat::KeyRanges::Exact), "libbat"));
  }
  File file(
    std::make_unique<File::Impl>(std::move(source))); // the same, if `path` is being replaced
  std::string version = file.format_version();
  return Dataset(
    std::make_unique<Impl>(std::make_unique<FileLeaf>(std::move(file)), std::move(version)));
}

bool Dataset::is_remote() const noexcept
{
  return this->impl_->is_remote();
}

bool Dataset::can_open(const std::filesystem::path& path) noexcept
{
  return File::has_magic(path) || libbat::is_leaf(path) || libbat::is_top(path);
}

const std::string& Dataset::name() const noexcept
{
  return this->impl_->name;
}

std::string Dataset::format_version() const
{
  return this->impl_->version;
}

std::uint64_t Dataset::particle_count() const noexcept
{
  return this->impl_->particles;
}

ScalarType Dataset::position_type() const noexcept
{
  return this->impl_->position_type;
}

std::optional<Box> Dataset::bounds() const noexcept
{
  return this->impl_->bounds;
}

std::optional<double> Dataset::time() const noexcept
{
  return this->impl_->time;
}

std::optional<std::int64_t> Dataset::step() const noexcept
{
  return this->impl_->step;
}

std::string Dataset::metadata() const
{
  if (this->impl_->single)
  {
    return this->impl_->single->metadata();
  }
  return this->impl_->top ? format::read_text(*this->impl_->top->source, this->impl_->top->sections,
                              format::SectionKind::Metadata)
                          : std::string();
}

const std::vector<Attribute>& Dataset::attributes() const noexcept
{
  return this->impl_->attributes;
}

std::vector<std::string> Dataset::stable_samples() const
{
  if (this->impl_->single)
  {
    return this->impl_->single->stable_samples();
  }
  return this->impl_->top ? format::sample_names(this->impl_->top->schema)
                          : std::vector<std::string>();
}

Hdf5ViewInfo Dataset::hdf5_view() const
{
  const Impl& impl = *this->impl_;
  if (impl.single)
  {
    return impl.single->hdf5_view();
  }
  Hdf5ViewInfo view;
  if (!impl.top)
  {
    return view;
  }
  view.exists = format::find_section(impl.top->sections, format::SectionKind::Hdf5Objects);
  std::set<std::string> names;
  bool every_leaf_has_one = true;
  for (std::size_t i = 0; i != this->leaves().size(); ++i)
  {
    try
    {
      Hdf5ViewInfo leaf = this->leaf_file(i).hdf5_view();
      every_leaf_has_one = every_leaf_has_one && leaf.exists;
      if (!leaf.reason.empty() && view.reason.empty())
      {
        view.reason = fmt::format("leaf file {}: {}", i, leaf.reason);
      }
      for (LeftOut& attribute : leaf.left_out)
      {
        if (view.exists && names.insert(attribute.name).second)
        {
          view.left_out.push_back(std::move(attribute));
        }
      }
    }
    catch (const Error&)
    {
      every_leaf_has_one = false; // The others are described.
    }
  }
  if (view.exists)
  {
    view.reason.clear();
  }
  else if (every_leaf_has_one)
  {
    view.reason = "the writer left it out, or it would be too large for these leaf files";
  }
  return view;
}

std::vector<std::string> Dataset::attribute_names() const
{
  std::vector<std::string> names;
  for (const Attribute& attribute : this->attributes())
  {
    names.push_back(attribute.name);
  }
  return names;
}

std::size_t Dataset::attribute_index(std::string_view name) const
{
  return query::find_attribute(this->name(), this->attributes(), name);
}

bool Dataset::is_absent_when_empty(std::string_view name) const
{
  return query::is_absent_when_empty(this->particle_count(), this->attributes(), name);
}

std::uint64_t Dataset::bytes_per_particle() const noexcept
{
  return bat::bytes_per_particle(this->position_type(), this->attributes());
}

std::uint64_t Dataset::data_bytes() const noexcept
{
  return this->bytes_per_particle() * this->particle_count();
}

const std::vector<LeafInfo>& Dataset::leaves() const
{
  return this->impl_->leaves();
}

std::uint64_t Dataset::file_bytes() const
{
  std::uint64_t bytes =
    this->impl_->top ? this->impl_->top->header.file_bytes : this->impl_->top_bytes;
  for (const LeafInfo& leaf : this->leaves())
  {
    bytes += leaf.file_bytes;
  }
  return bytes;
}

const File* Dataset::single_file() const noexcept
{
  return this->impl_->single;
}

const File& Dataset::leaf_file(std::size_t leaf) const
{
  const std::size_t count = this->leaves().size();
  if (leaf >= count)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format(
        "{}: leaf file number {} is out of range; the dataset has {}", this->name(), leaf, count));
  }
  const auto* own = dynamic_cast<const FileLeaf*>(&this->impl_->leaf(leaf));
  if (!own)
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: is a libbat file", this->leaves()[leaf].path.string()));
  }
  return own->file();
}

std::uint64_t Dataset::particles_at(double quality) const
{
  query::check_quality(this->name(), quality);
  std::uint64_t count = 0;
  for (const LeafInfo& leaf : this->leaves())
  {
    count += count_at(quality, leaf.particles);
  }
  return count;
}

std::uint64_t Dataset::upper_bound(const Query& query, const QueryOptions& options) const
{
  const query::Conditions conditions = this->impl_->conditions(query);
  const std::vector<Impl::Task> tasks = this->impl_->tasks(conditions);
  const auto bound_in = [&](const Impl::Task& task, const LeafSource& leaf)
  { return leaf.upper_bound(query::of_leaf(conditions, leaf.particle_count(), task.ordinals)); };
  this->impl_->prepare_leaves(tasks, bound_in);
  std::uint64_t count = 0;
  for (const Impl::Task& task : tasks)
  {
    Impl::reading(
      task.leaf, options, [&] { count += bound_in(task, this->impl_->leaf(task.leaf)); });
  }
  return count;
}

DatasetSelection Dataset::select(const Query& query, const QueryOptions& options) const
{
  const query::Conditions conditions = this->impl_->conditions(query);
  const std::vector<Impl::Task> tasks = this->impl_->tasks(conditions);
  std::vector<Selection> found(tasks.size());
  this->impl_->prepare_leaves(tasks);
  const auto select_in = [&](std::size_t i)
  {
    Impl::reading(tasks[i].leaf, options,
      [&]
      {
        const LeafSource& leaf = this->impl_->leaf(tasks[i].leaf);
        found[i] = leaf.select(
          query::of_leaf(conditions, leaf.particle_count(), tasks[i].ordinals), options);
      });
  };
  if (tasks.size() == 1)
  {
    select_in(0);
  }
  else
  {
    in_arena(
      options.threads, [&] { tbb::parallel_for(std::size_t{ 0 }, tasks.size(), select_in); });
  }
  DatasetSelection selection;
  for (std::size_t i = 0; i != tasks.size(); ++i)
  {
    selection.count += found[i].count;
    selection.tested += found[i].tested;
    if (found[i].count != 0)
    {
      selection.parts.push_back({ tasks[i].leaf, std::move(found[i]) });
    }
  }
  return selection;
}

namespace
{
// Calls read(leaf number, its selection, first row) for each part, in parallel.
template <class Read>
void for_each_part(const DatasetSelection& selection, const QueryOptions& options, const Read& read)
{
  std::vector<std::uint64_t> first_row;
  std::uint64_t rows = 0;
  for (const DatasetSelection::Part& part : selection.parts)
  {
    first_row.push_back(rows);
    rows += part.selection.count;
  }
  const auto read_part = [&](std::size_t i)
  {
    const DatasetSelection::Part& part = selection.parts[i];
    Dataset::Impl::reading(
      part.leaf, options, [&] { read(part.leaf, part.selection, first_row[i]); });
  };
  if (selection.parts.size() == 1)
  {
    read_part(0);
    return;
  }
  in_arena(options.threads,
    [&] { tbb::parallel_for(std::size_t{ 0 }, selection.parts.size(), read_part); });
}
}

void Dataset::read_positions(
  const DatasetSelection& selection, void* out, const QueryOptions& options) const
{
  const std::uint64_t bytes = 3 * size_of(this->position_type());
  if (this->impl_->is_remote())
  {
    this->prefetch(selection, {});
  }
  for_each_part(selection, options,
    [&](std::size_t leaf, const Selection& part, std::uint64_t row)
    {
      this->impl_->leaf(leaf).read_positions(
        part, static_cast<std::byte*>(out) + row * bytes, options);
    });
}

void Dataset::read_attribute(std::size_t index, const DatasetSelection& selection, void* out,
  const QueryOptions& options) const
{
  if (index >= this->attributes().size())
  {
    throw Error(ErrorCode::InvalidArgument,
      fmt::format("{}: attribute number {} is out of range; the file has {}", this->name(), index,
        this->attributes().size()));
  }
  const Attribute& a = this->attributes()[index];
  const std::uint64_t bytes = tuple_bytes(a.type, a.components);
  for_each_part(selection, options,
    [&](std::size_t leaf, const Selection& part, std::uint64_t row)
    {
      this->impl_->leaf(leaf).read_attribute(
        index, part, static_cast<std::byte*>(out) + row * bytes, options);
    });
}

void Dataset::prefetch(
  const DatasetSelection& selection, const std::vector<std::size_t>& attributes) const
{
  for (const DatasetSelection::Part& part : selection.parts)
  {
    this->impl_->leaf(part.leaf).prefetch(part.selection, attributes);
  }
}

std::vector<DatasetSelection> split(const DatasetSelection& selection, std::uint64_t maximum)
{
  std::vector<DatasetSelection> portions;
  for (const DatasetSelection::Part& part : selection.parts)
  {
    for (Span rest : part.selection.spans)
    {
      while (rest.count != 0)
      {
        if (portions.empty() || portions.back().count == maximum)
        {
          portions.emplace_back();
        }
        DatasetSelection& portion = portions.back();
        if (portion.parts.empty() || portion.parts.back().leaf != part.leaf)
        {
          portion.parts.push_back({ part.leaf, {} });
        }
        Selection& last = portion.parts.back().selection;
        const std::uint64_t count = std::min(rest.count, maximum - portion.count);
        last.spans.push_back({ rest.first, count });
        last.count += count;
        portion.count += count;
        rest.first += count;
        rest.count -= count;
      }
    }
  }
  return portions;
}

std::uint64_t Dataset::bytes_read() const noexcept
{
  return this->impl_->bytes_read();
}

std::uint64_t compute_checksum(const Dataset& dataset)
{
  if (const File* file = dataset.single_file())
  {
    return file->impl().header.header_checksum;
  }
  return dataset.impl().top ? dataset.impl().top->header.header_checksum : 0;
}
}
