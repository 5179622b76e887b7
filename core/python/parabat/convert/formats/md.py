# SPDX-License-Identifier: BSD-3-Clause
"""Molecular dynamics trajectories, read by MDAnalysis in the units and the precision of the file.

--topology names a file with properties of the atoms (names, types, masses, charges); nothing is guessed. Texts become codes,
which the metadata explains. `index` is the index of an atom in the file. Steps and times are taken from the file:

    .xtc, .trr   step and time of each frame
    .dcd         step = istart + i * nsavc; time = step * delta, which is in AKMA units of 48.89 fs and becomes ps; neither if
                 nsavc is 0
    others       as MDAnalysis finds them in a frame, but not the default values that it makes up for files without them

Separate formats read .gro, .pdb and Amber netCDF with all decimals; --format md without --topology also uses them.
"""

import contextlib
import gc
import io
import os
import struct
import sys
import tempfile
import traceback
import warnings

import numpy as np

from .. import cells
from ..hdf5 import check_links
from ..model import HEAD, Collector, ConvertError, Format, Step, check_memory, codes_of
from ..streams import open_stream
from . import amber, gro, pdb

OF_ATOMS = ("ids", "names", "types", "elements", "masses", "charges", "radii", "occupancies", "tempfactors", "resids",
            "resnames", "segids")
EXTENSIONS = (".xtc", ".trr", ".dcd")
ALONE = (".gro", ".pdb", ".ent", ".crd", ".mol2", ".xyz", ".pqr", ".pdbqt")  # formats that contain the topology
AKMA_PS = 4.888821e-2  # the time unit of CHARMM in ps, with the value that MDAnalysis uses


def steps(path, options):
    own = None if options.topology else _own_format(path)
    if own is not None:
        yield from own.steps(path, options)
        return
    import MDAnalysis  # pylint: disable=import-outside-toplevel
    check_links(path, options)
    kind = _kind(path)
    _check_claim(path, kind)
    # MDAnalysis writes a frame index next to the trajectory, so it gets a link in a temporary folder.
    with tempfile.TemporaryDirectory(prefix="parabat_md_") as folder:
        link = os.path.join(folder, os.path.basename(path) + ("" if path.lower().endswith(kind) else kind))
        os.symlink(os.path.abspath(path), link)
        with _errors(link, path):
            atoms, trajectory = _open(MDAnalysis, link, options, kind == ".dcd" and _has_no_steps(path))
        try:
            find = _clock(path, kind, trajectory)
            for i in range(len(trajectory)):
                with _errors(link, path):
                    number, time = find(i)
                yield Step(lambda i=i: [_read(atoms, trajectory, i, options, link, path)], number, time)
            _check_end(path, kind, trajectory)
        finally:
            with _quiet():
                trajectory.close()


def _own_format(path):
    """Returns the format of a file that can be read without MDAnalysis, or None."""
    with open_stream(path) as stream:
        head = stream.peek(HEAD)
    return next((row for row in (gro.FORMAT, *pdb.FORMATS, *amber.FORMATS) if row.sniff(head, path)), None)


@contextlib.contextmanager
def _quiet():
    """Suppresses stderr output of MDAnalysis: warnings, and tracebacks of objects that it could not initialize."""
    hook, sys.unraisablehook = sys.unraisablehook, lambda unraisable: None
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.unraisablehook = hook


@contextlib.contextmanager
def _errors(link, path):
    """Turns errors of MDAnalysis into a one-line ConvertError."""
    with _quiet():
        try:
            yield
        except (ConvertError, MemoryError):
            raise
        except Exception as error:  # pylint: disable=broad-except
            text = " ".join(str(error).split()) or type(error).__name__
            for name in (link, os.path.basename(link)):
                text = text.replace(name, os.path.basename(path))
            while error is not None:  # frees incomplete readers, whose destructors write to stderr
                traceback.clear_frames(error.__traceback__)
                error = error.__context__
        else:
            return
        gc.collect()
    raise ConvertError(f"MDAnalysis cannot read it: {text[:300]}")


def _kind(path):
    """Returns the extension for the kind of trajectory, detected by content for those known here."""
    with open(path, "rb") as file:
        return _kind_of_content(file.read(HEAD)) or os.path.splitext(path)[1].lower()


def _kind_of_content(head):
    if head[4:8] in (b"CORD", b"VELD") and head[:4] in (b"\x54\0\0\0", b"\0\0\0\x54"):
        return ".dcd"
    if head[:4] == b"\0\0\x07\xc9" and head[12:24] == b"GMX_trn_file":
        return ".trr"
    # A magic number, and the number of atoms, which is repeated after step, time and box.
    if head[:4] in (b"\0\0\x07\xcb", b"\0\0\x07\xe7") and head[4:8] == head[52:56] != b"":
        return ".xtc"
    return ""


