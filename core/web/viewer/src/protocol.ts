// SPDX-License-Identifier: BSD-3-Clause
// The messages between the page and the worker that reads.

import type { AttributeInfo, ErrorKind, Traffic, Value } from "../../src/index.js";
import type { Axis } from "./scale.js";

/** One number per particle: a component of an attribute, or -1 for the magnitude; attribute "" is the position. */
export interface KeyRef {
  readonly attribute: string;
  readonly component: number;
}

export function keyText({ attribute, component }: KeyRef): string {
  return `${component}:${attribute}`;
}

/** The displayed form of a key: `velocity[2]`, `|velocity|`, `x`. Excessively long names are truncated. */
export function keyLabel({ attribute, component }: KeyRef, components: number): string {
  if (attribute === "") {
    return component < 0 ? "distance from 0" : ["x", "y", "z"][component]!;
  }
  const name = attribute.length > 60 ? attribute.slice(0, 59) + "…" : attribute;
  return component < 0 ? `|${name}|` : components > 1 ? `${name}[${component}]` : name;
}

/** What the file says about a key, without reading particles. */
export interface KeyFacts {
  readonly key: KeyRef;
  readonly label: string;
  readonly isInteger: boolean;
  readonly minimum: Value;
  readonly maximum: Value;
}

export interface DatasetFacts {
  readonly name: string;
  readonly title: string | null;
  readonly particles: bigint;
  readonly leafFiles: number;
  readonly time: number | null;
  readonly step: bigint | null;
  /** Lower x, y, z, upper x, y, z; all 0 if there are no finite positions. */
  readonly bounds: readonly number[];
  readonly attributes: readonly AttributeInfo[];
  readonly keys: readonly KeyFacts[];
  readonly units: ReadonlyMap<string, string>;
}

export interface Filter {
  readonly key: KeyRef;
  readonly minimum: Value;
  readonly maximum: Value;
}

/** Maps a key's values to 0 at the minimum and 1 at the maximum, the same for all steps of a series. */
export interface Scale extends Axis {
  readonly key: KeyRef;
}

/** What to show. A change begins a new generation. */
export interface Requested {
  readonly budget: number;
  readonly colour: Scale | null;
  readonly size: Scale | null;
  readonly filters: readonly Filter[];
  /** Closed, or null for no limit. */
  readonly box: readonly number[] | null;
}

/** The camera's position, in the coordinates of the file. */
export interface View {
  readonly eye: readonly number[];
  /** The visible region: lower x, y, z, upper x, y, z. */
  readonly box: readonly number[];
}

export type Source =
  { readonly url: string } | { readonly blob: Blob; readonly name: string; readonly files: ReadonlyMap<string, Blob> };

export interface Problem {
  readonly kind: ErrorKind | "other";
  readonly message: string;
}

export interface Histogram {
  /** Number of particles of an even sample in each of the intervals between minimum and maximum. */
  readonly counts: readonly number[];
  /** The values below and above which a hundredth of the sample lies. */
  readonly low: number;
  readonly high: number;
}

export interface ParticleFacts {
  readonly leaf: number;
  readonly filePosition: number;
  readonly position: readonly number[];
  readonly attributes: ReadonlyMap<string, readonly Value[]>;
}

export interface Shown {
  readonly count: number;
  /** Sum of an integer attribute's values over the shown particles, modulo 2^64. */
  readonly sum: bigint;
}

interface Call<Type extends string, Arguments, Answer> {
  readonly type: Type;
  readonly arguments: Arguments;
  readonly answer: Answer;
}

/** Requests of the page, and their results. */
export type Calls =
  | Call<"open", { source: Source; memoryBytes: number }, DatasetFacts>
  | Call<"histogram", { scale: Scale }, Histogram>
  | Call<"particle", { batch: number; index: number }, ParticleFacts>
  | Call<"shown", { attribute: string }, Shown>;

export type CallType = Calls["type"];
export type ArgumentsOf<Type extends CallType> = Extract<Calls, { type: Type }>["arguments"];
export type AnswerOf<Type extends CallType> = Extract<Calls, { type: Type }>["answer"];

export type ToWorker =
  | { readonly type: CallType; readonly call: number; readonly arguments: unknown }
  | { readonly type: "load"; readonly generation: number; readonly requested: Requested; readonly view: View }
  | { readonly type: "view"; readonly view: View };

/** Particles ready to be drawn. */
export interface Batch {
  readonly batch: number;
  /** Whether the batch belongs to the visible region only. */
  readonly isOfView: boolean;
  readonly count: number;
  /** x, y, z of each particle, relative to the centre of the bounds. */
  readonly positions: Float32Array;
  /** Scaled values; NaN is `NOT_A_NUMBER`. */
  readonly colour: Float32Array | null;
  readonly size: Float32Array | null;
}

export const NOT_A_NUMBER = -1e9;

export type FromWorker =
  | { readonly type: "answer"; readonly call: number; readonly answer?: unknown; readonly problem?: Problem }
  | { readonly type: "batch"; readonly generation: number; readonly batch: Batch; readonly isFirst: boolean }
  | { readonly type: "drop"; readonly generation: number; readonly batches: readonly number[] }
  | {
      readonly type: "progress";
      readonly generation: number;
      readonly traffic: Traffic;
      /** Share of the particles that is shown in the visible region. */
      readonly quality: number;
      readonly isDone: boolean;
    }
  | { readonly type: "damage"; readonly message: string; readonly particles: number }
  | { readonly type: "problem"; readonly generation: number; readonly problem: Problem };
