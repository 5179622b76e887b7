#include "pqBATAttributeRangesWidget.h"

#include "pqApplicationCore.h"
#include "pqPipelineSource.h"
#include "pqServerManagerModel.h"

#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QRegularExpression>
#include <QRegularExpressionValidator>
#include <QSet>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace
{
enum Column
{
  Target,
  Minimum,
  Maximum
};

// Data of column Target.
enum Role
{
  TargetText = Qt::UserRole, ///< what the property calls the row
  FileMinimum,               ///< ends of the range in the file, as texts
  FileMaximum,
  Edited ///< the user, or the property, has chosen the ends
};

// Edits numbers as texts, so that 64-bit integers keep all their digits, and shows the others
// short.
class NumberDelegate : public QStyledItemDelegate
{
public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QString displayText(const QVariant& value, const QLocale&) const override
  {
    static const QRegularExpression integer("^[-+]?[0-9]*$");
    const QString text = value.toString();
    bool ok = false;
    const double number = text.toDouble(&ok);
    return !ok || integer.match(text).hasMatch() ? text : QString::number(number, 'g', 6);
  }

  QWidget* createEditor(
    QWidget* parent, const QStyleOptionViewItem&, const QModelIndex& index) const override
  {
    if (index.column() == Target)
    {
      return nullptr;
    }
    static const QRegularExpression number(
      "[-+]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?|inf)?");
    auto* edit = new QLineEdit(parent);
    edit->setFrame(false);
    edit->setValidator(new QRegularExpressionValidator(number, edit));
    return edit;
  }
};

// "velocity" of "velocity[1]"; empty if the text is no component.
QString ParentTarget(const QString& target)
{
  static const QRegularExpression component("^(.+)\\[[0-9]+\\]$");
  return component.match(target).captured(1);
}

void SetEnds(QTreeWidgetItem* row, const QString& minimum, const QString& maximum)
{
  row->setText(Minimum, minimum);
  row->setText(Maximum, maximum);
  row->setToolTip(Minimum, minimum);
  row->setToolTip(Maximum, maximum);
}
}

//-----------------------------------------------------------------------------
pqBATAttributeRangesWidget::pqBATAttributeRangesWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
{
  this->setShowLabel(false);

  this->Table = new QTreeWidget(this);
  this->Table->setObjectName("RangesTable");
  this->Table->setHeaderLabels({ tr("Attribute"), tr("Minimum"), tr("Maximum") });
  this->Table->setItemDelegate(new NumberDelegate(this->Table));
  this->Table->setAlternatingRowColors(true);
  this->Table->setUniformRowHeights(true);
  this->Table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  this->Table->setEditTriggers(QAbstractItemView::DoubleClicked |
    QAbstractItemView::SelectedClicked | QAbstractItemView::EditKeyPressed |
    QAbstractItemView::AnyKeyPressed);
  QHeaderView* header = this->Table->header();
  header->setStretchLastSection(false);
  header->setMinimumSectionSize(header->fontMetrics().horizontalAdvance("-0.1234"));
  header->setSectionResizeMode(Target, QHeaderView::ResizeToContents);
  header->setSectionResizeMode(Minimum, QHeaderView::Stretch);
  header->setSectionResizeMode(Maximum, QHeaderView::Stretch);

  this->Reset = new QPushButton(tr("Reset Ranges"), this);
  this->Reset->setObjectName("ResetRanges");
  this->Reset->setToolTip(tr("Uncheck all rows and set them to the ranges in the file"));

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this->Table);
  layout->addWidget(this->Reset, 0, Qt::AlignRight);

  this->connect(this->Table, SIGNAL(itemChanged(QTreeWidgetItem*, int)),
    SLOT(itemEdited(QTreeWidgetItem*, int)));
  this->connect(this->Reset, SIGNAL(clicked()), SLOT(resetRows()));
  QObject::connect(this->Table, &QTreeWidget::itemExpanded, this, [this]() { this->fitHeight(); });
  QObject::connect(this->Table, &QTreeWidget::itemCollapsed, this, [this]() { this->fitHeight(); });

  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  if (pqPipelineSource* source = model->findItem<pqPipelineSource*>(smproxy))
  {
    this->connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(updateRows()));
  }

  this->updateRows();
  this->addPropertyLink(this, "ranges", SIGNAL(rangesChanged()), smproperty);
}

//-----------------------------------------------------------------------------
pqBATAttributeRangesWidget::~pqBATAttributeRangesWidget() = default;

//-----------------------------------------------------------------------------
QList<QTreeWidgetItem*> pqBATAttributeRangesWidget::rows() const
{
  QList<QTreeWidgetItem*> all;
  for (int i = 0; i < this->Table->topLevelItemCount(); ++i)
  {
    QTreeWidgetItem* row = this->Table->topLevelItem(i);
    all.append(row);
    for (int k = 0; k < row->childCount(); ++k)
    {
      all.append(row->child(k));
    }
  }
  return all;
}

//-----------------------------------------------------------------------------
QTreeWidgetItem* pqBATAttributeRangesWidget::findRow(const QString& target) const
{
  for (QTreeWidgetItem* row : this->rows())
  {
    if (row->data(Target, TargetText).toString() == target)
    {
      return row;
    }
  }
  return nullptr;
}

