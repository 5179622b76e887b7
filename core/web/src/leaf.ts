// SPDX-License-Identifier: BSD-3-Clause
// A leaf file: FORMAT.md sections 8 to 13. Opening takes two requests; queries read the parts of the index that they
// need.

import { BatError, DamagedChunk, DamagedPages } from "./error.js";
import { decodeFrame, readModel, type Model } from "./frames.js";
import { Once, onceOf } from "./once.js";
import { Cache, FileBytes, Sections, bytesOf, copyBytes, type Pages, type Range, type Section, type Requested } from "./pages.js";
import { closedInterval, keepMatches, neighbour, wordsOf, type Column, type Interval, type Scalar, type Value, type Words } from "./scalars.js";
import {
  Checker,
  HEADER_BYTES,
  Kind,
  RECORD_BYTES,
  blockLevelsBytes,
  checkSections,
  readAliases,
  readSampleIds,
  readHeader,
  readSchema,
  readTable,
  readValue,
  sectionKey,
  viewOf,
  type Alias,
  type Header,
  type PositionKey,
  type Schema,
  type Table,
} from "./schema.js";
import type { ByteSource } from "./source.js";

const FIRST_BYTES = 64 * 1024;
const BEFORE_TABLE = 32 * 1024;
const MEMORY_OF_RECORD = 512;

/** State that the files of a dataset share. */
export interface Shared {
  readonly cache: Cache;
  /** Maximum bytes that one step may request. */
  readonly memory: number;
}

/** Header, section table and schema of a leaf file or top file. */
export interface Opened {
  readonly check: Checker;
  readonly header: Header;
  readonly table: Table;
  readonly sections: Sections;
  readonly schema: Schema;
  readonly aliases: readonly Alias[];
  readonly positionKeys: readonly PositionKey[];
  readonly names: ReadonlySet<string>;
  /**
   * Attribute and component, or -1, of the numbers that determine levels; empty if levels are evenly spread samples.
   */
  readonly sampleIds: readonly (readonly [number, number])[];
}

let files = 0;

export async function openFile(source: ByteSource, shared: Shared, signal?: AbortSignal): Promise<Opened> {
  const check: Checker = new Checker(source.name);
  const { bytes, size } = await source.first(FIRST_BYTES, signal);
  const header = readHeader(check, bytes, size);
  // In memory, a record takes much more space than in the file.
  if (header.tableCount * MEMORY_OF_RECORD > shared.memory) {
    const maximum = Math.floor(shared.memory / MEMORY_OF_RECORD);
    throw new BatError("over_budget", `${source.name}: section_count is ${header.tableCount}; allowed: ${maximum}`);
  }
  const file = new FileBytes(source, size, shared.memory);
  file.keep(0, bytes);
  // SCHEMA and ALIASES usually stand directly before the table.
  const tail = Math.max(HEADER_BYTES, header.tableOffset - BEFORE_TABLE);
  const end = header.tableOffset + RECORD_BYTES * header.tableCount;
  if (tail < end && end > bytes.length) {
    file.keep(tail, (await file.read([[tail, end]], signal))[0]!);
  }
  const table = readTable(check, header, (await file.read([[header.tableOffset, end]], signal))[0]!, size);
  const sections = new Sections(file, shared.cache, `${++files}`);
  const schemaSection = table.get(sectionKey(Kind.SCHEMA));
  check.need(schemaSection !== undefined, "section SCHEMA 0", "missing", "present");
  const names = new Set<string>();
  const schema = readSchema(check, header, await sections.whole(schemaSection, signal), names);
  checkSections(check, header, schema, table);
  const aliasSection = table.get(sectionKey(Kind.ALIASES));
  const { aliases, positionKeys } =
    aliasSection === undefined
      ? { aliases: [], positionKeys: [] }
      : readAliases(check, schema, await sections.whole(aliasSection, signal), names);
  const sampleIds = header.isStable
    ? readSampleIds(check, schema, await sections.whole(table.get(sectionKey(Kind.SAMPLE_IDS))!, signal))
    : [];
  return { check, header, table, sections, schema, aliases, positionKeys, names, sampleIds };
}

/** A condition on a key; -1 to -4 are x, y, z and the magnitude of the positions. */
export interface Condition {
  readonly key: number;
  readonly intervals: readonly Interval[];
}

/** A query with everything checked and narrowed to the types of the file. */
export interface Prepared {
  readonly quality: number;
  readonly afterQuality: number;
  /** No particle can match: an interval is empty, or a list has no values. */
  readonly empty: boolean;
  readonly box: readonly Interval[] | null;
  readonly conditions: readonly Condition[];
}

/**
 * File positions from `begin` to before `end`, with the remaining tests: bit 0 for the box, bit i + 1 for condition i.
 */
export interface Span {
  readonly begin: number;
  readonly end: number;
  readonly tests: number;
}

/** Bytes that cannot be used, and what is missing because of them. */
export interface Damage {
  readonly file: string;
  readonly message: string;
  /** Number of particles left out. */
  readonly particles: number;
}

export interface ReadOptions {
  signal?: AbortSignal;
  /** Called with the number of bytes that arrived. */
  progress?: (bytes: number) => void;
  /** If given, particles on damaged pages are left out; otherwise they are an error. */
  onDamage?: (damage: Damage) => void;
}

/** A run of particles of one leaf file. */
export interface LeafPiece {
  readonly filePositions: Uint32Array;
  /** In the order of the request: 0 for the positions, 1 + k for attribute k. */
  readonly columns: readonly Column[];
}

interface Chunks {
  readonly particles: number;
  readonly ends: Float64Array;
  readonly bound: number;
  readonly model: Model;
}

