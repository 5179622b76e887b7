// SPDX-License-Identifier: BSD-3-Clause
// What can go wrong, in kinds that a program can tell apart.

/**
 * The kinds of FORMAT.md section 16, and those of a reader over a network:
 * `no_ranges`: the server does not answer requests for parts of a file;
 * `unreachable`: it does not answer at all, or only with errors, after all retries;
 * `over_budget`: the file asks for more memory than the reader may take;
 * `invalid_query`: section 13, last rules.
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

/** An error of a file, a server or a query; the text names file, thing, found and allowed. */
export class BatError extends Error {
  override readonly name: string = "BatError";

  constructor(
    readonly kind: ErrorKind,
    message: string,
  ) {
    super(message);
  }
}

/** Pages of a section whose checksums are wrong. Other pages of the same read are kept. */
export class DamagedPages extends BatError {
  override readonly name = "DamagedPages";

  /** `section` is the number of the section in the reader; `pages` ascend. */
  constructor(
    message: string,
    readonly section: number,
    readonly pages: readonly number[],
  ) {
    super("corrupt", message);
  }
}

/** Frames of a column in chunks that do not decode, though their checksums are right. */
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
