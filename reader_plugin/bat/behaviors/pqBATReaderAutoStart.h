// SPDX-License-Identifier: BSD-3-Clause
// Starts and ends with the plugin in ParaView's window.
#ifndef pqBATReaderAutoStart_h
#define pqBATReaderAutoStart_h

#include <QObject>

class pqBATReaderAutoStart : public QObject
{
  Q_OBJECT

public:
  explicit pqBATReaderAutoStart(QObject* parent = nullptr);

  void startup();
  void shutdown();

private:
  Q_DISABLE_COPY(pqBATReaderAutoStart)
};

#endif