def _clock(path, kind, trajectory):
    """Returns a function that finds the (step, time) of frame i stored in the file."""
    if kind in (".xtc", ".trr"):
        offsets = trajectory._xdr.offsets  # pylint: disable=protected-access
        return lambda i: _xdr_clock(path, kind, int(offsets[i]))
    if kind == ".dcd":
        istart, nsavc, delta = _dcd_header(path) or (0, 0, 0.0)
        return lambda i: _dcd_clock(istart, nsavc, delta, i)

    def of_frame(i):
        data = trajectory[i].data
        time = None if "LAMMPSDUMP" in trajectory.format else data.get("time")  # for these, step times a default of 1 ps
        return (int(data["step"]) if "step" in data else None), None if time is None else float(time)
    return of_frame


def _xdr_clock(path, kind, offset):
    with open(path, "rb") as file:
        file.seek(offset)
        head = file.read(100)
    if kind == ".xtc":
        return struct.unpack(">if", head[8:16])
    is_double = _trr_real(head) == 8
    return struct.unpack(">i", head[68:72])[0], struct.unpack(">d" if is_double else ">f", head[76:84 if is_double else 80])[0]


def _dcd_header(path):
    """Returns (istart, nsavc, delta), or None unless it is a DCD header. MDAnalysis does not swap the bytes of delta."""
    with open(path, "rb") as file:
        head = file.read(100)
    for order in "<>":
        for length in "iq":  # type of record lengths
            start = struct.calcsize(order + length)
            if len(head) >= start + 84 and head[start:start + 4] in (b"CORD", b"VELD") and \
                    struct.unpack_from(order + length, head)[0] == 84:
                numbers = struct.unpack_from(f"{order}20i", head, start + 4)
                delta, = struct.unpack_from(order + ("f" if numbers[19] else "d"), head, start + 40)  # CHARMM, X-PLOR
                return numbers[1], numbers[2], delta
    return None


def _dcd_clock(istart, nsavc, delta, i):
    step = istart + i * nsavc if nsavc > 0 else None
    return step, None if step is None or not 0 < delta < np.inf else step * _rounded(delta)


def _rounded(delta):
    """Returns a time step in ps: the shortest decimal number that gives the same float32 in AKMA units."""
    exact = delta * AKMA_PS
    for digits in range(1, 10):
        value = float(f"{exact:.{digits}g}")
        if np.float32(value / AKMA_PS) == np.float32(delta):
            return value
    return exact


def _check_claim(path, kind):
    """Raises for an .xtc or .dcd that claims more atoms than it can have; MDAnalysis allocates memory for all of them."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        head = file.read(1 << 16)
    if kind == ".xtc":
        atoms, smallest = int.from_bytes(head[4:8], "big", signed=True), 8 * size  # each takes at least a bit
    elif kind == ".dcd" and head[4:8] == b"CORD":
        order = {b"\x54\0\0\0": "little", b"\0\0\0\x54": "big"}.get(head[:4], "little")
        titles = 92 + 8 + int.from_bytes(head[92:96], order)
        atoms, smallest = int.from_bytes(head[titles + 4:titles + 8], order), size // 4
    else:
        return
    if atoms > smallest:
        raise ConvertError(f"claims {atoms} atoms, which do not fit in its {size} bytes: the file is truncated or damaged")
    check_memory(f"claims {atoms} atoms", 12 * atoms)


def _open(library, path, options, has_no_steps=False):
    """Returns (atoms or None, trajectory)."""
    topology = options.topology or (path if path.lower().endswith(ALONE) else None)
    kind = {"format": _reader_without_steps()} if has_no_steps else {}
    if topology:
        universe = library.Universe(topology, path, convert_units=False, to_guess=(), **kind)
        return universe.atoms, universe.trajectory
    from MDAnalysis.coordinates.core import reader  # pylint: disable=import-outside-toplevel
    return None, reader(path, convert_units=False, **kind)


def _has_no_steps(path):
    """Whether the header of a DCD has NSAVC 0, the number of steps between frames."""
    header = _dcd_header(path)
    return header is not None and header[1] == 0


def _reader_without_steps():
    """Returns a reader of DCD with NSAVC 0, by which MDAnalysis's own one divides."""
    from MDAnalysis.coordinates.DCD import DCDReader  # pylint: disable=import-outside-toplevel

    class File:
        """A DCDFile with another NSAVC."""

        def __init__(self, file):
            self._file = file

        def __getattr__(self, name):
            return getattr(self._file, name)

        def __len__(self):
            return len(self._file)

        @property
        def header(self):
            return {**self._file.header, "nsavc": 1}

    class Reader(DCDReader):
        """Reads all but the steps and times."""

        has_no_steps = True

        def __setattr__(self, name, value):
            super().__setattr__(name, File(value) if name == "_file" else value)

    return Reader


