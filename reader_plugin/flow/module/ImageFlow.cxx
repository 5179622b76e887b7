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
  now.Wanted.clear();
  now.LoadTrouble = nullptr;
  now.Share = 0;
  now.IsCancelled = false;
  now.IsOver = false;
  std::exception_ptr trouble;
  std::thread beside(
    [&]()
    {
      try
      {
        trace();
      }
      catch (...)
      {
        trouble = std::current_exception();
      }
      const std::lock_guard<std::mutex> lock(now.Mutex);
      now.IsOver = true;
      now.ForServer.notify_one();
    });
  // What is to be done next, in the order of the run: a level; a call; nothing more.
  const auto levels = static_cast<vtkIdType>(this->Times.size());
  const vtkIdType call = levels;
  const vtkIdType over = levels + 1;
  const auto orderOf = [&](std::size_t level)
  { return backward ? levels - 1 - static_cast<vtkIdType>(level) : static_cast<vtkIdType>(level); };
  for (;;)
  {
    std::unique_lock<std::mutex> lock(now.Mutex);
    now.ForServer.wait_for(
      lock, ReportEach, [&]() { return now.IsOver || now.Call || !now.Wanted.empty(); });
    vtkIdType next = now.IsOver ? over : now.Call ? call : -1;
    if (!now.Wanted.empty() && !now.IsOver)
    {
      next = orderOf(backward ? *now.Wanted.rbegin() : *now.Wanted.begin());
    }
    const double share = now.Share;
    lock.unlock();
    if (!progress(share))
    {
      lock.lock();
      now.IsCancelled = true;
      now.ForTrace.notify_all();
      lock.unlock();
    }
    if (next < 0)
    {
      continue;
    }
    if (controller && controller->GetNumberOfProcesses() > 1)
    {
      const vtkIdType mine = next;
      controller->AllReduce(&mine, &next, 1, vtkCommunicator::MIN_OP);
    }
    if (next == over)
    {
      break;
    }
    if (next == call)
    {
      lock.lock();
      const std::function<void()>* const f = now.Call;
      lock.unlock();
      std::exception_ptr failed;
      try
      {
        if (f)
        {
          (*f)();
        }
      }
      catch (...)
      {
        failed = std::current_exception();
      }
      lock.lock();
      now.CallTrouble = failed;
      now.Call = nullptr;
      now.ForTrace.notify_all();
      continue;
    }
    const auto level = static_cast<std::size_t>(backward ? levels - 1 - next : next);
    Values values;
    std::exception_ptr failed;
    try
    {
      values = load(level);
    }
    catch (...)
    {
      failed = std::current_exception();
    }
    lock.lock();
    now.Wanted.erase(level);
    if (failed)
    {
      now.LoadTrouble = failed;
    }
    else
    {
      // In the place of the one that is farther away.
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
  beside.join();
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
      throw bat::Error(bat::ErrorCode::Cancelled, this->level_name(level) + ": is not given");
    }
    now.Wanted.insert(level);
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
