# SPDX-License-Identifier: BSD-3-Clause
"""VTKHDF files, recognized by their group VTKHDF; see vtkhdf.py."""

from .. import hdf5, vtkhdf
from ..model import Format

FORMAT = Format("vtkhdf", "points in VTKHDF files, with all steps", vtkhdf.steps, extensions=(".vtkhdf",), modules=hdf5.MODULE,
                options=("follow_links",), sniff=hdf5.sniffer(lambda file: vtkhdf.ROOT in file))
