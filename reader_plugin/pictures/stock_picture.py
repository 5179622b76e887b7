# SPDX-License-Identifier: BSD-3-Clause
"""Shows the README's dam break in a ParaView without plugins, for reader_plugin/pictures/stock_paraview.png.

    parabat repack testing/data/sph_dam_break.bat dam_break.bat --compression none --hdf5-view
    paraview --dr --script=stock_picture.py
"""
from paraview.simple import (ColorBy, GetActiveViewOrCreate, Render, ResetCamera, SetActiveSource, Show, UpdatePipeline,
                             VTKHDFReader)

view = GetActiveViewOrCreate("RenderView")
reader = VTKHDFReader(registrationName="dam_break.bat", FileName=["dam_break.bat"])
UpdatePipeline(proxy=reader)
display = Show(reader, view)
display.PointSize = 3
ColorBy(display, ("POINTS", "velocity", "Magnitude"))
display.RescaleTransferFunctionToDataRange(True)
display.SetScalarBarVisibility(view, True)
view.OrientationAxesVisibility = 0
view.ResetActiveCameraToNegativeY()
camera = view.GetActiveCamera()
camera.Azimuth(35)
camera.Elevation(20)
ResetCamera(view)
camera.Dolly(1.35)
SetActiveSource(reader)
Render(view)
