// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATAttributeRangesWidget.h"

#include "ReaderNumbers.h"
#include "pqBATMatchEstimate.h"
#include "pqBATRangeRow.h"
#include "pqBATValuesRow.h"

#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqPipelineSource.h"
#include "pqSMAdaptor.h"
#include "pqServerManagerModel.h"

#include "vtkClientServerStream.h"
#include "vtkCommand.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"
#include "vtkSMSession.h"

#include <QCursor>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMap>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QTimer>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace
{
constexpr int RowsWithoutSearch = 12;
constexpr int RowsAtOnce = 10; // then the table scrolls
constexpr int TextsOfValue = 5;

// Returns "velocity" for "velocity[1]"; empty if the text is not a component.
QString ParentTarget(const QString& target)
{
  static const QRegularExpression component("^(.+)\\[[0-9]+\\]$");
  return component.match(target).captured(1);
}

// Names of widgets are parts of paths in recorded tests.
QString ObjectName(const QString& target)
{
  QString name = target;
  return name.replace(QRegularExpression("[^A-Za-z0-9_]+"), "_");
}

pqHistogram ReadHistogram(const std::vector<double>& numbers, std::size_t first)
{
  pqHistogram histogram;
  histogram.Lower = numbers[first];
  histogram.Upper = numbers[first + 1];
  histogram.Integers = numbers[first + 2] != 0.0;
  histogram.StraightBelow = numbers[first + 3];
  for (std::size_t bin = 0; bin < bat_vtk::HistogramBins; ++bin)
  {
    histogram.Counts.append(numbers[first + 4 + bin]);
  }
  return histogram;
}

// Requests histograms and values from the reader. Bypasses the property ComputeHistograms, because
// setting a property makes all filters below the reader run again.
std::vector<double> FetchHistograms(vtkSMProxy* proxy)
{
  vtkSMProperty* property = proxy->GetProperty("AttributeHistograms");
  vtkSMProxy* reader = property ? property->GetParent() : nullptr;
  if (!reader || !reader->GetSession())
  {
    return {};
  }
  const auto compute = [reader](int on)
  {
    vtkClientServerStream stream;
    stream << vtkClientServerStream::Invoke << VTKOBJECT(reader) << "SetComputeHistograms" << on
           << vtkClientServerStream::End;
    reader->GetSession()->ExecuteStream(reader->GetLocation(), stream, false);
  };
  compute(1);
  proxy->UpdatePropertyInformation(property);
  if (vtkSMProperty* values = proxy->GetProperty("AttributeValues"))
  {
    proxy->UpdatePropertyInformation(values);
  }
  compute(0);
  return vtkSMPropertyHelper(property).GetDoubleArray();
}
}

//-----------------------------------------------------------------------------
pqBATAttributeRangesWidget::pqBATAttributeRangesWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
{
  this->setShowLabel(false);

  this->Search = new QLineEdit(this);
  this->Search->setObjectName("SearchRanges");
  this->Search->setPlaceholderText(tr("Search attributes"));
  this->Search->setAccessibleName(tr("Search attributes"));
  this->Search->setClearButtonEnabled(true);

  this->makeTable();

  this->Reset = new QPushButton(tr("Reset Ranges"), this);
  this->Reset->setObjectName("ResetRanges");
  this->Reset->setToolTip(tr("Remove all filters; show the ranges in the file"));

  this->Matching = new QLabel(this);
  this->Matching->setObjectName("MatchingCount");
  this->Matching->setWordWrap(true);

  auto* below = new QHBoxLayout;
  below->addWidget(this->Matching, 1);
  below->addWidget(this->Reset, 0, Qt::AlignRight | Qt::AlignTop);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this->Search);
  layout->addWidget(this->Table);
  layout->addLayout(below);

  this->connect(this->Search, SIGNAL(textChanged(const QString&)), SLOT(arrangeRows()));
  this->connect(this->Reset, SIGNAL(clicked()), SLOT(resetRows()));

  if (pqPipelineSource* source = this->source())
  {
    this->connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(updateRows()),
      Qt::QueuedConnection); // a trace of Apply would take what is fetched for what the user has
                             // set
    this->Matching->connect(source, SIGNAL(dataUpdated(pqPipelineSource*)), SLOT(clear()));
    // For the button Reset, after which the estimate is outdated.
    QObject::connect(source, &pqPipelineSource::modifiedStateChanged, this,
      &pqBATAttributeRangesWidget::showEstimate, Qt::QueuedConnection);
  }

  this->updateRows();
  QObject::connect(this, &pqBATAttributeRangesWidget::rangesChanged, this,
    &pqBATAttributeRangesWidget::markAlternatives);
  QObject::connect(this, &pqBATAttributeRangesWidget::rangesChanged, this,
    &pqBATAttributeRangesWidget::watchEstimate);
  this->addPropertyLink(this, "ranges", SIGNAL(rangesChanged()), smproperty);
  pqCoreUtilities::connect(smproperty, vtkCommand::ModifiedEvent, this, SLOT(propertyModified()));
}

