// SPDX-License-Identifier: BSD-3-Clause
// The worker that reads: fetches, verifies and decodes, and returns data that is ready to draw.

import { Dataset, BatError, magnitude, type Column, type Piece, type PieceOptions, type Query } from "../../src/index.js";
import { common, nearestFirst, nextQuality, rounds, screenArea, shareOfVolume, shares } from "./plan.js";
import {
  NOT_A_NUMBER,
  keyLabel,
  type AnswerOf,
  type ArgumentsOf,
  type CallType,
  type DatasetFacts,
  type FromWorker,
  type Histogram,
  type KeyFacts,
  type KeyRef,
  type Problem,
  type Scale,
  type ToWorker,
  type View,
  type Requested,
} from "./protocol.js";
import { partOf } from "./scale.js";

const MAX_KEYS = 2000; // keys offered for selection
const BATCH = 262_144;
const CANDIDATES = 4_000_000; // read per round
const SAMPLE = 50_000; // particles for a histogram
const BINS = 80;
const AT_ONCE = 6; // leaf files

function post(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, { transfer });
}

function problemOf(error: unknown): Problem {
  return error instanceof BatError
    ? { kind: error.kind, message: error.message }
    : { kind: "other", message: error instanceof Error ? error.message : String(error) };
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

function movedOn(): DOMException {
  return new DOMException("the view moved on", "AbortError");
}

/** Returns whether only this leaf file is at fault, so that the others can be shown. */
function isOfFile(error: unknown): error is BatError {
  return error instanceof BatError && !["unreachable", "no_ranges", "invalid_query"].includes(error.kind);
}

/** Runs an action for each item, in this order, a few at a time. */
async function each(all: readonly number[], action: (one: number) => Promise<void>): Promise<void> {
  const left = [...all];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) {
        await action(one);
      }
    }),
  );
}

/** Particles that are shown, kept so that one of them can be found again. */
interface Kept {
  readonly parts: { readonly leaf: number; readonly filePositions: Uint32Array }[];
  readonly count: number;
  readonly isOfView: boolean;
}

/** State after a round over the whole dataset: what was shown, and each leaf file's quality. */
interface Mark {
  readonly batches: readonly number[];
  readonly qualities: readonly number[];
  readonly matched: readonly number[];
}

/** Loads what was requested: first the whole, coarse to fine, then finer particles of the visible region. */
class Loader {
  private readonly kept = new Map<number, Kept>();
  private batches = 0;
  private generation = -1;
  private requested: Requested | null = null;
  private view: View | null = null;
  private stopper = new AbortController();
  private viewStopper = new AbortController();
  private wake: () => void = () => undefined;
  private marks: Mark[] = [];
  private qualities: number[] = [];
  /** Particles found in each leaf file up to its quality. */
  private matched: number[] = [];
  private viewQuality = 0;
  /** The box for which finer particles exist. */
  private viewBox: readonly number[] | null = null;
  private pending: Piece[] = [];
  private isFirst = true;
  /** Shown until the first batch that replaces them arrives. */
  private stale: number[] = [];
  /** Leaf files that cannot be read; they leave holes. */
  private readonly holes = new Set<number>();

  constructor(private readonly dataset: Dataset) {}

  private get centre(): readonly number[] {
    return centreOf(boundsOf(this.dataset));
  }

  stop(): void {
    this.stopper.abort(movedOn());
    this.viewStopper.abort(movedOn());
  }

  load(generation: number, requested: Requested, view: View): void {
    this.stop();
    this.generation = generation;
    this.requested = requested;
    this.view = view;
    this.qualities = this.dataset.leaves.map(() => 0);
    this.matched = this.dataset.leaves.map(() => 0);
    this.marks = [];
    this.viewQuality = 0;
    this.viewBox = null;
    this.pending = [];
    this.isFirst = true;
    this.holes.clear();
    this.stale = [...this.kept.keys()];
    this.stopper = new AbortController();
    void this.run(this.stopper.signal, generation);
  }

  look(view: View): void {
    if (this.requested === null) {
      return; // load() brings its own view
    }
    this.view = view;
    if (!this.isCovered()) {
      this.viewStopper.abort(movedOn());
    }
    this.wake();
  }