interface Treelets {
  readonly flags: Uint8Array;
  /** First ordinals, followed by n. */
  readonly first: Float64Array;
  /** First blocks, followed by their number. */
  readonly firstBlock: Float64Array;
  /** For each node 7 numbers: lower, upper, and the value in `links`. */
  readonly boxes: Float64Array;
  /** For each node 14 numbers, the last two first_treelet and skip. */
  readonly links: Uint32Array;
  readonly boxOfTreelet: Uint32Array;
}

interface KeyIndex {
  readonly edges: readonly Value[];
  readonly keys: DataView;
  readonly dictionary: Uint32Array | null;
}

/** floor(x * r / 2^32), exact for x up to 2^32 and r below it. */
function scaled(x: number, ratio: number): number {
  return Math.floor((x * (ratio >>> 16) + Math.floor((x * (ratio & 0xffff)) / 65536)) / 65536);
}

export class LeafFile {
  readonly count: number;
  /** s[l]: number of particles in levels 0 to l. */
  readonly levelEnds: readonly number[];
  private readonly schema: Schema;
  private readonly treelets = new Once((signal) => this.readTreelets(signal));
  private readonly inLevels = new Once((signal) => this.readInLevels(signal));
  private readonly keyIndexes = new Map<number, Once<KeyIndex>>();
  private readonly chunkTables = new Map<number, Once<Chunks>>();

  private constructor(
    readonly opened: Opened,
    private readonly shared: Shared,
    private readonly ratios: Uint32Array,
  ) {
    this.schema = opened.schema;
    this.count = Number(opened.header.particleCount);
    this.levelEnds = this.below(this.count);
  }

  static async from(opened: Opened, shared: Shared, signal?: AbortSignal): Promise<LeafFile> {
    const levels = await opened.sections.whole(opened.table.get(sectionKey(Kind.LEVELS))!, signal);
    return new LeafFile(opened, shared, new Uint32Array(levels.buffer, levels.byteOffset, levels.length / 4));
  }

  /** Number of particles at quality q (section 8). */
  countOf(quality: number): number {
    return Math.min(this.count, Math.ceil(quality * this.count));
  }

  /** x[l](g) for all levels l. */
  private below(ordinal: number): number[] {
    const counts = new Array<number>(this.schema.levelCount);
    let x = ordinal;
    for (let level = counts.length - 1; level >= 0; --level) {
      counts[level] = x;
      x = level > 0 ? scaled(x, this.ratios[level - 1]!) : 0;
    }
    return counts;
  }

  private section(kind: number, index = 0): Section {
    return this.opened.table.get(sectionKey(kind, index))!;
  }

  // ---- The index: sections 9 to 11 ----

  private async readTreelets(signal?: AbortSignal): Promise<Treelets> {
    const { sections } = this.opened;
    const check: Checker = this.opened.check;
    const [treelets, tree] = (await sections.wholes([this.section(Kind.TREELETS), this.section(Kind.SHALLOW_TREE)], signal)) as [
      Uint8Array,
      Uint8Array,
    ];
    const total = this.schema.treeletCount;
    const words = new Uint32Array(treelets.buffer, treelets.byteOffset, 2 * total);
    const flags = new Uint8Array(total);
    const first = new Float64Array(total + 1);
    const firstBlock = new Float64Array(total + 1);
    for (let t = 0; t < total; ++t) {
      const count = words[2 * t]!;
      check.need(count >= 1, `count of treelet ${t}`, count, "at least 1");
      check.need(words[2 * t + 1]! < 2, `flags of treelet ${t}`, words[2 * t + 1], "bit 0");
      flags[t] = words[2 * t + 1]!;
      first[t + 1] = first[t]! + count;
      firstBlock[t + 1] = firstBlock[t]! + Math.ceil(count / this.schema.blockParticles);
    }
    check.need(first[total] === this.count, "the sum of the treelets' counts", first[total], this.count);
    check.need(firstBlock[total] === this.schema.blockCount, "block_count", this.schema.blockCount, firstBlock[total]);
    const nodes = tree.length / 56;
    const boxes = new Float64Array(tree.buffer, tree.byteOffset, 7 * nodes);
    const links = new Uint32Array(tree.buffer, tree.byteOffset, 14 * nodes);
    const boxOfTreelet = new Uint32Array(total);
    let leaves = 0;
    for (let i = 0; i < nodes; ++i) {
      const [own, skip] = [links[14 * i + 12]!, links[14 * i + 13]!];
      check.need(skip > i && skip <= nodes, `skip of node ${i}`, skip, `above the node, at most ${nodes}`);
      if (skip === i + 1) {
        check.need(own === leaves, `first_treelet of node ${i}`, own, leaves);
        boxOfTreelet[leaves++] = i;
      } else {
        check.need(own < total, `first_treelet of node ${i}`, own, `below ${total}`);
        const right = links[14 * (i + 1) + 13]!;
        const isTree = right < skip && links[14 * right + 13] === skip;
        check.need(isTree, `skip of node ${i}`, skip, "that of its right child");
      }
      check.need(leaves < total || i === nodes - 1, "the number of leaves of the shallow tree", "above T", total);
    }
    check.need(leaves === total, "the number of leaves of the shallow tree", leaves, total);
    return { flags, first, firstBlock, boxes, links, boxOfTreelet };
  }

  private keyIndex(key: number, signal?: AbortSignal): Promise<KeyIndex> {
    return onceOf(this.keyIndexes, key, (own) => this.readKeyIndex(key, own)).get(signal);
  }

