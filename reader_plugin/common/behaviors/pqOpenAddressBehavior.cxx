// SPDX-License-Identifier: BSD-3-Clause
#include "pqOpenAddressBehavior.h"

#include "Failure.h"

#include "bat/address.hpp"
#include "bat/error.hpp"

#include "pqApplicationCore.h"
#include "pqCoreUtilities.h"
#include "pqLoadDataReaction.h"
#include "pqSettings.h"

#include <QAction>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QStringList>
#include <QTimer>
#include <QVBoxLayout>

#include <array>
#include <utility>

namespace
{
const char* const SettingName = "ParaBAT/Addresses";
constexpr int MaxRecent = 10;

// Returns the source proxy for a file name; null if there is none. Longer endings come first.
const char* FindReader(const std::string& name)
{
  constexpr std::array<std::pair<const char*, const char*>, 9> readers{ {
    { ".tracks.bat", "BATTrails" },
    { ".bricks.series", "BricksReader" },
    { ".bat.series", "BATSeriesReader" },
    { ".pbat.series", "BATSeriesReader" },
    { ".bricks", "BricksReader" },
    { ".vtkhdf", "BATReader" },
    { ".pbat", "BATReader" },
    { ".bat", "BATReader" },
    { ".idx", "IDXReader" },
  } };
  for (const auto& [ending, reader] : readers)
  {
    const std::string end(ending);
    if (name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0)
    {
      return reader;
    }
  }
  return nullptr;
}
}

//-----------------------------------------------------------------------------
pqOpenAddressBehavior::pqOpenAddressBehavior(QObject* parentObject)
  : QObject(parentObject)
{
  // A plugin may be loaded before the window has its menus.
  QTimer::singleShot(0, this, [this]() { this->addAction(); });
}

//-----------------------------------------------------------------------------
pqOpenAddressBehavior::~pqOpenAddressBehavior()
{
  delete this->Action;
}

//-----------------------------------------------------------------------------
void pqOpenAddressBehavior::addAction()
{
  const auto* window = qobject_cast<QMainWindow*>(pqCoreUtilities::mainWidget());
  auto* menu = window ? window->findChild<QMenu*>("menu_File") : nullptr;
  if (!menu)
  {
    return;
  }
  this->Action = new QAction(tr("Open &Address..."), menu);
  this->Action->setObjectName("actionOpenAddress");
  this->Action->setStatusTip(tr("Open particles, grids or flow on a web server or in S3"));
  QObject::connect(this->Action, &QAction::triggered, this, [this]() { this->ask(); });
  const QList<QAction*> actions = menu->actions();
  const int place = actions.indexOf(window->findChild<QAction*>("actionFileOpen"));
  menu->insertAction(place < 0 ? nullptr : actions.value(place + 1), this->Action);
}

//-----------------------------------------------------------------------------
void pqOpenAddressBehavior::ask()
{
  pqSettings* settings = pqApplicationCore::instance()->settings();
  QStringList recent = settings->value(SettingName).toStringList();
  QDialog dialog(pqCoreUtilities::mainWidget());
  dialog.setObjectName("OpenAddressDialog");
  dialog.setWindowTitle(tr("Open Address"));
  auto* layout = new QVBoxLayout(&dialog);
  layout->addWidget(
    new QLabel(tr("Address of a .bat, .idx or .bricks file, or of a series (.series):"), &dialog));
  auto* address = new QComboBox(&dialog);
  address->setObjectName("Address");
  address->setEditable(true);
  address->addItems(recent);
  address->lineEdit()->setObjectName("AddressText");
  address->setEditText("");
  address->setMinimumContentsLength(60);
  layout->addWidget(address);
  layout->addWidget(new QLabel(
    tr("For example https://host/run/dust.bat.series or s3://bucket/run/dust.bat"), &dialog));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel, &dialog);
  buttons->setObjectName("Buttons");
  layout->addWidget(buttons);
  QPushButton* openButton = buttons->button(QDialogButtonBox::Open);
  openButton->setObjectName("Open");
  openButton->setEnabled(false);
  QObject::connect(address, &QComboBox::editTextChanged, openButton,
    [openButton](const QString& text) { openButton->setEnabled(!text.trimmed().isEmpty()); });
  QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  if (dialog.exec() != QDialog::Accepted)
  {
    return;
  }
  const QString text = address->currentText().trimmed();
  const QString problem = pqOpenAddressBehavior::open(text);
  if (!problem.isEmpty())
  {
    QMessageBox fault(QMessageBox::Warning, tr("Open Address"), problem, QMessageBox::Ok,
      pqCoreUtilities::mainWidget());
    fault.setObjectName("OpenAddressFault");
    fault.exec();
    return;
  }
  recent.removeAll(text);
  recent.prepend(text);
  settings->setValue(SettingName, QStringList(recent.mid(0, MaxRecent)));
}

//-----------------------------------------------------------------------------
QString pqOpenAddressBehavior::open(const QString& address)
{
  const std::string name = address.toStdString();
  if (!bat::is_address(name))
  {
    return tr("\"%1\" is not an address; it must begin with http://, https:// or s3://.")
      .arg(address);
  }
  const char* reader = nullptr;
  std::string fault;
  const auto invalid = bat::attempt(
    [&]()
    {
      fault = bat_vtk::FindNameFault(name);
      reader = FindReader(bat::file_name(name));
    });
  const QString shown = QString::fromStdString(bat::display_name(name));
  if (invalid)
  {
    return QString::fromUtf8(invalid->what());
  }
  if (!fault.empty())
  {
    return shown + ": " + QString::fromStdString(fault);
  }
  if (!reader)
  {
    return tr("%1: no reader for this name; it must end in .bat, .pbat, .vtkhdf, .idx, .bricks, "
              ".tracks.bat, .bat.series or .bricks.series.")
      .arg(shown);
  }
  return pqLoadDataReaction::loadData(QStringList(address), "sources", reader)
    ? QString()
    : tr("%1: could not be opened; see the output messages.").arg(shown);
}