//-----------------------------------------------------------------------------
QTreeWidgetItem* pqBATAttributeRangesWidget::addRow(const QString& target)
{
  const QString above = ParentTarget(target);
  QTreeWidgetItem* parentRow = above.isEmpty() ? nullptr : this->findRow(above);
  auto* row = parentRow ? new QTreeWidgetItem(parentRow) : new QTreeWidgetItem(this->Table);
  row->setFlags(
    Qt::ItemIsSelectable | Qt::ItemIsEnabled | Qt::ItemIsEditable | Qt::ItemIsUserCheckable);
  row->setCheckState(Target, Qt::Unchecked);
  row->setText(Target, target);
  row->setData(Target, TargetText, target);
  row->setTextAlignment(Minimum, Qt::AlignRight | Qt::AlignVCenter);
  row->setTextAlignment(Maximum, Qt::AlignRight | Qt::AlignVCenter);
  if (parentRow)
  {
    parentRow->setText(Target, tr("%1 (magnitude)").arg(above));
  }
  return row;
}

//-----------------------------------------------------------------------------
// Brings the rows in line with what the file has. Ends that were chosen stay.
void pqBATAttributeRangesWidget::updateRows()
{
  vtkSMProperty* property = this->proxy()->GetProperty("AttributeRangesInfo");
  if (!property)
  {
    return;
  }
  this->proxy()->UpdatePropertyInformation(property);
  vtkSMPropertyHelper info(property);

  const QSignalBlocker blocker(this->Table);
  QSet<QString> targets;
  for (unsigned int i = 0; i + 2 < info.GetNumberOfElements(); i += 3)
  {
    const QString target = QString::fromUtf8(info.GetAsString(i));
    const QString minimum = QString::fromUtf8(info.GetAsString(i + 1));
    const QString maximum = QString::fromUtf8(info.GetAsString(i + 2));
    targets.insert(target);
    QTreeWidgetItem* row = this->findRow(target);
    if (!row)
    {
      row = this->addRow(target);
    }
    row->setData(Target, FileMinimum, minimum);
    row->setData(Target, FileMaximum, maximum);
    row->setToolTip(Target, tr("In the file: %1 to %2").arg(minimum, maximum));
    if (!row->data(Target, Edited).toBool())
    {
      SetEnds(row, minimum, maximum);
    }
  }
  for (QTreeWidgetItem* row : this->rows())
  {
    const QString target = row->data(Target, TargetText).toString();
    if (!targets.contains(target) && row->childCount() == 0 &&
      row->checkState(Target) == Qt::Unchecked)
    {
      delete row;
    }
  }
  this->fitHeight();
}

//-----------------------------------------------------------------------------
QList<QVariant> pqBATAttributeRangesWidget::ranges() const
{
  QList<QVariant> values;
  for (const QTreeWidgetItem* row : this->rows())
  {
    if (row->checkState(Target) == Qt::Checked)
    {
      values << row->data(Target, TargetText) << row->text(Minimum) << row->text(Maximum);
    }
  }
  return values;
}

//-----------------------------------------------------------------------------
void pqBATAttributeRangesWidget::setRanges(const QList<QVariant>& values)
{
  // Not emitted: the rows have an order of their own, and showing a value is no change of it.
  const QSignalBlocker blocker(this->Table);
  for (QTreeWidgetItem* row : this->rows())
  {
    row->setCheckState(Target, Qt::Unchecked);
  }
  for (int i = 0; i + 2 < values.size(); i += 3)
  {
    const QString target = values[i].toString();
    QTreeWidgetItem* row = this->findRow(target);
    // A range that the file does not have, or a second one on the same target, gets a row of its
    // own.
    if (!row || row->checkState(Target) == Qt::Checked)
    {
      row = this->addRow(target);
    }
    row->setCheckState(Target, Qt::Checked);
    row->setData(Target, Edited, true);
    SetEnds(row, values[i + 1].toString(), values[i + 2].toString());
    if (row->parent())
    {
      row->parent()->setExpanded(true);
    }
  }
  this->fitHeight();
}

//-----------------------------------------------------------------------------
void pqBATAttributeRangesWidget::itemEdited(QTreeWidgetItem* row, int column)
{
  {
    const QSignalBlocker blocker(this->Table);
    if (column != Target)
    {
      // Who enters a number wants it to hold.
      row->setCheckState(Target, Qt::Checked);
      row->setData(Target, Edited, true);
      row->setToolTip(column, row->text(column));
    }
    else if (row->checkState(Target) == Qt::Checked)
    {
      row->setData(Target, Edited, true);
    }
  }
  Q_EMIT this->rangesChanged();
}

//-----------------------------------------------------------------------------
void pqBATAttributeRangesWidget::resetRows()
{
  {
    const QSignalBlocker blocker(this->Table);
    for (QTreeWidgetItem* row : this->rows())
    {
      row->setCheckState(Target, Qt::Unchecked);
      row->setData(Target, Edited, false);
    }
    this->updateRows();
  }
  Q_EMIT this->rangesChanged();
}

//-----------------------------------------------------------------------------
// As high as its rows, up to ten of them: a table inside a panel that scrolls should not scroll
// too.
void pqBATAttributeRangesWidget::fitHeight()
{
  int visible = 0;
  for (QTreeWidgetItem* row : this->rows())
  {
    visible += !row->parent() || row->parent()->isExpanded() ? 1 : 0;
  }
  visible = std::min(10, std::max(2, visible));
  const int hint = this->Table->sizeHintForRow(0); // negative without rows
  const int rowHeight = hint > 0 ? hint : this->Table->fontMetrics().height() + 4;
  this->Table->setFixedHeight(this->Table->header()->sizeHint().height() + visible * rowHeight +
    2 * this->Table->frameWidth());
}
