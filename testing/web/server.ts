// SPDX-License-Identifier: BSD-3-Clause
// A static server for tests, which can also behave badly.

import { createReadStream, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";

export interface Behaviour {
  /** Sends whole files although parts are requested. */
  ignoresRanges?: boolean;
  /** Waits this many ms before each answer. */
  delay?: number;
  /** Drops this many of the next connections, some in the middle of the body. */
  drops?: number;
  /** Ends each connection without an answer, like a missing network. */
  gone?: boolean;
  /** Answers this many of the next requests with status 503. */
  busy?: number;
  /** Lets pages of other origins read, without exposing Content-Range. */
  crossOrigin?: boolean;
}

/** The requests received. */
export interface Log {
  requests: number;
  bytes: number;
  maxPending: number;
  aborted: number;
}

export class TestServer {
  readonly behaviour: Behaviour = {};
  log: Log = { requests: 0, bytes: 0, maxPending: 0, aborted: 0 };
  private atOnce = 0;
  private readonly server: Server;

  /** Serves files below folders, each by the beginning of a path: { "/data/": "/tmp/x" }. */
  constructor(private readonly folders: Record<string, string>) {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return this.address;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  resetLog(): void {
    this.log = { requests: 0, bytes: 0, maxPending: 0, aborted: 0 };
  }

  private pathOf(url: string): string | null {
    const path = decodeURIComponent(new URL(url, "http://x").pathname);
    const start = Object.keys(this.folders).find((one) => path.startsWith(one));
    return start === undefined ? null : join(this.folders[start]!, normalize("/" + path.slice(start.length)));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = this.pathOf(request.url!);
    ++this.log.requests;
    this.log.maxPending = Math.max(this.log.maxPending, ++this.atOnce);
    response.on("close", () => {
      --this.atOnce;
      this.log.aborted += response.writableFinished ? 0 : 1;
    });
    const { behaviour } = this;
    if (behaviour.gone) {
      request.socket.destroy();
      return;
    }
    if (behaviour.delay) {
      // Connections that wait for nothing must not keep the test from ending.
      await new Promise((resolve) => setTimeout(resolve, behaviour.delay).unref());
    }
    let size: number;
    try {
      size = statSync(path!).size;
    } catch {
      response.writeHead(404).end();
      return;
    }
    if (behaviour.busy) {
      --behaviour.busy;
      response.writeHead(503).end();
      return;
    }
    const headers: Record<string, string> = {
      "Content-Type": path!.endsWith(".html") ? "text/html; charset=utf-8" : "application/octet-stream",
      ...(behaviour.crossOrigin && { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "Range" }),
    };
    if (request.method === "OPTIONS") {
      response.writeHead(204, headers).end();
      return;
    }
    const range = behaviour.ignoresRanges ? null : /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const begin = range ? Number(range[1]) : 0;
    const end = range ? Math.min(Number(range[2]) + 1, size) : size;
    if (range && begin >= size) {
      response.writeHead(416, { "Content-Range": `bytes */${size}` }).end();
      return;
    }
    headers["Content-Length"] = String(end - begin);
    if (range) {
      headers["Content-Range"] = `bytes ${begin}-${end - 1}/${size}`;
    }
    response.writeHead(range ? 206 : 200, headers);
    if (request.method === "HEAD" || begin === end) {
      response.end();
      return;
    }
    if (behaviour.drops) {
      --behaviour.drops;
      response.flushHeaders();
      createReadStream(path!, { start: begin, end: begin + Math.max(0, (end - begin) >> 1) - 1 })
        .on("data", (part) => response.write(part))
        .on("close", () => response.destroy());
      return;
    }
    this.log.bytes += end - begin;
    createReadStream(path!, { start: begin, end: end - 1 }).pipe(response);
  }
}
