// SPDX-License-Identifier: BSD-3-Clause
// Verified reads of sections (FORMAT.md section 6): few, large requests, checked page by page and cached.

import { BatError, DamagedPages } from "./error.js";
import { low32, xxh64 } from "./hash.js";
import { coalesced, type ByteSource } from "./source.js";

export const PAGE = 4096;
const CHECKSUMS_OF_PAGE = PAGE / 4;

// Maximum gap between ranges that are fetched in one request, and maximum size of a request, in bytes.
const GAP = 32 * 1024;
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

/** A range of bytes of a section; the end is exclusive. */
export type Range = readonly [begin: number, end: number];

/** An LRU cache limited to a number of bytes. The files of a dataset share it. */
export class Cache {
  private readonly entries = new Map<string, { value: unknown; bytes: number }>();
  private bytes = 0;

  constructor(readonly maximum: number) {}

  get<T>(key: string): T | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) {
      return undefined;
    }
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value as T;
  }

  set(key: string, value: unknown, bytes: number): void {
    const before = this.entries.get(key);
    if (before !== undefined) {
      this.bytes -= before.bytes;
      this.entries.delete(key);
    }
    this.entries.set(key, { value, bytes });
    this.bytes += bytes;
    for (const [oldest, entry] of this.entries) {
      if (this.bytes <= this.maximum) {
        break;
      }
      this.entries.delete(oldest);
      this.bytes -= entry.bytes;
    }
  }
}

/** A record of the section table (section 6). Sizes are below 2^53, like the file's size. */
export interface Section {
  readonly number: number; // index in the table
  readonly kind: number;
  readonly index: number;
  readonly encoding: number;
  readonly paged: boolean;
  readonly offset: number;
  readonly bytes: number;
  readonly rawBytes: bigint;
  readonly checksum: bigint;
  readonly checksumsOffset: number;
  readonly name: string;
}

/** The sizes of L2 and L1 of a paged section. */
export function checksumBytes(bytes: number): { l2: number; l1: number } {
  const pages = Math.ceil(bytes / PAGE);
  return { l2: 4 * Math.ceil((4 * pages) / PAGE), l1: 4 * pages };
}

interface Extent {
  readonly begin: number;
  readonly bytes: Uint8Array;
}

/** Bytes of one file: extents that are already present, and others fetched around them. */
export class FileBytes {
  private readonly extents: Extent[] = [];

  constructor(
    readonly source: ByteSource,
    readonly size: number,
    readonly memory: number,
  ) {}

  keep(begin: number, bytes: Uint8Array): void {
    this.extents.push({ begin, bytes });
  }

  /** The bytes of each range, in the requested order. */
  async read(ranges: readonly Range[], signal?: AbortSignal, progress?: (bytes: number) => void): Promise<Uint8Array[]> {
    const missing = ranges.flatMap(([begin, end]) => this.missing(begin, end));
    const total = missing.reduce((sum, [begin, end]) => sum + end - begin, 0);
    if (total > this.memory) {
      throw new BatError("over_budget", `${this.source.name}: ${total} bytes are needed together; allowed: ${this.memory}`);
    }
    let requests = coalesced(split(missing), GAP, MAX_REQUEST_BYTES);
    if (requests.reduce((sum, [begin, end]) => sum + end - begin, 0) > this.memory) {
      requests = coalesced(split(missing), 0, MAX_REQUEST_BYTES); // without gaps
    }
    const stop = new AbortController();
    const abort = (): void => stop.abort(signal!.reason);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const parts = await Promise.all(requests.map(([begin, end]) => this.source.read(begin, end, stop.signal, progress)));
      const extents = [...this.extents, ...requests.map(([begin], i) => ({ begin, bytes: parts[i]! }))];
      extents.sort((a, b) => a.begin - b.begin);
      return ranges.map(([begin, end]) => assembled(begin, end, extents));
    } catch (error) {
      stop.abort(error); // the others are not needed
      throw error;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Returns the parts of a range that no extent covers. */
  private missing(begin: number, end: number): Range[] {
    let parts: Range[] = [[begin, end]];
    for (const { begin: first, bytes } of this.extents) {
      const last = first + bytes.length;
      parts = parts.flatMap(([from, to]): Range[] => {
        if (to <= first || last <= from) {
          return [[from, to]];
        }
        const left: Range[] = [
          [from, first],
          [last, to],
        ];
        return left.filter(([one, other]) => one < other);
      });
    }
    return parts;
  }
}

function split(ranges: readonly Range[]): Range[] {
  return ranges.flatMap(([begin, end]) => {
    const parts: Range[] = [];
    for (let at = begin; at < end; at += MAX_REQUEST_BYTES) {
      parts.push([at, Math.min(end, at + MAX_REQUEST_BYTES)]);
    }
    return parts;
  });
}

/** Bytes of a range from ascending extents, which may overlap and together cover it. */
function assembled(begin: number, end: number, extents: readonly Extent[]): Uint8Array {
  let [low, high] = [0, extents.length]; // the last extent that begins at or before `begin`
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (extents[middle]!.begin <= begin) {
      low = middle;
    } else {
      high = middle;
    }
  }
  // A long extent may have begun before it.
  while (low > 0 && endOf(extents[low]!) <= begin) {
    --low;
  }
  const first = extents[low];
  if (first === undefined || begin === end) {
    return new Uint8Array(0);
  }
  if (first.begin <= begin && end <= endOf(first)) {
    return first.bytes.subarray(begin - first.begin, end - first.begin);
  }
  const bytes = new Uint8Array(end - begin);
  for (let i = low; i < extents.length && extents[i]!.begin < end; ++i) {
    const { begin: from, bytes: part } = extents[i]!;
    bytes.set(part.subarray(Math.max(begin - from, 0), Math.max(end - from, 0)), Math.max(from - begin, 0));
  }
  return bytes;
}

