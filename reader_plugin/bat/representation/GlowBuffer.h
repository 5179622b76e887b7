// SPDX-License-Identifier: BSD-3-Clause
// Accumulates the light of glowing particles before it is shown.
#ifndef GlowBuffer_h
#define GlowBuffer_h

#include <functional>
#include <memory>

class vtkRenderer;
class vtkWindow;

namespace bat_vtk
{
/// A floating-point picture: red, green and blue times weight, and weight. The 256 steps of a
/// screen are too few for a sum of thousands. Opaque objects hide what is behind them.
class GlowBuffer
{
public:
  GlowBuffer();
  ~GlowBuffer();
  GlowBuffer(const GlowBuffer&) = delete;
  GlowBuffer& operator=(const GlowBuffer&) = delete;

  struct Tone
  {
    double Dark = 1.0;     ///< a weight that can just be seen
    double Bright = 10.0;  ///< one that is as bright as can be
    bool OneColor = false; ///< then it says how bright, too: it runs to white
    /// If true, pixels get the mean depth of the glow, and are slightly nearer if something opaque
    /// is behind: ParaView merges the pictures of several processes by depth.
    bool HasDepth = false;
  };
  /// Sums up the fragments that `draw` draws, with colours multiplied by weights, and shows the
  /// sum, in logarithmic steps, over the contents of the view.
  void Draw(vtkRenderer* renderer, const Tone& tone, const std::function<void()>& draw);

  void ReleaseGraphicsResources(vtkWindow* window);

private:
  struct Resources;
  void Begin(vtkRenderer* renderer);
  void Show(vtkRenderer* renderer, const Tone& tone);

  std::unique_ptr<Resources> Kept;
};
}

#endif
