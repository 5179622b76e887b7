// SPDX-License-Identifier: BSD-3-Clause
// What the page and the worker that reads tell each other.

import type { AttributeInfo, ErrorKind, Traffic, Value } from "../../src/index.js";
import type { Axis } from "./scale.js";

/** One number of each particle: a component of an attribute, -1 the magnitude; attribute "" is the position. */
export interface KeyRef {
  readonly attribute: string;
  readonly component: number;
}

export function keyText({ attribute, component }: KeyRef): string {
  return `${component}:${attribute}`;
}

/** A key as a person reads it: `velocity[2]`, `|velocity|`, `x`. Names of hostile length are cut. */
export function keyLabel({ attribute, component }: KeyRef, components: number): string {
  if (attribute === "") {
    return component < 0 ? "distance from 0" : ["x", "y", "z"][component]!;
  }
  const name = attribute.length > 60 ? attribute.slice(0, 59) + "…" : attribute;
  return component < 0 ? `|${name}|` : components > 1 ? `${name}[${component}]` : name;
}

/** What is known of a key: from the file, without a particle. */
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
  /** Lower x, y, z, upper x, y, z; all 0 if no particle is anywhere. */
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

/** Numbers of a key from 0 at the minimum to 1 at the maximum, the same for all steps of a series. */
export interface Scale extends Axis {
  readonly key: KeyRef;
}

/** What is to be shown. A change of it begins a new generation. */
export interface Requested {
  readonly budget: number;
  readonly colour: Scale | null;
  readonly size: Scale | null;
  readonly filters: readonly Filter[];
  /** Closed, or null. */
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
  /** Particles of an even sample in each of the intervals between minimum and maximum. */
  readonly counts: readonly number[];
  /** Of a hundredth of the sample below, and above. */
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
  /** Sum of the values of an integer attribute of the particles shown, modulo 2^64. */
  readonly sum: bigint;
}

interface Call<Type extends string, Arguments, Answer> {
  readonly type: Type;
  readonly arguments: Arguments;
  readonly answer: Answer;
}

/** What the page asks, and what it gets. */
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
  /** x, y, z of each, less the centre of the bounds. */
  readonly positions: Float32Array;
  /** Scaled; NaN is `NOT_A_NUMBER`. */
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
