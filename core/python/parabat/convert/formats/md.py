# SPDX-License-Identifier: BSD-3-Clause
"""Trajectories of molecular dynamics that MDAnalysis reads, in the units and the precision of the file.

--topology names a file with what is known of the atoms (names, types, masses, charges); nothing is guessed. Texts become
numbers, which the metadata explains. `index` is the place of an atom in the file.
"""

import os
import struct
import tempfile
import warnings

import numpy as np

from ..hdf5 import check_links
from ..model import Collector, ConvertError, Format, Step, check_memory, codes_of

OF_ATOMS = ("ids", "names", "types", "elements", "masses", "charges", "radii", "occupancies", "tempfactors", "resids",
            "resnames", "segids")
EXTENSIONS = (".xtc", ".trr", ".dcd", ".gro")
ALONE = (".gro", ".pdb", ".ent", ".crd", ".mol2", ".xyz", ".pqr", ".pdbqt")  # what is its own topology


def steps(path, options):
    import MDAnalysis  # pylint: disable=import-outside-toplevel
    check_links(path, options)
    _check_claim(path)
    # MDAnalysis writes where the frames begin beside the trajectory: that is a link, in a folder that goes.
    with tempfile.TemporaryDirectory(prefix="parabat_md_") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        link = os.path.join(folder, os.path.basename(path))
        os.symlink(os.path.abspath(path), link)
        try:
            atoms, trajectory = _open(MDAnalysis, link, options)
        except Exception as error:  # pylint: disable=broad-except
            text = " ".join(str(error).split()).replace(link, os.path.basename(path))
            raise ConvertError(f"MDAnalysis cannot read it: {text[:300] or type(error).__name__}") from None
        with trajectory:
            for i in range(len(trajectory)):
                step = Step(None)
                step._read = lambda i=i, step=step: [_read(atoms, trajectory, i, options, step)]  # pylint: disable=protected-access
                yield step
            _check_end(path, trajectory)


def _check_claim(path):
    """MDAnalysis makes room for all atoms that an .xtc claims to have, of which each takes a bit at least."""
    if not path.lower().endswith(".xtc"):
        return
    with open(path, "rb") as file:
        head = file.read(8)
    atoms = int.from_bytes(head[4:], "big", signed=True)
    size = os.path.getsize(path)
    if atoms > 8 * size:
        raise ConvertError(f"claims {atoms} atoms, which do not fit in its {size} bytes: the file is truncated or damaged")
    check_memory(f"claims {atoms} atoms", 12 * atoms)


def _open(library, path, options):
    """Atoms, or None, and the trajectory."""
    topology = options.topology or (path if path.lower().endswith(ALONE) else None)
    if topology:
        universe = library.Universe(topology, path, convert_units=False, to_guess=())
        return universe.atoms, universe.trajectory
    from MDAnalysis.coordinates.core import reader  # pylint: disable=import-outside-toplevel
    return None, reader(path, convert_units=False)


def _check_end(path, trajectory):
    """MDAnalysis passes over a last frame that is cut."""
    size = os.path.getsize(path)
    kind = os.path.splitext(path)[1].lower()
    with open(path, "rb") as file:
        if kind == ".dcd":
            end = _find_records_end(file, size)
        elif kind in (".xtc", ".trr"):
            start = int(trajectory._xdr.offsets[-1])  # pylint: disable=protected-access
            file.seek(start)
            end = start + (_xtc_frame if kind == ".xtc" else _trr_frame)(file.read(256))
        else:
            return
    if end != size:
        raise ConvertError(f"contains {len(trajectory)} complete frames; the data at its end, byte {size}, is not a frame: the file is truncated or "
                           "damaged")


def _find_records_end(file, size):
    """Where the records of Fortran end that a file is made of; -1 if they do not fit."""
    order = {b"\x54\0\0\0": "little", b"\0\0\0\x54": "big"}.get(file.read(4))
    if order is None:  # with lengths of 64 bits, which few programs write
        return size
    place = 0
    while place < size:
        file.seek(place)
        length = int.from_bytes(file.read(4), order)
        file.seek(place + 4 + length)
        if int.from_bytes(file.read(4), order) != length or place + 8 + length > size:
            return -1
        place += 8 + length
    return place


def _xtc_frame(head):
    """Bytes of a frame, from its first ones."""
    magic, atoms = struct.unpack(">ii", head[:8])
    if atoms <= 9:
        return 56 + 12 * atoms
    if magic == 1995:
        size, start = struct.unpack(">i", head[88:92])[0], 92
    else:  # 2023, of more than 2^31 bytes
        size, start = struct.unpack(">q", head[88:96])[0], 96
    return start + (size + 3) // 4 * 4


def _trr_frame(head):
    sizes = struct.unpack(">13i", head[24:76])
    box, positions, velocities, forces, atoms = sizes[2], *sizes[7:10], sizes[10]
    real = box // 9 if box else (positions or velocities or forces) // (3 * atoms)
    return 76 + 2 * real + sum(sizes[:10])


def _read(atoms, trajectory, i, options, step):
    frame = trajectory[i]
    if not frame.has_positions:
        raise ConvertError(f"frame {i}: has no positions")
    collector = Collector(options, frame.n_atoms)
    collector.add("index", np.arange(frame.n_atoms, dtype=np.int64))
    for name, there in (("velocities", frame.has_velocities), ("forces", frame.has_forces)):
        if there and collector.wants(name):
            collector.add(name, np.array(getattr(frame, name)))
    texts = {}
    for name in OF_ATOMS if atoms is not None else ():
        try:
            values = getattr(atoms, name)
        except Exception:  # of several kinds, by version: the topology does not have it  pylint: disable=broad-except
            continue
        if not collector.wants(name):
            continue
        if np.asarray(values).dtype.kind in "OSU":
            values, texts[name] = codes_of([str(value) for value in values])
            collector.remarks.append((f"texts {name}", f"'{name}' is converted to numbers; the metadata contains their texts"))
        collector.add(name, np.array(values))
    about = {"md": {"box": frame.dimensions, "units": getattr(trajectory, "units", None), "texts": texts}}
    if "step" in frame.data:
        step.number = int(frame.data["step"])
        step.time = float(frame.time)
    return collector.particles(np.array(frame.positions), about)


FORMAT = Format("md", "trajectories readable by MDAnalysis", steps, extensions=EXTENSIONS,
                modules=(("MDAnalysis", "MDAnalysis", "md"),), options=("topology", "follow_links"))
