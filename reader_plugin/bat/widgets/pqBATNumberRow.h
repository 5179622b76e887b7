// SPDX-License-Identifier: BSD-3-Clause
// A row with several numbers of one property.
#ifndef pqBATNumberRow_h
#define pqBATNumberRow_h

#include <QList>
#include <QStringList>
#include <QVariant>
#include <QWidget>

#include <cstddef>

class pqNumberEdit;

/// Edits adjacent numbers. Each keeps all its digits; NaN is shown as empty.
class pqBATNumberRow : public QWidget
{
  Q_OBJECT
  typedef QWidget Superclass;
  Q_PROPERTY(QList<QVariant> values READ values WRITE setValues NOTIFY valuesChanged)
  Q_PROPERTY(double value READ value WRITE setValue NOTIFY valuesChanged)

public:
  /// `names` are the numbers' names for accessibility. The fields are called `name` and 0, 1, ...
  pqBATNumberRow(const QString& name, const QStringList& names, QWidget* parent);
  ~pqBATNumberRow() override;

  QList<QVariant> values() const;
  void setValues(const QList<QVariant>& values);
  /// The first of them.
  double value() const;
  void setValue(double value);

  /// Returns the same as N numbers.
  template <class Numbers>
  Numbers get() const
  {
    Numbers numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i)
    {
      numbers[i] = this->Values[static_cast<int>(i)].toDouble();
    }
    return numbers;
  }
  template <class Numbers>
  void set(const Numbers& numbers)
  {
    QList<QVariant> values;
    for (const double number : numbers)
    {
      values << number;
    }
    this->setValues(values);
  }

Q_SIGNALS:
  void valuesChanged();

private Q_SLOTS:
  void edited();

private:
  Q_DISABLE_COPY(pqBATNumberRow)

  void showValues();

  QList<pqNumberEdit*> Edits;
  QList<QVariant> Values;
};

#endif
