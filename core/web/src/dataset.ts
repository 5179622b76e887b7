// SPDX-License-Identifier: BSD-3-Clause
// A dataset of one or several leaf files: its description and its particles.

import { BatError, invalidQuery } from "./error.js";
import {
  LeafFile,
  openFile,
  push,
  sidesOf,
  total,
  type Condition,
  type LeafPiece,
  type Opened,
  type Prepared,
  type ReadOptions,
  type Shared,
  type Span,
} from "./leaf.js";
import { Once, onceOf } from "./once.js";
import { Cache } from "./pages.js";
import {
  closedInterval,
  littleEndian,
  wordsOf,
  type Column,
  type Interval,
  type ScalarName,
  type Value,
  type ValueClass,
} from "./scalars.js";
import { Checker, Kind, sectionKey } from "./schema.js";
import { BlobSource, HttpSource, RequestQueue, type ByteSource, type Files, type Traffic } from "./source.js";
import { boxOf, readLeafRecords, type LeafRecord } from "./top.js";

export interface OpenOptions {
  signal?: AbortSignal;
  /** For a Blob: its name, and the other files given with it, by path, in which leaf files are looked up. */
  name?: string;
  files?: Files;
  /** Replaces the global fetch() for URLs. */
  fetch?: typeof fetch;
  /** Maximum number of concurrent requests; 6. */
  requests?: number;
  /** Number of retries of a request after temporary failures; 4. */
  retries?: number;
  /** Wait before the first retry, in ms; 250. */
  retryDelay?: number;
  /** Maximum size of the cache of verified pages and decoded chunks, in bytes; 256 MiB. */
  cacheBytes?: number;
  /** Maximum bytes of the index, or of the values of one piece; 512 MiB. Files that need more are rejected. */
  memoryBytes?: number;
}

/** What is known about an attribute without reading its values. */
export interface KeyInfo {
  /** The component, or -1 for the magnitude. */
  readonly component: number;
  readonly minimum: Value;
  readonly maximum: Value;
  readonly hasNaN: boolean;
}

export interface AttributeInfo {
  readonly name: string;
  readonly type: ScalarName;
  readonly components: number;
  /** A hint for VTK (FORMAT.md section 7). */
  readonly role: number;
  /**
   * One range, or for several components one each and the magnitude. If the attribute has no particles, minimum is
   * above maximum.
   */
  readonly keys: readonly KeyInfo[];
  /** The attribute that this one repeats, or "" for the positions; null if it has its own column. */
  readonly aliasOf: string | null;
}

/** A closed range of values; a missing end is open. Ends compare as real numbers, a bigint beyond 2^53 exactly. */
export interface RangeCondition {
  readonly attribute: string;
  /**
   * A component, or -1 for the magnitude. Default: the value itself if the attribute has one component, else the
   * magnitude.
   */
  readonly component?: number | undefined;
  readonly minimum?: Value | undefined;
  readonly maximum?: Value | undefined;
}

/** A list of values. */
export interface ListCondition {
  readonly attribute: string;
  readonly component?: number | undefined;
  readonly values: readonly Value[];
}

/** A query (FORMAT.md section 13). All conditions must hold. */
export interface Query {
  /** Share of the particles, coarse ones first, in [0, 1]; 1. */
  readonly quality?: number | undefined;
  /** Excludes the particles that a read with this quality returned; 0. */
  readonly afterQuality?: number | undefined;
  /** Lower x, y, z, upper x, y, z; closed. */
  readonly box?: readonly number[] | undefined;
  /** Whether to exclude the box's upper faces, except at +inf. */
  readonly halfOpen?: boolean | undefined;
  readonly ranges?: readonly RangeCondition[] | undefined;
  readonly lists?: readonly ListCondition[] | undefined;
  /** Part `part` of `parts` compact pieces; 0 of 1. */
  readonly part?: number | undefined;
  readonly parts?: number | undefined;
}

export interface PieceOptions extends ReadOptions {
  /** Attributes to read, by name; none. One that a dataset without particles lacks is empty. */
  attributes?: readonly string[];
  /** Omits positions, for reads that need attributes only. */
  withoutPositions?: boolean;
  /** Maximum number of candidates that are tested for a piece; 262144. */
  pieceParticles?: number;
}

