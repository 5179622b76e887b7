#include "SelectedIds.h"

#include "vtkAlgorithm.h"
#include "vtkDataArray.h"
#include "vtkDataSet.h"
#include "vtkPVArrayInformation.h"
#include "vtkPVDataInformation.h"
#include "vtkPVDataSetAttributesInformation.h"
#include "vtkPointData.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSessionProxyManager.h"
#include "vtkSMSourceProxy.h"
#include "vtkSmartPointer.h"
#include "vtkVariant.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace
{
// More are no list for a panel and a state file; a range or a box says it better.
constexpr long long MostSelected = 100000;

QString Translated(const char* text)
{
  return QCoreApplication::translate("pqBATIdsWidget", text);
}

vtkSmartPointer<vtkSMSourceProxy> NewFilter(vtkSMSourceProxy* input, const char* name)
{
  vtkSmartPointer<vtkSMProxy> proxy;
  proxy.TakeReference(input->GetSessionProxyManager()->NewProxy("filters", name));
  vtkSmartPointer<vtkSMSourceProxy> filter = vtkSMSourceProxy::SafeDownCast(proxy);
  if (filter)
  {
    vtkSMPropertyHelper(filter, "Input").Set(input, 0);
  }
  return filter;
}

// What a long double holds exactly: any integer of 64 bits.
long double Number(vtkDataArray* array, vtkIdType i, bool integers)
{
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const vtkVariant value = array->GetVariantValue(i);
  if (!integers)
  {
    return static_cast<long double>(value.ToDouble());
  }
  return array->GetDataTypeMin() < 0.0 ? static_cast<long double>(value.ToLongLong())
                                       : static_cast<long double>(value.ToUnsignedLongLong());
}

QString TextOfNumber(long double number, bool integers)
{
  if (!integers)
  {
    return QString::number(static_cast<double>(number), 'g', QLocale::FloatingPointShortest);
  }
  return number < 0 ? QString::number(static_cast<qlonglong>(number))
                    : QString::number(static_cast<qulonglong>(number));
}
}

//-----------------------------------------------------------------------------
bat_selection::Ids bat_selection::textOf(vtkDataArray* ids)
{
  const int type = ids->GetDataType();
  const bool integers = type != VTK_FLOAT && type != VTK_DOUBLE;
  std::vector<long double> numbers;
  for (vtkIdType i = 0; i < ids->GetNumberOfTuples(); ++i)
  {
    numbers.push_back(Number(ids, i, integers));
    if (std::isnan(numbers.back()))
    {
      return { QString(), Translated("A particle that is selected has NaN for an id.") };
    }
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  QStringList words;
  for (std::size_t first = 0; first < numbers.size();)
  {
    std::size_t last = first;
    while (integers && last + 1 < numbers.size() && numbers[last + 1] - numbers[last] == 1)
    {
      ++last;
    }
    const QString begin = TextOfNumber(numbers[first], integers);
    const QString end = TextOfNumber(numbers[last], integers);
    words.append(first == last ? begin : begin + ".." + end);
    first = last + 1;
  }
  return { words.join(", "), QString() };
}

//-----------------------------------------------------------------------------
bat_selection::Ids bat_selection::idsOf(vtkSMSourceProxy* source, vtkSMSourceProxy* selection,
  unsigned int selectionPort, const QString& attribute)
{
  const auto extract = NewFilter(source, "ExtractSelection");
  if (!extract)
  {
    return { QString(), Translated("This ParaView has no filter ExtractSelection.") };
  }
  vtkSMPropertyHelper(extract, "Selection").Set(selection, selectionPort);
  extract->UpdateVTKObjects();
  extract->UpdatePipeline();
  vtkPVDataInformation* found = extract->GetDataInformation(0);
  const long long count = found->GetNumberOfPoints();
  if (count == 0)
  {
    return { QString(), Translated("No particle is selected.") };
  }
  if (count > MostSelected)
  {
    const QLocale english(QLocale::English);
    return { QString(),
      Translated("%1 particles are selected; a list can have %2.")
        .arg(english.toString(count), english.toString(MostSelected)) };
  }
  const QByteArray name = attribute.toUtf8();
  if (attribute.isEmpty() ||
    !found->GetPointDataInformation()->GetArrayInformation(name.constData()))
  {
    return {
      QString(),
      attribute.isEmpty()
        ? Translated("The file has no attribute with ids; name one as Id attribute (advanced).")
        : Translated("The ids are not loaded: check '%1' in Attributes, and Apply.").arg(attribute)
    };
  }

  // As paraview.servermanager.Fetch does.
  const auto gather = NewFilter(extract, "ReductionFilter");
  vtkSMPropertyHelper(gather, "PostGatherHelperName")
    .Set(found->DataSetTypeIsA("vtkPolyData") ? "vtkAppendPolyData" : "vtkAppendFilter");
  gather->UpdateVTKObjects();
  gather->UpdatePipeline();
  const auto move = NewFilter(gather, "ClientServerMoveData");
  vtkSMPropertyHelper(move, "OutputDataType").Set(gather->GetDataInformation(0)->GetDataSetType());
  move->UpdateVTKObjects();
  move->UpdatePipeline();
  vtkAlgorithm* client = vtkAlgorithm::SafeDownCast(move->GetClientSideObject());
  vtkDataSet* data = client ? vtkDataSet::SafeDownCast(client->GetOutputDataObject(0)) : nullptr;
  vtkDataArray* ids = data ? data->GetPointData()->GetArray(name.constData()) : nullptr;
  return ids ? textOf(ids)
             : Ids{ QString(), Translated("The particles that are selected cannot be fetched.") };
}
