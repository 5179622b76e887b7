// SPDX-License-Identifier: BSD-3-Clause
// How many particles the settings of a panel will match, asked while they are edited.
#ifndef pqBATMatchEstimate_h
#define pqBATMatchEstimate_h

#include "pqBATCount.h"

#include "vtkSmartPointer.h"
#include "vtkWeakPointer.h"

#include <QObject>
#include <QTimer>

class vtkSMProxy;

/// Asks a reader of its own, where the data is, with what the panel of `reader` says and Apply has
/// not sent yet: to ask the one that has the picture would change it. Reads a few MiB of the file
/// of the present time.
class pqBATMatchEstimate : public QObject
{
  Q_OBJECT
  typedef QObject Superclass;

public:
  explicit pqBATMatchEstimate(vtkSMProxy* reader, QObject* parent = nullptr);
  ~pqBATMatchEstimate() override;

  /// Asks within a fifth of a second, or as long again as the last three answers took: a slider
  /// that is dragged asks without end.
  void request();
  /// What has been said is no longer so.
  void forget();

  bool isKnown() const { return this->Known; }
  const pqBATCount& count() const { return this->Count; }
  /// What is wrong with the settings, if that is known.
  const QString& error() const { return this->Error; }

Q_SIGNALS:
  /// Something is known, or not any longer.
  void changed();

private:
  Q_DISABLE_COPY(pqBATMatchEstimate)

  void ask();
  vtkSMProxy* other();

  vtkWeakPointer<vtkSMProxy> Reader;
  vtkSmartPointer<vtkSMProxy> Other;
  QTimer Soon;
  bool Known = false;
  pqBATCount Count;
  QString Error;
};

#endif
