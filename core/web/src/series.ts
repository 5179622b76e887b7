// SPDX-License-Identifier: BSD-3-Clause
// The list of a series, NAME.bat.series: the steps of a simulation, each a dataset.

import { BatError } from "./error.js";

export interface Step {
  /** The dataset's path, relative to the folder of the list. */
  readonly name: string;
  readonly time: number;
}

const MAX_STEPS = 1_000_000;

/** Parses a list. `name` is the list's name, for messages. */
export function readSeries(text: string, name: string): Step[] {
  let listed: unknown;
  try {
    listed = (JSON.parse(text) as { files?: unknown } | null)?.files;
  } catch {
    listed = null;
  }
  const isStep = (one: unknown): one is Step => {
    const { name: file, time } = (one ?? {}) as { name?: unknown; time?: unknown };
    return typeof file === "string" && file !== "" && !/\0|[\ud800-\udfff]/u.test(file) && Number.isFinite(time);
  };
  if (!Array.isArray(listed) || listed.length > MAX_STEPS || !listed.every(isStep)) {
    throw new BatError(
      "not_a_bat_file",
      `${name}: is not a series list, a JSON object with "files", each with a "name" and a finite "time"`,
    );
  }
  return listed.map(({ name: file, time }) => ({ name: file, time }));
}
