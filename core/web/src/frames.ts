// SPDX-License-Identifier: BSD-3-Clause
// Frames of compressed chunks: FORMAT.md section 18.

import type { Column, ScalarName } from "./scalars.js";

/** Values of a frame: `count` times `components` of them. Throws what is wrong with the frame. */
export type FrameDecoder = (
  frame: Uint8Array,
  type: ScalarName,
  components: number,
  count: number,
) => Column | Promise<Column>;
