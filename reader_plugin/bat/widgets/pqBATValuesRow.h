// SPDX-License-Identifier: BSD-3-Clause
// One filter of the reader's panel: an attribute with few values, each with a check box.
#ifndef pqBATValuesRow_h
#define pqBATValuesRow_h

#include "pqCount.h"

#include <QColor>
#include <QList>
#include <QMap>
#include <QPointer>
#include <QString>
#include <QStringList>
#include <QVariant>
#include <QWidget>

class QCheckBox;
class QGridLayout;
class QLabel;
class pqPipelineSource;

/// A value of an integer attribute in the current file, and the number of particles that have it.
struct pqBATValueCount
{
  QString Value;
  pqCount Count;
};

/// Excludes the unchecked values: in the property they are a negated range, so that additional
/// values in another file of the series are shown. Ranges set by scripts check the values that they
/// include, and stay unchanged until a box is clicked.
class pqBATValuesRow : public QWidget
{
  Q_OBJECT
  typedef QWidget Superclass;

public:
  /// Uses the colours in which the active view draws `source`, if it is coloured by this attribute.
  pqBATValuesRow(const QString& target, pqPipelineSource* source, QWidget* parent = nullptr);
  ~pqBATValuesRow() override;

  const QString& target() const { return this->Target; }
  /// Sets the values of the current file. Values of other files stay, and have no particles in it.
  void setValues(const QList<pqBATValueCount>& values);
  /// Values of all files so far.
  QStringList values() const;
  /// Triples of target, with "!" before it if negated, minimum and maximum.
  QList<QVariant> ranges() const { return this->Ranges; }
  /// Sets triples of the property, all for this target.
  void setRanges(const QList<QVariant>& ranges);
  bool isActive() const { return !this->Ranges.isEmpty(); }

Q_SIGNALS:
  void rangesChanged();
  /// Emitted if the boxes need a different number of lines.
  void heightChanged();

protected:
  void resizeEvent(QResizeEvent*) override;
  void contextMenuEvent(QContextMenuEvent*) override;
  bool event(QEvent*) override;

private:
  Q_DISABLE_COPY(pqBATValuesRow)

  void addBox(const QString& value);
  void arrangeBoxes();
  void checkBoxes();
  void checkAll(bool checked);
  void takeBoxes();
  void showColors();

  QString Target;
  QPointer<pqPipelineSource> Source;
  QList<QVariant> Ranges;
  QStringList Order; ///< ascending
  QMap<QString, QCheckBox*> Boxes;
  QMap<QString, QColor> Colors; ///< colours that are shown
  QLabel* Name;
  QGridLayout* Grid;
  int Columns = 0;
};

#endif
