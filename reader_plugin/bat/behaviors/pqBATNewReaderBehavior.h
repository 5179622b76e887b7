// SPDX-License-Identifier: BSD-3-Clause
// Initializes a series reader before it is applied.
#ifndef pqBATNewReaderBehavior_h
#define pqBATNewReaderBehavior_h

#include <QObject>

class pqPipelineSource;

/// A reader that is added while a later time is shown describes the file of that time: box, ranges,
/// histograms and number of particles.
class pqBATNewReaderBehavior : public QObject
{
  Q_OBJECT

public:
  explicit pqBATNewReaderBehavior(QObject* parent = nullptr);

private Q_SLOTS:
  void describeTimeShown(pqPipelineSource* source);

private:
  Q_DISABLE_COPY(pqBATNewReaderBehavior)
};

#endif
