// SPDX-License-Identifier: BSD-3-Clause
// Chooses the first picture of data that the plugin has read or made.
#ifndef pqBATFirstPictureBehavior_h
#define pqBATFirstPictureBehavior_h

#include <QHash>
#include <QObject>
#include <QSet>

#include <array>

class pqDataRepresentation;
class pqPipelineSource;

/// The first Apply of a source in the window shows a part of its contents: particles by their
/// speed, trails by time, grids and velocity fields as a coloured slice in their middle with the
/// edges of their box, and particles of flow filters as Point Gaussian. The slice stays in the
/// middle while finer levels are loaded, unless it is moved. A glow has a dark background while it
/// is visible in any view, unless the user has chosen another. Scripts get ParaView's usual
/// pictures.
class pqBATFirstPictureBehavior : public QObject
{
  Q_OBJECT

public:
  explicit pqBATFirstPictureBehavior(QObject* parent = nullptr);

private Q_SLOTS:
  void watchSource(pqPipelineSource* source);
  void adopt(pqPipelineSource* source, pqDataRepresentation* representation);
  void follow(pqPipelineSource* source);
  void adaptBackgrounds();

private:
  Q_DISABLE_COPY(pqBATFirstPictureBehavior)

  void watchGlow(pqDataRepresentation* representation);
  void showFirstParticles(pqDataRepresentation* representation);
  void showSlice(pqDataRepresentation* representation);
  void showParticles(pqPipelineSource* source, pqDataRepresentation* representation);
  void followNow(pqPipelineSource* source);

  /// A view with a dark background: the previous background, and whether the user or the palette
  /// has chosen another since.
  struct Background
  {
    std::array<double, 3> Before;
    bool IsUsers;
  };

  QHash<QObject*, Background> Darkened;
  QHash<QObject*, int> Slices;     ///< position of each of our slices
  QSet<QObject*> Empty;            ///< sources without particles so far
  QHash<QObject*, bool> Particles; ///< whether to show particles of a flow filter
};

#endif
