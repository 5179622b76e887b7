# SPDX-License-Identifier: BSD-3-Clause
"""Packed AMReX ids, implemented in NumPy so that codes which pass arrays need no library. bat/ids.hpp describes the
layout; tests check both against the same numbers."""

from __future__ import annotations

import numpy as np


def unpack_ids(packed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns (ids, cpus), int64 and int32, from an array of packed numbers, uint64 `idcpu`. An id
    is unique only together with its cpu, the rank that created the particle."""
    packed = np.asarray(packed)
    if packed.dtype != np.uint64:
        raise TypeError(f"packed ids of type {packed.dtype}; allowed: uint64")
    magnitude = (packed >> np.uint64(24) & np.uint64(0x7FFFFFFFFF)).astype(np.int64)
    return np.where(packed >> np.uint64(63) != 0, magnitude, -magnitude), (packed & np.uint64(0xFFFFFF)).astype(np.int32)


def join_halves(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Returns the packed numbers for int32 halves."""
    low, high = (np.ascontiguousarray(half, np.int32).view(np.uint32).astype(np.uint64) for half in (low, high))
    return high << np.uint64(32) | low