//-----------------------------------------------------------------------------
// Creates the scrolling area, in which attributes with few values come before all others.
void pqBATAttributeRangesWidget::makeTable()
{
  auto* content = new QWidget(this);
  content->setObjectName("Rows");
  this->ValuesLayout = new QVBoxLayout;
  this->RowLayout = new QVBoxLayout;
  this->RowLayout->addStretch(1);
  auto* inside = new QVBoxLayout(content);
  inside->addLayout(this->ValuesLayout);
  inside->addLayout(this->RowLayout, 1);
  for (QVBoxLayout* rows : { inside, this->ValuesLayout, this->RowLayout })
  {
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
  }
  this->Table = new QScrollArea(this);
  this->Table->setObjectName("RangesTable");
  this->Table->setWidget(content);
  this->Table->setWidgetResizable(true);
  this->Table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  this->Table->setFrameShape(QFrame::StyledPanel);
}

//-----------------------------------------------------------------------------
pqBATAttributeRangesWidget::~pqBATAttributeRangesWidget() = default;

//-----------------------------------------------------------------------------
pqPipelineSource* pqBATAttributeRangesWidget::source() const
{
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  return model->findItem<pqPipelineSource*>(this->proxy());
}

//-----------------------------------------------------------------------------
// A script that shortens a list notifies no link, and the panel would restore the list.
void pqBATAttributeRangesWidget::propertyModified()
{
  vtkSMProperty* smproperty = this->property();
  const QList<QVariant> set = pqSMAdaptor::getMultipleElementProperty(smproperty);
  if (set == pqSMAdaptor::getMultipleElementProperty(smproperty, pqSMAdaptor::UNCHECKED))
  {
    this->setRanges(set);
  }
}

//-----------------------------------------------------------------------------
// Repeats the estimate at the top of the panel, which may be scrolled out of view.
void pqBATAttributeRangesWidget::watchEstimate()
{
  if (this->Estimate)
  {
    return;
  }
  for (pqBATMatchEstimate* estimate : this->window()->findChildren<pqBATMatchEstimate*>())
  {
    if (estimate->reader() == this->proxy())
    {
      this->Estimate = estimate;
      QObject::connect(
        estimate, &pqBATMatchEstimate::changed, this, &pqBATAttributeRangesWidget::showEstimate);
    }
  }
}

//-----------------------------------------------------------------------------
void pqBATAttributeRangesWidget::showEstimate()
{
  const auto all =
    static_cast<double>(vtkSMPropertyHelper(this->proxy(), "ParticleCount").GetAsIdType());
  const QString text = this->Estimate && this->Estimate->isKnown()
    ? tr("%1 of %2 match").arg(this->Estimate->count().text(), bat_count::grouped(all))
    : QString();
  this->Matching->setText(text);
  // While a slider is dragged, this is the only visible change.
  if (QGuiApplication::mouseButtons() != Qt::NoButton && this->isVisible() && !text.isEmpty() &&
    this->Matching->visibleRegion().isEmpty())
  {
    QToolTip::showText(QCursor::pos(), text, this);
  }
}

