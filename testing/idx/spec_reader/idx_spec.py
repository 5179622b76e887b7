# SPDX-License-Identifier: BSD-3-Clause
"""A reader of .idx datasets written from core/idx/IDX.md alone, with NumPy and the standard library. Sections in
comments are that text's.

Slow and short: every sample is located individually through its number in HZ order. Raises ValueError for unsupported
input.
"""

import pathlib
import re
import struct
import zlib

import numpy as np


def unlz4(packed):
    """Decodes one bare LZ4 block."""
    out, at = bytearray(), 0

    def length(nibble):
        nonlocal at
        total = nibble
        while nibble == 15:
            byte = packed[at]
            at += 1
            total += byte
            if byte != 255:
                break
        return total

    while True:
        token = packed[at]
        at += 1
        literals = length(token >> 4)
        out += packed[at:at + literals]
        at += literals
        if at == len(packed):
            return bytes(out)
        distance = packed[at] | packed[at + 1] << 8
        at += 2
        copied = length(token & 15) + 4
        for _ in range(copied):
            out.append(out[-distance])


def keys_of(text):
    """Section 2: keys and their values."""
    values, key = {}, None
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("(") and line.endswith(")"):
            key = line[1:-1].strip()
            values[key] = ""
        elif line:
            values[key] = (values[key] + " " + line).strip()
    return values


class Field:
    """Section 2.1."""

    def __init__(self, text):
        self.name, kind, *options = re.findall(r"[^\s()]+(?:\([^)]*\))?", text)
        found = re.fullmatch(r"(?:(\d+)\*)?(u?int(?:8|16|32|64)|float(?:32|64))(?:\[(\d+)\])?", kind)
        if not found:
            raise ValueError(f"type {kind}")
        self.type = np.dtype(found[2])
        self.components = int(found[1] or found[3] or 1)
        words = {option.split("(")[0]: option.partition("(")[2].rstrip(")") for option in options}
        self.codec = words.get("default_compression", "zip" if "compressed" in words else "")
        self.row_major = words.get("default_layout") != "hzorder" and words.get("format") != "0"
        value = words.get("default_value", "0")
        self.default = self.type.type(int(value) if re.fullmatch(r"-?\d+", value) else float(value))

    @property
    def sample_bytes(self):
        return self.type.itemsize * self.components


