// SPDX-License-Identifier: BSD-3-Clause
// Frames of compressed chunks, and the model that all frames of a column share: FORMAT.md section 18. JavaScript has no
// fast 64-bit integers, so 8-byte words are pairs of numbers, the lower half first.

import { decompress } from "fzstd";
import { xxh64 } from "./hash.js";
import type { Column, Scalar } from "./scalars.js";

const MAX_CLASSES = 8;
const MAX_SYMBOLS = 256;
const MAX_CODE_BITS = 11;
const MAX_JOINT = 3;
const BLOCK = 64;
const LANES = 4;

const enum Kind {
  Words = 0,
  Differences = 1,
  Heads = 2,
}

function need(good: boolean, message: string): asserts good {
  if (!good) {
    throw new Error(message);
  }
}

/** Reads the parts of a frame or model in order. */
class Parts {
  private readonly view: DataView;
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  take(count: number): Uint8Array {
    need(count <= this.left, `${count} bytes are needed, but only ${this.left} remain`);
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  u8(): number {
    return this.take(1)[0]!;
  }

  u16(): number {
    this.take(2);
    return this.view.getUint16(this.at - 2, true);
  }

  u32(): number {
    this.take(4);
    return this.view.getUint32(this.at - 4, true);
  }

  f64(): number {
    this.take(8);
    return this.view.getFloat64(this.at - 8, true);
  }

  varint(): bigint {
    let result = 0n;
    for (let i = 0n; i < 10n; ++i) {
      const byte = this.u8();
      result |= BigInt(byte & 127) << (7n * i);
      if ((i > 0n && byte === 0) || result >= 1n << 64n) {
        break;
      }
      if (byte < 128) {
        return result;
      }
    }
    throw new Error("not a number of up to 64 bits");
  }

  /** A count of items that take at least one byte each; at most `maximum`. */
  count(what: string, maximum: number): number {
    const found = this.varint();
    need(found <= maximum, `${found} ${what}; allowed: at most ${maximum}`);
    return Number(found);
  }
}

/** The meaning of the symbols of a class of blocks, and their code. */
interface Dictionary {
  /** The escape symbol, or -1. */
  readonly escape: number;
  /** For each symbol and component: the number of bits that follow, and the offset added to them. */
  readonly bits: Uint8Array;
  readonly addLow: Uint32Array;
  readonly addHigh: Uint32Array;
  /** Indexed by the next bits: a symbol, and 256 times the length of its code. */
  readonly table: Uint16Array;
}

interface Stream {
  readonly kind: Kind;
  readonly components: readonly number[];
  readonly dropped: readonly number[];
  readonly classBits: number;
  readonly dictionaries: readonly Dictionary[];
}

/** The model that all frames of a column share. */
export interface Model {
  readonly step: number;
  readonly streams: readonly Stream[];
}

export function readModel(bytes: Uint8Array, scalar: Scalar, components: number): Model {
  if (bytes.length === 0) {
    return { step: 0, streams: [] };
  }
  const bits = 8 * scalar.bytes;
  need(bits >= 32, `streams of ${scalar.name} are not allowed`);
  const parts = new Parts(bytes);
  const step = parts.f64();
  need(
    step >= 0 && step < Infinity && (step === 0 || scalar.valueClass === "f64"),
    `a grid of ${scalar.name} has step ${step}`,
  );
  const streams: Stream[] = [];
  for (let missing = (1 << components) - 1; missing !== 0;) {
    const kind = parts.u8();
    const mask = parts.u16();
    const own = Array.from({ length: components }, (_, i) => i).filter((i) => (mask >> i) & 1);
    need(kind <= Kind.Heads && (step === 0 || kind === Kind.Differences), `a stream has kind ${kind}`);
    const maximum = kind === Kind.Differences ? MAX_JOINT : 1;
    need(mask !== 0 && (mask & ~missing) === 0 && own.length <= maximum, `a stream of kind ${kind} has components ${mask}`);
    missing &= ~mask;
    streams.push(readStream(parts, kind, own, bits, step !== 0));
  }
  need(parts.left === 0, `${parts.left} bytes of a model are unused`);
  return { step, streams };
}

function readStream(parts: Parts, kind: Kind, components: readonly number[], bits: number, hasGrid: boolean): Stream {
  if (kind === Kind.Words) {
    return { kind, components, dropped: [0], classBits: 0, dictionaries: [] };
  }
  const dropped = components.map(() => parts.u8());
  need(Math.max(...dropped) < (hasGrid ? 1 : bits), `${Math.max(...dropped)} dropped bits`);
  const classes = parts.u8();
  need(classes >= 1 && classes <= MAX_CLASSES, `symbols of ${classes} classes`);
  const dictionaries = Array.from({ length: classes }, () => readDictionary(parts, kind, components.length, bits));
  return { kind, components, dropped, classBits: Math.ceil(Math.log2(classes)), dictionaries };
}

function readDictionary(parts: Parts, kind: Kind, width: number, bits: number): Dictionary {
  const entries = parts.u8() + 1;
  const escapes = parts.u8();
  need(escapes <= 1 && entries + escapes <= MAX_SYMBOLS, `a dictionary has ${entries} entries and ${escapes} escapes`);
  const own = new Uint8Array(MAX_SYMBOLS * width);
  const addLow = new Uint32Array(own.length);
  const addHigh = new Uint32Array(own.length);
  if (kind === Kind.Differences) {
    for (let i = 0; i < entries * width; ++i) {
      const byte = parts.u8();
      const count = byte & 127;
      need(count + (byte >> 7) <= bits, `a dictionary has more than ${bits} bits`);
      own[i] = count;
      if (byte >> 7) {
        addLow[i] = count < 32 ? 1 << count : 0;
        addHigh[i] = count < 32 ? 0 : 1 << (count - 32);
      }
    }
  } else {
    const tail = parts.u8();
    need(tail < bits, `${tail} bits below a head`);
    const base = BigInt(parts.u32()) | (BigInt(parts.u32()) << 32n);
    for (let i = 0; i < entries; ++i) {
      const sum = base + (BigInt(parts.u16()) << BigInt(tail));
      own[i] = tail;
      addLow[i] = Number(sum & 0xffffffffn);
      addHigh[i] = Number((sum >> 32n) & 0xffffffffn);
    }
  }
  return { escape: escapes ? entries : -1, bits: own, addLow, addHigh, table: readCode(parts, entries + escapes) };
}

function readCode(parts: Parts, symbols: number): Uint16Array {
  const packed = parts.take((symbols + 1) >> 1);
  const lengths = Array.from({ length: symbols }, (_, i) => (packed[i >> 1]! >> (4 * (i & 1))) & 15);
  if (symbols === 1) {
    need(lengths[0] === 0, `the code of one symbol has ${lengths[0]} bits`);
    return new Uint16Array(1);
  }
  const maximum = Math.max(...lengths);
  const isCode =
    Math.min(...lengths) > 0 && maximum <= MAX_CODE_BITS && lengths.reduce((sum, length) => sum + 2 ** -length, 0) === 1;
  need(isCode, `the given lengths do not form a code for ${symbols} symbols`);
  const table = new Uint16Array(1 << maximum);
  let code = 0;
  for (let length = 1; length <= maximum; ++length) {
    code <<= 1;
    for (let symbol = 0; symbol < symbols; ++symbol) {
      if (lengths[symbol] === length) {
        let first = 0; // a code's highest bit comes first and is read first
        for (let bit = 0; bit < length; ++bit) {
          first |= ((code >> bit) & 1) << (length - 1 - bit);
        }
        for (let at = first; at < table.length; at += 1 << length) {
          table[at] = symbol | (length << 8);
        }
        ++code;
      }
    }
  }
  return table;
}

/** Decodes a frame: `count` times `components` values. Throws if the frame is invalid. */
export function decodeFrame(model: Model, frame: Uint8Array, scalar: Scalar, components: number, count: number): Column {
  const parts = new Parts(frame);
  const method = parts.u8();
  need(count > 0 || method === 0, `an empty chunk has encoding method ${method}`);
  const row = components * scalar.bytes;
  const bytes = new Uint8Array(count * row);
  let numbers = scalar.over(bytes.buffer);
  if (method === 0) {
    bytes.set(parts.take(bytes.length));
  } else if (method === 1) {
    const value = parts.take(row);
    for (let at = 0; at < bytes.length; at += row) {
      bytes.set(value, at);
    }
  } else if (method === 2) {
    decodePlanes(parts, bytes, scalar.bytes, components, count);
  } else {
    need(method === 3 && model.streams.length > 0, `unknown method ${method} for ${scalar.name}`);
    numbers = decodeStreams(parts, model, numbers, scalar, components, count);
  }
  need(parts.left === 0, `${parts.left} bytes are unused`);
  return numbers;
}

// ---- Planes ----

/** The content of a frame's blocks. The decoder does not compare it with the size that the frame declares. */
function exactly(frame: Uint8Array, size: number): Uint8Array {
  for (const mark of [0xaa, 0x55]) {
    const room = new Uint8Array(size + 1);
    room.fill(mark, Math.max(size - 1, 0));
    decompress(frame, room);
    need(room[size] === mark, `the blocks of a Zstandard frame contain more than ${size} bytes`);
    if (size === 0 || room[size - 1] !== mark) {
      return room.slice(0, size); // whether the last byte was written, even if it equals the mark
    }
  }
  throw new Error(`the blocks of a Zstandard frame contain less than ${size} bytes`);
}

/** The content of a Zstandard frame, which must have exactly this size; checked before allocating. */
function unpacked(frame: Uint8Array, size: number): Uint8Array {
  const descriptor = frame[4] ?? 0;
  const single = (descriptor >> 5) & 1;
  const sizeBytes = [single, 2, 4, 8][descriptor >> 6]!;
  const isFrame = frame[0] === 0x28 && frame[1] === 0xb5 && frame[2] === 0x2f && frame[3] === 0xfd;
  need(isFrame && (descriptor & 3) === 0 && sizeBytes > 0, "not a Zstandard frame that stores its content size");
  let at = 6 - single;
  let content = 0;
  for (let i = sizeBytes - 1; i >= 0; --i) {
    content = content * 256 + (frame[at + i] ?? 0);
  }
  content += sizeBytes === 2 ? 256 : 0;
  need(content === size, `a Zstandard frame contains ${content} bytes instead of ${size}`);
  at += sizeBytes;
  for (let isLast = false; !isLast;) {
    need(at + 3 <= frame.length, "a Zstandard frame ends before its last block");
    const block = frame[at]! | (frame[at + 1]! << 8) | (frame[at + 2]! << 16);
    isLast = (block & 1) === 1;
    at += 3 + (((block >> 1) & 3) === 1 ? 1 : block >> 3);
  }
  const hasSum = ((descriptor >> 2) & 1) === 1;
  need(at + (hasSum ? 4 : 0) === frame.length, "a Zstandard frame is longer or shorter than its blocks");
  const bytes = exactly(frame, size);
  if (hasSum) {
    const stored = frame[at]! + frame[at + 1]! * 2 ** 8 + frame[at + 2]! * 2 ** 16 + frame[at + 3]! * 2 ** 24;
    need(BigInt(stored) === (xxh64(bytes) & 0xffffffffn), "the checksum of a Zstandard frame does not match its content");
  }
  return bytes;
}

function decodePlanes(parts: Parts, bytes: Uint8Array, size: number, components: number, count: number): void {
  const filter = parts.u8();
  const prediction = filter & 3;
  need(filter <= 7 && prediction !== 3, `unknown filter ${filter}`);
  const content = unpacked(parts.take(parts.left), bytes.length);
  const words = new Uint8Array(count * size); // y of a component
  for (let component = 0; component < components; ++component) {
    const own = content.subarray(component * words.length, (component + 1) * words.length);
    if (filter & 4) {
      fromBits(own, words, size, count);
    } else {
      for (let plane = 0; plane < size; ++plane) {
        for (let i = 0, from = plane * count; i < count; ++i) {
          words[i * size + plane] = own[from + i]!;
        }
      }
    }
    if (prediction === 1) {
      addUp(words, size, count);
    } else if (prediction === 2) {
      for (let i = size; i < words.length; ++i) {
        words[i]! ^= words[i - size]!;
      }
    }
    const row = components * size;
    for (let i = 0, to = component * size; i < count; ++i, to += row) {
      for (let byte = 0; byte < size; ++byte) {
        bytes[to + byte] = words[i * size + byte]!;
      }
    }
  }
}

function fromBits(own: Uint8Array, words: Uint8Array, size: number, count: number): void {
  const groups = count >> 3;
  words.fill(0);
  for (let bit = 0; bit < 8 * size; ++bit) {
    const [byte, shift] = [bit >> 3, bit & 7];
    for (let group = 0; group < groups; ++group) {
      const eight = own[bit * groups + group]!;
      for (let j = 0; eight >> j !== 0; ++j) {
        words[(8 * group + j) * size + byte]! |= ((eight >> j) & 1) << shift;
      }
    }
  }
  words.set(own.subarray(8 * groups * size), 8 * groups * size);
}

/** Restores words from their zigzag-encoded differences. */
function addUp(words: Uint8Array, size: number, count: number): void {
  if (size < 4) {
    const narrow = size === 1 ? words : new Uint16Array(words.buffer);
    for (let i = 0, sum = 0; i < count; ++i) {
      const z = narrow[i]!;
      sum += (z >> 1) ^ -(z & 1);
      narrow[i] = sum;
    }
    return;
  }
  const halves = new Uint32Array(words.buffer);
  if (size === 4) {
    for (let i = 0, sum = 0; i < count; ++i) {
      const z = halves[i]!;
      sum = (sum + ((z >>> 1) ^ -(z & 1))) | 0;
      halves[i] = sum;
    }
    return;
  }
  for (let i = 0, low = 0, high = 0; i < count; ++i) {
    const [zl, zh] = [halves[2 * i]!, halves[2 * i + 1]!];
    const sign = -(zl & 1);
    const sum = (low >>> 0) + ((((zl >>> 1) | (zh << 31)) ^ sign) >>> 0);
    high = (high + ((zh >>> 1) ^ sign) + (sum > 0xffffffff ? 1 : 0)) | 0;
    low = sum | 0;
    halves[2 * i] = low;
    halves[2 * i + 1] = high;
  }
}

// ---- Streams ----

function decodeStreams(parts: Parts, model: Model, numbers: Column, scalar: Scalar, components: number, count: number): Column {
  const total = count * components;
  const hasGrid = model.step !== 0;
  const exceptions = hasGrid ? parts.count("exceptions", total) : 0;
  const places = parts.take(4 * exceptions).slice();
  const replaced = parts.take(scalar.bytes * exceptions).slice();
  const words = new Uint32Array(numbers.buffer);
  for (const stream of model.streams) {
    if (stream.kind === Kind.Words) {
      const own = new Uint32Array(parts.take(scalar.bytes * count).slice().buffer);
      const halves = scalar.bytes / 4;
      for (let i = 0; i < count; ++i) {
        const at = (i * components + stream.components[0]!) * halves;
        words[at] = own[i * halves]!;
        if (halves === 2) {
          words[at + 1] = own[2 * i + 1]!;
        }
      }
    } else {
      decodeStream(parts, stream, words, scalar, hasGrid, components, count);
    }
  }
  if (!hasGrid) {
    return numbers;
  }
  for (let i = 0; i < total; ++i) {
    const x = scalar.bytes === 4 ? words[i]! | 0 : (words[2 * i + 1]! | 0) * 4294967296 + words[2 * i]!;
    numbers[i] = x * model.step + 0;
  }
  const at = new Uint32Array(places.buffer);
  const values = scalar.over(replaced.buffer);
  for (let i = 0; i < exceptions; ++i) {
    need(at[i]! < total && (i === 0 || at[i]! > at[i - 1]!), "positions of exceptions are not ascending, or beyond the end");
  }
  // Compares bit patterns, as NaN has more than one.
  const bytes = new Uint8Array(numbers.buffer);
  const from = new Uint8Array(values.buffer);
  for (let i = 0; i < exceptions; ++i) {
    bytes.set(from.subarray(i * scalar.bytes, (i + 1) * scalar.bytes), at[i]! * scalar.bytes);
  }
  return numbers;
}

/** Decodes the symbols of all values, lane by lane, with the code of each block's class. */
function readSymbols(lanes: readonly Uint8Array[], stream: Stream, classes: Uint8Array, count: number): Uint8Array {
  const symbols = new Uint8Array(count);
  const inLane = Math.ceil(classes.length / LANES);
  lanes.forEach((lane, k) => {
    let at = 0; // in bits
    const end = Math.min((k + 1) * inLane, classes.length);
    for (let block = k * inLane; block < end; ++block) {
      const { table } = stream.dictionaries[classes[block]!]!;
      const mask = table.length - 1;
      const last = Math.min((block + 1) * BLOCK, count);
      for (let i = block * BLOCK; i < last; ++i) {
        const byte = at >> 3;
        // Bits beyond the end read as zeros.
        const next = (lane[byte]! | (lane[byte + 1]! << 8) | (lane[byte + 2]! << 16)) >> (at & 7);
        const entry = table[next & mask]!;
        symbols[i] = entry;
        at += entry >> 8;
      }
      need(at <= 8 * lane.length, `symbols need more than the ${lane.length} bytes of a lane`);
    }
    needFilled(lane, at, "a symbol lane");
  });
  return symbols;
}

/** Checks that all bytes were used and that the unused bits of the last one are 0. */
function needFilled(bytes: Uint8Array, bits: number, what: string): void {
  need((bits + 7) >> 3 === bytes.length, `${what} has ${bytes.length} bytes, but needs ${(bits + 7) >> 3}`);
  need((bits & 7) === 0 || bytes[bytes.length - 1]! >> (bits & 7) === 0, `an unused bit of ${what} is set`);
}

function readClasses(parts: Parts, { classBits, dictionaries }: Stream, blocks: number): Uint8Array {
  const classes = new Uint8Array(blocks);
  const packed = parts.take((blocks * classBits + 7) >> 3);
  for (let block = 0, at = 0; block < blocks; ++block, at += classBits) {
    const two = packed[at >> 3]! | (packed[(at >> 3) + 1]! << 8);
    classes[block] = (two >> (at & 7)) & ((1 << classBits) - 1);
    need(classes[block]! < dictionaries.length, `a block has class ${classes[block]} of ${dictionaries.length}`);
  }
  needFilled(packed, blocks * classBits, "block classes");
  return classes;
}

function decodeStream(
  parts: Parts,
  stream: Stream,
  words: Uint32Array,
  scalar: Scalar,
  hasGrid: boolean,
  components: number,
  count: number,
): void {
  const { kind, dictionaries } = stream;
  const width = stream.components.length;
  const isWide = scalar.bytes === 8;
  const isDifference = kind === Kind.Differences;
  const isRanked = isDifference && scalar.valueClass === "f64" && !hasGrid;
  // x[-1] of each component, as pairs of halves.
  const xLow = new Int32Array(width);
  const xHigh = new Int32Array(width);
  for (let j = 0; isDifference && j < width; ++j) {
    const z = parts.varint();
    need(isWide || z < 1n << 32n, `differences start with ${z}`);
    const x = (z >> 1n) ^ -(z & 1n);
    xLow[j] = Number(BigInt.asIntN(32, x));
    xHigh[j] = Number(BigInt.asIntN(32, x >> 32n));
  }
  const escaped = parts.count("escapes", count);
  const laneBytes = Array.from({ length: LANES }, () => parts.count("bytes of a lane", parts.left));
  const bitBytes = parts.count("bytes of packed bits", parts.left);
  const classes = readClasses(parts, stream, Math.ceil(count / BLOCK));
  const symbols = readSymbols(
    laneBytes.map((own) => parts.take(own)),
    stream,
    classes,
    count,
  );
  const packed = parts.take(bitBytes);
  const escapes = new Uint32Array(parts.take(escaped * width * scalar.bytes).slice().buffer);
  const halves = isWide ? 2 : 1;
  let at = 0; // in bits, of the packed integers
  let escape = 0;

  for (let i = 0; i < count; ++i) {
    const dictionary = dictionaries[classes[i >> 6]!]!;
    const symbol = symbols[i]!;
    const isEscape = symbol === dictionary.escape;
    for (let j = 0; j < width; ++j) {
      let low: number;
      let high = 0;
      if (isEscape) {
        low = escapes[escape++]! | 0; // bits beyond the end are 0; their number is checked below
        high = isWide ? escapes[escape++]! | 0 : 0;
      } else {
        const entry = symbol * width + j;
        const bits = dictionary.bits[entry]!;
        low = 0;
        if (bits > 0) {
          low = bitsAt(packed, at, bits < 32 ? bits : 32);
          if (bits > 32) {
            high = bitsAt(packed, at + 32, bits - 32);
          }
          at += bits;
        }
        const sum = (low >>> 0) + dictionary.addLow[entry]!;
        high = (high + dictionary.addHigh[entry]! + (sum > 0xffffffff ? 1 : 0)) | 0;
        low = sum | 0;
      }
      if (isDifference) {
        // z is the zigzag-encoded difference from the previous value.
        const sign = -(low & 1);
        const differenceLow = (((low >>> 1) | (isWide ? high << 31 : 0)) ^ sign) >>> 0;
        const sum = (xLow[j]! >>> 0) + differenceLow;
        if (isWide) {
          high = (xHigh[j]! + ((high >>> 1) ^ sign) + (sum > 0xffffffff ? 1 : 0)) | 0;
          xHigh[j] = high;
        }
        low = sum | 0;
        xLow[j] = low;
      }
      const dropped = stream.dropped[j]!;
      if (isRanked && (isWide ? high : low) < 0) {
        // The lower w - 1 - dropped bits of a negative number are inverted.
        const inverted = 8 * scalar.bytes - 1 - dropped;
        low ^= inverted >= 32 ? -1 : inverted === 0 ? 0 : -1 >>> (32 - inverted);
        high ^= inverted <= 32 ? 0 : -1 >>> (64 - inverted);
      }
      if (dropped > 0) {
        if (dropped >= 32) {
          high = low << (dropped - 32);
          low = 0;
        } else {
          high = (high << dropped) | (low >>> (32 - dropped));
          low <<= dropped;
        }
      }
      const to = (i * components + stream.components[j]!) * halves;
      words[to] = low;
      if (isWide) {
        words[to + 1] = high;
      }
    }
  }
  needFilled(packed, at, "the packed bits");
  need(escape === escapes.length, `${escape / width / halves} symbols are escapes, instead of ${escaped}`);
}

/** Reads 1 to 32 bits; bits beyond the end are zeros. */
function bitsAt(bytes: Uint8Array, at: number, bits: number): number {
  const byte = at >> 3;
  const shift = at & 7;
  let v = (bytes[byte]! | (bytes[byte + 1]! << 8) | (bytes[byte + 2]! << 16) | (bytes[byte + 3]! << 24)) >>> shift;
  if (shift > 0) {
    v |= bytes[byte + 4]! << (32 - shift);
  }
  return bits === 32 ? v : v & ((1 << bits) - 1);
}
