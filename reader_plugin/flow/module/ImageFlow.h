// SPDX-License-Identifier: BSD-3-Clause
// Presents the time steps of images as a flow. Bricks are cut from whole steps, two of which are in
// memory.
#ifndef ImageFlow_h
#define ImageFlow_h

#include "bat/brick_source.hpp"

#include "vtkType.h"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

class vtkMultiProcessController;

namespace bat_vtk
{
/// A flow defined by images. Only the pipeline's thread may update the input, and all processes
/// must request the same. Traces run in another thread, whose requests Serve() fulfils.
class ImageFlow : public bat::BrickSource
{
public:
  /// `array` is the name of the velocity array, for messages.
  ImageFlow(const bat::BrickGrid& grid, std::vector<double> times, std::string array);

  /// Returns the velocities of all points of a level, packed.
  using Values = std::shared_ptr<const std::byte>;

  /// Runs `trace` in another thread. Collective with a controller, which may be null. `load`
  /// returns the velocities of a level, and may be collective; `progress` gets a fraction, and
  /// cancels by returning false. Throws what trace and load throw.
  void Serve(vtkMultiProcessController* controller, bool backward,
    const std::function<Values(std::size_t)>& load, const std::function<bool(double)>& progress,
    const std::function<void()>& trace) const;

  /// Called by the trace: passes `share` to `progress`. Returns false if that cancels.
  bool Report(double share) const;
  /// Called by the trace: runs f() in the thread of Serve(), in all processes.
  void Call(const std::function<void()>& f) const;

  [[nodiscard]] const bat::BrickGrid& grid() const noexcept override { return this->Grid; }
  [[nodiscard]] const std::vector<double>& times() const noexcept override { return this->Times; }
  [[nodiscard]] std::string level_name(std::size_t level) const override;
  /// Returns the number of bytes copied. Waits for Serve(), and throws what `load` has thrown, or
  /// bat::Error{Cancelled}.
  std::uint64_t read(std::size_t level, std::uint64_t brick, bat::BrickMemory to) const override;

private:
  struct Step
  {
    std::size_t Level = 0;
    Values Packed; ///< null if there are none
  };
  struct State
  {
    std::mutex Mutex;
    std::condition_variable ForTrace;
    std::condition_variable ForServer;
    std::array<Step, 2> Steps;
    std::set<std::size_t> Requested; ///< levels that have not been loaded yet
    const std::function<void()>* Call = nullptr;
    std::exception_ptr CallTrouble;
    std::exception_ptr LoadTrouble;
    double Share = 0;
    bool IsCancelled = false;
    bool IsOver = false;
  };

  /// The next task, in the order of the run: a level, counted from the beginning of the run; the
  /// number of levels for a call; one more when the trace has ended; -1 if there is nothing to do
  /// yet.
  [[nodiscard]] vtkIdType NextTask(
    bool backward, const std::function<bool(double)>& progress) const;
  void AnswerCall() const;
  void LoadLevel(std::size_t level, const std::function<Values(std::size_t)>& load) const;
  [[nodiscard]] Values ValuesOf(std::size_t level) const;

  bat::BrickGrid Grid;
  std::vector<double> Times;
  std::string Array;
  std::unique_ptr<State> Now;
};
}

#endif
