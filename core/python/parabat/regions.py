# SPDX-License-Identifier: BSD-3-Clause
"""Spatial regions for queries: spheres, slabs, and oriented boxes."""

import collections
import ctypes

from ._arguments import as_real, as_reals
from ._library import check, library


class Sphere(collections.namedtuple("Sphere", "center radius outside", defaults=(False,))):
    """The points within `radius` of `center`, (3,); or, if `outside`, all others."""

    def _add(self, query):
        center = as_reals(self.center, 3, "center of a sphere")
        check(library().bat_query_add_sphere(
            query, ctypes.c_void_p(center.ctypes.data),
            as_real(self.radius, "radius of a sphere"), ctypes.c_int(bool(self.outside))))


class Slab(collections.namedtuple("Slab", "normal lower upper outside", defaults=(False,))):
    """The points between two planes: lower <= normal . position <= upper; or, if `outside`, all
    others. normal: (3,), of any non-zero length. lower and upper limit its dot product with the
    position, a distance from the origin only if its length is 1; they may be infinite."""

    def _add(self, query):
        normal = as_reals(self.normal, 3, "normal of a slab")
        check(library().bat_query_add_slab(
            query, ctypes.c_void_p(normal.ctypes.data),
            as_real(self.lower, "lower end of a slab"), as_real(self.upper, "upper end of a slab"),
            ctypes.c_int(bool(self.outside))))


class OrientedBox(collections.namedtuple(
        "OrientedBox", "center axes half_extents outside", defaults=(False,))):
    """The points in a box around `center`, (3,); or, if `outside`, all others. Its sides are 2
    half_extents, (3,), long, along the rows of axes, (3, 3), usually orthogonal and of length 1."""

    def _add(self, query):
        center = as_reals(self.center, 3, "center of an oriented box")
        axes = as_reals(self.axes, 9, "axes of an oriented box")
        half_extents = as_reals(self.half_extents, 3, "half extents of an oriented box")
        check(library().bat_query_add_oriented_box(
            query, ctypes.c_void_p(center.ctypes.data), ctypes.c_void_p(axes.ctypes.data),
            ctypes.c_void_p(half_extents.ctypes.data), ctypes.c_int(bool(self.outside))))
