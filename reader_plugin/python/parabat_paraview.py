"""The BAT reader and writer as a Python plugin, for a ParaView into which a compiled plugin cannot be loaded.

Tools > Manage Plugins > Load New, PV_PLUGIN_PATH, or `parabat paraview FILE` loads this file. The package `parabat` lies
beside it, or is the one that it is a part of; nothing else is needed but the numpy that ParaView brings. Its proxies have
the names, properties and texts of the compiled plugins, read from the same XML, so that scripts and state files work with
either. Where a compiled plugin is loaded, this one steps back.
"""

import importlib.util
import json
import math
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
from vtkmodules.vtkCommonCore import vtkDataArray, vtkDataArraySelection, vtkOutputWindow, vtkPoints, vtkUnsignedCharArray
from vtkmodules.vtkCommonDataModel import (vtkCellArray, vtkCompositeDataSet, vtkDataObject, vtkPointSet, vtkPolyData,
                                           vtkTable)
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm, vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkParallelCore import vtkMultiProcessController

paraview_plugin_name = "parabat_paraview"

HERE = pathlib.Path(os.path.abspath(__file__)).parent
USUAL_IDS = ("id", "ids", "particleid", "particleids", "globalid", "globalids")
FIRST_STEP = 500_000  # particles that Refine while idle shows at once, and adds each time


def _parabat():
    """The package beside this file, or around it, without a change of sys.path: ParaView's own numpy stays first."""
    if "parabat" not in sys.modules:
        folder = next((f for f in (HERE / "parabat", HERE.parent) if (f / "_library.py").is_file()), None)
        if folder is None:
            raise ImportError(f"{HERE}: no folder 'parabat' is beside parabat_paraview.py; the two belong together")
        spec = importlib.util.spec_from_file_location("parabat", folder / "__init__.py", submodule_search_locations=[str(folder)])
        module = importlib.util.module_from_spec(spec)
        sys.modules["parabat"] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules["parabat"]
            raise
    return sys.modules["parabat"]


parabat = _parabat()
refuse = parabat.errors.refuse


def _shared(values):
    """An array of VTK over the memory of numpy's, which lives as long."""
    array = numpy_to_vtk(values)
    array.AddObserver("DeleteEvent", lambda *unused, kept=values: None)
    return array


def _say(text):
    """An error in ParaView's messages, and on stderr without a window."""
    vtkOutputWindow.GetInstance().DisplayErrorText(f"{text}\n")


# Proxies ----------------------------------------------------------------------

def _find_xml(name):
    # In a folder of their own: ParaView loads every .xml beside a plugin as another plugin.
    for folder in (HERE / "proxies", HERE.parent.parent / "xml"):
        if (folder / name).is_file():
            return folder / name
    raise ImportError(f"{HERE}: proxies/{name} is not beside parabat_paraview.py; the two belong together")


def _is_loaded(group, name):
    """Whether a plugin has defined the proxy before."""
    try:
        from paraview.servermanager import ProxyManager  # pylint: disable=import-outside-toplevel
        definitions = ProxyManager().SMProxyManager.GetProxyDefinitionManager()
        return bool(definitions and definitions.HasDefinition(group, name))
    except (ImportError, AttributeError):  # a server, or before there is a session
        return False


