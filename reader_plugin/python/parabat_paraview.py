# SPDX-License-Identifier: BSD-3-Clause
"""The readers and writers of particles and grids as a Python plugin, for a ParaView that cannot load a compiled
plugin.

Tools > Manage Plugins > Load New, PV_PLUGIN_PATH, or `parabat paraview FILE` loads this file. The package `parabat` is next
to it, or contains it; the only other requirement is the numpy of ParaView. Its proxies have the names, properties and
texts of the compiled plugins, read from the same XML, so that scripts and state files work with either. If a compiled
plugin is loaded, this one does nothing.
"""

import contextlib
import gc
import importlib
import importlib.util
import json
import math
import os
import pathlib
import re
import sys
import weakref
import xml.etree.ElementTree

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
from vtkmodules.vtkCommonCore import (vtkAbstractArray, vtkDataArray, vtkDataArraySelection,
                                      vtkInformationVector, vtkOutputWindow, vtkPoints, vtkStringArray, vtkUnsignedCharArray)
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkCompositeDataSet, vtkDataObject, vtkImageData, vtkPolyData
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm, vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkParallelCore import vtkMultiProcessController

paraview_plugin_name = "parabat_paraview"

HERE = pathlib.Path(os.path.abspath(__file__)).parent
USUAL_IDS = ("id", "ids", "particleid", "particleids", "globalid", "globalids")
# Constants of Refine While Idle, as in bat/module/ReaderNumbers.h: the particles shown immediately;
# the growth per step as a share of the loaded particles, if that is more; and the share of a step
# that is too small for a separate step.
STEP_PARTICLES, STEP_GROWTH, SMALL_REST = 500_000, 0.1, 0.25

# Constants for grids, as in idx/module/IDXNumbers.h: the first load, and the levels per step.
FINEST_RESOLUTION, DEFAULT_MEMORY_BUDGET = 62, 1024
FIRST_MEBIBYTES, LEVELS_OF_STEP = 16, 3

# Properties that the panel shows only where another one has this value, or none of these.
SHOWN_WHERE = {"Box": ("UseBox", [1]), "RegionRadius": ("Region", [1]), "RegionNormal": ("Region", [2]),
               "RegionLimits": ("Region", [2]), "RegionHalfExtents": ("Region", [3]), "RegionRotation": ("Region", [3])}
HIDDEN_WHERE = {"RegionCenter": ("Region", [0, 2]), "RegionOutside": ("Region", [0])}


def _parabat():
    """Returns the package next to this file, or around it, without changing sys.path: ParaView's own numpy stays first."""
    if "parabat" not in sys.modules:
        folder = next((f for f in (HERE / "parabat", HERE.parent) if (f / "_library.py").is_file()), None)
        if folder is None:
            raise ImportError(f"{HERE}: folder 'parabat' must be next to parabat_paraview.py")
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
vtk_input = importlib.import_module("parabat.vtk_input")


def _shared(values):
    """An array of VTK over the memory of numpy's, which lives as long."""
    array = numpy_to_vtk(values)
    array.AddObserver("DeleteEvent", lambda *unused, kept=values: None)
    return array


def _say(text, kind="Error"):
    """Reports a text in ParaView's messages, or on stderr without a window; kind: "Error" or "Warning"."""
    getattr(vtkOutputWindow.GetInstance(), f"Display{kind}Text")(f"{text}\n")


def _attempt(call):
    """(what it returns, ""), or (None, what is wrong, in words): one rank's failure, which the others wait for."""
    try:
        return call(), ""
    except (parabat.BatError, MemoryError) as failure:
        return None, str(failure) or type(failure).__name__
    except Exception as failure:  # pylint: disable=broad-except
        return None, f"{type(failure).__name__}: {failure}"


# Proxies ----------------------------------------------------------------------

def _find_xml(name):
    # The files are in a separate folder, because ParaView loads every .xml next to a plugin as
    # another plugin.
    for folder in (HERE / "proxies", HERE.parent.parent / "xml"):
        if (folder / name).is_file():
            return folder / name
    raise ImportError(f"{HERE}: proxies/{name} must be next to parabat_paraview.py")


def _is_loaded(group, name):
    """True if a plugin has already defined the proxy."""
    try:
        from paraview.servermanager import ProxyManager  # pylint: disable=import-outside-toplevel
        definitions = ProxyManager().SMProxyManager.GetProxyDefinitionManager()
        return bool(definitions and definitions.HasDefinition(group, name))
    except (ImportError, AttributeError):  # a server, or before there is a session
        return False


def _decorate(element, name):
    """Adds the elements that make the panel show or hide a property."""
    for inverse, table in (("0", SHOWN_WHERE), ("1", HIDDEN_WHERE)):
        for value in table[name][1] if name in table else ():
            hints = element.find("Hints")
            hints = xml.etree.ElementTree.SubElement(element, "Hints") if hints is None else hints
            xml.etree.ElementTree.SubElement(hints, "PropertyWidgetDecorator", type="GenericDecorator", mode="visibility",
                                             property=table[name][0], value=str(value), inverse=inverse)


def _proxy_xml(file, core, outer, group, representation="Point Gaussian", **attributes):
    """The definition of a proxy of the compiled plugin, with the properties for which the class below has the commands,
    and of those that are options by name, those of its OPTIONS."""
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
                option = element.get("initial_string")
                if name == "TimestepValues" or (commands[0] and all(hasattr(cls, c) for c in commands if c) and (
                        option is None or option in cls.OPTIONS)):
                    if element.get("panel_widget", "").startswith(("bat_", "idx_")):
                        del element.attrib["panel_widget"]
                    _decorate(element, name)
                    # Scripts use a name made from the label here, and from the name in the compiled
                    # plugin.
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
            if representation:
                xml.etree.ElementTree.SubElement(hints, "RepresentationType", view="RenderView", type=representation)
        # A plugin that defines nothing at all is none for ParaView 6, and loading it an error.
        root = xml.etree.ElementTree.Element("ServerManagerConfiguration")
        if not _is_loaded(group, outer):
            xml.etree.ElementTree.SubElement(root, "ProxyGroup", name=group).append(proxy)
        cls._pvsm_proxy_xml = xml.etree.ElementTree.tostring(root, encoding="unicode")
        return cls
    return decorate


# Questions --------------------------------------------------------------------

_INTEGER = re.compile(r" *(?:\+|(-))?([0-9]+) *")
_REAL = re.compile(r" *\+?(-?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|(inf(?:inity)?|nan))) *", re.I)


def _number(text, what):
    """Parses a number like the library: integers exactly, and none of Python's other notations."""
    found = _INTEGER.fullmatch(text)
    if found:
        return int((found[1] or "") + found[2])
    found = _REAL.fullmatch(text)
    if found and (found[2] or math.isfinite(float(found[1]))):
        return float(found[1])
    return refuse(f"{what}: '{text}' is not a number")


def _target(text, attributes):
    """(negated, (name, component or None)) of what a range is of: "name", "name[0]", "!name"."""
    def known(name):
        if name in attributes:
            return name, None
        found = re.fullmatch(r"(.*)\[(\d+)\]", name, re.S)
        if found and found[1] in attributes:
            components = attributes[found[1]].components
            if int(found[2]) >= components:
                refuse(f"'{found[1]}' has {components} components; [{found[2]}] is out of range")
            return found[1], int(found[2]) if components > 1 else None
        return None

    target = known(text)
    if target:
        return False, target
    if text.startswith("!"):
        target = known(text[1:])
        if target:
            return True, target
    refuse(f"unknown attribute '{text}'; available: {', '.join(attributes) or 'none'}")


