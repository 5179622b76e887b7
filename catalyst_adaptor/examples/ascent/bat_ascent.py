# SPDX-License-Identifier: BSD-3-Clause
"""Writes the particles that a simulation publishes to Ascent as .bat, from a Python extract.

extract.py is such an extract, and ascent_actions.yaml tells Ascent to run it. PYTHONPATH holds this
folder and core/python; BAT_LIBRARY is the path of libbat_capi.so if it is not
next to it. Needs mpi4py with the MPI of the simulation, and numpy. Fields are handed over as they lie in
memory; coordinates, which Ascent has one by one, are copied.
"""

import sys

import parabat
import numpy as np
from mpi4py import MPI

_series = {}  # by pattern: Ascent keeps the interpreter from step to step


def write(data, comm_handle, files, *, fields=None, on_error="warn", **options):
    """Collective. Writes each topology of points as a separate series.

    data: ascent_data(). comm_handle: ascent_mpi_comm_id(). files: pattern of paths with {name}, which is
    the topology's name, and {timestep:06d}; see parabat.Series. fields: names of those that are written, else
    all. on_error: "warn" prints the error on rank 0 and continues; "raise" passes it to Ascent. options:
    those of parabat.Series. Returns a parabat.Report, or None if no rank has particles or after an error.
    """
    if on_error not in ("warn", "raise"):
        raise ValueError(f"on_error: '{on_error}'; allowed are 'warn' and 'raise'")
    if "{name}" not in files:
        raise ValueError(f"files is '{files}'; it must contain {{name}}")
    comm = MPI.Comm.f2py(comm_handle)
    try:
        if files not in _series:
            _series[files] = (comm, parabat.Series(files, comm, **options))
        return _write(data, comm, _series[files][1], fields)
    except Exception as error:  # pylint: disable=broad-except
        if on_error == "raise":
            raise
        if comm.rank == 0:
            print(f"bat_ascent: the step was not written: {error}", file=sys.stderr, flush=True)
        return None


def _write(data, comm, series, fields):
    state, pieces, failure = None, [], None
    try:
        for domain in _domains(data):
            state = state or _state(domain)
            pieces += _pieces(domain, fields)
    except Exception as error:  # pylint: disable=broad-except
        failure = error
    # A rank without a domain knows neither the step nor whether there are particles.
    of_all = comm.allgather((state, bool(pieces) or failure is not None))
    state = next((s for s, _ in of_all if s), None)
    if not any(has_some for _, has_some in of_all):
        return None
    if state and series.begin(*state):
        for name, positions, attributes, ghosts in pieces:
            try:
                series.add(positions, attributes, species=name, ghosts=ghosts)
            except Exception:  # pylint: disable=broad-except
                pass  # end() raises it, on all ranks
    if failure or not state:
        series.fail(failure or KeyError("no domain has state/cycle"))
    return series.end()


def _children(node):
    """Names and nodes; of a list, names are numbers."""
    names = node.child_names() if hasattr(node, "child_names") else node.paths()
    for i in range(node.number_of_children()):
        yield (names[i] if i < len(names) else str(i)), node.child(i)


def _domains(data):
    """Ascent makes several of everything, also where a simulation has published one."""
    if data.has_path("topologies"):
        yield data
        return
    for _, domain in _children(data):
        if domain.has_path("topologies"):
            yield domain


def _state(domain):
    if not domain.has_path("state/cycle"):
        return None
    cycle = int(domain["state/cycle"])
    return cycle, float(domain["state/time"]) if domain.has_path("state/time") else float(cycle)


def _pieces(domain, requested):
    """Yields for each topology of points its name, positions, fields by name, marks of ghosts."""
    for name, topology in _children(domain.fetch("topologies")):
        if topology["type"] == "unstructured":
            if topology["elements/shape"] != "point":
                continue
            order = _array(topology["elements/connectivity"])
            order = None if np.array_equal(order, np.arange(len(order))) else order
        elif topology["type"] == "points":
            order = None
        else:
            continue
        values = domain.fetch("coordsets").fetch(topology["coordset"]).fetch("values")
        axes = [_array(values[axis]) for axis in "xyz" if values.has_path(axis)]
        axes += [np.zeros_like(axes[0])] * (3 - len(axes))
        positions = _in_order(np.column_stack(axes), order)
        if len(positions) == 0:
            yield name, np.zeros((0, 3)), {}, None  # what an empty piece declares does not count
            continue
        attributes, ghosts = {}, None
        for field_name, field in _fields_of(domain, name):
            is_ghosts = field_name == "ascent_ghosts"
            if not is_ghosts and requested is not None and field_name not in requested:
                continue
            array = _field(field.fetch("values"))
            if field["association"] == "vertex":
                array = _in_order(array, order)
            if is_ghosts:
                ghosts = array
            else:
                attributes[field_name] = array
        yield name, positions, attributes, ghosts


def _fields_of(domain, topology):
    if domain.has_path("fields"):
        for name, field in _children(domain.fetch("fields")):
            if field.has_path("topology") and field["topology"] == topology:
                yield name, field


def _field(values):
    if values.number_of_children() == 0:
        return _array(values.value())
    components = [_array(component.value()) for _, component in _children(values)]
    return components[0] if len(components) == 1 else np.column_stack(components)


def _array(values):
    return np.atleast_1d(values)  # Conduit gives a single value as a scalar


def _in_order(array, order):
    return array if order is None else array[order]
