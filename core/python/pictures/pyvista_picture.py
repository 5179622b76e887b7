# SPDX-License-Identifier: BSD-3-Clause
"""Draws pyvista.png off screen: a galaxy of synthetic stars at three qualities.

    python3 pyvista_picture.py [FILE.png]          needs pyvista and parabat
"""

import os
import sys
import tempfile

import numpy as np
import parabat
import pyvista

HERE = os.path.dirname(os.path.abspath(__file__))


def galaxy(random, count):
    """Positions of stars in two arms around a bulge, (count, 3), and their distance from the centre, in kpc."""
    radius = random.gamma(2.0, 0.55, count)
    spread = 0.22 + 0.5 * random.random(count) ** 6
    angle = 2.4 * np.log(radius + 0.12) + np.pi * random.integers(0, 2, count) + random.normal(0, spread)
    thickness = 0.05 + 0.22 * np.exp(-(radius / 0.35) ** 2)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), random.normal(0, thickness)], axis=1), radius


def main(out):
    xyz, radius = galaxy(np.random.default_rng(3), 1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stars.bat")
        parabat.write(path, xyz.astype(np.float32), {"radius": radius.astype(np.float32)}, flush=False)
        plotter = pyvista.Plotter(shape=(1, 3), off_screen=True, window_size=(1500, 520), border=False)
        for column, quality in enumerate((0.01, 0.1, 1.0)):
            plotter.subplot(0, column)
            plotter.set_background("black")
            mesh = pyvista.read(path, quality=quality)
            plotter.add_mesh(mesh, scalars="radius", cmap="plasma_r", clim=(0, 4), point_size=2 if quality < 1 else 1,
                             opacity=0.9 if quality < 1 else 0.45, show_scalar_bar=False)
            plotter.add_scalar_bar(f"distance from the middle (kpc){' ' * column}\n", color="white", n_labels=5, fmt="%.0f",
                                   title_font_size=16, label_font_size=16, position_x=0.2, position_y=0.04, width=0.6, height=0.12)
            plotter.add_text(f"quality={quality:g}: {mesh.n_points:,} stars", font_size=10, color="white")
            # A parallel projection, in which horizontal lengths have the same scale everywhere.
            plotter.camera_position = [(0, -7.5, 9.0), (0, -0.9, 0), (0, 0, 1)]
            plotter.enable_parallel_projection()
            plotter.camera.parallel_scale = 4.2
            plotter.add_mesh(pyvista.Line((-3.8, -3.4, 1.0), (-1.8, -3.4, 1.0)), color="white", line_width=3)
            plotter.add_point_labels([(-2.8, -3.1, 1.0)], ["2 kpc"], text_color="white", font_size=14, shape=None,
                                     show_points=False, always_visible=True, justification_horizontal="center")
        plotter.screenshot(out)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "pyvista.png"))