  private async readKeyIndex(number: number, signal?: AbortSignal): Promise<KeyIndex> {
    const { sections, table } = this.opened;
    const check: Checker = this.opened.check;
    const key = this.schema.keys[number]!;
    const dictionarySection = table.get(sectionKey(Kind.BITMAP_DICTIONARY, number));
    const [edgeBytes, keyBytes, dictionaryBytes] = await sections.wholes(
      [
        this.section(Kind.BIN_EDGES, number),
        this.section(Kind.TREELET_KEYS, number),
        ...(dictionarySection === undefined ? [] : [dictionarySection]),
      ],
      signal,
    );
    const edgeData = viewOf(edgeBytes!);
    const edges = Array.from({ length: key.binCount - 1 }, (_, i) => readValue(edgeData, 8 * i, key.valueClass));
    const keys = viewOf(keyBytes!);
    const name = this.section(Kind.TREELET_KEYS, number).name;
    for (let at = 0; at < keys.byteLength; at += 32) {
      const [firstBin, lastBin, flags] = [
        keys.getUint16(at + 20, true),
        keys.getUint16(at + 22, true),
        keys.getUint32(at + 24, true),
      ];
      check.need(lastBin < key.binCount, `${name}: last_bin`, lastBin, `below ${key.binCount}`);
      check.need(firstBin <= lastBin, `${name}: first_bin`, firstBin, `at most ${lastBin}`);
      check.need(flags < 2 && keys.getUint32(at + 28, true) === 0, `${name}: flags and reserved`, flags, "bit 0 and 0");
    }
    const dictionary =
      dictionaryBytes === undefined
        ? null
        : new Uint32Array(dictionaryBytes.buffer, dictionaryBytes.byteOffset, dictionaryBytes.length / 4);
    return { edges, keys, dictionary };
  }

  // ---- From a query to file positions: appendix B ----

  /** Spans of the result in file order. `ordinals` is the part of the file. */
  async spans(query: Prepared, ordinals: readonly [number, number], options: ReadOptions = {}): Promise<Span[]> {
    const first = this.countOf(query.afterQuality);
    const end = this.countOf(query.quality);
    const [g0, g1] = ordinals;
    if (first >= end || g0 >= g1 || query.empty) {
      return [];
    }
    const intervals =
      query.box === null && query.conditions.length === 0
        ? [{ begin: g0, end: g1, tests: 0 }]
        : await this.intervals(query, g0, g1, options);
    const isWhole = intervals.length === 1 && intervals[0]!.begin === 0 && intervals[0]!.end === this.count;
    if (this.opened.sampleIds.length === 0) {
      return this.placed(intervals, first, end);
    }
    const isPart = g0 > 0 || g1 < this.count;
    return isWhole
      ? [{ begin: first, end, tests: intervals[0]!.tests }]
      : this.placedStable(query, intervals, first, end, isPart, options);
  }

  // ---- Stable samples: section 8 ----

  /** For each treelet, and once after the last: the number of particles in earlier treelets, by level. */
  private async readInLevels(signal?: AbortSignal): Promise<Float64Array> {
    const { first } = await this.treelets.get(signal);
    const bytes = await this.opened.sections.whole(this.section(Kind.TREELET_LEVELS), signal);
    const counts = viewOf(bytes);
    const check: Checker = this.opened.check;
    const levels = this.schema.levelCount;
    const sums = new Float64Array(levels * first.length);
    for (let t = 0; t + 1 < first.length; ++t) {
      let sum = 0;
      for (let level = 0; level < levels; ++level) {
        const count = counts.getUint32(4 * (t * levels + level), true);
        sum += count;
        sums[(t + 1) * levels + level] = sums[t * levels + level]! + count;
      }
      check.need(sum === first[t + 1]! - first[t]!, `TREELET_LEVELS: particles of treelet ${t}`, sum, first[t + 1]! - first[t]!);
    }
    for (let level = 0; level < levels; ++level) {
      const allowed = this.levelEnds[level]! - (level > 0 ? this.levelEnds[level - 1]! : 0);
      const found = sums[sums.length - levels + level];
      check.need(found === allowed, `TREELET_LEVELS: particles in level ${level}`, found, allowed);
    }
    return sums;
  }

  /** The level of each particle of a treelet, from its block records. */
  private levelsOf(treelet: number, records: Uint8Array, count: number, inLevels: Float64Array): Uint8Array {
    const check: Checker = this.opened.check;
    const { levelCount, blockParticles } = this.schema;
    const size = blockLevelsBytes(this.schema);
    const levels = new Uint8Array(count);
    const left = new Float64Array(levelCount);
    for (let level = 0; level < levelCount; ++level) {
      left[level] = inLevels[(treelet + 1) * levelCount + level]! - inLevels[treelet * levelCount + level]!;
    }
    for (let begin = 0, record = 0; begin < count; begin += blockParticles, record += size) {
      const end = Math.min(begin + blockParticles, count);
      let particle = begin;
      for (let i = 0; i < size; ++i) {
        for (let byte = records[record + i]!; byte !== 0; byte &= byte - 1) {
          const level = 8 * i + 31 - Math.clz32(byte & -byte) - (particle - begin);
          check.need(particle < end && level < levelCount, `BLOCK_LEVELS: a bit of treelet ${treelet}`, "set", "clear");
          levels[particle++] = level;
          --left[level]!;
        }
      }
      check.need(particle === end, `BLOCK_LEVELS: set bits of a block of treelet ${treelet}`, particle - begin, end - begin);
    }
    const isSame = left.every((rest) => rest === 0);
    check.need(isSame, `BLOCK_LEVELS: particles in each level of treelet ${treelet}`, "other", "that of TREELET_LEVELS");
    return levels;
  }

