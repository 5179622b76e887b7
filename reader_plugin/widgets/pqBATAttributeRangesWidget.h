// Attribute ranges of the reader: a table with one row for everything that a range can be asked of.
#ifndef pqBATAttributeRangesWidget_h
#define pqBATAttributeRangesWidget_h

#include "pqPropertyWidget.h"

#include <QList>
#include <QVariant>

class QPushButton;
class QTreeWidget;
class QTreeWidgetItem;

/// Panel widget "bat_attribute_ranges" for a repeatable property of triples (target, minimum,
/// maximum) of texts, of a proxy that also has the property AttributeRangesInfo: such triples for
/// the whole file. Rows that are checked are in the property.
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

private Q_SLOTS:
  void itemEdited(QTreeWidgetItem* item, int column);
  void resetRows();
  void updateRows();

private:
  Q_DISABLE_COPY(pqBATAttributeRangesWidget)

  QList<QTreeWidgetItem*> rows() const;
  QTreeWidgetItem* findRow(const QString& target) const;
  QTreeWidgetItem* addRow(const QString& target);
  void fitHeight();

  QTreeWidget* Table;
  QPushButton* Reset;
};

#endif
