// SPDX-License-Identifier: BSD-3-Clause
/**
 * Reads .bat particle files by byte ranges, in browsers and in Node.js.
 *
 *     const dataset = await open("https://example.org/step.bat");
 *     const { positions, attributes } = await dataset.read({ quality: 0.01 }, { attributes: ["id"] });
 *
 * Everything that is read is verified against its checksum. 64-bit integers are bigint, exact.
 */

import { Dataset } from "./dataset.js";

export { Dataset } from "./dataset.js";
export type {
  AttributeInfo,
  KeyInfo,
  LeafInfo,
  ListCondition,
  OpenOptions,
  Piece,
  PieceOptions,
  Query,
  RangeCondition,
} from "./dataset.js";
export { BatError, type ErrorKind } from "./error.js";
export type { Damage, ReadOptions } from "./leaf.js";
export { magnitude, type Column, type ScalarName, type Value } from "./scalars.js";
export { readSeries, type Step } from "./series.js";
export { BlobSource, HttpSource, RequestQueue, type ByteSource, type Files, type Traffic } from "./source.js";

/** See Dataset.open(). */
export const open = Dataset.open;
