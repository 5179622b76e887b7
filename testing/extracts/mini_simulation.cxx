// SPDX-License-Identifier: BSD-3-Clause
// A simulation in miniature that hands its own arrays to ParaView in every step, as vtkPolyData,
// vtkPartitionedDataSet, vtkPartitionedDataSetCollection and vtkMultiBlockDataSet; and as vertices
// with cell data, beside a grid that only one rank has.
//
//   mini_simulation script STEPS FILE.py    runs a Catalyst script
//   mini_simulation io STEPS FOLDER         ParaView-Catalyst's built-in pipeline for writing files
//
// test_simulation.py knows the same particles by the same formulas. All numbers are exact in the
// types that they are stored in. In each step but every (ranks + 1)th, one rank has no particles.
#include "vtkCPDataDescription.h"
#include "vtkCPInputDataDescription.h"
#include "vtkCPProcessor.h"
#include "vtkCPPythonScriptV2Pipeline.h"
#include "vtkCellArray.h"
#include "vtkCellData.h"
#include "vtkCellType.h"
#include "vtkFieldData.h"
#include "vtkFloatArray.h"
#include "vtkInSituInitializationHelper.h"
#include "vtkInSituPipelineIO.h"
#include "vtkMPI.h"
#include "vtkMPICommunicator.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkPVTrivialProducer.h"
#include "vtkPVVersion.h"
#include "vtkPartitionedDataSet.h"
#include "vtkPartitionedDataSetCollection.h"
#include "vtkPointData.h"
#include "vtkPoints.h"
#include "vtkPolyData.h"
#include "vtkSMProxyManager.h"
#include "vtkSMSessionProxyManager.h"
#include "vtkSMSourceProxy.h"
#include "vtkSOADataArrayTemplate.h"
#include "vtkSmartPointer.h"
#include "vtkTypeInt64Array.h"
#include "vtkUnsignedCharArray.h"
#include "vtkUnstructuredGrid.h"

