// SPDX-License-Identifier: BSD-3-Clause
// Attribute filters of the reader: a row with a slider over a histogram for everything to which a
// range can apply, and check boxes for attributes with few values.
#ifndef pqBATAttributeRangesWidget_h
#define pqBATAttributeRangesWidget_h

#include "pqPropertyWidget.h"
#include "pqRangeScale.h"

#include <QList>
#include <QPair>
#include <QPointer>
#include <QStringList>
#include <QVariant>

class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QVBoxLayout;
class pqBATMatchEstimate;
class pqBATRangeRow;
class pqBATValuesRow;
class pqPipelineSource;

/// Panel widget "bat_attribute_ranges" for a repeatable property of triples (target, minimum,
/// maximum) of texts, of a proxy that also has the properties AttributeRangesInfo (such triples for
/// the whole file), AttributeHistograms, AttributeValues and ComputeHistograms. Checked rows are in
/// the property. A target may have several rows. One with few values, according to AttributeValues,
/// has check boxes instead, for the values of all files that were shown. If these become too many,
/// it has rows again. A text below shows the number of matching particles, from the panel's
/// pqBATMatchEstimate.
class pqBATAttributeRangesWidget : public pqPropertyWidget
{
  Q_OBJECT
  Q_PROPERTY(QList<QVariant> ranges READ ranges WRITE setRanges NOTIFY rangesChanged)
  typedef pqPropertyWidget Superclass;

public:
  pqBATAttributeRangesWidget(vtkSMProxy* proxy, vtkSMProperty* property, QWidget* parent = nullptr);
  ~pqBATAttributeRangesWidget() override;

  QList<QVariant> ranges() const;

public Q_SLOTS:
  void setRanges(const QList<QVariant>& ranges);

Q_SIGNALS:
  void rangesChanged();

protected:
  bool event(QEvent*) override;
  void showEvent(QShowEvent*) override;

private Q_SLOTS:
  void resetRows();
  void updateRows();
  void updateHistograms();
  void arrangeRows();
  void propertyModified();
  void watchEstimate();
  void showEstimate();

private:
  Q_DISABLE_COPY(pqBATAttributeRangesWidget)

  void makeTable();
  QList<pqBATRangeRow*> findRows(const QString& target) const;
  pqBATRangeRow* addRow(const QString& target);
  void removeRow(pqBATRangeRow* row);
  void addAnother(const QString& target);
  void showData(pqBATRangeRow* row);
  bool isVector(const QString& target) const;
  bool isTarget(const QString& text) const;
  void markAlternatives();
  bool hasError() const;
  pqPipelineSource* source() const;
  void updateValues();

  QList<pqBATRangeRow*> Rows; ///< from top to bottom
  QList<pqBATValuesRow*> Values;
  QStringList TooMany;      ///< targets that have had more values than boxes are made for
  QStringList Info;         ///< triples of the file
  QStringList HistogramsOf; ///< file and Info when the histograms were fetched
  QList<QPair<pqHistogram, pqHistogram>> Histograms; ///< linear and logarithmic
  QLineEdit* Search;
  QScrollArea* Table;
  QVBoxLayout* RowLayout;
  QVBoxLayout* ValuesLayout;
  QLabel* Matching; ///< number of particles that the ranges will match
  QPushButton* Reset;
  QPointer<pqBATMatchEstimate> Estimate;
};

#endif
