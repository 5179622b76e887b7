# SPDX-License-Identifier: BSD-3-Clause
"""A reader of tracks files, version 1.0, written from core/particles/FORMAT.md section 19 alone."""

import collections
import os
import struct

import numpy as np

from .reader import PAGE, SCALARS, BatError, xxh3, xxh64, xxhash

MAGIC = bytes([0x89, 0x42, 0x54, 0x4B, 0x0D, 0x0A, 0x1A, 0x0A])
HEADER = struct.Struct("<8sHHIQQ24sQ")
END = struct.Struct("<QQIIQ")
FIRST = HEADER.size + 2 * END.size
START = struct.Struct("<IIQQQQQQQ")
HEAD = struct.Struct("<IIQQIBBBBIIQ16s")
ATTRIBUTE = struct.Struct("<BBBBIII")
SAMPLE = struct.Struct("<qdQII")
HAS_TIME, SAME_METADATA = 1, 2

Attribute = collections.namedtuple("Attribute", "name type components role host_type")
Sample = collections.namedtuple("Sample", "step time metadata id_name second_name ids second positions attributes columns")
Sample.__doc__ = """The particles at one time: ids (n,), second (n,) or None, positions (n, 3), columns by name;
attributes describes the columns."""


def class_of(type_):
    """Returns the 8-byte type of a scalar type's value class (section 2)."""
    return np.dtype("<" + np.dtype(SCALARS[type_]).kind + "8")


