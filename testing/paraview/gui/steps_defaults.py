"""Of defaults.xml."""
from bat_test import *

RADIUS = 0.125


def put_radius_into_settings():
    settings = {"representations": {"BATRepresentation": {"GaussianRadius": RADIUS}}}
    servermanager.vtkSMSettings.GetInstance().AddCollectionFromString(json.dumps(settings), 100.0)


def check_radius():
    expect(GetDisplayProperties().GaussianRadius, RADIUS, "radius")


def check_look(look):
    expect(GetDisplayProperties().Look, look, "look")