#include <mpi.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace
{
using Channels = std::map<std::string, vtkSmartPointer<vtkDataObject>>;

class Simulation
{
public:
  Simulation(MPI_Comm communicator)
  {
    MPI_Comm_rank(communicator, &this->Rank);
    MPI_Comm_size(communicator, &this->Ranks);
  }

  void Compute(int step);

  /// The current step as ParaView may see it, without copies: valid until the next Compute().
  Channels Publish();

  bool IsFirstRank() const { return this->Rank == 0; }
  double Time() const { return 0.5 * this->Step; }

private:
  void Add(vtkTypeInt64 id, unsigned char ghost);
  vtkSmartPointer<vtkPolyData> View(std::size_t first, std::size_t count);
  vtkSmartPointer<vtkDataObject> Partitioned();
  vtkSmartPointer<vtkDataObject> Collection();
  vtkSmartPointer<vtkDataObject> Blocks();
  vtkSmartPointer<vtkDataObject> BesideGrid();

  int Rank = 0;
  int Ranks = 1;
  int Step = 0;
  std::vector<vtkTypeInt64> Id;
  std::vector<double> X, Y, Z;
  std::vector<float> Mass;
  std::vector<float> Velocity;
  std::vector<unsigned char> Ghost;
};

//------------------------------------------------------------------------------
void Simulation::Add(vtkTypeInt64 id, unsigned char ghost)
{
  this->Id.push_back(id);
  this->X.push_back(static_cast<double>(id % 10) + 0.25 * this->Step);
  this->Y.push_back(static_cast<double>(id / 10 % 10));
  this->Z.push_back(static_cast<double>(id / 100));
  this->Mass.push_back(0.5f * static_cast<float>(id));
  this->Velocity.push_back(static_cast<float>(id));
  this->Velocity.push_back(-static_cast<float>(id));
  this->Velocity.push_back(static_cast<float>(this->Step));
  this->Ghost.push_back(ghost);
}

//------------------------------------------------------------------------------
void Simulation::Compute(int step)
{
  this->Step = step;
  for (auto* values : { &this->X, &this->Y, &this->Z })
  {
    values->clear();
  }
  this->Id.clear();
  this->Mass.clear();
  this->Velocity.clear();
  this->Ghost.clear();

  const int silent = step % (this->Ranks + 1);
  if (this->Rank == silent)
  {
    return;
  }
  // Particles are dealt to the ranks that have any, one by one.
  const int dealt = silent < this->Ranks ? this->Ranks - 1 : this->Ranks;
  const int turn = this->Rank > silent ? this->Rank - 1 : this->Rank;
  for (int id = turn; id < 1000 + step; id += dealt)
  {
    this->Add(id, 0);
  }
  const unsigned char duplicate = vtkDataSetAttributes::DUPLICATEPOINT;
  const unsigned char hidden = vtkDataSetAttributes::HIDDENPOINT;
  this->Add(1000000 + 2 * this->Rank, duplicate);
  this->Add(1000001 + 2 * this->Rank, hidden);
}

//------------------------------------------------------------------------------
template <typename ArrayT, typename ValueT>
vtkSmartPointer<ArrayT> Borrow(
  const char* name, ValueT* values, std::size_t tuples, int components = 1)
{
  auto array = vtkSmartPointer<ArrayT>::New();
  array->SetName(name);
  array->SetNumberOfComponents(components);
  array->SetArray(values, static_cast<vtkIdType>(tuples) * components, 1);
  return array;
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkPolyData> Simulation::View(std::size_t first, std::size_t count)
{
  auto view = vtkSmartPointer<vtkPolyData>::New();
  if (count == 0)
  {
    return view; // no points and no arrays, as simulations do
  }
  vtkNew<vtkSOADataArrayTemplate<double>> positions;
  positions->SetNumberOfComponents(3);
  int axis = 0;
  for (auto* values : { &this->X, &this->Y, &this->Z })
  {
    positions->SetArray(axis++, values->data() + first, static_cast<vtkIdType>(count),
      /*updateMaxId*/ true,
      /*save*/ true);
  }
  vtkNew<vtkPoints> points;
  points->SetData(positions);
  view->SetPoints(points);
  vtkPointData* data = view->GetPointData();
  data->AddArray(Borrow<vtkTypeInt64Array>("id", this->Id.data() + first, count));
  data->AddArray(Borrow<vtkFloatArray>("mass", this->Mass.data() + first, count));
  data->AddArray(Borrow<vtkFloatArray>("velocity", this->Velocity.data() + 3 * first, count, 3));
  data->AddArray(Borrow<vtkUnsignedCharArray>(
    vtkDataSetAttributes::GhostArrayName(), this->Ghost.data() + first, count));
  return view;
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkDataObject> Simulation::Partitioned()
{
  vtkNew<vtkPartitionedDataSet> partitions;
  const std::size_t half = this->Id.size() / 2;
  if (half > 0)
  {
    partitions->SetNumberOfPartitions(4); // number 0 stays null
    partitions->SetPartition(1, this->View(0, half));
    partitions->SetPartition(2, this->View(0, 0));
    partitions->SetPartition(3, this->View(half, this->Id.size() - half));
  }
  else
  {
    partitions->SetNumberOfPartitions(this->Step % 2); // nothing at all, or one that is null
  }
  // As ParaView-Catalyst attaches to what simulations hand over.
  vtkNew<vtkTypeInt64Array> step;
  step->SetName("timestep");
  step->InsertNextValue(this->Step);
  partitions->GetFieldData()->AddArray(step);
  return partitions;
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkDataObject> Simulation::Collection()
{
  vtkNew<vtkPartitionedDataSetCollection> collection;
  collection->SetNumberOfPartitionedDataSets(3);
  const std::size_t half = this->Id.size() / 2;
  if (half > 0)
  {
    collection->SetPartition(1, 0, this->View(0, half));
    collection->SetPartition(2, 0, this->View(half, this->Id.size() - half));
  }
  return collection;
}

//------------------------------------------------------------------------------
vtkSmartPointer<vtkDataObject> Simulation::Blocks()
{
  vtkNew<vtkMultiBlockDataSet> inner;
  vtkNew<vtkMultiBlockDataSet> outer;
  inner->SetNumberOfBlocks(2);
  outer->SetNumberOfBlocks(3);
  outer->SetBlock(0, inner);
  const std::size_t half = this->Id.size() / 2;
  if (half > 0)
  {
    inner->SetBlock(1, this->View(0, half));
    outer->SetBlock(2, this->View(half, this->Id.size() - half));
  }
  return outer;
}

//------------------------------------------------------------------------------
// As AMReX hands over particles: a vertex cell for each, and the values are those of the cells,
// here in the opposite order of the points.
vtkSmartPointer<vtkDataObject> Simulation::BesideGrid()
{
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetNumberOfBlocks(2);
  if (this->Rank == 0)
  {
    vtkNew<vtkUnstructuredGrid> grid;
    vtkNew<vtkPoints> corners;
    for (const double z : { 0.0, 1.0, 2.0, 3.0 })
    {
      corners->InsertNextPoint(1.0, z * z, z);
    }
    grid->SetPoints(corners);
    const vtkIdType ids[4] = { 0, 1, 2, 3 };
    grid->Allocate(1);
    grid->InsertNextCell(VTK_TETRA, 4, ids);
    blocks->SetBlock(0, grid);
  }
  const auto count = static_cast<vtkIdType>(this->Id.size());
  vtkSmartPointer<vtkPolyData> vertices = this->View(0, this->Id.size());
  vtkNew<vtkCellData> values;
  vtkNew<vtkCellArray> cells;
  for (vtkIdType point = count - 1; point >= 0; --point)
  {
    cells->InsertNextCell(1, &point);
  }
  for (int i = 0; i < vertices->GetPointData()->GetNumberOfArrays(); ++i)
  {
    vtkDataArray* ofPoints = vertices->GetPointData()->GetArray(i);
    vtkSmartPointer<vtkDataArray> ofCells =
      vtkSmartPointer<vtkDataArray>::Take(ofPoints->NewInstance());
    ofCells->SetName(ofPoints->GetName());
    ofCells->SetNumberOfComponents(ofPoints->GetNumberOfComponents());
    for (vtkIdType point = count - 1; point >= 0; --point)
    {
      ofCells->InsertNextTuple(point, ofPoints);
    }
    values->AddArray(ofCells);
  }
  if (vtkDataArray* ghosts = values->GetArray(vtkDataSetAttributes::GhostArrayName()))
  {
    for (vtkIdType i = 0; i < count; ++i)
    {
      if (ghosts->GetTuple1(i) == vtkDataSetAttributes::HIDDENPOINT)
      {
        ghosts->SetTuple1(i, vtkDataSetAttributes::HIDDENCELL);
      }
    }
  }
  vertices->SetVerts(cells);
  vertices->GetPointData()->Initialize();
  vertices->GetCellData()->ShallowCopy(values);
  blocks->SetBlock(1, vertices);
  return blocks;
}

//------------------------------------------------------------------------------
Channels Simulation::Publish()
{
  return { { "points", this->View(0, this->Id.size()) }, { "partitioned", this->Partitioned() },
    { "collection", this->Collection() }, { "blocks", this->Blocks() },
    { "beside", this->BesideGrid() } };
}

//------------------------------------------------------------------------------
bool RunScript(MPI_Comm communicator, int steps, const char* script)
{
  vtkNew<vtkCPProcessor> processor;
  vtkMPICommunicatorOpaqueComm opaque(&communicator);
  processor->Initialize(opaque);
  vtkNew<vtkCPPythonScriptV2Pipeline> pipeline;
  if (!pipeline->Initialize(script))
  {
    return false;
  }
  processor->AddPipeline(pipeline);

  Simulation simulation(communicator);
  for (int step = 0; step < steps; ++step)
  {
    simulation.Compute(step);
    const Channels channels = simulation.Publish();
    vtkNew<vtkCPDataDescription> description;
    description->SetTimeData(simulation.Time(), step);
    for (const auto& channel : channels)
    {
      description->AddInput(channel.first.c_str());
    }
    if (processor->RequestDataDescription(description))
    {
      for (const auto& channel : channels)
      {
        description->GetInputDescriptionByName(channel.first.c_str())->SetGrid(channel.second);
      }
      processor->CoProcess(description);
    }
  }
  processor->Finalize();
  return true;
}

//------------------------------------------------------------------------------
void InitializeInSitu(MPI_Comm communicator)
{
  const auto handle = static_cast<vtkTypeUInt64>(MPI_Comm_c2f(communicator));
#if PARAVIEW_VERSION_MAJOR >= 6
  vtkInSituInitializationHelper::Initialize(handle, {});
#else
  vtkInSituInitializationHelper::Initialize(handle);
#endif
}

//------------------------------------------------------------------------------
// Runs the pipelines itself: vtkInSituInitializationHelper::ExecutePipelines() does no more than
// that, and logs an error in each step of a ParaView without Conduit.
bool RunIO(MPI_Comm communicator, int steps, const std::string& folder)
{
  InitializeInSitu(communicator);
  auto* proxies = vtkSMProxyManager::GetProxyManager()->GetActiveSessionProxyManager();
  std::vector<vtkSmartPointer<vtkInSituPipelineIO>> pipelines;

  Simulation simulation(communicator);
  bool good = true;
  for (int step = 0; step < steps; ++step)
  {
    simulation.Compute(step);
    const Channels channels = simulation.Publish();
    for (const auto& [name, data] : channels)
    {
      if (!vtkInSituInitializationHelper::GetProducer(name))
      {
        auto producer = vtkSmartPointer<vtkSMSourceProxy>::Take(
          vtkSMSourceProxy::SafeDownCast(proxies->NewProxy("sources", "PVTrivialProducer")));
        vtkInSituInitializationHelper::SetProducer(name, producer);
        auto pipeline = vtkSmartPointer<vtkInSituPipelineIO>::New();
        pipeline->SetChannelName(name.c_str());
        pipeline->SetFileName((folder + "/" + name + "_%04ts.bat").c_str());
        good = pipeline->Initialize() && good;
        pipelines.push_back(pipeline);
      }
      vtkSMSourceProxy* producer = vtkInSituInitializationHelper::GetProducer(name);
      vtkPVTrivialProducer::SafeDownCast(producer->GetClientSideObject())
        ->SetOutput(data, simulation.Time());
      vtkInSituInitializationHelper::MarkProducerModified(name);
    }
    vtkInSituInitializationHelper::UpdateAllProducers(simulation.Time());
    for (const auto& pipeline : pipelines)
    {
      good = pipeline->Execute(step, simulation.Time()) && good;
    }
  }
  for (const auto& pipeline : pipelines)
  {
    good = pipeline->Finalize() && good;
  }
  pipelines.clear();
  vtkInSituInitializationHelper::Finalize();
  return good;
}
}

//------------------------------------------------------------------------------
int main(int argc, char* argv[])
{
  const std::string mode = argc == 4 ? argv[1] : "";
  if (mode != "script" && mode != "io")
  {
    std::cerr << "usage: mini_simulation script STEPS FILE.py | mini_simulation io STEPS FOLDER\n";
    return EXIT_FAILURE;
  }
  MPI_Init(&argc, &argv);
  const int steps = std::atoi(argv[2]);
  const bool good = mode == "script" ? RunScript(MPI_COMM_WORLD, steps, argv[3])
                                     : RunIO(MPI_COMM_WORLD, steps, argv[3]);
  if (good && Simulation(MPI_COMM_WORLD).IsFirstRank())
  {
    std::cout << "simulation ended" << std::endl;
  }
  MPI_Finalize();
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