  /** Returns whether what an earlier view has loaded is as fine as possible for this one. */
  private isCovered(): boolean {
    const seen = this.inSight();
    const { viewBox } = this;
    return (
      viewBox !== null &&
      seen !== null &&
      [0, 1, 2].every((axis) => viewBox[axis]! <= seen[axis]! && seen[axis + 3]! <= viewBox[axis + 3]!) &&
      shareOfVolume(seen, viewBox) > 0.4
    );
  }

  private inSight(): number[] | null {
    const bounds = boundsOf(this.dataset);
    const box = common(this.view!.box, bounds);
    return box === null || this.requested!.box === null ? box : common(box, this.requested!.box);
  }

  private async run(signal: AbortSignal, generation: number): Promise<void> {
    try {
      for (;;) {
        const { view } = this;
        await this.loadWhole(signal);
        if (view === this.view) {
          await this.loadView(signal);
          if (view === this.view) {
            this.progress(true);
          }
        }
        signal.throwIfAborted();
        if (view === this.view) {
          await new Promise<void>((resolve) => (this.wake = resolve));
          signal.throwIfAborted();
        }
      }
    } catch (error) {
      if (!isAbort(error) && generation === this.generation) {
        post({ type: "problem", generation, problem: problemOf(error) });
      }
    }
  }

  private get options(): PieceOptions {
    const keys = [this.requested!.colour?.key, this.requested!.size?.key];
    const attributes = [...new Set(keys.flatMap((key) => (key && key.attribute !== "" ? [key.attribute] : [])))];
    return {
      attributes,
      pieceParticles: BATCH,
      onDamage: ({ message, particles }) => post({ type: "damage", message, particles }),
    };
  }

  private query(): Query {
    const { filters, box } = this.requested!;
    return {
      ranges: filters.map(({ key, minimum, maximum }) => ({ ...conditionOf(this.dataset, key), minimum, maximum })),
      ...(box !== null && { box }),
    };
  }

  /** Half of the budget is for the visible region if that is a small part of the whole. */
  private budgetOfWhole(): number {
    const seen = this.inSight();
    const share = seen === null ? 1 : shareOfVolume(seen, this.requested!.box ?? boundsOf(this.dataset));
    return share < 0.4 ? this.requested!.budget / 2 : this.requested!.budget;
  }

  private shown(isOfView: boolean): number {
    let sum = this.pending.reduce((count, piece) => count + piece.count, 0);
    const stale = new Set(this.stale);
    for (const [batch, kept] of this.kept) {
      sum += (isOfView || !kept.isOfView) && !stale.has(batch) ? kept.count : 0;
    }
    return sum;
  }

  private drop(batches: readonly number[]): void {
    if (batches.length > 0) {
      batches.forEach((batch) => this.kept.delete(batch));
      post({ type: "drop", generation: this.generation, batches });
    }
  }

  /** Drops the finest particles of the whole again if they leave no space for the visible region. */
  private makeRoom(limit: number): void {
    while (this.marks.length > 1 && this.shown(false) > 1.01 * limit) {
      this.marks.pop();
      const { batches, qualities, matched } = this.marks[this.marks.length - 1]!;
      const left = new Set(batches);
      this.drop([...this.kept].filter(([batch, { isOfView }]) => !isOfView && !left.has(batch)).map(([batch]) => batch));
      this.qualities = [...qualities];
      this.matched = [...matched];
    }
  }

  private isAll(): boolean {
    return this.qualities.every((quality, leaf) => quality >= 1 || this.holes.has(leaf));
  }

  /** If one of several leaf files is missing or damaged, reports it and shows the others. */
  private async orHole(leaf: number, action: () => Promise<void>): Promise<void> {
    if (this.holes.has(leaf)) {
      return;
    }
    try {
      await action();
    } catch (error) {
      if (!isOfFile(error) || this.dataset.leaves.length === 1) {
        throw error;
      }
      this.holes.add(leaf);
      const isWhole = this.requested!.filters.length === 0 && this.requested!.box === null;
      const particles = isWhole ? this.dataset.leaves[leaf]!.particles - this.matched[leaf]! : 0;
      post({ type: "damage", message: error.message, particles });
    }
  }