def _has_target(text, attributes):
    with contextlib.suppress(parabat.BatError):
        return bool(_target(text, attributes))
    return False


def _closed(lower, upper, about, component=None):
    """Returns both ends of a range, in numbers that compare exactly with what they limit: values of the attribute
    or of a component, or magnitudes."""
    is_integer = about.dtype.kind in "iu" and (about.components == 1 or component is not None)
    limits = np.iinfo(about.dtype) if is_integer else None
    low, high = (limits.min, limits.max) if limits else (-np.inf, np.inf)
    return (low if lower is None else lower), (high if upper is None else upper)


def parse_ranges(texts, attributes):
    """AttributeRanges as keyword arguments of Dataset.read()."""
    if len(texts) % 3:
        refuse(f"AttributeRanges has {len(texts)} texts; each range has three: a name, a minimum and a maximum, either of which may be empty for no "
               "limit")
    targets = {}
    for name, lower, upper in zip(texts[::3], texts[1::3], texts[2::3]):
        what = f"range of '{name}'"
        ends = tuple(_number(end, what) if end else None for end in (lower, upper))
        targets.setdefault(_target(name, attributes), []).append(ends)
    request = {"ranges": [], "values": {}, "not_values": {}}
    for (negated, (name, component)), ends in targets.items():
        if not negated and len(ends) == 1:
            request["ranges"].append((name, *(() if component is None else (component,)), *ends[0]))
        else:
            key = name if component is None else (name, component)
            request["not_values" if negated else "values"][key] = [_closed(*pair, attributes[name], component) for pair in ends]
    return request


def _both(one, other):
    """The numbers that are in two lists of numbers and closed ranges, as such a list."""
    def pairs(listed):
        return [pair if isinstance(pair, tuple) else (pair, pair) for pair in listed]

    ends = [(max(a[0], b[0]), min(a[1], b[1])) for a in pairs(one) for b in pairs(other)]
    return [pair for pair in ends if pair[0] <= pair[1]]


def _id(text):
    number = _number(text, "Ids")
    return number if number == number else refuse(f"Ids: '{text}' is not a number")


def parse_ids(text, about):
    """Ids as numbers and pairs."""
    found = []
    for word in re.split(r"[\s,;]+", text.strip()):
        if not word:
            continue
        ends = word.split("..", 1) if ".." in word else re.fullmatch(r"(.[^-]*(?:[eE]-[^-]*)*)-(.+)", word)
        try:
            if ends is None:
                found.append(_id(word))
                continue
            lower, upper = ends if isinstance(ends, list) else ends.groups()
            if isinstance(ends, list) and word == "..":
                refuse("Ids: '..' has no number")
            pair = _closed(*(_id(end) if end or ".." not in word else None for end in (lower, upper)), about)
            if pair[0] > pair[1]:
                refuse(f"Ids: the range '{word}' ends before it starts")
            found.append(pair)
        except parabat.BatValueError as error:
            refuse(f"{error}; allowed are numbers and ranges such as 5-90, -3..7 or 100.., separated by spaces or commas")
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
    """Sorts by time; keeps the last one of equal times."""
    steps = {time: file for file, time in zip(files, times)}
    return [steps[time] for time in sorted(steps)], sorted(steps)


