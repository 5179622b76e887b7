// SPDX-License-Identifier: BSD-3-Clause
// The content of golden files, from the JSON next to them, and answers of the C++ library.

import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Column, Query, Value } from "../../core/web/src/index.js";

export const GOLDEN = join(process.env["PARABAT_SOURCE"]!, "testing", "particles", "golden", "v1");

export interface Content {
  particle_count: number;
  time: string | null;
  step: number | string | null;
  metadata: unknown;
  position_type: string;
  positions: string[][];
  attributes: { name: string; type: string; components: number; values: (unknown | unknown[])[] }[];
}

/** JSON.parse without rounding integers: those with more digits than a number represents become
 * text. */
export function readContent(path: string): Content {
  return JSON.parse(readFileSync(path, "utf8").replace(/^("step": )?(-?\d{16,})(,?)$/gm, '$1"$2"$3')) as Content;
}

export function goldenNames(): string[] {
  return readdirSync(GOLDEN)
    .filter((name) => name.endsWith(".bat"))
    .map((name) => name.slice(0, -4));
}

/** A file and those in the folder of its leaf files, as a user drops them. */
export async function dropped(path: string): Promise<{ blob: Blob; name: string; files: Map<string, Blob> }> {
  const files = new Map<string, Blob>();
  const name = basename(path);
  const folder = name + ".leaves";
  try {
    for (const leaf of readdirSync(join(dirname(path), folder))) {
      files.set(`${folder}/${leaf}`, new Blob([readFileSync(join(dirname(path), folder, leaf))]));
    }
  } catch {
    // one leaf file
  }
  return { blob: new Blob([readFileSync(path)]), name, files };
}

/** Values as in the JSON: floating-point numbers as bit patterns, integers as text. */
export function shown(values: Column): string[] {
  if (values instanceof Float32Array) {
    return [...new Uint32Array(values.buffer, values.byteOffset, values.length)].map((bits) =>
      bits.toString(16).padStart(8, "0"),
    );
  }
  if (values instanceof Float64Array) {
    return [...new BigUint64Array(values.buffer, values.byteOffset, values.length)].map((bits) =>
      bits.toString(16).padStart(16, "0"),
    );
  }
  return Array.from(values as ArrayLike<Value>, String);
}

type End = { int?: string; float?: string } | null;

function numberOf(end: End): Value | undefined {
  if (end === null) {
    return undefined;
  }
  if (end.int !== undefined) {
    return BigInt(end.int);
  }
  return Buffer.from(end.float!, "hex").readDoubleBE();
}

/** From make_data.py: queries as in the viewer's URL, the number of matches, and the sum of an integer attribute over
 * them. */
export interface Answers {
  attribute: string;
  queries: { hash: string; count: number; sum: string }[];
}

export interface Answer {
  query: Query;
  count: number;
  hash: string;
}

interface Stored {
  query: {
    quality?: number;
    afterQuality?: number;
    halfOpen?: boolean;
    part?: number;
    parts?: number;
    box?: End[];
    ranges: { attribute: string; component: number | null; minimum: End; maximum: End }[];
    lists: { attribute: string; values: End[] }[];
  };
  count: number;
  hash: string;
}

/** Answers of the C++ library, by path of the file. */
export function readOracle(path: string): [string, Answer[]][] {
  const stored = JSON.parse(readFileSync(path, "utf8")) as Record<string, Stored[]>;
  return Object.entries(stored).map(([file, answers]) => [
    file,
    answers.map(({ query, count, hash }) => ({
      query: {
        ...query,
        box: query.box?.map((end) => numberOf(end) as number),
        ranges: query.ranges.map(({ attribute, component, minimum, maximum }) => ({
          attribute,
          component: component ?? undefined,
          minimum: numberOf(minimum),
          maximum: numberOf(maximum),
        })),
        lists: query.lists.map(({ attribute, values }) => ({ attribute, values: values.map((end) => numberOf(end)!) })),
      },
      count,
      hash,
    })),
  ]);
}
