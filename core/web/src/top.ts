// SPDX-License-Identifier: BSD-3-Clause
// The top file of a dataset of several leaf files: FORMAT.md section 15.

import { BatError } from "./error.js";
import type { Opened } from "./leaf.js";
import { Checker, Kind, MAX_LEAF_PARTICLES, readValue, sectionKey, viewOf } from "./schema.js";
import type { Value } from "./scalars.js";

const MAX_LEAVES = 2 ** 24;
const RECORD = 80;
const MEMORY_OF_LEAF = 768;
const MEMORY_OF_KEY = 160;

export interface LeafRecord {
  readonly particles: number;
  readonly fileBytes: bigint;
  readonly headerChecksum: bigint;
  /** The box of the particles with finite coordinates; +inf and -inf if there are none. */
  readonly lower: readonly number[];
  readonly upper: readonly number[];
  /** Whether it may contain particles with a coordinate that is not finite. */
  readonly mayBeAnywhere: boolean;
  /** Path relative to the folder of the top file. */
  readonly name: Uint8Array;
  /** Minimum, maximum and whether NaN occurs, for each key. */
  readonly keys: readonly { readonly minimum: Value; readonly maximum: Value; readonly hasNaN: boolean }[];
}

export async function readLeafRecords(opened: Opened, signal?: AbortSignal): Promise<LeafRecord[]> {
  const { sections, table, schema, header } = opened;
  const check: Checker = opened.check;
  const [bytes, tree] = (await sections.wholes(
    [table.get(sectionKey(Kind.LEAF_FILES))!, table.get(sectionKey(Kind.AGGREGATION_TREE))!],
    signal,
  )) as [Uint8Array, Uint8Array];
  check.need(bytes.length >= 8, "the size of LEAF_FILES", bytes.length, "at least 8");
  const data = viewOf(bytes);
  const count = data.getUint32(0, true);
  check.need(count >= 1 && count <= MAX_LEAVES, "leaf_count", count, `1 to ${MAX_LEAVES}`);
  check.need(data.getUint32(4, true) === 0, "reserved of LEAF_FILES", "set", 0);
  const namesAt = 8 + count * (RECORD + 24 * schema.keys.length);
  check.need(namesAt <= bytes.length, "the size of LEAF_FILES", bytes.length, `at least ${namesAt}`);
  // In memory, a leaf file's record takes more space than in the file.
  const memory = count * (MEMORY_OF_LEAF + MEMORY_OF_KEY * schema.keys.length);
  if (memory > opened.sections.file.memory) {
    const allowed = `${opened.sections.file.memory} bytes, but it would need ${memory}`;
    throw new BatError("over_budget", `${check.file}: leaf_count is ${count}; allowed is a count that needs at most ${allowed}`);
  }
  const names = new Set<string>();
  const records: LeafRecord[] = [];
  let at = namesAt;
  let total = 0n;
  for (let i = 0; i < count; ++i) {
    const record = 8 + RECORD * i;
    const thing = `leaf file ${i}`;
    const particles = data.getBigUint64(record, true);
    check.need(particles >= 1 && particles <= MAX_LEAF_PARTICLES, `${thing}: particles`, particles, `1 to ${MAX_LEAF_PARTICLES}`);
    total += particles;
    const lower = [24, 32, 40].map((field) => data.getFloat64(record + field, true));
    const upper = [48, 56, 64].map((field) => data.getFloat64(record + field, true));
    const isEmpty = lower.every((v) => v === Infinity) && upper.every((v) => v === -Infinity);
    const isBox = lower.every((v, axis) => Number.isFinite(v) && Number.isFinite(upper[axis]) && v <= upper[axis]!);
    check.need(isEmpty || isBox, `${thing}: lower and upper`, `${lower} and ${upper}`, "a finite box, or +inf and -inf");
    const nameBytes = data.getUint32(record + 72, true);
    const flags = data.getUint32(record + 76, true);
    check.need(flags < 2 && (!isEmpty || flags === 1), `${thing}: flags`, flags, isEmpty ? "1" : "bit 0");
    check.need(
      nameBytes >= 1 && at + nameBytes <= bytes.length,
      `${thing}: name_bytes`,
      nameBytes,
      "1 or more, inside the section",
    );
    const name = bytes.subarray(at, at + nameBytes);
    at += nameBytes;
    const latin = Array.from(name, (byte) => String.fromCharCode(byte)).join("");
    const isGood = !latin.includes("\0") && latin.split("/").every((part) => part !== "" && part !== "." && part !== "..");
    check.need(isGood, `${thing}: name`, JSON.stringify(latin), "parts separated by /, none empty, . or ..");
    check.need(!names.has(latin), `${thing}: name`, JSON.stringify(latin), "unique");
    names.add(latin);
    const keys = schema.keys.map(({ valueClass }, key) => {
      const place = 8 + RECORD * count + 24 * (i * schema.keys.length + key);
      const [minimum, maximum] = [readValue(data, place, valueClass), readValue(data, place + 8, valueClass)];
      const keyFlags = data.getUint32(place + 16, true);
      check.need(minimum === minimum && maximum === maximum, `${thing}: key ${key}: minimum or maximum`, "NaN", "a number");
      check.need(keyFlags < 2 && data.getUint32(place + 20, true) === 0, `${thing}: key ${key}: flags`, keyFlags, "bit 0");
      return { minimum, maximum, hasNaN: keyFlags === 1 };
    });
    records.push({
      particles: Number(particles),
      fileBytes: data.getBigUint64(record + 8, true),
      headerChecksum: data.getBigUint64(record + 16, true),
      lower,
      upper,
      mayBeAnywhere: flags === 1,
      name,
      keys,
    });
  }
  check.need(at === bytes.length, "the size of LEAF_FILES", bytes.length, at);
  check.need(total === header.particleCount, "the sum of the particles of the leaf files", total, header.particleCount);
  checkTree(check, records, tree);
  return records;
}

