# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m parabat.pure info|validate|dump|query FILE: the reader as a program."""

import sys

from .reader import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