//-----------------------------------------------------------------------------
QList<pqBATRangeRow*> pqBATAttributeRangesWidget::findRows(const QString& target) const
{
  QList<pqBATRangeRow*> found;
  for (pqBATRangeRow* row : this->Rows)
  {
    if (row->target() == target)
    {
      found.append(row);
    }
  }
  return found;
}

//-----------------------------------------------------------------------------
bool pqBATAttributeRangesWidget::isTarget(const QString& text) const
{
  for (int i = 0; i + 2 < this->Info.size(); i += 3)
  {
    if (this->Info[i] == text)
    {
      return true;
    }
  }
  return false;
}

//-----------------------------------------------------------------------------
// Rows below a checked row of the same attribute show "or", unless they show "not".
void pqBATAttributeRangesWidget::markAlternatives()
{
  QStringList seen;
  for (pqBATRangeRow* row : this->Rows)
  {
    row->setAlternative(!row->isFirst() && !row->isNegated() && seen.contains(row->target()));
    if (row->isActive() && !row->isNegated())
    {
      seen.append(row->target());
    }
  }
}

//-----------------------------------------------------------------------------
bool pqBATAttributeRangesWidget::isVector(const QString& target) const
{
  return std::any_of(this->Rows.begin(), this->Rows.end(),
           [&](pqBATRangeRow* row) { return ParentTarget(row->target()) == target; }) ||
    this->Info.contains(target + "[0]");
}

//-----------------------------------------------------------------------------
// Places it below the rows of the same target, or else below the rows of its vector.
pqBATRangeRow* pqBATAttributeRangesWidget::addRow(const QString& target)
{
  const int others = this->findRows(target).size();
  const QString above = ParentTarget(target);
  const bool isComponent = !above.isEmpty() && !this->findRows(above).isEmpty();
  const QString label = this->isVector(target) ? tr("%1 (magnitude)").arg(target) : target;
  auto* row = new pqBATRangeRow(target, label, others == 0, this->Table->widget());
  row->setObjectName(
    "Range_" + ObjectName(target) + (others == 0 ? QString() : QString("_%1").arg(others + 1)));
  row->setIndented(isComponent);

  int index = this->Rows.size();
  for (int i = 0; i < this->Rows.size(); ++i)
  {
    const QString& other = this->Rows[i]->target();
    if (others > 0 ? other == target
                   : isComponent && (other == above || ParentTarget(other) == above))
    {
      index = i + 1;
    }
  }
  this->Rows.insert(index, row);
  this->RowLayout->insertWidget(index, row);
  QObject::connect(
    row, &pqBATRangeRow::rangeChanged, this, &pqBATAttributeRangesWidget::rangesChanged);
  QObject::connect(
    row, &pqBATRangeRow::expandedChanged, this, &pqBATAttributeRangesWidget::arrangeRows);
  QObject::connect(
    row, &pqBATRangeRow::anotherRequested, this, [this, target]() { this->addAnother(target); });
  QObject::connect(row, &pqBATRangeRow::removalRequested, this,
    [this, row]()
    {
      this->removeRow(row);
      this->arrangeRows();
      Q_EMIT this->rangesChanged();
    });
  return row;
}

//-----------------------------------------------------------------------------
void pqBATAttributeRangesWidget::removeRow(pqBATRangeRow* row)
{
  this->Rows.removeOne(row);
  this->RowLayout->removeWidget(row);
  row->hide();
  row->setObjectName(QString()); // another may have the name before this one is gone
  row->deleteLater();            // it may be the one that asked for it
}

