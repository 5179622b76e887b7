# SPDX-License-Identifier: BSD-3-Clause
"""Packed ids of AMReX. In NumPy, as codes that hand over arrays need no library for it; bat/ids.hpp has the layout, and
tests hold both to the same numbers."""

from __future__ import annotations

import numpy as np


def unpack_ids(packed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns (ids, cpus), int64 and int32, of an array of packed numbers, uint64 `idcpu`. An id is
    unique only together with its cpu, the rank that made the particle."""
    packed = np.asarray(packed)
    if packed.dtype != np.uint64:
        raise TypeError(f"packed ids of type {packed.dtype}; allowed: uint64")
    magnitude = (packed >> np.uint64(24) & np.uint64(0x7FFFFFFFFF)).astype(np.int64)
    return np.where(packed >> np.uint64(63) != 0, magnitude, -magnitude), (packed & np.uint64(0xFFFFFF)).astype(np.int32)


def join_halves(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Returns the packed numbers of int32 halves."""
    low, high = (np.ascontiguousarray(half, np.int32).view(np.uint32).astype(np.uint64) for half in (low, high))
    return high << np.uint64(32) | low