function endOf({ begin, bytes }: Extent): number {
  return begin + bytes.length;
}

/** The requested pages of a paged section. */
export interface Requested {
  readonly section: Section;
  readonly ranges: readonly Range[];
}

/** Verified reads of the sections of one file. */
export class Sections {
  private readonly l2 = new Map<number, Uint32Array>();
  private readonly l1 = new Map<number, Map<number, Uint32Array>>();

  constructor(
    readonly file: FileBytes,
    private readonly cache: Cache,
    /** The number of this file in the cache. */
    readonly key: string,
  ) {}

  /** The whole of a section that is not paged. */
  async whole(section: Section, signal?: AbortSignal): Promise<Uint8Array> {
    return (await this.wholes([section], signal))[0]!;
  }

  async wholes(sections: readonly Section[], signal?: AbortSignal): Promise<Uint8Array[]> {
    const all = await this.file.read(
      sections.map(({ offset, bytes }): Range => [offset, offset + bytes]),
      signal,
    );
    return all.map((bytes, i) => {
      const section = sections[i]!;
      this.needChecksum(section.checksum, xxh64(bytes), section.name + ": checksum");
      return aligned(bytes);
    });
  }

  private needChecksum(stored: bigint, found: bigint, thing: string): void {
    if (stored !== found) {
      throw new BatError(
        "corrupt",
        `${this.file.source.name}: ${thing} is ${hexadecimal(stored)}; its bytes have ${hexadecimal(found)}`,
      );
    }
  }

  /**
   * Loads pages into the cache with one round of requests, and returns those of each section by number. Throws
   * DamagedPages after all other pages have been cached.
   */
  async read(requested: readonly Requested[], signal?: AbortSignal, progress?: (bytes: number) => void): Promise<Pages[]> {
    const held = requested.map(() => new Map<number, Uint8Array>());
    const missing = requested.map(({ section, ranges }, i) => this.missingPages(section, ranges, held[i]!));
    if (missing.some((pages) => pages.length > 0)) {
      await this.fetch(requested, missing, held, signal, progress);
    }
    return held;
  }

  private pageKey(section: Section, page: number): string {
    return `${this.key}/${section.number}/${page}`;
  }

  private missingPages(section: Section, ranges: readonly Range[], held: Map<number, Uint8Array>): number[] {
    const missing = new Set<number>();
    let last = -1; // last index of a range, usually the first of the next one
    for (const [begin, end] of ranges) {
      for (let page = Math.floor(begin / PAGE); page * PAGE < end; ++page) {
        if (page === last || held.has(page) || missing.has(page)) {
          continue;
        }
        last = page;
        const bytes = this.cache.get<Uint8Array>(this.pageKey(section, page));
        if (bytes === undefined) {
          missing.add(page);
        } else {
          held.set(page, bytes);
        }
      }
    }
    return [...missing].sort((a, b) => a - b);
  }

