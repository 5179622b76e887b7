// SPDX-License-Identifier: BSD-3-Clause
// Changed files with corrected checksums: as made by an attacker, not by a failing disk.

import { low32, xxh64 } from "../../core/web/src/hash.js";

const PAGE = 4096;

export interface Record {
  readonly kind: number;
  readonly index: number;
  readonly offset: number;
  readonly bytes: number;
  /** The checksum of the record itself. */
  readonly at: number;
}

export function recordsOf(file: Uint8Array): Record[] {
  const data = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const table = Number(data.getBigUint64(48, true));
  return Array.from({ length: data.getUint32(56, true) }, (_, i) => {
    const at = table + 64 * i;
    return {
      kind: data.getUint32(at, true),
      index: data.getUint32(at + 4, true),
      offset: Number(data.getBigUint64(at + 16, true)),
      bytes: Number(data.getBigUint64(at + 24, true)),
      at,
    };
  });
}

function sums(bytes: Uint8Array): Uint8Array {
  const found = new Uint32Array(Math.ceil(bytes.length / PAGE));
  for (let i = 0; i < found.length; ++i) {
    found[i] = low32(bytes.subarray(i * PAGE, (i + 1) * PAGE));
  }
  return new Uint8Array(found.buffer);
}

/** Corrects all checksums of a file in memory. */
export function reseal(file: Uint8Array): Uint8Array {
  const data = new DataView(file.buffer, file.byteOffset, file.byteLength);
  for (const { offset, bytes, at } of recordsOf(file)) {
    let summed = file.subarray(offset, offset + bytes);
    if (data.getUint32(at + 12, true) & 1) {
      const l1 = sums(summed);
      const l2 = sums(l1);
      const place = Number(data.getBigUint64(at + 48, true));
      file.set(l2, place);
      file.set(l1, place + l2.length);
      summed = l2;
    }
    data.setBigUint64(at + 40, xxh64(summed), true);
  }
  return resealHeader(file);
}

/** Corrects the checksums of section table and header. */
export function resealHeader(file: Uint8Array): Uint8Array {
  const data = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const table = Number(data.getBigUint64(48, true));
  data.setBigUint64(80, xxh64(file.subarray(table, table + 64 * data.getUint32(56, true))), true);
  data.setBigUint64(120, xxh64(file.subarray(0, 120)), true);
  return file;
}
