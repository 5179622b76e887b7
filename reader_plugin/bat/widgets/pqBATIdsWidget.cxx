// SPDX-License-Identifier: BSD-3-Clause
#include "pqBATIdsWidget.h"

#include "FollowSelected.h"
#include "SelectedIds.h"
#include "WrongField.h"

#include "pqCoreUtilities.h"
#include "pqLineEdit.h"
#include "pqOutputPort.h"

#include "vtkBATReader.h"
#include "vtkCommand.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSourceProxy.h"
#include "vtkSMUncheckedPropertyHelper.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>

#include <string>

//-----------------------------------------------------------------------------
pqBATIdsWidget::pqBATIdsWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
  , Ids(new pqLineEdit(this))
  , Only(new QPushButton(tr("Only the Selected"), this))
  , Hide(new QPushButton(tr("Hide the Selected"), this))
  , Follow(new QPushButton(tr("Follow Selected Particles"), this))
{
  this->Ids->setObjectName("Ids");
  this->Ids->setAccessibleName(tr("Ids"));
  this->Ids->setPlaceholderText(tr("any, or e.g. 3, 5-90"));
  this->Only->setObjectName("OnlySelected");
  this->Only->setToolTip(tr("Filter by the ids of the selected particles"));
  this->Hide->setObjectName("HideSelected");
  this->Hide->setToolTip(tr("Filter out the ids of the selected particles"));

  this->Follow->setObjectName("FollowSelected");
  this->Follow->setToolTip(
    tr("Show the lines along which the selected particles move through all steps"));

  this->setShowLabel(false); // the buttons take the whole width of a narrow panel
  auto* buttons = new QHBoxLayout;
  buttons->addStretch(1);
  buttons->addWidget(this->Only);
  buttons->addWidget(this->Hide);
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(new QLabel(tr("Ids"), this), 0, 0);
  layout->addWidget(this->Ids, 0, 1);
  layout->addLayout(buttons, 1, 0, 1, 2);
  layout->addWidget(this->Follow, 2, 0, 1, 2, Qt::AlignRight);
  layout->setColumnStretch(1, 1);

  this->setChangeAvailableAsChangeFinished(true);
  this->connect(this->Ids, SIGNAL(textChanged(const QString&)), SLOT(check(const QString&)));
  QObject::connect(
    this->Only, &QPushButton::clicked, this, [this]() { this->takeSelection(false); });
  QObject::connect(
    this->Hide, &QPushButton::clicked, this, [this]() { this->takeSelection(true); });
  QObject::connect(this->Follow, &QPushButton::clicked, this,
    [this]() { bat_selection::followOrSay(bat_selection::selectedPort(this->proxy())); });
  // This signal also reports selections made by scripts, unlike ParaView's selection manager.
  pqCoreUtilities::connect(
    smproxy, vtkCommand::SelectionChangedEvent, this, SLOT(selectionChanged()));
  this->check(QString());
  this->selectionChanged();
  this->addPropertyLink(this->Ids, "text2", SIGNAL(textChanged(const QString&)), smproperty);
}

//-----------------------------------------------------------------------------
pqBATIdsWidget::~pqBATIdsWidget() = default;

//-----------------------------------------------------------------------------
void pqBATIdsWidget::check(const QString& text)
{
  const std::string error = vtkBATReader::FindIdsError(text.toUtf8().constData());
  bat_field::markWrong(this->Ids, QString::fromStdString(error),
    tr("Numbers and ranges such as 5-90, -3..7 or 100.., separated by spaces or commas"));
}

//-----------------------------------------------------------------------------
void pqBATIdsWidget::selectionChanged()
{
  const bool selected = bat_selection::selectedPort(this->proxy()) != nullptr;
  this->Only->setEnabled(selected);
  this->Hide->setEnabled(selected);
  this->Follow->setEnabled(selected);
}

//-----------------------------------------------------------------------------
void pqBATIdsWidget::takeSelection(bool hide)
{
  pqOutputPort* port = bat_selection::selectedPort(this->proxy());
  if (!port)
  {
    return;
  }
  vtkSMSourceProxy* source = vtkSMSourceProxy::SafeDownCast(this->proxy());
  vtkSMProperty* attribute = source->GetProperty("IdAttributeInfo");
  source->UpdatePropertyInformation(attribute);
  const bat_selection::Ids ids = bat_selection::collectIds(source, port->getSelectionInput(),
    port->getSelectionInputPort(), QString::fromUtf8(vtkSMPropertyHelper(attribute).GetAsString()));
  if (!ids.Error.isEmpty())
  {
    QMessageBox::warning(this, tr("Ids of the selection"), ids.Error);
    return;
  }
  vtkSMUncheckedPropertyHelper mode(source, "IdsMode");
  const QString before = this->Ids->text().trimmed();
  const bool more = hide && mode.GetAsInt() == vtkBATReader::ALL_BUT_THESE && !before.isEmpty();
  mode.Set(hide ? vtkBATReader::ALL_BUT_THESE : vtkBATReader::ONLY_THESE);
  this->Ids->setTextAndResetCursor(more ? before + ", " + ids.Text : ids.Text);
  bat_selection::clear(port);
}
