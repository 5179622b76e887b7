// Point Gaussian with radii that suit how many particles are loaded.
#ifndef pqBATRadiusBehavior_h
#define pqBATRadiusBehavior_h

#include <QHash>
#include <QObject>

class pqDataRepresentation;
class pqPipelineSource;

/// Gives representations of a reader its SuggestedRadius as GaussianRadius, when they are made and
/// after each update, so that shapes look closed at every quality. A radius that the user has set
/// stays, also one in the settings of ParaView.
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

  void setRadius(pqDataRepresentation* representation, double radius);

  QHash<QObject*, double> Radii; ///< of representations, as last set here
};

#endif