/** Particles of one leaf file. The caller owns the arrays. */
export interface Piece {
  readonly leaf: number;
  readonly count: number;
  /** Indices in the leaf file, ascending, for `particle()`. */
  readonly filePositions: Uint32Array;
  /** x, y, z of each particle; empty if not requested. */
  readonly positions: Float32Array | Float64Array;
  /** All components of each particle, particle by particle. */
  readonly attributes: ReadonlyMap<string, Column>;
}

export interface LeafInfo {
  readonly particles: number;
  /** Lower x, y, z, upper x, y, z of the particles whose coordinates are finite. */
  readonly bounds: readonly number[];
}

const MAX_METADATA = 16 * 1024 * 1024;

interface Resolved {
  /** Column: 0 for the positions, 1 + k for attribute k. */
  readonly column: number;
  /** The component of the column, or -1 for all. */
  readonly component: number;
  readonly columnComponents: number;
}

/** An open dataset. Several queries may use it concurrently, in one thread. */
export class Dataset {
  readonly particleCount: bigint;
  readonly time: number | null;
  readonly step: bigint | null;
  /** Lower x, y, z, upper x, y, z of the particles whose coordinates are finite; +inf and -inf if there are none. */
  readonly bounds: readonly number[];
  readonly positionType: "float32" | "float64";
  readonly attributes: readonly AttributeInfo[];
  readonly leaves: readonly LeafInfo[];
  private readonly resolved = new Map<string, Resolved>();
  private readonly leafFiles = new Map<number, Once<LeafFile>>();
  private readonly firsts: readonly bigint[];

  private constructor(
    private readonly source: ByteSource,
    private readonly queue: RequestQueue,
    private readonly shared: Shared,
    private readonly opened: Opened,
    private readonly records: readonly LeafRecord[] | null,
    private readonly metadataText: string | null,
  ) {
    const { header, schema } = opened;
    this.particleCount = header.particleCount;
    this.time = header.time;
    this.step = header.step;
    this.bounds = [...schema.lower, ...schema.upper];
    this.positionType = schema.positionScalar.name as "float32" | "float64";
    this.attributes = this.describe();
    this.leaves = records?.map(({ particles, lower, upper }) => ({ particles, bounds: [...lower, ...upper] })) ?? [
      { particles: Number(header.particleCount), bounds: this.bounds },
    ];
    let first = 0n;
    this.firsts = this.leaves.map(({ particles }) => (first += BigInt(particles)) - BigInt(particles));
  }

  /** Opens a dataset at a URL, in a file, or in memory. Reads its description but no particles. */
  static async open(source: string | URL | Blob | Uint8Array | ByteSource, options: OpenOptions = {}): Promise<Dataset> {
    if (!littleEndian()) {
      throw new BatError("cannot_open", "this reader requires a little-endian machine");
    }
    const queue = new RequestQueue(options.requests ?? 6);
    const bytes = sourceOf(source, options, queue);
    const shared: Shared = {
      cache: new Cache(options.cacheBytes ?? 256 * 1024 * 1024),
      memory: options.memoryBytes ?? 512 * 1024 * 1024,
    };
    const { signal } = options;
    const opened = await openFile(bytes, shared, signal);
    const records = opened.header.isTop ? await readLeafRecords(opened, signal) : null;
    const section = opened.table.get(sectionKey(Kind.METADATA));
    // Metadata are optional, so huge ones are no reason to reject a file.
    const isSmall = section !== undefined && section.bytes <= Math.min(MAX_METADATA, shared.memory);
    const text = !isSmall ? null : new TextDecoder().decode(await opened.sections.whole(section, signal));
    const dataset = new Dataset(bytes, queue, shared, opened, records, text);
    if (records === null) {
      await onceOf(dataset.leafFiles, 0, (own) => LeafFile.from(opened, shared, own)).get(signal);
    }
    return dataset;
  }

  get traffic(): Readonly<Traffic> {
    return this.queue.traffic;
  }

  get name(): string {
    return this.source.name;
  }