class Tracks:
    """samples: the file's samples, in order; end: where its blocks end according to its writer; finished: whether
    nothing follows."""

    def __init__(self, data, path):
        self.path, self.data = path, data
        self._read_header()
        blocks = [self._read_block(*where) for where in self._starts()]
        self.samples, named = [], []
        for i, block in enumerate(blocks):
            later = [other[0].step for other in blocks[i + 1:]]
            kept = [sample for sample in block if not later or sample.step < min(later)]
            self.samples += kept
            if kept and any(len(sample.ids) for sample in block):
                named.append((kept[0].id_name, kept[0].second_name) + tuple(
                    None if values is None else values.dtype.kind for values in (kept[0].ids, kept[0].second)))
        self._need(len(set(named)) < 2, "names and classes of the ids", named, "those of one block")

    @classmethod
    def open(cls, path):
        """Opens and reads a file."""
        path = os.fspath(path)
        try:
            with open(path, "rb") as stream:
                return cls(stream.read(), path)
        except FileNotFoundError as error:
            raise BatError("not_found", "%s: %s" % (path, error)) from error
        except OSError as error:
            raise BatError("cannot_open", "%s: %s" % (path, error)) from error

    def _need(self, good, thing, found, allowed, kind="corrupt"):
        if not good:
            raise BatError(kind, "%s: %s is %s, allowed is %s" % (self.path, thing, found, allowed))

    def _need_checksum(self, stored, thing, data):
        if xxhash:
            self._need(xxh64(data) == stored, "the checksum of " + thing, "%016x" % stored, "%016x" % xxh64(data))

    def _read_header(self):
        start = self.data[:8]
        self._need(start == MAGIC[:len(start)], "the start", start.hex(), MAGIC.hex(), "not_a_bat_file")
        if len(self.data) >= 12:
            major, = struct.unpack_from("<H", self.data, 8)
            self._need(major == 1, "the major version", major, 1, "unsupported_version")
        self._need(len(self.data) >= FIRST, "the size of the file", len(self.data), "at least 128", "truncated")
        _, _, _, size, features, _, reserved, checksum = HEADER.unpack_from(self.data)
        self._need_checksum(checksum, "the header", self.data[:56])
        self._need(features == 0, "required_features", features, 0, "unsupported_version")
        self._need(size == FIRST and not any(reserved), "the header", (size, reserved), "128 bytes, reserved ones zero")
        ends = [self.data[at:at + END.size] for at in (64, 96)]
        whole = [END.unpack(end) for end in ends if not xxhash or END.unpack(end)[4] == xxh64(end[:24])]
        self._need(whole, "the checksum of both records of the end", [end.hex() for end in ends], "right in one")
        _, self.end, finished, reserved, _ = max(whole, key=lambda end: end[0])
        self.finished = bool(finished)
        self._need(finished <= 1 and reserved == 0 and self.end >= FIRST and self.end % 64 == 0, "the record of the end",
                   (self.end, finished, reserved), "what section 19 allows")
        self._need(len(self.data) >= self.end, "the size of the file", len(self.data), "at least %d" % self.end, "truncated")
        self._need(not finished or len(self.data) == self.end, "the size of the finished file", len(self.data), self.end)

    def _starts(self):
        at = FIRST
        while at + START.size <= len(self.data):
            start = self.data[at:at + START.size]
            if not any(start[56:]):
                break
            kind, reserved, offset, size, head, payload, head_checksum, reserved2, checksum = START.unpack(start)
            thing = "the start at %d" % at
            self._need_checksum(checksum, thing, start[:56])
            self._need(kind == 1, "the kind of the block at %d" % at, kind, 1, "unsupported_version")
            self._need(offset == at and reserved == reserved2 == 0, thing, (offset, reserved, reserved2), (at, 0, 0))
            self._need(at >= self.end or at + size <= self.end, "the end of the block at %d" % at, at + size, "at most %d" % self.end)
            self._need(at + size <= len(self.data), "the size of the file", len(self.data), "at least %d" % (at + size), "truncated")
            end = START.size + head + payload
            self._need(head % 8 == 0 and size == -(-end // 64) * 64, thing, (size, head, payload), "sizes that fit")
            self._need(not any(self.data[at + end:at + size]), "what follows the block at %d" % at, "something", "zeros")
            yield at, at + START.size, head, payload, head_checksum
            at += size
        self._need(at >= self.end, "the checksum of the start at %d" % at, 0, "another before %d" % self.end)

    def _read_block(self, at, begin, head_bytes, payload_bytes, checksum):
        head = self.data[begin:begin + head_bytes]
        payload = self.data[begin + head_bytes:begin + head_bytes + payload_bytes]
        thing = "the head at %d" % begin
        self._need_checksum(checksum, thing, head)
        self._need(len(head) >= HEAD.size, thing, len(head), "at least 64 bytes")
        (samples, attributes, ids, rows, row_bytes, position_type, id_type, second_type, reserved, id_name_bytes, second_name_bytes,
         text_bytes, reserved2) = HEAD.unpack_from(head)
        pages = -(-payload_bytes // PAGE)
        used = HEAD.size + 16 * attributes + 32 * samples + 12 * ids + (8 * ids if second_type else 0) + 4 * pages + text_bytes
        self._need(-(-used // 8) * 8 == len(head) and not any(head[used:]), thing, len(head), "%d bytes, zeros behind" % used)
        self._need(samples and position_type in (9, 10) and id_type in SCALARS and (second_type in SCALARS or second_type == 0)
                   and id_name_bytes and bool(second_name_bytes) == bool(second_type) and attributes <= 65535
                   and reserved == 0 and not any(reserved2), thing, HEAD.unpack_from(head), "what section 19 allows")
        where = HEAD.size

        def records(record, count):
            nonlocal where
            where += record.size * count
            return [record.unpack_from(head, where - record.size * (count - i)) for i in range(count)]

        def array(dtype, count):
            nonlocal where
            values = np.frombuffer(head, dtype, count, where)
            where += values.nbytes
            return values

        described, listed = records(ATTRIBUTE, attributes), records(SAMPLE, samples)
        for record in described:
            self._need(record[0] in SCALARS and 1 <= record[1] <= 9 and record[3] == record[6] == 0 and 1 <= record[5] <= 65535,
                       "an attribute", record, "what section 19 allows")
        id_values, second = array(class_of(id_type), ids), array(class_of(second_type), ids) if second_type else None
        counts, sums = array("<u4", ids), array("<u4", pages)
        texts = head[where:where + text_bytes]

        def text(size):
            nonlocal texts
            self._need(size <= len(texts), "a string", size, "at most %d bytes" % len(texts))
            piece, texts = texts[:size], texts[size:]
            try:
                return piece.decode()
            except UnicodeDecodeError as error:
                raise BatError("corrupt", "%s: %s" % (self.path, error)) from error

        names = [text(id_name_bytes), text(second_name_bytes)] + [text(record[5]) for record in described]
        used_names = names if second_type else names[:1] + names[2:]
        self._need(len(set(used_names)) == len(used_names) and "\0" not in "".join(names), "the names", names, "all different")
        kinds = [Attribute(name, SCALARS[record[0]], record[1], record[2], record[4]) for name, record in zip(names[2:], described)]
        sizes = [("positions", np.dtype(SCALARS[position_type]), 3)] + [(k.name, np.dtype(k.type), k.components) for k in kinds]
        self._need(row_bytes == 4 + sum(dtype.itemsize * c for _, dtype, c in sizes) and payload_bytes == rows * row_bytes
                   and int(counts.sum(dtype=np.int64)) == rows and (counts > 0).all(), thing, (row_bytes, payload_bytes, rows), "sizes that fit")
        self._check_ids(id_values, id_type, second, second_type)
        for i in range(pages if xxhash else 0):
            self._need(xxh3(payload[PAGE * i:PAGE * (i + 1)]) & 0xFFFFFFFF == sums[i], "the checksum of page %d" % i, "another", "%08x" % sums[i])

        of_sample = [[] for _ in range(samples)]                   # (id, row, history)
        for i, (end, count) in enumerate(zip(np.cumsum(counts, dtype=np.int64) * row_bytes, counts)):
            history = payload[end - int(count) * row_bytes:end]
            numbers = np.frombuffer(history, "<u4", count)
            self._need((np.diff(numbers.astype(np.int64)) >= 0).all() and numbers[-1] < samples, "samples of an id", numbers, "ascending")
            columns, first = [], 4 * int(count)
            for _, dtype, components in sizes:
                values = np.frombuffer(history, dtype.newbyteorder("<"), int(count) * components, first)
                first += values.nbytes
                columns.append(values.reshape(-1, components))
            for row, number in enumerate(numbers):
                of_sample[number].append((i, row, columns))
        found = []
        for (step, time, count, flags, metadata_bytes), members in zip(listed, of_sample):
            self._need(flags < 4 and (not found or step > found[-1].step) and count == len(members) and time == time
                       and (flags & HAS_TIME or struct.pack("<d", time) == bytes(8))
                       and not (flags & SAME_METADATA and (metadata_bytes or not found)),
                       "step %d" % step, (flags, count, time, metadata_bytes), "what section 19 allows")
            metadata = found[-1].metadata if flags & SAME_METADATA else text(metadata_bytes)
            values = {name: np.array([columns[c][row] for _, row, columns in members], dtype).reshape(-1, components)
                      for c, (name, dtype, components) in enumerate(sizes)}
            which = [i for i, _, _ in members]
            positions = np.array([columns[0][row] for _, row, columns in members], sizes[0][1]).reshape(-1, 3)
            found.append(Sample(step, time if flags & HAS_TIME else None, metadata, names[0], names[1] or None,
                                id_values[which].astype(SCALARS[id_type]),
                                None if second is None else second[which].astype(SCALARS[second_type]),
                                positions, kinds, {k.name: values[k.name] for k in kinds}))
        self._need(not texts, "the texts", "%d bytes too long" % len(texts), "filled")
        return found

    def _check_ids(self, ids, id_type, second, second_type):
        for values, type_ in ((ids, id_type), (second, second_type)):
            if values is None:
                continue
            with np.errstate(over="ignore"):
                same = values.astype(SCALARS[type_]).astype(values.dtype).tobytes() == values.tobytes()
            negative_zero = values.dtype.kind == "f" and np.any((values == 0) & np.signbit(values))
            self._need(same and not np.isnan(values.astype(float)).any() and not negative_zero, "an id", values, SCALARS[type_])
        keys = list(zip(ids.tolist(), ids.tolist() if second is None else second.tolist()))
        self._need(all(a < b for a, b in zip(keys, keys[1:])), "the ids", keys, "ascending")
