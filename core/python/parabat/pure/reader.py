# SPDX-License-Identifier: BSD-3-Clause
"""A reader of the BAT format, version 1.0, written from core/particles/FORMAT.md alone; it shares nothing with the library.

It favours simplicity over speed: it reads the whole file, verifies every checksum, and decodes every section into NumPy
arrays. The numbers in the docstrings are the sections of FORMAT.md. As a program: python3 -m parabat.pure --help
"""

import argparse
import json
import math
import os
import stat
import struct
import sys
import warnings
from collections import namedtuple

import numpy as np

from .. import errors
from .._text import printable
from . import codec

try:
    import xxhash
except ImportError:
    xxhash = None  # checksums are then not verified; open_any() warns

PAGE = 4096                                                                                          # 2
SCALARS = {1: "int8", 2: "uint8", 3: "int16", 4: "uint16", 5: "int32", 6: "uint32", 7: "int64", 8: "uint64", 9: "float32",
           10: "float64"}                                                                            # 2
CLASS_TYPES = {"i": "<i8", "u": "<u8", "f": "<f8"}                                                   # 2, by numpy's dtype.kind
MAGIC = bytes([0x89, 0x42, 0x41, 0x54, 0x0D, 0x0A, 0x1A, 0x0A])                                      # 5
HEADER = struct.Struct("<8sHHIQQQQQIIdqQ32sQ")                                                       # 5
SECTION = struct.Struct("<IIIIQQQQQQ")                                                               # 6
SCHEMA_HEAD = struct.Struct("<IIIIQIB3s3d3d")                                                        # 7
ATTRIBUTE_RECORD = struct.Struct("<BBBBIII")                                                         # 7
KEY_RECORD = struct.Struct("<IhBBII8s8sQ")                                                           # 7
ALIAS_RECORD = struct.Struct("<IhBBII")                                                              # 7
POSITION_KEY = np.dtype([("minimum", "<f8"), ("maximum", "<f8"), ("flags", "<u4"), ("reserved", "<u4")])   # 7
SAMPLE_ID = np.dtype([("attribute", "<u4"), ("component", "<i2"), ("reserved", "<u2")])              # 8
OF_POSITIONS = 4294967295                                                                            # 7
NODE = np.dtype([("lower", "<f8", 3), ("upper", "<f8", 3), ("first_treelet", "<u4"), ("skip", "<u4")])   # 9
TREELET = np.dtype([("count", "<u4"), ("flags", "<u4")])                                             # 9
CHUNK_TABLE_HEAD = struct.Struct("<IIdII")                                                            # 12
LEAF_FILES_HEAD = struct.Struct("<II")                                                               # 15
LEAF_RECORD = np.dtype([("particles", "<u8"), ("file_bytes", "<u8"), ("header_checksum", "<u8"), ("lower", "<f8", 3),
                        ("upper", "<f8", 3), ("name_bytes", "<u4"), ("flags", "<u4")])               # 15

(SCHEMA, METADATA, LEVELS, SHALLOW_TREE, TREELETS, BLOCK_BOXES, BIN_EDGES, TREELET_KEYS, BITMAP_DICTIONARY, BLOCK_BITMAPS,
 POSITIONS, ATTRIBUTE, AGGREGATION_TREE, LEAF_FILES, CHUNK_TABLE, SORTED_INDEX, ALIASES, SAMPLE_IDS, TREELET_LEVELS,
 BLOCK_LEVELS, HDF5_SUPERBLOCK, HDF5_OBJECTS) = range(1, 23)                                         # 6
KINDS = ["", "SCHEMA", "METADATA", "LEVELS", "SHALLOW_TREE", "TREELETS", "BLOCK_BOXES", "BIN_EDGES", "TREELET_KEYS",
         "BITMAP_DICTIONARY", "BLOCK_BITMAPS", "POSITIONS", "ATTRIBUTE", "AGGREGATION_TREE", "LEAF_FILES", "CHUNK_TABLE",
         "SORTED_INDEX", "ALIASES", "SAMPLE_IDS", "TREELET_LEVELS", "BLOCK_LEVELS", "HDF5_SUPERBLOCK",
         "HDF5_OBJECTS"]
PAGED = {BLOCK_BOXES, BLOCK_BITMAPS, POSITIONS, ATTRIBUTE, SORTED_INDEX, BLOCK_LEVELS}
SEVERAL_LEAF_FILES, COMPRESSED_CHUNKS, STABLE_SAMPLES = 1, 2, 4                                      # 14, required_features
HDF5_VIEW = {HDF5_SUPERBLOCK, HDF5_OBJECTS}                                                          # 20
SUPERBLOCK_OFFSET = 512                                                                              # 20
RAW, CHUNKS = 0, 1                                                                                   # 6, encoding
MAX_CHUNK_PARTICLES = 65536                                                                         # 12
INDEX_ENTRIES, INDEX_VALUES = 341, 512                                                               # 11, of a page

Section = namedtuple("Section", "kind index encoding flags offset bytes raw_bytes checksum checksums_offset reserved")
Attribute = namedtuple("Attribute", "name type components role host_type first_key")
Alias = namedtuple("Alias", "name target component role host_type")
Key = namedtuple("Key", "attribute component value_type bitmap_bytes has_nan bin_count dictionary_count minimum maximum")


STATUSES = ["", "not_found", "cannot_open", "not_a_bat_file", "unsupported_version", "truncated", "corrupt"]


class BatError(errors.BatError):
    """An error in a file; kind is not_found, cannot_open, not_a_bat_file, unsupported_version, truncated or corrupt."""

    def __init__(self, kind, message):
        super().__init__(STATUSES.index(kind), message)
        self.kind = kind
        self.message = message

    def __reduce__(self):
        return type(self), (self.kind, self.message)


class QueryError(errors.BatValueError):
    """An error in a query (section 13, last rule)."""

    def __init__(self, message):
        super().__init__(errors.INVALID_ARGUMENT, message)

    def __reduce__(self):
        return type(self), (str(self),)


# ---- 2 Conventions ----------------------------------------------------------------------------------------------------------

def xxh64(data):
    """Returns XXH64 of the bytes (section 2)."""
    return xxhash.xxh64_intdigest(data)


def xxh3(data):
    """Returns XXH3 of the bytes (section 2)."""
    return xxhash.xxh3_64_intdigest(data)


def pages(data):
    """Returns the pages of a section (section 2)."""
    return [data[i:i + PAGE] for i in range(0, len(data), PAGE)]


def page_checksums(data):
    """Returns the bytes of a section's checksum arrays, L2 then L1, and the length of L2 (section 6)."""
    l1 = b"".join(struct.pack("<I", xxh3(page) & 0xFFFFFFFF) for page in pages(data))
    l2 = b"".join(struct.pack("<I", xxh3(page) & 0xFFFFFFFF) for page in pages(l1))
    return l2 + l1, len(l2)


# ---- 13 Comparisons as real numbers -----------------------------------------------------------------------------------------

def closed_interval(value_type, lo, hi):
    """Returns the ends of [lo, hi] narrowed to values of a value class, or None if no value of the class is inside (section 13).

    lo and hi are ints, floats or Fractions; Python compares them exactly.
    """
    if lo != lo or hi != hi:
        raise QueryError("a box or range has a NaN end")
    if hi < lo:
        raise QueryError("the end %r is below the start %r" % (hi, lo))
    dtype = np.dtype(value_type)
    if dtype.kind == "f":
        first, last = (nearest_double(v) for v in (lo, hi))
        first = first if first >= lo else math.nextafter(first, math.inf)
        last = last if last <= hi else math.nextafter(last, -math.inf)
    else:
        limits = np.iinfo(dtype)
        first = limits.min if lo <= limits.min else limits.max + 1 if lo > limits.max else math.ceil(lo)
        last = limits.max if hi >= limits.max else limits.min - 1 if hi < limits.min else math.floor(hi)
    return (dtype.type(first), dtype.type(last)) if first <= last else None


def nearest_double(v):
    """Returns a double next to the real number v."""
    try:
        return float(v)
    except OverflowError:
        return math.inf if v > 0 else -math.inf