  /** Like placed(), but with stored levels; `isPart` is called for ordinals. */
  private async placedStable(
    query: Prepared,
    intervals: readonly Span[],
    first: number,
    end: number,
    isPart: boolean,
    options: ReadOptions,
  ): Promise<Span[]> {
    const treelets = await this.treelets.get(options.signal);
    const inLevels = await this.inLevels.get(options.signal);
    const treeletOf = (ordinal: number): number => {
      let [low, high] = [0, treelets.first.length - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        [low, high] = treelets.first[middle]! <= ordinal ? [middle, high] : [low, middle - 1];
      }
      return low;
    };
    const cut = new Set<number>(); // treelets that contain an end
    for (const { begin, end: stop } of intervals) {
      for (const ordinal of [begin, stop]) {
        const treelet = treeletOf(ordinal);
        if (treelets.first[treelet] !== ordinal) {
          cut.add(treelet);
        }
      }
    }
    const requested = [...cut].sort((a, b) => a - b);
    const size = blockLevelsBytes(this.schema);
    const ranges = requested.map((t): Range => [treelets.firstBlock[t]! * size, treelets.firstBlock[t + 1]! * size]);
    const records = new Map<number, Uint8Array>();
    if (requested.length > 0) {
      const section = this.section(Kind.BLOCK_LEVELS);
      try {
        const [pages] = await this.opened.sections.read([{ section, ranges }], options.signal, options.progress);
        requested.forEach((t, i) => records.set(t, bytesOf(pages!, ranges[i]![0], ranges[i]![1])));
      } catch (error) {
        if (!(error instanceof DamagedPages) || options.onDamage === undefined || isPart) {
          throw error;
        }
        // Without levels any particle may match: more is read, but no match is missed.
        options.onDamage({ file: this.opened.check.file, message: error.message, particles: 0 });
        const tests = query.conditions.reduce((bits, _, i) => bits | (2 << i), query.box === null ? 0 : 1);
        return [{ begin: first, end, tests }];
      }
    }
    const levelCount = this.schema.levelCount;
    let [treelet, at] = [-1, 0];
    let levels: Uint8Array | null = null;
    let counts = new Float64Array(levelCount);
    const moveTo = (ordinal: number): void => {
      const own = treeletOf(ordinal);
      if (own !== treelet || ordinal < at) {
        [treelet, at] = [own, treelets.first[own]!];
        levels = null;
        counts = inLevels.slice(own * levelCount, (own + 1) * levelCount);
      }
      if (at < ordinal) {
        levels ??= this.levelsOf(own, records.get(own)!, treelets.first[own + 1]! - treelets.first[own]!, inLevels);
        for (const base = treelets.first[own]!; at < ordinal; ++at) {
          ++counts[levels[at - base]!]!;
        }
      }
    };
    const ofLevel: Span[][] = this.levelEnds.map(() => []);
    for (const { begin: a, end: b, tests } of intervals) {
      moveTo(a);
      const from = counts.slice();
      moveTo(b);
      for (let level = 0; level < levelCount; ++level) {
        const start = level > 0 ? this.levelEnds[level - 1]! : 0;
        if (start >= end) {
          break;
        }
        const begin = Math.max(start + from[level]!, first);
        const stop = Math.min(start + counts[level]!, end);
        if (begin < stop) {
          push(ofLevel[level]!, begin, stop, tests);
        }
      }
    }
    const spans: Span[] = [];
    for (const { begin, end: stop, tests } of ofLevel.flat()) {
      push(spans, begin, stop, tests);
    }
    return spans;
  }

  /** Intervals of ordinals, level by level, as file positions in [first, end). */
  private placed(intervals: readonly Span[], first: number, end: number): Span[] {
    const ofLevel: Span[][] = this.levelEnds.map(() => []);
    let x: number[] = [];
    let before = -1;
    for (const { begin: a, end: b, tests } of intervals) {
      const from = a === before ? x : this.below(a);
      x = this.below(b);
      before = b;
      for (let level = 0; level < x.length; ++level) {
        const start = level > 0 ? this.levelEnds[level - 1]! : 0;
        if (start >= end) {
          break;
        }
        const lowerA = level > 0 ? from[level - 1]! : 0;
        const lowerB = level > 0 ? x[level - 1]! : 0;
        const begin = Math.max(start + from[level]! - lowerA, first);
        const stop = Math.min(start + x[level]! - lowerB, end);
        if (begin < stop) {
          push(ofLevel[level]!, begin, stop, tests);
        }
      }
    }
    const spans: Span[] = [];
    for (const one of ofLevel) {
      for (const { begin, end: stop, tests } of one) {
        push(spans, begin, stop, tests);
      }
    }
    return spans;
  }

  private async intervals(query: Prepared, g0: number, g1: number, options: ReadOptions): Promise<Span[]> {
    const { signal } = options;
    const [treelets, keys] = await Promise.all([
      this.treelets.get(signal),
      Promise.all(query.conditions.map(({ key }) => (key < 0 ? null : this.keyIndex(key, signal)))),
    ]);
    const bins = query.conditions.map(({ key, intervals }, i) =>
      key < 0 ? [] : intervals.map(([a, b]) => [binOf(keys[i]!.edges, a), binOf(keys[i]!.edges, b)] as const),
    );
    const kept: { treelet: number; tests: number; masks: number[] }[] = [];
    const { boxes, links } = treelets;
    for (let node = 0; node < links.length / 14;) {
      const [treelet, skip] = [links[14 * node + 12]!, links[14 * node + 13]!];
      if (query.box !== null && isApart(boxes, 7 * node, query.box)) {
        node = skip;
        continue;
      }
      if (skip === node + 1 && treelets.first[treelet]! < g1 && treelets.first[treelet + 1]! > g0) {
        const tested = this.tested(query, treelets, treelet, node, keys, bins);
        if (tested !== null) {
          kept.push({ treelet, ...tested });
        }
      }
      ++node;
    }
    return this.blocks(query, treelets, kept, keys, g0, g1, options);
  }

