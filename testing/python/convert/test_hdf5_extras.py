# SPDX-License-Identifier: BSD-3-Clause
"""openPMD by openpmd-api without positionOffset, and H5MD as MDAnalysis writes and reads it."""

import json
import warnings

import MDAnalysis
import numpy as np
import openpmd_api as io
import parabat
from support import converted, equal, refused, same

random = np.random.default_rng(9)
xyz = random.normal(size=(3, 20, 3))
ids = np.arange(20).astype("u8")


# --- openPMD: one species without positionOffset, one without positions, iterations without particles or not closed
def store(component, values):
    component.reset_dataset(io.Dataset(values.dtype, values.shape))
    component.store_chunk(np.ascontiguousarray(values))


def write_openpmd(path, fill):
    series = io.Series(path, io.Access.create)
    for number in (10, 20):
        iteration = series.iterations[number]
        iteration.time = number / 4
        fill(iteration, number)
        series.flush()
    series.close()


def species(iteration, number):
    for name in ("electrons", "ions"):
        group = iteration.particles[name]
        for i, axis in enumerate("xyz"):
            store(group["position"][axis], xyz[number // 10 - 1, :, i])
            if name == "ions":
                component = group["positionOffset"][axis]
                component.reset_dataset(io.Dataset(np.dtype("f8"), [20]))
                component.make_constant(0.0)
        store(group["id"][io.Record_Component.SCALAR], ids)


def fields(iteration, _):
    store(iteration.meshes["E"]["x"], xyz[0])


for path in ("beams.bp4", "beams.json", "beams.h5"):
    write_openpmd(path, species)
    reported = converted(path, "pmd.bat")
    assert "electrons has no positionOffset; 0 is used" in reported, (path, reported)
    for i in (0, 1):
        for name in ("electrons", "ions"):
            same(f"pmd_{name}_000{i}.bat", xyz[i], {"id": ids}, time=(i + 1) * 2.5, step=10 * (i + 1))
write_openpmd("fields.bp4", fields)
refused("fields.bp4", "bad.bat", says=["no complete iteration with particles: '10', '20' have no particles"])

# --- H5MD of MDAnalysis: what its reader says is what comes over
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    universe = MDAnalysis.Universe.empty(20, trajectory=True, velocities=True)
    with MDAnalysis.Writer("run.h5md", n_atoms=20, timeunit="ps", lengthunit="nm", velocityunit="nm/ps",
                           convert_units=False) as writer:
        for i, places in enumerate(xyz):
            universe.atoms.positions, universe.atoms.velocities = places, places * 2
            universe.dimensions = [4 + i, 5, 6, 90, 90, 90]
            universe.trajectory.ts.data["step"], universe.trajectory.ts.time = 50 * i, 0.5 * i
            writer.write(universe)
    converted("run.h5md", "md.bat")
    for i, frame in enumerate(MDAnalysis.coordinates.H5MD.H5MDReader("run.h5md", convert_units=False)):
        with parabat.open(f"md_000{i}.bat") as dataset:
            assert (dataset.time, dataset.step) == (float(frame.time), int(frame.data["step"])), (dataset.time, dataset.step)
            found, about = dataset.read(), json.loads(dataset.metadata)
        order, own = np.argsort(found.positions[:, 0]), np.argsort(frame.positions[:, 0])
        equal("md.bat", "positions", found.positions[order], frame.positions[own])
        equal("md.bat", "velocity", found["velocity"][order], frame.velocities[own])
        assert about["units"] == {"positions": "nm", "time": "ps", "velocity": "nm ps-1"}, about
        assert about["periodic_box"]["upper"] == [4.0 + i, 5, 6], about
