// SPDX-License-Identifier: BSD-3-Clause
// Header, section table, schema, aliases and sample ids: FORMAT.md sections 5 to 8, and the checks of section 16 at
// opening.

import { BatError, type ErrorKind } from "./error.js";
import { xxh64 } from "./hash.js";
import { checksumBytes, hexadecimal, type Section } from "./pages.js";
import { SCALARS, type Scalar, type Value, type ValueClass } from "./scalars.js";

export const HEADER_BYTES = 128;
export const RECORD_BYTES = 64;
const MAGIC = [0x89, 0x42, 0x41, 0x54, 0x0d, 0x0a, 0x1a, 0x0a];
export const MAX_LEAF_PARTICLES = 4294967295;
const MAX_DATASET_PARTICLES = BigInt(MAX_LEAF_PARTICLES) << 24n;
const SEVERAL_LEAF_FILES = 1n;
const COMPRESSED_CHUNKS = 2n;
const STABLE_SAMPLES = 4n;
export const OF_POSITIONS = 4294967295;

export const Kind = {
  SCHEMA: 1,
  METADATA: 2,
  LEVELS: 3,
  SHALLOW_TREE: 4,
  TREELETS: 5,
  BLOCK_BOXES: 6,
  BIN_EDGES: 7,
  TREELET_KEYS: 8,
  BITMAP_DICTIONARY: 9,
  BLOCK_BITMAPS: 10,
  POSITIONS: 11,
  ATTRIBUTE: 12,
  AGGREGATION_TREE: 13,
  LEAF_FILES: 14,
  CHUNK_TABLE: 15,
  SORTED_INDEX: 16,
  ALIASES: 17,
  SAMPLE_IDS: 18,
  TREELET_LEVELS: 19,
  BLOCK_LEVELS: 20,
  HDF5_SUPERBLOCK: 21,
  HDF5_OBJECTS: 22,
} as const;
const KIND_NAMES = ["", ...Object.keys(Kind)];
const PAGED = new Set<number>([
  Kind.BLOCK_BOXES,
  Kind.BLOCK_BITMAPS,
  Kind.POSITIONS,
  Kind.ATTRIBUTE,
  Kind.SORTED_INDEX,
  Kind.BLOCK_LEVELS,
]);
const OF_TOP = new Set<number>([
  Kind.SCHEMA,
  Kind.METADATA,
  Kind.AGGREGATION_TREE,
  Kind.LEAF_FILES,
  Kind.ALIASES,
  Kind.SAMPLE_IDS,
  Kind.HDF5_SUPERBLOCK,
  Kind.HDF5_OBJECTS,
]);
const OPTIONAL = new Set<number>([Kind.METADATA, Kind.ALIASES, Kind.HDF5_SUPERBLOCK, Kind.HDF5_OBJECTS]);
const OF_LEAF = new Set<number>(Object.values(Kind).filter((kind) => kind !== Kind.AGGREGATION_TREE && kind !== Kind.LEAF_FILES));

export interface Header {
  readonly isTop: boolean;
  readonly mayHaveChunks: boolean;
  /** Whether levels follow hashes of ids (section 8). */
  readonly isStable: boolean;
  readonly particleCount: bigint;
  readonly tableOffset: number;
  readonly tableCount: number;
  readonly tableChecksum: bigint;
  readonly checksum: bigint;
  readonly time: number | null;
  readonly step: bigint | null;
}

export interface Attribute {
  readonly name: string;
  readonly scalar: Scalar;
  readonly components: number;
  readonly role: number;
  readonly firstKey: number;
}

export interface Alias {
  readonly name: string;
  /** The index of an attribute, or null for the positions. */
  readonly target: number | null;
  readonly component: number;
  readonly role: number;
}

export interface Key {
  readonly attribute: number;
  readonly component: number;
  readonly valueClass: ValueClass;
  readonly bitmapBytes: number;
  readonly hasNaN: boolean;
  readonly binCount: number;
  readonly dictionaryCount: number;
  readonly minimum: Value;
  readonly maximum: Value;
}

