// SPDX-License-Identifier: BSD-3-Clause
#include "SelectedIds.h"

#include "ExactNumber.h"

#include "pqApplicationCore.h"
#include "pqOutputPort.h"
#include "pqPVApplicationCore.h"
#include "pqPipelineSource.h"
#include "pqSelectionManager.h"
#include "pqServerManagerModel.h"

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

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace
{
// A longer list is unsuitable for a panel and a state file; a range or a box is better.
constexpr long long MaxSelected = 100000;

constexpr char NoFilter[] = "This ParaView does not have the filter ExtractSelection.";
constexpr char NoneSelected[] = "No particle is selected.";

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

// Returns the source's points that match the selection. Null if ParaView lacks such a filter.
vtkSmartPointer<vtkSMSourceProxy> Extracted(
  vtkSMSourceProxy* source, vtkSMSourceProxy* selection, unsigned int selectionPort)
{
  auto extract = NewFilter(source, "ExtractSelection");
  if (extract)
  {
    vtkSMPropertyHelper(extract, "Selection").Set(selection, selectionPort);
    extract->UpdateVTKObjects();
    extract->UpdatePipeline();
  }
  return extract;
}

bool AreIntegers(vtkDataArray* array)
{
  return array->GetDataType() != VTK_FLOAT && array->GetDataType() != VTK_DOUBLE;
}

QString FormatNumber(long double number, bool integers)
{
  if (!integers)
  {
    return QString::number(static_cast<double>(number), 'g', QLocale::FloatingPointShortest);
  }
  return number < 0 ? QString::number(static_cast<qlonglong>(number))
                    : QString::number(static_cast<qulonglong>(number));
}

long double ExactAt(vtkDataArray* array, vtkIdType i)
{
  return bat_vtk::Exact(bat_vtk::NumberAt(array, i));
}

// Returns pairs (id, second), or (id, 0) without a second array, sorted, each once. Empty if one is
// NaN.
std::optional<std::vector<std::pair<long double, long double>>> DistinctPairs(
  vtkDataArray* ids, vtkDataArray* second)
{
  std::vector<std::pair<long double, long double>> pairs;
  for (vtkIdType i = 0; i < ids->GetNumberOfTuples(); ++i)
  {
    pairs.emplace_back(ExactAt(ids, i), second ? ExactAt(second, i) : 0.0L);
    if (std::isnan(pairs.back().first) || std::isnan(pairs.back().second))
    {
      return std::nullopt;
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

QStringList WordsOfPairs(
  const std::vector<std::pair<long double, long double>>& pairs, bool integers, bool secondIntegers)
{
  QStringList words;
  for (const auto& [id, other] : pairs)
  {
    words.append(FormatNumber(id, integers) + ":" + FormatNumber(other, secondIntegers));
  }
  return words;
}

// Combines consecutive integers into ranges.
QStringList WordsOfIds(const std::vector<std::pair<long double, long double>>& ids, bool integers)
{
  QStringList words;
  for (std::size_t first = 0; first < ids.size();)
  {
    std::size_t last = first;
    while (integers && last + 1 < ids.size() && ids[last + 1].first - ids[last].first == 1)
    {
      ++last;
    }
    const QString begin = FormatNumber(ids[first].first, integers);
    const QString end = FormatNumber(ids[last].first, integers);
    words.append(first == last ? begin : begin + ".." + end);
    first = last + 1;
  }
  return words;
}

// Formats ids for the property Ids: pairs such as 5:0 with a second array, otherwise numbers and
// ranges.
bat_selection::Ids FormatGrid(vtkDataArray* ids, vtkDataArray* second)
{
  const auto pairs = DistinctPairs(ids, second);
  if (!pairs)
  {
    return { QString(), Translated("A selected particle has NaN as its id.") };
  }
  const QStringList words = second ? WordsOfPairs(*pairs, AreIntegers(ids), AreIntegers(second))
                                   : WordsOfIds(*pairs, AreIntegers(ids));
  return { words.join(", "), QString() };
}
}

//-----------------------------------------------------------------------------
pqOutputPort* bat_selection::selectedPort(vtkSMProxy* proxy)
{
  pqServerManagerModel* model = pqApplicationCore::instance()->getServerManagerModel();
  pqPipelineSource* source = model->findItem<pqPipelineSource*>(proxy);
  pqOutputPort* port = source ? source->getOutputPort(0) : nullptr;
  return port && port->getSelectionInput() ? port : nullptr;
}

//-----------------------------------------------------------------------------
bat_selection::Box bat_selection::boxOf(pqOutputPort* port)
{
  Box box;
  const auto extract =
    Extracted(port->getSourceProxy(), port->getSelectionInput(), port->getSelectionInputPort());
  if (!extract)
  {
    box.Error = Translated(NoFilter);
    return box;
  }
  vtkPVDataInformation* found = extract->GetDataInformation(0);
  found->GetBounds(box.Ends.data());
  if (found->GetNumberOfPoints() == 0)
  {
    box.Error = Translated(NoneSelected);
  }
  else if (!(box.Ends[0] <= box.Ends[1] && box.Ends[2] <= box.Ends[3] &&
             box.Ends[4] <= box.Ends[5]))
  {
    box.Error = Translated("None of the selected particles has a position.");
  }
  return box;
}

//-----------------------------------------------------------------------------
void bat_selection::clear(pqOutputPort* port)
{
  pqPVApplicationCore* core = pqPVApplicationCore::instance();
  if (core && core->selectionManager())
  {
    core->selectionManager()->clearSelection(port);
  }
  port->getSourceProxy()->CleanSelectionInputs(0);
}

//-----------------------------------------------------------------------------
bat_selection::Ids bat_selection::collectIds(vtkSMSourceProxy* source, vtkSMSourceProxy* selection,
  unsigned int selectionPort, const QString& attribute, const QString& second)
{
  const auto extract = Extracted(source, selection, selectionPort);
  if (!extract)
  {
    return { QString(), Translated(NoFilter) };
  }
  vtkPVDataInformation* found = extract->GetDataInformation(0);
  const long long count = found->GetNumberOfPoints();
  if (count == 0)
  {
    return { QString(), Translated(NoneSelected) };
  }
  if (count > MaxSelected)
  {
    const QLocale english(QLocale::English);
    return { QString(),
      Translated("%1 particles are selected; a list is limited to %2.")
        .arg(english.toString(count), english.toString(MaxSelected)) };
  }
  if (attribute.isEmpty())
  {
    return { QString(),
      Translated("The file has no attribute with ids; set Id Attribute (advanced).") };
  }
  for (const QString& name : { attribute, second })
  {
    if (!name.isEmpty() &&
      !found->GetPointDataInformation()->GetArrayInformation(name.toUtf8().constData()))
    {
      return {
        QString(),
        Translated("The ids are not loaded: check '%1' in Attributes, then click Apply.").arg(name)
      };
    }
  }

  // These are the filters that paraview.servermanager.Fetch uses.
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
  const auto arrayOf = [data](const QString& name)
  { return data ? data->GetPointData()->GetArray(name.toUtf8().constData()) : nullptr; };
  vtkDataArray* ids = arrayOf(attribute);
  vtkDataArray* others = second.isEmpty() ? nullptr : arrayOf(second);
  if (!ids || (!second.isEmpty() && !others))
  {
    return { QString(), Translated("The selected particles cannot be retrieved.") };
  }
  return FormatGrid(ids, others);
}
