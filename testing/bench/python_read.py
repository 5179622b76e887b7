# SPDX-License-Identifier: BSD-3-Clause
"""What Python costs: Dataset.read() against the C functions into arrays that are there, in pairs, by processor time.

    python3 python_read.py FOLDER          PYTHONPATH and BAT_LIBRARY as in core/capi/README.md

Prints one line of JSON; fails if the median of the ratios is above 1.3. What Python pays is new memory.
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

PARTICLES, PAIRS, MOST = 3_000_000, 11, 1.3  # a second copy would be more


def by_c(path, xyz, values):
    """As a program in C does it; returns the number of particles."""
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
    """The same with the package."""
    with parabat.open(path) as dataset:
        return dataset.read(["value"], threads=1).count


def seconds(call):
    """Of the processor, not of the clock."""
    begin = time.process_time()
    assert call() == PARTICLES
    return time.process_time() - begin


def main(folder):
    path = os.path.join(folder, "python_read.bat")
    random = np.random.default_rng(1)
    parabat.write(path, random.random((PARTICLES, 3), dtype=np.float32), {"value": random.random(PARTICLES)}, flush=False)
    xyz, values = np.zeros((PARTICLES, 3), np.float32), np.zeros(PARTICLES)
    by_c(path, xyz, values)
    by_python(path)
    pairs = [(seconds(lambda: by_python(path)), seconds(lambda: by_c(path, xyz, values))) for _ in range(PAIRS)]
    os.unlink(path)
    ratio = statistics.median(python / c for python, c in pairs)
    print(json.dumps({"particles": PARTICLES, "python_ms": 1e3 * min(pair[0] for pair in pairs),
                      "c_ms": 1e3 * min(pair[1] for pair in pairs), "ratio": ratio}))
    return int(ratio > MOST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
