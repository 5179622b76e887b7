# SPDX-License-Identifier: BSD-3-Clause
"""A plain writer of files of the BAT format, version 1.0, written from core/particles/FORMAT.md alone.

It sorts the particles by x and cuts them into runs, without an optimised tree. The numbers in the docstrings are the
sections of FORMAT.md.
"""

import json
import math
import os
import struct
import tempfile

import numpy as np

from .. import errors
from .._arguments import as_array, as_integer, as_path, as_real, as_text, columns_of
from . import reader as spec

CODES = {name: code for code, name in spec.SCALARS.items()}
INFINITE_BOX = np.array([[-math.inf] * 3, [math.inf] * 3])


def keep_ratios(level_ends):
    """Returns ratios r for which s is the given ascending list of particle counts, the last of which is n (section
    8)."""
    return [-(-(a << 32) // b) if b else 0 for a, b in zip(level_ends, level_ends[1:])]


def default_level_ends(n):
    """Returns particle counts that decrease by a factor of at most about 1.5 down to a few (section 8)."""
    ends = [n]
    while ends[0] > 4:
        ends.insert(0, (2 * ends[0] + 2) // 3)
    return ends


def fine_level_ends(n):
    """Returns particle counts that differ by a factor of about 1.15, so that samples of all qualities are
    even."""
    ends = [n]
    while ends[0] > 16:
        ends.insert(0, ends[0] * 20 // 23)
    return ends


def file_order(ratios, n):
    """Returns the ordinals in the order of their file positions, level by level (section 8)."""
    below = [np.arange(n + 1, dtype="u8")]
    for ratio in reversed(ratios):
        below.insert(0, below[0] * np.uint64(ratio) >> np.uint64(32))
    of_level = [np.diff(g) > 0 for g in below]
    of_level = of_level[:1] + [own & ~coarser for coarser, own in zip(of_level, of_level[1:])]
    return np.concatenate([np.flatnonzero(own) for own in of_level]).astype("i8")


def compute_hashes(columns, n):
    """Returns the hash of n particles over some integer columns in order (section 8)."""
    hashes = []
    for row in zip(*(column.tolist() for column in columns)) if n else ():
        z = 0
        for value in row:
            z = (z + value + 0x9E3779B97F4A7C15) % 2**64
            z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
            z ^= z >> 31
        hashes.append(z)
    return np.array(hashes, "u8")


def id_columns(attributes, sample_ids):
    """Returns the columns that stable samples hash, one component each (section 8)."""
    columns = []
    for number, component in sample_ids:
        rows = attributes[number][1].reshape(len(attributes[number][1]), -1)
        columns += list(rows.T) if component < 0 else [rows[:, component]]
    return columns


def stable_levels(hashes, level_ends):
    """Returns the level of each particle; particles in levels 0 to l have the lowest hashes (section
    8)."""
    levels = np.zeros(len(hashes), "i8")
    levels[np.argsort(hashes, kind="stable")] = np.searchsorted(level_ends, np.arange(len(hashes)), side="right")
    return levels


def level_sections(levels, treelets, blocks, level_count, block_particles):
    """Returns TREELET_LEVELS and BLOCK_LEVELS; `levels` are those of the ordinals, ascending in each block (section
    8)."""
    counts = [np.bincount(levels[a:b], minlength=level_count) for a, b, _ in treelets]
    strings = b""
    for a, b, _ in blocks:
        bits = np.zeros(-(-(block_particles + level_count - 1) // 8) * 8, "u1")
        bits[levels[a:b] + np.arange(b - a)] = 1
        strings += np.packbits(bits, bitorder="little").tobytes()
    return np.array(counts, "<u4").tobytes(), strings


def sample_ids_section(sample_ids):
    """Returns SAMPLE_IDS (section 8)."""
    return struct.pack("<II", len(sample_ids), 0) + b"".join(struct.pack("<IhH", *id, 0) for id in sample_ids)


def block_codes(box, points):
    """Returns the six values of a block's box that contain its points (section 10)."""
    codes = np.zeros((2, 3), "u1")
    f = np.arange(256) / 255.0
    for axis in range(3):
        steps = box[0, axis] * (1 - f) + box[1, axis] * f
        codes[0, axis] = np.flatnonzero(steps <= points[:, axis].min())[-1]
        codes[1, axis] = np.flatnonzero(steps >= points[:, axis].max())[0]
    return codes


def node_records(boxes, first, last):
    """Returns the nodes of a balanced tree over some treelets in preorder, `skip` counted from their root (section 9)."""
    if last - first == 1:
        return [(boxes[first], first, 1)]
    middle = (first + last) // 2
    left, right = node_records(boxes, first, middle), node_records(boxes, middle, last)
    box = np.array([np.minimum(left[0][0][0], right[0][0][0]), np.maximum(left[0][0][1], right[0][0][1])])
    below = [(b, t, skip + 1) for b, t, skip in left] + [(b, t, skip + 1 + len(left)) for b, t, skip in right]
    return [(box, first, 1 + len(below))] + below


def attribute_keys(values):
    """Returns (component, values in the value class) of each key of an attribute (section 11)."""
    rows = values[:, None] if values.ndim == 1 else values
    to = {"i": "<i8", "u": "<u8", "f": "<f8"}[values.dtype.kind]
    with np.errstate(all="ignore"):
        keys = [(c, rows[:, c].astype(to)) for c in range(rows.shape[1])]
        if rows.shape[1] > 1:
            wide = rows.astype("f8")
            total = wide[:, 0] * wide[:, 0]
            for c in range(1, rows.shape[1]):
                total = total + wide[:, c] * wide[:, c]
            keys.append((-1, np.sqrt(total)))
    return keys


def extremes(values):
    """Returns the minimum and maximum value that is not NaN, or the values that stand for none (section
    11)."""
    values = values[values == values]
    if len(values):
        return values.min(), values.max()
    if values.dtype.kind == "f":
        return values.dtype.type(math.inf), values.dtype.type(-math.inf)
    limits = np.iinfo(values.dtype)
    return values.dtype.type(limits.max), values.dtype.type(limits.min)


def bin_edges(values, bins):
    """Returns at most bins - 1 strictly ascending quantiles (section 11)."""
    values = np.sort(values[values == values])
    return np.unique(values[[len(values) * i // bins for i in range(1, bins)]]) if len(values) else values


def bitmap(bins, first_bin, last_bin):
    """Returns the bitmap of some values by their bins (section 11)."""
    w, bits = last_bin - first_bin + 1, 0
    for k in set(bins.tolist()):
        bits |= 1 << (k - first_bin if w <= 32 else (k - first_bin) * 32 // w)
    return bits


def build(positions, attributes=(), time=None, step=None, metadata=None, aliases=(), **options):
    """Returns the bytes of a file and its content as exact_content(); the arguments are those of encoded()."""
    data, to_file = encoded(positions, attributes, time=time, step=step, metadata=metadata, aliases=aliases, **options)
    described = [spec.Attribute(name, values.dtype.name, 1 if values.ndim == 1 else values.shape[1], role, host_type, 0)
                 for name, values, role, host_type in attributes]
    columns = [values[to_file] for _, values, _, _ in attributes]
    add_aliases(aliases, positions[to_file], described, columns)
    return data, spec.exact_content(positions[to_file], described, columns, time, step, metadata)


def encoded(positions, attributes=(), level_ends=None, treelet_particles=64, block_particles=8, bins=16, bitmap_bytes=1, time=None,
            step=None, metadata=None, version_minor=0, optional_features=0, extra_sections=(), sorted_keys=(), aliases=(), sample_ids=()):
    """Returns the bytes of a file, and which particle is at each file position.

    positions: n rows of 3 float32 or float64.
    attributes: a sequence of (name, values, role, host_type) with n values or n rows of 1 to 9 components.
    level_ends: s of section 8.
    bitmap_bytes: a number, or one per key, used cyclically.
    extra_sections: a sequence of (kind, index, bytes).
    sorted_keys: the numbers of the keys with a sorted index.
    aliases: a sequence of (name, number of an attribute or None for the positions, component or -1, role, host_type).
    sample_ids: a sequence of (number of an integer attribute, component or -1), for stable samples.
    """
    n = len(positions)
    with np.errstate(invalid="ignore"):
        xyz = positions.astype("f8")
    finite = np.isfinite(xyz).all(axis=1)

    # Section 9: treelets in the order of x, those with non-finite coordinates last.
    regular = np.flatnonzero(finite)
    regular = regular[np.argsort(xyz[regular, 0], kind="stable")]
    ordinals = np.concatenate([regular, np.flatnonzero(~finite)])
    treelets = [(a, min(a + treelet_particles, end), flag) for begin, end, flag in ((0, len(regular), 0), (len(regular), n, 1))
                for a in range(begin, end, treelet_particles)]
    xyz = xyz[ordinals]
    boxes = [INFINITE_BOX if flag else np.array([xyz[a:b].min(axis=0), xyz[a:b].max(axis=0)]) for a, b, flag in treelets]
    nodes = node_records(boxes, 0, len(treelets)) if treelets else []

    # Section 10: blocks.
    blocks = [(a, min(a + block_particles, end), t) for t, (begin, end, _) in enumerate(treelets)
              for a in range(begin, end, block_particles)]

    # Section 8: levels. Inside a block, levels of stable samples ascend.
    sections = {}
    ends = default_level_ends(n) if level_ends is None else level_ends
    ratios = keep_ratios(ends)
    if sample_ids:
        levels = stable_levels(compute_hashes(id_columns(attributes, sample_ids), n), ends)[ordinals]
        order = np.concatenate([a + np.argsort(levels[a:b], kind="stable") for a, b, _ in blocks]) if n else np.zeros(0, "i8")
        ordinals, xyz, levels = ordinals[order], xyz[order], levels[order]
        to_file = ordinals[np.argsort(levels, kind="stable")]
        sections[spec.SAMPLE_IDS, 0] = sample_ids_section(sample_ids)
        sections[spec.TREELET_LEVELS, 0], sections[spec.BLOCK_LEVELS, 0] = level_sections(
            levels, treelets, blocks, len(ends), block_particles)
    else:
        to_file = ordinals[file_order(ratios, n)] if n else ordinals
    codes = [np.array([[0] * 3, [255] * 3], "u1") if treelets[t][2] else block_codes(boxes[t], xyz[a:b]) for a, b, t in blocks]

    # Sections 7 and 11: attributes and keys.
    attribute_records, key_records, names = b"", b"", b""
    sections[spec.METADATA, 0] = None if metadata is None else json.dumps(metadata, ensure_ascii=False).encode()
    key_count = 0
    for number, (name, values, role, host_type) in enumerate(attributes):
        components = 1 if values.ndim == 1 else values.shape[1]
        attribute_records += struct.pack("<BBBBIII", CODES[values.dtype.name], components, role, 0, host_type, len(name.encode()),
                                         key_count)
        names += name.encode()
        sections[spec.ATTRIBUTE, number] = values[to_file].tobytes()
        for component, key in attribute_keys(values):
            if key_count in sorted_keys:
                sections[spec.SORTED_INDEX, key_count] = sorted_index(key[to_file])
            key = key[ordinals]
            width = bitmap_bytes if isinstance(bitmap_bytes, int) else bitmap_bytes[key_count % len(bitmap_bytes)]
            edges = bin_edges(key, bins)
            rows, bitmaps = key_sections(key, edges, treelets, blocks)
            dictionary = sorted(set(bitmaps)) if width in (1, 2) else []
            if width in (1, 2):
                places = {b: i for i, b in enumerate(dictionary)}
                bitmaps = [places[b] for b in bitmaps]
                sections[spec.BITMAP_DICTIONARY, key_count] = np.array(dictionary, "<u4").tobytes()
            if width:
                sections[spec.BLOCK_BITMAPS, key_count] = np.array(bitmaps, "u8").astype("<u%d" % width).tobytes()
                assert not dictionary or len(dictionary) <= 256 ** width, "the dictionary is too long for its numbers"
            sections[spec.BIN_EDGES, key_count] = edges.tobytes()
            sections[spec.TREELET_KEYS, key_count] = rows
            has_nan = bool((key != key).any())
            key_records += struct.pack("<IhBBII", number, component, width, has_nan, len(edges) + 1, len(dictionary))
            key_records += b"".join(v.tobytes() for v in extremes(key)) + bytes(8)
            key_count += 1

    good = xyz[:len(regular)]
    box = [*good.min(axis=0, initial=math.inf), *good.max(axis=0, initial=-math.inf)]
    schema = struct.pack("<IIIIQIB3x6d", len(attributes), key_count, len(ratios) + 1, len(treelets), len(blocks), block_particles,
                         CODES[positions.dtype.name], *box)
    sections[spec.SCHEMA, 0] = schema + attribute_records + key_records + names
    sections[spec.LEVELS, 0] = struct.pack("<%dI" % len(ratios), *ratios)
    sections[spec.TREELETS, 0] = b"".join(struct.pack("<II", b - a, flag) for a, b, flag in treelets)
    sections[spec.SHALLOW_TREE, 0] = b"".join(struct.pack("<6dII", *b.ravel(), t, skip) for b, t, skip in nodes)
    sections[spec.BLOCK_BOXES, 0] = b"".join(c.tobytes() for c in codes)
    sections[spec.POSITIONS, 0] = positions[to_file].tobytes()
    if aliases:
        keys = [(*extremes(key), bool((key != key).any())) for _, key in attribute_keys(positions)]
        sections[spec.ALIASES, 0] = aliases_section(keys, aliases)
    sections.update({(kind, index): data for kind, index, data in extra_sections})
    sections = {place: data for place, data in sections.items() if data is not None}
    features = spec.STABLE_SAMPLES if sample_ids else 0
    return assemble(n, sections, time, step, version_minor, optional_features, features), to_file


def aliases_section(position_keys, aliases):
    """Returns the bytes of ALIASES; position_keys are (minimum, maximum, NaN occurs) of x, y, z and the magnitude (section 7)."""
    head = struct.pack("<II", len(aliases), 0)
    head += b"".join(struct.pack("<ddII", low, high, has_nan, 0) for low, high, has_nan in position_keys)
    records = b"".join(struct.pack("<IhBBII", spec.OF_POSITIONS if target is None else target, component, role, 0, host_type,
                                   len(name.encode())) for name, target, component, role, host_type in aliases)
    return head + records + b"".join(alias[0].encode() for alias in aliases)


def add_aliases(aliases, positions, described, columns):
    """Appends the repeated arrays to the descriptions of attributes and their values."""
    stored = list(columns)
    for name, target, component, role, host_type in aliases:
        values = positions if target is None else stored[target]
        values = values if component < 0 or values.ndim == 1 else values[:, component]
        described.append(spec.Attribute(name, values.dtype.name, 1 if values.ndim == 1 else values.shape[1], role, host_type, 0))
        columns.append(np.ascontiguousarray(values))


def sorted_index(values):
    """Returns the bytes of the sorted index for a key's values by file position (section 11)."""
    order = sorted(range(len(values)), key=lambda i: (math.isnan(values[i]), 0 if math.isnan(values[i]) else values[i].item(), i))
    entries = [values[i].tobytes() + struct.pack("<I", i) for i in order]
    pages = [b"".join(entries[i:i + spec.INDEX_ENTRIES]) for i in range(0, len(entries), spec.INDEX_ENTRIES)]
    levels = [pages]
    while len(levels[0]) > 1:
        firsts = [page[:8] for page in levels[0]]
        levels.insert(0, [b"".join(firsts[i:i + spec.INDEX_VALUES]) for i in range(0, len(firsts), spec.INDEX_VALUES)])
    pages = sum(levels, [])
    return b"".join(page.ljust(spec.PAGE, b"\0") for page in pages[:-1]) + b"".join(pages[-1:])


def key_sections(key, edges, treelets, blocks):
    """Returns a key's treelet records as bytes, and the bitmaps of its blocks (section 11)."""
    rows, bitmaps = b"", []
    of_treelet = [[] for _ in treelets]
    for block in blocks:
        of_treelet[block[2]].append(block)
    for (begin, end, _), own in zip(treelets, of_treelet):
        minimum, maximum = extremes(key[begin:end])
        some = (key[begin:end] == key[begin:end]).any()
        first, last = (int((edges <= v).sum()) if some else 0 for v in (minimum, maximum))
        union = 0
        for a, b, _ in own:
            values = key[a:b][key[a:b] == key[a:b]]
            bitmaps.append(bitmap((edges[None, :] <= values[:, None]).sum(axis=1), first, last))
            union |= bitmaps[-1]
        has_nan = bool((key[begin:end] != key[begin:end]).any())
        rows += minimum.tobytes() + maximum.tobytes() + struct.pack("<IHHII", union, first, last, has_nan, 0)
    return rows, bitmaps


def build_dataset(name, parts, time=None, step=None, metadata=None, **options):
    """Returns the top file of a dataset NAME.bat, its leaf files as {name: bytes}, and its content as exact_content().

    parts is a sequence of (positions, attributes), one per leaf file, as for build; options are those of build.
    """
    leaves = [spec.BatFile(build(positions, attributes, **options)[0]) for positions, attributes in parts]
    names = [b"%s.bat.leaves/%05d-%016x.bat" % (name.encode(), i, bat.header_checksum) for i, bat in enumerate(leaves)]
    first, boxes = leaves[0], []
    leaf_files = struct.pack("<II", len(leaves), 0)
    for bat, leaf_name in zip(leaves, names):
        flag = int(bat.treelet_flags.max())
        leaf_files += struct.pack("<QQQ6dII", bat.particle_count, len(bat.data), bat.header_checksum, *bat.lower, *bat.upper,
                                  len(leaf_name), flag)
        boxes.append(INFINITE_BOX if flag else np.array([bat.lower, bat.upper]))
    for bat in leaves:
        for key in bat.keys:
            leaf_files += key.minimum.tobytes() + key.maximum.tobytes() + struct.pack("<II", key.has_nan, 0)
    leaf_files += b"".join(names)
    schema = struct.pack("<IIIIQIB3x6d", len(first.attributes), len(first.keys), 0, 0, 0, 0, CODES[first.position_type],
                         *np.min([bat.lower for bat in leaves], axis=0), *np.max([bat.upper for bat in leaves], axis=0))
    for a in first.attributes:
        schema += struct.pack("<BBBBIII", CODES[a.type], a.components, a.role, 0, a.host_type, len(a.name.encode()), a.first_key)
    for number, key in enumerate(first.keys):
        keys = [bat.keys[number] for bat in leaves]
        schema += struct.pack("<IhBBII", key.attribute, key.component, 0, any(k.has_nan for k in keys), 1, 0)
        schema += min(k.minimum for k in keys).tobytes() + max(k.maximum for k in keys).tobytes() + bytes(8)
    schema += b"".join(a.name.encode() for a in first.attributes)
    tree = b"".join(struct.pack("<6dII", *b.ravel(), i, skip) for b, i, skip in node_records(boxes, 0, len(boxes)))
    sections = {(spec.SCHEMA, 0): schema, (spec.AGGREGATION_TREE, 0): tree, (spec.LEAF_FILES, 0): leaf_files}
    if metadata is not None:
        sections[spec.METADATA, 0] = json.dumps(metadata, ensure_ascii=False).encode()
    aliases, positions = options.get("aliases", ()), np.concatenate([bat.positions() for bat in leaves])
    if aliases:
        keys = [(*extremes(key), bool((key != key).any())) for _, key in attribute_keys(positions)]
        sections[spec.ALIASES, 0] = aliases_section(keys, aliases)
    features = spec.SEVERAL_LEAF_FILES
    if options.get("sample_ids"):
        sections[spec.SAMPLE_IDS, 0] = sample_ids_section(options["sample_ids"])
        features |= spec.STABLE_SAMPLES
    top = assemble(sum(bat.particle_count for bat in leaves), sections, time, step, 0, 0, features)
    columns = [np.concatenate(pieces) for pieces in zip(*(bat._columns for bat in leaves))]
    described = list(first.attributes)
    add_aliases(aliases, positions, described, columns)
    content = spec.exact_content(positions, described, columns, time, step, metadata)
    return top, {leaf_name.decode(): bytes(bat.data) for leaf_name, bat in zip(names, leaves)}, content


def assemble(n, sections, time, step, version_minor, optional_features, required_features):
    """Returns a file with the given sections: header, columns, index, page checksums, schema, section table (sections 4
    to 6)."""
    out, places, arrays = bytearray(128), {}, {}

    def append(data, alignment=8):
        out.extend(bytes(-len(out) % alignment))
        out.extend(data)
        return len(out) - len(data)

    late = (spec.SCHEMA, spec.METADATA)
    columns = sorted(place for place in sections if place[0] in (spec.POSITIONS, spec.ATTRIBUTE))
    index = sorted(place for place in sections if place not in columns and place[0] not in late)
    for place in columns + index:
        places[place] = append(sections[place], 4096 if place in columns and len(sections[place]) >= 65536 else 8)
    for place in sorted(sections):
        if place[0] in spec.PAGED:
            stored, l2_bytes = spec.page_checksums(sections[place])
            arrays[place] = append(stored), spec.xxh64(stored[:l2_bytes])
    for place in sorted(sections):
        if place[0] in late:
            places[place] = append(sections[place])
    table = b""
    for place in sorted(sections):
        at, checksum = arrays.get(place, (0, spec.xxh64(sections[place])))
        size = len(sections[place])
        table += spec.SECTION.pack(*place, 0, int(place in arrays), places[place], size, size, checksum, at, 0)
    table_offset = append(table)
    flags = (time is not None) | (step is not None) << 1
    head = struct.pack("<8sHHIQQQQQIIdqQ32x", spec.MAGIC, 1, version_minor, 128, len(out), required_features, optional_features, n, table_offset,
                       len(sections), flags, 0.0 if time is None else time, step or 0, spec.xxh64(table))
    out[:128] = head + struct.pack("<Q", spec.xxh64(head))
    return bytes(out)


# ---- Public interface for simulations
# ---------------------------------------------------------------------------------------

def write(path, positions, attributes=None, *, time=None, step=None, metadata=""):
    """Writes one file, replacing an existing `path` atomically; the arguments are those of parabat.write.

    positions: (n, 3), float32 or float64, at most 2^32 - 1 rows. attributes: a dict, DataFrame or structured array from
    name to (n,) or (n, k), with k from 1 to 9. metadata: text of a JSON object. Values are stored exactly. The
    particles of a quality are evenly spread in x only; parabat.write orders them in space. Requires xxhash, for
    checksums. Memory: a few times the data.

    Raises BatValueError, BatTypeError; BatImportError without xxhash; BatError if the file cannot be written.
    """
    if spec.xxhash is None:
        raise errors.BatImportError(errors.INVALID_ARGUMENT, "file checksums require xxhash: pip install xxhash")
    target = os.fsdecode(as_path(path))
    xyz = as_array(positions, "positions", allowed="(n, 3)")
    if xyz.shape[1] != 3 and len(xyz):
        errors.refuse("positions: shape %s; allowed: (n, 3)" % (np.shape(positions),))
    xyz = xyz if len(xyz) else np.empty((0, 3), xyz.dtype)
    if xyz.dtype.name not in ("float32", "float64"):
        errors.refuse("positions: type %s; allowed: float32, float64" % xyz.dtype)
    if len(xyz) > 4294967295:
        errors.refuse("positions: %d particles; a file holds at most 4294967295" % len(xyz))
    columns = {}
    for name, values in columns_of(attributes):
        as_text(name, "attribute name")
        if name in columns or not name:
            errors.refuse("attribute '%s' occurs twice" % name if name else "an attribute has an empty name")
        column = as_array(values, "attribute '%s'" % name, len(xyz))
        columns[name] = column[:, 0] if column.shape[1] == 1 else column
    seconds = None if time is None else as_real(time, "time").value
    number = None if step is None else as_integer(step, "step").value
    as_text(metadata, "metadata")
    try:
        described = json.loads(metadata, parse_constant=spec.refuse_constant) if metadata else None
    except ValueError as error:
        errors.refuse("metadata: is not JSON: %s" % error)
    if metadata and not isinstance(described, dict):
        errors.refuse("metadata: is not a JSON object")
    data, *_ = encoded(xyz, [(name, values, 0, 0) for name, values in columns.items()], time=seconds, step=number,
                       metadata=described, level_ends=fine_level_ends(len(xyz)),
                       treelet_particles=8192, block_particles=64, bins=64, bitmap_bytes=4)
    try:
        handle, temporary = tempfile.mkstemp(prefix=".parabat-", dir=os.path.dirname(target) or ".")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise errors.BatError(7, "%s: cannot be written: %s" % (target, error.strerror)) from error
