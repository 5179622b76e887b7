# SPDX-License-Identifier: BSD-3-Clause
"""Measures what a new user waits for: installing the wheel, `import parabat`, and the README's code.

    python3 first_use.py parabat-*.whl [--particles N] [--repeat 9] [--numpy VERSION]

Installs the wheel and NumPy from PyPI, checks the answers, and prints one line of JSON with medians
in seconds. import_beyond_numpy_s: the time of processes that import parabat, minus that of
processes that import NumPy.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

LINES = """
import time
begin = time.perf_counter()
import numpy as np, parabat
positions, ids = np.random.default_rng(1).random(({particles}, 3)), np.arange({particles})
made = time.perf_counter()
parabat.write("step.bat", positions, {{"id": ids}}, time=0.5)
written = time.perf_counter()
with parabat.open("step.bat") as dataset:
    opened = time.perf_counter()
    some = dataset.read(["id"], quality=0.01)  # 1 %, an even sample: some.positions, some["id"]
read = time.perf_counter()
assert some.count == {particles} // 100 and np.array_equal(positions[some["id"]], some.positions)
import json
print(json.dumps({{"make_arrays_s": made - begin, "write_s": written - made, "open_s": opened - written,
                  "read_1_percent_s": read - opened}}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("wheel")
    parser.add_argument("--particles", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--numpy", default="", metavar="VERSION")
    arguments = parser.parse_args()
    wheel = pathlib.Path(arguments.wheel).resolve()
    clean = {name: value for name, value in os.environ.items()
             if name not in ("PYTHONPATH", "BAT_LIBRARY", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE")}

    with tempfile.TemporaryDirectory() as scratch:
        def run(*command):
            begin = time.perf_counter()
            done = subprocess.run(command, check=True, cwd=scratch, env=clean, stdout=subprocess.PIPE, text=True)
            return time.perf_counter() - begin, done.stdout

        def median(code):
            return statistics.median(run(python, "-c", code)[0] for _ in range(arguments.repeat))

        run(sys.executable, "-m", "venv", "venv")
        python = os.path.join(scratch, "venv", "bin", "python")
        pip = (python, "-m", "pip", "install", "-q", "--disable-pip-version-check")
        run(*pip, "numpy" + (f"=={arguments.numpy}" if arguments.numpy else ""))
        installed = run(*pip, str(wheel))[0]
        run(python, "-c", "import parabat")  # this compiles it
        numpy, parabat = median("import numpy"), median("import numpy, parabat")
        found = json.loads(run(python, "-c", LINES.format(particles=arguments.particles))[1])
    print(json.dumps({"wheel": wheel.name, "wheel_bytes": wheel.stat().st_size, "install_s": installed,
                      "import_numpy_s": numpy, "import_beyond_numpy_s": parabat - numpy,
                      "particles": arguments.particles, **found}))


if __name__ == "__main__":
    main()