  /** The remaining tests of a treelet and the bits of each condition, or null if it cannot contain matches. */
  private tested(
    query: Prepared,
    treelets: Treelets,
    treelet: number,
    node: number,
    keys: readonly (KeyIndex | null)[],
    bins: readonly (readonly (readonly [number, number])[])[],
  ): { tests: number; masks: number[] } | null {
    let tests = 0;
    if (query.box !== null && (treelets.flags[treelet] === 1 || !isWithin(treelets.boxes, 7 * node, query.box))) {
      tests |= 1;
    }
    const masks: number[] = [];
    for (let i = 0; i < query.conditions.length; ++i) {
      const { key, intervals } = query.conditions[i]!;
      if (key < 0) {
        const at = 7 * node - 1 - key;
        if (key > -4 && !intervals.some(([a, b]) => !(treelets.boxes[at]! > b || treelets.boxes[at + 3]! < a))) {
          return null;
        }
        tests |= 2 << i;
        masks.push(0);
        continue;
      }
      const { keys: records } = keys[i]!;
      const at = 32 * treelet;
      const { valueClass } = this.schema.keys[key]!;
      const [minimum, maximum] = [readValue(records, at, valueClass), readValue(records, at + 8, valueClass)];
      const [firstBin, lastBin] = [records.getUint16(at + 20, true), records.getUint16(at + 22, true)];
      const mayBeNaN = records.getUint32(at + 24, true) === 1;
      let mask = 0;
      let all = false;
      intervals.forEach(([a, b], r) => {
        const low = Math.max(bins[i]![r]![0], firstBin);
        const high = Math.min(bins[i]![r]![1], lastBin);
        if (!(minimum > b || maximum < a) && low <= high) {
          mask |= bitsOf(low, high, firstBin, lastBin);
          all ||= a <= minimum && maximum <= b;
        }
      });
      if ((mask & records.getUint32(at + 16, true)) === 0) {
        return null;
      }
      if (!all || mayBeNaN) {
        tests |= 2 << i;
      }
      masks.push(mask);
    }
    return { tests, masks };
  }

  /** The intervals of the treelets' blocks that boxes and bitmaps do not rule out. */
  private async blocks(
    query: Prepared,
    treelets: Treelets,
    kept: readonly { treelet: number; tests: number; masks: number[] }[],
    keys: readonly (KeyIndex | null)[],
    g0: number,
    g1: number,
    options: ReadOptions,
  ): Promise<Span[]> {
    const looked = kept.filter(({ tests }) => tests !== 0);
    const indexed = query.conditions.flatMap(({ key }, i) =>
      key >= 0 && this.schema.keys[key]!.bitmapBytes > 0 && looked.some(({ tests }) => (tests & (2 << i)) !== 0) ? [i] : [],
    );
    const ranges = (bytes: number): Range[] =>
      looked.map(({ treelet }) => [treelets.firstBlock[treelet]! * bytes, treelets.firstBlock[treelet + 1]! * bytes]);
    const needsBoxes = looked.some(({ tests }) => (tests & 1) !== 0);
    const requested: Requested[] = indexed.map((i) => {
      const { key } = query.conditions[i]!;
      return { section: this.section(Kind.BLOCK_BITMAPS, key), ranges: ranges(this.schema.keys[key]!.bitmapBytes) };
    });
    if (needsBoxes) {
      requested.push({ section: this.section(Kind.BLOCK_BOXES), ranges: ranges(6) });
    }
    let read: Uint8Array[][] | null = null;
    try {
      const pages = looked.length > 0 ? await this.opened.sections.read(requested, options.signal, options.progress) : [];
      read = pages.map((own, i) => requested[i]!.ranges.map(([begin, end]) => bytesOf(own, begin, end)));
    } catch (error) {
      if (!(error instanceof DamagedPages) || options.onDamage === undefined) {
        throw error;
      }
      // Without boxes and bitmaps any block may match: more is read, but no match is missed.
      options.onDamage({ file: this.opened.check.file, message: error.message, particles: 0 });
    }
    const spans: Span[] = [];
    let place = 0;
    for (const { treelet, tests, masks } of kept) {
      const [first, last] = [treelets.first[treelet]!, treelets.first[treelet + 1]!];
      if (tests === 0 || read === null) {
        push(spans, Math.max(first, g0), Math.min(last, g1), tests);
        continue;
      }
      const own = place++;
      const box = 7 * treelets.boxOfTreelet[treelet]!;
      const blocks = treelets.firstBlock[treelet + 1]! - treelets.firstBlock[treelet]!;
      for (let block = 0; block < blocks; ++block) {
        const begin = Math.max(first + block * this.schema.blockParticles, g0);
        const end = Math.min(first + (block + 1) * this.schema.blockParticles, last, g1);
        if (begin >= end) {
          continue;
        }
        let left = tests;
        if ((tests & 1) !== 0 && treelets.flags[treelet] === 0) {
          const decoded = decodedBox(treelets.boxes, box, read[requested.length - 1]![own]!, 6 * block);
          if (isApart(decoded, 0, query.box!)) {
            continue;
          }
          left &= isWithin(decoded, 0, query.box!) ? ~1 : ~0;
        }
        const missed = indexed.some((i, w) => {
          const bitmap = this.bitmap(query.conditions[i]!.key, keys[i]!, read![w]![own]!, block);
          return (tests & (2 << i)) !== 0 && (bitmap & masks[i]!) === 0;
        });
        if (!missed) {
          push(spans, begin, end, left);
        }
      }
    }
    return spans;
  }

