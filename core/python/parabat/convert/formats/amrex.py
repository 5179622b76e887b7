# SPDX-License-Identifier: BSD-3-Clause
"""Particles in AMReX plotfiles and checkpoints (Nyx, Castro, WarpX, ...), which are folders. yt locates the particles in the
files; the numbers are read directly, in their stored types. Each folder of particles is a species.

Plotfiles (Version_Two_Dot_Zero) store the id and the cpu of a particle separately. Checkpoints (Version_Two_Dot_One) pack them
into 64 bits: a sign, 39 bits for the id and 24 bits for the cpu.
"""

import logging
import os

import numpy as np

from ... import amrex
from ..model import Collector, ConvertError, Format, Step, check_memory

VERSIONS = ("Version_One_", "Version_Two_")


def steps(path, options):
    if options.amrex_ids not in ("unpack", "keep"):
        raise ConvertError(f"argument --amrex-ids: '{options.amrex_ids}'; allowed: unpack, keep")
    try:
        from yt.frontends.amrex.api import AMReXDataset  # pylint: disable=import-outside-toplevel
    except ImportError:  # before yt 4.4
        from yt.frontends.boxlib.api import AMReXDataset  # pylint: disable=import-outside-toplevel
    logging.getLogger("yt").setLevel(logging.CRITICAL)
    try:
        data = AMReXDataset(path)  # yt.load() supports particles of some codes only
        headers = data.index.particle_headers
        time = float(data.current_time.to("code_time"))
    except Exception as error:  # of many types  pylint: disable=broad-except
        raise ConvertError(f"yt cannot read it: {' '.join(str(error).split())[:300] or type(error).__name__}") from None
    if not headers:
        raise ConvertError("has no particles")
    yield Step(lambda: _read(data, path, options), number=_number(path), time=time)


def _number(path):
    """Returns the step of the coarsest level, the first of `level_steps` in the Header, or None. yt does not provide it."""
    try:
        with open(os.path.join(path, "Header"), encoding="utf-8") as file:
            lines = file.read().split("\n")
        fields = int(lines[1])
        # After the fields: dimensions, time, finest level, lower and upper corner, ratios, boxes, level_steps.
        return int(lines[fields + 9].split()[0])
    except (OSError, UnicodeDecodeError, ValueError, IndexError):
        return None


def _read(data, path, options):
    headers = data.index.particle_headers
    missing = [name for name in options.species or () if name not in headers]
    if missing:
        raise ConvertError(f"unknown species '{missing[0]}'; available: {', '.join(sorted(headers))}")
    result = []
    for species in sorted(headers):
        if options.species is None or species in options.species:
            result.append(_species(data.index.grids, headers[species], os.path.join(path, species), options,
                                   species if len(headers) > 1 or options.species else ""))
            result[-1].metadata["amrex"]["domain"] = {
                "lower": data.domain_left_edge.d.tolist(), "upper": data.domain_right_edge.d.tolist()}
    return result


def _species(grids, header, folder, options, name):
    collector = Collector(options, header.num_particles)
    integers = ["id", "cpu"][:header.num_int_base] + header.int_component_names if header.num_int else []
    reals = list("xyz")[:header.dim] + header.real_component_names
    names = integers + reals
    if len(set(names)) != len(names):
        twice = next(each for each in names if names.count(each) > 1)
        raise ConvertError(f"{os.path.basename(folder)}: two components are named '{twice}'")
    check_memory(f"{os.path.basename(folder)}: claims {header.num_particles} particles of {len(names)} components",
                 header.num_particles * (len(integers) * 4 + len(reals) * np.dtype(header.real_type).itemsize))
    pieces = [grid._pdata[header.particle_type] for grid in grids]  # pylint: disable=protected-access
    pieces = [piece for piece in pieces if piece["NumberOfParticles"]]
    total = sum(piece["NumberOfParticles"] for piece in pieces)
    if total != header.num_particles:
        raise ConvertError(f"{os.path.basename(folder)}: its header claims {header.num_particles} particles; its grids have "
                           f"{total}")
    tables = [np.empty((total, len(integers)), header.int_type), np.empty((total, len(reals)), header.real_type)]
    place = 0
    for piece in pieces:
        count = piece["NumberOfParticles"]
        with open(piece["particle_filename"], "rb") as file:
            file.seek(piece["offset"])
            for table in tables:
                found = np.fromfile(file, table.dtype, count * table.shape[1])
                if len(found) != count * table.shape[1]:
                    raise ConvertError(f"{piece['particle_filename']}: ends within the {count} particles that start at byte "
                                       f"{piece['offset']}")
                table[place:place + count] = found.reshape(count, table.shape[1])
        place += count
        options.at(place / total)
    ids = _ids(header, tables[0], options, collector)
    for column, values in ids.items():
        if collector.wants(column):
            collector.add(column, values)
    for table, columns in zip(tables, (integers[len(ids) and 2:], reals[header.dim:])):
        first = table.shape[1] - len(columns)
        for i, column in enumerate(columns):
            if collector.wants(column):
                collector.add(column, np.ascontiguousarray(table[:, first + i]))
    positions = np.zeros((total, 3), header.real_type)
    positions[:, :header.dim] = tables[1][:, :header.dim]
    about = {"species": header.particle_type, "version": header.version_string, "dimensions": header.dim}
    return collector.particles(positions, {"amrex": about}, name)


def _ids(header, integers, options, collector):
    """Returns the attributes for packed ids of checkpoints; none for files that store id and cpu separately."""
    if not header.num_int_base or "Two_Dot_One" not in header.version_string:
        return {}
    packed = amrex.join_halves(integers[:, 1], integers[:, 0])  # the high half comes first
    if options.amrex_ids == "keep":
        return {"idcpu": packed}
    collector.remarks.append(("idcpu", "'id' and 'cpu' are unpacked from the idcpu of AMReX; use --amrex-ids keep to write it "
                                       "unchanged"))
    return dict(zip(("id", "cpu"), amrex.unpack_ids(packed)))


def _sniff(_, path):
    """Returns whether a folder has a Header and a subfolder with a particle Header."""
    if not os.path.isfile(os.path.join(path, "Header")):
        return False
    for entry in os.scandir(path):
        header = os.path.join(entry.path, "Header")
        if os.path.isfile(header):
            with open(header, "rb") as file:
                if file.read(12).decode("latin-1").startswith(VERSIONS):
                    return True
    return False


FORMAT = Format("amrex", "particles of AMReX plotfiles (folders)", steps, modules=(("yt", "yt", "amrex"),),
                options=("amrex_ids",), sniff=_sniff)
