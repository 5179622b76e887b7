// SPDX-License-Identifier: BSD-3-Clause
// Maps an attribute's values to shares of the range from minimum to maximum, linearly or logarithmically, and back.

/** 0 at the minimum, 1 at the maximum. Logarithmic only if some values are positive. */
export interface Axis {
  readonly minimum: number;
  readonly maximum: number;
  readonly logarithmic: boolean;
}

const MIN_SHARE_OF_MAX = 1e-6; // where the logarithm begins if the minimum is not positive

function logarithms({ minimum, maximum }: Axis): readonly [number, number] {
  return [Math.log(minimum > 0 ? minimum : maximum * MIN_SHARE_OF_MAX), Math.log(maximum)];
}

/** Converts values to shares; NaN stays NaN. */
export function partOf(axis: Axis): (v: number) => number {
  const { minimum, maximum } = axis;
  if (axis.logarithmic && maximum > 0) {
    const [low, high] = logarithms(axis);
    const length = high - low || 1;
    return (v) => (v > 0 ? (Math.log(v) - low) / length : v <= 0 ? 0 : NaN);
  }
  // Uses halves, because the difference of two doubles can be infinite.
  const length = 0.5 * maximum - 0.5 * minimum || 1;
  return (v) => (0.5 * v - 0.5 * minimum) / length;
}

/** The value at a share, with enough digits to resolve a thousandth of the axis. */
export function valueAt(axis: Axis, part: number): number {
  const { minimum, maximum } = axis;
  if (axis.logarithmic && maximum > 0) {
    const [low, high] = logarithms(axis);
    return Number(Math.exp(low + part * (high - low)).toPrecision(high - low > 1 ? 4 : 6));
  }
  const v = minimum * (1 - part) + maximum * part;
  const digits = Math.ceil(Math.log10(Math.abs(v) / (maximum - minimum))) + 4;
  return Number.isNaN(digits) ? v : Number(v.toPrecision(Math.min(Math.max(digits, 1), 17)));
}
