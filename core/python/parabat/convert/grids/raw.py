# SPDX-License-Identifier: BSD-3-Clause
"""Raw binary data, x fastest, with interleaved components. --dimensions and --type describe it, or the file name does, as in
engine_256x256x128_uint8.raw."""

import os
import re

import numpy as np

from ..model import ConvertError, Fields, Format, Step, stem

NAME = re.compile(r"(.*?)_?(\d+)x(\d+)x(\d+)_(u?int(?:8|16|32|64)|float(?:32|64))\.\w+\Z")


def steps(path, options):
    named = NAME.match(os.path.basename(path))
    dimensions = options.dimensions or (tuple(map(int, named.groups()[1:4])) if named else None)
    type_ = options.type or ((named[5], 1) if named else None)
    if dimensions is None or type_ is None:
        raise ConvertError(f"argument --{'type' if dimensions else 'dimensions'}: is required for raw data whose name does not contain it, as in "
                           "NAME_256x256x128_uint8.raw")
    name, components = type_
    dtype = np.dtype(name).newbyteorder(">" if options.byte_order == "big" else "<")
    shape = tuple(dimensions[::-1]) + ((components,) if components > 1 else ())
    needed = int(np.prod(shape, dtype=object)) * dtype.itemsize
    there = os.path.getsize(path) - options.skip
    if there != needed:
        raise ConvertError(f"has {there} bytes" + (f" after the first {options.skip}" if options.skip else "")
                           + f"; {'x'.join(map(str, dimensions))} of {name}[{components}] need {needed}")
    field = options.called(named[1] if named and named[1] else stem(path))
    yield Step(lambda: Fields({field: np.memmap(path, dtype, "r", options.skip, shape)}, options=options))


FORMAT = Format("raw", "raw binary data, with --dimensions and --type or described by its name", steps, extensions=(".raw", ".bin", ".dat"),
                options=("dimensions", "type", "byte_order", "skip", "origin", "spacing"), rank=40)
