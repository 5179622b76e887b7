"""Of series.xml."""
from bat_test import *

TIMES = [0.5, 0.75, 2.0, 2.25]
seen = []


def check(step):
    reader = GetActiveSource()
    expect(reader.GetXMLName(), "BATSeriesReader", "proxy")
    expect(list(reader.TimestepValues), TIMES, "times")
    expect(GetAnimationScene().TimeKeeper.Time, TIMES[step], "time")
    # What is shown, without an update.
    expect(reader.GetDataInformation().GetNumberOfPoints(), 1000 + step, "particles")
    expect(np.sort(vtk_to_numpy(servermanager.Fetch(reader).GetPointData().GetArray("mass"))),
           np.sort(arrays(1000 + step, step)["mass"]), "mass")


def watch():
    keeper = GetTimeKeeper()
    keeper.SMProxy.GetProperty("Time").AddObserver("ModifiedEvent", lambda *_: seen.append(keeper.Time))


def check_played():
    expect(seen[-3:], TIMES[1:], "times that were played")
