// SPDX-License-Identifier: BSD-3-Clause
// Sources of bytes: a server that answers range requests, a file dropped by the user, or memory. Independent of the
// format.

import { BatError } from "./error.js";

/** Bytes that can be read in parts, also by concurrent readers. */
export interface ByteSource {
  /** Used in messages. */
  readonly name: string;
  /** The first `count` bytes, or fewer if the file is shorter, and the size of the whole. */
  first(count: number, signal?: AbortSignal): Promise<{ bytes: Uint8Array; size: number }>;
  /**
   * Bytes `begin` to before `end`, all of which must exist (otherwise BatError `truncated`). `progress` is called with
   * the number of bytes as they arrive.
   */
  read(begin: number, end: number, signal?: AbortSignal, progress?: (bytes: number) => void): Promise<Uint8Array>;
  /** Returns the source of a file that this file names, relative to its folder. `name` is bytes. */
  beside(name: Uint8Array): ByteSource;
}

/** Applies to all sources of a dataset together. */
export interface Traffic {
  requests: number;
  bytes: number;
  retries: number;
  underWay: number;
}

/** Limits the number of concurrent requests; further ones wait in order. */
export class RequestQueue {
  readonly traffic: Traffic = { requests: 0, bytes: 0, retries: 0, underWay: 0 };
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly maximum = 6) {}

  /** Runs the task when its turn comes. A signal also ends the wait. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    while (this.traffic.underWay >= this.maximum) {
      await new Promise<void>((resolve, reject) => {
        const wake = (): void => {
          signal?.removeEventListener("abort", abort);
          resolve();
        };
        const abort = (): void => {
          this.waiting.splice(this.waiting.indexOf(wake), 1);
          reject(signal!.reason as Error);
        };
        this.waiting.push(wake);
        signal?.addEventListener("abort", abort, { once: true });
      });
    }
    if (signal?.aborted) {
      this.waiting.shift()?.(); // the next in line
      throw signal.reason;
    }
    ++this.traffic.underWay;
    try {
      return await task();
    } finally {
      --this.traffic.underWay;
      this.waiting.shift()?.();
    }
  }
}

/** A file on a web server. */
export interface HttpOptions {
  /** Replaces the global fetch(), for other credentials or headers. */
  fetch?: typeof fetch;
  queue?: RequestQueue;
  /** Number of retries of a request after temporary failures; 4. */
  retries?: number;
  /** Wait before the first retry, in ms; doubles with each further one; 250. */
  retryDelay?: number;
}

/** Waits, or throws the signal's reason. */
async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** A temporary failure: the request may succeed when it is repeated. */
class Passing extends Error {}

/** fetch() throws this error without a connection, host or cross-origin permission; the cause may be temporary. */
function lost(error: unknown): unknown {
  return error instanceof TypeError
    ? new Passing(`the server cannot be reached, or does not allow access from this page (${error.message})`)
    : error;
}

