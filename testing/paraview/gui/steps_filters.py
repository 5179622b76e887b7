"""Of filters.xml."""
from bat_test import *

A = arrays(20000)


def check():
    expect(ids(GetActiveSource()), A["id"][A["mass"] <= 0.25], "ids of what was dragged and typed")
