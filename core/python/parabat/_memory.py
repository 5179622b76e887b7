# SPDX-License-Identifier: BSD-3-Clause
"""Determines the amount of free memory."""

import os
import re


def free_memory() -> int:
    """Returns the free bytes of this machine, within the limits of this process's control group."""
    free = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path, pattern, unit in (("/proc/meminfo", r"^MemAvailable: *(\d+) kB", 1024),
                                ("/sys/fs/cgroup/memory.max", r"^(\d+)$", 1)):
        try:
            with open(path, encoding="ascii") as file:
                found = re.search(pattern, file.read(), re.MULTILINE)
        except (OSError, ValueError):
            continue
        if found:
            free.append(int(found[1]) * unit)
    return min(free)
