# SPDX-License-Identifier: BSD-3-Clause
"""Decodes frames of compressed chunks (core/particles/FORMAT.md section 18) to NumPy arrays.

    model = codec.Model(model_bytes, "float32", components=3)
    codec.decode(model, frame, count=4096)                         # (4096, 3)

Zstandard comes from the standard library (Python 3.14), or from the packages zstandard or pyarrow.
"""

import numpy as np

MAX_VALUES = 1 << 24
MAX_MODEL_BYTES = 1 << 16
BLOCK = 64  # values per class
LANES = 4
MAX_CODE_BITS = 11


class CodecError(ValueError):
    """The frame is invalid, or something needed to read it is missing."""


class MissingModule(CodecError):
    """Returns what to install to read a frame."""


class Model:
    """The model that all frames of a column share."""

    def __init__(self, content, dtype, components):
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.components = components
        self.step = 0.0
        self.streams = []
        if not 1 <= components <= 9:
            raise CodecError(f"a column of {components} components")
        if not content:
            return
        size = self.dtype.itemsize
        if size < 4:
            raise CodecError(f"streams of {self.dtype.name} are not allowed")
        part = _Parts(bytes(content))
        self.step = part.number("f8")
        if not (0 <= self.step < np.inf) or (self.step and self.dtype.kind != "f"):
            raise CodecError(f"a grid of {self.dtype.name} has the step {self.step}")
        missing = (1 << components) - 1
        while missing:
            kind, mask = part.number("u1"), part.number("u2")
            which = [k for k in range(components) if mask >> k & 1]
            if kind > 2 or (self.step and kind != 1):
                raise CodecError(f"a stream is of kind {kind}")
            if not mask or mask & ~missing or len(which) > (3 if kind == 1 else 1):
                raise CodecError(f"a stream of kind {kind} has components {mask:#x}")
            missing &= ~mask
            self.streams.append(_Stream(part, kind, which, size, bool(self.step)))
        if part.left():
            raise CodecError(f"{part.left()} bytes of a model are unused")


class _Stream:
    """Reads which components a stream has, and the dictionary and code of each class of blocks."""

    def __init__(self, part, kind, which, size, has_grid):
        self.kind = kind
        self.which = which
        self.dropped = [0] * len(which)
        if kind == 0:
            return
        self.dropped = [part.number("u1") for _ in which]
        if max(self.dropped) >= (1 if has_grid else 8 * size):
            raise CodecError(f"{max(self.dropped)} dropped bits")
        classes = part.number("u1")
        if not 1 <= classes <= 8:
            raise CodecError(f"symbols of {classes} classes")
        self.class_bits = (classes - 1).bit_length()
        self.bits = np.zeros((classes, 256, len(which)), np.uint8)
        self.base = np.zeros((classes, 256, len(which)), np.uint64)
        self.escapes = np.full(classes, 256)
        self.tables = []
        for k in range(classes):
            entries, escape = part.number("u1") + 1, part.number("u1")
            if escape > 1 or entries + escape > 256:
                raise CodecError(f"a dictionary has {entries} entries and {escape} escapes")
            if kind == 1:
                dictionary = part.array("u1", entries * len(which)).reshape(entries, len(which))
                bits, adds = dictionary & 127, dictionary >> 7
                if (bits + adds).max() > 8 * size:
                    raise CodecError(f"a dictionary has more than {8 * size} bits")
                self.bits[k, :entries] = bits
                self.base[k, :entries] = np.where(adds != 0, np.uint64(1) << bits.astype(np.uint64), np.uint64(0))
            else:
                tail, base = part.number("u1"), part.number("u8")
                if tail >= 8 * size:
                    raise CodecError(f"{tail} bits below a head")
                heads = part.array("u2", entries).astype(np.uint64)
                self.bits[k, :entries, 0] = tail
                self.base[k, :entries, 0] = (heads << np.uint64(tail)) + np.uint64(base)
            if escape:
                self.escapes[k] = entries
            self.tables.append(_code_table(part, entries + escape))


