// SPDX-License-Identifier: BSD-3-Clause
// The compression settings of a particle writer: the method, and the error bound of each array.
#ifndef pqBATCompressionWidget_h
#define pqBATCompressionWidget_h

#include "pqPropertyWidget.h"

#include <QList>
#include <QString>
#include <QStringList>
#include <QVariant>

class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class vtkSMPropertyGroup;

/// Panel widget "bat_compression" for a group with the properties Compression ("None", "Lossless",
/// "Bounded") and ErrorBounds ("NAME=NUMBER" or "NAME=NUMBER%") of a proxy that also has the
/// property Input. Bounded has a row for the positions and for each floating-point array of the
/// input. While no row has a bound, Bounded equals Lossless, reports it, and sets that.
class pqBATCompressionWidget : public pqPropertyWidget
{
  Q_OBJECT
  Q_PROPERTY(QString method READ method WRITE setMethod NOTIFY methodChanged)
  Q_PROPERTY(QList<QVariant> bounds READ bounds WRITE setBounds NOTIFY boundsChanged)
  typedef pqPropertyWidget Superclass;

public:
  pqBATCompressionWidget(vtkSMProxy* proxy, vtkSMPropertyGroup* group, QWidget* parent = nullptr);
  ~pqBATCompressionWidget() override;

  QString method() const;
  void setMethod(const QString& method);
  /// None unless the method is Bounded.
  QList<QVariant> bounds() const;
  void setBounds(const QList<QVariant>& bounds);

Q_SIGNALS:
  void methodChanged();
  void boundsChanged();

private Q_SLOTS:
  void methodChosen();
  void boundEdited();

private:
  Q_DISABLE_COPY(pqBATCompressionWidget)

  struct Row
  {
    QString Array;
    QLineEdit* Number;
    QComboBox* Unit;
  };

  void addInputRows();
  Row* findRow(const QString& array);
  void addRow(const QString& array, const QString& help);
  void showBounds();
  bool hasBounds() const;

  QComboBox* Method;
  QWidget* Table;
  QGridLayout* Grid;
  QLabel* Note;
  QList<Row> Rows;
};

#endif