  /** User metadata (FORMAT.md section 7), or null if they are absent, unreadable, or larger than 16 MiB. */
  get metadata(): Record<string, unknown> | null {
    try {
      const value: unknown = this.metadataText === null ? null : JSON.parse(this.metadataText);
      return typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown> | null) : null;
    } catch {
      return null; // unreadable metadata do not make a file invalid
    }
  }

  private describe(): AttributeInfo[] {
    const { schema, aliases, positionKeys } = this.opened;
    const infos: AttributeInfo[] = schema.attributes.map(({ name, scalar, components, role, firstKey }, i) => {
      this.resolved.set(name, { column: i + 1, component: -1, columnComponents: components });
      const keys = schema.keys
        .slice(firstKey, firstKey + (components > 1 ? components + 1 : 1))
        .map(({ component, minimum, maximum, hasNaN }) => ({ component, minimum, maximum, hasNaN }));
      return { name, type: scalar.name, components, role, keys, aliasOf: null };
    });
    for (const { name, target, component, role } of aliases) {
      const of = target === null ? null : infos[target]!;
      const columnComponents = of?.components ?? 3;
      const whole = component < 0 || columnComponents === 1;
      const ofPositions = positionKeys.map((key, i): KeyInfo => ({ component: i < 3 ? i : -1, ...key }));
      const all = of?.keys ?? ofPositions;
      this.resolved.set(name, { column: target === null ? 0 : target + 1, component: whole ? -1 : component, columnComponents });
      infos.push({
        name,
        type: of?.type ?? this.positionType,
        components: whole ? columnComponents : 1,
        role,
        keys: whole ? all : [{ ...all[component]!, component: 0 }],
        aliasOf: of?.name ?? "",
      });
    }
    return infos;
  }

  private find(name: string): Resolved {
    const found = this.resolved.get(name);
    if (found === undefined) {
      throw invalidQuery(`${this.name} has no attribute ${JSON.stringify(name)}`);
    }
    return found;
  }

  /** A step of a series may lack columns while it has no particles; they are then empty (section 13). */
  private isOfNothing(name: string): boolean {
    return this.particleCount === 0n && !this.resolved.has(name);
  }

  /** The key that a condition names (section 13), and its value class. */
  private key(name: string, component: number | undefined): { key: number; valueClass: ValueClass } {
    const { column, component: own, columnComponents } = this.find(name);
    const components = own >= 0 ? 1 : columnComponents;
    const requested = component ?? (components > 1 ? -1 : 0);
    if (!Number.isInteger(requested) || requested < (components > 1 ? -1 : 0) || requested >= components) {
      throw invalidQuery(`the attribute ${JSON.stringify(name)} has no component ${requested}`);
    }
    const inColumn = own >= 0 ? own : requested;
    if (column === 0) {
      return { key: inColumn < 0 ? -4 : -1 - inColumn, valueClass: "f64" };
    }
    const { firstKey } = this.opened.schema.attributes[column - 1]!;
    const key = firstKey + (inColumn < 0 ? columnComponents : inColumn);
    return { key, valueClass: this.opened.schema.keys[key]!.valueClass };
  }

  private prepare(query: Query): Prepared {
    const quality = query.quality ?? 1;
    const afterQuality = query.afterQuality ?? 0;
    if (!(afterQuality >= 0 && afterQuality <= quality && quality <= 1)) {
      throw invalidQuery(`quality ${quality} after ${afterQuality}; allowed: 0 <= after <= quality <= 1`);
    }
    const conditions: Condition[] = [];
    const add = (name: string, component: number | undefined, ends: readonly (readonly [Value, Value])[]): void => {
      if (this.isOfNothing(name)) {
        ends.forEach(([a, b]) => closedInterval("f64", a, b)); // rejects invalid ranges
        return;
      }
      const { key, valueClass } = this.key(name, component);
      const intervals = ends.map(([a, b]) => closedInterval(valueClass, a, b)).filter((one): one is Interval => one !== null);
      conditions.push({ key, intervals });
    };
    for (const { attribute, component, minimum, maximum } of query.ranges ?? []) {
      add(attribute, component, [[minimum ?? -Infinity, maximum ?? Infinity]]);
    }
    for (const { attribute, component, values } of query.lists ?? []) {
      add(
        attribute,
        component,
        values.map((v) => [v, v]),
      );
    }
    if (conditions.length > 30) {
      throw invalidQuery(`${conditions.length} ranges and lists; allowed: at most 30`);
    }
    if (query.box !== undefined && query.box.length !== 6) {
      throw invalidQuery(`a box of ${query.box.length} numbers; expected: lower x, y, z, upper x, y, z`);
    }
    const box = query.box === undefined ? null : sidesOf(query.box, query.halfOpen ?? false);
    const empty = (query.box !== undefined && box === null) || conditions.some(({ intervals }) => intervals.length === 0);
    return { quality, afterQuality, empty, box, conditions };
  }

  /** The ordinals of a leaf file that are in a part of the dataset. */
  private ordinals(query: Query, leaf: number): readonly [number, number] {
    const [part, parts] = [query.part ?? 0, query.parts ?? 1];
    const good = Number.isInteger(part) && Number.isInteger(parts) && part >= 0 && part < parts && parts <= 4294967295;
    if (!good) {
      throw invalidQuery(`part ${part} of ${parts} is out of range; allowed: 0 <= part < parts <= 4294967295`);
    }
    const n = this.leaves[leaf]!.particles;
    const place = (p: number): number => {
      const own = (this.particleCount * BigInt(p)) / BigInt(parts) - this.firsts[leaf]!;
      return own <= 0n ? 0 : own >= n ? n : Number(own);
    };
    return [place(part), place(part + 1)];
  }

  /** Returns whether a leaf file may contain matching particles, according to the top file. */
  private mayMatch(prepared: Prepared, leaf: number): boolean {
    const record = this.records?.[leaf];
    if (record === undefined) {
      return true;
    }
    const box = boxOf(record);
    return (
      !prepared.empty &&
      !prepared.box?.some(([a, b], axis) => box[axis]! > b || box[axis + 3]! < a) &&
      prepared.conditions.every(({ key, intervals }) => {
        const own = record.keys[key];
        return own === undefined || intervals.some(([a, b]) => !(own.minimum > b || own.maximum < a));
      })
    );
  }

  private needLeaf(number: number): void {
    if (this.leaves[number] === undefined) {
      throw invalidQuery(`${this.name} has no leaf file ${number}; allowed: 0 to ${this.leaves.length - 1}`);
    }
  }

  private async leaf(number: number, signal?: AbortSignal): Promise<LeafFile> {
    this.needLeaf(number);
    return onceOf(this.leafFiles, number, (own) => this.openLeaf(number, own)).get(signal);
  }

  private async openLeaf(number: number, signal?: AbortSignal): Promise<LeafFile> {
    const record = this.records![number]!;
    const top = this.opened;
    const opened = await openFile(this.source.beside(record.name), this.shared, signal);
    const { header } = opened;
    const check: Checker = opened.check;
    check.need(!header.isTop, "required_features", "that of a top file", "that of a leaf file", "unsupported_version");
    check.need(header.particleCount === BigInt(record.particles), "particle_count", header.particleCount, record.particles);
    check.need(BigInt(opened.sections.file.size) === record.fileBytes, "file_bytes", opened.sections.file.size, record.fileBytes);
    check.need(header.checksum === record.headerChecksum, "header_checksum", header.checksum, record.headerChecksum);
    const shape = ({ schema: one, aliases, sampleIds }: Opened): string =>
      JSON.stringify([
        one.positionScalar.name,
        one.attributes.map(({ name, scalar, components }) => [name, scalar.name, components]),
        aliases.map(({ name, target, component }) => [name, target, component]),
        sampleIds,
      ]);
    check.need(shape(opened) === shape(top), "types and names", shape(opened), shape(top));
    return LeafFile.from(opened, this.shared, signal);
  }

  /** The result from one leaf file, in ascending file position. */
  async *leafPieces(leaf: number, query: Query = {}, options: PieceOptions = {}): AsyncGenerator<Piece, void, undefined> {
    const maximum = options.pieceParticles ?? 262144;
    if (!(Number.isInteger(maximum) && maximum >= 1)) {
      throw invalidQuery(`pieceParticles is ${maximum}; allowed: whole numbers of at least 1`);
    }
    this.needLeaf(leaf);
    const prepared = this.prepare(query);
    const ordinals = this.ordinals(query, leaf);
    if (ordinals[0] >= ordinals[1] || !this.mayMatch(prepared, leaf)) {
      return;
    }
    const names = options.attributes ?? [];
    const requested = names.map((name) => this.find(name));
    const columns = [...new Set([...(options.withoutPositions ? [] : [0]), ...requested.map(({ column }) => column)])];
    const file = await this.leaf(leaf, options.signal);
    for await (const piece of file.pieces(prepared, ordinals, columns, maximum, options)) {
      yield this.piece(leaf, piece, columns, names, requested, options.withoutPositions ?? false);
    }
  }

  private piece(
    leaf: number,
    { filePositions, columns: values }: LeafPiece,
    columns: readonly number[],
    names: readonly string[],
    requested: readonly Resolved[],
    withoutPositions: boolean,
  ): Piece {
    const count = filePositions.length;
    const attributes = new Map(
      names.map((name, i): [string, Column] => {
        const { column, component, columnComponents } = requested[i]!;
        const all = values[columns.indexOf(column)]!;
        return [name, component < 0 ? all : oneComponent(all, component, columnComponents)];
      }),
    );
    const none = this.positionType === "float32" ? new Float32Array(0) : new Float64Array(0);
    const positions = withoutPositions ? none : (values[columns.indexOf(0)] as Float32Array | Float64Array);
    return { leaf, count, filePositions, positions, attributes };
  }

  /** The whole result in pieces, leaf file by leaf file. */
  async *pieces(query: Query = {}, options: PieceOptions = {}): AsyncGenerator<Piece, void, undefined> {
    for (let leaf = 0; leaf < this.leaves.length; ++leaf) {
      yield* this.leafPieces(leaf, query, options);
    }
  }

  /** Reads the whole result into arrays. Rejects results larger than `memoryBytes` before allocating. */
  async read(
    query: Query = {},
    options: PieceOptions = {},
  ): Promise<{ count: number; positions: Float32Array | Float64Array; attributes: Map<string, Column> }> {
    const pieces: Piece[] = [];
    let bytes = 0;
    for await (const piece of this.pieces(query, options)) {
      bytes += piece.positions.byteLength + [...piece.attributes.values()].reduce((sum, values) => sum + values.byteLength, 0);
      if (bytes > this.shared.memory) {
        throw new BatError("over_budget", `${this.name}: the answer needs more than ${this.shared.memory} bytes; use pieces()`);
      }
      pieces.push(piece);
    }
    const none = this.positionType === "float32" ? new Float32Array(0) : new Float64Array(0);
    const positions = joined(
      pieces.map((piece) => piece.positions),
      none,
    ) as Float32Array | Float64Array;
    const attributes = new Map<string, Column>();
    for (const name of options.attributes ?? []) {
      if (this.isOfNothing(name)) {
        attributes.set(name, new Float64Array(0));
        continue;
      }
      const parts = pieces.map((piece) => piece.attributes.get(name)!);
      const { column } = this.find(name);
      const scalar = column === 0 ? this.opened.schema.positionScalar : this.opened.schema.attributes[column - 1]!.scalar;
      attributes.set(name, joined(parts, scalar.make(0)));
    }
    return { count: pieces.reduce((sum, piece) => sum + piece.count, 0), positions, attributes };
  }

  /** Bounds the number of matching particles in one leaf file, from the index alone. */
  async leafEstimate(leaf: number, query: Query = {}, options: ReadOptions = {}): Promise<{ atLeast: number; atMost: number }> {
    this.needLeaf(leaf);
    const prepared = this.prepare(query);
    if (!this.mayMatch(prepared, leaf)) {
      return { atLeast: 0, atMost: 0 };
    }
    const file = await this.leaf(leaf, options.signal);
    const spans = await file.spans(prepared, this.ordinals(query, leaf), options);
    return { atLeast: total(spans.filter(({ tests }) => tests === 0)), atMost: total(spans) };
  }

  /** All values of one particle: its position, and all components of each attribute. */
  async particle(
    leaf: number,
    filePosition: number,
    options: ReadOptions = {},
  ): Promise<{ position: readonly number[]; attributes: ReadonlyMap<string, readonly Value[]> }> {
    const file = await this.leaf(leaf, options.signal);
    if (!(Number.isInteger(filePosition) && filePosition >= 0 && filePosition < file.count)) {
      throw invalidQuery(`particle ${filePosition} of leaf file ${leaf} is out of range; allowed: 0 to ${file.count - 1}`);
    }
    const span = { begin: filePosition, end: filePosition + 1, tests: 0 };
    const names = this.attributes.map(({ name }) => name);
    const requested = names.map((name) => this.find(name));
    const columns = [...new Set([0, ...requested.map(({ column }) => column)])];
    const everything = this.prepare({});
    const piece = this.piece(leaf, await file.piece(everything, [span], columns, options), columns, names, requested, false);
    return {
      position: [...piece.positions],
      attributes: new Map([...piece.attributes].map(([name, values]) => [name, [...(values as Iterable<Value>)]])),
    };
  }

  /** Attribute values of one leaf file's particles at ascending file positions. */
  async values(
    leaf: number,
    filePositions: Uint32Array,
    attributes: readonly string[],
    options: ReadOptions = {},
  ): Promise<ReadonlyMap<string, Column>> {
    const file = await this.leaf(leaf, options.signal);
    const spans: Span[] = [];
    for (const position of filePositions) {
      const last = spans[spans.length - 1];
      if (position >= file.count || (last !== undefined && position < last.end)) {
        throw invalidQuery(`file positions of leaf file ${leaf}; allowed: ascending, below ${file.count}`);
      }
      push(spans, position, position + 1, 0);
    }
    const requested = attributes.map((name) => this.find(name));
    const columns = [...new Set(requested.map(({ column }) => column))];
    const found = await file.piece(this.prepare({}), spans, columns, options);
    return this.piece(leaf, found, columns, attributes, requested, true).attributes;
  }

  /**
   * The error bound of an attribute, or of the positions (""), in a leaf file: the maximum difference between a stored
   * value and the one that was written.
   */
  async bound(name: string, leaf = 0, options: ReadOptions = {}): Promise<number> {
    const file = await this.leaf(leaf, options.signal);
    return file.bound(name === "" ? 0 : this.find(name).column, options.signal);
  }

  /**
   * Returns the smallest quality that has at least this many particles of a leaf file, or the nearby end of a lower
   * level.
   */
  async qualityOf(leaf: number, particles: number, signal?: AbortSignal): Promise<number> {
    const file = await this.leaf(leaf, signal);
    if (particles >= file.count) {
      return 1;
    }
    // Samples that end at a level are evenly spread (section 8).
    const level = file.levelEnds.filter((end) => end <= particles && end > 0.6 * particles).pop();
    return (level ?? Math.max(0, Math.floor(particles))) / file.count;
  }
}

