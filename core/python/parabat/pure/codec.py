# SPDX-License-Identifier: BSD-3-Clause
"""Frames of compressed chunks (core/bat/FORMAT.md section 18) to numpy arrays.

    codec.decode(frame, "float32", components=3, count=65536)      # (65536, 3)

Zstandard comes from the standard library (Python 3.14), or from the packages zstandard or pyarrow.
"""

import numpy as np

MOST_VALUES = 1 << 24


class CodecError(ValueError):
    """What is wrong with a frame, or what is missing to read it."""


class MissingModule(CodecError):
    """Says what to install to read a frame."""


def decode(frame, dtype, components, count):
    """Values of a frame: an array of shape (count,), or (count, components) if these are several."""
    dtype = np.dtype(dtype).newbyteorder("<")
    if not 0 <= count <= MOST_VALUES or not 1 <= components <= 9:
        raise CodecError(f"{count} values of {components} components are no frame")
    part = _Parts(bytes(frame))
    method = part.number("u1")
    if count == 0 and method != 0:
        raise CodecError(f"no values are of method {method}")
    if method == 0:
        numbers = part.array(dtype, count * components)
    elif method == 1:
        numbers = np.tile(part.array(dtype, components), count)
    elif method == 2:
        numbers = _planes(part, dtype, components, count)
    elif method == 3 and dtype.itemsize >= 4:
        words, is_difference = _streams(part, dtype.itemsize, components, count)
        for k in range(components):
            if is_difference[k] and dtype.kind == "f":
                words[:, k] = _from_ranked(words[:, k], part.dropped[k])
            words[:, k] <<= words.dtype.type(part.dropped[k])
        numbers = words.reshape(-1).view(dtype)
    elif method == 4 and dtype.kind == "f":
        numbers = _grid(part, dtype, components, count)
    else:
        raise CodecError(f"method {method} of {dtype.name} is unknown")
    if part.left() != 0:
        raise CodecError(f"{part.left()} bytes are left over")
    numbers = numbers.astype(dtype.newbyteorder("="))
    return numbers if components == 1 else numbers.reshape(count, components)


class _Parts:
    """Parts of a frame, one behind the other."""

    def __init__(self, frame):
        self.frame = frame
        self.at = 0
        self.dropped = {}  # of each component

    def left(self):
        return len(self.frame) - self.at

    def take(self, count):
        if count > self.left():
            raise CodecError(f"{count} bytes are missing, {self.left()} are there")
        self.at += count
        return self.frame[self.at - count : self.at]

    def array(self, dtype, count):
        dtype = np.dtype(dtype).newbyteorder("<")
        return np.frombuffer(self.take(count * dtype.itemsize), dtype)

    def number(self, dtype):
        return self.array(dtype, 1)[0].item()


def _zstd(frame, size):
    """The content of a Zstandard frame that has exactly this size."""
    try:
        content_size, frame_size = _sizes(frame)
    except IndexError:
        raise CodecError("a Zstandard frame ends before its last block") from None
    if content_size != size or frame_size != len(frame):
        raise CodecError(f"a Zstandard frame of {frame_size} bytes holds {content_size} bytes, "
                         f"instead of {len(frame)} and {size}")
    decompress = _decompressor()
    try:
        content = decompress(frame, size)
    except Exception as error:
        raise CodecError(f"Zstandard frame: {error}") from error
    if len(content) != size:
        raise CodecError(f"a Zstandard frame holds {len(content)} bytes instead of {size}")
    return content


def _sizes(frame):
    """Of the content, as the header says, and of the frame (RFC 8878, section 3.1.1)."""
    descriptor = frame[4]
    single = descriptor >> 5 & 1
    size_bytes = (single, 2, 4, 8)[descriptor >> 6]
    if frame[:4] != b"\x28\xb5\x2f\xfd" or descriptor & 3 or not size_bytes:
        raise CodecError("no Zstandard frame that says how much it holds")
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
            "compressed chunks need Python 3.14, or the package zstandard (pip install zstandard) or pyarrow"
        ) from None


def _unzigzag(z):
    one = z.dtype.type(1)
    return (z >> one) ^ (z.dtype.type(0) - (z & one))


def _planes(part, dtype, components, count):
    chosen = part.number("u1")
    if chosen > 7 or chosen & 3 == 3:
        raise CodecError(f"filter {chosen} is unknown")
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