def _code_table(part, symbols):
    """Returns the entry of each bit sequence: a symbol, and 256 times the length of its code."""
    packed = part.array("u1", (symbols + 1) // 2)
    lengths = np.stack([packed & 15, packed >> 4], axis=1).reshape(-1)[:symbols].tolist()
    if symbols == 1 and lengths == [0]:
        return [0]
    if min(lengths) == 0 or sum(2.0**-length for length in lengths) != 1 or max(lengths) > MAX_CODE_BITS:
        raise CodecError(f"the given lengths do not form a code for {symbols} symbols")
    maximum = max(lengths)
    table = [0] * (1 << maximum)
    code = 0
    for length in range(1, maximum + 1):
        code <<= 1
        for symbol in range(symbols):
            if lengths[symbol] == length:
                first = int(format(code, f"0{length}b")[::-1], 2)
                table[first :: 1 << length] = [symbol | length << 8] * (1 << (maximum - length))
                code += 1
    return table


def decode(model, frame, count):
    """Decodes a frame to an array of shape (count,), or (count, components) if there are several."""
    dtype, components = model.dtype, model.components
    if not 0 <= count <= MAX_VALUES:
        raise CodecError(f"{count} values are not a frame")
    part = _Parts(bytes(frame))
    method = part.number("u1")
    if count == 0 and method != 0:
        raise CodecError(f"an empty chunk has encoding method {method}")
    if method == 0:
        numbers = part.array(dtype, count * components)
    elif method == 1:
        numbers = np.tile(part.array(dtype, components), count)
    elif method == 2:
        numbers = _planes(part, dtype, components, count)
    elif method == 3 and model.streams:
        numbers = _streams(part, model, count)
    else:
        raise CodecError(f"unknown method {method} for {dtype.name}")
    if part.left() != 0:
        raise CodecError(f"{part.left()} bytes are unused")
    numbers = numbers.astype(dtype.newbyteorder("="))
    return numbers if components == 1 else numbers.reshape(count, components)


class _Parts:
    """Reads the parts of a frame or model in order."""

    def __init__(self, content):
        self.content = content
        self.at = 0

    def left(self):
        return len(self.content) - self.at

    def take(self, count):
        if count > self.left():
            raise CodecError(f"{count} bytes are needed, but only {self.left()} remain")
        self.at += count
        return self.content[self.at - count : self.at]

    def array(self, dtype, count):
        dtype = np.dtype(dtype).newbyteorder("<")
        return np.frombuffer(self.take(count * dtype.itemsize), dtype)

    def number(self, dtype):
        return self.array(dtype, 1)[0].item()

    def varint(self):
        result = 0
        for k in range(10):
            byte = self.take(1)[0]
            result |= (byte & 127) << 7 * k
            if (k and byte == 0) or result >= 1 << 64:
                break
            if byte < 128:
                return result
        raise CodecError("not a number of up to 64 bits")


def _zstd(frame, size):
    """Returns the content of a Zstandard frame, which must have exactly this size."""
    try:
        content_size, frame_size = _sizes(frame)
    except IndexError:
        raise CodecError("a Zstandard frame ends before its last block") from None
    if content_size != size or frame_size != len(frame):
        raise CodecError(f"a Zstandard frame of {frame_size} bytes contains {content_size} bytes, instead of {len(frame)} and {size}")
    decompress = _decompressor()
    try:
        content = decompress(frame, size)
    except Exception as error:
        raise CodecError(f"Zstandard frame: {error}") from error
    if len(content) != size:
        raise CodecError(f"a Zstandard frame contains {len(content)} bytes instead of {size}")
    return content


def _sizes(frame):
    """Returns the size of the content, according to the header, and of the frame (RFC 8878, section
    3.1.1)."""
    descriptor = frame[4]
    single = descriptor >> 5 & 1
    size_bytes = (single, 2, 4, 8)[descriptor >> 6]
    if frame[:4] != b"\x28\xb5\x2f\xfd" or descriptor & 3 or not size_bytes:
        raise CodecError("not a Zstandard frame that stores its content size")
    at = 6 - single
    content = int.from_bytes(frame[at : at + size_bytes], "little") + (256 if size_bytes == 2 else 0)
    at += size_bytes
    last = False
    while not last:
        block = frame[at] | frame[at + 1] << 8 | frame[at + 2] << 16
        last = block & 1
        at += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
    return content, at + (4 if descriptor >> 2 & 1 else 0)


def _decompressor():
    try:
        from compression import zstd  # pylint: disable=import-outside-toplevel

        return lambda frame, size: zstd.decompress(frame)
    except ImportError:
        pass
    try:
        import zstandard  # pylint: disable=import-outside-toplevel

        return lambda frame, size: zstandard.ZstdDecompressor().decompress(frame)
    except ImportError:
        pass
    try:
        import pyarrow  # pylint: disable=import-outside-toplevel

        return lambda frame, size: pyarrow.Codec("zstd").decompress(frame, size).to_pybytes()
    except ImportError:
        raise MissingModule(
            "compressed chunks require Python 3.14, or the package zstandard (pip install zstandard) or pyarrow"
        ) from None


def _unzigzag(z):
    one = z.dtype.type(1)
    return (z >> one) ^ (z.dtype.type(0) - (z & one))


def _planes(part, dtype, components, count):
    chosen = part.number("u1")
    if chosen > 7 or chosen & 3 == 3:
        raise CodecError(f"unknown filter {chosen}")
    size = dtype.itemsize
    content = np.frombuffer(_zstd(part.take(part.left()), count * components * size), np.uint8)
    words = np.empty((count, components), f"<u{size}")
    for k in range(components):
        own = content[k * count * size : (k + 1) * count * size]
        y = _from_bits(own, size, count) if chosen & 4 else _from_bytes(own, size, count)
        if chosen & 3 == 1:
            y = np.cumsum(_unzigzag(y), dtype=y.dtype)
        elif chosen & 3 == 2:
            y = np.bitwise_xor.accumulate(y)
        words[:, k] = y
    return words.reshape(-1).view(dtype)


def _from_bytes(planes, size, count):
    return np.ascontiguousarray(planes.reshape(size, count).T).view(f"<u{size}").reshape(count)


def _from_bits(planes, size, count):
    groups = count // 8
    bits = np.unpackbits(planes[: groups * 8 * size].reshape(8 * size, groups), axis=1, bitorder="little")
    whole = np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little")
    rest = planes[groups * 8 * size :].view(f"<u{size}")
    return np.concatenate([np.ascontiguousarray(whole).view(f"<u{size}").reshape(8 * groups), rest])


def _from_ranked(x, dropped):
    bits = 8 * x.dtype.itemsize
    negative = x >> x.dtype.type(bits - 1) != 0
    return np.where(negative, x ^ x.dtype.type((1 << (bits - 1 - dropped)) - 1), x)


def _streams(part, model, count):
    dtype, components, size = model.dtype, model.components, model.dtype.itemsize
    exceptions = part.varint() if model.step else 0
    if exceptions > count * components:
        raise CodecError(f"{exceptions} exceptions of {count * components} numbers")
    places = part.array("u4", exceptions).astype(np.int64)
    replaced = part.array(dtype, exceptions)
    if exceptions and (places.max() >= count * components or (np.diff(places) <= 0).any()):
        raise CodecError("positions of exceptions are not ascending, or beyond the end")
    words = np.zeros((count, components), f"<u{size}")
    for stream in model.streams:
        if stream.kind == 0:
            words[:, stream.which[0]] = part.array(f"u{size}", count)
            continue
        x = _words(part, stream, size, count)
        for j, k in enumerate(stream.which):
            is_ranked = stream.kind == 1 and dtype.kind == "f" and not model.step
            y = _from_ranked(x[:, j], stream.dropped[j]) if is_ranked else x[:, j]
            words[:, k] = y << y.dtype.type(stream.dropped[j])
    if not model.step:
        return words.reshape(-1).view(dtype)
    steps = words.reshape(-1).view(f"<i{size}").astype(np.float64)
    with np.errstate(over="ignore"):
        numbers = (steps * model.step + 0.0).astype(dtype)
    numbers[places] = replaced
    return numbers


def _words(part, stream, size, count):
    """Returns the words of a stream without their dropped bits."""
    before = []
    if stream.kind == 1:
        before = [part.varint() for _ in stream.which]
        if max(before) >= 1 << 8 * size:
            raise CodecError(f"differences start with {max(before)}")
    escaped = part.varint()
    lanes = [part.varint() for _ in range(LANES)]
    bits_bytes = part.varint()
    if escaped > count or max(lanes + [bits_bytes]) > part.left():
        raise CodecError(f"{escaped} escapes for {count} values, or parts beyond the end")
    blocks = -(-count // BLOCK)
    classes = _classes(part, stream, blocks)
    in_lane = -(-blocks // LANES)
    symbols = []
    for lane, lane_bytes in enumerate(lanes):
        first = min(lane * in_lane, blocks)
        own = classes[first : min(first + in_lane, blocks)]
        symbols += _symbols(part.take(lane_bytes), stream.tables, own, min(count - first * BLOCK, len(own) * BLOCK))
    packed = part.take(bits_bytes)
    symbols = np.array(symbols, np.intp)
    of_value = np.repeat(np.array(classes, np.intp), BLOCK)[:count]
    z = (_unpack(packed, stream.bits[of_value, symbols]) + stream.base[of_value, symbols]).astype(f"<u{size}")
    is_escape = symbols == stream.escapes[of_value]
    if is_escape.sum() != escaped:
        raise CodecError(f"{is_escape.sum()} symbols are escapes, instead of {escaped}")
    z[is_escape] = part.array(f"u{size}", escaped * len(stream.which)).reshape(escaped, len(stream.which))
    if stream.kind == 2:
        return z
    return np.cumsum(_unzigzag(z), axis=0, dtype=z.dtype) + _unzigzag(np.array(before, z.dtype))


def _classes(part, stream, blocks):
    packed = part.array("u1", (blocks * stream.class_bits + 7) // 8)
    _need_filled(packed, blocks * stream.class_bits, "block classes")
    bits = np.unpackbits(packed, bitorder="little")
    of_blocks = bits[: blocks * stream.class_bits].reshape(blocks, stream.class_bits)
    classes = (of_blocks << np.arange(stream.class_bits, dtype=np.uint8)).sum(axis=1, dtype=np.intp)
    if classes.max() >= len(stream.tables):
        raise CodecError(f"a block has class {classes.max()} of {len(stream.tables)}")
    return classes.tolist()


def _need_filled(packed, bits, what):
    """Checks that unused bits of the last byte are 0."""
    if bits % 8 and int(packed[bits // 8]) >> (bits % 8):
        raise CodecError(f"the last byte of {what} has an unused bit that is not 0")


def _symbols(lane, tables, classes, count):
    """Returns the symbols of a lane's blocks; the lane must not have excess bytes."""
    # For each bit, the code that would begin there.
    padded = np.frombuffer(lane + bytes(BLOCK * MAX_CODE_BITS // 8 + 8), np.uint8).astype(np.uint32)
    three = padded[:-2] | padded[1:-1] << 8 | padded[2:] << 16
    at_bits = (three[:, None] >> np.arange(8, dtype=np.uint32) & ((1 << MAX_CODE_BITS) - 1)).reshape(-1).tolist()
    symbols, at = [], 0
    for own in classes:
        table = tables[own]
        mask = len(table) - 1
        for _ in range(min(BLOCK, count - len(symbols))):
            entry = table[at_bits[at] & mask]
            symbols.append(entry & 255)
            at += entry >> 8
        if at > 8 * len(lane):
            break
    if (at + 7) // 8 != len(lane):
        raise CodecError(f"symbols need {(at + 7) // 8} bytes of a lane of {len(lane)}")
    _need_filled(lane, at, "a symbol lane")
    return symbols


def _unpack(packed, bits):
    """Returns groups with these numbers of bits, in the order of the rows."""
    ends = np.cumsum(bits.reshape(-1), dtype=np.int64)
    if (ends[-1] + 7) // 8 != len(packed):
        raise CodecError(f"{len(packed)} bytes of packed bits instead of {(ends[-1] + 7) // 8}")
    _need_filled(packed, int(ends[-1]), "the packed bits")
    starts = ends - bits.reshape(-1)
    padded = np.frombuffer(packed + bytes(16), np.uint8)
    first, shift = starts // 8, (starts % 8).astype(np.uint64)
    low = np.zeros(len(starts), np.uint64)
    for k in range(8):
        low |= padded[first + k].astype(np.uint64) << np.uint64(8 * k)
    high = padded[first + 8].astype(np.uint64)
    word = (low >> shift) | (high << (np.uint64(63) - shift) << np.uint64(1))
    width = bits.reshape(-1).astype(np.uint64)
    masks = np.array([(1 << b) - 1 for b in range(65)], np.uint64)
    return (word & masks[width.astype(np.intp)]).reshape(bits.shape)