def bit_of(bins, first_bin, last_bin):
    """Returns the bit numbers of bins in a treelet (section 11, Bitmaps)."""
    k, w = np.asarray(bins, "i8") - first_bin, np.asarray(last_bin, "i8") - first_bin + 1
    return np.where(w <= 32, k, k * 32 // w)


def part_ordinals(n, part, parts):
    """Returns the ordinals of a part: the first one, and the end (section 13)."""
    if not 0 <= part < parts:
        raise QueryError("part %r of %r is out of range" % (part, parts))
    return n * part // parts, n * (part + 1) // parts


class BatFile:
    """A whole leaf file in memory, checked, including all checksums, as section 16 requires at opening and before first
    use."""

    TOP = False

    def __init__(self, data, path="(bytes)"):
        self.path = path
        self.data = memoryview(data)
        self._verified, self._key_values, self._places = {}, {}, None
        self._read_header()
        self._read_section_table()
        self._read_schema()
        self._read_levels()
        self._check_section_sizes()
        self._read_tree()
        self._read_stable_levels()
        self._read_keys()
        self._read_columns()
        self._read_metadata()

    @classmethod
    def open(cls, path):
        """Opens and reads a file (section 16, step 1)."""
        path = os.fspath(path)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise BatError("cannot_open", "%s: is not a regular file" % path)
            with open(path, "rb") as stream:
                data = stream.read()
        except FileNotFoundError as error:
            raise BatError("not_found", "%s: %s" % (path, error)) from error
        except OSError as error:
            raise BatError("cannot_open", "%s: %s" % (path, error)) from error
        return cls(data, path)

    def _is_known(self, kind):
        """Returns whether sections of a kind are defined for this file (section 6)."""
        if self.TOP:
            return kind in (SCHEMA, METADATA, AGGREGATION_TREE, LEAF_FILES, ALIASES, SAMPLE_IDS) or kind in HDF5_VIEW
        return SCHEMA <= kind <= ATTRIBUTE or CHUNK_TABLE <= kind <= HDF5_OBJECTS

    def _need(self, good, thing, found, allowed, kind="corrupt"):
        """Raises BatError unless good."""
        if not good:
            raise BatError(kind, "%s: %s is %s, allowed is %s" % (self.path, thing, found, allowed))

    # ---- 5 Header -----------------------------------------------------------------------------------------------------------

    def _need_checksum(self, stored, thing, data):
        """Raises if the stored XXH64 is not that of the bytes."""
        if xxhash:
            found = xxh64(data)
            self._need(found == stored, thing, "%016x" % stored, "%016x" % found)

    def _read_header(self):
        """Decodes the header (section 5, and steps 2 to 6 of section 16)."""
        data, need, size = self.data, self._need, len(self.data)
        start = bytes(data[:8])
        if size >= 8 or start != MAGIC[:size]:
            need(start == MAGIC, "the start", start.hex() or "empty", MAGIC.hex(), "not_a_bat_file")
        need(size >= 10, "the size of the file", size, "at least 128", "truncated")
        major, = struct.unpack_from("<H", data, 8)
        need(major == 1, "version_major", major, 1, "unsupported_version")
        need(size >= 128, "the size of the file", size, "at least 128", "truncated")
        (_, self.version_major, self.version_minor, header_bytes, file_bytes, required, self.optional_features, n, table_offset,
         section_count, flags, time, step, self._table_checksum, reserved, checksum) = HEADER.unpack_from(data)
        self._need_checksum(checksum, "header_checksum", data[:120])
        allowed = (SEVERAL_LEAF_FILES,) if self.TOP else (0, COMPRESSED_CHUNKS)
        allowed += tuple(features | STABLE_SAMPLES for features in allowed)
        need(required in allowed, "required_features", "%#x" % required, "%s: others are not supported, or not for such a file"
             % " or ".join(map(str, allowed)), "unsupported_version")
        need(header_bytes == 128, "header_bytes", header_bytes, 128)
        need(not any(reserved), "reserved of the header", reserved.hex(), "zero")
        need(flags < 4, "flags of the header", "%#x" % flags, "bits 0 and 1")
        need(flags & 1 or not any(data[64:72]), "time, which is not valid,", time, 0)
        need(flags & 2 or step == 0, "step, which is not valid,", step, 0)
        high = 4294967295 << 24 if self.TOP else 4294967295
        need(n <= high, "particle_count", n, "at most %d" % high)
        need(file_bytes <= size, "the size of the file", size, file_bytes, "truncated")
        need(file_bytes == size, "the size of the file", size, file_bytes)
        self.time, self.step = time if flags & 1 else None, step if flags & 2 else None
        self.particle_count, self._table, self.header_checksum = n, (table_offset, section_count), checksum
        self._may_have_chunks, self.is_stable = required & COMPRESSED_CHUNKS != 0, required & STABLE_SAMPLES != 0

    # ---- 6 Section table and checksums --------------------------------------------------------------------------------------

    def _read_section_table(self):
        """Decodes and checks the section table (section 6, step 7 of section 16)."""
        need, size, (offset, count) = self._need, len(self.data), self._table
        need(offset % 8 == 0, "section_table_offset", offset, "a multiple of 8")
        need(offset + 64 * count <= size, "the end of the section table", offset + 64 * count, "at most %d" % size)
        table = self.data[offset:offset + 64 * count]
        self._need_checksum(self._table_checksum, "section_table_checksum", table)
        self.sections, before = {}, (-1, -1)
        for record in SECTION.iter_unpack(table):
            s = Section(*record)
            name = section_name(s.kind, s.index)
            need(self._is_known(s.kind) or not s.flags & 2, name + ": kind", s.kind, "a known one, because it is required",
                 "unsupported_version")
            need(s.flags < 4, name + ": flags", "%#x" % s.flags, "bits 0 and 1")
            need(s.reserved == 0, name + ": reserved", s.reserved, 0)
            need((s.kind, s.index) > before, name + ": order", (s.kind, s.index), "above %s" % (before,))
            need(s.offset % 8 == 0 and s.offset >= 128, name + ": offset", s.offset, "a multiple of 8, at least 128")
            need(s.offset + s.bytes <= size, name + ": end", s.offset + s.bytes, "at most %d" % size)
            if s.flags & 1:
                end = s.checksums_offset + sum(checksum_bytes(s.bytes))
                need(s.checksums_offset % 8 == 0 and s.checksums_offset >= 128, name + ": checksums_offset", s.checksums_offset,
                     "a multiple of 8, at least 128")
                need(end <= size, name + ": end of the checksums", end, "at most %d" % size)
            else:
                need(s.checksums_offset == 0, name + ": checksums_offset", s.checksums_offset, 0)
            if self._is_known(s.kind):
                allowed = (RAW, CHUNKS) if s.kind in (POSITIONS, ATTRIBUTE) else (RAW,)
                need(s.encoding in allowed, name + ": encoding", s.encoding, " or ".join(map(str, allowed)), "unsupported_version")
                need(s.encoding == RAW or self._may_have_chunks, name + ": encoding", s.encoding,
                     "%d, because bit 1 of required_features is clear" % RAW)
                need(s.encoding != RAW or s.raw_bytes == s.bytes, name + ": raw_bytes", s.raw_bytes, s.bytes)
                need((s.flags & 1) == (s.kind in PAGED), name + ": paged", s.flags & 1, int(s.kind in PAGED))
            before = s.kind, s.index
            self.sections[before] = s

    def section(self, kind, index=0):
        """Returns the bytes of a section after verifying its checksums (section 6)."""
        if (kind, index) not in self._verified:
            name, s = section_name(kind, index), self.sections.get((kind, index))
            self._need(s is not None, name, "missing", "present")
            raw = self.data[s.offset:s.offset + s.bytes]
            if s.flags & 1:
                l2_bytes, l1_bytes = checksum_bytes(s.bytes)
                stored = bytes(self.data[s.checksums_offset:s.checksums_offset + l2_bytes + l1_bytes])
                if xxhash:
                    self._need(page_checksums(raw)[0] == stored, name + ": a page checksum", "wrong", "that of the page")
            self._need_checksum(s.checksum, name + ": checksum", stored[:l2_bytes] if s.flags & 1 else raw)
            self._verified[kind, index] = raw
        return self._verified[kind, index]

    # ---- 7 Schema -----------------------------------------------------------------------------------------------------------

    def _read_schema(self):
        """Decodes the schema: head, attributes, keys, names (section 7)."""
        need, raw, n = self._need, self.section(SCHEMA), self.particle_count
        need(len(raw) >= 80, "the size of the schema", len(raw), "at least 80")
        (a, k, self.level_count, self.treelet_count, self.block_count, self.block_particles, position_type, reserved,
         *box) = SCHEMA_HEAD.unpack_from(raw)
        need(a <= 65535, "attribute_count", a, "at most 65535")
        if self.TOP:
            for field in ("level_count", "treelet_count", "block_count", "block_particles"):
                need(getattr(self, field) == 0, field + " of a top file", getattr(self, field), 0)
        else:
            need(1 <= self.level_count <= 256, "level_count", self.level_count, "1 to 256")
            need((self.treelet_count == 0) == (n == 0), "treelet_count", self.treelet_count,
                 "0 if and only if there are no particles")
            need(1 <= self.block_particles <= 65536, "block_particles", self.block_particles, "1 to 65536")
        need(position_type in (9, 10), "position_type", position_type, "9 or 10")
        need(not any(reserved), "reserved of the schema", reserved.hex(), "zero")
        need(len(raw) >= 80 + 16 * a + 40 * k, "the size of the schema", len(raw), "at least %d" % (80 + 16 * a + 40 * k))
        self.position_type, self.lower, self.upper = SCALARS[position_type], np.array(box[:3]), np.array(box[3:])
        self.attributes, expected_keys, at = [], [], 80 + 16 * a + 40 * k
        for i in range(a):
            scalar, components, role, zero, host_type, name_bytes, first_key = ATTRIBUTE_RECORD.unpack_from(raw, 80 + 16 * i)
            thing = "attribute %d: " % i
            need(scalar in SCALARS, thing + "type", scalar, "1 to 10")
            need(1 <= components <= 9, thing + "components", components, "1 to 9")
            need(zero == 0, thing + "reserved", zero, 0)
            need(1 <= name_bytes <= 65535, thing + "name_bytes", name_bytes, "1 to 65535")
            need(first_key == len(expected_keys), thing + "first_key", first_key, len(expected_keys))
            need(at + name_bytes <= len(raw), thing + "end of the name", at + name_bytes, "at most %d" % len(raw))
            try:
                name = str(raw[at:at + name_bytes], "utf-8")
            except UnicodeDecodeError:
                need(False, thing + "name", bytes(raw[at:at + name_bytes]), "UTF-8")
            need("\0" not in name, thing + "name", repr(name), "without zero bytes")
            at += name_bytes
            self.attributes.append(Attribute(name, SCALARS[scalar], components, role, host_type, first_key))
            expected_keys += [(i, c) for c in range(components)] + ([(i, -1)] if components > 1 else [])       # 11
        need(at == len(raw), "the size of the schema", len(raw), at)
        self._by_name = {attribute.name: i for i, attribute in enumerate(self.attributes)}
        need(len(self._by_name) == a, "the number of different names", len(self._by_name), a)
        need(k == len(expected_keys), "key_count", k, len(expected_keys))
        self.keys = []
        for i in range(k):
            attribute, component, bitmap_bytes, flags, bin_count, dictionary_count, minimum, maximum, zero = \
                KEY_RECORD.unpack_from(raw, 80 + 16 * a + 40 * i)
            thing = "key %d: " % i
            need((attribute, component) == expected_keys[i], thing + "attribute and component", (attribute, component),
                 expected_keys[i])
            need(bitmap_bytes in (0, 1, 2, 4), thing + "bitmap_bytes", bitmap_bytes, "0, 1, 2 or 4")
            need(flags < 2, thing + "flags", flags, "bit 0")
            need(1 <= bin_count <= 4096, thing + "bin_count", bin_count, "1 to 4096")
            need(dictionary_count == 0 or bitmap_bytes in (1, 2), thing + "dictionary_count", dictionary_count, 0)
            need(not self.TOP or (bitmap_bytes, bin_count) == (0, 1), thing + "bitmap_bytes and bin_count of a top file",
                 (bitmap_bytes, bin_count), (0, 1))
            need(zero == 0, thing + "reserved", zero, 0)
            value_type = "<f8" if component < 0 else CLASS_TYPES[np.dtype(self.attributes[attribute].type).kind]
            self.keys.append(Key(attribute, component, value_type, bitmap_bytes, bool(flags), bin_count, dictionary_count,
                                 np.frombuffer(minimum, value_type)[0], np.frombuffer(maximum, value_type)[0]))
        self._read_sample_ids()
        self._read_aliases()

    def _read_sample_ids(self):
        """Decodes SAMPLE_IDS: (attribute, component or -1) for each number that stable samples hash (section 8)."""
        self.sample_ids = []
        if not self.is_stable:
            return
        need, raw = self._need, self.section(SAMPLE_IDS)
        need(len(raw) >= 8, "the size of SAMPLE_IDS", len(raw), "at least 8")
        count, zero = struct.unpack_from("<II", raw)
        need(1 <= count <= 64, "id_count", count, "1 to 64")
        need(zero == 0, "reserved of SAMPLE_IDS", zero, 0)
        need(len(raw) == 8 + 8 * count, "the size of SAMPLE_IDS", len(raw), 8 + 8 * count)
        for i, (attribute, component, zero) in enumerate(np.frombuffer(raw, SAMPLE_ID, count, 8).tolist()):
            thing = "id %d of SAMPLE_IDS: " % i
            need(attribute < len(self.attributes), thing + "attribute", attribute, "below %d" % len(self.attributes))
            described = self.attributes[attribute]
            need(np.dtype(described.type).kind in "iu", thing + "type", described.type, "integers")
            need(-1 <= component < described.components, thing + "component", component, "-1 to %d" % (described.components - 1))
            need(zero == 0, thing + "reserved", zero, 0)
            self.sample_ids.append((attribute, component))

    def _read_aliases(self):
        """Decodes ALIASES; an alias is (name, number of the repeated attribute or None for the positions, component,
        role, host_type)."""
        self.aliases, self.position_keys = [], None
        if (ALIASES, 0) not in self.sections:
            return
        need, raw, a = self._need, self.section(ALIASES), len(self.attributes)
        need(len(raw) >= 104, "the size of ALIASES", len(raw), "at least 104")
        count, zero = struct.unpack_from("<II", raw)
        need(1 <= count <= 65535 - a, "alias_count", count, "1 to %d" % (65535 - a))
        need(zero == 0, "reserved of ALIASES", zero, 0)
        self.position_keys = np.frombuffer(raw, POSITION_KEY, 4, 8)
        for field in ("minimum", "maximum"):
            need(not np.isnan(self.position_keys[field]).any(), field + " of a key of positions", "NaN", "a number")
        need(np.all(self.position_keys["flags"] < 2), "flags of a position key", self.position_keys["flags"].max(), "bit 0")
        need(not self.position_keys["reserved"].any(), "reserved of a position key", self.position_keys["reserved"].max(), 0)
        at = 104 + 16 * count
        need(at <= len(raw), "the size of ALIASES", len(raw), "at least %d" % at)
        for i in range(count):
            target, component, role, zero, host_type, name_bytes = ALIAS_RECORD.unpack_from(raw, 104 + 16 * i)
            thing = "alias %d: " % i
            need(target == OF_POSITIONS or target < a, thing + "attribute", target, "below %d, or %d" % (a, OF_POSITIONS))
            components = 3 if target == OF_POSITIONS else self.attributes[target].components
            need(-1 <= component < components, thing + "component", component, "-1 to %d" % (components - 1))
            need(zero == 0, thing + "reserved", zero, 0)
            need(1 <= name_bytes <= 65535, thing + "name_bytes", name_bytes, "1 to 65535")
            need(at + name_bytes <= len(raw), thing + "end of the name", at + name_bytes, "at most %d" % len(raw))
            try:
                name = str(raw[at:at + name_bytes], "utf-8")
            except UnicodeDecodeError:
                need(False, thing + "name", bytes(raw[at:at + name_bytes]), "UTF-8")
            need("\0" not in name, thing + "name", repr(name), "without zero bytes")
            need(name not in self._by_name, thing + "name", repr(name), "unique")
            at += name_bytes
            self._by_name[name] = a + i
            self.aliases.append(Alias(name, None if target == OF_POSITIONS else target, component, role, host_type))
        need(at == len(raw), "the size of ALIASES", len(raw), at)
        need(not any(kind == ALIASES and index for kind, index in self.sections), "a second section ALIASES", "present", "absent")

    def listed(self):
        """Returns the attributes, including aliases, with their values by file position (section 7)."""
        columns = list(self._columns)
        pairs = list(zip(self.attributes, columns))
        for alias in self.aliases:
            values = self.positions() if alias.target is None else columns[alias.target]
            whole = alias.component < 0 or values.ndim == 1
            values = values if whole else np.ascontiguousarray(values[:, alias.component])
            pairs.append((Attribute(alias.name, values.dtype.name, values.shape[1] if values.ndim > 1 else 1, alias.role,
                                    alias.host_type, None), values))
        return pairs

    def value_type(self, number):
        """Returns the value class of a key; -1 to -4 are x, y, z and the magnitude of the positions (section 11)."""
        return "<f8" if number < 0 else self.keys[number].value_type

    def _check_section_sizes(self):
        """Checks that the sections that the schema implies are present with their sizes, and no others (section 16,
        step 8)."""
        n, t, blocks = self.particle_count, self.treelet_count, self.block_count
        sizes = {(LEVELS, 0): 4 * (self.level_count - 1), (SHALLOW_TREE, 0): 56 * max(2 * t - 1, 0), (TREELETS, 0): 8 * t,
                 (BLOCK_BOXES, 0): 6 * blocks, (POSITIONS, 0): 3 * n * np.dtype(self.position_type).itemsize}
        if self.is_stable:
            sizes[TREELET_LEVELS, 0] = 4 * t * self.level_count
            sizes[BLOCK_LEVELS, 0] = blocks * ((self.block_particles + self.level_count + 6) // 8)
        for i, a in enumerate(self.attributes):
            sizes[ATTRIBUTE, i] = n * a.components * np.dtype(a.type).itemsize
        for i, key in enumerate(self.keys):
            sizes[BIN_EDGES, i], sizes[TREELET_KEYS, i] = 8 * (key.bin_count - 1), 32 * t
            if key.bitmap_bytes in (1, 2):
                sizes[BITMAP_DICTIONARY, i] = 4 * key.dictionary_count
            if key.bitmap_bytes:
                sizes[BLOCK_BITMAPS, i] = key.bitmap_bytes * blocks
        self.sorted_keys = [index for kind, index in self.sections if kind == SORTED_INDEX and self._is_known(kind)]
        for i in self.sorted_keys:
            self._need(i < len(self.keys), section_name(SORTED_INDEX, i), "present", "absent: this key does not exist")
            levels = index_levels(n)
            sizes[SORTED_INDEX, i] = PAGE * (sum(levels) - 1) + 12 * (n - INDEX_ENTRIES * (levels[-1] - 1)) if n else 0
        for kind, index in [key for key in sizes if key[0] in (POSITIONS, ATTRIBUTE)]:
            s, number = self.sections.get((kind, index)), index + 1 if kind == ATTRIBUTE else 0
            if s is not None and s.encoding == CHUNKS:
                table, low = self.sections.get((CHUNK_TABLE, number)), CHUNK_TABLE_HEAD.size + 4 * -(-n // MAX_CHUNK_PARTICLES)
                if table is not None:
                    self._need(table.bytes >= low, section_name(CHUNK_TABLE, number) + ": bytes",
                               table.bytes, "a multiple of 4, at least %d" % low)
                sizes[CHUNK_TABLE, number] = table.bytes if table is not None else low
        self._check_sizes(sizes)

    def _check_sizes(self, sizes):
        """Checks that these sections are present with their sizes, and no others of a known
        kind."""
        for (kind, index), size in sizes.items():
            s = self.sections.get((kind, index))
            self._need(s is not None, section_name(kind, index), "missing", "present")
            self._need(s.raw_bytes == size, section_name(kind, index) + ": raw_bytes", s.raw_bytes, size)
        for kind, index in self.sections:
            known = (kind, index) in sizes or (kind, index) in ((SCHEMA, 0), (METADATA, 0)) or kind == ALIASES \
                or (kind, index) == (SAMPLE_IDS, 0) and self.is_stable or kind in HDF5_VIEW and index == 0 \
                or not (self._is_known(kind) or self.TOP and SCHEMA <= kind <= LEAF_FILES)
            self._need(known, section_name(kind, index), "present", "absent: the schema does not use it")

    def _read_metadata(self):
        """Decodes METADATA as far as possible (section 7), and verifies sections of unknown kinds without interpreting
        them."""
        self.metadata = self._metadata_problem = None
        if (METADATA, 0) in self.sections:
            try:
                self.metadata = json.loads(str(self.section(METADATA), "utf-8"), parse_constant=refuse_constant)
            except (ValueError, RecursionError) as error:
                self._metadata_problem = str(error)
            if self._metadata_problem is None and not isinstance(self.metadata, dict):
                self._metadata_problem, self.metadata = type(self.metadata).__name__, None
        for kind, index in self.sections:
            self.section(kind, index)

    # ---- 8 Order ------------------------------------------------------------------------------------------------------------

    def _read_levels(self):
        """Decodes the keep ratios and s (section 8)."""
        raw, self.level_ends = self.section(LEVELS), [self.particle_count]
        self._need(len(raw) == 4 * (self.level_count - 1), "LEVELS: bytes", len(raw), 4 * (self.level_count - 1))
        self.keep_ratios = [int(r) for r in np.frombuffer(raw, "<u4")]
        for r in reversed(self.keep_ratios):
            self.level_ends.insert(0, self.level_ends[0] * r >> 32)

    def ordinal_to_position(self):
        """Returns the file position of every ordinal (section 8)."""
        if self.is_stable:
            position = np.empty(self.particle_count, "i8")
            position[np.argsort(self.ordinal_level, kind="stable")] = np.arange(self.particle_count)
            return position
        g = np.arange(self.particle_count + 1, dtype="u8")
        position = np.zeros(self.particle_count, "i8")
        for level in reversed(range(self.level_count)):
            below = np.zeros_like(g) if level == 0 else g * np.uint64(self.keep_ratios[level - 1]) >> np.uint64(32)
            inside = np.diff(g) > np.diff(below)
            start = self.level_ends[level - 1] if level else 0
            position[inside] = start + (g - below)[:-1][inside].astype("i8")
            g = below
        return position

    def _read_stable_levels(self):
        """Decodes TREELET_LEVELS and BLOCK_LEVELS: the level of each ordinal of stable samples (section 8)."""
        if not self.is_stable:
            return
        need, width = self._need, (self.block_particles + self.level_count + 6) // 8
        raw = np.frombuffer(self.section(BLOCK_LEVELS), "u1").reshape(self.block_count, width)
        bits = np.unpackbits(raw, axis=1, bitorder="little")
        sizes = self.block_end - self.block_first
        for block in np.flatnonzero(bits.sum(axis=1) != sizes):
            need(False, "bits of block %d in BLOCK_LEVELS" % block, bits[block].sum(), sizes[block])
        block, bit = np.nonzero(bits)
        self.ordinal_level = bit - (np.arange(self.particle_count) - self.block_first[block])
        need(np.all(self.ordinal_level < self.level_count), "a level in BLOCK_LEVELS", self.ordinal_level.max(initial=0),
             "below %d" % self.level_count)
        counts = np.frombuffer(self.section(TREELET_LEVELS), "<u4").reshape(self.treelet_count, self.level_count)
        allowed = np.zeros((self.treelet_count, self.level_count), "i8")
        np.add.at(allowed, (np.repeat(np.arange(self.treelet_count), self.treelet_counts), self.ordinal_level), 1)
        for t, level in zip(*np.nonzero(counts != allowed)):
            need(False, "particles of treelet %d in level %d" % (t, level), counts[t, level], allowed[t, level])
        for level, (found, end) in enumerate(zip(np.cumsum(allowed.sum(axis=0)), self.level_ends)):
            need(found == end, "particles in levels 0 to %d" % level, found, end)

    def sample_hashes(self):
        """Returns each particle's hash, which determines its level in stable samples, by file position (section
        8)."""
        hashes = np.zeros(self.particle_count, "u8")
        for attribute, component in self.sample_ids:
            values = self._columns[attribute]
            values = values.reshape(self.particle_count, -1) if component < 0 else values.reshape(
                self.particle_count, -1)[:, component:component + 1]
            for column in values.T:
                z = hashes + column.astype("i8" if column.dtype.kind == "i" else "u8").view("u8") + np.uint64(0x9E3779B97F4A7C15)
                z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
                z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
                hashes = z ^ z >> np.uint64(31)
        return hashes

    def _validate_sample(self):
        """Checks that no particle is in a coarser level than one with a lower hash (section 8)."""
        if self.is_stable and self.particle_count:
            hashes = self.sample_hashes()
            for level, end in enumerate(self.level_ends[:-1]):
                below, above = hashes[:end].max(initial=0), hashes[end:].min()
                self._need(below <= above, "the highest hash in levels 0 to %d" % level, below, "at most %d" % above)

    def count(self, q):
        """Returns the number of particles at quality q (section 8)."""
        if not 0 <= q <= 1:
            raise QueryError("the quality %r is outside 0 to 1" % (q,))
        return min(self.particle_count, math.ceil(float(q) * float(self.particle_count)))

    # ---- 9 Shallow tree and treelets, 10 Blocks -----------------------------------------------------------------------------

    def _read_tree(self):
        """Decodes treelets, nodes and block boxes, with the rules that guarantee termination (sections 9 and
        10)."""
        need, t = self._need, self.treelet_count
        treelets, self.nodes = np.frombuffer(self.section(TREELETS), TREELET), np.frombuffer(self.section(SHALLOW_TREE), NODE)
        self.treelet_counts, self.treelet_flags = treelets["count"].astype("i8"), treelets["flags"]
        need(np.all(self.treelet_counts >= 1), "the smallest count of a treelet", self.treelet_counts.min(initial=1), "at least 1")
        need(self.treelet_counts.sum() == self.particle_count, "the sum of the treelets' counts", self.treelet_counts.sum(),
             self.particle_count)
        need(np.all(self.treelet_flags < 2), "flags of a treelet", self.treelet_flags.max(initial=0), "bit 0")
        self.treelet_first = np.cumsum(self.treelet_counts) - self.treelet_counts
        per_treelet = -(-self.treelet_counts // self.block_particles)
        need(per_treelet.sum() == self.block_count, "block_count", self.block_count, per_treelet.sum())
        self.treelet_first_block = np.append(np.cumsum(per_treelet) - per_treelet, per_treelet.sum())
        self.block_treelet = np.repeat(np.arange(t), per_treelet)
        in_treelet = np.arange(self.block_count) - self.treelet_first_block[self.block_treelet]
        self.block_first = self.treelet_first[self.block_treelet] + in_treelet * self.block_particles
        self.block_end = np.append(self.block_first[1:], self.particle_count)[:self.block_count]
        numbers, skip = np.arange(len(self.nodes)), self.nodes["skip"]
        need(np.all((skip > numbers) & (skip <= len(numbers))), "skip of a node", skip.tolist()[:9],
             "above the node, at most 2 T - 1")
        need(np.all(self.nodes["first_treelet"] < max(t, 1)), "first_treelet", self.nodes["first_treelet"].max(initial=0),
             "below T")
        leaves = skip == numbers + 1
        need(leaves.sum() == t, "the number of leaves of the shallow tree", leaves.sum(), t)
        self.treelet_box = np.zeros((t, 2, 3))
        self.treelet_box[self.nodes["first_treelet"][leaves], 0] = self.nodes["lower"][leaves]
        self.treelet_box[self.nodes["first_treelet"][leaves], 1] = self.nodes["upper"][leaves]
        self.block_codes = np.frombuffer(self.section(BLOCK_BOXES), "u1").reshape(-1, 2, 3)

    def block_boxes(self):
        """Returns the boxes of the blocks; boxes of treelets with flag bit 0 are unbounded (section 10)."""
        box = self.treelet_box[self.block_treelet]
        flagged = self.treelet_flags[self.block_treelet] == 1
        finite = np.where(flagged[:, None, None], 0.0, box)
        f = self.block_codes / 255.0
        decoded = finite[:, 0:1] * (1 - f) + finite[:, 1:2] * f
        return np.where(flagged[:, None, None], box, decoded)

    # ---- 11 Keys, bins and bitmaps ------------------------------------------------------------------------------------------

    def _read_keys(self):
        """Decodes bin edges, treelet keys, dictionaries and bitmaps of every key (section 11)."""
        self.edges, self.treelet_keys, self.dictionaries, self.block_bitmaps = [], [], [], []
        for i, key in enumerate(self.keys):
            record = np.dtype([("minimum", key.value_type), ("maximum", key.value_type), ("bitmap", "<u4"), ("first_bin", "<u2"),
                               ("last_bin", "<u2"), ("flags", "<u4"), ("reserved", "<u4")])
            rows, name = np.frombuffer(self.section(TREELET_KEYS, i), record), section_name(TREELET_KEYS, i)
            self._need(np.all(rows["last_bin"] < key.bin_count), name + ": last_bin", rows["last_bin"].max(initial=0),
                       "below %d" % key.bin_count)
            self._need(np.all(rows["first_bin"] <= rows["last_bin"]), name + ": first_bin", "above last_bin", "at most last_bin")
            self._need(np.all(rows["flags"] < 2), name + ": flags", rows["flags"].max(initial=0), "bit 0")
            self._need(not rows["reserved"].any(), name + ": reserved", rows["reserved"].max(initial=0), 0)
            dictionary, bitmaps = None, rows["bitmap"][self.block_treelet]
            if key.bitmap_bytes:
                bitmaps = np.frombuffer(self.section(BLOCK_BITMAPS, i), "<u%d" % key.bitmap_bytes)
            if key.bitmap_bytes in (1, 2):
                dictionary = np.frombuffer(self.section(BITMAP_DICTIONARY, i), "<u4")
                self._need(np.all(bitmaps < len(dictionary)), section_name(BLOCK_BITMAPS, i) + ": dictionary number",
                           bitmaps.max(initial=0), "below %d" % len(dictionary))
                bitmaps = dictionary[bitmaps]
            self.edges.append(np.frombuffer(self.section(BIN_EDGES, i), key.value_type))
            self.treelet_keys.append(rows)
            self.dictionaries.append(dictionary)
            self.block_bitmaps.append(bitmaps)

    def key_values(self, number):
        """Returns the values of a key in its value class by file position (section 11)."""
        if number < 0:
            columns, component = self.positions(), -1 if number == -4 else -1 - number
        else:
            key = self.keys[number]
            columns = self._columns[key.attribute].reshape(self.particle_count, self.attributes[key.attribute].components)
            component = key.component
        with np.errstate(all="ignore"):
            if component >= 0:
                return columns[:, component].astype(self.value_type(number))
            total = None
            for v in columns.T:
                v = v.astype("f8")
                total = v * v if total is None else total + v * v
            return np.sqrt(total)

    # ---- 12 Columns ---------------------------------------------------------------------------------------------------------

    def _read_columns(self):
        """Decodes positions and attributes (section 12)."""
        self.bounds = {}
        def column(kind, index, scalar, components):
            if self.sections[kind, index].encoding == CHUNKS:
                return self._read_chunks(kind, index, scalar, components)
            values = np.frombuffer(self.section(kind, index), np.dtype(scalar).newbyteorder("<"))
            return values.reshape(self.particle_count, components) if components > 1 else values
        self._positions = column(POSITIONS, 0, self.position_type, 3)
        self._columns = [column(ATTRIBUTE, i, a.type, a.components) for i, a in enumerate(self.attributes)]

    def _read_chunks(self, kind, index, scalar, components):
        """Decodes a column in chunks (section 12), and notes its bound."""
        need, n, name = self._need, self.particle_count, section_name(kind, index)
        number = index + 1 if kind == ATTRIBUTE else 0
        raw, table = self.section(CHUNK_TABLE, number), section_name(CHUNK_TABLE, number)
        high, count, bound, model_bytes, reserved = CHUNK_TABLE_HEAD.unpack_from(raw)
        need(1 <= high <= MAX_CHUNK_PARTICLES, table + ": chunk_particles", high, "1 to %d" % MAX_CHUNK_PARTICLES)
        need(count == -(-n // high), table + ": chunk_count", count, -(-n // high))
        begin = CHUNK_TABLE_HEAD.size + 4 * count
        need(len(raw) >= begin, table + ": bytes", len(raw), "at least %d" % begin)
        need(model_bytes == len(raw) - begin, table + ": model_bytes", model_bytes, len(raw) - begin)
        need(model_bytes <= codec.MAX_MODEL_BYTES, table + ": model_bytes", model_bytes, "at most %d" % codec.MAX_MODEL_BYTES)
        need(math.isfinite(bound) and bound >= 0, table + ": bound", bound, "a finite number of at least 0")
        need(bound == 0 or np.dtype(scalar).kind == "f", table + ": bound", bound, "0, because the values are %s" % scalar)
        need(reserved == 0, table + ": reserved", reserved, 0)
        frames, stored = np.frombuffer(raw, "<u4", count, CHUNK_TABLE_HEAD.size), self.section(kind, index)
        need(np.all(frames >= 1), table + ": bytes of a frame", 0, "at least 1")
        ends = np.cumsum(frames, dtype="i8")
        need(len(stored) == (ends[-1] if count else 0), table + ": the sum of the frames", ends[-1] if count else 0, len(stored))
        try:
            model = codec.Model(raw[begin:], scalar, components)
        except codec.CodecError as error:
            raise BatError("corrupt", "%s: %s: %s" % (self.path, table, error)) from error
        pieces = [np.zeros((0, components), scalar)]
        for chunk in range(count):
            first, frame = chunk * high, stored[ends[chunk] - frames[chunk]:ends[chunk]]
            try:
                values = codec.decode(model, frame, min(high, n - first))
            except codec.MissingModule as error:
                raise BatError("unsupported_version", "%s: %s: %s" % (self.path, name, error)) from error
            except codec.CodecError as error:
                raise BatError("corrupt", "%s: chunk %d of %s: %s" % (self.path, chunk, name, error)) from error
            pieces.append(values.reshape(-1, components))
        self.bounds[number] = bound
        values = np.concatenate(pieces)
        return values if components > 1 else values[:, 0]

    def positions(self):
        """Returns the positions by file position, n rows of 3."""
        return self._positions

    def attribute(self, name):
        """Returns the values of an attribute by file position, n values or n rows of its components."""
        if self._is_of_nothing(name):
            return np.empty(0)
        if name not in self._by_name:
            raise QueryError("%s has no attribute %r" % (self.path, name))
        return self.listed()[self._by_name[name]][1]

    def _is_of_nothing(self, name):
        """Returns whether an attribute is missing in a file without particles, where this is allowed (section 13)."""
        return self.particle_count == 0 and name not in self._by_name

    # ---- 13 What a query returns --------------------------------------------------------------------------------------------

    def key_number(self, name, component=None):
        """Returns the number of the key that a range names; for several components without a choice, the magnitude
        (section 13)."""
        if name not in self._by_name:
            raise QueryError("%s has no attribute %r" % (self.path, name))
        number = self._by_name[name]
        if number >= len(self.attributes):
            alias = self.aliases[number - len(self.attributes)]
            components = 3 if alias.target is None else self.attributes[alias.target].components
            if alias.component >= 0 or components == 1:
                if component not in (None, 0):
                    raise QueryError("the attribute %r has no component %r" % (name, component))
                component = max(alias.component, 0)
            if alias.target is None:
                component = -1 if component is None else component
                if not -1 <= component < 3:
                    raise QueryError("the attribute %r has no component %r" % (name, component))
                return -4 if component < 0 else -1 - component
            number = alias.target
        if component is None:
            component = -1 if self.attributes[number].components > 1 else 0
        for i, key in enumerate(self.keys):
            if (key.attribute, key.component) == (number, component):
                return i
        raise QueryError("the attribute %r has no component %r" % (name, component))

    def _prepare(self, quality, after_quality, box, ranges, values):
        """Returns the first and last file position, the box as three intervals or None, and [(key, intervals)] for a
        query.

        The value of the key must be in one of the intervals; a list of values has one interval per
        number.
        """
        first, last = self.count(after_quality), self.count(quality)
        if after_quality > quality:
            raise QueryError("the quality %r is below the quality %r it comes after" % (quality, after_quality))
        sides = None if box is None else [closed_interval("<f8", box[a], box[a + 3]) for a in range(3)]
        requested = []
        for name, component, lo, hi in ranges:
            if self._is_of_nothing(name):
                closed_interval("<f8", lo, hi)  # rejects an invalid range
                continue
            number = self.key_number(name, component)
            requested.append((number, [closed_interval(self.value_type(number), lo, hi)]))
        for name, component, listed in values:
            if self._is_of_nothing(name):
                continue
            number = self.key_number(name, component)
            requested.append((number, [closed_interval(self.value_type(number), v, v) for v in listed]))
        requested = [(number, [i for i in intervals if i is not None]) for number, intervals in requested]
        empty = any(not w[1] for w in requested) or any(s is None for s in sides or [])
        return first, first if empty else last, sides, requested

    def _exact(self, where, sides, requested):
        """Returns which of the particles at the file positions are inside the box and satisfy the conditions on
        keys."""
        good = np.ones(len(where), bool)
        with np.errstate(invalid="ignore"):
            for axis, (lo, hi) in enumerate(sides or []):
                x = self._positions[where, axis].astype("f8")
                good &= (lo <= x) & (x <= hi)
        for number, intervals in requested:
            v = self._key_cache(number)[where]
            good &= np.logical_or.reduce([(lo <= v) & (v <= hi) for lo, hi in intervals])
        return good

    def _key_cache(self, number):
        """Returns key_values, cached."""
        if number not in self._key_values:
            self._key_values[number] = self.key_values(number)
        return self._key_values[number]

    def query(self, quality=1, after_quality=0, box=None, ranges=(), values=(), part=0, parts=1):
        """Returns the ascending file positions of the result by testing every particle (section 13)."""
        return self.query_ordinals(part_ordinals(self.particle_count, part, parts), quality, after_quality, box, ranges, values)

    def query_index(self, quality=1, after_quality=0, box=None, ranges=(), values=(), part=0, parts=1):
        """Returns the same as query, but uses the index (sections 9 to 11, and 15)."""
        return self.query_ordinals_index(part_ordinals(self.particle_count, part, parts), quality, after_quality, box, ranges, values)

    def _in_ordinals(self, where, ordinals):
        """Returns those of the file positions whose ordinals are in an interval (section 8)."""
        if ordinals == (0, self.particle_count):
            return where
        inside = np.zeros(self.particle_count, bool)
        inside[self.ordinal_to_position()[ordinals[0]:ordinals[1]]] = True
        return where[inside[where]]

    def query_ordinals(self, ordinals, quality, after_quality, box, ranges, values):
        """Returns the result among the particles of some ordinals by testing every particle."""
        first, last, sides, requested = self._prepare(quality, after_quality, box, ranges, values)
        where = np.arange(first, last)
        return self._in_ordinals(where[self._exact(where, sides, requested)], ordinals) if first < last else where

    def query_ordinals_index(self, ordinals, quality, after_quality, box, ranges, values):
        """Returns the same, but uses shallow tree, treelet keys, block boxes and bitmaps (sections 9 to 11)."""
        first, last, sides, requested = self._prepare(quality, after_quality, box, ranges, values)
        if first >= last:
            return np.arange(0)
        indexed = [(number, intervals) for number, intervals in requested if number >= 0]
        bins = [[[np.searchsorted(self.edges[number], end, side="right") for end in ends] for ends in intervals]
                for number, intervals in indexed]
        if self._places is None:
            self._places = self.block_boxes(), self.ordinal_to_position()
        (boxes, order), found, node = self._places, [np.arange(0)], 0
        while node < len(self.nodes):
            row = self.nodes[node]
            if any(row["lower"][a] > hi or row["upper"][a] < lo for a, (lo, hi) in enumerate(sides or [])):
                node = int(row["skip"])
                continue
            if row["skip"] == node + 1:
                for block in self._blocks_of(int(row["first_treelet"]), boxes, sides, indexed, bins):
                    found.append(order[self.block_first[block]:self.block_end[block]])
            node += 1
        where = np.sort(np.concatenate(found))
        where = where[(first <= where) & (where < last)]
        for number, intervals in requested:
            if number in self.sorted_keys:
                where = where[np.isin(where, self._find_sorted(number, intervals))]
        return self._in_ordinals(where[self._exact(where, sides, requested)], ordinals)

    def index_entries(self, number):
        """Returns the entries of the sorted index of a key, and the first values of the pages of each level (section 11)."""
        raw, levels, value_type = self.section(SORTED_INDEX, number), index_levels(self.particle_count), self.keys[number].value_type
        entry = np.dtype([("value", value_type), ("position", "<u4")])
        firsts, at = [], 0
        for count, below in zip(levels, levels[1:]):
            firsts.append(np.frombuffer(raw, value_type, below, at))
            self._need(not any(raw[at + 8 * below:at + PAGE * count]), "SORTED_INDEX %d: a byte after its values" % number, "set", "zero")
            at += PAGE * count
        pieces = [np.zeros(0, entry)]
        for begin in range(at, len(raw), PAGE):
            page = raw[begin:begin + PAGE]
            count = min(INDEX_ENTRIES, len(page) // 12)
            pieces.append(np.frombuffer(page, entry, count))
            self._need(not any(page[12 * count:]), "SORTED_INDEX %d: a byte after its entries" % number, "set", "zero")
        return np.concatenate(pieces), firsts

    def _find_sorted(self, number, intervals):
        """Returns the file positions that a key's sorted index has for some intervals."""
        entries, _ = self.index_entries(number)
        values = entries["value"]
        values = values[:len(values) - np.count_nonzero(values != values)]
        ends = [(np.searchsorted(values, lo), np.searchsorted(values, hi, side="right")) for lo, hi in intervals]
        return np.concatenate([np.arange(0)] + [entries["position"][a:b] for a, b in ends])

    def _validate_sorted_index(self, number):
        """Checks that a key's sorted index agrees with its values (section 11)."""
        name, (entries, firsts) = "SORTED_INDEX %d: " % number, self.index_entries(number)
        values = self._key_cache(number)
        order = np.argsort(values, kind="stable") # NaN last
        for i in np.flatnonzero(entries["position"] != order):
            self._need(False, name + "position of entry %d" % i, entries["position"][i], order[i])
        same = (entries["value"] == values[order]) | ((entries["value"] != entries["value"]) & (values[order] != values[order]))
        for i in np.flatnonzero(~same):
            self._need(False, name + "value of entry %d" % i, entries["value"][i], values[order][i])
        below = entries["value"][::INDEX_ENTRIES]
        for level, found in reversed(list(enumerate(firsts))):
            good = len(found) == len(below) and np.all((found == below) | ((found != found) & (below != below)))
            self._need(good, name + "values of level %d" % level, found.tolist(), below.tolist())
            below = found[::INDEX_VALUES]

    def _blocks_of(self, t, boxes, sides, requested, bins):
        """Returns the blocks of a treelet that the index does not rule out."""
        blocks = np.arange(self.treelet_first_block[t], self.treelet_first_block[t + 1])
        for axis, (lo, hi) in enumerate(sides or []):
            blocks = blocks[(boxes[blocks, 0, axis] <= hi) & (boxes[blocks, 1, axis] >= lo)]
        for (number, intervals), bins_of_ends in zip(requested, bins):
            row = self.treelet_keys[number][t]
            mask = 0
            for (lo, hi), (first, last) in zip(intervals, bins_of_ends):
                first, last = max(first, row["first_bin"]), min(last, row["last_bin"])
                if row["minimum"] > hi or row["maximum"] < lo or first > last:
                    continue
                low, high = (int(b) for b in bit_of([first, last], int(row["first_bin"]), int(row["last_bin"])))
                mask |= (2 << high) - (1 << low)
            if not int(row["bitmap"]) & mask:
                return []
            blocks = blocks[self.block_bitmaps[number][blocks] & np.uint32(mask) != 0]
        return blocks

    # ---- The validator (section 16, last paragraph) -----------------------------------------------------------------

    def validate(self):
        """Checks every rule of the format that is not checked at opening; raises BatError at the first violation."""
        self._need(self._metadata_problem is None, "METADATA", self._metadata_problem, "a JSON object in UTF-8")
        self._validate_bytes()
        order = self.ordinal_to_position()
        self._need(np.array_equal(np.sort(order), np.arange(self.particle_count)), "ordinal to position", "not a permutation", "one")
        self._validate_tree(order)
        self._validate_sample()
        for number in range(len(self.keys)):
            self._validate_key(number, order)
        for number in self.sorted_keys:
            self._validate_sorted_index(number)
        self._validate_position_keys([self])
        self._validate_queries()

    def _validate_position_keys(self, files):
        """Checks that the keys of positions in ALIASES agree with the particles of some files (section 7)."""
        for i, row in enumerate([] if self.position_keys is None else self.position_keys):
            values = np.concatenate([bat._key_cache(-1 - i) for bat in files])
            numbers = values[~np.isnan(values)]
            found = row["minimum"], row["maximum"], bool(row["flags"])
            allowed = numbers.min(initial=math.inf), numbers.max(initial=-math.inf), len(numbers) != len(values)
            self._need(found == allowed, "minimum, maximum and flag of position key %d" % i, found, allowed)

    def _validate_view(self):
        """Checks the HDF5 view (section 20) as far as this module knows HDF5: its superblock and the objects' place."""
        found = sorted(kind for kind, _ in self.sections if kind in HDF5_VIEW)
        self._need(found in ([], sorted(HDF5_VIEW)), "sections of the HDF5 view", found, "both or none")
        if not found:
            return
        place, block, objects = self.sections[HDF5_SUPERBLOCK, 0], self.section(HDF5_SUPERBLOCK), self.sections[HDF5_OBJECTS, 0]
        self._need(place.offset == SUPERBLOCK_OFFSET, "offset of HDF5_SUPERBLOCK", place.offset, SUPERBLOCK_OFFSET)
        self._need(block[:8] == b"\x89HDF\r\n\x1a\n" and len(block) == 48, "HDF5_SUPERBLOCK", block[:8], "an HDF5 superblock")
        for s in self.sections.values():
            self._need(s is place or s.offset >= SUPERBLOCK_OFFSET + len(block), "offset of " + section_name(s.kind, s.index),
                       s.offset, "after HDF5_SUPERBLOCK")
        base, _, end, root = struct.unpack_from("<4Q", block, 12)
        self._need(base == SUPERBLOCK_OFFSET and end == len(self.data), "base and end in HDF5_SUPERBLOCK", (base, end),
                   (SUPERBLOCK_OFFSET, len(self.data)))
        self._need(objects.offset <= base + root < objects.offset + objects.bytes, "root group of HDF5_SUPERBLOCK",
                   base + root, "in HDF5_OBJECTS")

    def _validate_bytes(self):
        """Checks that nothing overlaps and that bytes outside of sections are zero (section 4)."""
        for s in self.sections.values():
            self._need(self._is_known(s.kind) or not SCHEMA <= s.kind <= HDF5_OBJECTS, section_name(s.kind, s.index),
                       "in this kind of file", "in the other kind only")
        self._validate_view()
        extents = [(0, 128, "header"), (self._table[0], self._table[0] + 64 * self._table[1], "section table")]
        for s in self.sections.values():
            extents.append((s.offset, s.offset + s.bytes, section_name(s.kind, s.index)))
            size = sum(checksum_bytes(s.bytes)) if s.flags & 1 else 0
            extents.append((s.checksums_offset, s.checksums_offset + size, section_name(s.kind, s.index) + " checksums"))
        end, before = 0, "beginning"
        for first, last, name in sorted(e for e in extents if e[0] < e[1]) + [(len(self.data), len(self.data), "end")]:
            self._need(first >= end, name + ": offset", first, "at least %d, the end of %s" % (end, before))
            self._need(not any(self.data[end:first]), "a byte between %s and %s" % (before, name), "set", "zero")
            end, before = last, name

    def _validate_tree(self, order):
        """Checks structure and boxes of the shallow tree and blocks, and the box of the file (sections 7, 9,
        10)."""
        need, nodes, skip = self._need, self.nodes, self.nodes["skip"].tolist()
        first = nodes["first_treelet"].tolist()
        flagged, total = self.treelet_flags == 1, len(skip)
        need(np.all(np.diff(flagged.astype(int)) >= 0), "a treelet with flag bit 0", "before one without", "after all without")
        xyz = self._positions[order].astype("f8") if total else np.zeros((0, 3))
        finite = np.isfinite(xyz).all(axis=1)
        # Both ends of the box are compared as numbers, so either sign of zero is accepted.
        for name, found, allowed in (("lower", self.lower, xyz[finite].min(axis=0, initial=math.inf)),
                                     ("upper", self.upper, xyz[finite].max(axis=0, initial=-math.inf))):
            need(np.array_equal(found, allowed), "%s of the schema" % name, found.tolist(), allowed.tolist())
        if not total:
            return
        need(skip[0] == total and first[0] == 0, "skip and first_treelet of node 0", (skip[0], first[0]), (total, 0))
        leaf = 0
        for i in range(total):
            lower, upper, name = nodes["lower"][i], nodes["upper"][i], "node %d: " % i
            need(bool(np.all(lower <= upper)), name + "box", (lower.tolist(), upper.tolist()), "lower <= upper and no NaN")
            if skip[i] == i + 1:
                need(first[i] == leaf, name + "first_treelet", first[i], leaf)
                leaf += 1
                continue
            left, right = i + 1, skip[i + 1]
            need(right < skip[i] == skip[min(right, total - 1)], name + "skip", skip[i], "that of its right child")
            need(first[i] == first[left], name + "first_treelet", first[i], first[left])
            union = np.minimum(nodes["lower"][left], nodes["lower"][right]), np.maximum(nodes["upper"][left], nodes["upper"][right])
            need(np.array_equal(union, (lower, upper)), name + "box", (lower.tolist(), upper.tolist()),
                 "the union of its children's")
        of_ordinal = np.repeat(flagged, self.treelet_counts)
        need(bool(np.all(finite | of_ordinal)), "a coordinate in a treelet without flag bit 0", "not finite", "finite")
        reduced = [f.reduceat(xyz, self.treelet_first, axis=0) for f in (np.fmin, np.fmax)]
        tight = np.where(flagged[:, None, None], [[-math.inf] * 3, [math.inf] * 3], np.stack(reduced, axis=1))
        for t in np.flatnonzero((tight != self.treelet_box).any(axis=(1, 2))):
            need(False, "the box of treelet %d" % t, self.treelet_box[t].tolist(), tight[t].tolist())
        of_block = flagged[self.block_treelet]
        need(bool(np.all(self.block_codes[of_block] == [[[0], [255]]])), "a block box of a treelet with flag bit 0", "tighter",
             "0, 0, 0, 255, 255, 255")
        boxes = np.repeat(self.block_boxes(), self.block_end - self.block_first, axis=0)
        inside = ((boxes[:, 0] <= xyz) & (xyz <= boxes[:, 1])).all(axis=1) | of_ordinal
        for g in np.flatnonzero(~inside):
            need(False, "the place of the particle of ordinal %d" % g, xyz[g].tolist(),
                 "in the box of its block " + str(boxes[g].tolist()))

    def _validate_key(self, number, order):
        """Checks extremes, flags, edges, bins, dictionary and bitmaps of a key (sections 7 and 11)."""
        key, rows, edges, name = self.keys[number], self.treelet_keys[number], self.edges[number], "key %d: " % number
        values = self._key_cache(number)[order]
        nan = values != values
        dtype = np.dtype(key.value_type)
        limits = (-math.inf, math.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        low, high = (dtype.type(v) for v in limits)
        minimum, maximum = values[~nan].min(initial=high), values[~nan].max(initial=low)
        self._need(key.minimum == minimum, name + "minimum", key.minimum, minimum)
        self._need(key.maximum == maximum, name + "maximum", key.maximum, maximum)
        self._need(key.has_nan == nan.any(), name + "flag NaN occurs", key.has_nan, nan.any())
        ascending = bool(np.all(edges == edges) and np.all(edges[1:] > edges[:-1]))
        self._need(ascending, name + "edges", edges.tolist(), "strictly ascending")
        dictionary = self.dictionaries[number]
        if dictionary is not None:
            ascending = bool(np.all(dictionary[1:] > dictionary[:-1]))
            self._need(ascending, name + "dictionary", dictionary.tolist(), "ascending and unique")
        if not self.particle_count:
            return
        none = np.logical_and.reduceat(nan, self.treelet_first)
        bins = np.searchsorted(edges, values, side="right")
        first, last = (np.where(none, 0, np.searchsorted(edges, rows[f], side="right")) for f in ("minimum", "maximum"))
        lowest = np.minimum.reduceat(np.where(nan, high, values), self.treelet_first)
        highest = np.maximum.reduceat(np.where(nan, low, values), self.treelet_first)
        bits = bit_of(bins, *(np.repeat(rows[f].astype("i8"), self.treelet_counts) for f in ("first_bin", "last_bin")))
        bits = np.where(nan, 0, np.left_shift(1, np.where(nan, 0, bits).clip(0, 32)))
        needed = np.bitwise_or.reduceat(bits, self.block_first)
        stored = self.block_bitmaps[number].astype("i8")
        union = np.bitwise_or.reduceat(stored if key.bitmap_bytes else needed, self.treelet_first_block[:-1])
        any_nan = np.logical_or.reduceat(nan, self.treelet_first)
        for field, allowed in (("minimum", lowest), ("maximum", highest), ("flags", any_nan), ("first_bin", first),
                               ("last_bin", last)):
            for t in np.flatnonzero(rows[field] != allowed):
                self._need(False, "%streelet %d: %s" % (name, t, field), rows[field][t], allowed[t])
        for block in np.flatnonzero(needed & ~stored):
            self._need(False, "%sblock %d: bitmap" % (name, block), "%#x" % stored[block], "one with %#x" % needed[block])
        bitmap = rows["bitmap"].astype("i8")
        wrong = (bitmap != union) | none & (bitmap != 0)
        for t in np.flatnonzero(wrong):
            self._need(False, "%streelet %d: bitmap" % (name, t), "%#x" % bitmap[t], "the OR of its blocks', %#x" % union[t])

    def _validate_queries(self):
        """Checks that the index gives the same results as testing every particle (section 13)."""
        queries = [dict(), dict(quality=0.3), dict(quality=0.7, after_quality=0.2)]
        if np.all(np.isfinite(self.upper - self.lower)) and self.particle_count:
            for a, b in ((0.0, 0.5), (0.25, 0.6), (0.9, 1.0)):
                side = self.upper - self.lower
                queries.append(dict(box=[*(self.lower + side * a), *(self.lower + side * b)], quality=0.9))
        queries.append(dict(box=[-math.inf] * 3 + [math.inf] * 3))
        queries += [dict(part=part, parts=3, quality=0.8) for part in range(3)]
        for number, key in enumerate(self.keys):
            values = np.sort(self._key_cache(number))
            values = values[values == values]
            for a, b in ((0, 0), (0.1, 0.2), (0.4, 0.9), (0.99, 0.99)) if len(values) else ():
                lo, hi = (values[int(f * len(values))].item() for f in (a, b))
                spec = (self.attributes[key.attribute].name, key.component, lo, hi)
                queries += [dict(ranges=[spec]), dict(queries[number % 9 % len(queries)], ranges=[spec])]
            if len(values):
                spec = (*spec[:2], values[::1 + len(values) // 7].tolist())
                queries += [dict(values=[spec]), dict(queries[number % 9 % len(queries)], values=[spec])]
        for q in queries:
            self._need(np.array_equal(self.query(**q), self.query_index(**q)), "the answer of the index to %s" % q, "different",
                       "that of comparing every particle")


class BatDataset(BatFile):
    """A dataset of several leaf files: the top file in memory, leaf files on demand (section 15).

    "File positions" of a dataset run through all leaf files: those of leaf file i follow those of leaf file i - 1.
    """

    TOP = True

    def __init__(self, data, path="(bytes)"):
        self.path = path
        self.data = memoryview(data)
        self._verified, self._key_values, self._leaves = {}, {}, {}
        self._read_header()
        self._read_section_table()
        self._read_schema()
        self._read_leaf_files()
        self._read_aggregation_tree()
        self._read_metadata()

    # ---- 15 Datasets of several leaf files ----------------------------------------------------------------------------------

    def _read_leaf_files(self):
        """Decodes and checks LEAF_FILES: records, keys, names."""
        need, raw, k = self._need, self.section(LEAF_FILES), len(self.keys)
        need(len(raw) >= 8, "the size of LEAF_FILES", len(raw), "at least 8")
        count, zero = LEAF_FILES_HEAD.unpack_from(raw)
        need(1 <= count <= 1 << 24, "leaf_count", count, "1 to 16777216")
        need(zero == 0, "reserved of LEAF_FILES", zero, 0)
        names_at = 8 + 80 * count + 24 * k * count
        need(len(raw) >= names_at, "the size of LEAF_FILES", len(raw), "at least %d" % names_at)
        self.leaf_records = r = np.frombuffer(raw, LEAF_RECORD, count, 8)
        particles = [int(n) for n in r["particles"]]
        need(all(1 <= n <= 4294967295 for n in particles), "particles of a leaf file", particles[:9], "1 to 4294967295")
        need(sum(particles) == self.particle_count, "the sum of particles", sum(particles), self.particle_count)
        need(np.all(r["flags"] < 2), "flags of a leaf file", r["flags"].max(), "bit 0")
        none = (r["lower"] == math.inf).all(axis=1) & (r["upper"] == -math.inf).all(axis=1) & (r["flags"] == 1)
        box = (np.isfinite(r["lower"]) & np.isfinite(r["upper"]) & (r["lower"] <= r["upper"])).all(axis=1)
        for i in np.flatnonzero(~(none | box)):
            need(False, "the box of leaf file %d" % i, (r["lower"][i].tolist(), r["upper"][i].tolist()),
                 "finite, lower <= upper, or +inf to -inf with flag bit 0")
        self.leaf_first = np.cumsum([0] + particles)
        self.leaf_keys = []
        for number, key in enumerate(self.keys):
            record = np.dtype([("minimum", key.value_type), ("maximum", key.value_type), ("flags", "<u4"), ("reserved", "<u4")])
            rows = np.frombuffer(raw[8 + 80 * count:names_at], np.dtype("V24")).reshape(count, k)[:, number].copy().view(record)
            need(np.all(rows["flags"] < 2), "flags of key %d of a leaf file" % number, rows["flags"].max(), "bit 0")
            need(not rows["reserved"].any(), "reserved of key %d of a leaf file" % number, rows["reserved"].max(), 0)
            for field in ("minimum", "maximum"):
                need(np.all(rows[field] == rows[field]), "%s of key %d of a leaf file" % (field, number), "NaN", "a number")
            self.leaf_keys.append(rows)
        self.leaf_names, at = [], names_at
        for i, size in enumerate(r["name_bytes"].tolist()):
            thing = "the name of leaf file %d" % i
            need(size >= 1, thing, "empty", "not empty")
            need(at + size <= len(raw), thing + ": end", at + size, "at most %d" % len(raw))
            name = bytes(raw[at:at + size])
            need(b"\0" not in name and not {b"", b".", b".."} & set(name.split(b"/")), thing, name,
                 "parts between slashes, none of them empty, . or .., without zero bytes")
            self.leaf_names.append(name)
            at += size
        need(at == len(raw), "the size of LEAF_FILES", len(raw), at)
        need(len(set(self.leaf_names)) == count, "the number of different names", len(set(self.leaf_names)), count)

    def _read_aggregation_tree(self):
        """Decodes and checks AGGREGATION_TREE by the rules of section 9, with leaf files in place of
        treelets."""
        need, flags = self._need, self.leaf_records["flags"]
        f = len(flags)
        self._check_sizes({(LEAF_FILES, 0): self.sections[LEAF_FILES, 0].bytes, (AGGREGATION_TREE, 0): 56 * (2 * f - 1)})
        self.nodes, leaf = np.frombuffer(self.section(AGGREGATION_TREE), NODE), 0
        first, skip = self.nodes["first_treelet"].tolist(), self.nodes["skip"].tolist()
        need(skip[0] == len(skip), "skip of node 0", skip[0], len(skip))
        for i in range(len(skip)):
            lower, upper, name = self.nodes["lower"][i], self.nodes["upper"][i], "node %d: " % i
            need(bool(np.all(lower <= upper)), name + "box", (lower.tolist(), upper.tolist()), "lower <= upper and no NaN")
            need(i < skip[i] <= len(skip), name + "skip", skip[i], "above the node, at most %d" % len(skip))
            need(first[i] == leaf, name + "first_treelet", first[i], leaf)
            if skip[i] == i + 1:
                need(leaf < f, name + "leaf", leaf, "below %d" % f)
                endless = bool(np.all(lower == -math.inf) and np.all(upper == math.inf))
                good = endless if flags[leaf] else bool(np.isfinite(lower).all() and np.isfinite(upper).all())
                need(good, name + "box", (lower.tolist(), upper.tolist()), "that of everything if the flag of its leaf file is set,"
                     " finite if not")
                leaf += 1
            else:
                right = skip[i + 1]
                need(right < skip[i] == skip[min(right, len(skip) - 1)], name + "skip", skip[i], "that of its right child")
        need(leaf == f, "the number of leaves of AGGREGATION_TREE", leaf, f)

    def leaf(self, i):
        """Opens leaf file i unless it is open, and checks that it is the one that was written."""
        if i not in self._leaves:
            folder = os.path.dirname(os.path.realpath(self.path))
            path = os.path.join(folder, os.fsdecode(self.leaf_names[i]))
            record, need = self.leaf_records[i], self._need
            try:
                bat = BatFile.open(path)
            except BatError as error:
                raise BatError(error.kind, "%s: leaf file %d: %s" % (self.path, i, error.message)) from error
            for thing, found, allowed in (("particle_count", bat.particle_count, record["particles"]),
                                          ("file_bytes", len(bat.data), record["file_bytes"]),
                                          ("header_checksum", bat.header_checksum, record["header_checksum"])):
                need(found == allowed, "%s of %s" % (thing, path), found, allowed)
            need(bat.position_type == self.position_type, "position_type of " + path, bat.position_type, self.position_type)
            found, allowed = ([(a.name, a.type, a.components) for a in x.attributes] for x in (bat, self))
            need(found == allowed, "the attributes of " + path, found, allowed)
            found, allowed = ([(a.name, a.target, a.component) for a in x.aliases] for x in (bat, self))
            need(found == allowed, "the aliases of " + path, found, allowed)
            need(bat.sample_ids == self.sample_ids, "the ids of samples of " + path, bat.sample_ids, self.sample_ids)
            self._leaves[i] = bat
        return self._leaves[i]

    def leaves(self):
        """Returns all leaf files in order."""
        return [self.leaf(i) for i in range(len(self.leaf_names))]

    def positions(self):
        """Returns the positions, leaf file by leaf file, each by file position."""
        return np.concatenate([bat.positions() for bat in self.leaves()])

    @property
    def _columns(self):
        """Returns the columns of the attributes, leaf file by leaf file."""
        return [np.concatenate(pieces) for pieces in zip(*(bat._columns for bat in self.leaves()))]

    def key_values(self, number):
        """Returns the values of a key, leaf file by leaf file."""
        return np.concatenate([bat._key_cache(number) for bat in self.leaves()])

    def query_ordinals(self, ordinals, *conditions):
        """Returns the result of each leaf file in order, by testing every particle."""
        self._prepare(*conditions)
        found = [np.arange(0)]
        for i, bat in enumerate(self.leaves()):
            first, n = int(self.leaf_first[i]), bat.particle_count
            own = tuple(min(max(g - first, 0), n) for g in ordinals)
            found.append(first + bat.query_ordinals(own, *conditions))
        return np.concatenate(found)

    def query_ordinals_index(self, ordinals, *conditions):
        """Returns the same through tree and keys; opens only the leaf files that they do not rule out."""
        _, _, sides, requested = self._prepare(*conditions)
        found, node = [np.arange(0)], 0
        while node < len(self.nodes) and all(intervals for _, intervals in requested):
            row = self.nodes[node]
            if any(row["lower"][a] > hi or row["upper"][a] < lo for a, (lo, hi) in enumerate(sides or [])):
                node = int(row["skip"])
                continue
            node += 1
            if row["skip"] != node:
                continue
            i = int(row["first_treelet"])
            first, end = int(self.leaf_first[i]), int(self.leaf_first[i + 1])
            keys = ((self.leaf_keys[number][i], intervals) for number, intervals in requested if number >= 0)
            if ordinals[0] < end and ordinals[1] > first and not any(
                    all(k["minimum"] > hi or k["maximum"] < lo for lo, hi in intervals) for k, intervals in keys):
                own = tuple(min(max(g - first, 0), end - first) for g in ordinals)
                found.append(first + self.leaf(i).query_ordinals_index(own, *conditions))
        return np.concatenate(found)

    def validate(self):
        """Checks the top file, each leaf file, and that the top file agrees with its leaf files (section 16, last
        paragraph)."""
        need, r = self._need, self.leaf_records
        need(self._metadata_problem is None, "METADATA", self._metadata_problem, "a JSON object in UTF-8")
        self._validate_bytes()
        for name, found, allowed in (("lower", self.lower, r["lower"].min(axis=0)), ("upper", self.upper, r["upper"].max(axis=0))):
            need(np.array_equal(found, allowed), "%s of the schema" % name, found.tolist(), allowed.tolist())
        for number, key in enumerate(self.keys):
            rows = self.leaf_keys[number]
            found, allowed = (key.minimum, key.maximum, key.has_nan), (rows["minimum"].min(), rows["maximum"].max(), rows["flags"].any())
            need(found == allowed, "minimum, maximum and flag of key %d" % number, found, allowed)
        flagged = r["flags"] == 1
        for i in reversed(range(len(self.nodes))):
            node, leaf = self.nodes[i], int(self.nodes["first_treelet"][i])
            lower = np.full(3, -math.inf) if flagged[leaf] else r["lower"][leaf]
            upper = np.full(3, math.inf) if flagged[leaf] else r["upper"][leaf]
            if node["skip"] != i + 1:
                children = self.nodes[[i + 1, int(self.nodes["skip"][i + 1])]]
                lower, upper = children["lower"].min(axis=0), children["upper"].max(axis=0)
            need(np.array_equal([node["lower"], node["upper"]], [lower, upper]), "node %d: box" % i,
                 (node["lower"].tolist(), node["upper"].tolist()), (lower.tolist(), upper.tolist()))
        for i, bat in enumerate(self.leaves()):
            bat.validate()
            thing = "the record of leaf file %d in LEAF_FILES: " % i
            need(np.array_equal([r["lower"][i], r["upper"][i]], [bat.lower, bat.upper]), thing + "box",
                 (r["lower"][i].tolist(), r["upper"][i].tolist()), (bat.lower.tolist(), bat.upper.tolist()))
            need(r["flags"][i] == bat.treelet_flags.max(), thing + "flags", r["flags"][i], bat.treelet_flags.max())
            for number, key in enumerate(bat.keys):
                row = self.leaf_keys[number][i]
                found, allowed = (row["minimum"], row["maximum"], bool(row["flags"])), (key.minimum, key.maximum, key.has_nan)
                need(found == allowed, thing + "key %d" % number, found, allowed)
        self._validate_position_keys(self.leaves())
        self._validate_queries()


def open_any(path):
    """Opens a leaf file or a dataset of several; bit 0 of required_features distinguishes them (section
    14)."""
    if xxhash is None:
        warnings.warn("xxhash cannot be imported: damage of %s is not detected (pip install xxhash)" % os.fspath(path), stacklevel=2)
    try:
        with open(path, "rb") as stream:
            features = stream.read(128)[24:25] if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) else b""
    except OSError:
        features = b""
    return (BatDataset if any(byte & SEVERAL_LEAF_FILES for byte in features) else BatFile).open(path)


def section_name(kind, index):
    """Returns a section's name for messages."""
    name = KINDS[kind] if 1 <= kind < len(KINDS) else kind
    return "section %s %d" % (name, index)


def index_levels(n):
    """Returns the number of pages of each level of a sorted index of n entries (section 11)."""
    levels = [-(-n // INDEX_ENTRIES)] if n else []
    while levels and levels[0] > 1:
        levels.insert(0, -(-levels[0] // INDEX_VALUES))
    return levels


def checksum_bytes(size):
    """Returns the bytes of the arrays L2 and L1 of a paged section (section 6)."""
    p = -(-size // PAGE)
    return 4 * -(-4 * p // PAGE), 4 * p


def refuse_constant(text):
    """Rejects NaN and Infinity, which JSON does not allow."""
    raise ValueError("%s is not JSON" % text)


# ---- Command line -----------------------------------------------------------------------------------------------------------

def exact_list(values):
    """Returns a column as lists of integers; floating-point values become bit patterns in hexadecimal digits."""
    values = np.ascontiguousarray(values)
    if values.dtype.kind != "f":
        return values.tolist()
    digits = 2 * values.dtype.itemsize
    flat = [format(v, "0%dx" % digits) for v in values.view("<u%d" % values.dtype.itemsize).ravel().tolist()]
    return flat if values.ndim == 1 else [flat[i:i + values.shape[1]] for i in range(0, len(flat), values.shape[1])]


def exact_content(positions, attributes, columns, time, step, metadata):
    """Returns the content of a file as an object for JSON; rows are in file order, floats are bit
    patterns."""
    time = None if time is None else struct.pack(">d", time).hex()
    return {"particle_count": len(positions), "time": time, "step": step, "metadata": metadata,
            "position_type": positions.dtype.name, "positions": exact_list(positions),
            "attributes": [{"name": a.name, "type": a.type, "components": a.components, "role": a.role, "host_type": a.host_type,
                            "values": exact_list(c)} for a, c in zip(attributes, columns)]}


def content(bat):
    """Returns the content of an open file in the form of exact_content."""
    attributes, columns = zip(*bat.listed()) if bat.listed() else ((), ())
    return exact_content(bat.positions(), attributes, columns, bat.time, bat.step, bat.metadata)


def rows_checksum(bat, where):
    """Returns XXH64 of the positions, followed by the values of each attribute, as one run of bytes."""
    return xxh64(b"".join(c[where].tobytes() for c in [bat.positions()] + [values for _, values in bat.listed()]))


def plain(v):
    """Returns v in a form that strict JSON allows: non-finite numbers become text."""
    v = v.tolist() if isinstance(v, (np.ndarray, np.generic)) else v
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return v if not isinstance(v, float) or math.isfinite(v) else str(v)


def info(bat):
    """Returns a summary of an open file for JSON."""
    if bat.TOP:
        return {"version": [bat.version_major, bat.version_minor], "particle_count": bat.particle_count, "time": plain(bat.time),
                "step": bat.step, "position_type": bat.position_type, "lower": plain(bat.lower), "upper": plain(bat.upper),
                "metadata": bat.metadata, "attributes": [a._asdict() for a in bat.attributes],
                "aliases": [a._asdict() for a in bat.aliases], "sample_ids": bat.sample_ids,
                "keys": [{k: plain(v) for k, v in key._asdict().items()} for key in bat.keys],
                "leaf_files": [{"name": os.fsdecode(name), "particles": int(r["particles"]), "file_bytes": int(r["file_bytes"])}
                               for name, r in zip(bat.leaf_names, bat.leaf_records)]}
    return {"version": [bat.version_major, bat.version_minor], "particle_count": bat.particle_count, "time": plain(bat.time),
            "step": bat.step, "position_type": bat.position_type, "lower": plain(bat.lower), "upper": plain(bat.upper),
            "level_ends": bat.level_ends, "keep_ratios": bat.keep_ratios, "treelet_count": bat.treelet_count,
            "block_count": bat.block_count, "block_particles": bat.block_particles, "metadata": bat.metadata,
            "attributes": [a._asdict() for a in bat.attributes], "aliases": [a._asdict() for a in bat.aliases],
            "sample_ids": bat.sample_ids,
            "keys": [{k: plain(v) for k, v in key._asdict().items()} for key in bat.keys],
            "sections": [dict(name=KINDS[s.kind] if s.kind < len(KINDS) else None, **s._asdict()) for s in bat.sections.values()]}


def number(text):
    """Returns an integer exactly, or a float."""
    try:
        return int(text)
    except ValueError:
        return float.fromhex(text.strip()) if "0x" in text.lower() else float(text)


def parse_key(bat, text):
    """Returns the name and the component of NAME[:COMPONENT]; the component magnitude is -1."""
    name, component = text, None
    if name not in bat._by_name and ":" in name:
        name, component = name.rsplit(":", 1)
        if component != "magnitude" and not component.isdecimal():
            raise QueryError("the component %r is neither a number nor magnitude" % component)
        component = -1 if component == "magnitude" else int(component)
    return name, component


def main(argv):
    """Runs the command line."""
    def is_number(text):
        try:
            return number(text) is not None
        except ValueError:
            return False

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("info", "validate", "dump", "query"):
        command = commands.add_parser(name)
        command.add_argument("file")
        if name == "dump":
            command.add_argument("--json", required=True)
        if name == "query":
            command.add_argument("--quality", type=number, default=1)
            command.add_argument("--after-quality", type=number, default=0)
            command.add_argument("--part", type=int, nargs=2, default=[0, 1], metavar=("PART", "PARTS"))
            command.add_argument("--box", type=number, nargs=6, metavar=("X0", "Y0", "Z0", "X1", "Y1", "Z1"))
            command.add_argument("--range", nargs=3, action="append", default=[], metavar=("NAME[:COMPONENT]", "LO", "HI"))
            command.add_argument("--values", nargs="+", action="append", default=[], metavar="NAME[:COMPONENT] NUMBER")
    # argparse mistakes -inf and -1e9 for options; a leading space makes them values.
    args = parser.parse_args([" " + a if a.startswith("-") and is_number(a) else a for a in argv])
    try:
        bat = open_any(args.file)
        if args.command == "validate":
            bat.validate()
            print("ok")
        elif args.command == "info":
            print(json.dumps(info(bat), indent=1))
        elif args.command == "dump":
            with open(args.json, "w", encoding="utf-8") as stream:
                json.dump(content(bat), stream, indent=0, ensure_ascii=False)
        else:
            spec = dict(quality=args.quality, after_quality=args.after_quality, box=args.box,
                        ranges=[(*parse_key(bat, name), number(lo), number(hi)) for name, lo, hi in args.range],
                        values=[(*parse_key(bat, name), [number(v) for v in listed]) for name, *listed in args.values],
                        part=args.part[0], parts=args.part[1])
            where = bat.query(**spec)
            if not np.array_equal(where, bat.query_index(**spec)):
                raise BatError("corrupt", "%s: the index gives a different answer than comparing every particle" % args.file)
            print(json.dumps({"count": len(where), "positions": where.tolist(), "checksum": "%016x" % rows_checksum(bat, where)}))
    except BatError as error:
        print("%s: %s" % (error.kind, printable(str(error))), file=sys.stdout if args.command == "validate" else sys.stderr)
        return 1
    except QueryError as error:
        print("query: %s" % printable(str(error)), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
