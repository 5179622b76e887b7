# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m parabat: the command `parabat`."""

import sys

from .cli import program

if __name__ == "__main__":
    sys.exit(program())