def _proxy_xml(file, core, outer, group, **attributes):
    """The definition of a proxy of the compiled plugin, with the properties for which the class below has the commands."""
    elements = xml.etree.ElementTree.parse(_find_xml(file)).getroot()
    proxies = {proxy.get("name"): proxy for found in elements.iter("ProxyGroup") for proxy in found}

    def decorate(cls):
        proxy = xml.etree.ElementTree.Element(proxies[outer].tag, {
            "name": outer, "class": f"{cls.__module__}.{cls.__name__}", "si_class": "vtkSIPythonSourceProxy",
            "label": proxies[outer].get("label"), **attributes})
        taken = set()
        for element in [*proxies[outer], *proxies[core]]:
            name = element.get("name")
            if element.tag == "Documentation":
                if "Documentation" not in taken:
                    proxy.append(element)
                taken.add("Documentation")
            elif element.tag == "InputProperty" and name not in taken:
                proxy.append(element)
                taken.add(name)
            elif element.tag.endswith("Property") and name not in taken:
                commands = [element.get("command"), element.get("clean_command")]
                if name == "TimestepValues" or (commands[0] and all(hasattr(cls, c) for c in commands if c)):
                    if element.get("panel_widget", "").startswith("bat_"):
                        del element.attrib["panel_widget"]
                    # What scripts call it comes from the label here, and from the name in the compiled plugin.
                    element.set("label", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))
                    if name == "TimestepValues":
                        element.attrib.update(command="GetTimestepValues", si_class="vtkSITimeStepsProperty")
                        element.attrib.pop("repeatable", None)
                        for helper in list(element.iter("TimeStepsInformationHelper")):
                            element.remove(helper)
                    proxy.append(element)
                    taken.add(name)
        hints = xml.etree.ElementTree.SubElement(proxy, "Hints")
        for hint in proxies[outer].iter("Hints"):
            hints.extend(h for h in hint if h.tag in ("ReaderFactory", "WriterFactory"))
        if group == "sources":
            xml.etree.ElementTree.SubElement(hints, "LiveSource", interval="250")
            xml.etree.ElementTree.SubElement(hints, "RepresentationType", view="RenderView", type="Point Gaussian")
        root = xml.etree.ElementTree.Element("ServerManagerConfiguration")
        xml.etree.ElementTree.SubElement(root, "ProxyGroup", name=group).append(proxy)
        if not _is_loaded(group, outer):
            cls._pvsm_proxy_xml = xml.etree.ElementTree.tostring(root, encoding="unicode")
        return cls
    return decorate


# Questions --------------------------------------------------------------------

def _number(text, what):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    refuse(f"{what}: '{text}' is not a number")


def _target(text, attributes):
    """(negated, (name, component or None)) of what a range is of: "name", "name[0]", "!name"."""
    def known(name):
        if name in attributes:
            return name, None
        found = re.fullmatch(r"(.*)\[(\d+)\]", name, re.S)
        if found and found[1] in attributes:
            components = attributes[found[1]].components
            if int(found[2]) >= components:
                refuse(f"'{found[1]}' has {components} components; [{found[2]}] is not one of them")
            return found[1], int(found[2]) if components > 1 else None
        return None

    target = known(text)
    if target:
        return False, target
    if text.startswith("!"):
        target = known(text[1:])
        if target:
            return True, target
    refuse(f"there is no attribute '{text}'; there are {', '.join(attributes) or 'none'}")


def _closed(lower, upper, about):
    """Ends of a range without open ones, in numbers that lose nothing beside the values of the attribute."""
    limits = np.iinfo(about.dtype) if about.dtype.kind in "iu" else None
    low, high = (limits.min, limits.max) if limits else (-np.inf, np.inf)
    return (low if lower is None else lower), (high if upper is None else upper)


def ranges_of(texts, attributes):
    """AttributeRanges as keyword arguments of Dataset.read()."""
    if len(texts) % 3:
        refuse(f"AttributeRanges has {len(texts)} texts; each range has three: a name, a minimum and "
                                    "a maximum, where an empty text is no limit")
    targets = {}
    for name, lower, upper in zip(texts[::3], texts[1::3], texts[2::3]):
        what = f"range of '{name}'"
        ends = tuple(_number(end, what) if end else None for end in (lower, upper))
        targets.setdefault(_target(name, attributes), []).append(ends)
    asked = {"ranges": [], "values": {}, "not_values": {}}
    for (negated, (name, component)), ends in targets.items():
        if not negated and len(ends) == 1:
            asked["ranges"].append((name, *(() if component is None else (component,)), *ends[0]))
        else:
            key = name if component is None else (name, component)
            asked["not_values" if negated else "values"][key] = [_closed(*pair, attributes[name]) for pair in ends]
    return asked


