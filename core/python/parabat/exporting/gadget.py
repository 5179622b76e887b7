# SPDX-License-Identifier: BSD-3-Clause
"""Gadget snapshots in HDF5 with one PartType: the one in the metadata, otherwise PartType1.

The header contains the time and the box size, and any header, units and cosmology of a converted snapshot that the
metadata contain. Ids, velocities and masses get Gadget's names.
"""

import re

import numpy as np

from ..errors import refuse
from ..export import needed
from .source import IDS, MASSES, VELOCITIES, create_hdf5, hdf5_name, unique_names

TYPES = 6
OWN = ("NumPart_ThisFile", "NumPart_Total", "NumPart_Total_HighWord", "NumFilesPerSnapshot", "Time", "BoxSize", "MassTable")
GROUPS = ("Units", "Cosmology")


def write_gadget(source, path):
    h5py = needed("h5py", "export to Gadget HDF5")
    number = re.fullmatch(r"PartType(\d)", str(source.metadata.get("species", "")))
    number = int(number[1]) if number and int(number[1]) < TYPES else 1
    renamed = {source.find(IDS, kinds="iu"): "ParticleIDs", source.find(VELOCITIES, 3, "f"): "Velocities",
               source.find(MASSES, 1, "f"): "Masses"}
    about = source.program("gadget")
    with create_hdf5(h5py, path) as file:
        header = file.create_group("Header")
        for name, value in (about.get("Header") or {}).items():
            if name not in OWN:
                _set(header, name, value)
        _counts(header, number, source.count)
        if source.time is not None:
            header.attrs["Time"] = float(source.time)
        else:
            source.note("the dataset has no time, so the header has none")
        header.attrs["BoxSize"] = _box_size(source)
        for name in GROUPS:
            group = file.create_group(name) if isinstance(about.get(name), dict) else None
            for key, value in about[name].items() if group is not None else ():
                _set(group, key, value)
        group = file.create_group(f"PartType{number}")
        group["Coordinates"] = source.positions
        _set_unit(group["Coordinates"], source.units.get("positions"))
        for written, name in unique_names(source, lambda name: renamed.get(name, hdf5_name(name)), taken=("Coordinates",),
                                          expected=renamed.values()):
            group[written] = source.attributes[name]
            _set_unit(group[written], source.units.get(name))
    source.has_no_place("a Gadget snapshot", "step")
    source.has_only_codes("a Gadget snapshot")


def _set_unit(node, unit):
    """Writes SWIFT's attribute for expressions such as "a [ cm ]", otherwise `Units`."""
    if isinstance(unit, str):
        node.attrs["Expression for physical CGS units" if "[" in unit else "Units"] = unit


def _set(group, name, value):
    are_numbers = isinstance(value, list) and value and all(isinstance(each, (int, float)) for each in value)
    if are_numbers or isinstance(value, (str, int, float)):
        try:
            group.attrs[name] = value
        except (TypeError, OverflowError, ValueError):  # integers with more than 64 bits
            refuse(f"{group.name}: the metadata have the value {str(value)[:60]} of {name}, which HDF5 cannot store")


def _counts(header, number, count):
    counts = np.zeros(TYPES, np.uint64)
    counts[number] = count
    header.attrs["NumPart_ThisFile"] = counts if count >= 1 << 31 else counts.astype(np.int32)
    header.attrs["NumPart_Total"] = (counts & np.uint64(0xffffffff)).astype(np.uint32)
    header.attrs["NumPart_Total_HighWord"] = (counts >> np.uint64(32)).astype(np.uint32)
    header.attrs["NumFilesPerSnapshot"] = np.int32(1)
    header.attrs["MassTable"] = np.zeros(TYPES)


def _box_size(source):
    """Returns the length of a periodic cube at the origin, three lengths for another box there, or 0 without a box."""
    box = source.box
    if box is None:
        source.note("the dataset has no box; BoxSize is 0")
        return 0.0
    lengths = np.diag(box.edges)
    if np.any(box.origin) or not np.array_equal(np.diag(lengths), box.edges) or not all(box.periodic):
        source.note("not written: the box, since a Gadget box begins at the origin, has right angles and is periodic along all "
                    "axes")
        return 0.0
    return float(lengths[0]) if len(set(lengths.tolist())) == 1 else lengths