class Dataset:
    def __init__(self, path):
        path = pathlib.Path(path)
        keys = keys_of(path.read_text())
        self.folder, self.stem, self.keys = path.parent, path.stem, keys
        self.version = 6 if keys["version"] == "6.1" else int(keys["version"])
        # Section 6, for any year.
        self.pidx = keys["version"] == "6.1" or "io mode" in keys or (
            self.version == 6 and "interleave block" not in keys and
            re.fullmatch(r"(0 \d+ ?){5}", keys["box"]) and re.search(r" time%0\dd/$", keys.get("time", "")))
        ends = [int(word) for word in keys["box"].split()] + [0] * 6
        self.box = [(ends[2 * axis], ends[2 * axis + 1]) for axis in range(3)]
        pieces = re.split(r"\+(?![^(]*\))", keys["fields"])
        self.fields = [Field(piece.strip()) for piece in pieces]
        self.digits = [int(digit) for digit in keys["bits"][1:]]
        self.levels = len(self.digits)
        self.arco = int(keys.get("arco", 0))
        block_bits = int(keys["bitsperblock"])
        if self.arco:
            block_bits = (self.arco // max(field.sample_bytes for field in self.fields)).bit_length() - 1
        self.block_bits = min(block_bits, self.levels)
        self.blocks_per_file = 1 if self.arco else int(keys["blocksperfile"])
        self.interleave = max(1, int(keys.get("interleave block", 0)))
        self.time_template = next((word for word in keys.get("time", "").split() if "%" in word), "")
        self.cache, self.known = {}, (None, None, None)

    def steps(self):
        """Section 2.2, except `* *`: numbers of time steps, ascending."""
        text = self.keys.get("time", "0 0")
        ranges = [[int(n) for n in one.split(",")] for one in re.findall(r"\(([\d,]+)\)", text)]
        if not ranges:
            ranges = [[int(n) for n in text.split()[:2]]]
        return sorted(step for first, *rest in ranges
                      for step in range(first, (rest or [first])[0] + 1, rest[1] if len(rest) > 1 else 1))

    def delta(self, level):
        """Section 5: distance between the samples of a level."""
        return [2 ** self.digits[level:].count(axis) for axis in range(3)]

    def file_of(self, block, step):
        """Section 3: path of the file, and the row of the block in it."""
        row = block // self.interleave % self.blocks_per_file
        number = block - row * self.interleave
        template = self.keys["filename_template"]
        template = template[2:] if template.startswith("./") else template
        first = template.find("%")
        if first < 0:
            return self.folder / template, row
        time = re.sub(r"%(0?)(\d*)d", lambda m: format(step, (m[1] + m[2] if m[2] else "") + "d"), self.time_template)
        widths = [int(width) for width in re.findall(r"%0(\d)x", template)]
        digits = format(number, "x").rjust(sum(widths), "0")
        if self.version <= 4:
            parts, folders = [digits], ""
        else:
            parts = []
            for width in reversed(widths):
                parts.insert(0, digits[-width:])
                digits = digits[:-width]
            digits = digits.rjust(-(-len(digits) // widths[0]) * widths[0], "0")
            folders = "".join(digits[i:i + widths[0]] + "/" for i in range(0, len(digits), widths[0]))
        for part in parts:
            template = re.sub(r"%0\dx", part, template, count=1)
        return self.folder / (template[:first] + time + folders + template[first:]), row

    def stored(self, f, block, step):
        """Section 4: bytes of a block as stored, codec, and whether it is row-major; or None."""
        field = self.fields[f]
        raw_bytes = field.sample_bytes << self.block_bits
        if self.arco:
            number = format(block, "016x")
            path = self.folder / self.stem / str(step) / field.name / "/".join(number[i:i + 4] for i in (0, 4, 8, 12))
            path = path.with_name(path.name + ".bin")
            if not path.exists():
                return None
            data = path.read_bytes()
            return data, {"zip": 3, "lz4": 7}.get(field.codec, 0) if len(data) != raw_bytes else 0, field.row_major
        path, row = self.file_of(block, step)
        if not path.exists():
            return None
        data = path.read_bytes()
        position = f * self.blocks_per_file + row
        if self.version >= 6:
            _, _, low, high, size, flags = struct.unpack_from(">6I", data, 40 + 40 * position)
            offset, codec, row_major = low | high << 32, flags & 15, bool(flags & 16)
        else:
            offset, size, packed = struct.unpack_from(">3I", data, (0 if self.version == 1 else 16) + 12 * position)
            codec, row_major = (3 if packed else 0), False
        if offset == 0 or size == 0:
            return None
        return data[offset:offset + size], codec, row_major

    def block(self, f, block, step):
        """Samples of a block, in HZ order or as [z, y, x], and which of them; or None if it is
        absent."""
        key = (f, block, step)
        if key not in self.cache:
            self.cache[key] = self.decoded(f, block, step)
        return self.cache[key]

    def decoded(self, f, block, step):
        field, found = self.fields[f], self.stored(f, block, step)
        if found is None:
            return None
        data, codec, row_major = found
        if codec not in (0, 3, 7):
            raise ValueError(f"codec {codec}")
        raw = zlib.decompressobj().decompress(data) if codec == 3 else unlz4(data) if codec == 7 else data
        raw_bytes = field.sample_bytes << self.block_bits
        if codec == 0 and self.pidx:
            raw = raw.ljust(raw_bytes, b"\0")  # section 6: it ends with the last sample in the box
        if len(raw) != raw_bytes:
            raise ValueError(f"block {block} has {len(raw)} bytes")
        word = 1
        if self.version <= 2:
            word = 4 if field.type == np.float32 else 1
        elif self.keys.get("endian") in ("big", "0"):
            word = {4: 4, 12: 4, 8: 8, 24: 8}.get(field.sample_bytes, 1)
        raw = np.frombuffer(raw, np.uint8).reshape(-1, word)[:, ::-1].tobytes()
        return np.frombuffer(raw, field.type).reshape(-1, field.components), row_major

    def places(self, points):
        """Section 5: number of each point's block, its index there in HZ order, and in row-major order."""
        z = np.zeros(len(points), np.int64)
        left = points.copy()
        for place in range(self.levels - 1, -1, -1):
            axis = self.digits[place]
            z |= (left[:, axis] & 1) << (self.levels - 1 - place)
            left[:, axis] >>= 1
        marked = z | 1 << self.levels
        hz = marked // ((marked & -marked) * 2)
        block = hz >> self.block_bits
        rows = np.zeros(len(points), np.int64)
        for number in np.unique(block):
            own = block == number
            if number == 0:
                origin, distance = np.zeros(3, np.int64), self.delta(self.block_bits)
                counts = [2 ** self.digits[:self.block_bits].count(axis) for axis in range(3)]
            else:
                level = self.block_bits + int(number).bit_length()
                distance = self.delta(level - 1)
                counts = [2 ** self.digits[level - 1 - self.block_bits:level - 1].count(axis) for axis in range(3)]
                origin = points[own] // (np.array(counts) * distance) * (np.array(counts) * distance)
                origin[:, self.digits[level - 1]] += self.delta(level)[self.digits[level - 1]]
            at = (points[own] - origin) // distance
            rows[own] = (at[:, 2] * counts[1] + at[:, 1]) * counts[0] + at[:, 0]
        return block, hz & (1 << self.block_bits) - 1, rows

    def read(self, name, step, level, box):
        """Samples of a level in a box of first and last per axis, as [z, y, x, component]."""
        f = [field.name for field in self.fields].index(name)
        field, delta = self.fields[f], self.delta(level)
        key = (level, tuple(box))
        if self.known[0] != key:
            axes = [np.arange(-(-lower // d) * d, upper + 1, d) for (lower, upper), d in zip(box, delta)]
            z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing="ij")
            points = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1).astype(np.int64)
            self.known = key, x.shape, self.places(points)
        _, shape, (block, place, row) = self.known
        out = np.full((len(block), field.components), field.default, field.type)
        for number in np.unique(block):
            found = self.block(f, int(number), step)
            if found is not None:
                own = block == number
                out[own] = found[0][(row if found[1] else place)[own]]
        return out.reshape(shape + (field.components,))
