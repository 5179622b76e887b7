// SPDX-License-Identifier: BSD-3-Clause
// Prints the viewer's figures for files, a line of JSON each: bytes and requests of pictures, whether it shows what the
// C++ library answers, and the time of a picture compared with the bare drawing of its buffers. Environment:
// PARABAT_WORK (with measured.json of make_data.py --answers), CHROMIUM. Arguments: the files.

import { openAsBlob, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { chromium, type Page } from "playwright-core";
import { open } from "../../core/web/src/index.js";
import type { Answers } from "./golden.js";
import { TestServer } from "./server.js";

const WORK = process.env["PARABAT_WORK"]!;
const MAX_BUDGET = 10_000_000;
const FRAMES = 9;

const oracle = JSON.parse(readFileSync(join(WORK, "measured.json"), "utf8")) as Record<string, Answers>;

const server = new TestServer({ "/viewer/": join(WORK, "core", "web", "dist"), "/": "/" });
await server.start();
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"]!,
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});

/** Bytes of one particle including the attribute that colours it. */
async function particleBytes(path: string, colour: string): Promise<number> {
  const dataset = await open(await openAsBlob(path), { name: basename(path) });
  const size = (type: string): number => Number(/\d+$/.exec(type)![0]) / 8;
  const attribute = dataset.attributes.find(({ name }) => name === colour);
  return 3 * size(dataset.positionType) + (attribute ? attribute.components * size(attribute.type) : 0);
}

async function picture(path: string, budget: number, action: (page: Page) => Promise<object>): Promise<object> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(0);
  server.resetLog();
  await page.goto(`${server.address}/viewer/viewer.html?data=${encodeURIComponent(path)}#budget=${budget}`);
  await page.waitForFunction(() => window.parabat.status().isSettled);
  const reported = await action(page);
  await page.close();
  return reported;
}

/** The requests, except for the page itself. */
async function traffic(path: string, page: Page): Promise<object> {
  const { shown, pictureTime } = await page.evaluate(() => window.parabat.status());
  const { bytes, requests } = await page.evaluate(() => window.parabat.traffic());
  const key = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("colour") ?? "";
  const own = await particleBytes(path, key.slice(key.indexOf(":") + 1));
  return { shown, bytes, requests, over_particles: bytes / (shown * own), ms_to_first: Math.round(pictureTime!) };
}

/** The ratio of a picture's time to that of its points drawn by bare calls, the median of pairs. */
async function frames(page: Page): Promise<object> {
  return page.evaluate((count) => {
    const view = window.parabat.view();
    const gl = view.graphics;
    const pixel = new Uint8Array(4);
    const timed = (action: () => void): number => {
      const start = performance.now();
      action();
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); // waits until it is drawn
      return performance.now() - start;
    };
    const calls: { array: WebGLVertexArrayObject; program: WebGLProgram; first: number; count: number }[] = [];
    const drawArrays = gl.drawArrays.bind(gl);
    gl.drawArrays = (mode, first, number): void => {
      if (mode === gl.POINTS && number > 1) {
        const array = gl.getParameter(gl.VERTEX_ARRAY_BINDING) as WebGLVertexArrayObject;
        calls.push({ array, program: gl.getParameter(gl.CURRENT_PROGRAM) as WebGLProgram, first, count: number });
      }
      drawArrays(mode, first, number);
    };
    view.draw();
    gl.drawArrays = drawArrays;
    const bare = (): void => {
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      for (const { array, program, first, count: number } of calls) {
        gl.useProgram(program);
        gl.bindVertexArray(array);
        drawArrays(gl.POINTS, first, number);
      }
    };
    const ratios: number[] = [];
    for (let i = 0; i < count; ++i) {
      const own = timed(() => view.draw());
      const [array, program] = [gl.getParameter(gl.VERTEX_ARRAY_BINDING), gl.getParameter(gl.CURRENT_PROGRAM)] as const;
      ratios.push(own / timed(bare));
      gl.bindVertexArray(array as WebGLVertexArrayObject);
      gl.useProgram(program as WebGLProgram);
    }
    const points = calls.reduce((sum, call) => sum + call.count, 0);
    return { points, over_bare: ratios.sort((a, b) => a - b)[count >> 1] };
  }, FRAMES);
}

/** Each answer of the C++ library, and whether the viewer shows the same. */
async function compared(path: string, { attribute, queries }: Answers): Promise<object> {
  return picture(path, MAX_BUDGET, async (page) => {
    const whole = await frames(page);
    const same: Record<string, unknown> = {};
    for (const { hash, count, sum } of queries) {
      const { generation } = await page.evaluate(() => window.parabat.status());
      await page.evaluate(([url, settings]) => window.parabat.open(url, settings), [path, `budget=${MAX_BUDGET}&${hash}`] as const);
      await page.waitForFunction((old) => window.parabat.status().generation > old && window.parabat.status().isIdle, generation);
      const found = await page.evaluate((name) => window.parabat.shown(name), attribute);
      same[hash || "all"] = found.count === count && String(found.sum) === sum ? count : { found: String(found.sum), sum };
    }
    return { whole, same };
  });
}

for (const path of process.argv.slice(2).map((name) => resolve(name))) {
  const answers = oracle[path];
  const reported = {
    file: basename(path),
    folder: dirname(path),
    first: await picture(path, 50_000, (page) => traffic(path, page)),
    million: await picture(path, 1_000_000, async (page) => ({ ...(await traffic(path, page)), ...(await frames(page)) })),
    ...(answers && answers.queries.length > 0 && (await compared(path, answers))),
  };
  console.log(JSON.stringify(reported));
}
await browser.close();
await server.stop();
