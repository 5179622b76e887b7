# SPDX-License-Identifier: BSD-3-Clause
"""Measures the overhead of Python: Dataset.read() against the C functions into new arrays, in pairs, by processor
time; and what the C functions save with arrays that were in use before, whose pages the system does not have to clear.

    python3 python_read.py FOLDER          PYTHONPATH and BAT_LIBRARY as in core/capi/README.md

Prints one line of JSON; fails if the median of the ratios of Python to C is above 1.2.
"""

import ctypes
import json
import os
import statistics
import sys
import time

import numpy as np
import parabat
from parabat._library import Owned, check, library, make

PARTICLES, PAIRS, MAX_RATIO = 3_000_000, 11, 1.2  # a second copy would be more


def new_arrays():
    return np.empty((PARTICLES, 3), np.float32), np.empty(PARTICLES)


def by_c(path, xyz, values):
    """Reads as a C program would; returns the number of particles."""
    lib, count = library(), ctypes.c_uint64()
    with Owned(lib.bat_close) as dataset, make("query") as query, Owned(lib.bat_selection_free) as selection:
        check(lib.bat_open(os.fsencode(path), ctypes.byref(dataset.pointer)))
        check(lib.bat_query_set_threads(query.pointer, ctypes.c_int64(1)))
        check(lib.bat_select(dataset.pointer, query.pointer, ctypes.byref(selection.pointer)))
        check(lib.bat_selection_count(selection.pointer, ctypes.byref(count)))
        check(lib.bat_read_positions(dataset.pointer, selection.pointer, ctypes.c_void_p(xyz.ctypes.data),
                                     ctypes.c_size_t(xyz.nbytes)))
        check(lib.bat_read_attribute(dataset.pointer, b"value", selection.pointer, ctypes.c_void_p(values.ctypes.data),
                                     ctypes.c_size_t(values.nbytes)))
        selection.close()
        query.close()
    return count.value


def by_python(path):
    """Reads the same with the package."""
    with parabat.open(path) as dataset:
        return dataset.read(["value"], threads=1).count


def seconds(call):
    """Processor time, not wall time."""
    begin = time.process_time()
    assert call() == PARTICLES
    return time.process_time() - begin


def main(folder):
    path = os.path.join(folder, "python_read.bat")
    random = np.random.default_rng(1)
    parabat.write(path, random.random((PARTICLES, 3), dtype=np.float32), {"value": random.random(PARTICLES)}, flush=False)
    used = new_arrays()
    ways = {"python": lambda: by_python(path), "c": lambda: by_c(path, *new_arrays()), "c_used": lambda: by_c(path, *used)}
    for way in ways.values():
        way()
    rounds = [{name: seconds(way) for name, way in ways.items()} for _ in range(PAIRS)]
    os.unlink(path)

    def ratio_to(name):
        return statistics.median(each["python"] / each[name] for each in rounds)
    ratio = ratio_to("c")
    print(json.dumps({"particles": PARTICLES, **{f"{name}_ms": 1e3 * min(each[name] for each in rounds) for name in ways},
                      "ratio": ratio, "ratio_to_used_arrays": ratio_to("c_used")}))
    return int(ratio > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