function sourceOf(source: string | URL | Blob | Uint8Array | ByteSource, options: OpenOptions, queue: RequestQueue): ByteSource {
  if (typeof source === "string" || source instanceof URL) {
    const { fetch, retries, retryDelay } = options;
    return new HttpSource(new URL(source, globalThis.location?.href), {
      queue,
      ...(fetch && { fetch }),
      ...(retries !== undefined && { retries }),
      ...(retryDelay !== undefined && { retryDelay }),
    });
  }
  if (source instanceof Uint8Array) {
    return new BlobSource(
      new Blob([source as Uint8Array<ArrayBuffer>]),
      options.name ?? "(bytes)",
      options.files,
      undefined,
      queue,
    );
  }
  if (source instanceof Blob) {
    const name = options.name ?? (typeof File !== "undefined" && source instanceof File ? source.name : "(bytes)");
    return new BlobSource(source, name, options.files, name, queue);
  }
  return source;
}

function oneComponent(all: Column, component: number, components: number): Column {
  const count = all.length / components;
  const own = new (all.constructor as new (count: number) => Column)(count);
  const [into, from] = [wordsOf(own), wordsOf(all)];
  const size = into.length / Math.max(count, 1);
  for (let i = 0; i < count; ++i) {
    for (let word = 0; word < size; ++word) {
      into[i * size + word] = from[(i * components + component) * size + word]!;
    }
  }
  return own;
}

function joined(parts: readonly Column[], none: Column): Column {
  if (parts.length === 1) {
    return parts[0]!;
  }
  const all = new (none.constructor as new (count: number) => Column)(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    (all as Float64Array).set(part as Float64Array, at);
    at += part.length;
  }
  return all;
}
