# SPDX-License-Identifier: BSD-3-Clause
"""Decaying turbulence in a periodic box: a field with structure at every scale, for pictures and examples.

A pseudo-spectral solution of the incompressible Navier-Stokes equations (rotational form, two thirds of the modes, second
order in time), from random modes around wave number 4. Lengths are in units of the box over 2 pi.
"""
import numpy as np


class Turbulence:
    """`n` samples along each axis; arrays are [z, y, x] or [component, z, y, x] with components along x, y and z."""

    def __init__(self, n=128, viscosity=None, seed=1):
        self.n, self.time = n, 0.0
        # The smallest eddies are two or three samples wide.
        self.viscosity = viscosity or 0.8 / n
        full, half = np.fft.fftfreq(n, 1 / n), np.fft.rfftfreq(n, 1 / n)
        self.k = np.array(np.meshgrid(full, full, half, indexing="ij"))[::-1].astype("f4")
        self.k2 = (self.k ** 2).sum(0)
        self.kept = (np.abs(self.k) < n / 3).all(0)
        random = np.random.default_rng(seed)
        modes = self.forward(random.standard_normal((3, n, n, n)).astype("f4"))
        size = np.sqrt(self.k2)
        modes *= size * np.exp(-((size - 4) / 2) ** 2)
        self.modes = self.project(modes * self.kept)
        self.modes *= 1 / np.sqrt((self.velocity() ** 2).sum(0).mean())

    def forward(self, fields):
        return np.array([np.fft.rfftn(f).astype("c8") for f in fields])

    def back(self, modes):
        return np.array([np.fft.irfftn(m, s=(self.n,) * 3).astype("f4") for m in modes])

    def project(self, modes):
        """The divergence-free part."""
        return modes - self.k * ((self.k * modes).sum(0) / np.maximum(self.k2, 1))

    def curl(self, modes):
        return 1j * np.cross(self.k, modes, axis=0).astype("c8")

    def velocity(self):
        return self.back(self.modes)

    def vorticity(self):
        return self.back(self.curl(self.modes))

    def change(self, modes):
        force = np.cross(self.back(modes), self.back(self.curl(modes)), axis=0)
        return self.project(self.forward(force) * self.kept)

    def step(self, dt=None):
        """Advances one time step and returns its length; by default the largest stable one."""
        dt = dt or 0.5 * 2 * np.pi / self.n / np.abs(self.velocity()).max()
        decay = np.exp(-self.viscosity * self.k2 * dt)
        first = self.change(self.modes)
        middle = (self.modes + dt * first) * decay
        self.modes = (self.modes + 0.5 * dt * first) * decay + 0.5 * dt * self.change(middle)
        self.time += dt
        return dt


def finer(field, samples):
    """A periodic field [component, z, y, x] at more samples along each axis, interpolated by its Fourier modes."""
    n, half = field.shape[-1], field.shape[-1] // 2
    result = np.empty((len(field), *[samples] * 3), "f4")
    for values, at in zip(field, result):
        modes = np.fft.rfftn(values)
        padded = np.zeros((samples, samples, samples // 2 + 1), "c16")
        for z in (slice(0, half), slice(1 - half, None)):
            for y in (slice(0, half), slice(1 - half, None)):
                padded[z, y, :half] = modes[z, y, :half]
        at[:] = np.fft.irfftn(padded, s=(samples,) * 3) * (samples / n) ** 3
    return result


def image(velocity, vorticity):
    """A vtkImageData with velocity and the magnitude of vorticity, from arrays [component, z, y,
    x]."""
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonDataModel import vtkImageData
    n, data = velocity.shape[-1], vtkImageData()
    data.SetDimensions(n, n, n)
    data.SetSpacing(*[2 * np.pi / n] * 3)
    fields = {"vorticity": np.sqrt((vorticity ** 2).sum(0)).reshape(-1), "velocity": np.moveaxis(velocity, 0, -1).reshape(-1, 3)}
    for name, values in fields.items():
        array = numpy_to_vtk(np.ascontiguousarray(values), deep=1)
        array.SetName(name)
        data.GetPointData().AddArray(array)
    return data
