#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The reader of parabat.pure, which was written from core/particles/FORMAT.md alone, under the name that the tests
use."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "core", "python"))
from parabat.pure.reader import *  # noqa: pylint: disable=wildcard-import,unused-wildcard-import,wrong-import-position

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
