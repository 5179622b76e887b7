# SPDX-License-Identifier: BSD-3-Clause
"""openPMD in ADIOS2 (BP4, BP5), JSON and TOML, read with openpmd-api; iterations may be groups, files or steps. HDF5 is read
with h5py (openpmd_files.py). Records are converted in the same way.
"""

import os
import re

import numpy as np

from ..hdf5 import check_links
from ..model import ConvertError, Format, Step, check_memory, listed
from .openpmd_files import read_species

EXTENSIONS = (".bp", ".bp4", ".bp5")


class _Node:
    """Presents records and components of openpmd-api to openpmd.py like an h5py group."""

    def __init__(self, series, name, own, children=()):
        self.name = name
        self.file = series
        self.own = own
        self.children = dict(children)
        self.attrs = {} if own is None else {key: own.get_attribute(key) for key in own.attributes}

    def keys(self):
        return self.children.keys()

    def items(self):
        return self.children.items()

    def values(self):
        return self.children.values()

    def __iter__(self):
        return iter(self.children)

    def __contains__(self, name):
        return name in self.children

    def __getitem__(self, name):
        return self.children[name]


class _Array(_Node):
    """Presents a component like an h5py array."""

    is_array = True

    def __init__(self, series, name, own):
        super().__init__(series, name, own)
        self.shape = tuple(own.shape)
        self.attrs["unitSI"] = own.unit_SI
        self.dtype = own.dtype
        if own.constant and own.shape:  # the standard's form in HDF5: a group with the value
            self.is_array = False
            self.attrs["shape"] = np.array(own.shape)
            self.attrs["value"] = self._load([0], [1])[0] if all(own.shape) else self.dtype.type(0)

    def _load(self, offset, extent):
        values = self.own.load_chunk(offset, extent)
        self.file.series.flush()
        return values

    def read(self, part, _remarks):
        count = part.stop - part.start
        check_memory(f"{self.name}: claims {self.shape[0]} values of {self.dtype}", count * self.dtype.itemsize)
        return self._load([part.start], [count]) if count else np.empty(0, self.dtype)


class _Series:
    def __init__(self, path, series):
        self.filename = path
        self.series = series


def steps(path, options):
    import openpmd_api as io  # pylint: disable=import-outside-toplevel
    if os.path.isfile(path):
        check_links(path, options)
    try:
        series = io.Series(path, io.Access.read_only, '{"defer_iteration_parsing": true}')
        numbers = list(series.iterations)
    except Exception as error:  # of many types  pylint: disable=broad-except
        raise ConvertError(f"openpmd-api cannot read it: {' '.join(str(error).split())[:300]}") from None
    if not str(series.openPMD).startswith("1."):
        raise ConvertError(f"is openPMD {series.openPMD}; supported: 1.x")
    lost, empty, is_any = [], [], False
    for number in numbers:
        iteration = series.iterations[number]
        iteration.open()
        if "closed" in iteration.attributes and not iteration.get_attribute("closed"):
            lost.append(str(number))
            continue
        if not list(iteration.particles):
            empty.append(str(number))
            continue
        is_any = True
        time = float(iteration.time) * float(iteration.time_unit_SI) if "time" in iteration.attributes else None
        yield Step(lambda iteration=iteration, time=time: read_species(
            _particles(io, path, series, iteration), options, lost, time is not None), int(number), time)
        iteration.close()
    if not is_any:
        raise ConvertError("no complete iteration with particles: " + (
            f"{listed(lost)} {'are' if lost[1:] else 'is'} not closed: the simulation has not finished writing" if lost else
            f"{listed(empty)} {'have' if empty[1:] else 'has'} no particles" if empty else "there are no iterations"))


def _particles(io, path, series, iteration):
    about = _Series(path, series)
    found = {}
    for name, species in iteration.particles.items():
        records = {}
        for key, record in species.items():
            where = f"{name}/{key}"
            if record.scalar:
                records[key] = _Array(about, where, record[io.Record_Component.SCALAR])
                records[key].attrs["unitDimension"] = np.array(record.unit_dimension)
            else:
                records[key] = _Node(about, where, None, {
                    axis: _Array(about, f"{where}/{axis}", component) for axis, component in record.items()})
                records[key].attrs = {"unitDimension": np.array(record.unit_dimension)}
        found[name] = _Node(about, name, None, records)
    return found


def _sniff(head, path):
    """Recognizes ADIOS2 folders by name, since their content differs between versions."""
    return (os.path.isdir(path) and path.rstrip("/").lower().endswith(EXTENSIONS)) or (
        path.lower().endswith((".json", ".toml")) and re.search(rb"openPMD", head) is not None)


FORMAT = Format("openpmd-adios", "openPMD in ADIOS2 (BP), JSON, TOML", steps, extensions=EXTENSIONS,
                modules=(("openpmd_api", "openpmd-api", "openpmd"),), sniff=_sniff, options=("follow_links",))
