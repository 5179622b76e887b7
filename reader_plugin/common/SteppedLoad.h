// SPDX-License-Identifier: BSD-3-Clause
// The interface through which ParaView's window controls a reader while it loads. Independent of
// VTK.
#ifndef SteppedLoad_h
#define SteppedLoad_h

namespace bat_vtk
{
/// A reader that loads in steps (the property LoadMore requests one) and can be stopped.
class SteppedLoad
{
public:
  virtual ~SteppedLoad() = default;
  SteppedLoad(const SteppedLoad&) = delete;
  SteppedLoad& operator=(const SteppedLoad&) = delete;

  /// Called by an observer of ProgressEvent: cancels the step that is being loaded, until it is
  /// requested again. The output is unchanged. Does nothing in other updates.
  virtual void PutOffStep() = 0;
  /// If `keep`, the previous output stays when an update is aborted.
  virtual void SetKeepWhenAborted(bool keep) = 0;
  /// True if the last update was aborted.
  virtual bool GetAborted() const = 0;

protected:
  SteppedLoad() = default;
};
}

#endif
