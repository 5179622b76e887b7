// SPDX-License-Identifier: BSD-3-Clause
// A small simulation that is instrumented for Catalyst 2: vortices break up into turbulence and
// carry dust. It does not depend on ParaBAT; environment variables select the Catalyst
// implementation that writes or draws its data.
//
//   mpirun -np 4 vortex SAMPLES STEPS EVERY GRAINS
//
// Simulates the Taylor-Green vortex in a periodic box of SAMPLES^3 with a lattice Boltzmann method
// (D3Q19, one relaxation time) divided among the ranks in layers along z. Grains follow the flow
// with inertia. Units are those of the lattice: one sample, one step. Catalyst receives the first
// step and every EVERY-th one. Results do not depend on the number of ranks.
#include <catalyst.h>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace
{
constexpr double kSpeed = 0.1; // speed of the vortices; the speed of sound is 0.58
constexpr double kReynolds = 600;
constexpr double kPi = 3.14159265358979323846;

constexpr int kDirections = 19;
constexpr int kC[kDirections][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 },
  { 0, -1, 0 }, { 0, 0, 1 }, { 0, 0, -1 }, { 1, 1, 0 }, { -1, -1, 0 }, { 1, -1, 0 }, { -1, 1, 0 },
  { 1, 0, 1 }, { -1, 0, -1 }, { 1, 0, -1 }, { -1, 0, 1 }, { 0, 1, 1 }, { 0, -1, -1 }, { 0, 1, -1 },
  { 0, -1, 1 } };

double weight(int q)
{
  return q == 0 ? 1.0 / 3 : q < 7 ? 1.0 / 18 : 1.0 / 36;
}

double equilibrium(int q, double density, const std::array<double, 3>& u)
{
  const double along = kC[q][0] * u[0] + kC[q][1] * u[1] + kC[q][2] * u[2];
  const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  return weight(q) * density * (1 + 3 * along + 4.5 * along * along - 1.5 * square);
}

// The layers of this rank: `count` layers starting at `first`, plus one layer of each neighbour.
struct Layers
{
  explicit Layers(int samples)
    : n(samples)
  {
    MPI_Comm_rank(MPI_COMM_WORLD, &this->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &this->ranks);
    this->first = begin_of(this->rank);
    this->count = begin_of(this->rank + 1) - this->first;
  }
  [[nodiscard]] int begin_of(int some) const
  {
    return static_cast<int>(std::int64_t{ this->n } * some / this->ranks);
  }
  [[nodiscard]] int owner_of(int layer) const
  {
    int owner = static_cast<int>(std::int64_t{ layer } * this->ranks / this->n);
    for (; begin_of(owner + 1) <= layer; ++owner)
    {
    }
    return owner;
  }
  [[nodiscard]] std::size_t layer() const { return std::size_t(this->n) * std::size_t(this->n); }
  [[nodiscard]] std::size_t samples() const { return std::size_t(this->count + 2) * this->layer(); }
  [[nodiscard]] std::size_t at(int z, int y, int x) const
  {
    return (std::size_t(z) * std::size_t(this->n) + std::size_t(y)) * std::size_t(this->n) +
      std::size_t(x);
  }
  [[nodiscard]] int wrap(int i) const { return (i + this->n) % this->n; }

