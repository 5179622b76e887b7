# SPDX-License-Identifier: BSD-3-Clause
"""CRC-64 as xz and GenericIO compute it, with NumPy: many pieces of the bytes are processed in parallel and combined at the end.

The register of a CRC is linear in the bytes. So all pieces start from a register of 0, and each result is added to the register
of the preceding bytes after advancing that by as many zero bytes as the piece has."""

import functools

import numpy as np

POLYNOMIAL = 0xC96C5795D7870F42
ONES = (1 << 64) - 1
CHUNK = 16 << 20  # bytes transposed at a time


@functools.lru_cache(maxsize=1)
def _table():
    values = np.arange(256, dtype=np.uint64)
    for _ in range(8):
        values = np.where(values & np.uint64(1), values >> np.uint64(1) ^ np.uint64(POLYNOMIAL), values >> np.uint64(1))
    return values


def _apply(columns, value):
    """Returns the product of a bit matrix, stored as one number per column, and a vector."""
    result = 0
    while value:
        low = value & -value
        result ^= columns[low.bit_length() - 1]
        value ^= low
    return result


@functools.lru_cache(maxsize=16)
def _moved_on(count):
    """Returns eight tables, one for each byte of a register, that advance it by `count` zero bytes."""
    table = [int(value) for value in _table()]
    power = [table[1 << i & 0xFF] ^ (1 << i) >> 8 if i < 8 else 1 << i - 8 for i in range(64)]
    columns = [1 << i for i in range(64)]
    while count:
        if count & 1:
            columns = [_apply(power, column) for column in columns]
        power = [_apply(power, column) for column in power]
        count >>= 1
    return [[_apply(columns, value << 8 * byte) for value in range(256)] for byte in range(8)]


def update(register, data):
    """Returns the register after more bytes, an array of uint8. Its initial value is ONES."""
    for begin in range(0, len(data), CHUNK):
        register = _update(register, data[begin:begin + CHUNK])
    return register


@functools.lru_cache(maxsize=1)
def _tables_of_words():
    """Returns four tables, one for each 16 bits of a register, that advance it by 8 zero bytes."""
    tables = np.array(_moved_on(8), np.uint64)
    values = np.arange(1 << 16)
    return [tables[2 * i][values & 0xFF] ^ tables[2 * i + 1][values >> 8] for i in range(4)]


def _update(register, data):
    table = _table()
    lanes = int((len(data) / 8) ** 0.5) if len(data) >= 4096 else 0
    words = len(data) // (8 * lanes) if lanes else 0
    done = 8 * lanes * words
    if lanes:
        state = np.zeros(lanes, "<u8")
        tables = _tables_of_words()
        for column in np.ascontiguousarray(data[:done].view("<u8").reshape(lanes, words).T):
            state ^= column
            parts = state.view("<u2").reshape(lanes, 4)
            state = tables[0][parts[:, 0]] ^ tables[1][parts[:, 1]] ^ tables[2][parts[:, 2]] ^ tables[3][parts[:, 3]]
        moved = _moved_on(8 * words)
        for lane in state.tolist():
            for byte in range(8):
                lane ^= moved[byte][register >> 8 * byte & 0xFF]
            register = lane
    for value in data[done:].tolist():
        register = int(table[(register ^ value) & 0xFF]) ^ register >> 8
    return register


def crc64(data):
    """Returns the checksum of bytes."""
    return update(ONES, np.frombuffer(data, np.uint8)) ^ ONES
