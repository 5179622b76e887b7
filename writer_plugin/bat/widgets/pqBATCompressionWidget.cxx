// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATCompressionWidget.h"

#include "WrongField.h"

#include "pqLineEdit.h"

#include "vtkDataObject.h"
#include "vtkPVArrayInformation.h"
#include "vtkPVDataInformation.h"
#include "vtkPVDataSetAttributesInformation.h"
#include "vtkSMPropertyGroup.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSourceProxy.h"
#include "vtkType.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace
{
// Indexes of the methods and units in the combo boxes.
enum MethodIndex
{
  None,
  Lossless,
  Bounded
};
enum UnitIndex
{
  Absolute,
  OfRange
};

constexpr const char* Positions = "positions";

// Names of widgets are parts of paths in recorded tests.
QString ObjectName(const QString& array)
{
  QString name = array;
  return "Bound_" + name.replace(QRegularExpression("[^A-Za-z0-9_]+"), "_");
}

// Formats a number above 0 as the writer accepts it.
bool IsBound(const QString& text)
{
  static const QRegularExpression number(
    "^([0-9]+[.]?[0-9]*|[.][0-9]+)(e[-+]?[0-9]+)?$", QRegularExpression::CaseInsensitiveOption);
  return number.match(text).hasMatch() && QLocale::c().toDouble(text) > 0.0;
}

QString WithoutPercent(QString text)
{
  text = text.trimmed();
  return text.endsWith('%') ? text.left(text.size() - 1).trimmed() : text;
}
}

//-----------------------------------------------------------------------------
pqBATCompressionWidget::pqBATCompressionWidget(
  vtkSMProxy* smproxy, vtkSMPropertyGroup* smgroup, QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
  , Method(new QComboBox(this))
  , Table(new QWidget(this))
  , Grid(new QGridLayout(this->Table))
  , Note(new QLabel(this->Table))
{
  this->Method->setObjectName("Method");
  this->Method->setAccessibleName(tr("Compression"));
  this->Method->addItem(tr("None"));
  this->Method->addItem(tr("Lossless"));
  this->Method->addItem(tr("Bounded"));
  this->Method->setItemData(None, tr("Values are stored unchanged"), Qt::ToolTipRole);
  this->Method->setItemData(
    Lossless, tr("Smaller files; every bit of every value is preserved"), Qt::ToolTipRole);
  this->Method->setItemData(Bounded,
    tr("Still smaller files: values of arrays with a bound may deviate by it, all others are "
       "preserved"),
    Qt::ToolTipRole);
  this->Method->setToolTip(tr("Storage of values. Writing compressed files takes longer"));

  this->Table->setObjectName("Bounds");
  this->Grid->setContentsMargins(0, 0, 0, 0);
  this->Grid->setHorizontalSpacing(4);
  this->Grid->setVerticalSpacing(2);
  this->Grid->setColumnStretch(0, 1);
  this->Grid->setColumnStretch(1, 1);
  this->Grid->addWidget(new QLabel(tr("Array"), this->Table), 0, 0);
  this->Grid->addWidget(new QLabel(tr("Maximum Error"), this->Table), 0, 1, 1, 2);
  this->Note->setObjectName("BoundsNote");
  this->Note->setWordWrap(true);
  this->Note->setText(tr("No array has a bound yet: all are kept exactly, as with Lossless."));

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this->Method);
  layout->addWidget(this->Table);
  layout->addWidget(this->Note);

  this->addInputRows();
  this->connect(this->Method, SIGNAL(currentIndexChanged(int)), SLOT(methodChosen()));
  this->addPropertyLink(
    this, "bounds", SIGNAL(boundsChanged()), smgroup->GetProperty("ErrorBounds"));
  this->addPropertyLink(
    this, "method", SIGNAL(methodChanged()), smgroup->GetProperty("Compression"));
  this->showBounds();
}

//-----------------------------------------------------------------------------
pqBATCompressionWidget::~pqBATCompressionWidget() = default;

//-----------------------------------------------------------------------------
// Integers are always kept exactly.
void pqBATCompressionWidget::addInputRows()
{
  this->addRow(Positions, tr("Per coordinate"));
  vtkSMProxy* writer = this->proxy();
  vtkSMProperty* property = writer ? writer->GetProperty("Input") : nullptr;
  if (!property)
  {
    return;
  }
  const vtkSMPropertyHelper input(property, true);
  if (input.GetNumberOfElements() == 0)
  {
    return;
  }
  auto* source = vtkSMSourceProxy::SafeDownCast(input.GetAsProxy());
  vtkPVDataInformation* data = source ? source->GetDataInformation(input.GetOutputPort()) : nullptr;
  for (const int kind : { vtkDataObject::POINT, vtkDataObject::ROW, vtkDataObject::CELL })
  {
    vtkPVDataSetAttributesInformation* arrays =
      data ? data->GetAttributeInformation(kind) : nullptr;
    for (int i = 0; arrays && i < arrays->GetNumberOfArrays(); ++i)
    {
      vtkPVArrayInformation* array = arrays->GetArrayInformation(i);
      const QString name = QString::fromUtf8(array->GetName());
      const int type = array->GetDataType();
      if ((type == VTK_FLOAT || type == VTK_DOUBLE) && !name.isEmpty() && !this->findRow(name))
      {
        const double* range = array->GetComponentRange(array->GetNumberOfComponents() > 1 ? -1 : 0);
        this->addRow(name,
          tr("Values from %1 to %2")
            .arg(QString::number(range[0], 'g', 4), QString::number(range[1], 'g', 4)));
      }
    }
  }
}