def ids_of(text, about):
    """Ids as numbers and pairs."""
    found = []
    for word in re.split(r"[\s,;]+", text.strip()):
        if not word:
            continue
        ends = word.split("..", 1) if ".." in word else re.fullmatch(r"(.[^-]*(?:[eE]-[^-]*)*)-(.+)", word)
        try:
            if ends is None:
                found.append(_number(word, "Ids"))
                continue
            lower, upper = ends if isinstance(ends, list) else ends.groups()
            if isinstance(ends, list) and word == "..":
                refuse("Ids: '..' has no number")
            pair = _closed(*(_number(end, "Ids") if end else None for end in (lower, upper)), about)
            if pair[0] > pair[1]:
                refuse(f"Ids: the range '{word}' ends before it begins")
            found.append(pair)
        except parabat.BatValueError as error:
            refuse(f"{error}; allowed are numbers and ranges such as 5-90, -3..7 or 100.., with "
                                        "blanks or commas between them")
    return found


def turned(vector, axis, degrees):
    """A vector turned about x, y or z, anticlockwise seen from its end; exactly for right angles."""
    rest = math.remainder(degrees, 360.0)
    exact = {0.0: (0.0, 1.0), 90.0: (1.0, 0.0), -90.0: (-1.0, 0.0), 180.0: (0.0, -1.0), -180.0: (0.0, -1.0)}
    radians = rest * math.acos(-1.0) / 180.0
    sine, cosine = exact.get(rest) or (math.sin(radians), math.cos(radians))
    a, b = (axis + 1) % 3, (axis + 2) % 3
    result = np.array(vector, dtype=float)
    result[a], result[b] = cosine * vector[a] - sine * vector[b], sine * vector[a] + cosine * vector[b]
    return result


def _in_order(files, times):
    """By time; of equal times the last one."""
    steps = {time: file for file, time in zip(files, times)}
    return [steps[time] for time in sorted(steps)], sorted(steps)


def _listed(path):
    """The files and times of a .bat.series."""
    try:
        with open(path, encoding="utf-8") as file:
            steps = json.load(file)["files"]
        folder = os.path.dirname(path)
        times = [float(step["time"]) for step in steps]
        if not all(map(math.isfinite, times)):
            refuse(f"{path}: has a time that is no finite number")
        return _in_order([os.path.join(folder, step["name"]) for step in steps], times)
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        if isinstance(error, parabat.BatError):
            raise
        refuse(f"{path}: is not a list of files (.bat.series): {error}")


# Reader -----------------------------------------------------------------------