  private bitmap(key: number, { dictionary }: KeyIndex, bytes: Uint8Array, block: number): number {
    const { bitmapBytes } = this.schema.keys[key]!;
    let stored = 0;
    for (let i = bitmapBytes - 1; i >= 0; --i) {
      stored = (stored << 8) | bytes[bitmapBytes * block + i]!;
    }
    if (dictionary === null) {
      return stored;
    }
    const name = this.section(Kind.BLOCK_BITMAPS, key).name;
    const check: Checker = this.opened.check;
    check.need(stored < dictionary.length, `${name}: dictionary number`, stored, `below ${dictionary.length}`);
    return dictionary[stored]!;
  }

  // ---- Columns: section 12 ----

  private columnSection(column: number): { section: Section; scalar: Scalar; components: number } {
    if (column === 0) {
      return { section: this.section(Kind.POSITIONS), scalar: this.schema.positionScalar, components: 3 };
    }
    const { scalar, components } = this.schema.attributes[column - 1]!;
    return { section: this.section(Kind.ATTRIBUTE, column - 1), scalar, components };
  }

  private chunks(column: number, signal?: AbortSignal): Promise<Chunks> {
    return onceOf(this.chunkTables, column, (own) => this.readChunks(column, own)).get(signal);
  }

  private async readChunks(column: number, signal?: AbortSignal): Promise<Chunks> {
    const { sections } = this.opened;
    const check: Checker = this.opened.check;
    const { section, scalar, components } = this.columnSection(column);
    const table = this.section(Kind.CHUNK_TABLE, column);
    const bytes = await sections.whole(table, signal);
    const data = viewOf(bytes);
    const [particles, count, bound] = [data.getUint32(0, true), data.getUint32(4, true), data.getFloat64(8, true)];
    const expected = Math.ceil(this.count / particles);
    check.need(particles >= 1 && particles <= 65536, `${table.name}: chunk_particles`, particles, "1 to 65536");
    check.need(count === expected, `${table.name}: chunk_count`, count, expected);
    const modelBytes = data.getUint32(16, true);
    check.need(modelBytes <= 65536, `${table.name}: model_bytes`, modelBytes, "at most 65536");
    const size = 24 + 4 * count + modelBytes;
    check.need(bytes.length === size, `${table.name}: bytes`, bytes.length, size);
    check.need(Number.isFinite(bound) && bound >= 0, `${table.name}: bound`, bound, "a finite number of at least 0");
    check.need(bound === 0 || scalar.valueClass === "f64", `${table.name}: bound`, bound, `0, because the values are ${scalar.name}`);
    check.need(data.getUint32(20, true) === 0, `${table.name}: reserved`, "set", 0);
    const ends = new Float64Array(count + 1);
    for (let i = 0; i < count; ++i) {
      const frame = data.getUint32(24 + 4 * i, true);
      check.need(frame >= 1, `${table.name}: bytes of frame ${i}`, frame, "at least 1");
      ends[i + 1] = ends[i]! + frame;
    }
    check.need(ends[count] === section.bytes, `${table.name}: the sum of the frames`, ends[count], section.bytes);
    try {
      return { particles, ends, bound, model: readModel(bytes.subarray(24 + 4 * count), scalar, components) };
    } catch (error) {
      throw new BatError("corrupt", `${check.file}: ${table.name}: ${(error as Error).message}`);
    }
  }

  /** The error bound of a column (section 12); 0 if it is lossless. */
  async bound(column: number, signal?: AbortSignal): Promise<number> {
    return this.columnSection(column).section.encoding === 1 ? (await this.chunks(column, signal)).bound : 0;
  }

  /** Column values at spans of file positions, span by span. */
  private async columns(numbers: readonly number[], spans: readonly Span[], options: ReadOptions): Promise<Column[]> {
    const rows = spans.reduce((sum, { begin, end }) => sum + end - begin, 0);
    const columns = numbers.map((number) => this.columnSection(number));
    const total = columns.reduce((sum, { scalar, components }) => sum + rows * scalar.bytes * components, 0);
    if (total > this.shared.memory) {
      throw new BatError(
        "over_budget",
        `${this.opened.check.file}: ${total} bytes of values are needed together; allowed: ${this.shared.memory}`,
      );
    }
    const chunked = await Promise.all(
      columns.map(({ section }, i) => (section.encoding === 1 ? this.chunks(numbers[i]!, options.signal) : null)),
    );
    const decoded = chunked.map(() => new Map<number, Column>());
    // The missing chunks are determined only here, as other queries may have decoded some of them meanwhile.
    const missing = columns.map(({ section }, i) => {
      const chunks = chunked[i];
      return chunks ? this.missingChunks(section, chunks, spans, decoded[i]!) : [];
    });
    const requested = columns.map(({ section, scalar, components }, i): Requested => {
      const chunks = chunked[i];
      if (!chunks) {
        const row = scalar.bytes * components;
        return { section, ranges: spans.map(({ begin, end }) => [begin * row, end * row]) };
      }
      return { section, ranges: missing[i]!.map((chunk) => [chunks.ends[chunk]!, chunks.ends[chunk + 1]!]) };
    });
    const pages = await this.opened.sections.read(requested, options.signal, options.progress);
    return columns.map(({ section, scalar, components }, i) => {
      const chunks = chunked[i];
      const values = scalar.make(rows * components);
      if (!chunks) {
        const into = new Uint8Array(values.buffer);
        let at = 0;
        for (const [begin, end] of requested[i]!.ranges) {
          copyBytes(pages[i]!, begin, end, into, at);
          at += end - begin;
        }
        return values;
      }
      // Keeps only one chunk at a time: chunks that hold a few particles each could add up to the whole column.
      let [number, last] = [-1, null as Words | null];
      const chunkOf = (chunk: number): Words => {
        if (chunk !== number || last === null) {
          last = wordsOf(decoded[i]!.get(chunk) ?? this.decoded(section, chunks, chunk, pages[i]!, scalar, components));
          number = chunk;
        }
        return last;
      };
      const into = wordsOf(values);
      const row = (components * into.length) / Math.max(values.length, 1);
      let at = 0;
      for (const { begin, end } of spans) {
        for (let from = begin; from < end;) {
          const chunk = Math.floor(from / chunks.particles);
          const base = chunk * chunks.particles;
          const to = Math.min(end, base + chunks.particles);
          const own = chunkOf(chunk);
          const [first, stop] = [(from - base) * row, (to - base) * row];
          if (stop - first < 32) {
            for (let k = first; k < stop; ++k) {
              into[at++] = own[k]!;
            }
          } else {
            into.set(own.subarray(first, stop), at);
            at += stop - first;
          }
          from = to;
        }
      }
      return values;
    });
  }