function isBusy(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

interface Part {
  bytes: Uint8Array;
  /** The size of the whole file, or -1 if the server does not report it. */
  size: number;
}

export class HttpSource implements ByteSource {
  readonly name: string;
  private readonly queue: RequestQueue;
  private size = -1;
  private tag: string | null = null;

  constructor(
    private readonly url: URL,
    private readonly options: HttpOptions = {},
  ) {
    this.name = url.href;
    this.queue = options.queue ?? new RequestQueue();
  }

  async first(count: number, signal?: AbortSignal): Promise<{ bytes: Uint8Array; size: number }> {
    const part = await this.part(0, count, signal);
    this.size = part.size >= 0 ? part.size : await this.sizeByHead(signal);
    return { bytes: part.bytes, size: this.size };
  }

  async read(begin: number, end: number, signal?: AbortSignal, progress?: (bytes: number) => void): Promise<Uint8Array> {
    if (begin === end) {
      return new Uint8Array(0);
    }
    const part = await this.part(begin, end, signal, progress);
    if (part.bytes.length !== end - begin) {
      throw new BatError(
        "truncated",
        `${this.name}: requested bytes ${begin} to ${end - 1}, but received ${part.bytes.length} of ${end - begin}`,
      );
    }
    return part.bytes;
  }

  beside(name: Uint8Array): ByteSource {
    // Names are bytes as in the server's file system; those that are special in a URL are escaped.
    const escaped = Array.from(name, (byte) => {
      const letter = String.fromCharCode(byte);
      return /[A-Za-z0-9._~/-]/.test(letter) ? letter : "%" + byte.toString(16).toUpperCase().padStart(2, "0");
    }).join("");
    return new HttpSource(new URL("./" + escaped, this.url), { ...this.options, queue: this.queue });
  }

  private async part(begin: number, end: number, signal?: AbortSignal, progress?: (bytes: number) => void): Promise<Part> {
    return this.again(async () => {
      let seen_share = 0;
      try {
        return await this.once(begin, end, signal, (bytes) => {
          seen_share += bytes;
          progress?.(bytes);
        });
      } catch (error) {
        if (error instanceof Passing) {
          progress?.(-seen_share);
        }
        throw error;
      }
    }, signal);
  }

  /** Runs a request when its turn comes, and repeats it after temporary failures. */
  private async again<Type>(request: () => Promise<Type>, signal?: AbortSignal): Promise<Type> {
    const retries = this.options.retries ?? 4;
    for (let attempt = 0; ; ++attempt) {
      try {
        return await this.queue.run(request, signal);
      } catch (error) {
        if (!(error instanceof Passing)) {
          throw error;
        }
        if (attempt >= retries) {
          throw new BatError("unreachable", `${this.name}: ${error.message}; tried ${attempt + 1} times`);
        }
      }
      ++this.queue.traffic.retries;
      await pause((this.options.retryDelay ?? 250) * 2 ** attempt, signal);
    }
  }

  private async once(
    begin: number,
    end: number,
    signal: AbortSignal | undefined,
    progress: (bytes: number) => void,
  ): Promise<Part> {
    const stop = new AbortController();
    const abort = (): void => stop.abort(signal!.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      ++this.queue.traffic.requests;
      const get = this.options.fetch ?? fetch;
      const response = await get(this.url, {
        headers: { Range: `bytes=${begin}-${end - 1}` },
        signal: stop.signal,
        cache: "no-store", // the reader caches what is worth keeping
      });
      if (response.status !== 206) {
        stop.abort();
        return this.refused(response, begin);
      }
      this.checkTag(response);
      return { bytes: await this.body(response, end - begin, progress), size: this.checkRange(response, begin) };
    } catch (error) {
      signal?.throwIfAborted();
      throw lost(error);
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Reads the body, but no more than was requested, whatever the server sends. */
  private async body(response: Response, maximum: number, progress: (bytes: number) => void): Promise<Uint8Array> {
    const bytes = new Uint8Array(maximum);
    let at = 0;
    const stream = response.body?.getReader();
    for (; stream;) {
      const { done, value } = await stream.read();
      if (done) {
        break;
      }
      if (at + value.length > maximum) {
        await stream.cancel();
        throw new BatError("no_ranges", `${this.name}: the server sent more than the requested ${maximum} bytes`);
      }
      bytes.set(value, at);
      at += value.length;
      this.queue.traffic.bytes += value.length;
      progress(value.length);
    }
    return bytes.subarray(0, at);
  }

  private refused(response: Response, begin: number): Part {
    const { status } = response;
    if (status === 416 && begin === 0) {
      return { bytes: new Uint8Array(0), size: 0 };
    }
    if (status === 404 || status === 410) {
      throw new BatError("not_found", `${this.name}: the file does not exist on the server (status ${status})`);
    }
    if (isBusy(status)) {
      throw new Passing(`the server responded with status ${status}`);
    }
    if (status >= 200 && status < 300) {
      throw new BatError(
        "no_ranges",
        `${this.name}: the server sent the whole file instead of the requested range (status ${status}, expected 206). Use a server that supports byte ranges, such as nginx, GitHub Pages, S3 or 'parabat serve'`,
      );
    }
    throw new BatError("cannot_open", `${this.name}: the server responded with status ${status}, expected 206`);
  }

  private checkRange(response: Response, begin: number): number {
    const range = response.headers.get("Content-Range");
    const found = range === null ? null : /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(range);
    if (range === null || found?.[2] === "*") {
      return -1; // not reported, or hidden from pages of other origins
    }
    if (!found || Number(found[1]) !== begin) {
      throw new BatError("no_ranges", `${this.name}: the server sent the range '${range}' instead of one starting at ${begin}`);
    }
    const size = Number(found[2]);
    if (!Number.isSafeInteger(size)) {
      throw new BatError("cannot_open", `${this.name}: the file has ${found[2]} bytes; allowed: at most 2^53 - 1`);
    }
    if (this.size >= 0 && size !== this.size) {
      throw new BatError("corrupt", `${this.name}: changed on the server: its size is ${size} bytes, previously ${this.size}`);
    }
    return size;
  }

  private checkTag(response: Response): void {
    const tag = response.headers.get("ETag");
    if (this.tag !== null && tag !== null && tag !== this.tag) {
      throw new BatError("corrupt", `${this.name}: changed on the server: its tag is ${tag}, previously ${this.tag}`);
    }
    this.tag ??= tag;
  }

  /** Pages of other origins can always read Content-Length, but Content-Range only if the server allows it. */
  private async sizeByHead(signal?: AbortSignal): Promise<number> {
    const response = await this.again(async () => {
      ++this.queue.traffic.requests;
      const get = this.options.fetch ?? fetch;
      const found = await get(this.url, { method: "HEAD", signal: signal ?? null, cache: "no-store" }).catch((error: unknown) => {
        throw lost(error);
      });
      if (isBusy(found.status)) {
        throw new Passing(`the server responded with status ${found.status}`);
      }
      return found;
    }, signal);
    const size = Number(response.headers.get("Content-Length") ?? NaN);
    if (!response.ok || !Number.isSafeInteger(size)) {
      throw new BatError(
        "no_ranges",
        `${this.name}: the server does not report the size of the file. Configure it to send the header 'Access-Control-Expose-Headers: Content-Range'`,
      );
    }
    return size;
  }
}

/** Files dropped by the user, by path. */
export type Files = ReadonlyMap<string, Blob>;

export class BlobSource implements ByteSource {
  /** `path` is the file's own path in `files`, where the leaf files are looked up. */
  constructor(
    private readonly blob: Blob,
    readonly name: string,
    private readonly files: Files = new Map(),
    private readonly path = name,
    private readonly queue = new RequestQueue(),
  ) {}

  async first(count: number, signal?: AbortSignal): Promise<{ bytes: Uint8Array; size: number }> {
    return { bytes: await this.read(0, Math.min(count, this.blob.size), signal), size: this.blob.size };
  }

  async read(begin: number, end: number, signal?: AbortSignal, progress?: (bytes: number) => void): Promise<Uint8Array> {
    const bytes = await this.queue.run(async () => {
      ++this.queue.traffic.requests;
      try {
        return new Uint8Array(await this.blob.slice(begin, end).arrayBuffer());
      } catch (error) {
        throw new BatError("cannot_open", `${this.name}: can no longer be read (${String(error)})`);
      }
    }, signal);
    signal?.throwIfAborted();
    if (bytes.length !== end - begin) {
      throw new BatError(
        "truncated",
        `${this.name}: requested bytes ${begin} to ${end - 1}, but the file has ${this.blob.size}`,
      );
    }
    this.queue.traffic.bytes += bytes.length;
    progress?.(bytes.length);
    return bytes;
  }

  beside(name: Uint8Array): ByteSource {
    const text = new TextDecoder().decode(name);
    const path = this.path.includes("/") ? this.path.slice(0, this.path.lastIndexOf("/") + 1) + text : text;
    // The user may have dropped the leaf files without their folder.
    const blob = this.files.get(path) ?? this.files.get(text.slice(text.lastIndexOf("/") + 1));
    if (!blob) {
      throw new BatError("not_found", `${this.name}: its leaf file ${text} is missing; drop its folder as well`);
    }
    return new BlobSource(blob, text, this.files, path, this.queue);
  }
}

/** Joins ranges with gaps of at most `gap` bytes, up to `maximum` bytes each, in ascending order. */
export function coalesced(ranges: readonly (readonly [number, number])[], gap: number, maximum: number): [number, number][] {
  const sorted = ranges.filter(([begin, end]) => begin < end).sort((a, b) => a[0] - b[0]);
  const joined: [number, number][] = [];
  for (const [begin, end] of sorted) {
    const last = joined[joined.length - 1];
    if (last && begin <= last[1] + gap && Math.max(end, last[1]) - last[0] <= maximum) {
      last[1] = Math.max(last[1], end);
    } else {
      joined.push([begin, end]);
    }
  }
  return joined;
}
