// SPDX-License-Identifier: BSD-3-Clause
// Shows what is loaded, and what Apply would load, as text.
#ifndef pqLoadWidget_h
#define pqLoadWidget_h

#include "pqPropertyWidget.h"

#include <QStringList>

class QLabel;
class pqPendingReader;
class pqServerManagerModelItem;

/// Edits the property that decides how much a reader loads; the reader also has the properties
/// Aborted and Error. A text below the subclass's controls shows what is loaded and, before Apply,
/// what would be loaded. It has as many lines as it needs, and does not shrink during editing.
class pqLoadWidget : public pqPropertyWidget
{
  Q_OBJECT
  typedef pqPropertyWidget Superclass;

public:
  ~pqLoadWidget() override;

protected:
  /// `pending` provides answers for settings that are not applied; the text is called `name`.
  pqLoadWidget(vtkSMProxy* proxy, pqPendingReader* pending, const QString& name, QWidget* parent);

  /// Called last in the constructor of a subclass. `settings`: properties that change what Apply
  /// would load. `information`: properties that texts need.
  void watch(const QStringList& settings, const QStringList& information);

  QLabel* text() const { return this->Text; }
  bool isLoaded() const { return this->Loaded; }
  bool isAborted() const;
  void updateText();
  /// Called after the number of the property was edited.
  void edited();

  /// Shows the number, in the range of the file.
  virtual void showNumber() = 0;
  /// True if the property has the number that the panel shows.
  virtual bool showsProperty() const = 0;
  /// True if the file could be inspected.
  virtual bool isReadable() const = 0;
  /// True if the text about pending settings needs an answer.
  virtual bool needsAnswer() const = 0;
  virtual QString formatLoaded() const = 0;
  virtual QString formatPending() const = 0;

  void resizeEvent(QResizeEvent*) override;
  void showEvent(QShowEvent*) override;

private Q_SLOTS:
  void dataUpdated();
  void settingEdited();
  void stateChanged(pqServerManagerModelItem* item);

private:
  Q_DISABLE_COPY(pqLoadWidget)

  void updateInformation();
  void ask();
  void updateHeight();
  bool isApplied() const;

  pqPendingReader* Pending;
  QStringList Information;
  int Height = 0;      ///< height of the text
  bool Loaded = false; ///< the loaded data match the panel
  QLabel* Text;
};

namespace bat_load
{
/// "1.5 MiB"
QString memory(double bytes);
}

#endif
