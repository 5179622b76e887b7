// SPDX-License-Identifier: BSD-3-Clause
// Gives Point Gaussian a look that suits the particles, and radii that suit the number loaded.
#ifndef pqBATRadiusBehavior_h
#define pqBATRadiusBehavior_h

#include <QHash>
#include <QObject>

class pqDataRepresentation;
class pqPipelineSource;

/// Gives representations of a reader its SuggestedRadius as GaussianRadius, when they are created
/// and after each update, so that shapes look closed at every quality. A radius set by the user or
/// in the settings of ParaView stays. While time plays, a change of less than a tenth is skipped,
/// so that particles do not tremble.
///
/// The first Apply of a reader chooses the initial look of its representations, with radii by
/// region: True Size if the particles have a size attribute, else Density Glow if they are
/// clustered, else Spheres. Representations shown by a script or a state file stay unchanged.
class pqBATRadiusBehavior : public QObject
{
  Q_OBJECT

public:
  explicit pqBATRadiusBehavior(QObject* parent = nullptr);

private Q_SLOTS:
  void watchSource(pqPipelineSource* source);
  void adopt(pqPipelineSource* source, pqDataRepresentation* representation);
  void follow(pqPipelineSource* source);

private:
  Q_DISABLE_COPY(pqBATRadiusBehavior)

  struct Shown
  {
    double Radius = 0.0;
    double Quality = 0.0; ///< for which the radius was suggested
  };
  void setRadius(pqDataRepresentation* representation, const Shown& shown);
  void setLook(pqPipelineSource* source, pqDataRepresentation* representation);

  QHash<QObject*, Shown> Radii; ///< radii of representations, as last set here
  QHash<QObject*, int> Looks;   ///< looks of sources, chosen by the first Apply
};

#endif
