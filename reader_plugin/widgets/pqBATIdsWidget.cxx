#include "pqBATIdsWidget.h"

#include "pqLineEdit.h"

#include "vtkBATReader.h"

#include <QHBoxLayout>

#include <string>

//-----------------------------------------------------------------------------
pqBATIdsWidget::pqBATIdsWidget(
  vtkSMProxy* smproxy, vtkSMProperty* smproperty, QWidget* parentWidget)
  : Superclass(smproxy, parentWidget)
  , Ids(new pqLineEdit(this))
{
  this->Ids->setObjectName("Ids");
  this->Ids->setAccessibleName(tr("Ids"));
  this->Ids->setPlaceholderText(tr("any, or such as 3, 5-90"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(this->Ids);

  this->setChangeAvailableAsChangeFinished(true);
  this->connect(this->Ids, SIGNAL(textChanged(const QString&)), SLOT(check(const QString&)));
  this->check(QString());
  this->addPropertyLink(this->Ids, "text2", SIGNAL(textChanged(const QString&)), smproperty);
}

//-----------------------------------------------------------------------------
pqBATIdsWidget::~pqBATIdsWidget() = default;

//-----------------------------------------------------------------------------
void pqBATIdsWidget::check(const QString& text)
{
  const std::string error = vtkBATReader::GetErrorOfIds(text.toUtf8().constData());
  this->Ids->setStyleSheet(
    error.empty() ? QString() : QString("QLineEdit { background: #ffb3b3; color: black; }"));
  this->Ids->setToolTip(error.empty()
      ? tr("Numbers and ranges such as 5-90, -3..7 or 100.., with blanks or commas between them")
      : QString::fromStdString(error));
}
