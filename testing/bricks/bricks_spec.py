# SPDX-License-Identifier: BSD-3-Clause
"""Reads .bricks files by the text of core/bricks/BRICKS.md alone. Slow; checks everything.

read(path) -> dict with "values" of shape (nz, ny, nx, components), header fields and "preview"."""

import json
import struct

import numpy as np
import xxhash


def lz4_block(data, raw):
    """Decodes the LZ4 block format: literals and matches."""
    out, at = bytearray(), 0
    while at < len(data):
        token = data[at]
        at += 1
        count = token >> 4
        if count == 15:
            while True:
                count += data[at]
                at += 1
                if data[at - 1] != 255:
                    break
        out += data[at:at + count]
        at += count
        if at == len(data):
            break
        distance = data[at] | data[at + 1] << 8
        at += 2
        count = (token & 15) + 4
        if token & 15 == 15:
            while True:
                count += data[at]
                at += 1
                if data[at - 1] != 255:
                    break
        assert 0 < distance <= len(out)
        for _ in range(count):
            out.append(out[-distance])
    assert len(out) == raw, (len(out), raw)
    return bytes(out)


def align8(n):
    return -(-n // 8) * 8


def pages(data, offset, raw_bytes, seed):
    """Returns a paged section, and where the next one begins."""
    count = -(-raw_bytes // 4096)
    out, at = b"", offset
    for page in range(count):
        size = min(4096, raw_bytes - 4096 * page)
        content = data[at:at + size]
        stored, = struct.unpack_from("<Q", data, at + size)
        assert xxhash.xxh3_64_intdigest(content, (seed + page) % 2**64) == stored, page
        out += content
        at += size + 8
    end = offset + align8(raw_bytes + 8 * count)
    assert not any(data[at:end])
    return out, end


def slot_order(n):
    need = [0, 0, 0]
    for a in range(3):
        while 2**need[a] < n[a]:
            need[a] += 1
    pattern = []
    while len(pattern) < 9 and any(pattern.count(a) < need[a] for a in range(3)):
        for a in range(3):
            if len(pattern) < 9 and pattern.count(a) < need[a]:
                pattern.append(a)
    w = [pattern.count(a) for a in range(3)]
    p = [-(-n[a] // 2**w[a]) for a in range(3)]

    def slot(i):
        page = (i[0] >> w[0]) + p[0] * ((i[1] >> w[1]) + p[1] * (i[2] >> w[2]))
        within, taken = 0, [0, 0, 0]
        for e, a in enumerate(pattern):
            within |= (i[a] >> taken[a] & 1) << e
            taken[a] += 1
        return page * 2**len(pattern) + within
    return slot, p[0] * p[1] * p[2] * 2**len(pattern)


def decode(payload, codec, shape, components, word):
    """shape is (x, y, z) points."""
    m = shape[0] * shape[1] * shape[2]
    size = word.itemsize
    if codec == 0:
        return np.frombuffer(payload, word).reshape(shape[2], shape[1], shape[0], components)
    assert codec == 1
    planes = np.frombuffer(lz4_block(payload, m * components * size), np.uint8)
    planes = planes.reshape(size, components, m)
    out = np.empty((shape[2], shape[1], shape[0], components), word)
    bits = 8 * size
    for c in range(components):
        z = np.zeros(m, word)
        for b in range(size):
            z |= planes[b, c].astype(word) << word.type(8 * (size - 1 - b))
        w = (z >> word.type(1)) ^ (word.type(0) - (z & word.type(1)))
        w = w.reshape(shape[2], shape[1], shape[0])
        for axis in (0, 1, 2):
            w = np.cumsum(w, axis=axis, dtype=word)
        negative = (w >> word.type(bits - 1)).astype(bool)
        out[..., c] = np.where(negative, w ^ word.type(2**(bits - 1) - 1), w)
    return out


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    header = struct.unpack_from("<8sHHIQQQ3Q3d3ddqd3d3dIBBBBIIQ40sQ", data)
    (magic, major, _, header_bytes, file_bytes, required, _) = header[:7]
    points, origin, spacing = header[7:10], header[10:13], header[13:16]
    time, step, speed = header[16:19]
    minimum, maximum = header[19:22], header[22:25]
    flags, kind, components, edge, reserved, name_bytes, metadata_bytes, text_sum = header[25:33]
    assert magic == b"\x89BRK\r\n\x1a\n" and major == 1 and header_bytes == 256 and required == 0
    assert file_bytes == len(data) and reserved == 0 and not any(header[33]) and flags < 32
    assert header[34] == xxhash.xxh64_intdigest(data[:248])
    text = data[256:256 + name_bytes + metadata_bytes]
    assert text_sum == xxhash.xxh64_intdigest(text)
    name, metadata = text[:name_bytes].decode(), text[name_bytes:].decode()
    grid_id = xxhash.xxh64_intdigest(
        data[40:112] + bytes([flags >> 2, kind, components, edge, 0, 0, 0, 0]))
    word = np.dtype({9: "<u4", 10: "<u8"}[kind])
    n = [-(-p // edge) for p in points]
    count = n[0] * n[1] * n[2]
    at = align8(256 + len(text))
    assert not any(data[256 + len(text):at])
    preview, at = pages(data, at, count * components * word.itemsize, (grid_id + 2**63) % 2**64)
    slot, slots = slot_order(n)
    index, base = pages(data, at, 8 * slots, grid_id)
    index = np.frombuffer(index, "<u8")
    values = np.empty((points[2], points[1], points[0], components), word)
    nan = word.type(0x7FC00000 if kind == 9 else 0x7FF8000000000000)
    used, stored = np.zeros(slots, bool), []
    for number in range(count):
        i = (number % n[0], number // n[0] % n[1], number // n[0] // n[1])
        shape = [min(edge, points[a] - edge * i[a]) for a in range(3)]
        place = tuple(slice(edge * i[a], edge * i[a] + shape[a]) for a in (2, 1, 0))
        used[slot(i)] = True
        entry = int(index[slot(i)])
        size, offset = entry & 0xFFFFFF, (entry >> 24) * 8
        if size == 0:
            assert offset in (0, 8)
            values[place] = nan if offset == 0 else 0
            continue
        raw = shape[0] * shape[1] * shape[2] * components * word.itemsize
        assert 6 <= size <= 2 * raw + 64
        brick = data[base + offset:base + offset + size]
        assert len(brick) == size
        checksum, = struct.unpack_from("<I", brick)
        assert checksum == xxhash.xxh3_64_intdigest(brick[4:], (grid_id + number) % 2**64) & 0xFFFFFFFF
        values[place] = decode(brick[5:], brick[4], shape, components, word)
        stored.append((slot(i), offset, size))
    end = 0
    for _, offset, size in sorted(stored):
        assert offset == end
        end = align8(offset + size)
        assert not any(data[base + offset + size:base + end])
    assert base + end == len(data) and not index[~used].any()
    real = {9: "<f4", 10: "<f8"}[kind]
    return {"values": values.view(real), "origin": origin, "spacing": spacing, "field": name,
            "metadata": json.loads(metadata) if metadata else None,
            "time": time if flags & 1 else None, "step": step if flags & 2 else None,
            "cyclic": [bool(flags >> 2 + a & 1) for a in range(3)], "largest_speed": speed,
            "minimum": minimum, "maximum": maximum,
            "preview": np.frombuffer(preview, real).reshape(n[2], n[1], n[0], components)}