class _Reader(VTKPythonAlgorithmBase):
    """Commands of the properties in BATReader.xml, and the pipeline's requests."""

    def __init__(self):
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkPolyData")
        self._files, self._paths, self._times = [], [], []
        self._selection = vtkDataArraySelection()
        self._selection.AddObserver("ModifiedEvent", lambda *unused: self.Modified())
        self._set = {"Quality": 1.0, "ParticleBudget": 5_000_000, "RefineWhileIdle": 0, "UseBox": 0,
                     "Box": (0, 1, 0, 1, 0, 1), "Ids": "", "IdsMode": 0, "IdAttribute": "", "VertexCells": 1,
                     "Region": 0, "RegionCenter": (0, 0, 0), "RegionRadius": 1.0, "RegionNormal": (0, 0, 1),
                     "RegionLimits": (0, 1), "RegionHalfExtents": (1, 1, 1), "RegionRotation": (0, 0, 0),
                     "RegionOutside": 0}
        self._ranges = []
        self._open = None           # (path, mtime, Dataset)
        self._loaded = None         # (question, quality, Particles)
        self._target = 0.0
        self._error = self._said = ""
        self._more = False          # the next update adds a step
        self._limit = None          # particles that the steps so far allow

    def _change(self, name, value):
        if self._set[name] != value:
            self._set[name] = value
            self._limit = None
            self.Modified()

    def SetQuality(self, value):
        self._change("Quality", value)

    def SetParticleBudget(self, value):
        self._change("ParticleBudget", value)

    def SetRefineWhileIdle(self, value):
        self._change("RefineWhileIdle", value)

    def SetUseBox(self, value):
        self._change("UseBox", value)

    def SetBox(self, *ends):
        self._change("Box", tuple(ends))

    def SetRegion(self, value):
        self._change("Region", value)

    def SetRegionCenter(self, *center):
        self._change("RegionCenter", center)

    def SetRegionRadius(self, value):
        self._change("RegionRadius", value)

    def SetRegionNormal(self, *normal):
        self._change("RegionNormal", normal)

    def SetRegionLimits(self, *limits):
        self._change("RegionLimits", limits)

    def SetRegionHalfExtents(self, *extents):
        self._change("RegionHalfExtents", extents)

    def SetRegionRotation(self, *degrees):
        self._change("RegionRotation", degrees)

    def SetRegionOutside(self, value):
        self._change("RegionOutside", value)

    def SetIds(self, text):
        self._change("Ids", text or "")

    def SetIdsMode(self, value):
        self._change("IdsMode", value)

    def SetIdAttribute(self, name):
        self._change("IdAttribute", name or "")

    def SetVertexCells(self, value):
        self._change("VertexCells", value)

    def AddAttributeRangeText(self, text):
        self._ranges.append(text or "")
        self._limit = None
        self.Modified()

    def ClearAttributeRanges(self):
        self._ranges = []
        self._limit = None
        self.Modified()

    def GetPointDataArraySelection(self):
        return self._selection

    def _with_files(self, files):
        self._files, self._paths, self._times, self._loaded, self._limit = files, [], [], None, None
        self.Modified()

    # What was found.

    def GetParticleCount(self):
        return len(self._open[2]) if self._open else 0

    def GetLeafFileCount(self):
        return self._open[2].leaf_files if self._open else 0

    def GetFileBytes(self):
        return self._open[2].file_bytes if self._open else 0

    def GetLoadedCount(self):
        return self._loaded[2].count if self._loaded else 0

    def GetLoadedQuality(self):
        return self._loaded[1] if self._loaded else 0.0

    def GetTargetQuality(self):
        return self._target

    def GetBounds(self):
        if not self._open or not len(self._open[2]):
            return [0.0] * 6
        box = self._open[2].bounds
        return [float(box[i]) for i in (0, 3, 1, 4, 2, 5)]

    def GetErrorText(self):
        return self._error

    def GetTimestepValues(self):
        return self._times or None

    # Refining.

    def _can_refine(self):
        return bool(self._loaded) and self._loaded[1] < self._target

    def LoadMore(self):
        if self._can_refine():
            self._more = True
            self.Modified()

    def GetNeedsUpdate(self):
        """Asked by ParaView again and again while nobody does anything (a live source)."""
        if not self._set["RefineWhileIdle"] or not self._can_refine():
            return False
        self.LoadMore()
        return True

    # Requests.

    def _steps(self):
        """Files and their times."""
        if len(self._files) == 1 and self._files[0].endswith(".series"):
            return _listed(self._files[0])
        times = []
        for path in self._files:
            try:
                with parabat.open(path) as dataset:
                    times.append(dataset.time)
            except parabat.BatError:
                if len(self._files) == 1:
                    raise
                times.append(None)  # its step says why it cannot be read
        if len(times) > 1 and (None in times or len(set(times)) < len(times) or not all(map(math.isfinite, times))):
            times = [float(i) for i in range(len(times))]
        if len(times) > 1:
            return _in_order(self._files, times)
        return self._files, [time for time in times if time is not None]

    def _dataset(self, path):
        status = os.stat(path)
        key = (path, status.st_mtime_ns, status.st_size, status.st_ino)
        if not self._open or self._open[:2] != (path, key):
            self._open = None
            self._open = (path, key, parabat.open(path))
            self._loaded = None
        return self._open[2]

    def _fail(self, error, is_said=True):
        """Says it, and delivers nothing: who asked for data is told once."""
        self._error = str(error)
        if is_said and self._said != self._error:
            _say(error)
        self._said = self._error
        return 1

    def RequestInformation(self, request, inInfo, outInfo):
        info = outInfo.GetInformationObject(0)
        info.Remove(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
        info.Remove(vtkStreamingDemandDrivenPipeline.TIME_RANGE())
        info.Set(vtkAlgorithm.CAN_HANDLE_PIECE_REQUEST(), 1)
        self._error = ""
        if not self._files:
            return self._fail("BATReader: no file was named")
        try:
            self._paths, self._times = [], []
            self._paths, self._times = self._steps()
            if not self._paths:
                return self._fail(f"{self._files[0]}: names no file yet")
            self._offer_first()
        except (parabat.BatError, OSError, ValueError) as error:
            self._paths = self._paths if len(self._paths) > 1 else []
            return self._fail(error)
        if self._times:
            info.Set(vtkStreamingDemandDrivenPipeline.TIME_STEPS(), self._times, len(self._times))
            info.Set(vtkStreamingDemandDrivenPipeline.TIME_RANGE(), [self._times[0], self._times[-1]], 2)
        return 1

    def _offer_first(self):
        """Attributes of the first file that can be read."""
        for path in self._paths:
            try:
                return self._offer(self._dataset(path).attributes)
            except (parabat.BatError, OSError, ValueError):
                if path == self._paths[-1]:
                    raise
        return None

    def _offer(self, attributes):
        """Attributes that were not seen before are wanted."""
        new = [name for name in attributes if not self._selection.ArrayExists(name)]
        for name in new:
            self._selection.RemoveAllObservers()
            self._selection.AddArray(name)
        if new:
            self._selection.AddObserver("ModifiedEvent", lambda *unused: self.Modified())

    def _query(self, dataset):
        """Keyword arguments of Dataset.read(), without quality and part."""
        attributes = dataset.attributes
        query = ranges_of(self._ranges, attributes)
        if self._set["UseBox"]:
            box = self._set["Box"]
            for axis, (low, high) in zip("xyz", zip(box[::2], box[1::2])):
                if low > high:
                    refuse(f"Box: its minimum of {axis} {low} is above its maximum {high}")
            query["box"] = [*box[::2], *box[1::2]]
        query["shapes"] = self._region()
        if self._set["Ids"].strip():
            name = self._set["IdAttribute"] or next(
                (name for name in attributes if name.lower().replace("_", "") in USUAL_IDS), "")
            if name not in attributes:
                refuse(f"{self._open[0]}: Ids are asked for, but no attribute is called "
                                            f"'{name or 'id'}'; name one of {', '.join(attributes) or 'none'} as IdAttribute")
            ids = ids_of(self._set["Ids"], attributes[name])
            which = "not_values" if self._set["IdsMode"] else "values"
            if name in query[which]:
                refuse(f"Ids and AttributeRanges both list values of '{name}'; allowed is one of them")
            query[which][name] = ids
        return query

    def _region(self):
        s, outside = self._set, bool(self._set["RegionOutside"])
        if s["Region"] == 1:
            return [parabat.Sphere(s["RegionCenter"], s["RegionRadius"], outside)]
        if s["Region"] == 2:
            return [parabat.Slab(s["RegionNormal"], *s["RegionLimits"], outside)]
        if s["Region"] == 3:
            axes = [turned(turned(turned(axis, 1, s["RegionRotation"][1]), 0, s["RegionRotation"][0]), 2, s["RegionRotation"][2])
                    for axis in np.eye(3)]
            return [parabat.OrientedBox(s["RegionCenter"], axes, s["RegionHalfExtents"], outside)]
        return []

    def _next_quality(self, dataset, query):
        """How far this update loads: to the target, or a step towards it."""
        quality, budget = self._set["Quality"], int(self._set["ParticleBudget"])
        if not 0 <= quality <= 1:
            refuse(f"Quality: {quality}; allowed are 0 to 1")
        self._target = dataset.quality_within(budget, quality=quality, **query) if budget > 0 else quality
        if not self._set["RefineWhileIdle"] and not self._limit:
            return self._target
        if self._limit is None:
            self._limit = FIRST_STEP
        elif self._more:
            self._limit += FIRST_STEP
        self._more = False
        return min(self._target, dataset.quality_within(self._limit, quality=self._target, **query))

    def RequestData(self, request, inInfo, outInfo):
        info = outInfo.GetInformationObject(0)
        output = vtkPolyData.GetData(outInfo, 0)
        output.Initialize()
        pipeline = vtkStreamingDemandDrivenPipeline
        step = 0
        if self._times and info.Has(pipeline.UPDATE_TIME_STEP()):
            wanted = info.Get(pipeline.UPDATE_TIME_STEP())
            step = max(0, int(np.searchsorted(self._times, wanted, side="right")) - 1)
        part, parts = info.Get(pipeline.UPDATE_PIECE_NUMBER()), info.Get(pipeline.UPDATE_NUMBER_OF_PIECES())
        self._error, error = "", ""
        ranks, particles = _Ranks(), None
        try:
            if not self._paths:
                refuse(self._said or "BATReader: no file was named")
            dataset = self._dataset(self._paths[step])
            query = self._query(dataset)
            self._offer(dataset.attributes)  # a later file may have others
            names = [name for name in dataset.attributes if self._selection.ArrayIsEnabled(name)]
            quality = self._next_quality(dataset, query)
            question = repr((names, query, part, parts))
            particles = self._read(dataset, names, question, quality, part=part, parts=max(1, parts), **query)
        except (parabat.BatError, OSError, ValueError, MemoryError) as failure:
            error = str(failure) or type(failure).__name__
        error = ranks.agree(error)
        if error:
            self._loaded = None
            return self._fail(error, ranks.is_first)
        self._said = ""
        self._loaded = (question, quality, particles)
        self._fill(output, particles)
        if self._times:
            output.GetInformation().Set(vtkDataObject.DATA_TIME_STEP(), self._times[step])
        return 1

    def _read(self, dataset, names, question, quality, **query):
        """The particles; only what is new of them is read where a coarser quality is there."""
        if self._loaded and self._loaded[0] == question and self._loaded[1] <= quality:
            before = self._loaded[2]
            if self._loaded[1] == quality:
                return before
            added = dataset.read(names, quality=quality, after_quality=self._loaded[1], **query)
            together = parabat.Particles(before.count + added.count)
            together.positions = np.concatenate([before.positions, added.positions])
            together.update((name, np.concatenate([before[name], added[name]])) for name in before)
            return together
        return dataset.read(names, quality=quality, **query)

    def _fill(self, output, particles):
        points = vtkPoints()
        points.SetData(_shared(particles.positions))
        output.SetPoints(points)
        count, cells = particles.count, self._set["VertexCells"]
        if cells and count:
            numbers = np.arange(count + 1, dtype=np.int32 if count < 2**31 - 1 else np.int64)
            vertices = vtkCellArray()
            vertices.SetData(_shared(numbers if cells == 1 else numbers[[0, count]]), _shared(numbers[:count]))
            output.SetVerts(vertices)
        for name, values in particles.items():
            array = _shared(values)
            array.SetName(name)
            output.GetPointData().AddArray(array)


@_proxy_xml("BATReader.xml", "BATReaderCore", "BATReader", "sources")
class BATReader(_Reader):
    """One file, or the files of a time series in order."""

    def AddFileName(self, name):
        if name:
            self._with_files([*self._files, name])

    def RemoveAllFileNames(self):
        self._with_files([])


@_proxy_xml("BATReader.xml", "BATReaderCore", "BATSeriesReader", "sources")
class BATSeriesReader(_Reader):
    """The steps that a .bat.series lists, also while a simulation adds to it."""

    def SetFileName(self, name):
        if [name] != self._files:
            self._with_files([name] if name else [])


# Writer -----------------------------------------------------------------------

class _Ranks:
    """All processes of the server. The library of the plugin knows nothing of them, so the first one writes for all."""

    def __init__(self):
        self._controller = vtkMultiProcessController.GetGlobalController()
        self.count = self._controller.GetNumberOfProcesses() if self._controller else 1
        self.rank = self._controller.GetLocalProcessId() if self.count > 1 else 0
        self.is_first = self.rank == 0

    def gather(self, values):
        """Arrays of all ranks, one behind the other, on the first; None on the others."""
        if self.count == 1:
            return values
        sent, received = numpy_to_vtk(np.ascontiguousarray(values)), None
        received = sent.NewInstance()
        received.SetNumberOfComponents(sent.GetNumberOfComponents())
        self._controller.GatherV(sent, received, 0)
        if not self.is_first:
            return None
        return vtk_to_numpy(received).astype(values.dtype, copy=False).reshape((-1,) + values.shape[1:])

    def texts(self, text):
        """The texts of all ranks, on all of them."""
        if self.count == 1:
            return [text]
        data = np.frombuffer(text.encode() + b"\0", dtype=np.uint8)
        sent, received = numpy_to_vtk(data), vtkUnsignedCharArray()
        self._controller.AllGatherV(sent, received)
        return vtk_to_numpy(received).tobytes().decode().split("\0")[:-1]

    def agree(self, text):
        """The first of the errors of all ranks, on all of them; "" if there is none."""
        return next((error for error in self.texts(text) if error), "")


def _blocks(data):
    """Point sets and tables with something in them."""
    if isinstance(data, vtkCompositeDataSet):
        found, iterator = [], data.NewIterator()
        iterator.SkipEmptyNodesOn()
        iterator.InitTraversal()
        while not iterator.IsDoneWithTraversal():
            found += _blocks(iterator.GetCurrentDataObject())
            iterator.GoToNextItem()
        return found
    if isinstance(data, vtkPointSet):
        return [data] if data.GetNumberOfPoints() else []
    if isinstance(data, vtkTable):
        return [data] if data.GetNumberOfRows() else []
    if data is None or not data.GetNumberOfElements(vtkDataObject.POINT):
        return []
    refuse(f"a {data.GetClassName()} has no particles; allowed are point sets and tables")


COLUMNS = {axis: (axis, axis.upper(), f"Points:{i}", f"Points_{i}", f"Points[{i}]") for i, axis in enumerate("xyz")}


class _Particles:
    """What one block has: positions, and attributes by name."""

    def __init__(self, block, columns, with_ghosts):
        is_table = isinstance(block, vtkTable)
        fields = block.GetRowData() if is_table else block.GetPointData()
        self.warnings, self.attributes = [], {}
        arrays = {}
        for i in range(fields.GetNumberOfArrays()):
            array = fields.GetAbstractArray(i)
            name = array.GetName() or f"Array {i}"
            if name in arrays or name in self.attributes:
                refuse(f"two arrays are called '{name}'; each needs a name of its own")
            if isinstance(array, vtkDataArray):
                arrays[name] = vtk_to_numpy(array)
            else:
                self.warnings.append(f"'{name}' has texts, which are not written")
        if is_table:
            taken = [self._column(arrays, axis, columns[axis]) for axis in "xyz"]
            wide = any(a.dtype != np.float32 for a in taken if a is not None)
            count = block.GetNumberOfRows()
            self.positions = np.zeros((count, 3), np.float64 if wide else np.float32)
            for axis, values in enumerate(taken):
                if values is not None:
                    if values.dtype.kind in "iu" and not np.array_equal(values.astype(np.float64).astype(values.dtype), values):
                        refuse(f"column of {'xyz'[axis]}: has integers that float64 cannot hold")
                    self.positions[:, axis] = values
        else:
            self.positions = vtk_to_numpy(block.GetPoints().GetData())
            if self.positions.dtype.kind != "f":
                refuse(f"positions of type {self.positions.dtype}; allowed are float32 and float64")
            cells, vertices = block.GetNumberOfCells(), getattr(block, "GetNumberOfVerts", block.GetNumberOfCells)()
            if cells > vertices:
                self.warnings.append(f"{cells - vertices} cells that are no vertices are not written")
        ghosts = None if with_ghosts else arrays.pop("vtkGhostType", None)
        kept = None if ghosts is None else (ghosts & 3) == 0  # neither duplicates nor hidden ones
        if kept is not None:
            self.positions = self.positions[kept]
        for name, values in arrays.items():
            self.attributes[name] = values if kept is None else values[kept]

    @staticmethod
    def _column(arrays, axis, named):
        if axis == "z" and named == "none":
            return None
        name = named or next((name for name in COLUMNS[axis] if name in arrays), None)
        found = re.fullmatch(r"(.*)\[(\d+)\]", name or "", re.S)
        if name in arrays and arrays[name].ndim == 1:
            return arrays.pop(name)
        if found and found[1] in arrays and arrays[found[1]].ndim == 2 and int(found[2]) < arrays[found[1]].shape[1]:
            return arrays[found[1]][:, int(found[2])]
        refuse(f"no column of the table is {axis}: '{named or ', '.join(COLUMNS[axis])}' was looked for; "
                                    f"there are {', '.join(arrays) or 'none'}")


@_proxy_xml("BATWriter.xml", "BATWriterCore", "BATWriter", "writers", supports_parallel="1")
class BATWriter(VTKPythonAlgorithmBase):
    """Points of a data set, or rows of a table, with all their numeric arrays. The first process writes those of all."""

    def __init__(self):
        super().__init__(nInputPorts=1, nOutputPorts=0, inputType="vtkDataObject")
        self._path, self._columns, self._ghosts, self._indexes = "", dict.fromkeys("xyz", ""), False, []

    def SetFileName(self, name):
        self._path = name or ""
        self.Modified()

    def SetXColumn(self, name):
        self._columns["x"] = name or ""

    def SetYColumn(self, name):
        self._columns["y"] = name or ""

    def SetZColumn(self, name):
        self._columns["z"] = name or ""

    def SetWriteGhostParticles(self, value):
        self._ghosts = bool(value)

    def AddSortedIndex(self, name):
        if name:
            self._indexes.append(name)

    def ClearSortedIndexes(self):
        self._indexes = []

    def Write(self):
        self.Modified()
        self.Update()

    def RequestUpdateExtent(self, request, inInfo, outInfo):
        ranks, wanted = _Ranks(), inInfo[0].GetInformationObject(0)
        wanted.Set(vtkStreamingDemandDrivenPipeline.UPDATE_PIECE_NUMBER(), ranks.rank)
        wanted.Set(vtkStreamingDemandDrivenPipeline.UPDATE_NUMBER_OF_PIECES(), ranks.count)
        wanted.Set(vtkStreamingDemandDrivenPipeline.UPDATE_NUMBER_OF_GHOST_LEVELS(), 0)
        return 1

    def RequestData(self, request, inInfo, outInfo):
        data = vtkDataObject.GetData(inInfo[0], 0)
        ranks = _Ranks()
        error, schema, particles = "", "", []
        try:
            particles = [_Particles(block, self._columns, self._ghosts) for block in _blocks(data)]
            schema = self._schema(particles)
        except (parabat.BatError, MemoryError) as failure:
            error = str(failure)
        error = ranks.agree(error)
        if not error:
            schemas = [text for text in ranks.texts(schema) if text]
            if len(set(schemas)) > 1:
                error = f"{self._path}: ranks have different arrays: {schemas[0]} and " + next(
                    text for text in schemas if text != schemas[0])
            else:
                schema = schemas[0] if schemas else "[]"
                error = self._write(ranks, particles, json.loads(schema), data)
        if ranks.is_first:
            for warning in dict.fromkeys(w for p in particles for w in p.warnings):
                vtkOutputWindow.GetInstance().DisplayWarningText(f"{self._path}: {warning}\n")
        if error and ranks.is_first:
            _say(error)
        return 0 if error else 1

    def _schema(self, particles):
        """Names, types and components, positions first, as text; "" for nothing."""
        found = [[("", p.positions.dtype.str, 3), *((name, a.dtype.str, a.shape[1] if a.ndim > 1 else 1)
                                                    for name, a in p.attributes.items())] for p in particles]
        for other in found[1:]:
            if sorted(other) != sorted(found[0]):
                refuse(f"{self._path}: blocks have different arrays: {sorted(found[0])} and {sorted(other)}")
        return json.dumps(sorted(found[0])) if found else ""

    def _write(self, ranks, particles, schema, data):
        """Text of an error, the same on all ranks."""
        columns = {}
        for name, dtype, components in schema or [("", "<f4", 3)]:
            shape = (0, components) if components > 1 else (0,)
            own = [p.attributes[name] if name else p.positions for p in particles]
            own = own[0] if len(own) == 1 else np.concatenate(own) if own else np.empty(shape, np.dtype(dtype))
            columns[name] = ranks.gather(own)
        error = ""
        if ranks.is_first:
            try:
                has_time = data is not None and data.GetInformation().Has(vtkDataObject.DATA_TIME_STEP())
                time = data.GetInformation().Get(vtkDataObject.DATA_TIME_STEP()) if has_time else None
                positions = columns.pop("")
                parabat.write(self._path, positions, columns, time=time, sorted_indexes=self._indexes)
            except (parabat.BatError, MemoryError) as failure:
                error = str(failure)
        return ranks.agree(error)
