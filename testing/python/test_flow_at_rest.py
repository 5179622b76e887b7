# SPDX-License-Identifier: BSD-3-Clause
"""Path lines of random small fields in which levels and boxes are at rest, compared with SciPy's
DOP853.

Arguments: number of fields, a folder for files. `--first N` begins with another one."""

import argparse
import pathlib
import shutil
import sys
import tempfile

import numpy as np
from scipy.integrate import solve_ivp

from parabat import flow

TOLERANCE = 2e-3  # cells


class Field:
    """Random velocities: uneven times, two or three dimensions, cyclic axes or not, levels and boxes
    at rest. Interpolated as in FLOW: linear in time, trilinear in space."""

    def __init__(self, random):
        self.flat = random.random() < 0.4
        self.n = random.integers(5, 12, 3)
        if self.flat:
            self.n[2] = 1
        self.cyclic = [bool(random.random() < 0.3) and self.n[a] > 1 for a in range(3)]
        self.spacing = random.uniform(0.3, 3, 3)
        self.origin = random.uniform(-5, 5, 3)
        count = random.integers(2, 8)
        gaps = random.uniform(0.2, 2, count) * np.where(random.random(count) < 0.15, 1e-9, 1)
        self.times = np.concatenate([[0], np.cumsum(gaps)]) + random.uniform(-3, 3)
        components = 2 if self.flat and random.random() < 0.5 else 3
        dtype = np.float32 if random.random() < 0.5 else np.float64
        drift = random.uniform(-0.5, 0.5, 3)
        self.levels = []
        for _ in self.times:
            values = random.uniform(-0.5, 0.5, (*self.n[::-1], components)) + drift[:components]
            values *= self.spacing[:components]
            for _ in range(random.integers(0, 3)):
                low = (random.random(3) * self.n[::-1]).astype(int)
                box = tuple(slice(low[a], low[a] + 1 + random.integers(1, 8)) for a in range(3))
                values[box] = 0
            if random.random() < 0.35:
                values[:] = 0
            self.levels.append(np.ascontiguousarray(values, dtype))
        self.cells = [int(self.n[a]) - (0 if self.cyclic[a] else 1) for a in range(3)]
        # For interpolation: cyclic axes closed, three components, cells per time.
        self.closed = []
        for values in self.levels:
            whole = np.zeros((*values.shape[:3], 3))
            whole[..., :components] = values / self.spacing[:components]
            for a in range(3):
                if self.cyclic[a]:
                    whole = np.concatenate([whole, whole.take([0], axis=2 - a)], axis=2 - a)
            if self.flat:
                whole[..., 2] = 0
            self.closed.append(whole)

    def write(self, path):
        flow.write_series(path, zip(self.times, self.levels), origin=self.origin, spacing=self.spacing,
                          cyclic=self.cyclic, flush=False)

    def velocity(self, places, share, before, after):
        """In cells per time, at positions in cells, of shape (n, 3)."""
        corner, within = [], []
        for a in range(3):
            if self.cells[a] == 0:
                corner.append((np.zeros(len(places), int), np.zeros(len(places), int)))
                within.append(np.zeros(len(places)))
                continue
            x = places[:, a] % self.cells[a] if self.cyclic[a] else np.clip(places[:, a], 0, self.cells[a])
            cell = np.minimum(x.astype(int), self.cells[a] - 1)
            corner.append((cell, cell + 1))
            within.append(x - cell)
        v = np.zeros((len(places), 3))
        for bits in range(8):
            at = tuple(corner[a][bits >> a & 1] for a in (2, 1, 0))
            weight = np.prod([within[a] if bits >> a & 1 else 1 - within[a] for a in range(3)], axis=0)
            v += weight[:, None] * ((1 - share) * before[at] + share * after[at])
        return v

    def follow(self, places, begin, end):
        """Positions in cells, at time end, of a particle that is at places at time begin."""
        times = self.times
        stops = [t for t in (times if begin < end else times[::-1]) if min(begin, end) < t < max(begin, end)]
        now = begin
        for stop in [*stops, end]:
            i = int(np.clip(np.searchsorted(times, (now + stop) / 2) - 1, 0, len(times) - 2))
            length = times[i + 1] - times[i]

            def slope(tau, y, i=i, now=now, length=length):
                share = (now + tau - times[i]) / length
                return self.velocity(y.reshape(-1, 3), share, self.closed[i], self.closed[i + 1]).ravel()
            if stop != now:
                # tau begins at 0, so that steps in intervals much shorter than their times are exact.
                places = solve_ivp(slope, (0, stop - now), places.ravel(), method="DOP853", rtol=1e-7,
                                   atol=1e-8).y[:, -1].reshape(-1, 3)
            now = stop
        return places


def check(number, folder):
    """The maximum distance in cells from SciPy's result at the same time, and how many particles
    rested and left."""
    random = np.random.default_rng(number)
    field = Field(random)
    path = folder / f"f{number}.bricks.series"
    field.write(path)
    backward = bool(random.random() < 0.5)
    first, last = field.times[0], field.times[-1]
    release = random.choice([last if backward else first, random.uniform(first, last)])
    seeds = random.random((4, 3)) * field.cells
    lines = flow.path_lines(path, field.origin + seeds * field.spacing, release, backward=backward, max_error=1e-8)
    for i in range(len(seeds)):
        assert lines.reasons[i] in (1, 8), (number, i, lines.reasons[i])
        end = lines.end_times[i]
        if lines.reasons[i] == 8:
            assert end == (first if backward else last), (number, i, end)
            points = lines.offsets[i + 1] - lines.offsets[i]
            passed = field.times[field.times <= release if backward else field.times >= release]
            assert points == len(passed) + (release not in field.times), (number, i, points)
    errors = [0.0]
    for end in set(lines.end_times):
        combined = lines.end_times == end
        found = (lines.ends[combined] - field.origin) / field.spacing
        error = np.abs(found - field.follow(seeds[combined], release, end))
        errors.append(error[:, np.array(field.cells) > 0].max())
    for part in folder.glob(f"f{number}*"):
        part.unlink()
    return max(errors), any(not level.any() for level in field.levels), (lines.reasons == 1).sum()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fields", type=int)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(dir=options.folder))
    try:
        found = {n: check(n, folder) for n in range(options.first, options.first + options.fields)}
    finally:
        shutil.rmtree(folder)
    worst = max(found, key=lambda n: found[n][0])
    rested, left = sum(f[1] for f in found.values()), sum(f[2] for f in found.values())
    print(f"{len(found)} fields, {rested} with a level at rest, {left} lines that left: at most "
          f"{found[worst][0]:.1e} cells off, in field {worst}")
    wrong = {n: f[0] for n, f in found.items() if not f[0] <= TOLERANCE}
    if wrong or not rested or not left:
        sys.exit(f"more than {TOLERANCE} cells off: {wrong}")


if __name__ == "__main__":
    main()