  private async loadWhole(signal: AbortSignal): Promise<void> {
    const { leaves } = this.dataset;
    const query = this.query();
    const isFiltered = this.requested!.filters.length > 0 || this.requested!.box !== null;
    this.makeRoom(this.budgetOfWhole());
    for (let before = 1.01 * this.shown(false); ;) {
      const target = rounds(this.budgetOfWhole()).find((one) => one > before);
      if (target === undefined || this.isAll()) {
        break;
      }
      const areas = leaves.map((leaf) => screenArea(leaf, this.view!.eye, this.view!.box));
      const share = shares(leaves, areas, target);
      before = target;
      await each(nearestFirst(leaves, this.view!.eye), (leaf) =>
        this.orHole(leaf, async () => {
          const { particles } = leaves[leaf]!;
          // With filters, more particles are tested until the share is full.
          for (let step = 0; this.matched[leaf]! < share[leaf]! && this.qualities[leaf]! < 1 && step < 40; ++step) {
            const room = Math.min(share[leaf]! - this.matched[leaf]!, target - this.shown(false));
            const quality = this.qualities[leaf]!;
            const wish = isFiltered
              ? nextQuality(quality, this.matched[leaf]!, room, particles, CANDIDATES)
              : await this.dataset.qualityOf(leaf, share[leaf]!, signal);
            if (!(wish > quality)) {
              break;
            }
            const request = { ...query, quality: wish, afterQuality: quality };
            for await (const piece of this.dataset.leafPieces(leaf, request, { ...this.options, signal })) {
              signal.throwIfAborted();
              this.matched[leaf]! += piece.count;
              this.take(piece, false);
            }
            this.qualities[leaf] = wish;
          }
        }),
      );
      signal.throwIfAborted();
      this.flush(false);
      const batches = [...this.kept].filter(([, { isOfView }]) => !isOfView).map(([batch]) => batch);
      this.marks.push({ batches, qualities: [...this.qualities], matched: [...this.matched] });
      this.progress(false);
    }
    if (this.isFirst) {
      this.flush(false, true); // nothing matches: clear what was shown
    }
  }

  private async loadView(signal: AbortSignal): Promise<void> {
    if (this.isCovered()) {
      return;
    }
    this.viewStopper = new AbortController();
    const stop = this.viewStopper.signal;
    let old = [...this.kept].filter(([, { isOfView }]) => isOfView).map(([batch]) => batch);
    const dropOld = (): void => {
      this.drop(old);
      old = [];
    };
    this.viewBox = null;
    this.viewQuality = 0;
    const seen = this.inSight();
    if (seen === null || this.budgetOfWhole() === this.requested!.budget || this.isAll()) {
      dropOld();
      return;
    }
    // The box is a little larger, so that a small step of the camera requests nothing.
    const bounds = this.requested!.box ?? boundsOf(this.dataset);
    const box = common(
      seen.map((v, side) => v + (side < 3 ? -0.1 : 0.1) * (seen[(side % 3) + 3]! - seen[side % 3]!)),
      bounds,
    )!;
    const { leaves } = this.dataset;
    const near = nearestFirst(leaves, this.view!.eye).filter((leaf) => common(leaves[leaf]!.bounds, box) !== null);
    const qualities = new Map(near.map((leaf) => [leaf, this.qualities[leaf]!]));
    // A first guess; afterwards the particles found give the density.
    const matched = new Map(
      near.map((leaf) => {
        const part = common(leaves[leaf]!.bounds, box)!;
        return [leaf, this.matched[leaf]! * shareOfVolume(part, leaves[leaf]!.bounds)];
      }),
    );
    try {
      for (let round = 0; round < 60; ++round) {
        const open = near.filter((leaf) => qualities.get(leaf)! < 1 && !this.holes.has(leaf));
        const left = this.requested!.budget - this.shown(true) + sumOf(old, this.kept);
        if (open.length === 0 || left < 1) {
          break;
        }
        await each(open, (leaf) =>
          this.orHole(leaf, async () => {
            const room = Math.min(left / open.length, Math.max(matched.get(leaf)!, 20_000));
            const from = qualities.get(leaf)!;
            const quality = nextQuality(from, matched.get(leaf)!, room, leaves[leaf]!.particles, CANDIDATES);
            const query = { ...this.query(), box, quality, afterQuality: from };
            for await (const piece of this.dataset.leafPieces(leaf, query, { ...this.options, signal: stop })) {
              stop.throwIfAborted();
              signal.throwIfAborted();
              dropOld(); // replaced by the new ones
              matched.set(leaf, matched.get(leaf)! + piece.count);
              this.take(piece, true);
            }
            qualities.set(leaf, quality);
          }),
        );
        stop.throwIfAborted();
        this.flush(true);
        this.viewQuality = Math.min(1, ...near.filter((leaf) => !this.holes.has(leaf)).map((leaf) => qualities.get(leaf)!));
        this.progress(false);
      }
      this.viewBox = box;
    } catch (error) {
      this.pending = [];
      signal.throwIfAborted();
      if (!isAbort(error)) {
        throw error;
      }
    } finally {
      dropOld();
    }
  }