/** Minimum, maximum and whether NaN occurs, for x, y, z and the magnitude of the positions. */
export interface PositionKey {
  readonly minimum: number;
  readonly maximum: number;
  readonly hasNaN: boolean;
}

export interface Schema {
  readonly levelCount: number;
  readonly treeletCount: number;
  readonly blockCount: number;
  readonly blockParticles: number;
  readonly positionScalar: Scalar;
  readonly lower: readonly number[];
  readonly upper: readonly number[];
  readonly attributes: readonly Attribute[];
  readonly keys: readonly Key[];
}

/** Throws unless `good`. */
export class Checker {
  constructor(readonly file: string) {}

  need(good: boolean, thing: string, found: unknown, allowed: unknown, kind: ErrorKind = "corrupt"): asserts good {
    if (!good) {
      throw new BatError(kind, `${this.file}: ${thing} is ${String(found)}, allowed is ${String(allowed)}`);
    }
  }

  needChecksum(stored: bigint, thing: string, bytes: Uint8Array): void {
    const found = xxh64(bytes);
    this.need(stored === found, thing, hexadecimal(stored), hexadecimal(found));
  }
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Steps 2 to 6 of section 16, from the beginning of a file of `size` bytes. */
export function readHeader(check: Checker, bytes: Uint8Array, size: number): Header {
  const start = bytes.subarray(0, 8);
  const isMagic = start.every((byte, i) => byte === MAGIC[i]);
  check.need(isMagic, "the start", [...start], MAGIC, "not_a_bat_file");
  check.need(bytes.length >= 10, "the size of the file", size, "at least 128", "truncated");
  const data = viewOf(bytes);
  const major = data.getUint16(8, true);
  check.need(major === 1, "version_major", major, 1, "unsupported_version");
  check.need(bytes.length >= HEADER_BYTES, "the size of the file", size, "at least 128", "truncated");
  const checksum = data.getBigUint64(120, true);
  check.needChecksum(checksum, "header_checksum", bytes.subarray(0, 120));
  const features = data.getBigUint64(24, true);
  const isTop = (features & SEVERAL_LEAF_FILES) !== 0n;
  const allowed = STABLE_SAMPLES | (isTop ? SEVERAL_LEAF_FILES : COMPRESSED_CHUNKS);
  check.need((features & ~allowed) === 0n, "required_features", features, `bits of ${allowed}`, "unsupported_version");
  check.need(data.getUint32(12, true) === HEADER_BYTES, "header_bytes", data.getUint32(12, true), HEADER_BYTES);
  check.need(
    bytes.subarray(88, 120).every((byte) => byte === 0),
    "reserved of the header",
    "set",
    "zero",
  );
  const flags = data.getUint32(60, true);
  check.need(flags < 4, "flags of the header", flags, "bits 0 and 1");
  check.need((flags & 1) !== 0 || data.getBigUint64(64, true) === 0n, "time, which is not valid,", "set", 0);
  check.need((flags & 2) !== 0 || data.getBigUint64(72, true) === 0n, "step, which is not valid,", "set", 0);
  const particleCount = data.getBigUint64(40, true);
  const [minimum, limit] = isTop ? [1n, MAX_DATASET_PARTICLES] : [0n, BigInt(MAX_LEAF_PARTICLES)];
  check.need(particleCount >= minimum && particleCount <= limit, "particle_count", particleCount, `${minimum} to ${limit}`);
  const fileBytes = data.getBigUint64(16, true);
  check.need(fileBytes <= size, "the size of the file", size, fileBytes, "truncated");
  check.need(fileBytes === BigInt(size), "the size of the file", size, fileBytes);
  const tableOffset = data.getBigUint64(48, true);
  const tableCount = data.getUint32(56, true);
  check.need(tableOffset % 8n === 0n, "section_table_offset", tableOffset, "a multiple of 8");
  const end = tableOffset + BigInt(RECORD_BYTES * tableCount);
  check.need(end <= size, "the end of the section table", end, `at most ${size}`);
  return {
    isTop,
    mayHaveChunks: (features & COMPRESSED_CHUNKS) !== 0n,
    isStable: (features & STABLE_SAMPLES) !== 0n,
    particleCount,
    tableOffset: Number(tableOffset),
    tableCount,
    tableChecksum: data.getBigUint64(80, true),
    checksum,
    time: (flags & 1) !== 0 ? data.getFloat64(64, true) : null,
    step: (flags & 2) !== 0 ? data.getBigInt64(72, true) : null,
  };
}

export type Table = ReadonlyMap<string, Section>;

export function sectionKey(kind: number, index = 0): string {
  return `${kind}/${index}`;
}

/** Step 7 of section 16. */
export function readTable(check: Checker, header: Header, bytes: Uint8Array, size: number): Table {
  check.needChecksum(header.tableChecksum, "section_table_checksum", bytes);
  const known = header.isTop ? OF_TOP : OF_LEAF;
  const table = new Map<string, Section>();
  const data = viewOf(bytes);
  let before: readonly [number, number] = [-1, -1];
  for (let number = 0; number < header.tableCount; ++number) {
    const at = number * RECORD_BYTES;
    const [kind, index, encoding, flags] = [0, 4, 8, 12].map((field) => data.getUint32(at + field, true)) as [
      number,
      number,
      number,
      number,
    ];
    const [offset, stored, rawBytes, checksum, checksumsOffset, reserved] = [16, 24, 32, 40, 48, 56].map((field) =>
      data.getBigUint64(at + field, true),
    ) as [bigint, bigint, bigint, bigint, bigint, bigint];
    const name = `section ${KIND_NAMES[kind] ?? kind} ${index}`;
    const isKnown = known.has(kind);
    const isAbove = kind > before[0] || (kind === before[0] && index > before[1]);
    check.need(isAbove, `${name}: position in the table`, `after ${before.join(" ")}`, "ascending");
    check.need(
      isKnown || (flags & 2) === 0,
      `${name}: kind`,
      kind,
      "a known one, because it is required",
      "unsupported_version",
    );
    check.need(flags < 4, `${name}: flags`, flags, "bits 0 and 1");
    check.need(reserved === 0n, `${name}: reserved`, reserved, 0);
    const inChunks = encoding === 1;
    if (isKnown) {
      const mayBe = encoding === 0 || (inChunks && (kind === Kind.POSITIONS || kind === Kind.ATTRIBUTE));
      check.need(mayBe, `${name}: encoding`, encoding, "0, or 1 for columns", "unsupported_version");
      check.need(!inChunks || header.mayHaveChunks, `${name}: encoding`, encoding, "0, because bit 1 of required_features is clear");
    }
    check.need(offset % 8n === 0n && offset >= HEADER_BYTES, `${name}: offset`, offset, "a multiple of 8, at least 128");
    check.need(offset + stored <= size, `${name}: end`, offset + stored, `at most ${size}`);
    const paged = (flags & 1) !== 0;
    if (isKnown) {
      check.need(inChunks || rawBytes === stored, `${name}: raw_bytes`, rawBytes, stored);
      check.need(paged === PAGED.has(kind), `${name}: paged`, paged, PAGED.has(kind));
    }
    if (paged) {
      const sums = checksumBytes(Number(stored));
      const end = checksumsOffset + BigInt(sums.l1 + sums.l2);
      const good = checksumsOffset % 8n === 0n && checksumsOffset >= HEADER_BYTES;
      check.need(good, `${name}: checksums_offset`, checksumsOffset, "a multiple of 8, at least 128");
      check.need(end <= size, `${name}: end of the checksums`, end, `at most ${size}`);
    } else {
      check.need(checksumsOffset === 0n, `${name}: checksums_offset`, checksumsOffset, 0);
    }
    before = [kind, index];
    if (isKnown) {
      const key = sectionKey(kind, index);
      const [at, bytes, sumsAt] = [Number(offset), Number(stored), Number(checksumsOffset)];
      table.set(key, {
        number,
        kind,
        index,
        encoding,
        paged,
        offset: at,
        bytes,
        rawBytes,
        checksum,
        checksumsOffset: sumsAt,
        name,
      });
    }
  }
  return table;
}

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function readName(check: Checker, thing: string, bytes: Uint8Array, at: number, count: number, used: Set<string>): string {
  check.need(count >= 1 && count <= 65535, `${thing}: name_bytes`, count, "1 to 65535");
  check.need(at + count <= bytes.length, `${thing}: end of the name`, at + count, `at most ${bytes.length}`);
  let name: string;
  try {
    name = STRICT.decode(bytes.subarray(at, at + count));
  } catch {
    check.need(false, `${thing}: name`, "other bytes", "UTF-8");
  }
  check.need(!name.includes("\0"), `${thing}: name`, JSON.stringify(name), "without zero bytes");
  check.need(!used.has(name), `${thing}: name`, JSON.stringify(name), "unique");
  used.add(name);
  return name;
}

/** Reads a number of a value class at an offset. */
export function readValue(data: DataView, at: number, valueClass: ValueClass): Value {
  return valueClass === "f64"
    ? data.getFloat64(at, true)
    : valueClass === "i64"
      ? data.getBigInt64(at, true)
      : data.getBigUint64(at, true);
}

/** Step 8 of section 16: SCHEMA. */
export function readSchema(check: Checker, header: Header, bytes: Uint8Array, names: Set<string>): Schema {
  const data = viewOf(bytes);
  check.need(bytes.length >= 80, "the size of the schema", bytes.length, "at least 80");
  const [attributeCount, keyCount, levelCount, treeletCount] = [0, 4, 8, 12].map((at) => data.getUint32(at, true)) as [
    number,
    number,
    number,
    number,
  ];
  const blockCount = data.getBigUint64(16, true);
  const blockParticles = data.getUint32(24, true);
  const type = data.getUint8(28);
  check.need(attributeCount <= 65535, "attribute_count", attributeCount, "at most 65535");
  if (header.isTop) {
    const zeros = [levelCount, treeletCount, blockParticles].every((v) => v === 0) && blockCount === 0n;
    check.need(zeros, "a count of levels, treelets or blocks of a top file", "set", 0);
  } else {
    const n = header.particleCount;
    check.need(levelCount >= 1 && levelCount <= 256, "level_count", levelCount, "1 to 256");
    check.need((treeletCount === 0) === (n === 0n), "treelet_count", treeletCount, "0 if and only if there are no particles");
    check.need(treeletCount <= n && treeletCount <= 2 ** 31, "treelet_count", treeletCount, `at most ${n} and 2^31`);
    check.need(blockParticles >= 1 && blockParticles <= 65536, "block_particles", blockParticles, "1 to 65536");
    check.need(blockCount <= n, "block_count", blockCount, `at most ${n}`);
  }
  check.need(type === 9 || type === 10, "position_type", type, "9 or 10");
  check.need(data.getUint16(29, true) === 0 && data.getUint8(31) === 0, "reserved of the schema", "set", 0);
  const namesAt = 80 + 16 * attributeCount + 40 * keyCount;
  check.need(bytes.length >= namesAt, "the size of the schema", bytes.length, `at least ${namesAt}`);
  const lower = [32, 40, 48].map((at) => data.getFloat64(at, true));
  const upper = [56, 64, 72].map((at) => data.getFloat64(at, true));
  const isEmpty = lower.every((v) => v === Infinity) && upper.every((v) => v === -Infinity);
  const isBox = lower.every((v, i) => Number.isFinite(v) && Number.isFinite(upper[i]) && v <= upper[i]!);
  check.need(isEmpty || isBox, "lower and upper of the schema", `${lower} and ${upper}`, "a finite box, or +inf and -inf");

  const attributes: Attribute[] = [];
  const expected: (readonly [number, number])[] = [];
  let at = namesAt;
  for (let i = 0; i < attributeCount; ++i) {
    const record = 80 + 16 * i;
    const thing = `attribute ${i}`;
    const code = data.getUint8(record);
    const scalar = SCALARS[code];
    const components = data.getUint8(record + 1);
    check.need(scalar !== undefined, `${thing}: type`, code, "1 to 10");
    check.need(components >= 1 && components <= 9, `${thing}: components`, components, "1 to 9");
    check.need(data.getUint8(record + 3) === 0, `${thing}: reserved`, data.getUint8(record + 3), 0);
    const firstKey = data.getUint32(record + 12, true);
    check.need(firstKey === expected.length, `${thing}: first_key`, firstKey, expected.length);
    const nameBytes = data.getUint32(record + 8, true);
    const name = readName(check, thing, bytes, at, nameBytes, names);
    at += nameBytes;
    attributes.push({ name, scalar, components, role: data.getUint8(record + 2), firstKey });
    for (let c = 0; c < components; ++c) {
      expected.push([i, c]);
    }
    if (components > 1) {
      expected.push([i, -1]);
    }
  }
  check.need(at === bytes.length, "the size of the schema", bytes.length, at);
  check.need(keyCount === expected.length, "key_count", keyCount, expected.length);
  const keys = expected.map((pair, i) =>
    readKey(check, header.isTop, data, 80 + 16 * attributeCount + 40 * i, i, pair, attributes),
  );
  const positionScalar = SCALARS[type]!;
  return {
    levelCount,
    treeletCount,
    blockCount: Number(blockCount),
    blockParticles,
    positionScalar,
    lower,
    upper,
    attributes,
    keys,
  };
}

function readKey(
  check: Checker,
  isTop: boolean,
  data: DataView,
  at: number,
  number: number,
  [attribute, component]: readonly [number, number],
  attributes: readonly Attribute[],
): Key {
  const thing = `key ${number}`;
  const found = [data.getUint32(at, true), data.getInt16(at + 4, true)] as const;
  const good = found[0] === attribute && found[1] === component;
  check.need(good, `${thing}: attribute and component`, found.join(" "), `${attribute} ${component}`);
  const bitmapBytes = data.getUint8(at + 6);
  const flags = data.getUint8(at + 7);
  const binCount = data.getUint32(at + 8, true);
  const dictionaryCount = data.getUint32(at + 12, true);
  check.need([0, 1, 2, 4].includes(bitmapBytes), `${thing}: bitmap_bytes`, bitmapBytes, "0, 1, 2 or 4");
  check.need(flags < 2, `${thing}: flags`, flags, "bit 0");
  check.need(binCount >= 1 && binCount <= 4096, `${thing}: bin_count`, binCount, "1 to 4096");
  const limit = bitmapBytes === 1 ? 256 : bitmapBytes === 2 ? 65536 : 0;
  check.need(dictionaryCount <= limit, `${thing}: dictionary_count`, dictionaryCount, `at most ${limit}`);
  check.need(
    !isTop || (bitmapBytes === 0 && binCount === 1),
    `${thing}: bitmap_bytes and bin_count of a top file`,
    "set",
    "0 and 1",
  );
  check.need(data.getBigUint64(at + 32, true) === 0n, `${thing}: reserved`, "set", 0);
  const valueClass = component < 0 ? "f64" : attributes[attribute]!.scalar.valueClass;
  const minimum = readValue(data, at + 16, valueClass);
  const maximum = readValue(data, at + 24, valueClass);
  check.need(minimum === minimum && maximum === maximum, `${thing}: minimum or maximum`, "NaN", "a number");
  return { attribute, component, valueClass, bitmapBytes, hasNaN: flags === 1, binCount, dictionaryCount, minimum, maximum };
}

/** SAMPLE_IDS (section 8): attribute and component, or -1, of each number that is hashed. */
export function readSampleIds(check: Checker, schema: Schema, bytes: Uint8Array): [number, number][] {
  const data = viewOf(bytes);
  check.need(bytes.length >= 8, "the size of SAMPLE_IDS", bytes.length, "at least 8");
  const count = data.getUint32(0, true);
  check.need(count >= 1 && count <= 64, "id_count", count, "1 to 64");
  check.need(data.getUint32(4, true) === 0, "reserved of SAMPLE_IDS", "set", 0);
  check.need(bytes.length === 8 + 8 * count, "the size of SAMPLE_IDS", bytes.length, 8 + 8 * count);
  return Array.from({ length: count }, (_, i) => {
    const thing = `id ${i} of SAMPLE_IDS`;
    const [number, component] = [data.getUint32(8 + 8 * i, true), data.getInt16(12 + 8 * i, true)];
    const attribute = schema.attributes[number];
    check.need(attribute !== undefined, `${thing}: attribute`, number, `below ${schema.attributes.length}`);
    check.need(attribute.scalar.valueClass !== "f64", `${thing}: type`, attribute.scalar.name, "integers");
    const isThere = component >= -1 && component < attribute.components;
    check.need(isThere, `${thing}: component`, component, `-1 to ${attribute.components - 1}`);
    check.need(data.getUint16(14 + 8 * i, true) === 0, `${thing}: reserved`, "set", 0);
    return [number, component];
  });
}

/** The size of a block in BLOCK_LEVELS, in bytes (section 8). */
export function blockLevelsBytes(schema: Schema): number {
  return Math.floor((schema.blockParticles + schema.levelCount + 6) / 8);
}

/** Step 11 of section 16: ALIASES. */
export function readAliases(
  check: Checker,
  schema: Schema,
  bytes: Uint8Array,
  names: Set<string>,
): { aliases: Alias[]; positionKeys: PositionKey[] } {
  const data = viewOf(bytes);
  check.need(bytes.length >= 104, "the size of ALIASES", bytes.length, "at least 104");
  const count = data.getUint32(0, true);
  const limit = 65535 - schema.attributes.length;
  check.need(count >= 1 && count <= limit, "alias_count", count, `1 to ${limit}`);
  check.need(data.getUint32(4, true) === 0, "reserved of ALIASES", "set", 0);
  const positionKeys = [8, 32, 56, 80].map((at) => {
    const [minimum, maximum, flags] = [data.getFloat64(at, true), data.getFloat64(at + 8, true), data.getUint32(at + 16, true)];
    check.need(minimum === minimum && maximum === maximum, "minimum or maximum of a position key", "NaN", "a number");
    check.need(flags < 2, "flags of a position key", flags, "bit 0");
    check.need(data.getUint32(at + 20, true) === 0, "reserved of a position key", "set", 0);
    return { minimum, maximum, hasNaN: flags === 1 };
  });
  let at = 104 + 16 * count;
  check.need(at <= bytes.length, "the size of ALIASES", bytes.length, `at least ${at}`);
  const aliases: Alias[] = [];
  for (let i = 0; i < count; ++i) {
    const record = 104 + 16 * i;
    const thing = `alias ${i}`;
    const number = data.getUint32(record, true);
    const attribute = schema.attributes[number];
    const ofPositions = number === OF_POSITIONS;
    const allowed = `below ${schema.attributes.length}, or ${OF_POSITIONS}`;
    check.need(ofPositions || attribute !== undefined, `${thing}: attribute`, number, allowed);
    const components = attribute?.components ?? 3;
    const component = data.getInt16(record + 4, true);
    check.need(component >= -1 && component < components, `${thing}: component`, component, `-1 to ${components - 1}`);
    check.need(data.getUint8(record + 7) === 0, `${thing}: reserved`, "set", 0);
    const nameBytes = data.getUint32(record + 12, true);
    const name = readName(check, thing, bytes, at, nameBytes, names);
    at += nameBytes;
    aliases.push({ name, target: ofPositions ? null : number, component, role: data.getUint8(record + 6) });
  }
  check.need(at === bytes.length, "the size of ALIASES", bytes.length, at);
  return { aliases, positionKeys };
}

/** Step 10 of section 16: all sections that the schema implies, with their sizes, and no others. */
export function checkSections(check: Checker, header: Header, schema: Schema, table: Table): void {
  const sizes = new Map<string, bigint | null>([[sectionKey(Kind.SCHEMA), null]]);
  const expect = (kind: number, index: number, bytes: bigint | number | null): void => {
    sizes.set(sectionKey(kind, index), bytes === null ? null : BigInt(bytes));
  };
  if (header.isStable) {
    expect(Kind.SAMPLE_IDS, 0, null);
    if (!header.isTop) {
      expect(Kind.TREELET_LEVELS, 0, 4 * schema.treeletCount * schema.levelCount);
      expect(Kind.BLOCK_LEVELS, 0, schema.blockCount * blockLevelsBytes(schema));
    }
  }
  if (header.isTop) {
    expect(Kind.AGGREGATION_TREE, 0, null);
    expect(Kind.LEAF_FILES, 0, null);
  } else {
    const n = header.particleCount;
    const treelets = schema.treeletCount;
    expect(Kind.LEVELS, 0, 4 * (schema.levelCount - 1));
    expect(Kind.SHALLOW_TREE, 0, 56 * Math.max(2 * treelets - 1, 0));
    expect(Kind.TREELETS, 0, 8 * treelets);
    expect(Kind.BLOCK_BOXES, 0, 6 * schema.blockCount);
    expect(Kind.POSITIONS, 0, n * BigInt(3 * schema.positionScalar.bytes));
    schema.attributes.forEach((one, i) => expect(Kind.ATTRIBUTE, i, n * BigInt(one.components * one.scalar.bytes)));
    schema.keys.forEach((key, i) => {
      expect(Kind.BIN_EDGES, i, 8 * (key.binCount - 1));
      expect(Kind.TREELET_KEYS, i, 32 * treelets);
      if (key.bitmapBytes === 1 || key.bitmapBytes === 2) {
        expect(Kind.BITMAP_DICTIONARY, i, 4 * key.dictionaryCount);
      }
      if (key.bitmapBytes > 0) {
        expect(Kind.BLOCK_BITMAPS, i, key.bitmapBytes * schema.blockCount);
      }
      if (table.has(sectionKey(Kind.SORTED_INDEX, i))) {
        expect(Kind.SORTED_INDEX, i, sortedIndexBytes(Number(n)));
      }
    });
    for (const section of table.values()) {
      if (section.encoding === 1) {
        const number = section.kind === Kind.ATTRIBUTE ? section.index + 1 : 0;
        const chunks = table.get(sectionKey(Kind.CHUNK_TABLE, number));
        const minimum = 24 + 4 * Math.ceil(Number(n) / 65536);
        const good = chunks === undefined || chunks.bytes >= minimum;
        check.need(good, `${chunks?.name}: bytes`, chunks?.bytes, `${minimum} or more`);
        expect(Kind.CHUNK_TABLE, number, chunks?.bytes ?? null);
      }
    }
  }
  for (const [key, bytes] of sizes) {
    const section = table.get(key);
    const [kind, index] = key.split("/") as [string, string];
    check.need(section !== undefined, `section ${KIND_NAMES[Number(kind)]} ${index}`, "missing", "present");
    check.need(bytes === null || section.rawBytes === bytes, `${section.name}: raw_bytes`, section.rawBytes, bytes);
  }
  for (const [key, section] of table) {
    const isFree = section.index === 0 && OPTIONAL.has(section.kind);
    check.need(isFree || sizes.has(key), section.name, "present", "absent: the schema does not use it");
  }
}

/** The number of pages in each tier of a sorted index, the entry pages last (section 11). */
export function sortedIndexTiers(n: number): number[] {
  const tiers = n > 0 ? [Math.ceil(n / 341)] : [];
  while (tiers.length > 0 && tiers[0]! > 1) {
    tiers.unshift(Math.ceil(tiers[0]! / 512));
  }
  return tiers;
}

function sortedIndexBytes(n: number): number {
  const tiers = sortedIndexTiers(n);
  const entryPages = tiers[tiers.length - 1] ?? 0;
  const before = tiers.reduce((sum, pages) => sum + pages, 0) - entryPages;
  return n === 0 ? 0 : 4096 * before + 12 * n + 4 * (entryPages - 1);
}