def _streams(part, size, components, count, only_differences=False):
    """Words without their dropped bits, and which components are differences."""
    words = np.zeros((count, components), f"<u{size}")
    missing = (1 << components) - 1
    is_difference = [False] * components
    while missing:
        kind, mask = part.number("u1"), part.number("u2")
        which = [k for k in range(components) if mask >> k & 1]
        if not mask or mask & ~missing or len(which) > (3 if kind == 1 else 1):
            raise CodecError(f"a stream of kind {kind} has components {mask:#x}")
        missing &= ~mask
        if kind == 1:
            words[:, which] = _differences(part, size, which, count)
            for k in which:
                is_difference[k] = True
        elif kind == 2 and not only_differences:
            words[:, which[0]] = _heads(part, size, which[0], count)
        elif kind == 0 and not only_differences:
            part.dropped[which[0]] = 0
            words[:, which[0]] = part.array(f"u{size}", count)
        else:
            raise CodecError(f"a stream is of kind {kind}")
    return words, is_difference


def _differences(part, size, which, count):
    for k in which:
        part.dropped[k] = part.number("u1")
    entries = part.number("u1") + 1
    dictionary = part.array("u1", entries * len(which)).reshape(entries, len(which))
    bits, adds = dictionary & 127, dictionary >> 7
    if (bits + adds).max() > 8 * size or max(part.dropped[k] for k in which) >= 8 * size:
        raise CodecError(f"a dictionary has more than {8 * size} bits")
    symbols, packed = _symbols(part, entries, count)
    z = _unpack(packed, bits[symbols])
    z += np.where(adds[symbols] != 0, np.uint64(1) << bits[symbols].astype(np.uint64), np.uint64(0))
    return np.cumsum(_unzigzag(z.astype(f"<u{size}")), axis=0, dtype=f"<u{size}")


def _heads(part, size, component, count):
    part.dropped[component], tail, escape = (part.number("u1") for _ in range(3))
    if max(part.dropped[component], tail) >= 8 * size or escape > 8 * size:
        raise CodecError(f"heads have more than {8 * size} bits")
    base = np.uint64(part.number("u8"))
    heads = part.array("u2", part.number("u1")).astype(np.uint64)
    symbols, packed = _symbols(part, len(heads) + 1, count)
    bits = np.full(len(heads) + 1, tail, np.uint8)
    bits[-1] = escape
    x = _unpack(packed, bits[symbols][:, None])[:, 0]
    starts = np.append(heads << np.uint64(tail), np.uint64(0))
    return (x + starts[symbols] + base).astype(f"<u{size}")


def _symbols(part, meanings, count):
    classes, symbols_bytes, bits_bytes = part.number("u1"), part.number("u4"), part.number("u4")
    if not 1 <= classes <= 8:
        raise CodecError(f"symbols of {classes} classes")
    symbols = part.take(symbols_bytes)
    if classes > 1:
        symbols = _of_classes(_Parts(symbols), classes, count)
    elif symbols_bytes == 0:
        symbols = np.zeros(count, np.uint8)
    else:
        symbols = np.frombuffer(symbols if symbols_bytes == count else _zstd(symbols, count), np.uint8)
    if symbols.max() >= meanings:
        raise CodecError(f"symbol {symbols.max()} is not one of {meanings}")
    return symbols, part.take(bits_bytes)


def _of_classes(part, classes, count):
    blocks = (count + 127) // 128
    packed = part.array("u1", (blocks + 1) // 2)
    of_block = np.stack([packed & 15, packed >> 4], axis=1).reshape(-1)[:blocks]
    if of_block.max() >= classes:
        raise CodecError(f"a block is of class {of_block.max()} of {classes}")
    of_value = np.repeat(of_block, 128)[:count]
    symbols = np.empty(count, np.uint8)
    for k in range(classes):
        size, own = part.number("u4"), int((of_value == k).sum())
        content = part.take(size)
        symbols[of_value == k] = np.frombuffer(content if size == own else _zstd(content, own), np.uint8)
    if part.left():
        raise CodecError(f"{part.left()} bytes behind the symbols of classes")
    return symbols


def _unpack(packed, bits):
    """Groups of so many bits each, in the order of the rows."""
    ends = np.cumsum(bits.reshape(-1), dtype=np.int64)
    if (ends[-1] + 7) // 8 != len(packed):
        raise CodecError(f"{len(packed)} bytes of packed bits instead of {(ends[-1] + 7) // 8}")
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


def _grid(part, dtype, components, count):
    step = part.number("f8")
    if not (step > 0 and np.isfinite(step)):
        raise CodecError(f"a grid has the step {step}")
    exceptions = part.number("u4")
    places = part.array("u4", exceptions).astype(np.int64)
    replaced = part.array(dtype, exceptions)
    if exceptions and (places.max() >= count * components or (np.diff(places) <= 0).any()):
        raise CodecError("places of exceptions are not ascending, or beyond the end")
    words, _ = _streams(part, dtype.itemsize, components, count, only_differences=True)
    if any(part.dropped.values()):
        raise CodecError("a grid has dropped bits")
    steps = words.reshape(-1).view(f"<i{dtype.itemsize}").astype(np.float64)
    with np.errstate(over="ignore"):
        numbers = (steps * step + 0.0).astype(dtype)
    numbers[places] = replaced
    return numbers
