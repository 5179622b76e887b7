# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the file saved by gui.xml contains what the panel requested."""
from bat_test import *

P = points(20000)
A = arrays(20000)
saved = ids(OpenDataFile(sys.argv[1]))
# The box was dragged to somewhere left of the largest x.
right = P[np.isin(A["id"], saved), 0].max()
assert 0.6 < right < 0.95, right
expected = (
    (A["id"] >= BIG_ID + 1)
    & (A["id"] <= BIG_ID + 10000)
    & (A["velocity"][:, 1] >= 0.5)
    & ((A["id"] < BIG_ID + 2000) | (A["id"] > BIG_ID + 3000))
    & (A["id"] >= BIG_ID + 2)
    & (A["id"] <= BIG_ID + 9000)
    & ((A["mass"].astype("f8") <= 0.05) | ((A["mass"].astype("f8") >= 0.09) & (A["mass"].astype("f8") <= 0.9)))
    & (P[:, 0] >= 0.5)
    & (P[:, 0] <= right)
)
expect(saved, A["id"][expected], "ids that were saved")
# The values typed into the rows of Compression.
reported = subprocess.run([sys.argv[2], sys.argv[1]], capture_output=True, text=True, check=True).stdout
for line in ("velocity: 3 x float64, within 0.001,", "mass: 1 x float32, lossless,"):
    assert line in reported, (line, reported)
os.remove(sys.argv[1])  # the next run must save it again
finish()
