// SPDX-License-Identifier: BSD-3-Clause
// The interface between libcatalyst-bat.so and Catalyst: one table of five functions, none of which
// throws or ends the process.
#include "adaptor.hpp"
#include "catalyst_table.hpp"

#include "bat/catalyst_bat.h"
#include "bat/version.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

namespace bat::catalyst
{
namespace
{
// The process state; a process calls catalyst_initialize once.
struct State
{
  std::unique_ptr<Adaptor>
    adaptor;      // lives from catalyst_initialize, even if it fails, to catalyst_finalize
  int status = 0; // status of the last catalyst_initialize or catalyst_execute
  std::string message;
};

State& state()
{
  // The state is never destroyed: a simulation may call catalyst_finalize from a destructor.
  static State* const state = new State;
  return *state;
}

void report_failure(const Adaptor* adaptor, const Failure& failure) noexcept
{
  if (!adaptor || adaptor->is_root())
  {
    std::fprintf(stderr, "catalyst-bat: %s\n", failure.what());
  }
  if (adaptor && adaptor->stops_on_error())
  {
    adaptor->stop(failure.status());
  }
}

template <class Call>
int guarded(Call&& call) noexcept
{
  try
  {
    state().status = 0;
    state().message.clear();
    call();
    return 0;
  }
  catch (...)
  {
    const Failure failure = current_failure(CATALYST_BAT_INTERNAL);
    state().status = failure.status();
    state().message = failure.what();
    report_failure(state().adaptor.get(), failure);
    return failure.status();
  }
}

int initialize(const conduit_node* params) noexcept
{
  return guarded(
    [&]
    {
      state().adaptor = std::make_unique<Adaptor>();
      state().adaptor->initialize(params);
    });
}

int execute(const conduit_node* params) noexcept
{
  return guarded(
    [&]
    {
      if (!state().adaptor)
      {
        throw Failure(CATALYST_BAT_NOT_INITIALIZED, ErrorCode::InvalidArgument,
          "catalyst_execute without catalyst_initialize writes nothing");
      }
      state().adaptor->execute(params);
    });
}

int finalize(const conduit_node*) noexcept
{
  state().adaptor.reset();
  return 0;
}

void describe(conduit_node* params)
{
  const ConduitApi api = find_conduit();
  const auto set = [&](const char* path, const std::string& text)
  { api.set_string(api.fetch(params, path), text.c_str()); };
  set("catalyst/version", "2.0");
  set("catalyst/abi_version", "3");
  set("catalyst/implementation", "bat");
  api.set_int32(api.fetch(params, "catalyst/use_mpi"), 1);
  set("catalyst/bat/version", kLibraryVersion);
  set("catalyst/bat/mpi", Communicator::library());
  conduit_node* capabilities = api.fetch(params, "catalyst/capabilities");
  if (api.number_of_children(capabilities) == 0)
  {
    api.set_string(api.append(capabilities), "bat");
  }
}

// Prints no message: a failure means a missing answer, not a missing step.
template <class Call>
int answer(Call&& call) noexcept
{
  try
  {
    call();
    return 0;
  }
  catch (...)
  {
    return current_failure(CATALYST_BAT_INTERNAL).status();
  }
}

int about(conduit_node* params) noexcept
{
  return answer([&] { describe(params); });
}

int results(conduit_node* params) noexcept
{
  return answer(
    [&]
    {
      const State& s = state();
      const Adaptor none;
      (s.adaptor ? *s.adaptor : none).report(params, s.status, s.message);
    });
}
}
}

extern "C"
{
  extern __attribute__((visibility("default"))) const bat::catalyst::Table catalyst_api_impl;
  const bat::catalyst::Table catalyst_api_impl = { 1, &bat::catalyst::initialize,
    &bat::catalyst::execute, &bat::catalyst::finalize, &bat::catalyst::about,
    &bat::catalyst::results };
}