  /** Decodes a chunk and caches it. */
  private decoded(section: Section, chunks: Chunks, chunk: number, pages: Pages, scalar: Scalar, components: number): Column {
    const frame = bytesOf(pages, chunks.ends[chunk]!, chunks.ends[chunk + 1]!);
    const count = Math.min(chunks.particles, this.count - chunk * chunks.particles);
    try {
      const own = decodeFrame(chunks.model, frame, scalar, components, count);
      this.shared.cache.set(this.chunkKey(section, chunk), own, own.byteLength + 200);
      return own;
    } catch (error) {
      throw new DamagedChunk(
        `${this.opened.check.file}: ${section.name}: chunk ${chunk}: ${(error as Error).message}`,
        section.number,
        chunk,
      );
    }
  }

  private chunkKey(section: Section, chunk: number): string {
    return `${this.opened.sections.key}/${section.number}:${chunk}`;
  }

  private missingChunks(section: Section, chunks: Chunks, spans: readonly Span[], decoded: Map<number, Column>): number[] {
    const missing = new Set<number>();
    for (const { begin, end } of spans) {
      for (let chunk = Math.floor(begin / chunks.particles); chunk * chunks.particles < end; ++chunk) {
        if (!decoded.has(chunk) && !missing.has(chunk)) {
          const known = this.shared.cache.get<Column>(this.chunkKey(section, chunk));
          if (known === undefined) {
            missing.add(chunk);
          } else {
            decoded.set(chunk, known);
          }
        }
      }
    }
    return [...missing];
  }

  /** The particles of spans that pass the remaining tests, with column values. */
  async piece(query: Prepared, spans: readonly Span[], columns: readonly number[], options: ReadOptions): Promise<LeafPiece> {
    let left = spans;
    for (;;) {
      try {
        const matching = await this.matching(query, left, options);
        const values = await this.columns(columns, matching, options);
        return { filePositions: positionsOf(matching), columns: values };
      } catch (error) {
        if (options.onDamage === undefined || !(error instanceof DamagedPages || error instanceof DamagedChunk)) {
          throw error;
        }
        const kept = await this.without(left, error, options.signal);
        const particles = total(left) - total(kept);
        if (particles === 0) {
          throw error;
        }
        options.onDamage({ file: this.opened.check.file, message: error.message, particles });
        left = kept;
      }
    }
  }

  /** Returns spans without the particles whose bytes are damaged. */
  private async without(spans: readonly Span[], damage: DamagedPages | DamagedChunk, signal?: AbortSignal): Promise<Span[]> {
    for (let column = 0; column <= this.schema.attributes.length; ++column) {
      const { section, scalar, components } = this.columnSection(column);
      if (section.number !== damage.section) {
        continue;
      }
      const chunks = section.encoding === 1 ? await this.chunks(column, signal) : null;
      const row = scalar.bytes * components;
      const bad = (damage instanceof DamagedChunk ? [damage.chunk] : damage.pages).map((at): Range => {
        if (damage instanceof DamagedChunk) {
          return [at * chunks!.particles, (at + 1) * chunks!.particles];
        }
        const [begin, end] = [at * 4096, (at + 1) * 4096];
        return chunks === null
          ? [Math.floor(begin / row), Math.ceil(end / row)]
          : [chunkAt(chunks.ends, begin) * chunks.particles, (chunkAt(chunks.ends, end - 1) + 1) * chunks.particles];
      });
      return spans.flatMap((span) => cutOut(span, bad));
    }
    return [...spans];
  }

  /** The spans of the particles that pass the remaining tests. */
  private async matching(query: Prepared, spans: readonly Span[], options: ReadOptions): Promise<readonly Span[]> {
    const all = spans.reduce((tests, span) => tests | span.tests, 0);
    if (all === 0) {
      return spans;
    }
    const tested = spans.filter(({ tests }) => tests !== 0);
    const keys = query.conditions.map(({ key }) => this.keyColumn(key));
    const needed = new Set<number>();
    if ((all & 1) !== 0) {
      needed.add(0);
    }
    keys.forEach(({ column }, i) => {
      if ((all & (2 << i)) !== 0) {
        needed.add(column);
      }
    });
    const numbers = [...needed];
    const values = await this.columns(numbers, tested, options);
    const valuesOf = (column: number): Column => values[numbers.indexOf(column)]!;
    const matches = new Uint8Array(total(tested)).fill(1);
    let at = 0;
    for (const { begin, end, tests } of tested) {
      const own = matches.subarray(at, at + end - begin);
      const part = (column: number, components: number): Column =>
        valuesOf(column).subarray(at * components, (at + end - begin) * components);
      if ((tests & 1) !== 0) {
        const positions = part(0, 3);
        query.box!.forEach((side, axis) => keepMatches(own, positions, 3, axis, [side]));
      }
      keys.forEach(({ column, component, components }, i) => {
        if ((tests & (2 << i)) !== 0) {
          keepMatches(own, part(column, components), components, component, query.conditions[i]!.intervals);
        }
      });
      at += end - begin;
    }
    const found: Span[] = [];
    at = 0;
    for (const { begin, end, tests } of spans) {
      if (tests === 0) {
        push(found, begin, end, 0);
        continue;
      }
      for (let position = begin; position < end; ++position, ++at) {
        if (matches[at]) {
          push(found, position, position + 1, 0);
        }
      }
    }
    return found;
  }

