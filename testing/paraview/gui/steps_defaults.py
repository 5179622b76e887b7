# SPDX-License-Identifier: BSD-3-Clause
"""Checks for defaults.xml."""
import re

from bat_test import *

RADIUS = 0.125
STATE = os.path.join(os.environ["BAT_GUI_FOLDER"], "glow.pvsm")
CHOSEN = [0.5, 0.25, 0.75]


def put_radius_into_settings():
    settings = {"representations": {"BATRepresentation": {"GaussianRadius": RADIUS}}}
    servermanager.vtkSMSettings.GetInstance().AddCollectionFromString(json.dumps(settings), 100.0)


def check_radius():
    expect(GetDisplayProperties().GaussianRadius, RADIUS, "radius")


def check_look(look):
    expect(GetDisplayProperties().Look, look, "look")


def check_colors(expected):
    expect(list(GetDisplayProperties().ColorArrayName), ["POINTS", expected], "colours")


def check_dark(dark):
    """The background that a glow sets and removes."""
    display, view = GetDisplayProperties(), GetActiveView()
    expect(view.UseColorPaletteForBackground, 1 - dark, "background of the palette")
    expect(max(view.Background) < 0.1, dark == 1, "dark background")
    if dark:
        expect((display.GlowLegend, display.SMProxy.GetProperty("SampleFirst").GetElement(0)), (1, 0), "legend, and sample")


def hide_others():
    for source in GetSources().values():
        if source != GetActiveSource():
            Hide(source)


def show_glow():
    Show(FindSource("grains.bat"))


def delete_glow():
    Delete(FindSource("grains.bat"))


def set_look(look):
    GetDisplayProperties().Look = look


def choose_background():
    GetActiveView().Background = CHOSEN


def check_chosen_background():
    view = GetActiveView()
    expect((view.UseColorPaletteForBackground, list(view.Background)), (0, CHOSEN), "background of the user")


def check_radii_by_region(expected):
    expect(GetDisplayProperties().RadiusByRegion, expected, "radii by region")


def split_view():
    SetActiveView(CreateRenderView())
    display = Show(FindSource("galaxy.bat"))
    display.SetRepresentationType("Point Gaussian")
    display.Look = "Density Glow"


def there():
    return next(shown for shown in GetActiveView().Representations if hasattr(shown, "Look"))


def set_look_there(look):
    there().Look = look


def check_view(dark):
    view = GetActiveView()
    expect(view.UseColorPaletteForBackground, 1 - dark, "background of the palette")
    expect(max(view.Background) < 0.1, dark == 1, "dark background")


def save_state():
    SaveState(STATE)


def take_background_from_state():
    """As written by a script outside of the window."""
    with open(STATE) as state:
        text = state.read()
    changed, count = re.subn(r'(name="UseColorPaletteForBackground"[^>]*>\s*<Element index="0" value=)"0"', r'\1"1"', text)
    assert count > 0, text
    with open(STATE, "w") as state:
        state.write(changed)


def load_state():
    for source in list(GetSources().values()):
        Delete(source)
    Delete(GetActiveView())
    LoadState(STATE)
    loaded = [view for view in GetRenderViews() if any(hasattr(shown, "Look") for shown in view.Representations)]
    SetActiveView(next(view for view in loaded if any(shown.Look == "Density Glow" for shown in view.Representations if hasattr(shown, "Look"))))


def check_scripts():
    """Data shown by Python looks as it does outside of the window, except for radii."""
    path = os.path.join(os.environ["BAT_GUI_FOLDER"], "clusters.bat")
    reader = OpenDataFile(path)
    display = Show(reader)
    expect((display.Look, display.RadiusByRegion), ("Spheres", 0), "shown by a script")
    Delete(reader)
