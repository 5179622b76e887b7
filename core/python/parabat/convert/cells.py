# SPDX-License-Identifier: BSD-3-Clause
"""Simulation cells, as the metadata stores them for `parabat follow --unwrap` and for readers."""

import numpy as np

RIGHT_ANGLES = (90.0, 90.0, 90.0)


def lengths_and_angles(vectors):
    """Returns [a, b, c, alpha, beta, gamma] for three vectors, with angles in degrees, or None if they span no volume."""
    vectors = np.asarray(vectors, float)
    lengths = np.sqrt((vectors ** 2).sum(axis=1))
    if not np.isfinite(vectors).all() or not np.linalg.det(vectors):
        return None
    angles = []
    for i, j in ((1, 2), (0, 2), (0, 1)):
        dot = vectors[i] @ vectors[j]
        angles.append(90.0 if dot == 0 else float(np.degrees(np.arccos(np.clip(dot / (lengths[i] * lengths[j]), -1, 1)))))
    return [*lengths.tolist(), *angles]


def vectors_of(lengths, angles):
    """Returns three vectors, the first along x and the second in the xy plane."""
    alpha, beta, gamma = (0.0 if angle == 90 else np.cos(np.radians(angle)) for angle in angles)
    sine = np.sqrt(1 - gamma * gamma)
    y = (alpha - beta * gamma) / sine
    a, b, c = lengths
    return np.array([[a, 0, 0], [b * gamma, b * sine, 0], [c * beta, c * y, c * np.sqrt(max(0.0, 1 - beta * beta - y * y))]])


def periodic_box(lengths, angles=RIGHT_ANGLES, origin=(0, 0, 0)):
    """Returns {"periodic_box": ...} for a cell with right angles, otherwise {}. Axes of length 0 are not periodic."""
    is_right = all(angle == 90 for angle in angles)
    if not is_right or not np.isfinite([*lengths, *origin]).all() or not any(lengths) or min(lengths) < 0:
        return {}
    lower = [float(low) if length else None for low, length in zip(origin, lengths)]
    upper = [float(low) + float(length) if length else None for low, length in zip(origin, lengths)]
    return {"periodic_box": {"lower": lower, "upper": upper}}
