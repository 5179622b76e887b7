# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m parabat.convert: runs the command `parabat convert`."""

import sys

from ..cli import program

if __name__ == "__main__":
    sys.argv.insert(1, "convert")
    sys.exit(program())
