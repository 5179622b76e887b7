# SPDX-License-Identifier: BSD-3-Clause
"""The state file of idx.xml, and the Python trace of its actions, restore the samples that were shown, which are those
of the source. Argument: their folder."""
from bat_test import *

folder = sys.argv[1]
shown = np.load(os.path.join(folder, "idx.npy"))
whole = fetch(Wavelet(WholeExtent=[0, 191, 0, 191, 0, 191]))
cube = vtk_to_numpy(whole.GetPointData().GetArray("RTData")).reshape(192, 192, 192)
expect(shown, cube[::4, ::4, :96:4].ravel(), "samples that were shown")


def check(reader, what):
    expect((reader.Resolution, reader.MemoryPerProcess, reader.UseBox), (18, 8.0, 1), what + ": settings")
    values = fetch(reader).GetPointData().GetArray("RTData")
    expect(vtk_to_numpy(values), shown, what + ": samples")


LoadState(os.path.join(folder, "idx.pvsm"))
check([s for s in GetSources().values() if s.GetXMLName() == "IDXReader"][0], "state")
with open(os.path.join(folder, "idx_trace.py")) as file:
    # A session without a window has no layout.
    trace = "".join(line for line in file if not line.startswith("layout"))
ResetSession()
exec(trace, {"__name__": "__main__"})
traced = [s for s in GetSources().values() if s.GetXMLName() == "IDXReader"]
expect(len(traced), 1, "readers in the trace")
check(traced[0], "trace")
finish()
