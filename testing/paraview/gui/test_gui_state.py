"""The state file of state.xml brings the particles back that were shown. Argument: their folder."""
from bat_test import *

folder = sys.argv[1]
shown = np.load(os.path.join(folder, "saved.npy"))
A = arrays(20000)
P = points(20000)
wanted = (
    (A["id"] >= BIG_ID + 1)
    & (A["id"] <= BIG_ID + 24)
    & (A["mass"].astype("f8") <= 0.75)
    & (P[:, 0] >= 0.25)
)
assert 0 < len(shown) < wanted.sum()  # the budget takes some
assert np.isin(shown, A["id"][wanted]).all(), "ids that nobody asked for"

LoadState(os.path.join(folder, "saved.pvsm"))
reader = [s for s in GetSources().values() if s.GetXMLName() == "BATReader"][0]
expect(reader.Quality, 0.9, "Quality")
expect(reader.ParticleBudget, 6, "ParticleBudget")
expect(ids(reader), shown, "ids")
finish()
