# SPDX-License-Identifier: BSD-3-Clause
"""Checks for pictures.xml."""
from gui_images import *

pictures = {}


def set_up():
    view = set_up_view()
    display = GetDisplayProperties(GetActiveSource(), view)
    display.SetRepresentationType("Point Gaussian")
    display.ShaderPreset = "Sphere"
    display.ColorArrayName = ["POINTS", ""]
    display.AmbientColor = display.DiffuseColor = [1.0, 1.0, 1.0]
    view.ResetActiveCameraToPositiveY()
    view.ResetCamera(True)
    Render()


def picture(quality):
    reader, display = GetActiveSource(), GetDisplayProperties()
    reader.UpdatePropertyInformation()
    expect(display.GaussianRadius, reader.SuggestedRadius, "radius at quality " + quality)
    pictures[quality] = take("dam_break_%s.png" % quality)


def compare():
    for quality, image in pictures.items():
        expect_baseline(image, "dam_break_%s.png" % quality)
    full = lit(pictures["1"])
    assert 0.05 < full < 0.9, full
    for quality, image in pictures.items():
        assert abs(lit(image) / full - 1) < 0.1, (quality, lit(image), full)
        assert quality == "1" or difference(image, pictures["1"]) > SHARE, quality + " looks like all of it"