//-----------------------------------------------------------------------------
// It takes effect once a range is chosen: as an alternative, the full range would cancel the rows
// above.
void pqBATAttributeRangesWidget::addAnother(const QString& target)
{
  pqBATRangeRow* row = this->addRow(target);
  this->showData(row);
  row->show();
  this->arrangeRows();
}

//-----------------------------------------------------------------------------
bool pqBATAttributeRangesWidget::hasError() const
{
  vtkSMProperty* error = this->proxy()->GetProperty("Error");
  if (!error)
  {
    return false;
  }
  this->proxy()->UpdatePropertyInformation(error);
  return !QString(vtkSMPropertyHelper(error).GetAsString()).isEmpty();
}

//-----------------------------------------------------------------------------
// Updates the rows to the contents of the file. Chosen ends stay.
void pqBATAttributeRangesWidget::updateRows()
{
  vtkSMProperty* property = this->proxy()->GetProperty("AttributeRangesInfo");
  if (!property)
  {
    return;
  }
  this->proxy()->UpdatePropertyInformation(property);
  vtkSMPropertyHelper info(property);
  // A file that cannot be read, such as a step of a series, provides no information. The rows wait
  // for another file.
  const bool known = info.GetNumberOfElements() > 0 || !this->hasError();
  this->Table->setEnabled(known);
  if (!known)
  {
    return;
  }
  this->Info.clear();
  for (unsigned int i = 0; i < info.GetNumberOfElements(); ++i)
  {
    this->Info.append(QString::fromUtf8(info.GetAsString(i)));
  }
  QStringList targets;
  for (int i = 0; i + 2 < this->Info.size(); i += 3)
  {
    targets.append(this->Info[i]);
    const bool hasBoxes = std::any_of(this->Values.begin(), this->Values.end(),
      [&](pqBATValuesRow* row) { return row->target() == targets.back(); });
    if (!hasBoxes && this->findRows(this->Info[i]).isEmpty())
    {
      this->addRow(this->Info[i]);
    }
  }
  for (pqBATRangeRow* row : QList<pqBATRangeRow*>(this->Rows))
  {
    if (!targets.contains(row->target()) && !row->isActive())
    {
      this->removeRow(row);
    }
    else
    {
      this->showData(row);
    }
  }
  this->arrangeRows();
  // The panel exists before the histograms do.
  QTimer::singleShot(0, this, SLOT(updateHistograms()));
}

//-----------------------------------------------------------------------------
void pqBATAttributeRangesWidget::showData(pqBATRangeRow* row)
{
  for (int i = 0; i + 2 < this->Info.size(); i += 3)
  {
    if (this->Info[i] == row->target())
    {
      row->setData(this->Info[i + 1], this->Info[i + 2]);
      if (i / 3 < this->Histograms.size())
      {
        row->setHistograms(this->Histograms[i / 3].first, this->Histograms[i / 3].second);
      }
      return;
    }
  }
  row->setData(QString(), QString());
}

//-----------------------------------------------------------------------------
// Histograms are requested only for another file, and only for a visible panel.
void pqBATAttributeRangesWidget::updateHistograms()
{
  vtkSMProxy* smproxy = this->proxy();
  QStringList requested = this->Info;
  if (vtkSMProperty* name = smproxy ? smproxy->GetProperty("FileNameInfo") : nullptr)
  {
    smproxy->UpdatePropertyInformation(name);
    requested.append(QString::fromUtf8(vtkSMPropertyHelper(name).GetAsString()));
  }
  if (!smproxy || !this->isVisible() || requested == this->HistogramsOf)
  {
    return;
  }
  this->HistogramsOf = requested;
  this->Histograms.clear();
  const std::vector<double> numbers = FetchHistograms(smproxy);
  const std::size_t rows = static_cast<std::size_t>(this->Info.size() / 3);
  using bat_vtk::HistogramNumbers;
  if (numbers.size() == 2 * HistogramNumbers * rows)
  {
    for (std::size_t row = 0; row < rows; ++row)
    {
      const std::size_t first = 2 * HistogramNumbers * row;
      this->Histograms.append(
        { ReadHistogram(numbers, first), ReadHistogram(numbers, first + HistogramNumbers) });
    }
  }
  for (pqBATRangeRow* row : this->Rows)
  {
    this->showData(row);
  }
  this->updateValues();
}

