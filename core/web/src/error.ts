// SPDX-License-Identifier: BSD-3-Clause
// The kinds of errors that a program can distinguish.

/**
 * The kinds of FORMAT.md section 16, and those of reading over a network: `no_ranges`: the server does not answer
 * requests for parts of a file; `unreachable`: it does not answer at all, or only with errors, after all retries;
 * `over_budget`: the file requires more memory than the reader may use; `invalid_query`: see the last rules of section
 * 13.
 */
export type ErrorKind =
  | "not_found"
  | "cannot_open"
  | "not_a_bat_file"
  | "truncated"
  | "unsupported_version"
  | "corrupt"
  | "no_ranges"
  | "unreachable"
  | "over_budget"
  | "invalid_query";

/** An error in a file, server or query. The text names the file, the field, what was found and what is allowed. */
export class BatError extends Error {
  override readonly name: string = "BatError";

  constructor(
    readonly kind: ErrorKind,
    message: string,
  ) {
    super(message);
  }
}

/** Pages of a section whose checksums do not match. Other pages of the same read are kept. */
export class DamagedPages extends BatError {
  override readonly name = "DamagedPages";

  /** `section` is the reader's number of the section; `pages` ascend. */
  constructor(
    message: string,
    readonly section: number,
    readonly pages: readonly number[],
  ) {
    super("corrupt", message);
  }
}

/** Frames of a column in chunks that do not decode although their checksums match. */
export class DamagedChunk extends BatError {
  override readonly name = "DamagedChunk";

  constructor(
    message: string,
    readonly section: number,
    readonly chunk: number,
  ) {
    super("corrupt", message);
  }
}

export function invalidQuery(message: string): BatError {
  return new BatError("invalid_query", message);
}
