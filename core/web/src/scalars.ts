// SPDX-License-Identifier: BSD-3-Clause
// Scalar types, their value classes, and comparisons as real numbers (FORMAT.md sections 2, 11 and 13).

import { invalidQuery } from "./error.js";

export type ScalarName = "int8" | "uint8" | "int16" | "uint16" | "int32" | "uint32" | "int64" | "uint64" | "float32" | "float64";

export type Column =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

/** The bits of values. Copies of them keep every NaN, which JavaScript numbers need not do. */
export type Words = Exclude<Column, BigInt64Array | BigUint64Array | Float32Array | Float64Array>;

export function wordsOf(values: Column): Words {
  return values.BYTES_PER_ELEMENT >= 4
    ? new Uint32Array(values.buffer, values.byteOffset, values.byteLength / 4)
    : (values as Words);
}

export type ValueClass = "i64" | "u64" | "f64";

/** A number of a value class: bigint for i64 and u64. */
export type Value = number | bigint;

export interface Scalar {
  readonly name: ScalarName;
  readonly bytes: number;
  readonly valueClass: ValueClass;
  /** A typed array over bytes that begin at a multiple of its element size. */
  over(buffer: ArrayBufferLike, at?: number, count?: number): Column;
  make(count: number): Column;
}

function scalar(
  name: ScalarName,
  valueClass: ValueClass,
  type: {
    new (count: number): Column;
    new (buffer: ArrayBufferLike, at?: number, count?: number): Column;
    BYTES_PER_ELEMENT: number;
  },
): Scalar {
  return {
    name,
    bytes: type.BYTES_PER_ELEMENT,
    valueClass,
    over: (buffer, at, count) => new type(buffer, at, count),
    make: (count) => new type(count),
  };
}

/** Indexed by code (section 2); code 0 is unused. */
export const SCALARS: readonly (Scalar | undefined)[] = [
  undefined,
  scalar("int8", "i64", Int8Array),
  scalar("uint8", "u64", Uint8Array),
  scalar("int16", "i64", Int16Array),
  scalar("uint16", "u64", Uint16Array),
  scalar("int32", "i64", Int32Array),
  scalar("uint32", "u64", Uint32Array),
  scalar("int64", "i64", BigInt64Array),
  scalar("uint64", "u64", BigUint64Array),
  scalar("float32", "f64", Float32Array),
  scalar("float64", "f64", Float64Array),
];

/** Arrays are used in place, which requires a little-endian machine. */
export function littleEndian(): boolean {
  return new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
}

/** A closed interval of a value class. */
export type Interval = readonly [Value, Value];

const LIMITS = {
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
  u64: [0n, 2n ** 64n - 1n],
} as const;

/** The next double above (1) or below (-1) a number; infinities do not move outwards. */
export function neighbour(v: number, direction: 1 | -1): number {
  if (v === 0) {
    return direction * Number.MIN_VALUE;
  }
  if (!Number.isFinite(v)) {
    return v > 0 === direction > 0 ? v : Math.sign(v) * Number.MAX_VALUE;
  }
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, v);
  bits.setBigInt64(0, bits.getBigInt64(0) + (v > 0 === direction > 0 ? 1n : -1n));
  return bits.getFloat64(0);
}

function isNaNumber(v: Value): boolean {
  return typeof v === "number" && Number.isNaN(v);
}

/**
 * [lower, upper] narrowed to values of a class, or null if it contains none (section 13). JavaScript compares a bigint
 * with a number exactly.
 */
export function closedInterval(valueClass: ValueClass, lower: Value, upper: Value): Interval | null {
  if (isNaNumber(lower) || isNaNumber(upper)) {
    throw invalidQuery("a box or range has a NaN end");
  }
  if (upper < lower) {
    throw invalidQuery(`the end ${upper} is below the start ${lower}`);
  }
  if (valueClass === "f64") {
    let [first, last] = [Number(lower), Number(upper)];
    first = first < lower ? neighbour(first, 1) : first;
    last = last > upper ? neighbour(last, -1) : last;
    return first <= last ? [first, last] : null;
  }
  const [minimum, maximum] = LIMITS[valueClass];
  if (lower > maximum || upper < minimum) {
    return null;
  }
  const first = lower <= minimum ? minimum : typeof lower === "bigint" ? lower : BigInt(Math.ceil(lower));
  const last = upper >= maximum ? maximum : typeof upper === "bigint" ? upper : BigInt(Math.floor(upper));
  return first <= last ? [first, last] : null;
}

/** The magnitude of one particle's values (section 11). */
export function magnitude(values: Column, at: number, components: number): number {
  let sum = 0;
  for (let i = 0; i < components; ++i) {
    const v = Number(values[at + i]!);
    sum = i === 0 ? v * v : sum + v * v;
  }
  return Math.sqrt(sum);
}

/**
 * Clears `matches[i]` for each particle whose key is in none of the intervals. `component` -1 is the magnitude if there
 * are several components.
 */
export function keepMatches(
  matches: Uint8Array,
  values: Column,
  components: number,
  component: number,
  intervals: readonly Interval[],
): void {
  const count = matches.length;
  if (component < 0) {
    const ends = intervals as readonly (readonly [number, number])[];
    for (let i = 0; i < count; ++i) {
      if (matches[i]) {
        const v = magnitude(values, i * components, components);
        matches[i] = ends.some(([lower, upper]) => lower <= v && v <= upper) ? 1 : 0;
      }
    }
    return;
  }
  // Small integers are compared as numbers, which is faster and equally exact: ends beyond 2^53 match none or all.
  const wide = values instanceof BigInt64Array || values instanceof BigUint64Array;
  const ends: Interval[] = wide ? [...intervals] : intervals.map(([lower, upper]) => [Number(lower), Number(upper)]);
  if (ends.length === 1) {
    const [lower, upper] = ends[0]!;
    for (let i = 0, at = component; i < count; ++i, at += components) {
      const v = values[at]!;
      if (!(lower <= v && v <= upper)) {
        matches[i] = 0;
      }
    }
    return;
  }
  ends.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
  for (let i = 0, at = component; i < count; ++i, at += components) {
    const v = values[at]!;
    let [low, high] = [0, ends.length]; // the number of intervals that begin at or below v
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]![0] <= v) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (!(low > 0 && v <= ends[low - 1]![1])) {
      matches[i] = 0;
    }
  }
}
