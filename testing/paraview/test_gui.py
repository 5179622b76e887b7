"""The file that gui.xml saved holds what the panel asked for."""
from bat_test import *

P = points(20000)
A = arrays(20000)
wanted = (
    (A["id"] >= BIG_ID + 1)
    & (A["id"] <= BIG_ID + 10000)
    & (A["velocity"][:, 1] >= 0.5)
    & (P[:, 0] >= 0.5)
)
expect(ids(OpenDataFile(sys.argv[1])), A["id"][wanted], "ids that were saved")
os.remove(sys.argv[1])  # the next run must save it again
finish()