//-----------------------------------------------------------------------------
// Turns rows of targets with few values into check boxes, and check boxes that no longer show the
// values into rows. Active conditions stay.
void pqBATAttributeRangesWidget::updateValues()
{
  QMap<QString, QList<pqBATValueCount>> found;
  vtkSMPropertyHelper info(this->proxy(), "AttributeValues", true);
  for (unsigned int i = 0; i + TextsOfValue <= info.GetNumberOfElements(); i += TextsOfValue)
  {
    const auto number = [&](unsigned int k) { return QString(info.GetAsString(i + k)).toDouble(); };
    found[QString::fromUtf8(info.GetAsString(i))].append(
      { info.GetAsString(i + 1), { number(2), number(3), number(4) } });
  }
  const QList<QVariant> ranges = this->ranges();
  for (pqBATValuesRow* row : QList<pqBATValuesRow*>(this->Values))
  {
    QStringList all = row->values();
    for (const pqBATValueCount& count : found.value(row->target()))
    {
      all.append(count.Value);
    }
    all.removeDuplicates();
    const bool known = found.contains(row->target()) || !this->isTarget(row->target());
    if (!known || static_cast<std::size_t>(all.size()) > bat_vtk::MaxListedValues)
    {
      this->TooMany.append(row->target());
      this->Values.removeOne(row);
      this->ValuesLayout->removeWidget(row);
      row->setObjectName(QString());
      row->hide();
      row->deleteLater();
      if (this->isTarget(row->target()))
      {
        this->addRow(row->target());
      }
      continue;
    }
    row->setValues(found.take(row->target()));
  }
  for (int i = 0; i + 2 < this->Info.size(); i += 3)
  {
    const QString& target = this->Info[i];
    if (!found.contains(target) || this->TooMany.contains(target))
    {
      continue;
    }
    for (pqBATRangeRow* row : this->findRows(target))
    {
      this->removeRow(row);
    }
    auto* row = new pqBATValuesRow(target, this->source(), this->Table->widget());
    row->setObjectName("Values_" + ObjectName(target));
    row->setValues(found[target]);
    this->Values.append(row);
    this->ValuesLayout->addWidget(row);
    QObject::connect(
      row, &pqBATValuesRow::rangesChanged, this, &pqBATAttributeRangesWidget::rangesChanged);
    QObject::connect(
      row, &pqBATValuesRow::heightChanged, this, &pqBATAttributeRangesWidget::arrangeRows);
  }
  this->setRanges(ranges);
  this->arrangeRows();
}

//-----------------------------------------------------------------------------
QList<QVariant> pqBATAttributeRangesWidget::ranges() const
{
  QList<QVariant> values;
  for (const pqBATRangeRow* row : this->Rows)
  {
    if (row->isActive())
    {
      values << (row->isNegated() ? "!" + row->target() : row->target()) << row->minimum()
             << row->maximum();
    }
  }
  for (const pqBATValuesRow* row : this->Values)
  {
    values << row->ranges();
  }
  return values;
}

