# SPDX-License-Identifier: BSD-3-Clause
"""COPC (https://copc.io): LAZ whose compressed chunks are the nodes of an octree, so that viewers read a part of the points.

    header | VLRs, of which the first is that of COPC | chunks | table of chunks | EVLR with the hierarchy: 32 bytes for each node

A node has the points that lie in its cube, at most one in each of 128 x 128 x 128 cells, unless it is a leaf. laspy writes the
header, and lazrs the chunks; neither writes COPC by itself.
"""

import io
import struct

import numpy as np

from ..errors import refuse

BITS = 7             # 2^7 cells along each edge of a node
MAX_LEVEL = 14       # so that the numbers of cells along three axes fit into 64 bits
MAX_LEAF = 50000     # points of a node that are not divided further
USER, INFO, HIERARCHY = "copc", 1, 1000


def write(laspy, lazrs, path, header, record):
    """Writes the points of a laspy record. header: of LAS 1.4, with a point format of 6 or more."""
    positions = np.stack([np.asarray(record[axis], np.float64) for axis in "xyz"], axis=1)
    cube, nodes = _octree(positions)
    if len(record):
        header.grow(record)
    header.are_points_compressed = True
    header.global_encoding.wkt = True  # which COPC requires, also without a coordinate system
    laszip = lazrs.LazVlr.new_for_compression(header.point_format.id, header.point_format.num_extra_bytes, True)
    info = laspy.VLR(USER, INFO, "COPC info", bytes(160))
    others = list(header.vlrs)
    header.vlrs.clear()
    header.vlrs.extend([info, laspy.vlrs.known.LasZipVlr(laszip.record_data()), *others])
    with open(path, "w+b") as file:
        header.write_to(file)
        compressor = lazrs.LasZipCompressor(file, laszip)
        for number, (_, members) in enumerate(nodes):
            if number:
                compressor.finish_current_chunk()  # done() finishes the last one
            compressor.compress_many(np.frombuffer(record.array[members].tobytes(), np.uint8))
        compressor.done()
        file.flush()
        page = _hierarchy(lazrs, file, header, laszip, nodes)
        header.start_of_first_evlr, header.number_of_evlrs = file.seek(0, io.SEEK_END), 1
        file.write(struct.pack("<H16sHQ32s", 0, USER.encode(), HIERARCHY, len(page), b"COPC hierarchy"))
        place = file.tell()
        file.write(page)
        times = np.asarray(record["gps_time"]) if len(record) else np.zeros(1)
        info.record_data = struct.pack("<5d2Q2d88x", *cube.center, cube.half, 2 * cube.half / (1 << BITS), place, len(page),
                                       times.min(), times.max())
        file.seek(0)
        header.write_to(file, ensure_same_size=True)


class Cube:
    """The cube of the root. It begins at the lower ends of the points, as some readers expect."""

    def __init__(self, positions):
        self.low, high = (positions.min(axis=0), positions.max(axis=0)) if len(positions) else (np.zeros(3), np.zeros(3))
        self.half = float((high - self.low).max()) / 2 or 0.5
        self.center = self.low + self.half

    def cells(self, positions, level):
        """(n, 3) numbers of the cells of a level, along each axis."""
        count = 1 << (BITS + level)
        cells = np.floor((positions - self.low) * (count / (2 * self.half))).astype(np.int64)
        return np.clip(cells, 0, count - 1)


def _joined(cells):
    return (cells[:, 0] << 42) | (cells[:, 1] << 21) | cells[:, 2]


def _octree(positions):
    """The cube, and pairs of a key (level, x, y, z) and the rows of the points of each node."""
    cube, nodes = Cube(positions), []
    left = np.random.default_rng(1).permutation(len(positions))  # so that the first point of a cell is any of its points
    for level in range(MAX_LEVEL + 1):
        if not len(left):
            break
        cells = cube.cells(positions[left], level)
        keys, of_point, counts = np.unique(_joined(cells >> BITS), return_inverse=True, return_counts=True)
        is_taken = (counts <= (MAX_LEAF if level < MAX_LEVEL else len(positions)))[of_point]
        is_taken[np.unique(_joined(cells), return_index=True)[1]] = True
        rows = np.flatnonzero(is_taken)
        rows = rows[np.argsort(of_point[rows], kind="stable")]
        ends = np.cumsum(np.bincount(of_point[rows], minlength=len(keys)))
        for key, members in zip(keys.tolist(), np.split(left[rows], ends[:-1])):
            nodes.append(((level, key >> 42, key >> 21 & 0x1FFFFF, key & 0x1FFFFF), np.sort(members)))
        left = left[~is_taken]
    return cube, nodes


def _hierarchy(lazrs, file, header, laszip, nodes):
    """The entries of all nodes, in one page."""
    file.seek(header.offset_to_point_data)
    chunks = lazrs.read_chunk_table(file, laszip) if nodes else []
    place, entries = header.offset_to_point_data + 8, []  # after the offset of the table of chunks
    if [count for count, _ in chunks] != [len(members) for _, members in nodes]:
        refuse("lazrs wrote other chunks than the nodes of COPC")
    for (key, members), (_, size) in zip(nodes, chunks):
        entries.append(struct.pack("<4iQ2i", *key, place, size, len(members)))
        place += size
    return b"".join(entries)