  // Fetches the neighbours' layers, with `values` per sample.
  template <class T>
  void exchange(T* array, int values) const
  {
    const std::size_t bytes = this->layer() * std::size_t(values) * sizeof(T);
    char* base = reinterpret_cast<char*>(array);
    const int up = (this->rank + 1) % this->ranks;
    const int down = (this->rank + this->ranks - 1) % this->ranks;
    const auto size = static_cast<int>(bytes);
    MPI_Sendrecv(base + bytes * std::size_t(this->count), size, MPI_BYTE, up, 0, base, size,
      MPI_BYTE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(base + bytes, size, MPI_BYTE, down, 1, base + bytes * std::size_t(this->count + 1),
      size, MPI_BYTE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  int n;
  int rank = 0;
  int ranks = 1;
  int first = 0;
  int count = 0;
};

class Flow
{
public:
  std::vector<float> velocity; // interleaved
  std::vector<float> vorticity;

  explicit Flow(const Layers& layers)
    : velocity(3 * layers.samples())
    , vorticity(layers.samples())
    , layers_(layers)
    , from_(kDirections * layers.samples())
    , to_(from_.size())
  {
    const double k = 2 * kPi / layers.n;
    const double viscosity = kSpeed / k / kReynolds;
    this->rate_ = 1 / (3 * viscosity + 0.5);
    for (int z = 0; z != layers.count; ++z)
    {
      for (int y = 0; y != layers.n; ++y)
      {
        for (int x = 0; x != layers.n; ++x)
        {
          const double a = k * x;
          const double b = k * y;
          const double c = k * (layers.first + z);
          const std::array<double, 3> u{ kSpeed * std::sin(a) * std::cos(b) * std::cos(c),
            -kSpeed * std::cos(a) * std::sin(b) * std::cos(c), 0 };
          const double density = 1 +
            3.0 / 16 * kSpeed * kSpeed * (std::cos(2 * a) + std::cos(2 * b)) *
              (std::cos(2 * c) + 2);
          this->keep(layers.at(z + 1, y, x), u);
          for (int q = 0; q != kDirections; ++q)
          {
            this->from_[this->place(q, z + 1, y, x)] = equilibrium(q, density, u);
          }
        }
      }
    }
    this->exchange();
  }

  void step()
  {
    const Layers& l = this->layers_;
    for (int z = 1; z != l.count + 1; ++z)
    {
      for (int y = 0; y != l.n; ++y)
      {
        const double* rows[kDirections];
        for (int q = 0; q != kDirections; ++q)
        {
          rows[q] = &this->from_[this->place(q, z - kC[q][2], l.wrap(y - kC[q][1]), 0)];
        }
        for (int x = 0; x != l.n; ++x)
        {
          this->collide(z, y, x, rows);
        }
      }
    }
    std::swap(this->from_, this->to_);
    this->exchange();
  }

  // Its magnitude, by central differences.
  void find_vorticity()
  {
    const Layers& l = this->layers_;
    for (int z = 1; z != l.count + 1; ++z)
    {
      for (int y = 0; y != l.n; ++y)
      {
        for (int x = 0; x != l.n; ++x)
        {
          const std::size_t beside[3][2] = { { l.at(z, y, l.wrap(x - 1)),
                                               l.at(z, y, l.wrap(x + 1)) },
            { l.at(z, l.wrap(y - 1), x), l.at(z, l.wrap(y + 1), x) },
            { l.at(z - 1, y, x), l.at(z + 1, y, x) } };
          const auto slope = [&](std::size_t component, std::size_t axis)
          {
            return 0.5F *
              (this->velocity[3 * beside[axis][1] + component] -
                this->velocity[3 * beside[axis][0] + component]);
          };
          this->vorticity[l.at(z, y, x)] = std::hypot(
            slope(2, 1) - slope(1, 2), slope(0, 2) - slope(2, 0), slope(1, 0) - slope(0, 1));
        }
      }
    }
    l.exchange(this->vorticity.data(), 1);
  }

  // Interpolates between samples; z is from the first own layer to the one after the last.
  [[nodiscard]] std::array<float, 3> velocity_at(const double* position) const
  {
    const Layers& l = this->layers_;
    const int x = static_cast<int>(position[0]) % l.n;
    const int y = static_cast<int>(position[1]) % l.n;
    const int z = static_cast<int>(position[2]) - l.first + 1;
    std::array<float, 3> result{};
    for (int corner = 0; corner != 8; ++corner)
    {
      const int dx = corner & 1;
      const int dy = corner >> 1 & 1;
      const int dz = corner >> 2;
      double share = 1;
      for (int axis = 0; axis != 3; ++axis)
      {
        const double part = position[axis] - std::floor(position[axis]);
        share *= (corner >> axis & 1) != 0 ? part : 1 - part;
      }
      const std::size_t i = l.at(z + dz, l.wrap(y + dy), l.wrap(x + dx));
      for (std::size_t c = 0; c != 3; ++c)
      {
        result[c] += static_cast<float>(share) * this->velocity[3 * i + c];
      }
    }
    return result;
  }

private:
  // The directions of a layer are contiguous, so one message carries them to a neighbour.
  [[nodiscard]] std::size_t place(int q, int z, int y, int x) const
  {
    return this->layers_.at(z * kDirections + q, y, x);
  }
  void keep(std::size_t sample, const std::array<double, 3>& u)
  {
    for (std::size_t c = 0; c != 3; ++c)
    {
      this->velocity[3 * sample + c] = static_cast<float>(u[c]);
    }
  }

  // Computes collisions of the distributions that stream to a sample.
  void collide(int z, int y, int x, const double* const* rows)
  {
    const int n = this->layers_.n;
    double f[kDirections];
    double density = 0;
    std::array<double, 3> u{};
    for (int q = 0; q != kDirections; ++q)
    {
      const int from = x - kC[q][0];
      f[q] = rows[q][from < 0 ? n - 1 : from == n ? 0 : from];
      density += f[q];
      for (std::size_t c = 0; c != 3; ++c)
      {
        u[c] += kC[q][c] * f[q];
      }
    }
    for (double& component : u)
    {
      component /= density;
    }
    this->keep(this->layers_.at(z, y, x), u);
    for (int q = 0; q != kDirections; ++q)
    {
      this->to_[this->place(q, z, y, x)] = f[q] + this->rate_ * (equilibrium(q, density, u) - f[q]);
    }
  }

  void exchange()
  {
    this->layers_.exchange(this->from_.data(), kDirections);
    this->layers_.exchange(this->velocity.data(), 3);
  }

  const Layers& layers_;
  std::vector<double> from_;
  std::vector<double> to_;
  double rate_ = 1;
};

struct Grain
{
  double position[3];
  float velocity[3];
  std::int64_t id;
};

class Dust
{
public:
  Dust(const Layers& layers, const Flow& flow, std::int64_t count)
    : layers_(layers)
    , flow_(flow)
    , response_(0.3 * layers.n / (2 * kPi) / kSpeed)
  {
    for (std::int64_t id = 0; id != count; ++id)
    {
      // Spreads the grains evenly, using multiples of irrational numbers.
      constexpr double steps[3] = { 0.8191725133961645, 0.6710436067037893, 0.5497004779019703 };
      Grain grain{};
      grain.id = id;
      for (int axis = 0; axis != 3; ++axis)
      {
        const double turns = static_cast<double>(id) * steps[axis];
        grain.position[axis] = (turns - std::floor(turns)) * layers.n;
      }
      if (layers.owner_of(static_cast<int>(grain.position[2])) == layers.rank)
      {
        const auto u = flow.velocity_at(grain.position);
        std::copy(u.begin(), u.end(), grain.velocity);
        this->grains.push_back(grain);
      }
    }
  }

  void step()
  {
    std::vector<std::vector<Grain>> leaving(static_cast<std::size_t>(this->layers_.ranks));
    for (Grain& grain : this->grains)
    {
      const auto u = this->flow_.velocity_at(grain.position);
      for (std::size_t c = 0; c != 3; ++c)
      {
        const double v = (grain.velocity[c] + u[c] / this->response_) / (1 + 1 / this->response_);
        grain.velocity[c] = static_cast<float>(v);
        grain.position[c] += v;
        grain.position[c] -= this->layers_.n * std::floor(grain.position[c] / this->layers_.n);
        // Just below 0 becomes n.
        grain.position[c] = grain.position[c] < this->layers_.n ? grain.position[c] : 0;
      }
      leaving[std::size_t(this->layers_.owner_of(static_cast<int>(grain.position[2])))].push_back(
        grain);
    }
    this->deal(leaving);
  }

  std::vector<Grain> grains;

private:
  // Moves grains to the ranks that own their layers.
  void deal(const std::vector<std::vector<Grain>>& leaving)
  {
    const auto ranks = leaving.size();
    std::vector<int> sent(ranks);
    std::vector<int> got(ranks);
    std::vector<int> sent_at(ranks);
    std::vector<int> got_at(ranks);
    std::vector<Grain> out;
    for (std::size_t r = 0; r != ranks; ++r)
    {
      sent_at[r] = static_cast<int>(out.size() * sizeof(Grain));
      sent[r] = static_cast<int>(leaving[r].size() * sizeof(Grain));
      out.insert(out.end(), leaving[r].begin(), leaving[r].end());
    }
    MPI_Alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, MPI_COMM_WORLD);
    int bytes = 0;
    for (std::size_t r = 0; r != ranks; ++r)
    {
      got_at[r] = bytes;
      bytes += got[r];
    }
    this->grains.resize(static_cast<std::size_t>(bytes) / sizeof(Grain));
    MPI_Alltoallv(out.data(), sent.data(), sent_at.data(), MPI_BYTE, this->grains.data(),
      got.data(), got_at.data(), MPI_BYTE, MPI_COMM_WORLD);
  }

  const Layers& layers_;
  const Flow& flow_;
  double response_; // steps in which a grain takes up the velocity of the flow
};

void set(conduit_node* node, const std::string& path, const char* text)
{
  conduit_node_set_path_char8_str(node, path.c_str(), text);
}

void set(conduit_node* node, const std::string& path, std::int64_t number)
{
  conduit_node_set_path_int64(node, path.c_str(), number);
}

void set(conduit_node* node, const std::string& path, double number)
{
  conduit_node_set_path_float64(node, path.c_str(), number);
}

// Borrows every `stride`-th byte of an array.
void borrow(
  conduit_node* node, const std::string& path, float* values, std::size_t count, std::size_t stride)
{
  conduit_node_set_path_external_float32_ptr_detailed(node, path.c_str(), values,
    conduit_index_t(count), 0, conduit_index_t(stride), sizeof(float),
    CONDUIT_ENDIANNESS_DEFAULT_ID);
}

void describe_field(conduit_node* node, const std::string& field, const char* topology)
{
  set(node, field + "/association", "vertex");
  set(node, field + "/topology", topology);
}

// A uniform mesh. It extends to the next rank's first layer, so that no cells are missing between
// ranks.
void describe_flow(conduit_node* node, const Layers& layers, Flow& flow)
{
  const std::string data = "catalyst/channels/flow/data/";
  const int layers_shown = layers.count + (layers.rank == layers.ranks - 1 ? 0 : 1);
  const std::size_t samples = layers.layer() * std::size_t(layers_shown);
  set(node, "catalyst/channels/flow/type", "mesh");
  set(node, data + "coordsets/box/type", "uniform");
  set(node, data + "coordsets/box/dims/i", std::int64_t{ layers.n });
  set(node, data + "coordsets/box/dims/j", std::int64_t{ layers.n });
  set(node, data + "coordsets/box/dims/k", std::int64_t{ layers_shown });
  set(node, data + "coordsets/box/origin/x", 0.0);
  set(node, data + "coordsets/box/origin/y", 0.0);
  set(node, data + "coordsets/box/origin/z", static_cast<double>(layers.first));
  set(node, data + "topologies/mesh/type", "uniform");
  set(node, data + "topologies/mesh/coordset", "box");
  describe_field(node, data + "fields/vorticity", "mesh");
  borrow(node, data + "fields/vorticity/values", flow.vorticity.data() + layers.layer(), samples,
    sizeof(float));
  describe_field(node, data + "fields/velocity", "mesh");
  for (std::size_t c = 0; c != 3; ++c)
  {
    borrow(node, data + "fields/velocity/values/" + "uvw"[c],
      flow.velocity.data() + 3 * layers.layer() + c, samples, 3 * sizeof(float));
  }
}

// Points, stored as the simulation's own records.
void describe_dust(conduit_node* node, Dust& dust)
{
  const std::string data = "catalyst/channels/dust/data/";
  const std::size_t count = dust.grains.size();
  static Grain none{};
  Grain* first = count == 0 ? &none : dust.grains.data();
  set(node, "catalyst/channels/dust/type", "mesh");
  set(node, data + "coordsets/places/type", "explicit");
  set(node, data + "topologies/mesh/type", "points");
  set(node, data + "topologies/mesh/coordset", "places");
  describe_field(node, data + "fields/velocity", "mesh");
  for (std::size_t c = 0; c != 3; ++c)
  {
    const std::string axis = data + "coordsets/places/values/" + "xyz"[c];
    conduit_node_set_path_external_float64_ptr_detailed(node, axis.c_str(), &first->position[c],
      conduit_index_t(count), 0, sizeof(Grain), sizeof(double), CONDUIT_ENDIANNESS_DEFAULT_ID);
    borrow(node, data + "fields/velocity/values/" + "uvw"[c], &first -> velocity[c], count,
      sizeof(Grain));
  }
  describe_field(node, data + "fields/id", "mesh");
  conduit_node_set_path_external_int64_ptr_detailed(node, (data + "fields/id/values").c_str(),
    &first->id, conduit_index_t(count), 0, sizeof(Grain), sizeof(std::int64_t),
    CONDUIT_ENDIANNESS_DEFAULT_ID);
}

bool hand_over(const Layers& layers, Flow& flow, Dust& dust, std::int64_t step)
{
  flow.find_vorticity();
  conduit_node* node = conduit_node_create();
  set(node, "catalyst/state/timestep", step);
  set(node, "catalyst/state/time", static_cast<double>(step));
  describe_flow(node, layers, flow);
  describe_dust(node, dust);
  const bool is_good = catalyst_execute(node) == catalyst_status_ok;
  conduit_node_destroy(node);
  return is_good;
}

bool run(int samples, std::int64_t steps, std::int64_t every, std::int64_t grains)
{
  const Layers layers(samples);
  Flow flow(layers);
  Dust dust(layers, flow, grains);
  conduit_node* node = conduit_node_create();
  set(node, "catalyst/mpi_comm", std::int64_t{ MPI_Comm_c2f(MPI_COMM_WORLD) });
  bool is_good = catalyst_initialize(node) == catalyst_status_ok;
  for (std::int64_t step = 0; step <= steps; ++step)
  {
    if (step % every == 0)
    {
      is_good = hand_over(layers, flow, dust, step) && is_good;
    }
    flow.step();
    dust.step();
  }
  is_good = catalyst_finalize(node) == catalyst_status_ok && is_good;
  conduit_node_destroy(node);
  return is_good;
}
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto number = [&](int i) { return argc == 5 ? std::atoll(argv[i]) : 0; };
  const bool is_requested = number(1) >= ranks && number(1) >= 4 && number(1) <= 4096 &&
    number(2) >= 0 && number(3) > 0 && number(4) >= 0;
  if (!is_requested)
  {
    std::fprintf(stderr, "usage: vortex SAMPLES STEPS EVERY GRAINS; SAMPLES from %d to 4096\n",
      std::max(ranks, 4));
  }
  const bool is_good =
    is_requested && run(static_cast<int>(number(1)), number(2), number(3), number(4));
  MPI_Finalize();
  return is_good ? 0 : 1;
}
