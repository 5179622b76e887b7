// Each rank reads its own particles of a dataset that all have open.

#include "bat/mpi.hpp"

#include "bat/dataset/dataset_checksum.hpp"
#include "parallel/comm.hpp"

namespace bat::mpi
{
Dataset open_dataset(MPI_Comm comm, const std::filesystem::path& path, const OpenOptions& options)
{
  const OwnComm own(comm);
  std::string text = path.string();
  broadcast_text(own, text);
  std::optional<Dataset> dataset;
  const auto open = [&] { dataset.emplace(Dataset::open(text, options)); };
  // Rank 0 first: a file that is not there is looked for once, not by thousands.
  together(own.get(),
    [&]
    {
      if (own.rank() == 0)
      {
        open();
      }
    });
  together(own.get(),
    [&]
    {
      if (own.rank() != 0)
      {
        open();
      }
    });
  // A writer may have replaced it between the two.
  const std::uint64_t mine = checksum_of(*dataset);
  std::uint64_t first = mine;
  MPI_Bcast(&first, 1, MPI_UINT64_T, 0, own.get());
  together(own.get(),
    [&]
    {
      if (mine != first)
      {
        throw Error(
          ErrorCode::CannotOpen, text + ": was replaced while it was being opened; open it again");
      }
    });
  return std::move(*dataset);
}

ParticleView Particles::view() const
{
  ParticleView view;
  view.count = this->count;
  view.positions = ArrayView::packed(this->position_type, 3, this->positions.data());
  for (const Column& column : this->columns)
  {
    AttributeView attribute;
    attribute.name = column.name;
    attribute.values = ArrayView::packed(column.type, column.components, column.values.data());
    view.attributes.push_back(std::move(attribute));
  }
  return view;
}

Particles read_particles(MPI_Comm comm, const Dataset& dataset, const Query& query,
  const std::vector<std::string>& attributes)
{
  const OwnComm own(comm);
  QueryOptions options;
  options.threads = threads_per_rank(own.get());
  std::vector<std::string> names;
  together(own.get(), [&] { names = attributes.empty() ? dataset.attribute_names() : attributes; });
  require_same(own, names, "the attributes to read");
  Particles particles;
  together(own.get(),
    [&]
    {
      const DatasetSelection selection = dataset.select(query, options);
      particles.count = selection.count;
      particles.position_type = dataset.position_type();
      particles.positions.resize(selection.count * 3 * size_of(dataset.position_type()));
      dataset.read_positions(selection, particles.positions.data(), options);
      for (const std::string& name : names)
      {
        const std::size_t index = dataset.attribute_index(name);
        const Attribute& attribute = dataset.attributes()[index];
        Particles::Column column{ name, attribute.type, attribute.components, {} };
        column.values.resize(selection.count * size_of(attribute.type) *
          static_cast<std::size_t>(attribute.components));
        dataset.read_attribute(index, selection, column.values.data(), options);
        particles.columns.push_back(std::move(column));
      }
    });
  return particles;
}
}