class _Loaded:
    """The loaded particles, with space for all that may follow. Arrays that were handed out never change."""

    def __init__(self, question):
        self.question = question
        self.count, self.quality = 0, 0.0
        self.columns = {}  # positions first, with an empty name
        self._memory, self._ranges = {}, {}

    def add(self, particles, quality, maximum):
        """Adds the additional particles of a finer quality; `maximum` limits their final number."""
        total = self.count + particles.count
        for name, values in (("", particles.positions), *particles.items()):
            if self.count:
                memory = self._memory.get(name)
                if memory is None or len(memory) < total:
                    memory = np.empty((max(total, maximum), *values.shape[1:]), values.dtype)
                    memory[:self.count] = self.columns[name]
                    self._memory[name] = memory
                memory[self.count:total] = values
            new = _parse_ranges(values)
            self._ranges[name] = new if not self.count else [
                a and b and (min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(self._ranges[name], new)]
            self.columns[name] = memory[:total] if self.count else values
        self.count, self.quality = total, quality

    def array(self, name):
        """One of VTK, which knows the ranges of its values; it would look through all of them for each."""
        array = _shared(self.columns[name])
        array.SetName(name or "Points")
        self.tell_ranges(name, array)
        return array

    def tell_ranges(self, name, array):
        """Until the array is modified."""
        whole, *components = self._ranges[name]
        if not whole:
            return
        information = array.GetInformation()
        for each, norm in ((vtkDataArray.PER_COMPONENT(), vtkDataArray.L2_NORM_RANGE()),
                           (vtkDataArray.PER_FINITE_COMPONENT(), vtkDataArray.L2_NORM_FINITE_RANGE())):
            ranges = vtkInformationVector()
            ranges.SetNumberOfInformationObjects(max(1, len(components)))
            for i, ends in enumerate(components or [whole]):
                ranges.GetInformationObject(i).Set(vtkDataArray.COMPONENT_RANGE(), ends, 2)
            information.Set(each, ranges)
            if components:
                information.Set(norm, whole, 2)

    def points(self):
        """Returns the points as VTK's, with known bounds."""
        points, positions = vtkPoints(), self.columns[""]
        whole, *components = self._ranges[""]
        if not whole:
            points.SetData(self.array(""))
            return points
        array = numpy_to_vtk(np.array(components, positions.dtype).T, deep=True)
        points.SetData(array)
        points.GetBounds()  # of the corners; VTK looks again only at points that are modified, which this is not:
        array.SetVoidArray(positions.reshape(-1), positions.size, 1)
        array.AddObserver("DeleteEvent", lambda *unused, kept=positions: None)
        self.tell_ranges("", array)
        return points


def _parse_ranges(values):
    """Returns the range of scalars, or of the magnitude and each component of vectors. None for ranges that are not finite."""
    def ends(numbers):
        found = (float(numbers.min()), float(numbers.max())) if len(numbers) else (math.inf, -math.inf)
        return found if all(map(math.isfinite, found)) else None

    if values.ndim == 1:
        return [ends(values)]
    components = [ends(values[:, i]) for i in range(values.shape[1])]
    if None in components:
        return [None] * (1 + len(components))
    squares = []
    for first in range(0, len(values), 1 << 15):  # rows that stay in the cache
        rows = values[first:first + (1 << 15)].astype(np.float64)
        with np.errstate(over="ignore"):
            sums = sum(rows[:, i] * rows[:, i] for i in range(rows.shape[1]))
        squares += [sums.min(), sums.max()]
    whole = math.sqrt(min(squares)), math.sqrt(max(squares))
    return [whole if math.isfinite(whole[1]) else None, *components]


class _Algorithm(VTKPythonAlgorithmBase):
    """Requests in which no proxies end. Python's garbage may hold some; of their end the first rank, where scripts run,
    tells the others, and waits for them, while they may wait for it in what their request does together."""

    def ProcessRequest(self, request, inInfo, outInfo):
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().ProcessRequest(request, inInfo, outInfo)
        finally:
            if collects:
                gc.enable()


class _Reader(_Algorithm):
    """Commands of the properties in BATReader.xml, and the pipeline's requests."""

    def __init__(self):
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkPolyData")
        self._files, self._paths, self._times = [], [], []
        self._selection = vtkDataArraySelection()
        self._observe_selection()
        self._set = {"Quality": 1.0, "ParticleBudget": 0, "RefineWhileIdle": 0, "UseBox": 0,
                     "Box": (0, 1, 0, 1, 0, 1), "Ids": "", "IdsMode": 0, "IdAttribute": "", "VertexCells": 1,
                     "Region": 0, "RegionCenter": (0, 0, 0), "RegionRadius": 1.0, "RegionNormal": (0, 0, 1),
                     "RegionLimits": (0, 1), "RegionHalfExtents": (1, 1, 1), "RegionRotation": (0, 0, 0),
                     "RegionOutside": 0}
        self._ranges = []
        self._open = None           # (path, mtime, Dataset)
        self._loaded = None         # _Loaded
        self._target = 0.0
        self._error = self._reported = ""
        self._known = {}            # attributes that some file has had, by name
        self._warned = set()        # names that no file has had
        self._more = False          # the next update adds a step
        self._last = None           # (question, quality) of the step before

    def _change(self, name, value):
        if self._set[name] != value:
            self._set[name] = value
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
        self.Modified()

    def ClearAttributeRanges(self):
        self._ranges = []
        self.Modified()

    def GetPointDataArraySelection(self):
        return self._selection

    def _with_files(self, files):
        self._files, self._paths, self._times, self._loaded = files, [], [], None
        self.Modified()

    # Information about the open file.

    def GetParticleCount(self):
        return len(self._open[2]) if self._open else 0

    def GetLeafFileCount(self):
        return self._open[2].leaf_file_count if self._open else 0

    def GetFileBytes(self):
        return self._open[2].file_bytes if self._open else 0

    def GetLoadedCount(self):
        return self._loaded.count if self._loaded else 0

    def GetLoadedQuality(self):
        return self._loaded.quality if self._loaded else 0.0

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
        return bool(self._loaded) and self._loaded.quality < self._target

    def LoadMore(self):
        if self._set["RefineWhileIdle"] and self._can_refine():
            self._more = True
            self.Modified()

    def GetNeedsUpdate(self):
        """Polled by ParaView while the user is idle (a live source)."""
        self.LoadMore()
        return self._more

    # Requests.

    def _steps(self):
        """Files and their times."""
        if len(self._files) == 1 and self._files[0].endswith(".series"):
            steps = parabat.read_series(self._files[0])
            return _in_order([step.path for step in steps], [step.time for step in steps])
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
        try:
            status = os.stat(path)
        except OSError as error:
            refuse(f"{path}: {error.strerror}")
        key = (path, status.st_mtime_ns, status.st_size, status.st_ino)
        if not self._open or self._open[:2] != (path, key):
            self._open = None
            self._open = (path, key, parabat.open(path))
            self._loaded = None
        return self._open[2]

    def _fail(self, error, is_reported=True):
        """Reports an error and delivers nothing; each request for data reports it once."""
        self._error = str(error)
        if is_reported and self._reported != self._error:
            _say(error)
        self._reported = self._error
        return 1

    def RequestInformation(self, request, inInfo, outInfo):
        info = outInfo.GetInformationObject(0)
        info.Remove(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
        info.Remove(vtkStreamingDemandDrivenPipeline.TIME_RANGE())
        info.Set(vtkAlgorithm.CAN_HANDLE_PIECE_REQUEST(), 1)
        self._error = ""
        if not self._files:
            return self._fail("BATReader: no file was given")
        try:
            self._paths, self._times = [], []
            self._paths, self._times = self._steps()
            if not self._paths:
                return self._fail(f"{self._files[0]}: lists no files yet")
            self._offer_first()
        except (parabat.BatError, OSError, ValueError) as error:
            self._paths = self._paths if len(self._paths) > 1 else []
            return self._fail(error)
        if self._times:
            info.Set(vtkStreamingDemandDrivenPipeline.TIME_STEPS(), self._times, len(self._times))
            info.Set(vtkStreamingDemandDrivenPipeline.TIME_RANGE(), [self._times[0], self._times[-1]], 2)
        return 1

    def _offer_first(self):
        """Attributes of the file that is open, whose particles stay, or of the first that can be read."""
        is_open = self._open is not None and self._open[0] in self._paths
        paths = [self._open[0], *self._paths] if is_open else self._paths
        for number, path in enumerate(paths, 1):
            try:
                self._offer(self._dataset(path).attributes)
                return self._offer_later(paths)
            except (parabat.BatError, OSError, ValueError):
                if number == len(paths):
                    raise
        return None

    def _offer_later(self, paths):
        """A run may begin before it has any particles; the last step most probably has some."""
        for path in [] if self._known or len(self._open[2]) else reversed(paths):
            with contextlib.suppress(parabat.BatError), parabat.open(path) as dataset:
                self._offer(dataset.attributes)
            if self._known:
                break

    def _observe_selection(self):
        reader = weakref.ref(self)  # Python does not see that the selection leads back to it, and would keep both

        def changed(*unused):
            if reader() is not None:
                reader()._warned.clear()  # pylint: disable=protected-access
                reader().Modified()

        self._selection.AddObserver("ModifiedEvent", changed)

    def _offer(self, attributes):
        """Attributes that were not seen before are wanted. That they are found changes nothing that was asked for."""
        self._known = {**attributes, **self._known}
        new = [name for name in attributes if not self._selection.ArrayExists(name)]
        if new:
            self._selection.RemoveAllObservers()
            for name in new:
                self._selection.AddArray(name)
            self._observe_selection()

    def _warn_of_unknown(self, path, attributes):
        """A name that some file has had, e.g. another one of the series, may come again."""
        names = [self._selection.GetArrayName(i) for i in range(self._selection.GetNumberOfArrays())
                 if self._selection.GetArraySetting(i)]
        for name in names:
            if name not in self._known and name not in self._warned:
                self._warned.add(name)
                _say(f"{path}: unknown attribute '{name}' in PointArrayStatus; available: {', '.join(attributes) or 'none'}", "Warning")

    def _query(self, dataset):
        """Keyword arguments of Dataset.read(), without quality and part."""
        attributes, ranges = dataset.attributes, self._ranges
        is_empty = len(dataset) == 0  # and may lack what other steps have
        if is_empty:
            attributes = {**self._known, **attributes}
            ranges = [text for i in range(0, len(ranges) // 3 * 3, 3) if _has_target(ranges[i], attributes)
                      for text in ranges[i:i + 3]]
        query = parse_ranges(ranges, attributes)
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
            if name not in attributes and is_empty:
                return query
            if name not in attributes:
                refuse(f"{self._open[0]}: Ids requires an id attribute, but no attribute is called '{name or 'id'}'; set Id Attribute to one of "
                       f"{', '.join(attributes) or 'none'}")
            ids = parse_ids(self._set["Ids"], attributes[name])
            which = "not_values" if self._set["IdsMode"] else "values"
            if which == "not_values":
                ids = [*query[which].get(name, []), *ids]
            elif name in query[which]:
                ids = _both(ids, query[which][name])
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
        """Returns the quality that this update loads: the target, or a step towards it."""
        quality, budget = self._set["Quality"], int(self._set["ParticleBudget"])
        if not 0 <= quality <= 1:
            refuse(f"Quality: {quality}; allowed are 0 to 1")
        self._target = dataset.quality_within(budget, quality=quality, **query) if budget > 0 else quality
        is_step, self._more = self._more, False
        if not self._set["RefineWhileIdle"]:
            return self._target
        first = dataset.quality_within(STEP_PARTICLES, quality=self._target, **query)
        question = repr((self._open[1], query))
        before = self._last[1] if self._last and self._last[0] == question else 0.0
        growth = max(first, STEP_GROWTH * before)
        chosen = max(first, before + growth if is_step and before else before)
        if is_step and self._target - chosen < SMALL_REST * growth:
            chosen = self._target
        self._last = question, min(self._target, chosen)
        return self._last[1]

    def RequestData(self, request, inInfo, outInfo):
        info = outInfo.GetInformationObject(0)
        output = vtkPolyData.GetData(outInfo, 0)
        output.Initialize()
        pipeline = vtkStreamingDemandDrivenPipeline
        step = 0
        if self._times and info.Has(pipeline.UPDATE_TIME_STEP()):
            target = info.Get(pipeline.UPDATE_TIME_STEP())
            step = max(0, int(np.searchsorted(self._times, target, side="right")) - 1)
        part, parts = info.Get(pipeline.UPDATE_PIECE_NUMBER()), info.Get(pipeline.UPDATE_NUMBER_OF_PIECES())
        self._error, ranks = "", _Ranks()

        def load():
            if not self._paths:
                refuse(self._reported or "BATReader: no file was given")
            dataset = self._dataset(self._paths[step])
            query = self._query(dataset)
            self._offer(dataset.attributes)  # a later file may have others
            names = [name for name in dataset.attributes if self._selection.ArrayIsEnabled(name)]
            quality = self._next_quality(dataset, query)
            self._load(dataset, names, quality, part=part, parts=max(1, parts), **query)
            return dataset, names, quality

        loaded, error = _attempt(load)
        error = ranks.agree(error)
        if error:
            self._loaded = None
            return self._fail(error, ranks.is_first)
        self._reported = ""
        dataset, names, quality = loaded
        self._fill(output, names)
        self._add_missing(output, dataset)
        _tell_source(output, dataset, quality, self._set["Quality"])
        if self._times:
            output.GetInformation().Set(vtkDataObject.DATA_TIME_STEP(), self._times[step])
        if ranks.is_first and len(dataset):
            self._warn_of_unknown(self._paths[step], dataset.attributes)
        return 1

    def _load(self, dataset, names, quality, **query):
        """Reads only additional data if a coarser quality of the same particles is loaded."""
        question = repr((names, query))
        loaded = self._loaded
        if not loaded or loaded.question != question or loaded.quality > quality:
            loaded, self._loaded = _Loaded(question), None
        if loaded.quality < quality or not loaded.columns:
            maximum = self._target * len(dataset)
            if self._set["ParticleBudget"] > 0:
                maximum = min(maximum, self._set["ParticleBudget"])
            few = 65536  # parts are not of exactly the same size
            loaded.add(dataset.read(names, quality=quality, after_quality=loaded.quality, **query), quality,
                       int(maximum / query["parts"]) + few)
        self._loaded = loaded

    def _fill(self, output, names):
        loaded, cells = self._loaded, self._set["VertexCells"]
        output.SetPoints(loaded.points())
        if cells and loaded.count:
            numbers = np.arange(loaded.count + 1, dtype=np.int32 if loaded.count < 2**31 - 1 else np.int64)
            vertices = vtkCellArray()
            vertices.SetData(_shared(numbers if cells == 1 else numbers[[0, loaded.count]]), _shared(numbers[:-1]))
            output.SetVerts(vertices)
        for name in names:
            output.GetPointData().AddArray(loaded.array(name))

    def _add_missing(self, output, dataset):
        """Columns that other steps have, and this one without particles lacks, are empty."""
        for name, about in self._known.items():
            if not len(dataset) and name not in dataset.attributes and self._selection.ArrayIsEnabled(name):
                array = numpy_to_vtk(np.empty((0, about.components), about.dtype), deep=True)
                array.SetName(name)
                output.GetPointData().AddArray(array)


def _format_compression(dataset):
    """Describes how arrays are stored, like the compiled plugin; "" if none is compressed."""
    for leaf in range(dataset.leaf_file_count):
        try:
            columns = dataset.storage(leaf)
        except parabat.BatError:
            continue  # missing, damaged, or of the paper's library: another one may say
        bounds = [f"{name or 'positions'} within {column.bound!r}" for name, column in columns.items() if column.bound > 0]
        if not bounds and not any(column.compressed for column in columns.values()):
            return ""
        return ", ".join(bounds) + ("; all others exact" if bounds else "lossless")
    return ""


def _tell_source(output, dataset, quality, requested):
    """Stores in field data what a writer records in a file of a sample, and what the window shows."""
    whole, count = 1.0, len(dataset)
    try:
        sample = json.loads(dataset.metadata or "{}")["sample"]
        if 0 <= sample["quality"] <= 1 and isinstance(sample["particle_count"], int) and sample["particle_count"] >= count:
            whole, count = float(sample["quality"]), sample["particle_count"]
    except (ValueError, KeyError, TypeError):
        pass  # free text, as anything in the metadata may be
    # Twice, because ParaView's tooltips of particles list all field data that have one value; writers look for timestep.
    facts = {"quality": 2 * [whole * quality], "quality_requested": 2 * [whole * requested],
             "particle_count": np.array(2 * [count], np.int64)}
    if dataset.step is not None:
        facts["timestep"] = np.array([dataset.step], np.int64)
    arrays = {name: numpy_to_vtk(np.asarray(values), deep=True) for name, values in facts.items()}
    stored = _format_compression(dataset)
    if stored:
        arrays["compression"] = vtkStringArray()
        for text in (stored, ""):
            arrays["compression"].InsertNextValue(text)
    for name, array in arrays.items():
        array.SetName(name)
        array.GetInformation().Set(vtkAbstractArray.GUI_HIDE(), 1)
        output.GetFieldData().AddArray(array)


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


# Grids ------------------------------------------------------------------------

@_proxy_xml("IDXReader.xml", "IDXReaderCore", "IDXReader", "sources", representation=None)
class IDXReader(_Algorithm):
    """Structured grids in many resolutions, one file or several with the steps of a time series. Each rank reads its extent."""

    def __init__(self):
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkImageData")
        self._files, self._steps, self._times = [], [], []  # of each time: (file, number of the step)
        self._open = None    # (path, what it was like, dataset)
        self._set = {"Resolution": FINEST_RESOLUTION, "MemoryBudget": DEFAULT_MEMORY_BUDGET, "RefineWhileIdle": 0, "UseBox": 0,
                     "Box": (0.0, 1.0) * 3}
        self._selection = vtkDataArraySelection()
        self._plan = None    # (path, level, box, target) that RequestInformation has announced
        self._reached = None  # (question, level) of refining
        self._more = False
        self._loaded = None  # (question, extent, Grid)
        self._error = self._reported = ""
        self._warned = set()
        self._observe()

    def _observe(self):
        reader = weakref.ref(self)
        self._selection.AddObserver("ModifiedEvent", lambda *unused: reader() is not None and reader().Modified())

    def AddFileName(self, name):
        if name:
            self._with_files([*self._files, name])

    def RemoveAllFileNames(self):
        self._with_files([])

    def _with_files(self, files):
        self._files, self._steps, self._times, self._loaded = files, [], [], None
        self.Modified()

    def _change(self, name, value):
        if self._set[name] != value:
            self._set[name] = value
            self.Modified()

    def SetResolution(self, value):
        self._change("Resolution", value)

    def SetMemoryBudget(self, value):
        self._change("MemoryBudget", value)

    def SetRefineWhileIdle(self, value):
        self._change("RefineWhileIdle", value)

    def SetUseBox(self, value):
        self._change("UseBox", value)

    def SetBox(self, *ends):
        self._change("Box", tuple(ends))

    def GetPointDataArraySelection(self):
        return self._selection

    # Information about the open dataset.

    def _dataset_or(self, nothing, get):
        return get(self._open[2]) if self._open else nothing

    def GetLevels(self):
        return self._dataset_or(0, lambda dataset: dataset.levels)

    def GetFileVersion(self):
        return self._dataset_or("", lambda dataset: dataset.version)

    def GetFullDimensions(self):
        return self._dataset_or([0.0] * 3, lambda dataset: [float(count) for count in dataset.lattice().count])

    def GetBounds(self):
        def bounds(dataset):
            ends = [dataset.origin + dataset.spacing * np.array(part) for part in (dataset.box[:3], dataset.box[3:])]
            return [float(ends[i][axis]) for axis in range(3) for i in range(2)]
        return self._dataset_or([0.0] * 6, bounds)

    def GetLoadedLevel(self):
        return self._loaded[2].level if self._loaded else -1

    def GetTargetLevel(self):
        return self._plan[3] if self._plan else -1

    def GetLoadedSamples(self):
        return int(np.prod(self._loaded[2].lattice.count)) if self._loaded else 0

    def GetBytesRead(self):
        return self._loaded[2].bytes_read if self._loaded else 0

    def GetErrorText(self):
        return self._error

    def GetTimestepValues(self):
        return self._times or None

    # Refining.

    def LoadMore(self):
        if self._set["RefineWhileIdle"] and self._plan and self._loaded and self._plan[1] < self._plan[3]:
            self._more = True
            self.Modified()

    def GetNeedsUpdate(self):
        """Polled by ParaView while the user is idle (a live source)."""
        self.LoadMore()
        return self._more

    # Requests.

    def _dataset(self, path):
        try:
            status = os.stat(path)
        except OSError as error:
            refuse(f"{path}: {error.strerror}")
        key = (path, status.st_mtime_ns, status.st_size, status.st_ino)
        if not self._open or self._open[:2] != (path, key):
            self._open = self._loaded = None
            self._open = (path, key, parabat.idx.open(path))
        return self._open[2]

    def _list_steps(self, path):
        """Steps of a file and their times; one that is open stays so, with what was read of it."""
        if len(self._files) == 1 or (self._open and self._open[0] == path):
            dataset = self._dataset(path)
            return dataset.steps, dataset.times
        with parabat.idx.open(path) as dataset:
            return dataset.steps, dataset.times

    def _find_steps(self):
        """Files and steps in the order of their times; of equal times the last one."""
        found, failure = {}, None
        for i, path in enumerate(self._files):
            try:
                steps, times = self._list_steps(path)
                alone = len(self._files) > 1 and steps == [0] and times == [0.0]
                for step, time in zip(steps, [float(i)] if alone else times):
                    found[time] = (path, step)
            except (parabat.BatError, OSError) as error:
                failure = error  # its step says why it cannot be read
                found[float(i)] = (path, 0)
        if failure and len(self._files) == 1:
            raise failure
        self._times = sorted(found)
        self._steps = [found[time] for time in self._times]

    def _index(self, info):
        target = vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP()
        if not info.Has(target) or len(self._times) < 2:
            return 0
        return max(0, int(np.searchsorted(self._times, info.Get(target), side="right")) - 1)

    def _names(self, dataset):
        """Fields that are wanted; those that were not seen before are."""
        new = [name for name in dataset.fields if not self._selection.ArrayExists(name)]
        if new:
            self._selection.RemoveAllObservers()  # that they are found changes nothing that was asked for
            for name in new:
                self._selection.AddArray(name)
            self._observe()
        return [name for name in dataset.fields if self._selection.ArrayIsEnabled(name)]

    def _choose(self, path, ranks):
        """The plan: path, level, box, and the level that it leads to."""
        dataset = self._dataset(path)
        names, box = self._names(dataset), dataset.box
        if self._set["UseBox"]:
            ends = self._set["Box"]
            for axis, (low, high) in zip("xyz", zip(ends[::2], ends[1::2])):
                if low > high:
                    refuse(f"Box: its minimum of {axis} {low} is above its maximum {high}")
            box = dataset.box_of([*ends[::2], *ends[1::2]])
        target = min(max(0, int(self._set["Resolution"])), dataset.levels)
        budget = self._set["MemoryBudget"]
        if budget > 0 and names:
            target = dataset.level_within(min(2**62, int(budget * 2**20) * ranks), names, level=target, box=box)
        level = target
        if self._set["RefineWhileIdle"] and names:
            first = dataset.level_within(int(FIRST_MEBIBYTES * 2**20) * ranks, names, level=target, box=box)
            question = repr((self._open[1], names, box, self._set["Resolution"], budget))
            before = self._reached[1] if self._reached and self._reached[0] == question else first
            level = min(target, max(first, before + LEVELS_OF_STEP if self._more else before))
            self._reached = question, level
        self._more = False
        return path, level, box, target

    def _extent(self, dataset, level, box):
        """Six numbers of the level's lattice; an empty one if it has no sample there."""
        lattice = dataset.lattice(level, box)
        if 0 in lattice.count:
            return [0, -1, 0, -1, 0, -1]
        first = [begin // distance for begin, distance in zip(lattice.first, lattice.distance)]
        return [end for begin, count in zip(first, lattice.count) for end in (begin, begin + count - 1)]

    def _fail(self, error, is_reported=True):
        self._error, self._plan = str(error), None
        if is_reported and self._reported != self._error:
            _say(error)
        self._reported = self._error
        return 1

    def RequestInformation(self, request, inInfo, outInfo):
        info, pipeline, ranks = outInfo.GetInformationObject(0), vtkStreamingDemandDrivenPipeline, _Ranks()
        for key in (pipeline.TIME_STEPS(), pipeline.TIME_RANGE()):
            info.Remove(key)
        info.Set(vtkAlgorithm.CAN_PRODUCE_SUB_EXTENT(), 1)
        info.Set(pipeline.WHOLE_EXTENT(), [0, -1, 0, -1, 0, -1], 6)
        self._error = ""
        if not self._files:
            return self._fail("IDXReader: no file was given")
        try:
            self._find_steps()
            if not self._steps:
                return self._fail(f"{self._files[0]}: no time steps yet")
            self._plan = self._choose(self._steps[self._index(info)][0], ranks.count)
            dataset = self._open[2]
            path, level, box, _ = self._plan
            extent = self._extent(dataset, level, box)
        except (parabat.BatError, OSError) as error:
            return self._fail(error, ranks.is_first)
        distance = dataset.lattice(level).distance
        info.Set(pipeline.WHOLE_EXTENT(), extent, 6)
        info.Set(vtkDataObject.ORIGIN(), dataset.origin.tolist(), 3)
        info.Set(vtkDataObject.SPACING(), (dataset.spacing * distance).tolist(), 3)
        if extent[1] < extent[0] and ranks.is_first:
            finer = dataset.first_level(box)
            self._warn(f"{path}: level {level} has no samples in the box; " + (
                "no level has one" if finer is None else f"level {finer} is the first with samples"))
        if dataset.warning and ranks.is_first:
            self._warn(f"{path}: {dataset.warning}")
        if len(self._times) > 1 or self._times != [0.0]:
            info.Set(pipeline.TIME_STEPS(), self._times, len(self._times))
            info.Set(pipeline.TIME_RANGE(), [self._times[0], self._times[-1]], 2)
        return 1

    def _warn(self, text):
        if text not in self._warned:
            self._warned.add(text)
            _say(text, "Warning")

    def RequestData(self, request, inInfo, outInfo):
        info = outInfo.GetInformationObject(0)
        output = vtkImageData.GetData(outInfo, 0)
        output.Initialize()
        if self._plan is None:
            return 1  # RequestInformation has said why
        extent = list(info.Get(vtkStreamingDemandDrivenPipeline.UPDATE_EXTENT()))
        index = self._index(info)
        self._error = ""
        # No messages: ranks are asked for extents, some of them for others than before while the rest have theirs.
        grid, error = _attempt(lambda: self._load(index, extent))
        if error:
            self._loaded = None
            return self._fail(error)
        self._reported = ""
        dataset, level = self._open[2], self._plan[1]
        output.SetOrigin(*dataset.origin)
        output.SetSpacing(*(dataset.spacing * dataset.lattice(level).distance))
        output.SetExtent(extent)
        for name, values in grid.items() if grid else ():
            array = _shared(values.reshape(int(np.prod(grid.lattice.count)), -1) if dataset.fields[name].components > 1
                            else values.reshape(-1))
            array.SetName(name)
            output.GetPointData().AddArray(array)
        path, step = self._steps[index]
        facts = {"level": level, "levels": dataset.levels, "samples": int(np.prod(dataset.lattice(level, self._plan[2]).count)),
                 "bytes_read": grid.bytes_read if grid else 0, "absent_blocks": grid.absent_blocks if grid else 0, "timestep": step}
        for name, number in facts.items():
            array = numpy_to_vtk(np.array([number], np.int64), deep=True)
            array.SetName(name)
            output.GetFieldData().AddArray(array)
        if self._times:
            output.GetInformation().Set(vtkDataObject.DATA_TIME_STEP(), self._times[index])
        if grid and grid.absent_blocks:
            self._warn(f"{path}: step {step}: {grid.absent_blocks} blocks are missing and have default values")
        return 1

    def _load(self, index, extent):
        """A Grid of the extent, None of an empty one. What a coarser level has is taken from there."""
        path, step = self._steps[index]
        level = self._plan[1]
        dataset = self._dataset(path)
        names = self._names(dataset)
        if extent[1] < extent[0] or extent[3] < extent[2] or extent[5] < extent[4] or not names:
            self._loaded = None
            return None
        distance = dataset.lattice(level).distance
        box = [extent[2 * axis + side] * distance[axis] for side in range(2) for axis in range(3)]
        question, coarse = (self._open[1], tuple(names), tuple(box), step), None
        if self._loaded and self._loaded[0] == question:
            if self._loaded[1] == level:
                return self._loaded[2]
            coarse = self._loaded[2] if self._loaded[1] < level else None
        grid = dataset.read(names, level=level, box=box, step=step, axes=3, coarse=coarse)
        self._loaded = question, level, grid
        return grid


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

    def union(self, found):
        """Combines the findings of all ranks, in JSON."""
        listed = [one for text in self.texts(json.dumps(found)) for one in json.loads(text)]
        return list(dict.fromkeys(tuple(one) if isinstance(one, list) else one for one in listed))


@_proxy_xml("BATWriter.xml", "BATWriterCore", "BATWriter", "writers", supports_parallel="1")
class BATWriter(_Algorithm):
    """Points of a data set, or rows of a table, with all their numeric arrays. The first process writes those of all."""

    # The options of parabat.write(), except those for many ranks and for arrays that are left out.
    OPTIONS = ("compression", "chunk_particles", "threads", "flush", "index_budget")

    def __init__(self):
        super().__init__(nInputPorts=1, nOutputPorts=0, inputType="vtkDataObject")
        self._path, self._columns, self._ghosts, self._indexes = "", dict.fromkeys("xyz", ""), False, []
        self._options, self._bounds, self._samples = {}, [], []
        self._had_particles = False  # in this step or one before
        self._warned = set()

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

    def AddStableSample(self, name):
        if name:
            self._samples.append(name)

    def ClearStableSamples(self):
        self._samples = []

    def AddErrorBound(self, text):
        if text:
            self._bounds.append(text)

    def ClearErrorBounds(self):
        self._bounds = []

    def SetBlockParticles(self, value):
        self._options["block_particles"] = value

    def SetTreeletParticles(self, value):
        self._options["treelet_particles"] = value

    def SetTextOption(self, name, value):
        value = value or ""
        self._options[name] = value.lower() if name == "compression" else value

    def SetIntegerOption(self, name, value):
        self._options[name] = value

    SetRealOption = SetIntegerOption

    def Write(self):
        self.Modified()
        self.Update()

    def RequestUpdateExtent(self, request, inInfo, outInfo):
        ranks, target = _Ranks(), inInfo[0].GetInformationObject(0)
        target.Set(vtkStreamingDemandDrivenPipeline.UPDATE_PIECE_NUMBER(), ranks.rank)
        target.Set(vtkStreamingDemandDrivenPipeline.UPDATE_NUMBER_OF_PIECES(), ranks.count)
        target.Set(vtkStreamingDemandDrivenPipeline.UPDATE_NUMBER_OF_GHOST_LEVELS(), 0)
        return 1

    def RequestData(self, request, inInfo, outInfo):
        data, ranks, remarks = vtkDataObject.GetData(inInfo[0], 0), _Ranks(), vtk_input.Remarks()
        places, error = _attempt(lambda: vtk_input.places_of(data))
        error = ranks.agree(error)
        if not error:
            grids, error = _attempt(lambda: vtk_input.leaves_out_grids(places, ranks))
            self._had_particles = self._had_particles or bool(grids)
        if not error:
            converted, error = _attempt(lambda: self._convert(data, remarks))
            self._warn(ranks.union(remarks.lines()), ranks.is_first)
            error = ranks.agree(error)
        if not error:
            count, schema, columns, facts = converted
            information, target = inInfo[0].GetInformationObject(0), vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP()
            if information.Has(target):
                facts.setdefault("time", information.Get(target))
            error = self._write(ranks, count, schema, columns, facts)
        if error and ranks.is_first:
            _say(error if not self._path or self._path in error else f"{self._path}: {error}")
        return 0 if error else 1

    def _warn(self, lines, is_first):
        """Each text once, however many time steps this writes."""
        for key, line in lines:
            if key not in self._warned and is_first:
                _say(f"{self._path}: {line}", "Warning")
            self._warned.add(key)

    def _convert(self, data, remarks):
        leaves = list(vtk_input.leaves_of(data))
        facts = vtk_input.collect_facts(data, [leaf for leaf, _, _ in leaves], remarks) if data else {}
        return (*vtk_input.joined(self._blocks(data, leaves, remarks)), facts)

    def _blocks(self, data, leaves, remarks):
        """Returns the blocks that are written."""
        blocks = []
        for number, (leaf, name, _) in enumerate(leaves):
            label, kind = "", vtk_input.kind_of(leaf)
            if isinstance(data, vtkCompositeDataSet):
                label = f"block {number}" + (f" ({name})" if name else "")
                if kind not in ("particles", "nothing", "grid"):
                    remarks.add(label, f"is a {kind}, which is not written; particles are points (vtkPointSet) or rows "
                                       "of a table (vtkTable)")
                    continue
                if kind == "grid" and self._had_particles:
                    remarks.add(label, f"is a grid, which is not written alongside particles: {', '.join(vtk_input.cells_beside_vertices(leaf))}")
                    continue
            blocks.append(vtk_input.Block(leaf, label, self._columns, self._ghosts, remarks))
        return blocks

    def _write(self, ranks, count, schema, columns, facts):
        """Text of an error, the same on all ranks."""
        if not self._path:
            return "FileName must be set"
        # All ranks that have particles must have the schema of the first of them.
        described = [json.loads(text) for text in ranks.texts(json.dumps([count, schema, facts]))]
        reference = next((rank for rank, (there, _, _) in enumerate(described) if there), 0)
        _, target, facts = described[reference]
        for rank, (there, other, _) in enumerate(described):
            if there:
                _, error = _attempt(lambda: vtk_input.check_same(target, other, f"rank {reference}", f"rank {rank}"))
                if not error and other[0] != target[0]:
                    error = f"positions are {other[0][1]} on rank {rank} and {target[0][1]} on rank {reference}"
                if error:
                    return error
        gathered = {}
        for name, dtype, components in target:
            gathered[name] = ranks.gather(
                columns[name] if count else np.empty((0, components) if components > 1 else 0, dtype))
        error = ""
        if ranks.is_first:
            positions = gathered.pop("")
            _, error = _attempt(lambda: parabat.write(
                self._path, positions, gathered, sorted_indexes=self._indexes, stable_samples=self._samples,
                error_bounds=self._bounds, **self._options, **facts))
        return ranks.agree(error)


class _Grid:
    """The grid whose pieces are the images of all ranks; `found` has the facts of each, in the order of ranks."""

    def __init__(self, found, samples):
        self.cells = samples == 2 or (samples == 0 and not any(one["points"] for one in found))
        reference = found[0]
        first = [min(one["extent"][2 * axis] for one in found) for axis in range(3)]
        # Numbers of extents are those of samples, unless pieces count from places of their own.
        self.uses_extents = min(first) >= 0 and all(one["origin"] == reference["origin"] for one in found)
        self.origin, self.spacing, self.flat = [], [], []
        for axis in range(3):
            unit = reference["spacing"][axis]
            ends = [[one["origin"][axis] + one["extent"][2 * axis + side] * one["spacing"][axis] for one in found]
                    for side in range(2)]
            self.flat.append(max(ends[1]) - min(ends[0]) < 0.5 * unit)
            self.spacing.append(unit if unit > 0 or not self.flat[axis] else 1.0)
            self.origin.append(reference["origin"][axis] if self.uses_extents else min(ends[0]))

    def where(self):
        """Returns the position of sample (0, 0, 0): centres of cells are half a spacing after points."""
        return [start + (0.5 * unit if self.cells and not flat else 0.0)
                for start, unit, flat in zip(self.origin, self.spacing, self.flat)]

    def shift(self, about):
        """Returns the offset from indexes of a piece's extent to those of all samples."""
        shifts = []
        for axis in range(3):
            unit, name = self.spacing[axis], "xyz"[axis]
            count = about["extent"][2 * axis + 1] - about["extent"][2 * axis] + 1
            if not self.flat[axis] and not abs(about["spacing"][axis] - unit) * count <= 1e-3 * unit:
                raise parabat.BatValueError(9, f"{about['label']}spacing {about['spacing'][axis]:g} along {name}, and {unit:g} elsewhere; all pieces of "
                                               "a grid must have the same spacing")
            number = 0.0 if self.uses_extents else (about["origin"][axis] - self.origin[axis]) / unit
            if not abs(number - round(number)) <= 1e-3 or abs(number) > 1e15:
                raise parabat.BatValueError(9, f"{about['label']}lies {number - math.floor(number):g} of a spacing off the samples of other pieces "
                                               f"along {name}; all pieces of a grid must lie on one lattice")
            shifts.append(round(number))
        return shifts


@_proxy_xml("IDXWriter.xml", "IDXWriterCore", "IDXWriter", "writers", supports_parallel="1")
class IDXWriter(_Algorithm):
    """An image, or pieces of one, with all their numeric arrays. The first process writes those of all."""

    DUPLICATE, HIDDEN = 1, (2, 32)  # vtkDataSetAttributes: of points and cells; of points, of cells

    def __init__(self):
        super().__init__(nInputPorts=1, nOutputPorts=0, inputType="vtkDataObject")
        self._path, self._samples, self._zeros, self._step = "", 0, False, -1
        self._options = {"mode": "replace", "codec": "raw", "zip_level": 6, "layout": "row_major", "dialect": "openvisus",
                         "file_bytes": 64 << 20, "bits_per_block": 0, "threads": 0, "flush": True}

    def SetFileName(self, name):
        self._path = name or ""
        self.Modified()

    def SetOtherSteps(self, value):
        self._options["mode"] = ("replace", "add_step")[value]

    def SetCompression(self, value):
        self._options["codec"] = ("raw", "zip", "lz4")[value]

    def SetZipLevel(self, value):
        self._options["zip_level"] = value

    def SetLayout(self, value):
        self._options["layout"] = "hz" if value else "row_major"
        self._options["dialect"] = "pidx" if value == 2 else "openvisus"

    def SetSamples(self, value):
        self._samples = value

    def SetMissingSamples(self, value):
        self._zeros = bool(value)

    def SetFileSize(self, value):
        self._options["file_bytes"] = max(1, int(value * (1 << 20)))

    def SetBitsPerBlock(self, value):
        self._options["bits_per_block"] = value

    def SetThreads(self, value):
        self._options["threads"] = value

    def SetFlush(self, value):
        self._options["flush"] = bool(value)

    def SetTimeStep(self, value):
        self._step = value

    def Write(self):
        self.Modified()
        self.Update()

    RequestUpdateExtent = BATWriter.RequestUpdateExtent

    def RequestData(self, request, inInfo, outInfo):
        data, ranks = vtkDataObject.GetData(inInfo[0], 0), _Ranks()
        found, error = _attempt(lambda: self._images(data))
        error = ranks.agree(error)
        if not error:
            images, facts = found
            described = [json.loads(text) for text in ranks.texts(json.dumps([[about for _, about in images], facts]))]
            abouts = [about for own, _ in described for about in own]
            grid = _Grid(abouts, self._samples) if abouts else None
            pieces, error = _attempt(lambda: [piece for image in images for piece in self._piece(*image, grid)])
            error = ranks.agree(error)
        if not error:
            facts = next((each for _, each in described if each), {})
            information, target = inInfo[0].GetInformationObject(0), vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP()
            if information.Has(target):
                facts.setdefault("time", information.Get(target))
            error = self._write(ranks, pieces, grid, facts)
        if error and ranks.is_first:
            _say(error if not self._path or self._path in error else f"{self._path}: {error}")
        return 0 if error else 1

    @staticmethod
    def _images(data):
        """[(image, facts of it)], and time and step of the data."""
        images, leaves = [], list(vtk_input.leaves_of(data))
        for number, (leaf, name, _) in enumerate(leaves):
            label = "" if leaf is data else f"block {number}" + (f" ({name})" if name else "") + ": "
            if leaf is None or leaf.GetNumberOfElements(vtkDataObject.POINT) + leaf.GetNumberOfElements(vtkDataObject.ROW) == 0:
                continue
            if not isinstance(leaf, vtkImageData):
                raise parabat.BatValueError(9, f"{label}a {leaf.GetClassName()} cannot be written; grids are images with uniform spacing (vtkImageData, "
                                               "vtkUniformGrid)")
            if not leaf.GetDirectionMatrix().IsIdentity():
                raise parabat.BatValueError(9, f"{label}the image is rotated (direction matrix); the axes of a grid must be x, y and z")
            images.append((leaf, {
                "label": label, "extent": list(leaf.GetExtent()), "origin": list(leaf.GetOrigin()),
                "spacing": list(leaf.GetSpacing()), "points": bool(IDXWriter._arrays(leaf.GetPointData()))}))
        facts = vtk_input.collect_facts(data, [leaf for leaf, _, _ in leaves if leaf], vtk_input.Remarks()) if data else {}
        return images, {name: facts[name] for name in ("time", "step") if name in facts}

    @staticmethod
    def _arrays(fields):
        found = [fields.GetAbstractArray(i) for i in range(fields.GetNumberOfArrays())]
        return [one for one in found if one.GetName() != "vtkGhostType"]

    def _piece(self, image, about, grid):
        """[(lower x, y, z, {name: (nz, ny, nx, components)})], or none of an image without samples."""
        fields = image.GetCellData() if grid.cells else image.GetPointData()
        extent = [end - (side and grid.cells and not grid.flat[axis]) for axis in range(3) for side, end in enumerate(
            about["extent"][2 * axis:2 * axis + 2])]
        shape = [extent[2 * axis + 1] - extent[2 * axis] + 1 for axis in (2, 1, 0)]
        if min(shape) < 1:
            return []
        shift, label = grid.shift(about), about["label"]
        marks = [fields.GetArray("vtkGhostType") for fields in (image.GetPointData(), image.GetCellData())]
        marks = [None if one is None else vtk_to_numpy(one) for one in marks]
        hidden, own = None, tuple(slice(0, count) for count in shape)
        if any(one is not None and (one & mark).any() for one, mark in zip(marks, self.HIDDEN)):
            if not self._zeros:
                raise parabat.BatValueError(9, f"{label}samples are hidden (vtkGhostType), which files cannot represent; use MissingSamples = Zeros to "
                                               "write them as zeros")
        local = marks[grid.cells]
        if local is not None and local.size == shape[0] * shape[1] * shape[2]:
            local = local.reshape(shape)
            hidden = (local & self.HIDDEN[grid.cells]) != 0
            kept = np.nonzero((local & self.DUPLICATE) == 0)
            box = tuple(slice(int(at.min()), int(at.max()) + 1) for at in kept) if len(kept[0]) else own
            if len(kept[0]) == math.prod(part.stop - part.start for part in box):  # duplicates can be cut off
                own = box
        arrays = {}
        for one in self._arrays(fields):
            name = one.GetName() or ""
            if not isinstance(one, vtkDataArray) or one.GetDataTypeAsString() == "bit":
                raise parabat.BatValueError(9, f"{label}array '{name}' has type {one.GetDataTypeAsString()}; allowed are integers of 8 to 64 bits, "
                                               "float and double")
            values = vtk_to_numpy(one).reshape(*shape, one.GetNumberOfComponents())
            if hidden is not None and hidden.any():
                values = np.where(hidden[..., None], values.dtype.type(0), values)
            arrays[name] = values[own]
        lower = [extent[2 * axis] + shift[axis] + own[2 - axis].start for axis in range(3)]
        return [(lower, arrays)]

    def _write(self, ranks, pieces, grid, facts):
        """Text of an error, the same on all ranks."""
        if not self._path:
            return "FileName must be set"
        listed = [json.loads(text) for text in ranks.texts(json.dumps([
            (lower, next(iter(arrays.values())).shape[:3] if arrays else (0, 0, 0),
             [(name, values.dtype.str, values.shape[3]) for name, values in arrays.items()]) for lower, arrays in pieces]))]
        schema = next((fields for own in listed for _, _, fields in own), None)
        if schema is None:
            return "no process has samples; grids are images (vtkImageData)"
        if not schema:
            return "no arrays to write"
        if any(fields != schema for own in listed for _, _, fields in own):
            return "the arrays of some blocks differ in name, type or components from those of the first; all blocks of a grid " \
                   "must have the same arrays"
        boxes = [(lower, shape) for own in listed for lower, shape, _ in own]
        first = [min(lower[axis] for lower, _ in boxes) for axis in range(3)]
        whole = [max(lower[axis] + shape[2 - axis] for lower, shape in boxes) - first[axis] for axis in (2, 1, 0)]
        fields = {}
        for name, dtype, components in schema:
            own = np.concatenate([arrays[name].reshape(-1, components) for _, arrays in pieces] or [
                np.empty((0, components), dtype)])
            gathered, error = ranks.gather(own), ""
            if ranks.is_first:
                fields[name], error = _attempt(lambda values=gathered, kind=(dtype, components): self._joined(
                    values, kind, boxes, first, whole))
            error = ranks.agree(error)
            if error:
                return error
        if ranks.is_first:
            step = facts.get("step", self._step)
            _, error = _attempt(lambda: parabat.idx.write(
                self._path, fields, first=first, origin=grid.where(), spacing=grid.spacing, axes=3,
                step=max(0, int(step)), time=facts.get("time"), **self._options))
        return ranks.agree(error)

    def _joined(self, values, kind, boxes, first, whole):
        """One array of all pieces; samples that several have are those of the first."""
        dtype, components = kind
        if len(boxes) == 1:
            return values.reshape(*whole, components)
        joined, known, end = np.zeros((*whole, components), dtype), np.zeros(whole, bool), len(values)
        for lower, shape in reversed(boxes):
            count = math.prod(shape)
            place = tuple(slice(lower[axis] - first[axis], lower[axis] - first[axis] + shape[2 - axis]) for axis in (2, 1, 0))
            joined[place] = values[end - count:end].reshape(*shape, components)
            known[place], end = True, end - count
        if not known.all() and not self._zeros:
            z, y, x = np.argwhere(~known)[0] + np.array(first[::-1])
            raise parabat.BatValueError(9, f"no piece has the sample {x} {y} {z}, which others surround; use MissingSamples = Zeros to write such "
                                           "samples as zeros")
        return joined
