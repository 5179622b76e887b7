// SPDX-License-Identifier: BSD-3-Clause
// File > Open Address: opens files on web servers and in S3.
#ifndef pqOpenAddressBehavior_h
#define pqOpenAddressBehavior_h

#include <QAction>
#include <QObject>
#include <QPointer>
#include <QString>

/// Adds "Open Address..." to the File menu. It asks for an address and creates the reader that fits
/// on the active server, as File > Open does for a path.
class pqOpenAddressBehavior : public QObject
{
  Q_OBJECT

public:
  explicit pqOpenAddressBehavior(QObject* parent = nullptr);
  ~pqOpenAddressBehavior() override;

  /// Creates a reader. Returns why it cannot; empty if it has.
  static QString open(const QString& address);

private:
  Q_DISABLE_COPY(pqOpenAddressBehavior)

  void addAction();
  void ask();

  QPointer<QAction> Action; ///< the menu may be deleted first
};

#endif
