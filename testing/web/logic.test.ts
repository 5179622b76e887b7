// SPDX-License-Identifier: BSD-3-Clause
// The viewer's decisions that need no browser: shares of a budget, steps of quality, and URLs that store a view.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readSeries } from "../../core/web/src/index.js";
import { common, nearestFirst, nextQuality, rounds, screenArea, shareOfVolume, shares } from "../../core/web/viewer/src/plan.js";
import { defaultState, fromHash, parsedValue, toHash } from "../../core/web/viewer/src/state.js";

const EVERYWHERE = [-9, -9, -9, 9, 9, 9];

function leafAt(x: number, particles: number): { particles: number; bounds: number[] } {
  return { particles, bounds: [x, 0, 0, x + 1, 1, 1] };
}

test("a budget is shared by the area on the screen, and what one cannot use goes to the others", () => {
  assert.deepEqual(shares([leafAt(0, 100), leafAt(1, 1000), leafAt(2, 1000)], [1, 1, 1], 600), [100, 250, 250]);
  assert.deepEqual(shares([leafAt(0, 100), leafAt(1, 50)], [1, 3], 1000), [100, 50]);
  assert.deepEqual(shares([leafAt(0, 1000), leafAt(1, 1000)], [1, 3], 400), [100, 300]);
  assert.deepEqual(shares([], [], 5), []);
  // All particles if the budget covers all, whatever the areas.
  for (let i = 1; i < 300; ++i) {
    const areas = [0.37 / i, 1 / (7 * i), 0.3];
    assert.deepEqual(shares([leafAt(0, 500_000)], areas.slice(0, 1), 500_000), [500_000]);
    assert.deepEqual(shares([leafAt(0, 7001), leafAt(1, 3333), leafAt(2, 1)], areas, 10_335), [7001, 3333, 1]);
  }
  // Whatever the numbers, it ends, and no share exceeds what exists, nor all together the budget.
  for (let i = 1; i < 300; ++i) {
    const leaves = Array.from({ length: i % 17 }, (_, k) => leafAt(k, 1 + ((i * 7919 + k * 104729) % 1000)));
    const areas = leaves.map((_, k) => 1e-6 + ((i * 31 + k * 17) % 11));
    const found = shares(leaves, areas, i * 13);
    assert.ok(found.every((share, k) => share >= 0 && share <= leaves[k]!.particles));
    assert.ok(found.reduce((sum, share) => sum + share, 0) <= i * 13);
  }
});

test("near leaf files come first, and those in sight count more", () => {
  const leaves = [leafAt(4, 10), leafAt(0, 10), leafAt(2, 10)];
  assert.deepEqual(nearestFirst(leaves, [-1, 0, 0]), [1, 2, 0]);
  const areas = leaves.map((leaf) => screenArea(leaf, [-1, 0.5, 0.5], EVERYWHERE));
  assert.ok(areas[1]! > areas[2]! && areas[2]! > areas[0]!);
  assert.ok(screenArea(leaves[1]!, [-1, 0.5, 0.5], [2, 2, 2, 3, 3, 3]) < 0.1 * areas[1]!);
  const nowhere = { particles: 3, bounds: [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity] };
  assert.ok(screenArea(nowhere, [0, 0, 0], EVERYWHERE) > 0);
});

test("rounds: soon a picture, then twice as many each time, and exactly the budget at the end", () => {
  assert.deepEqual(rounds(3_000_000), [50_000, 500_000, 1_000_000, 2_000_000, 3_000_000]);
  assert.deepEqual(rounds(50_000), [50_000]);
});

test("steps of quality end, find about as many as there is room for, and look at no more than allowed", () => {
  assert.equal(nextQuality(0.1, 1000, 500, 1e6, 1e9), 0.1 + 500 / 10_000);
  assert.equal(nextQuality(0, 0, 100, 100, 1e9), 1);
  assert.equal(nextQuality(0.25, 0, 1000, 1e8, 25e6), 0.5);
  let [quality, steps] = [0, 0];
  for (; quality < 1 && steps < 100; ++steps) {
    quality = nextQuality(quality, 0, 1000, 1e8, 4e6); // nothing is found
  }
  assert.ok(quality === 1 && steps <= 30, `${quality} after ${steps} steps`);
});

test("boxes", () => {
  assert.deepEqual(common([0, 0, 0, 2, 2, 2], [1, -1, 0, 3, 1, 2]), [1, 0, 0, 2, 1, 2]);
  assert.equal(common([0, 0, 0, 1, 1, 1], [2, 0, 0, 3, 1, 1]), null);
  assert.equal(shareOfVolume([0, 0, 0, 1, 1, 0], [0, 0, 0, 2, 2, 0]), 0.25);
});

test("an address holds what was set, exactly", () => {
  const state = {
    ...defaultState(),
    colour: { attribute: "a;&#:ß", component: -1 },
    colourMap: "magma" as const,
    colourRange: [0.25, 0.5] as const,
    logarithmic: true,
    size: { attribute: "", component: 2 },
    radius: 0.5,
    filters: [
      { key: { attribute: "id;x", component: 0 }, minimum: 2n ** 63n + 1n, maximum: null },
      { key: { attribute: "v", component: 1 }, minimum: -0.1, maximum: 1e300 },
    ],
    box: [0.1, -2, 6e-7, 1 / 3, 5, 3],
    budget: 2_000_000,
    step: 7,
    theme: "dark" as const,
    camera: [1, 2, 3, 4, 5, 6, 0, 0, 1],
  };
  assert.deepEqual(fromHash(`#${toHash(state)}`), state);
  assert.deepEqual(fromHash(toHash(defaultState())), defaultState());
  assert.equal(fromHash(toHash({ ...defaultState(), isPlain: true })).isPlain, true);
});

test("what makes no sense in an address is left out", () => {
  const text =
    "colour=9:x&map=constructor&range=1,0&radius=-1&filter=x;y&filter=;;5&box=3,0,0,1,1,1&budget=1e30&step=-1&theme=pink&camera=1,2";
  assert.deepEqual(fromHash(text), defaultState());
  assert.equal(parsedValue("12n"), 12n);
  assert.equal(parsedValue("1e3"), 1000);
  assert.equal(parsedValue("x"), null);
  assert.equal(parsedValue(""), null);
});

test("a list of a series has names that an address can hold", () => {
  const list = (name: string): string => JSON.stringify({ files: [{ name, time: 0 }] });
  assert.deepEqual(readSeries(list("a b#\u{1f600}.bat"), "x.series"), [{ name: "a b#\u{1f600}.bat", time: 0 }]);
  for (const name of ["", "a\0", "s\udcff.bat"]) {
    assert.throws(() => readSeries(list(name), "x.series"), /x\.series: is not a series list/);
  }
});