  private take(piece: Piece, isOfView: boolean): void {
    const own = firstOf(piece, Math.max(0, this.requested!.budget - this.shown(true)), this.dataset);
    if (own.count === 0) {
      return;
    }
    this.pending.push(own);
    if (this.pending.reduce((sum, { count }) => sum + count, 0) >= BATCH) {
      this.flush(isOfView);
    }
  }

  private flush(isOfView: boolean, evenIfEmpty = false): void {
    const pieces = this.pending;
    this.pending = [];
    const count = pieces.reduce((sum, piece) => sum + piece.count, 0);
    if (count === 0 && !evenIfEmpty) {
      return;
    }
    const { isFirst } = this;
    if (isFirst) {
      this.stale.forEach((batch) => this.kept.delete(batch));
      this.stale = [];
      this.isFirst = false;
    }
    const batch = ++this.batches;
    const parts = pieces.map(({ leaf, filePositions }) => ({ leaf, filePositions }));
    this.kept.set(batch, { parts, count, isOfView });
    const positions = relative(pieces, count, this.centre);
    const colour = this.requested!.colour && scaled(this.dataset, pieces, count, this.requested!.colour);
    const size = this.requested!.size && scaled(this.dataset, pieces, count, this.requested!.size);
    const transfer = [positions, colour, size].flatMap((one) => (one ? [one.buffer] : []));
    post(
      { type: "batch", generation: this.generation, batch: { batch, isOfView, count, positions, colour, size }, isFirst },
      transfer,
    );
    this.progress(false);
  }

  private progress(isDone: boolean): void {
    const { leaves } = this.dataset;
    const total = leaves.reduce((sum, { particles }) => sum + particles, 0);
    const base = leaves.reduce((sum, { particles }, leaf) => sum + particles * this.qualities[leaf]!, 0) / Math.max(total, 1);
    const quality = Math.max(base, this.viewQuality);
    post({ type: "progress", generation: this.generation, traffic: { ...this.dataset.traffic }, quality, isDone });
  }

  find(batch: number, index: number): { leaf: number; filePosition: number } {
    let left = index;
    for (const { leaf, filePositions } of this.kept.get(batch)?.parts ?? []) {
      if (left < filePositions.length) {
        return { leaf, filePosition: filePositions[left]! };
      }
      left -= filePositions.length;
    }
    throw new Error("this particle is no longer shown");
  }

  async sum(attribute: string): Promise<{ count: number; sum: bigint }> {
    let [count, sum] = [0, 0n];
    for (const { parts } of this.kept.values()) {
      for (const { leaf, filePositions } of parts) {
        count += filePositions.length;
        if (attribute !== "") {
          const values = (await this.dataset.values(leaf, filePositions, [attribute])).get(attribute)!;
          for (const v of values) {
            sum += BigInt(v);
          }
        }
      }
    }
    return { count, sum: BigInt.asUintN(64, sum) };
  }
}

function boundsOf(dataset: Dataset): readonly number[] {
  return dataset.bounds[0]! <= dataset.bounds[3]! ? dataset.bounds : [0, 0, 0, 0, 0, 0];
}

