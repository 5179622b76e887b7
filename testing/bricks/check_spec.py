# SPDX-License-Identifier: BSD-3-Clause
"""Checks that a reader written from BRICKS.md alone reads the library's files bit by bit, and that bat_info and
bat_validate describe them.

Usage: check_spec.py WRITE_BRICKS BAT_INFO BAT_VALIDATE"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import bricks_spec


def run(program, *words):
    done = subprocess.run([program, *map(str, words)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


def check_programs(folder, paths):
    """What bat_info and bat_validate print for files, a series of them, and damage."""
    info, validate = sys.argv[2:]
    code, out, err = run(info, "--json", *paths)
    assert (code, err) == (0, ""), (code, err)
    for about, path in zip(json.loads(out), paths, strict=True):
        found = bricks_spec.read(path)
        level, = about["levels"]
        assert about["dimensions"] == list(found["values"].shape[2::-1]), (about, path)
        for key, given in (("minimum", "minimum"), ("maximum", "maximum")):
            for ours, theirs in zip(level[key], found[given]):
                assert ours == theirs if math.isfinite(theirs) else ours is None, (path, key, level[key], found[given])
        assert level["max_speed"] == (found["largest_speed"] if math.isfinite(found["largest_speed"]) else None), (path, level)
        assert (level["time"], level["step"], level["metadata"]) == (found["time"], found["step"], found["metadata"]), path
        assert level["file_bytes"] == path.stat().st_size and 0 <= level["blank_bricks"] <= level["bricks"], (path, level)
        assert about["type"] == found["values"].dtype.name, (about, path)
    code, out, err = run(validate, *paths)
    assert code == 0 and out.count(": valid, 1 level, ") == len(paths) and not err, (code, out, err)
    code, out, _ = run(info, *paths)
    assert code == 0 and out.count("  speed            at most ") == len(paths), out

    path = next(path for path in paths if not path.stem.startswith("bare") and path.stem.endswith("_raw"))
    series = folder / "two.bricks.series"
    (folder / "again.bricks").write_bytes(path.read_bytes())
    series.write_text(json.dumps({"file-series-version": "1.0", "files": [
        {"name": name, "time": time} for name, time in ((path.name, 0.5), ("again.bricks", 2))]}))
    code, out, _ = run(info, series)
    assert code == 0 and "levels           2, times 0.5 to 2" in out, out
    code, out, _ = run(validate, series)
    assert code == 0 and ": valid, 2 levels, " in out, out
    damaged = bytearray(path.read_bytes())
    damaged[-9] ^= 4
    (folder / "again.bricks").write_bytes(damaged)
    code, out, err = run(validate, series)
    assert (code, out) == (1, "") and "again.bricks" in err, (code, out, err)
    (folder / "again.bricks").unlink()
    code, out, err = run(info, series)
    assert code == 1 and "levels           2" in out and "cannot be read   " in out and "not all levels can be read" in err, (code, out, err)
    grid = folder / "some.idx"
    grid.write_text("(version)\n6\nno grid\n")
    for program in (info, validate):
        code, out, err = run(program, grid)
        assert code == 1 and "some.idx" in err, (code, out, err)


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
        check_programs(folder, paths)
    print(f"{len(paths)} files read by the text of BRICKS.md")


if __name__ == "__main__":
    main()
