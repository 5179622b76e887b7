// SPDX-License-Identifier: BSD-3-Clause
// Plans which particles are loaded for a view, and in which order. Does no input or output itself.
//
// A leaf file stores coarse particles first: any quality, a share in [0, 1] of the file, is an even sample. A round
// therefore only has to choose a quality for each leaf file and read what lies between the old and the new one:
//
//   leaf A (near, large on the screen)   |=====round 1=====|=====round 2=====|....
//   leaf B (far)                         |=1=|=2=|................................
//   leaf C (out of sight)                |1|2|....................................
//
// `rounds` gives the total number of particles after each round: few for a quick first picture, then more, then twice
// as many each time. `shares` divides a total among the leaf files in proportion to `screenArea`; what a small file
// cannot use goes to the others. `nearestFirst` orders the requests. With filters the matching particles are known only
// after reading, so `nextQuality` predicts from the density found so far how far to read next.

export interface PlannedLeaf {
  readonly particles: number;
  /** Lower x, y, z, upper x, y, z; lower is above upper if nothing is finite. */
  readonly bounds: readonly number[];
}

function gap(eye: readonly number[], bounds: readonly number[]): number {
  let sum = 0;
  for (let axis = 0; axis < 3; ++axis) {
    const outside = Math.max(bounds[axis]! - eye[axis]!, eye[axis]! - bounds[axis + 3]!, 0);
    sum += outside * outside;
  }
  return Math.sqrt(sum);
}

function halfDiagonal(bounds: readonly number[]): number {
  return 0.5 * Math.hypot(...[0, 1, 2].map((axis) => Math.max(bounds[axis + 3]! - bounds[axis]!, 0)));
}

function meet(a: readonly number[], b: readonly number[]): boolean {
  return [0, 1, 2].every((axis) => a[axis]! <= b[axis + 3]! && b[axis]! <= a[axis + 3]!);
}

/** Returns roughly the share of the screen that a leaf file covers; if it is out of sight, a fiftieth of that. */
export function screenArea(leaf: PlannedLeaf, eye: readonly number[], inSight: readonly number[]): number {
  const radius = halfDiagonal(leaf.bounds);
  if (!Number.isFinite(radius) || leaf.bounds[0]! > leaf.bounds[3]!) {
    return 1e-6;
  }
  const distance = Math.max(gap(eye, leaf.bounds), radius, Number.MIN_VALUE);
  const area = Math.min(1, (radius / distance) ** 2) || 1e-6;
  return meet(leaf.bounds, inSight) ? area : area / 50;
}

/** Divides the budget by screen area; what a small leaf file cannot use goes to the others. */
export function shares(leaves: readonly PlannedLeaf[], areas: readonly number[], budget: number): number[] {
  if (budget >= leaves.reduce((sum, { particles }) => sum + particles, 0)) {
    return leaves.map(({ particles }) => particles); // rounding must not lose a particle
  }
  const share = leaves.map(() => 0);
  let open = leaves.map((_, i) => i);
  let left = budget;
  while (left >= 1 && open.length > 0) {
    const total = open.reduce((sum, i) => sum + areas[i]!, 0);
    const full = open.filter((i) => (left * areas[i]!) / total >= leaves[i]!.particles - share[i]!);
    if (full.length === 0) {
      for (const i of open) {
        share[i]! += (left * areas[i]!) / total;
      }
      break;
    }
    for (const i of full) {
      left -= leaves[i]!.particles - share[i]!;
      share[i] = leaves[i]!.particles;
    }
    open = open.filter((i) => !full.includes(i));
  }
  return share.map(Math.floor);
}

/** Returns the indices of the leaf files, nearest first. */
export function nearestFirst(leaves: readonly PlannedLeaf[], eye: readonly number[]): number[] {
  const distances = leaves.map(({ bounds }) => gap(eye, bounds) || 0);
  return leaves.map((_, i) => i).sort((a, b) => distances[a]! - distances[b]!);
}

const FIRST_PICTURE = 50_000;
const SECOND_PICTURE = 500_000;

/** Returns the number of particles shown after each round: few at first, then a good picture, then doubling. */
export function rounds(maximum: number): number[] {
  const targets: number[] = [];
  for (let target = FIRST_PICTURE; target < maximum; target = target < SECOND_PICTURE ? SECOND_PICTURE : target * 2) {
    targets.push(target);
  }
  return [...targets, maximum];
}

/**
 * Returns the quality up to which the next step reads. Up to `quality`, `matched` particles have been found; the step
 * should find `room` more, and reads at most `candidates` of the file's `particles`.
 */
export function nextQuality(quality: number, matched: number, room: number, particles: number, candidates: number): number {
  const maximum = quality + candidates / particles;
  // If nothing was found yet, a step of the same length is assumed to find at most one particle.
  const density = Math.max(matched, 1) / Math.max(quality, 1 / particles);
  return Math.min(1, maximum, quality + room / density);
}

/** Returns the intersection of two boxes, or null. */
export function common(a: readonly number[], b: readonly number[]): number[] | null {
  const lower = [0, 1, 2].map((axis) => Math.max(a[axis]!, b[axis]!));
  const upper = [3, 4, 5].map((side) => Math.min(a[side]!, b[side]!));
  return lower.every((v, axis) => v <= upper[axis]!) ? [...lower, ...upper] : null;
}

/** Returns the volume of `part` as a share of `whole`; ignores axes on which `whole` has no length. */
export function shareOfVolume(part: readonly number[], whole: readonly number[]): number {
  return [0, 1, 2].reduce((share, axis) => {
    const length = whole[axis + 3]! - whole[axis]!;
    return length > 0 ? (share * Math.max(part[axis + 3]! - part[axis]!, 0)) / length : share;
  }, 1);
}
