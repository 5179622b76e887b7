// SPDX-License-Identifier: BSD-3-Clause
// The user's settings, and their text in the URL, so that a link restores the view.

import type { Value } from "../../src/index.js";
import { isColourMap, type ColourMap } from "./colours.js";
import { keyText, type KeyRef } from "./protocol.js";

export interface FilterState {
  readonly key: KeyRef;
  /** Absent: no limit. */
  readonly minimum: Value | null;
  readonly maximum: Value | null;
}

export interface State {
  colour: KeyRef | null;
  /** Whether a single colour was chosen; otherwise an attribute is chosen once the file is known. */
  isPlain: boolean;
  colourMap: ColourMap;
  /** Values at the ends of the colour map; null: those that cover most particles, once known. */
  colourRange: readonly [number, number] | null;
  logarithmic: boolean;
  size: KeyRef | null;
  /** Radius of the discs; 1 suits the density. */
  radius: number;
  filters: readonly FilterState[];
  box: readonly number[] | null;
  budget: number;
  step: number;
  theme: "light" | "dark" | null;
  /** Eye, target and up, in the coordinates of the file. */
  camera: readonly number[] | null;
}

export const MIN_BUDGET = 50_000;
export const MAX_BUDGET = 10_000_000;

export function defaultState(): State {
  return {
    colour: null,
    isPlain: false,
    colourMap: "viridis",
    colourRange: null,
    logarithmic: false,
    size: null,
    radius: 1,
    filters: [],
    box: null,
    budget: 1_000_000,
    step: 0,
    theme: null,
    camera: null,
  };
}

export function valueText(v: Value | null): string {
  return v === null ? "" : typeof v === "bigint" ? `${v}n` : String(v);
}

/** A number, or an exact integer if followed by n; null if it is neither. */
export function parsedValue(text: string): Value | null {
  const trimmed = text.trim();
  if (/^[-+]?\d{1,20}n$/.test(trimmed)) {
    return BigInt(trimmed.slice(0, -1).replace("+", ""));
  }
  const v = trimmed === "" ? NaN : Number(trimmed);
  return Number.isNaN(v) ? null : v;
}

function parsedKey(text: string | null): KeyRef | null {
  const found = text === null ? null : /^(-1|[0-8]):(.*)$/s.exec(text);
  return found ? { component: Number(found[1]), attribute: found[2]! } : null;
}

function parsedNumbers(text: string | null, count: number): number[] | null {
  const numbers = (text ?? "").split(",").map(Number);
  return text !== null && numbers.length === count && numbers.every((v) => Number.isFinite(v)) ? numbers : null;
}

/** The part of a URL after #. */
export function toHash(state: State): string {
  const parts = new URLSearchParams();
  const base = defaultState();
  if (state.colour !== null || state.isPlain) {
    parts.set("colour", state.colour === null ? "none" : keyText(state.colour));
  }
  if (state.colourMap !== base.colourMap) {
    parts.set("map", state.colourMap);
  }
  if (state.colourRange !== null) {
    parts.set("range", state.colourRange.join(","));
  }
  if (state.logarithmic) {
    parts.set("log", "1");
  }
  if (state.size !== null) {
    parts.set("size", keyText(state.size));
  }
  if (state.radius !== base.radius) {
    parts.set("radius", String(state.radius));
  }
  for (const { key, minimum, maximum } of state.filters) {
    parts.append("filter", `${valueText(minimum)};${valueText(maximum)};${keyText(key)}`);
  }
  if (state.box !== null) {
    parts.set("box", state.box.join(","));
  }
  if (state.budget !== base.budget) {
    parts.set("budget", String(state.budget));
  }
  if (state.step > 0) {
    parts.set("step", String(state.step));
  }
  if (state.theme !== null) {
    parts.set("theme", state.theme);
  }
  if (state.camera !== null) {
    parts.set("camera", state.camera.map((v) => Number(v.toPrecision(12))).join(","));
  }
  return parts.toString();
}

/** Parses untrusted text: ignores invalid parts. */
export function fromHash(hash: string): State {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const state = defaultState();
  state.colour = parsedKey(parts.get("colour"));
  state.isPlain = parts.get("colour") === "none";
  const map = parts.get("map");
  state.colourMap = isColourMap(map) ? map : state.colourMap;
  const range = parsedNumbers(parts.get("range"), 2);
  state.colourRange = range && range[0]! < range[1]! ? [range[0]!, range[1]!] : null;
  state.logarithmic = parts.get("log") === "1";
  state.size = parsedKey(parts.get("size"));
  const radius = Number(parts.get("radius") ?? NaN);
  state.radius = radius >= 0.05 && radius <= 20 ? radius : 1;
  state.filters = parts
    .getAll("filter")
    .slice(0, 20)
    .flatMap((text): FilterState[] => {
      const found = /^([^;]*);([^;]*);(.*)$/s.exec(text);
      const key = parsedKey(found?.[3] ?? null);
      return found && key ? [{ key, minimum: parsedValue(found[1]!), maximum: parsedValue(found[2]!) }] : [];
    });
  const box = parsedNumbers(parts.get("box"), 6);
  state.box = box && [0, 1, 2].every((axis) => box[axis]! <= box[axis + 3]!) ? box : null;
  const budget = Number(parts.get("budget") ?? NaN);
  state.budget = budget >= MIN_BUDGET && budget <= MAX_BUDGET ? Math.floor(budget) : state.budget;
  const step = Number(parts.get("step") ?? NaN);
  state.step = Number.isInteger(step) && step > 0 ? step : 0;
  const theme = parts.get("theme");
  state.theme = theme === "light" || theme === "dark" ? theme : null;
  state.camera = parsedNumbers(parts.get("camera"), 9);
  return state;
}