  private async fetch(
    requested: readonly Requested[],
    missing: readonly (readonly number[])[],
    held: readonly Map<number, Uint8Array>[],
    signal?: AbortSignal,
    progress?: (bytes: number) => void,
  ): Promise<void> {
    const ranges: Range[] = [];
    const use: ((bytes: Uint8Array) => void)[] = [];
    // The order matters: data are verified before they are used.
    for (const pass of ["l2", "l1", "page"] as const) {
      requested.forEach(({ section }, i) => {
        const pages = missing[i]!;
        if (pages.length === 0) {
          return;
        }
        const { l2 } = checksumBytes(section.bytes);
        if (pass === "l2") {
          if (!this.l2.has(section.number)) {
            ranges.push([section.checksumsOffset, section.checksumsOffset + l2]);
            use.push((bytes) => this.takeL2(section, bytes));
          }
        } else if (pass === "l1") {
          const known = this.l1.get(section.number) ?? new Map<number, Uint32Array>();
          this.l1.set(section.number, known);
          for (const j of new Set(pages.map((page) => Math.floor(page / CHECKSUMS_OF_PAGE)))) {
            if (!known.has(j)) {
              const begin = section.checksumsOffset + l2 + j * PAGE;
              ranges.push([begin, Math.min(begin + PAGE, section.checksumsOffset + l2 + checksumBytes(section.bytes).l1)]);
              use.push((bytes) => this.takeL1(section, j, bytes, known));
            }
          }
        } else {
          const bad: number[] = [];
          for (const [first, end] of runs(pages)) {
            ranges.push([section.offset + first * PAGE, section.offset + Math.min(end * PAGE, section.bytes)]);
            use.push((bytes) => this.takePages(section, first, bytes, held[i]!, bad));
          }
          use[use.length - 1] = after(use[use.length - 1]!, () => this.needGood(section, bad));
        }
      });
    }
    const all = await this.file.read(ranges, signal, progress);
    let damage: unknown = null;
    use.forEach((one, i) => {
      try {
        one(all[i]!);
      } catch (error) {
        if (!(error instanceof DamagedPages)) {
          throw error;
        }
        damage ??= error;
      }
    });
    if (damage !== null) {
      throw damage;
    }
  }

  private takeL2(section: Section, bytes: Uint8Array): void {
    const stored = aligned(bytes);
    const good = xxh64(stored) === section.checksum;
    if (good) {
      this.l2.set(section.number, new Uint32Array(stored.buffer, stored.byteOffset, stored.length / 4));
    }
  }

  private takeL1(section: Section, j: number, bytes: Uint8Array, known: Map<number, Uint32Array>): void {
    const stored = aligned(bytes);
    if (low32(stored) === this.l2.get(section.number)?.[j]) {
      known.set(j, new Uint32Array(stored.buffer, stored.byteOffset, stored.length / 4));
    }
  }

  private takePages(section: Section, first: number, bytes: Uint8Array, held: Map<number, Uint8Array>, bad: number[]): void {
    for (let at = 0, page = first; at < bytes.length; at += PAGE, ++page) {
      const own = bytes.slice(at, Math.min(at + PAGE, bytes.length));
      const sums = this.l1.get(section.number)?.get(Math.floor(page / CHECKSUMS_OF_PAGE));
      if (sums?.[page % CHECKSUMS_OF_PAGE] === low32(own)) {
        held.set(page, own);
        this.cache.set(this.pageKey(section, page), own, own.length + 200);
      } else {
        bad.push(page);
      }
    }
  }

  private needGood(section: Section, bad: readonly number[]): void {
    if (bad.length > 0) {
      const [begin, end] = [bad[0]! * PAGE, Math.min((bad[bad.length - 1]! + 1) * PAGE, section.bytes)];
      const which = this.l2.has(section.number) ? "" : ", because their own checksum is wrong";
      throw new DamagedPages(
        `${this.file.source.name}: ${section.name}: the checksums of ${bad.length} pages between bytes ${begin} and ${end} do not match the pages${which}`,
        section.number,
        bad,
      );
    }
  }
}

function after(first: (bytes: Uint8Array) => void, then: () => void): (bytes: Uint8Array) => void {
  return (bytes) => {
    first(bytes);
    then();
  };
}

function runs(pages: readonly number[]): Range[] {
  const found: [number, number][] = [];
  for (const page of pages) {
    const last = found[found.length - 1];
    if (last && last[1] === page) {
      ++last[1];
    } else {
      found.push([page, page + 1]);
    }
  }
  return found;
}

/** Pages of a section by number. */
export type Pages = ReadonlyMap<number, Uint8Array>;

/** Copies bytes of a section to a destination. */
export function copyBytes(pages: Pages, begin: number, end: number, into: Uint8Array, at: number): void {
  for (let from = begin; from < end; ) {
    const page = Math.floor(from / PAGE);
    const own = pages.get(page)!;
    const first = from - page * PAGE;
    const last = Math.min(end - page * PAGE, PAGE);
    if (last - first < 64) {
      for (let i = first; i < last; ++i) {
        into[at++] = own[i]!;
      }
    } else {
      into.set(own.subarray(first, last), at);
      at += last - first;
    }
    from = page * PAGE + last;
  }
}

export function bytesOf(pages: Pages, begin: number, end: number): Uint8Array {
  const bytes = new Uint8Array(end - begin);
  copyBytes(pages, begin, end, bytes, 0);
  return bytes;
}

/** The same bytes, aligned for arrays of any type. */
export function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
}

export function hexadecimal(v: bigint): string {
  return v.toString(16).padStart(16, "0");
}
