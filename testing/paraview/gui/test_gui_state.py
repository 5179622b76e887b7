# SPDX-License-Identifier: BSD-3-Clause
"""The state file of state.xml, and the Python trace of its actions, restore the particles that were shown.
Argument: their folder."""
from bat_test import *

folder = sys.argv[1]
shown = np.load(os.path.join(folder, "saved.npy"))
A = arrays(20000)
P = points(20000)
expected = (
    (A["id"] >= BIG_ID + 1)
    & (A["id"] <= BIG_ID + 24)
    & (A["mass"].astype("f8") <= 0.75)
    & (P[:, 0] >= 0.25)
)
assert 0 < len(shown) < expected.sum()  # the budget takes some of them
assert np.isin(shown, A["id"][expected]).all(), "ids that nobody asked for"

LoadState(os.path.join(folder, "saved.pvsm"))
reader = [s for s in GetSources().values() if s.GetXMLName() == "BATReader"][0]
expect(reader.Quality, 0.9, "Quality")
expect(reader.ParticleBudget, 6, "ParticleBudget")
expect(ids(reader), shown, "ids")

with open(os.path.join(folder, "trace.py")) as file:
    # A session without a window has no layout.
    trace = "".join(line for line in file if not line.startswith("layout"))
ResetSession()
exec(trace, {"__name__": "__main__"})
traced = [s for s in GetSources().values() if s.GetXMLName() == "BATReader"]
expect(len(traced), 1, "readers in the trace")
expect(ids(traced[0]), shown, "ids of the trace")
finish()