//-----------------------------------------------------------------------------
void pqBATAttributeRangesWidget::setRanges(const QList<QVariant>& values)
{
  if (values == this->ranges())
  {
    return;
  }
  // Emits no signal: the rows have their own order, and showing a value does not change it.
  for (pqBATRangeRow* row : QList<pqBATRangeRow*>(this->Rows))
  {
    row->deactivate();
    if (!row->isFirst())
    {
      this->removeRow(row);
    }
  }
  QMap<QString, QList<QVariant>> ofBoxes;
  for (int i = 0; i + 2 < values.size(); i += 3)
  {
    QString target = values[i].toString();
    const bool negated = target.startsWith('!') && !this->isTarget(target);
    target.remove(0, negated ? 1 : 0);
    if (std::any_of(this->Values.begin(), this->Values.end(),
          [&](pqBATValuesRow* row) { return row->target() == target; }))
    {
      ofBoxes[target] << values[i] << values[i + 1] << values[i + 2];
      continue;
    }
    const QList<pqBATRangeRow*> there = this->findRows(target);
    const auto free =
      std::find_if(there.begin(), there.end(), [](pqBATRangeRow* row) { return !row->isActive(); });
    // A range that the file does not have, or a second one on the same target, gets a separate row.
    pqBATRangeRow* row = free != there.end() ? *free : this->addRow(target);
    this->showData(row);
    row->setRange(values[i + 1].toString(), values[i + 2].toString());
    row->setNegated(negated);
    for (pqBATRangeRow* above : this->findRows(ParentTarget(target)))
    {
      above->setExpanded(true);
    }
  }
  for (pqBATValuesRow* row : this->Values)
  {
    row->setRanges(ofBoxes.value(row->target()));
  }
  this->arrangeRows();
}

//-----------------------------------------------------------------------------
void pqBATAttributeRangesWidget::resetRows()
{
  for (pqBATRangeRow* row : QList<pqBATRangeRow*>(this->Rows))
  {
    row->resetRange();
    if (!row->isFirst())
    {
      this->removeRow(row);
    }
  }
  for (pqBATValuesRow* row : this->Values)
  {
    row->setRanges({});
  }
  this->updateRows();
  Q_EMIT this->rangesChanged();
}

//-----------------------------------------------------------------------------
// Shows components below an expanded vector, or the rows that match the search. The table is as
// high as its rows, up to a limit, because a table in a scrolling panel should preferably not
// scroll too.
void pqBATAttributeRangesWidget::arrangeRows()
{
  this->markAlternatives();
  const QString search = this->Search->text();
  QString open;
  int attributes = 0;
  int shown = 0;
  int height = 0;
  for (pqBATValuesRow* row : this->Values)
  {
    const bool seen = row->target().contains(search, Qt::CaseInsensitive);
    ++attributes;
    row->setVisible(seen);
    if (seen && shown < RowsAtOnce)
    {
      ++shown;
      height += row->sizeHint().height();
    }
  }
  for (pqBATRangeRow* row : this->Rows)
  {
    const bool vector = this->isVector(row->target());
    const QString above = ParentTarget(row->target());
    const bool isComponent = !above.isEmpty() && !this->findRows(above).isEmpty();
    row->setExpandable(vector && row->isFirst() && search.isEmpty());
    if (vector && row->isFirst())
    {
      open = row->isExpanded() ? row->target() : QString();
    }
    attributes += isComponent ? 0 : 1;
    const bool seen = search.isEmpty() ? !isComponent || above == open
                                       : row->target().contains(search, Qt::CaseInsensitive);
    row->setVisible(seen);
    if (seen && shown < RowsAtOnce)
    {
      ++shown;
      height += row->sizeHint().height();
    }
  }
  this->Search->setVisible(attributes > RowsWithoutSearch);
  const int none = this->fontMetrics().height() * 2;
  this->Table->setFixedHeight(std::max(none, height) + 2 * this->Table->frameWidth());
}

//-----------------------------------------------------------------------------
// Fonts and styles change the height of rows.
bool pqBATAttributeRangesWidget::event(QEvent* event)
{
  const bool handled = Superclass::event(event);
  if (event->type() == QEvent::StyleChange || event->type() == QEvent::FontChange)
  {
    this->arrangeRows();
  }
  return handled;
}

//-----------------------------------------------------------------------------
void pqBATAttributeRangesWidget::showEvent(QShowEvent* event)
{
  Superclass::showEvent(event);
  this->arrangeRows();
  QTimer::singleShot(0, this, SLOT(updateHistograms()));
}