  private keyColumn(key: number): { column: number; component: number; components: number } {
    if (key < 0) {
      return { column: 0, component: key === -4 ? -1 : -1 - key, components: 3 };
    }
    const { attribute, component } = this.schema.keys[key]!;
    return { column: attribute + 1, component, components: this.schema.attributes[attribute]!.components };
  }

  /** The result in pieces of at most `maximum` candidates, in file order; prefetches the next piece. */
  async *pieces(
    query: Prepared,
    ordinals: readonly [number, number],
    columns: readonly number[],
    maximum: number,
    options: ReadOptions,
  ): AsyncGenerator<LeafPiece, void, undefined> {
    const batches = batchesOf(await this.spans(query, ordinals, options), maximum);
    const start = (i: number): Promise<LeafPiece> | null => {
      const batch = batches[i];
      const promise = batch === undefined ? null : this.piece(query, batch, columns, options);
      promise?.catch(() => undefined); // reported when its turn comes
      return promise;
    };
    let next = start(0);
    for (let i = 1; next !== null; ++i) {
      const piece: LeafPiece = await next;
      next = start(i);
      if (piece.filePositions.length > 0) {
        yield piece;
      }
    }
  }
}

/** The number of edges that are at most v. */
function binOf(edges: readonly Value[], v: Value): number {
  let [low, high] = [0, edges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle]! <= v) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** Bits of bins `low` to `high` in a treelet (section 11). */
function bitsOf(low: number, high: number, firstBin: number, lastBin: number): number {
  const width = lastBin - firstBin + 1;
  const bit = (bin: number): number => (width <= 32 ? bin - firstBin : Math.floor(((bin - firstBin) * 32) / width));
  const [from, to] = [bit(low), bit(high)];
  return (to - from === 31 ? -1 : ((1 << (to - from + 1)) - 1) << from) | 0;
}

function isApart(boxes: ArrayLike<number>, at: number, box: readonly Interval[]): boolean {
  return box.some(([a, b], axis) => boxes[at + axis]! > b || boxes[at + axis + 3]! < a);
}

function isWithin(boxes: ArrayLike<number>, at: number, box: readonly Interval[]): boolean {
  return box.every(([a, b], axis) => a <= boxes[at + axis]! && boxes[at + axis + 3]! <= b);
}

/** The box of a block (section 10), lower x, y, z, upper x, y, z. */
function decodedBox(boxes: Float64Array, at: number, codes: Uint8Array, own: number): number[] {
  return Array.from({ length: 6 }, (_, i) => {
    const axis = i % 3;
    const share = codes[own + i]! / 255;
    return boxes[at + axis]! * (1 - share) + boxes[at + axis + 3]! * share;
  });
}

/** Adds a span, or extends the last one if it ends there and has the same tests. */
export function push(spans: Span[], begin: number, end: number, tests: number): void {
  const last = spans[spans.length - 1];
  if (last !== undefined && last.end === begin && last.tests === tests) {
    spans[spans.length - 1] = { begin: last.begin, end, tests };
  } else if (begin < end) {
    spans.push({ begin, end, tests });
  }
}

export function total(spans: readonly Span[]): number {
  return spans.reduce((sum, { begin, end }) => sum + end - begin, 0);
}

function positionsOf(spans: readonly Span[]): Uint32Array {
  const positions = new Uint32Array(total(spans));
  let at = 0;
  for (const { begin, end } of spans) {
    for (let position = begin; position < end; ++position) {
      positions[at++] = position;
    }
  }
  return positions;
}

function batchesOf(spans: readonly Span[], maximum: number): Span[][] {
  const batches: Span[][] = [];
  let batch: Span[] = [];
  let room = maximum;
  for (const { begin, end, tests } of spans) {
    for (let from = begin; from < end;) {
      const to = Math.min(end, from + room);
      batch.push({ begin: from, end: to, tests });
      room -= to - from;
      from = to;
      if (room === 0) {
        batches.push(batch);
        [batch, room] = [[], maximum];
      }
    }
  }
  if (batch.length > 0) {
    batches.push(batch);
  }
  return batches;
}

function cutOut({ begin, end, tests }: Span, bad: readonly Range[]): Span[] {
  const left: Span[] = [];
  let from = begin;
  for (const [first, last] of bad) {
    if (last > from && first < end) {
      if (first > from) {
        left.push({ begin: from, end: first, tests });
      }
      from = last;
    }
  }
  if (from < end) {
    left.push({ begin: from, end, tests });
  }
  return left;
}

/** The chunk that contains a byte of a column. */
function chunkAt(ends: Float64Array, byte: number): number {
  let [low, high] = [0, ends.length - 2];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle + 1]! > byte) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/** The sides of a box narrowed to the coordinates' type, or null if it contains no representable coordinate. */
export function sidesOf(box: readonly number[], halfOpen: boolean): Interval[] | null {
  const sides: Interval[] = [];
  for (let axis = 0; axis < 3; ++axis) {
    const side = closedInterval("f64", box[axis]!, box[axis + 3]!)!;
    const upper = side[1] as number;
    const last = halfOpen && upper !== Infinity ? neighbour(upper, -1) : upper;
    if (last < side[0] || (halfOpen && upper === -Infinity)) {
      return null;
    }
    sides.push([side[0], last]);
  }
  return sides;
}
