# SPDX-License-Identifier: BSD-3-Clause
"""What the library writes, a reader made from BRICKS.md alone reads, bit by bit.

Usage: check_spec.py WRITE_BRICKS"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import bricks_spec


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([sys.argv[1], folder], check=True)
        paths = sorted(folder.glob("*.bricks"))
        assert len(paths) == 22, paths
        for path in paths:
            found = bricks_spec.read(path)
            values = found["values"]
            raw = (folder / (path.stem.replace("_raw", "") + ".raw")).read_bytes()
            assert values.tobytes() == raw, path
            with np.errstate(all="ignore"):
                wide = values.astype(np.float64).reshape(-1, values.shape[-1])
                for c, column in enumerate(wide.T):
                    column = column[~np.isnan(column)]
                    assert found["minimum"][c] == (column.min() if len(column) else np.inf), path
                    assert found["maximum"][c] == (column.max() if len(column) else -np.inf), path
                square = np.zeros(len(wide))
                for column in wide.T:
                    square += column * column
            square = square[~np.isnan(square)]
            assert found["largest_speed"] == (np.sqrt(square.max()) if len(square) else 0), path
            edge = {"line": 5, "point": 4, "wide": 32, "long": 4}.get(path.stem.replace("_raw", ""), 8)
            assert found["preview"].tobytes() == values[::edge, ::edge, ::edge].tobytes(), path
            bare = path.stem.startswith("bare")
            assert found["time"] == (None if bare else 0.1) and found["step"] == (None if bare else -3)
            assert found["metadata"] == (None if bare else {"units": "m/s"})
    print(f"{len(paths)} files read by the text of BRICKS.md")


if __name__ == "__main__":
    main()
