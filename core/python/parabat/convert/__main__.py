# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m parabat.convert: the verb `convert` of the command `parabat`."""

import sys

from ..cli import program

if __name__ == "__main__":
    sys.argv.insert(1, "convert")
    sys.exit(program())
