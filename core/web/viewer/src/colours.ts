// SPDX-License-Identifier: BSD-3-Clause
// Colour maps with evenly increasing lightness, and a diverging one.

import {
  interpolateCividis,
  interpolateInferno,
  interpolateMagma,
  interpolatePlasma,
  interpolateRdBu,
  interpolateViridis,
} from "d3-scale-chromatic";

export const COLOUR_MAPS = {
  viridis: interpolateViridis,
  cividis: interpolateCividis,
  magma: interpolateMagma,
  inferno: interpolateInferno,
  plasma: interpolatePlasma,
  "blue to red": (t: number): string => interpolateRdBu(1 - t),
} as const;

export type ColourMap = keyof typeof COLOUR_MAPS;

export function isColourMap(name: unknown): name is ColourMap {
  return typeof name === "string" && Object.hasOwn(COLOUR_MAPS, name);
}

const STEPS = 256;

/** Red, green, blue and 255 for each step from 0 to 1. */
export function colourTable(map: ColourMap): Uint8Array<ArrayBuffer> {
  const table = new Uint8Array(4 * STEPS);
  for (let i = 0; i < STEPS; ++i) {
    const text = COLOUR_MAPS[map](i / (STEPS - 1));
    const found = text.startsWith("#")
      ? text
          .slice(1)
          .match(/../g)!
          .map((digits) => parseInt(digits, 16))
      : text.match(/\d+/g)!.map(Number);
    table.set([found[0]!, found[1]!, found[2]!, 255], 4 * i);
  }
  return table;
}

/** A CSS gradient for a legend. */
export function gradient(map: ColourMap): string {
  const stops = Array.from({ length: 17 }, (_, i) => COLOUR_MAPS[map](i / 16));
  return `linear-gradient(to right, ${stops.join(", ")})`;
}