//-----------------------------------------------------------------------------
pqBATCompressionWidget::Row* pqBATCompressionWidget::findRow(const QString& array)
{
  const auto found = std::find_if(
    this->Rows.begin(), this->Rows.end(), [&](const Row& row) { return row.Array == array; });
  return found == this->Rows.end() ? nullptr : &*found;
}

//-----------------------------------------------------------------------------
void pqBATCompressionWidget::addRow(const QString& array, const QString& help)
{
  auto* number = new pqLineEdit(this->Table);
  number->setObjectName(ObjectName(array));
  number->setPlaceholderText(tr("exact"));
  number->setAccessibleName(tr("Maximum error of %1").arg(array));
  number->setProperty("help", help);
  auto* unit = new QComboBox(this->Table);
  unit->setObjectName(ObjectName(array) + "_Unit");
  unit->setAccessibleName(tr("Unit of the maximum error of %1").arg(array));
  unit->addItem(tr("absolute"));
  unit->addItem(tr("% of range"));
  auto* name = new QLabel(array == Positions ? tr("Positions") : array, this->Table);
  name->setToolTip(help);
  const int line = this->Grid->rowCount();
  this->Grid->addWidget(name, line, 0);
  this->Grid->addWidget(number, line, 1);
  this->Grid->addWidget(unit, line, 2);
  this->Rows.append({ array, number, unit });
  this->connect(number, SIGNAL(textChanged(const QString&)), SLOT(boundEdited()));
  this->connect(unit, SIGNAL(currentIndexChanged(int)), SLOT(boundEdited()));
}

//-----------------------------------------------------------------------------
bool pqBATCompressionWidget::hasBounds() const
{
  return std::any_of(this->Rows.begin(), this->Rows.end(),
    [](const Row& row) { return IsBound(WithoutPercent(row.Number->text())); });
}

//-----------------------------------------------------------------------------
QString pqBATCompressionWidget::method() const
{
  const int index = this->Method->currentIndex();
  return index == None ? "None" : index == Bounded && this->hasBounds() ? "Bounded" : "Lossless";
}

//-----------------------------------------------------------------------------
void pqBATCompressionWidget::setMethod(const QString& method)
{
  // A writer without bounds reports Lossless for Bounded: the choice does not change.
  if (method.compare(this->method(), Qt::CaseInsensitive) != 0)
  {
    const QString name = method.toLower();
    this->Method->setCurrentIndex(name == "bounded" ? Bounded
        : name == "lossless"                        ? Lossless
                                                    : None);
  }
}

//-----------------------------------------------------------------------------
QList<QVariant> pqBATCompressionWidget::bounds() const
{
  QList<QVariant> bounds;
  for (const Row& row : this->Rows)
  {
    const QString number = WithoutPercent(row.Number->text());
    if (this->Method->currentIndex() == Bounded && IsBound(number))
    {
      bounds.append(
        row.Array + "=" + number + (row.Unit->currentIndex() == OfRange ? "%" : QString()));
    }
  }
  return bounds;
}

//-----------------------------------------------------------------------------
void pqBATCompressionWidget::setBounds(const QList<QVariant>& bounds)
{
  if (bounds == this->bounds())
  {
    return;
  }
  for (const Row& row : this->Rows)
  {
    const QSignalBlocker blocker(row.Number);
    row.Number->setText(QString());
  }
  for (const QVariant& bound : bounds)
  {
    const QString text = bound.toString();
    const int equals = text.lastIndexOf('=');
    if (equals <= 0)
    {
      continue;
    }
    const QString array = text.left(equals);
    if (!this->findRow(array))
    {
      this->addRow(array, tr("The input does not have this array"));
    }
    const Row* row = this->findRow(array);
    const QSignalBlocker numberBlocker(row->Number);
    const QSignalBlocker unitBlocker(row->Unit);
    row->Number->setText(WithoutPercent(text.mid(equals + 1)));
    row->Unit->setCurrentIndex(text.trimmed().endsWith('%') ? OfRange : Absolute);
  }
  if (!bounds.isEmpty())
  {
    this->Method->setCurrentIndex(Bounded);
  }
  this->showBounds();
}

//-----------------------------------------------------------------------------
void pqBATCompressionWidget::methodChosen()
{
  this->showBounds();
  Q_EMIT this->boundsChanged();
  Q_EMIT this->methodChanged();
}

//-----------------------------------------------------------------------------
void pqBATCompressionWidget::boundEdited()
{
  for (const Row& row : this->Rows)
  {
    if (row.Number->text().trimmed().endsWith('%')) // typed after the number
    {
      const QSignalBlocker numberBlocker(row.Number);
      const QSignalBlocker unitBlocker(row.Unit);
      row.Number->setText(WithoutPercent(row.Number->text()));
      row.Unit->setCurrentIndex(OfRange);
    }
  }
  this->methodChosen();
}

//-----------------------------------------------------------------------------
void pqBATCompressionWidget::showBounds()
{
  const bool bounded = this->Method->currentIndex() == Bounded;
  this->Table->setVisible(bounded);
  this->Note->setVisible(bounded && !this->hasBounds());
  for (const Row& row : this->Rows)
  {
    const QString text = row.Number->text().trimmed();
    const bool wrong = !text.isEmpty() && !IsBound(text);
    bat_field::markWrong(row.Number,
      wrong ? tr("'%1' is not a number above 0").arg(text) : QString(),
      tr("Maximum difference between original and stored values, such as 0.001 or 0.1%. If "
         "empty, values are exact. %1")
        .arg(row.Number->property("help").toString()));
  }
}