def _check_end(path, kind, trajectory):
    """Raises if the last frame is truncated, which MDAnalysis ignores."""
    size = os.path.getsize(path)
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
        raise ConvertError(f"contains {len(trajectory)} complete frames; the data at its end, byte {size}, is not a frame: the "
                           "file is truncated or "
                           "damaged")


def _find_records_end(file, size):
    """Returns where the Fortran records of a file end, or -1 if they exceed the file."""
    order = {b"\x54\0\0\0": "little", b"\0\0\0\x54": "big"}.get(file.read(4))
    if order is None:  # 64-bit record lengths, which few programs write
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
    """Returns the size of a frame, from its first bytes."""
    magic, atoms = struct.unpack(">ii", head[:8])
    if atoms <= 9:
        return 56 + 12 * atoms
    if magic == 1995:
        size, start = struct.unpack(">i", head[88:92])[0], 92
    else:  # 2023, for frames of more than 2^31 bytes
        size, start = struct.unpack(">q", head[88:96])[0], 96
    return start + (size + 3) // 4 * 4


def _trr_frame(head):
    return 76 + 2 * _trr_real(head) + sum(struct.unpack(">10i", head[24:64]))


def _trr_real(head):
    """Returns the bytes per floating-point number in a frame."""
    sizes = struct.unpack(">13i", head[24:76])
    box, positions, velocities, forces, atoms = sizes[2], *sizes[7:10], sizes[10]
    return box // 9 if box else (positions or velocities or forces) // max(1, 3 * atoms)


def _read(atoms, trajectory, i, options, link, path):
    with _errors(link, path):
        frame = trajectory[i]
        if not frame.has_positions:
            raise ConvertError(f"frame {i}: has no positions")
        collector = Collector(options, frame.n_atoms)
        collector.add("index", np.arange(frame.n_atoms, dtype=np.int64))
        for name, there in (("velocities", frame.has_velocities), ("forces", frame.has_forces)):
            if there and collector.wants(name):
                collector.add(name, np.array(getattr(frame, name)))
        if getattr(trajectory, "has_no_steps", False):
            collector.remarks.append(("steps", "frames have neither a step nor a time: the header names 0 steps between frames "
                                               "(NSAVC)"))
        texts = _add_of_atoms(collector, atoms)
        units = _units(trajectory, link)
        box = None if frame.dimensions is None or not any(frame.dimensions[:3]) else frame.dimensions.tolist()
        about = {"md": {"box": box, "units": units, "texts": texts}, "units": units,
                 **(cells.periodic_box(box[:3], box[3:]) if box else {})}
        return collector.particles(np.array(frame.positions), about)


def _add_of_atoms(collector, atoms):
    """Adds attributes from the topology; returns the texts of those that are codes."""
    texts = {}
    for name in OF_ATOMS if atoms is not None else ():
        try:
            values = getattr(atoms, name)
        except Exception:  # of several types, by version: the topology lacks it  pylint: disable=broad-except
            continue
        if not collector.wants(name):
            continue
        if np.asarray(values).dtype.kind in "OSU":
            values, texts[name] = codes_of([str(value) for value in values])
            collector.remarks.append((f"texts {name}", f"'{name}' is converted to numbers; the metadata contains their texts"))
        collector.add(name, np.array(values))
    return texts


def _units(trajectory, link):
    """Returns the units of the file; .dcd times are converted to ps."""
    own = getattr(trajectory, "units", None) or {}
    keys = {"positions": "length", "velocities": "velocity", "forces": "force", "time": "time"}
    units = {name: own.get(key) for name, key in keys.items()}
    if link.lower().endswith(".dcd"):
        units["time"] = "ps"
    return {name: unit.replace("Angstrom", "angstrom") for name, unit in units.items() if unit}


FORMAT = Format("md", "trajectories readable by MDAnalysis: .xtc .trr .dcd", steps, extensions=EXTENSIONS,
                sniff=lambda head, path: _kind_of_content(head) != "", modules=(("MDAnalysis", "MDAnalysis", "md"),),
                options=("topology", "follow_links"))
