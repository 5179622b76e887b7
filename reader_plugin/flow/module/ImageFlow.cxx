// SPDX-License-Identifier: BSD-3-Clause
#include "ImageFlow.h"

#include "bat/error.hpp"

#include "vtkCommunicator.h"
#include "vtkMultiProcessController.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <sstream>
#include <thread>
#include <utility>

namespace
{
constexpr auto ReportEach = std::chrono::milliseconds(50);
constexpr vtkIdType NoTask = -1;

// Returns what f() throws.
template <typename F>
std::exception_ptr Attempt(const F& f)
{
  try
  {
    f();
  }
  catch (...)
  {
    return std::current_exception();
  }
  return nullptr;
}
}

namespace bat_vtk
{
//------------------------------------------------------------------------------
ImageFlow::ImageFlow(const bat::BrickGrid& grid, std::vector<double> times, std::string array)
  : Grid(grid)
  , Times(std::move(times))
  , Array(std::move(array))
  , Now(std::make_unique<State>())
{
}

//------------------------------------------------------------------------------
std::string ImageFlow::level_name(std::size_t level) const
{
  std::ostringstream text;
  text << this->Array << " at time " << (level < this->Times.size() ? this->Times[level] : 0);
  return text.str();
}

//------------------------------------------------------------------------------
void ImageFlow::Serve(vtkMultiProcessController* controller, bool backward,
  const std::function<Values(std::size_t)>& load, const std::function<bool(double)>& progress,
  const std::function<void()>& trace) const
{
  State& now = *this->Now;
  now.Requested.clear();
  now.LoadTrouble = nullptr;
  now.Share = 0;
  now.IsCancelled = false;
  now.IsOver = false;
  std::exception_ptr trouble;
  std::thread tracing(
    [&]()
    {
      trouble = Attempt(trace);
      const std::lock_guard<std::mutex> lock(now.Mutex);
      now.IsOver = true;
      now.ForServer.notify_one();
    });
  const auto levels = static_cast<vtkIdType>(this->Times.size());
  for (;;)
  {
    vtkIdType next = this->NextTask(backward, progress);
    if (next == NoTask)
    {
      continue;
    }
    if (controller && controller->GetNumberOfProcesses() > 1)
    {
      const vtkIdType own = next;
      controller->AllReduce(&own, &next, 1, vtkCommunicator::MIN_OP);
    }
    if (next > levels)
    {
      break;
    }
    if (next == levels)
    {
      this->AnswerCall();
    }
    else
    {
      this->LoadLevel(static_cast<std::size_t>(backward ? levels - 1 - next : next), load);
    }
  }
  tracing.join();
  now.Steps = {};
  if (now.LoadTrouble)
  {
    std::rethrow_exception(now.LoadTrouble);
  }
  if (trouble)
  {
    std::rethrow_exception(trouble);
  }
}

//------------------------------------------------------------------------------
vtkIdType ImageFlow::NextTask(bool backward, const std::function<bool(double)>& progress) const
{
  State& now = *this->Now;
  const auto levels = static_cast<vtkIdType>(this->Times.size());
  std::unique_lock<std::mutex> lock(now.Mutex);
  now.ForServer.wait_for(
    lock, ReportEach, [&]() { return now.IsOver || now.Call || !now.Requested.empty(); });
  vtkIdType next = NoTask;
  if (now.IsOver)
  {
    next = levels + 1;
  }
  else if (!now.Requested.empty())
  {
    next = static_cast<vtkIdType>(backward ? *now.Requested.rbegin() : *now.Requested.begin());
    next = backward ? levels - 1 - next : next;
  }
  else if (now.Call)
  {
    next = levels;
  }
  const double share = now.Share;
  lock.unlock();
  if (!progress(share))
  {
    lock.lock();
    now.IsCancelled = true;
    now.ForTrace.notify_all();
  }
  return next;
}

//------------------------------------------------------------------------------
void ImageFlow::AnswerCall() const
{
  State& now = *this->Now;
  std::unique_lock<std::mutex> lock(now.Mutex);
  const std::function<void()>* const f = now.Call;
  lock.unlock();
  const std::exception_ptr failed = f ? Attempt(*f) : nullptr;
  lock.lock();
  now.CallTrouble = failed;
  now.Call = nullptr;
  now.ForTrace.notify_all();
}

//------------------------------------------------------------------------------
void ImageFlow::LoadLevel(std::size_t level, const std::function<Values(std::size_t)>& load) const
{
  State& now = *this->Now;
  Values values;
  const std::exception_ptr failed = Attempt([&]() { values = load(level); });
  const std::lock_guard<std::mutex> lock(now.Mutex);
  now.Requested.erase(level);
  if (failed)
  {
    now.LoadTrouble = failed;
  }
  else
  {
    // The new step replaces the one that is farther away.
    const auto distance = [level](const Step& step)
    {
      return !step.Packed    ? std::numeric_limits<std::size_t>::max()
        : step.Level > level ? step.Level - level
                             : level - step.Level;
    };
    Step& place = distance(now.Steps[0]) >= distance(now.Steps[1]) ? now.Steps[0] : now.Steps[1];
    place = { level, values };
  }
  now.ForTrace.notify_all();
}

//------------------------------------------------------------------------------
bool ImageFlow::Report(double share) const
{
  const std::lock_guard<std::mutex> lock(this->Now->Mutex);
  this->Now->Share = share;
  return !this->Now->IsCancelled;
}

//------------------------------------------------------------------------------
void ImageFlow::Call(const std::function<void()>& f) const
{
  State& now = *this->Now;
  std::unique_lock<std::mutex> lock(now.Mutex);
  now.Call = &f;
  now.ForServer.notify_one();
  now.ForTrace.wait(lock, [&]() { return !now.Call; });
  if (now.CallTrouble)
  {
    std::rethrow_exception(std::exchange(now.CallTrouble, nullptr));
  }
}

//------------------------------------------------------------------------------
ImageFlow::Values ImageFlow::ValuesOf(std::size_t level) const
{
  State& now = *this->Now;
  std::unique_lock<std::mutex> lock(now.Mutex);
  for (;;)
  {
    for (const Step& step : now.Steps)
    {
      if (step.Packed && step.Level == level)
      {
        return step.Packed;
      }
    }
    if (now.LoadTrouble || now.IsCancelled)
    {
      throw bat::Error(bat::ErrorCode::Cancelled, this->level_name(level) + ": was not provided");
    }
    now.Requested.insert(level);
    now.ForServer.notify_one();
    now.ForTrace.wait(lock);
  }
}

//------------------------------------------------------------------------------
std::uint64_t ImageFlow::read(std::size_t level, std::uint64_t brick, bat::BrickMemory to) const
{
  const Values values = this->ValuesOf(level);
  const std::byte* const from = values.get();
  const std::array<std::int64_t, 3> place = this->Grid.brick_place(brick);
  const std::size_t bytes = this->Grid.point_bytes();
  const std::size_t row = bytes * static_cast<std::size_t>(this->Grid.brick_points(0, place[0]));
  const int rows = this->Grid.brick_points(1, place[1]);
  const int planes = this->Grid.brick_points(2, place[2]);
  for (int z = 0; z < planes; ++z)
  {
    for (int y = 0; y < rows; ++y)
    {
      const std::int64_t point = place[0] * this->Grid.edge +
        this->Grid.points[0] *
          (place[1] * this->Grid.edge + y +
            this->Grid.points[1] * (place[2] * this->Grid.edge + z));
      std::memcpy(to.first + static_cast<std::size_t>(z) * to.plane_bytes +
          static_cast<std::size_t>(y) * to.row_bytes,
        from + static_cast<std::size_t>(point) * bytes, row);
    }
  }
  return row * static_cast<std::size_t>(rows) * static_cast<std::size_t>(planes);
}
}