function centreOf(bounds: readonly number[]): number[] {
  return [0, 1, 2].map((axis) => 0.5 * bounds[axis]! + 0.5 * bounds[axis + 3]!);
}

/** A step without particles may lack the attribute. */
function componentsOf(dataset: Dataset, { attribute }: KeyRef): number {
  return attribute === "" ? 3 : (dataset.attributes.find(({ name }) => name === attribute)?.components ?? 1);
}

/** The condition on a key; the component is omitted if there is only one. */
function conditionOf(dataset: Dataset, { attribute, component }: KeyRef): { attribute: string; component?: number } {
  const found = dataset.attributes.find(({ name }) => name === attribute);
  return found !== undefined && found.components > 1 ? { attribute, component } : { attribute };
}

function sumOf(batches: readonly number[], kept: ReadonlyMap<number, Kept>): number {
  return batches.reduce((sum, batch) => sum + (kept.get(batch)?.count ?? 0), 0);
}

/** The first `count` particles of a piece. */
function firstOf(piece: Piece, count: number, dataset: Dataset): Piece {
  if (count >= piece.count) {
    return piece;
  }
  const attributes = new Map(
    [...piece.attributes].map(([name, values]): [string, Column] => {
      const { components } = dataset.attributes.find((one) => one.name === name)!;
      return [name, values.subarray(0, count * components)];
    }),
  );
  const { leaf } = piece;
  return {
    leaf,
    count,
    filePositions: piece.filePositions.slice(0, count),
    positions: piece.positions.subarray(0, 3 * count),
    attributes,
  };
}

function relative(pieces: readonly Piece[], count: number, centre: readonly number[]): Float32Array {
  const all = new Float32Array(3 * count);
  let at = 0;
  for (const { positions } of pieces) {
    for (let i = 0; i < positions.length; i += 3) {
      all[at++] = positions[i]! - centre[0]!;
      all[at++] = positions[i + 1]! - centre[1]!;
      all[at++] = positions[i + 2]! - centre[2]!;
    }
  }
  return all;
}

function numberAt(values: Column, components: number, { component }: KeyRef, i: number): number {
  return component < 0 && components > 1
    ? magnitude(values, i * components, components)
    : Number(values[i * components + Math.max(component, 0)]!);
}

function scaled(dataset: Dataset, pieces: readonly Piece[], count: number, scale: Scale): Float32Array {
  const { key } = scale;
  const toPart = partOf(scale);
  const all = new Float32Array(count);
  const components = componentsOf(dataset, key);
  let at = 0;
  for (const piece of pieces) {
    const values = key.attribute === "" ? piece.positions : piece.attributes.get(key.attribute)!;
    for (let i = 0; i < piece.count; ++i) {
      const v = toPart(numberAt(values, components, key, i));
      all[at++] = Number.isNaN(v) ? NOT_A_NUMBER : Math.min(Math.max(v, -1), 2);
    }
  }
  return all;
}

function factsOf(dataset: Dataset): DatasetFacts {
  const bounds = boundsOf(dataset);
  const keys: KeyFacts[] = [];
  for (const { name, type, components, keys: own, aliasOf } of dataset.attributes.slice(0, MAX_KEYS)) {
    if (aliasOf === "") {
      continue; // x, y and z come last
    }
    for (const { component, minimum, maximum } of own) {
      const key = { attribute: name, component };
      if (minimum <= maximum && keys.length < MAX_KEYS) {
        keys.push({ key, label: keyLabel(key, components), isInteger: type.includes("int") && component >= 0, minimum, maximum });
      }
    }
  }
  for (let component = 0; component < 3; ++component) {
    const key = { attribute: "", component };
    keys.push({ key, label: keyLabel(key, 3), isInteger: false, minimum: bounds[component]!, maximum: bounds[component + 3]! });
  }
  const { metadata } = dataset;
  const units = new Map<string, string>();
  if (typeof metadata?.["units"] === "object" && metadata["units"] !== null) {
    for (const [name, unit] of Object.entries(metadata["units"])) {
      if (typeof unit === "string" && unit !== "") {
        units.set(name, unit.slice(0, 30));
      }
    }
  }
  return {
    name: dataset.name,
    title: typeof metadata?.["title"] === "string" ? metadata["title"].slice(0, 200) : null,
    particles: dataset.particleCount,
    leafFiles: dataset.leaves.length,
    time: dataset.time,
    step: dataset.step,
    bounds,
    attributes: dataset.attributes.slice(0, MAX_KEYS),
    keys,
    units,
  };
}