/** The box of a leaf file in the tree. */
export function boxOf({ lower, upper, mayBeAnywhere }: LeafRecord): readonly number[] {
  return mayBeAnywhere ? [-Infinity, -Infinity, -Infinity, Infinity, Infinity, Infinity] : [...lower, ...upper];
}

/** Checks the rules of section 9, with leaf files in place of treelets. */
function checkTree(check: Checker, records: readonly LeafRecord[], bytes: Uint8Array): void {
  const nodes = 2 * records.length - 1;
  check.need(bytes.length === 56 * nodes, "the size of AGGREGATION_TREE", bytes.length, 56 * nodes);
  const boxes = new Float64Array(bytes.buffer, bytes.byteOffset, 7 * nodes);
  const links = new Uint32Array(bytes.buffer, bytes.byteOffset, 14 * nodes);
  const skipOf = (node: number): number => links[14 * node + 13]!;
  let leaves = 0;
  for (let i = 0; i < nodes; ++i) {
    const skip = skipOf(i);
    check.need(
      skip > i && skip <= nodes && (i > 0 || skip === nodes),
      `skip of node ${i}`,
      skip,
      `above the node, at most ${nodes}`,
    );
    check.need(links[14 * i + 12] === leaves, `first_treelet of node ${i}`, links[14 * i + 12], leaves);
    const box = [...boxes.subarray(7 * i, 7 * i + 6)];
    if (skip === i + 1) {
      check.need(leaves < records.length, "the number of leaves of the tree", "more", records.length);
      const own = boxOf(records[leaves]!);
      check.need(
        own.every((v, side) => v === box[side]),
        `box of node ${i}`,
        box,
        own,
      );
      ++leaves;
      continue;
    }
    const [left, right] = [i + 1, skipOf(i + 1)];
    check.need(right < skip && skipOf(right) === skip, `skip of node ${i}`, skip, "that of its right child");
    const isUnion = box.every((v, side) => {
      const [a, b] = [boxes[7 * left + side]!, boxes[7 * right + side]!];
      return v === (side < 3 ? Math.min(a, b) : Math.max(a, b));
    });
    check.need(isUnion, `box of node ${i}`, box, "the union of its children's");
  }
  check.need(leaves === records.length, "the number of leaves of the tree", leaves, records.length);
}
