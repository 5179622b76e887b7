# SPDX-License-Identifier: BSD-3-Clause
"""Lists a small .bat file byte by byte with the meaning of each byte, as in appendix A of
FORMAT.md.

Usage: annotate.py FILE             prints the listing
       annotate.py FILE FORMAT.md   fails unless the text has just this listing
"""

import struct
import sys

import bat_spec

HEADER_FIELDS = [("8s", "magic"), ("H", "version_major"), ("H", "version_minor"), ("I", "header_bytes"), ("Q", "file_bytes"),
                 ("Q", "required_features"), ("Q", "optional_features"), ("Q", "particle_count"), ("Q", "section_table_offset"),
                 ("I", "section_count"), ("I", "flags"), ("d", "time"), ("q", "step"), ("Q", "section_table_checksum"),
                 ("32s", "reserved"), ("Q", "header_checksum")]
HEAD_FIELDS = [("I", "attribute_count"), ("I", "key_count"), ("I", "level_count"), ("I", "treelet_count"), ("Q", "block_count"),
               ("I", "block_particles"), ("B", "position_type"), ("3s", "reserved"), ("3d", "lower"), ("3d", "upper")]
ATTRIBUTE_FIELDS = [("B", "type"), ("B", "components"), ("B", "role"), ("B", "reserved"), ("I", "host_type"), ("I", "name_bytes"),
                    ("I", "first_key")]
KEY_FIELDS = [("I", "attribute"), ("h", "component"), ("B", "bitmap_bytes"), ("B", "flags"), ("I", "bin_count"),
              ("I", "dictionary_count"), ("8s", "minimum"), ("8s", "maximum"), ("Q", "reserved")]
TREELET_KEY_FIELDS = [("8s", "minimum"), ("8s", "maximum"), ("I", "bitmap"), ("H", "first_bin"), ("H", "last_bin"), ("I", "flags"),
                      ("I", "reserved")]
SECTION_FIELDS = [("I", "kind"), ("I", "index"), ("I", "encoding"), ("I", "flags"), ("Q", "offset"), ("Q", "bytes"),
                  ("Q", "raw_bytes"), ("Q", "checksum"), ("Q", "checksums_offset"), ("Q", "reserved")]


class Lister:
    """Collects lines "offset  bytes  meaning" for consecutive bytes of a file."""

    def __init__(self, data):
        self.data = data
        self.lines = []

    def row(self, offset, count, meaning):
        """Adds `count` bytes from `offset` on, 8 per line."""
        for begin in range(0, count, 8):
            part = self.data[offset + begin:offset + min(begin + 8, count)]
            text = meaning if begin == 0 else ""
            self.lines.append(("%6d  %-23s  %s" % (offset + begin, part.hex(" "), text)).rstrip())

    def record(self, offset, fields, what):
        """Adds a record field by field; returns the offset after it."""
        self.lines.append("        " + what)
        for form, name in fields:
            count = struct.calcsize("<" + form)
            value = struct.unpack_from("<" + form, self.data, offset)
            shown = "" if form.endswith("s") else " " + " ".join(
                "%016x" % v if "checksum" in name and not name.endswith("offset") else str(v) for v in value)
            self.row(offset, count, name + shown)
            offset += count
        return offset


def listing(path):
    """Returns the lines for a whole file."""
    bat = bat_spec.BatFile.open(path)
    out = Lister(bytes(bat.data))
    parts = {0: lambda: out.record(0, HEADER_FIELDS, "header, section 5")}
    table, count = struct.unpack_from("<Q", out.data, 48)[0], struct.unpack_from("<I", out.data, 56)[0]

    def list_table():
        at = table
        for _ in range(count):
            kind, index = struct.unpack_from("<II", out.data, at)
            at = out.record(at, SECTION_FIELDS, "section table, " + bat_spec.section_name(kind, index))
    parts[table] = list_table

    def list_schema(section):
        at = out.record(section.offset, HEAD_FIELDS, "SCHEMA, section 7")
        for k, _ in enumerate(bat.attributes):
            at = out.record(at, ATTRIBUTE_FIELDS, "SCHEMA, attribute %d" % k)
        for k, _ in enumerate(bat.keys):
            at = out.record(at, KEY_FIELDS, "SCHEMA, key %d" % k)
        for k, attribute in enumerate(bat.attributes):
            size = len(attribute.name.encode())
            out.row(at, size, "name of attribute %d" % k)
            at += size

    def list_treelet_keys(section):
        for t in range(section.bytes // 32):
            out.record(section.offset + 32 * t, TREELET_KEY_FIELDS, "%s, treelet %d" % (
                bat_spec.section_name(section.kind, section.index), t))

    for section in bat.sections.values():
        if section.bytes == 0:
            continue
        name = bat_spec.section_name(section.kind, section.index)
        if section.kind == bat_spec.SCHEMA:
            parts[section.offset] = lambda s=section: list_schema(s)
        elif section.kind == bat_spec.TREELET_KEYS:
            parts[section.offset] = lambda s=section: list_treelet_keys(s)
        else:
            parts[section.offset] = lambda s=section, n=name: out.row(s.offset, s.bytes, n)
        if section.flags & 1:
            sizes = sum(bat_spec.checksum_bytes(section.bytes))
            parts[section.checksums_offset] = lambda s=section, n=name, b=sizes: out.row(
                s.checksums_offset, b, "L2, L1 of " + n)
    for begin in sorted(parts):
        parts[begin]()
    return out.lines


def main():
    lines = "\n".join(listing(sys.argv[1]))
    if len(sys.argv) == 2:
        print(lines)
        return 0
    with open(sys.argv[2], encoding="utf-8") as text:
        if "```\n" + lines + "\n```" in text.read():
            return 0
    print("appendix A does not have the listing of " + sys.argv[1])
    return 1


if __name__ == "__main__":
    sys.exit(main())
