// SPDX-License-Identifier: BSD-3-Clause
// Adds the events of pqBATEventPlayer to ParaView's test player.
#ifndef pqBATGuiTestAutoStart_h
#define pqBATGuiTestAutoStart_h

#include <QObject>

class pqBATGuiTestAutoStart : public QObject
{
  Q_OBJECT

public:
  explicit pqBATGuiTestAutoStart(QObject* parent = nullptr);

  void startup();
  void shutdown() {}

private:
  Q_DISABLE_COPY(pqBATGuiTestAutoStart)
};

#endif
