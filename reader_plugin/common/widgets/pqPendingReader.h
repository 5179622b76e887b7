// SPDX-License-Identifier: BSD-3-Clause
// Queries the reader's answers for settings that are still being edited.
#ifndef pqPendingReader_h
#define pqPendingReader_h

#include "vtkSmartPointer.h"
#include "vtkWeakPointer.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <vector>

class vtkSMProxy;

/// Queries a separate reader on the data's server with the settings in `reader`'s panel that Apply
/// has not sent yet. A query to `reader` itself would change its picture. The query concerns the
/// file of the current time.
class pqPendingReader : public QObject
{
  Q_OBJECT
  typedef QObject Superclass;

public:
  /// Properties of the reader.
  struct Question
  {
    const char* Answer;           ///< numbers; none if there is an error
    const char* Error;            ///< text
    const char* Switch = nullptr; ///< has to be 1 for an answer
  };

  pqPendingReader(vtkSMProxy* reader, const Question& question, QObject* parent = nullptr);
  ~pqPendingReader() override;

  /// Sends a query after a fifth of a second, or after three times the duration of the last answer,
  /// because a slider that is being dragged sends queries continuously.
  void request();
  /// Discards the last answer, which is no longer valid.
  void forget();

  /// The reader whose settings are queried.
  vtkSMProxy* reader() const { return this->Reader; }
  /// Empty if they are unknown.
  const std::vector<double>& answer() const { return this->Answer; }
  /// The error in the settings, if one is known.
  const QString& error() const { return this->Error; }

Q_SIGNALS:
  /// Emitted when an answer arrives or becomes invalid.
  void changed();

private:
  Q_DISABLE_COPY(pqPendingReader)

  void ask();
  vtkSMProxy* other();

  Question Requested;
  vtkWeakPointer<vtkSMProxy> Reader;
  vtkSmartPointer<vtkSMProxy> Other;
  QTimer Soon;
  std::vector<double> Answer;
  QString Error;
};

#endif
