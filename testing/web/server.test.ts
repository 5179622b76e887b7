// SPDX-License-Identifier: BSD-3-Clause
// The reader over a network: requests, retries, servers that behave badly, aborts.

import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { BatError, HttpSource, open } from "../../core/web/src/index.js";
import { coalesced } from "../../core/web/src/source.js";
import { GOLDEN } from "./golden.js";
import { TestServer } from "./server.js";

const folder = join(process.env["PARABAT_WORK"]!, "served");
mkdirSync(folder, { recursive: true });
const server = new TestServer({ "/golden/": GOLDEN, "/made/": folder });

before(() => server.start());
after(() => server.stop());
beforeEach(() => {
  for (const key of Object.keys(server.behaviour)) {
    delete server.behaviour[key as keyof typeof server.behaviour];
  }
  server.resetLog();
});

async function waitUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const quick = { retryDelay: 1 };

function kindOf(kind: string): (error: unknown) => boolean {
  return (error) => error instanceof BatError && error.kind === kind;
}

test("ranges are joined where a gap costs less than a request", () => {
  assert.deepEqual(
    coalesced(
      [
        [50, 60],
        [0, 10],
        [12, 20],
        [20, 20],
        [55, 58],
      ],
      2,
      100,
    ),
    [
      [0, 20],
      [50, 60],
    ],
  );
  assert.deepEqual(
    coalesced(
      [
        [0, 60],
        [60, 100],
      ],
      5,
      80,
    ),
    [
      [0, 60],
      [60, 100],
    ],
  );
});

test("a dataset over HTTP has the same particles as the file", async () => {
  const url = `${server.address}/golden/written_dataset.bat`;
  const dataset = await open(url, quick);
  const read = await dataset.read({}, { attributes: dataset.attributes.map(({ name }) => name) });
  const file = await open(readFileSync(join(GOLDEN, "written_3000.bat")));
  const served = await open(`${server.address}/golden/written_3000.bat`, quick);
  const query = { quality: 0.5, box: file.bounds.map((v, i) => (i < 3 ? v : v * 0.5)) };
  assert.deepEqual(await served.read(query), await file.read(query));
  assert.equal(read.count, Number(dataset.particleCount));
  assert.ok(server.log.maxPending <= 6);
});

test("a query that is asked again asks nothing of the server", async () => {
  const dataset = await open(`${server.address}/golden/written_3000.bat`, quick);
  await dataset.read({ quality: 0.5 });
  const { requests } = server.log;
  await dataset.read({ quality: 0.5 });
  await dataset.read({ quality: 0.2 });
  assert.equal(server.log.requests, requests);
});

test("a server that ignores ranges gets a message that says what is needed", async () => {
  server.behaviour.ignoresRanges = true;
  await assert.rejects(open(`${server.address}/golden/small.bat`, quick), (error) => {
    return kindOf("no_ranges")(error) && /status 200, expected 206/.test((error as Error).message);
  });
});

test("a missing file, and a server that is not there", async () => {
  await assert.rejects(open(`${server.address}/golden/nothing.bat`, quick), kindOf("not_found"));
  const other = new TestServer({});
  const gone = await other.start();
  await other.stop();
  await assert.rejects(open(`${gone}/x.bat`, { ...quick, retries: 1 }), kindOf("unreachable"));
});

test("what is lost on the way is asked for again", async () => {
  Object.assign(server.behaviour, { drops: 2, busy: 2 });
  const dataset = await open(`${server.address}/golden/written_3000.bat`, quick);
  server.behaviour.drops = 1;
  assert.equal((await dataset.read({})).count, 3000);
  assert.ok(dataset.traffic.retries >= 4);
  server.behaviour.busy = 99;
  const other = open(`${server.address}/golden/small.bat`, { ...quick, retries: 2 });
  await assert.rejects(other, kindOf("unreachable"));
});

test("a server of another origin that does not tell sizes", async () => {
  // As hidden by a browser: without Content-Range.
  const hidden: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const headers = new Headers(response.headers);
    headers.delete("Content-Range");
    return new Response(response.body, { status: response.status, headers });
  };
  const dataset = await open(`${server.address}/golden/written_3000.bat`, { ...quick, fetch: hidden });
  assert.equal((await dataset.read({})).count, 3000);
  // The request for the size may be lost too.
  for (const failure of ["gone", "busy"] as const) {
    let sizes = 0;
    const flaky: typeof fetch = async (input, init) => {
      if (init?.method === "HEAD" && ++sizes === 1) {
        if (failure === "gone") {
          throw new TypeError("fetch failed");
        }
        return new Response(null, { status: 503 });
      }
      return hidden(input, init);
    };
    const again = await open(`${server.address}/golden/written_3000.bat`, { ...quick, fetch: flaky });
    assert.equal((await again.read({})).count, 3000);
    assert.equal(sizes, 2);
  }
  const gone: typeof fetch = (input, init) => (init?.method === "HEAD" ? Promise.reject(new TypeError("gone")) : hidden(input, init));
  const other = open(`${server.address}/golden/written_3000.bat`, { ...quick, fetch: gone, retries: 1 });
  await assert.rejects(other, kindOf("unreachable"));
});

test("a file that changes while it is read", async () => {
  const path = join(folder, "changing.bat");
  copyFileSync(join(GOLDEN, "written_3000.bat"), path);
  const whole = readFileSync(path);
  const source = new HttpSource(new URL(`${server.address}/made/changing.bat`));
  assert.equal((await source.first(100)).size, whole.length);
  truncateSync(path, whole.length - 100);
  await assert.rejects(source.read(200, 300), kindOf("corrupt"));
  await assert.rejects(open(`${server.address}/made/changing.bat`, quick), kindOf("truncated"));
  writeFileSync(path, Buffer.concat([whole, Buffer.from([0])]));
  await assert.rejects(open(`${server.address}/made/changing.bat`, quick), kindOf("corrupt"));
});

test("an abort ends the requests, and the dataset can be asked on", async () => {
  const dataset = await open(`${server.address}/golden/written_dataset.bat`, quick);
  server.behaviour.delay = 1e8; // an answer that never comes
  const stop = new AbortController();
  const reading = dataset.read({}, { signal: stop.signal });
  setTimeout(() => stop.abort(new DOMException("moved on", "AbortError")), 20);
  await assert.rejects(reading, { name: "AbortError" });
  delete server.behaviour.delay;
  assert.equal((await dataset.read({})).count, Number(dataset.particleCount));
});

test("who gives up takes nothing from others who wait for the same", async () => {
  const dataset = await open(`${server.address}/golden/written_dataset.bat`, quick);
  const attributes = dataset.attributes.map(({ name }) => name);
  const [whole, half] = [await dataset.read({}, { attributes }), await dataset.read({ quality: 0.5 })];
  // At each stage: indexes of leaf files, their content, values.
  for (let after = 0; after < 40; after += 3) {
    const other = await open(`${server.address}/golden/written_dataset.bat`, quick);
    server.resetLog();
    const stop = new AbortController();
    const reading = other.read({}, { signal: stop.signal, attributes });
    let isOver = false;
    reading.then(() => (isOver = true)).catch(() => undefined);
    await waitUntil(() => isOver || server.log.requests >= after);
    const beside = other.read({}, { attributes });
    stop.abort(new DOMException("moved on", "AbortError"));
    const next = other.read({ quality: 0.5 });
    await reading.catch((error: Error) => assert.equal(error.name, "AbortError"));
    assert.deepEqual(await beside, whole, `after ${after} requests`);
    assert.deepEqual(await next, half, `after ${after} requests`);
  }
});