/** A histogram of an even sample, in the units of the scale. */
async function histogramOf(dataset: Dataset, scale: Scale): Promise<Histogram> {
  const counts = new Array<number>(BINS).fill(0);
  const toPart = partOf(scale);
  const { key } = scale;
  const components = componentsOf(dataset, key);
  const found: number[] = [];
  const share = Math.min(1, SAMPLE / Math.max(Number(dataset.particleCount), 1));
  // If there are very many leaf files, a subset is enough.
  const every = Math.max(1, Math.ceil(dataset.leaves.length / 50));
  for (let leaf = 0; leaf < dataset.leaves.length; leaf += every) {
    const attributes = key.attribute === "" ? [] : [key.attribute];
    try {
      // As many as the first picture has, so that they are already loaded.
      const quality = await dataset.qualityOf(leaf, Math.min(1, share * every) * dataset.leaves[leaf]!.particles);
      const pieces = dataset.leafPieces(
        leaf,
        { quality },
        {
          attributes,
          withoutPositions: key.attribute !== "",
          onDamage: ({ message, particles }) => post({ type: "damage", message, particles }),
        },
      );
      for await (const piece of pieces) {
        const values = key.attribute === "" ? piece.positions : piece.attributes.get(key.attribute)!;
        for (let i = 0; i < piece.count; ++i) {
          const v = toPart(numberAt(values, components, key, i));
          if (v >= 0 && v <= 1) {
            ++counts[Math.min(BINS - 1, Math.floor(v * BINS))]!;
            found.push(v);
          }
        }
      }
    } catch (error) {
      if (!isOfFile(error)) {
        throw error;
      }
      // A hole, which loading reports.
    }
  }
  found.sort((a, b) => a - b);
  const at = (part: number): number => found[Math.min(found.length - 1, Math.floor(part * found.length))] ?? part;
  return { counts, low: at(0.01), high: at(0.99) };
}

let dataset: Dataset | null = null;
let loader: Loader | null = null;
let opening = new AbortController();

type Handlers = { [Type in CallType]: (given: ArgumentsOf<Type>) => Promise<AnswerOf<Type>> };

function opened(): Dataset {
  if (dataset === null) {
    throw new Error("no dataset is open");
  }
  return dataset;
}

const handlers: Handlers = {
  async open({ source, memoryBytes }) {
    opening.abort(movedOn());
    loader?.stop();
    opening = new AbortController();
    const { signal } = opening;
    const limits = { signal, memoryBytes, cacheBytes: Math.floor(memoryBytes / 2), retries: 3, retryDelay: 200 };
    const next =
      "url" in source
        ? await Dataset.open(source.url, limits)
        : await Dataset.open(source.blob, { ...limits, name: source.name, files: source.files });
    signal.throwIfAborted();
    dataset = next;
    loader = new Loader(next);
    return factsOf(next);
  },
  histogram: ({ scale }) => histogramOf(opened(), scale),
  async particle({ batch, index }) {
    const { leaf, filePosition } = loader!.find(batch, index);
    return { leaf, filePosition, ...(await opened().particle(leaf, filePosition)) };
  },
  shown: ({ attribute }) => loader!.sum(attribute),
};

async function answer(type: CallType, call: number, given: unknown): Promise<void> {
  try {
    const handler = handlers[type] as (given: unknown) => Promise<unknown>;
    post({ type: "answer", call, answer: await handler(given) });
  } catch (error) {
    post({ type: "answer", call, problem: isAbort(error) ? { kind: "other", message: "moved on" } : problemOf(error) });
  }
}

self.onmessage = ({ data }: MessageEvent<ToWorker>): void => {
  switch (data.type) {
    case "load":
      loader?.load(data.generation, data.requested, data.view);
      break;
    case "view":
      loader?.look(data.view);
      break;
    default:
      void answer(data.type, data.call, data.arguments);
  }
};
