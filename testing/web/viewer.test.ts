// SPDX-License-Identifier: BSD-3-Clause
// Tests the viewer in a headless Chromium, with a server of this test, against answers of the C++ library.
// Environment: PARABAT_SOURCE, PARABAT_WORK (with data/ of make_data.py), PARABAT_PYTHON, CHROMIUM.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { open } from "../../core/web/src/index.js";
import { GOLDEN, type Answers } from "./golden.js";
import { TestServer } from "./server.js";

const WORK = process.env["PARABAT_WORK"]!;
const DATA = join(WORK, "data");
const DIST = join(WORK, "core", "web", "dist");
const PICTURES = join(WORK, "pictures");
const REFERENCES = join(process.env["PARABAT_SOURCE"]!, "testing", "web", "pictures");
const PYTHON = process.env["PARABAT_PYTHON"]!;

const HANGS = 600_000; // ms; longer than on any busy machine

interface Answer {
  count: number;
  sum: string;
}

const oracle = JSON.parse(readFileSync(join(DATA, "oracle.json"), "utf8")) as Record<"cloud" | "range" | "box" | "holes", Answer> & {
  golden: Record<string, Answers>;
} & Record<`step_${number}.bat`, Answer>;

function wholeOf(name: string): { attribute: string; all: Answer } {
  const { attribute, queries } = oracle.golden[name]!;
  const { count, sum } = queries[0]!;
  return { attribute, all: { count, sum } };
}

const server = new TestServer({ "/viewer/": DIST, "/data/": DATA, "/golden/": GOLDEN });
let browser: Browser;

before(async () => {
  mkdirSync(PICTURES, { recursive: true });
  await server.start();
  browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"]!,
    // Drawn by the CPU, so the same on any machine.
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
  });
});

after(async () => {
  await browser.close();
  await server.stop();
});

beforeEach(() => {
  for (const key of Object.keys(server.behaviour)) {
    delete server.behaviour[key as keyof typeof server.behaviour];
  }
  server.resetLog();
});

/** A page on which every error is noticed. */
async function withPage(url: string, action: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 900, height: 600 },
    colorScheme: "light",
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(HANGS);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  try {
    await page.goto(url);
    await action(page);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

function viewerOf(path: string, hash = ""): string {
  return `${server.address}/viewer/viewer.html?data=${encodeURIComponent(`${server.address}${path}`)}#${hash}`;
}

async function idle(page: Page): Promise<void> {
  await page.waitForFunction(() => window.parabat.status().isIdle);
}

/** And drawn. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => window.parabat.status().isSettled);
}

/** Waits until a change has started a new generation, and this one is complete. */
async function reloaded(page: Page, change: () => Promise<unknown>): Promise<void> {
  const before = await page.evaluate(() => window.parabat.status().generation);
  await change();
  await page.waitForFunction((old) => window.parabat.status().generation > old && window.parabat.status().isIdle, before);
}

async function shown(page: Page, attribute: string): Promise<Answer> {
  const { count, sum } = await page.evaluate((name) => window.parabat.shown(name), attribute);
  assert.equal(count, (await page.evaluate(() => window.parabat.status())).shown, "what is drawn is what is counted");
  return { count, sum: String(sum) };
}

async function notes(page: Page): Promise<string> {
  await page.waitForSelector(".note");
  return (await page.textContent("#notes"))!;
}

/** The mean difference of two pictures of the same size, 0 to 255 for each colour. */
async function difference(page: Page, a: Buffer, b: Buffer): Promise<number> {
  const urls = [a, b].map((png) => `data:image/png;base64,${png.toString("base64")}`);
  const other = await page.context().newPage(); // its policy allows this
  try {
    return await other.evaluate(async ([one, two]) => {
      const pixels = async (url: string): Promise<Uint8ClampedArray> => {
        const image = new Image();
        image.src = url;
        await image.decode();
        // Small, so that the edges of discs do not count.
        const canvas = Object.assign(document.createElement("canvas"), { width: 90, height: 60 });
        const context = canvas.getContext("2d")!;
        context.drawImage(image, 0, 0, 90, 60);
        return context.getImageData(0, 0, 90, 60).data;
      };
      const [x, y] = [await pixels(one!), await pixels(two!)];
      return x.reduce((sum, v, i) => sum + Math.abs(v - y[i]!), 0) / x.length;
    }, urls);
  } finally {
    await other.close();
  }
}

/** Compares the canvas with the reference of this name, which was checked by eye. */
async function looksLike(page: Page, name: string): Promise<void> {
  await settled(page);
  const png = await page.locator("#picture canvas").screenshot();
  writeFileSync(join(PICTURES, `${name}.png`), png);
  const reference = join(REFERENCES, `${name}.png`);
  assert.ok(existsSync(reference), `${reference} is missing; look at ${PICTURES}/${name}.png`);
  const found = await difference(page, png, readFileSync(reference));
  assert.ok(found < 6, `${name} differs from its reference by ${found.toFixed(1)} of 255; see ${PICTURES}/${name}.png`);
}

test("opens, refines up to the budget, tells what it loaded", async () => {
  await withPage(viewerOf("/data/cloud.bat"), async (page) => {
    await idle(page);
    assert.deepEqual(await shown(page, "id"), oracle.cloud);
    assert.match((await page.textContent("#readout"))!, /^60,000 of 60,000 particles · [\d.]+ MB in \d+ requests$/);
    assert.equal(await page.title(), "Clusters · ParaBAT");
    assert.ok(server.log.maxPending <= 6);
    await looksLike(page, "cloud");
  });
});

test("shows at most the budget, evenly, and finer particles where it is looked at", async () => {
  await withPage(viewerOf("/data/cloud.bat", "budget=50000"), async (page) => {
    await idle(page);
    const whole = await page.evaluate(() => window.parabat.status());
    const radius = (): Promise<number> => page.evaluate(() => window.parabat.view().radius);
    const coarse = await radius();
    assert.ok(whole.shown <= 50_000 && whole.shown > 30_000, String(whole.shown));
    await page.evaluate(() => {
      for (let i = 0; i < 8; ++i) {
        window.parabat.view().turn(0.05, 0, 1.4);
      }
    });
    await page.waitForFunction(
      (before) => window.parabat.status().isIdle && window.parabat.status().quality > before,
      whole.quality,
    );
    const near = await page.evaluate(() => window.parabat.status());
    assert.ok(near.shown <= 50_000);
    await page.evaluate(() => window.parabat.view().resetCamera());
    await page.waitForFunction((count) => window.parabat.status().isIdle && window.parabat.status().shown === count, whole.shown);
    // The fewer are shown, the larger they are; together they cover the same area as all of the
    // file.
    await reloaded(page, () => page.locator("#budget").press("End"));
    assert.deepEqual(await shown(page, "id"), oracle.cloud);
    assert.ok(Math.abs((await radius()) / coarse - Math.cbrt(whole.shown / oracle.cloud.count)) < 0.05);
  });
});

test("colours by attribute, with other maps, in light and dark", async () => {
  await withPage(viewerOf("/data/cloud.bat", "theme=light"), async (page) => {
    await idle(page);
    assert.equal(await page.locator("#colour option:checked").textContent(), "|velocity|");
    await reloaded(page, () => page.selectOption("#colour", { label: "mass (kg)" }));
    await page.selectOption("#map", { label: "magma" });
    await page.getByRole("button", { name: "Light or dark" }).click();
    assert.ok(await page.evaluate(() => document.documentElement.classList.contains("dark")));
    await looksLike(page, "mass_dark");
    await reloaded(page, () => page.selectOption("#size", { label: "mass (kg)" }));
    assert.deepEqual(await shown(page, "id"), oracle.cloud);
  });
});

test("ranges and boxes show exactly what the C++ library answers", async () => {
  await withPage(viewerOf("/data/cloud.bat"), async (page) => {
    await idle(page);
    await page.selectOption("#filter", { label: "mass (kg)" });
    await page.selectOption("#filter", { label: "id" });
    const field = (label: string) => page.getByLabel(`${label}, a number or nothing`, { exact: true });
    await reloaded(page, async () => {
      await field("Minimum mass").fill("1.5");
      await field("Minimum mass").press("Enter");
    });
    await reloaded(page, async () => {
      await field("Minimum id").fill(String(2n ** 60n + 1001n));
      await field("Minimum id").press("Enter");
      await field("Maximum id").fill(String(2n ** 60n + 30000n));
      await field("Maximum id").press("Enter");
    });
    await idle(page);
    assert.deepEqual(await shown(page, "id"), oracle.range);
    await looksLike(page, "ranges");
    // An invalid range is not applied.
    await field("Maximum mass").fill("1");
    await field("Maximum mass").press("Enter");
    assert.equal(await field("Maximum mass").getAttribute("aria-invalid"), "true");
    assert.deepEqual(await shown(page, "id"), oracle.range);
  });
  await withPage(viewerOf("/data/cloud.bat", "box=0.5,0.2,0.1,2.5,1.5,0.9"), async (page) => {
    await idle(page);
    assert.deepEqual(await shown(page, "id"), oracle.box);
    await looksLike(page, "box");
    await reloaded(page, () => page.getByLabel("Use box").uncheck());
    assert.deepEqual(await shown(page, "id"), oracle.cloud);
    // By the handle, with keys.
    await reloaded(page, () => page.getByLabel("Use box").check());
    const few = await shown(page, "");
    assert.ok(few.count < oracle.cloud.count);
    await reloaded(page, async () => {
      await page.getByLabel("Minimum x", { exact: true }).focus();
      await page.keyboard.press("Home");
    });
    assert.ok((await shown(page, "")).count > few.count);
  });
});

test("golden files show what the C++ library answers", async () => {
  await withPage(viewerOf("/data/steps.bat.series"), async (page) => {
    await idle(page);
    const opened = (name: string, hash: string): Promise<void> =>
      reloaded(page, () =>
        page.evaluate(([url, settings]) => window.parabat.open(url, settings), [
          `${server.address}/golden/${name}.bat`,
          hash,
        ] as const),
      );
    for (const [name, { attribute, queries }] of Object.entries(oracle.golden)) {
      for (const { hash, count, sum } of queries) {
        await opened(name, hash);
        assert.deepEqual(await shown(page, attribute), { count, sum }, `${name}#${hash}`);
      }
    }
  });
});

test("a series has a time slider", async () => {
  await withPage(viewerOf("/data/steps.bat.series"), async (page) => {
    await idle(page);
    assert.deepEqual(await shown(page, "id"), oracle["step_0.bat"]);
    const ends = (): Promise<string[]> =>
      page.$$eval('input[aria-label$="colours, a number or nothing"]', (all) => all.map((one) => (one as HTMLInputElement).value));
    await settled(page);
    const first = await ends();
    const slider = await page.$("#time");
    await reloaded(page, () => page.locator("#time").fill("2"));
    await settled(page);
    assert.ok(await slider!.evaluate((one) => one.isConnected), "somebody may hold it");
    assert.deepEqual(await ends(), first, "colours mean the same in each step");
    await page.getByRole("button", { name: "Fit the colours to most particles" }).click();
    await settled(page);
    assert.notDeepEqual(await ends(), first);
    assert.deepEqual(await shown(page, "id"), oracle["step_2.bat"]);
    assert.match((await page.textContent("#panel .facts"))!, /step 2 · time 1/);
    await page.locator("#play").click();
    await page.waitForFunction(() => /step=1(&|$)/.test(location.hash));
    await page.locator("#play").click();
  });
});

test("a link holds the view; a picture is saved", async () => {
  let link = "";
  let first: Buffer = Buffer.alloc(0);
  const permissions = ["clipboard-read", "clipboard-write"];
  await withPage(
    viewerOf("/data/cloud.bat", "map=plasma&filter=1;;0:mass"),
    async (page) => {
      await idle(page);
      await page.locator("#picture canvas").focus();
      for (const key of ["ArrowLeft", "ArrowLeft", "ArrowUp", "+", "+", "Shift+ArrowRight"]) {
        await page.keyboard.press(key);
      }
      await settled(page);
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save screenshot" }).click();
      await page.getByRole("button", { name: "Copy link" }).click();
      assert.match(await notes(page), /The link was copied to the clipboard/);
      link = await page.evaluate(() => navigator.clipboard.readText());
      assert.equal(new URL(link).hash, new URL(page.url()).hash, "the address holds it, too");
      await page.getByRole("button", { name: "Close this message" }).click();
      await settled(page);
      first = await page.locator("#picture canvas").screenshot();
      const saved = readFileSync(await (await download).path());
      assert.ok((await difference(page, saved, first)) < 1);
    },
    { permissions },
  );
  await withPage(link, async (page) => {
    await settled(page);
    const second = await page.locator("#picture canvas").screenshot();
    writeFileSync(join(PICTURES, "link_1.png"), first);
    writeFileSync(join(PICTURES, "link_2.png"), second);
    const found = await difference(page, first, second);
    assert.ok(found < 1, `the pictures differ by ${found.toFixed(1)} of 255`);
  });
});

test("mouse, touch and keys turn, move and zoom", async () => {
  await withPage(
    viewerOf("/data/names.bat"),
    async (page) => {
      await settled(page);
      const camera = async (): Promise<{ eye: number[]; target: number[]; distance: number }> => {
        const state = await page.evaluate(() => window.parabat.view().cameraState());
        const [eye, target] = [state.slice(0, 3), state.slice(3, 6)];
        return { eye, target, distance: Math.hypot(...eye.map((v, i) => v - target[i]!)) };
      };
      const isTurned = (a: typeof before, b: typeof before): boolean =>
        Math.abs(a.distance / b.distance - 1) < 1e-3 && Math.hypot(...a.eye.map((v, i) => v - b.eye[i]!)) > 0.05 * a.distance;
      let before = await camera();
      const after = async (what: string, isSo: (now: typeof before) => boolean): Promise<void> => {
        await settled(page);
        const now = await camera();
        assert.ok(isSo(now), `${what}: ${JSON.stringify([before, now])}`);
        before = now;
      };
      const drag = async (button: "left" | "right"): Promise<void> => {
        await page.mouse.move(250, 300);
        await page.mouse.down({ button });
        await page.mouse.move(330, 330, { steps: 4 });
        await page.mouse.up({ button });
      };
      await drag("left");
      await after("drag", (now) => isTurned(before, now) && now.target.join() === before.target.join());
      await drag("right");
      await after("drag with the right button", (now) => now.target.join() !== before.target.join());
      await page.mouse.wheel(0, -300);
      await after("wheel", (now) => now.distance < 0.95 * before.distance);
      const session = await page.context().newCDPSession(page);
      const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...points: [number, number][]): Promise<unknown> =>
        session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
      await touch("touchStart", [250, 300]);
      await touch("touchMove", [290, 320]);
      await touch("touchMove", [330, 340]);
      await touch("touchEnd");
      await after("a finger", (now) => isTurned(before, now));
      await touch("touchStart", [280, 300], [320, 300]);
      await touch("touchMove", [260, 300], [340, 300]);
      await touch("touchMove", [220, 300], [380, 300]);
      await touch("touchEnd");
      await after("two fingers", (now) => now.distance < 0.7 * before.distance);
      await page.locator("#picture canvas").press("ArrowRight");
      await after("arrow", (now) => isTurned(before, now));
      await page.locator("#picture canvas").press("r");
      await after("R", (now) => now.distance > before.distance);
      // A control selected with the keyboard is still selected after the panel is rebuilt.
      await page.locator("#colour").focus();
      await reloaded(page, () => page.locator("#colour").selectOption({ index: 2 }));
      assert.equal(await page.evaluate(() => document.activeElement?.id), "colour");
    },
    { hasTouch: true },
  );
});

test("a picked particle tells its values, exactly", async () => {
  const dataset = await open(readFileSync(join(DATA, "cloud.bat")));
  const { positions, attributes } = await dataset.read({}, { attributes: ["id"] });
  const ids = [...(attributes.get("id") as BigInt64Array)];
  await withPage(viewerOf("/data/cloud.bat"), async (page) => {
    await idle(page);
    // The picture's first particle near its middle.
    const place = await page.evaluate(() => {
      const view = window.parabat.view();
      for (let i = 0; i < 4000; ++i) {
        const [x, y] = [290 + 3 * Math.cos(i) * Math.sqrt(i), 300 + 3 * Math.sin(i) * Math.sqrt(i)];
        if (view.pick(x, y)) {
          return [x, y] as const;
        }
      }
      return null;
    });
    await page.locator("#picture canvas").click({ position: { x: place![0], y: place![1] } });
    await page.waitForSelector("#picked table");
    const rows = Object.fromEntries(
      await page.$$eval("#picked tr", (lines) =>
        lines.map((line) => [line.children[0]!.textContent!, line.children[1]!.textContent!]),
      ),
    ) as Record<string, string>;
    const index = ids.indexOf(BigInt(rows["id"]!));
    assert.ok(index >= 0, rows["id"]);
    assert.equal(rows["position"], [...positions.slice(3 * index, 3 * index + 3)].join(", "));
    await page.locator("#picture canvas").click({ position: { x: 5, y: 120 } });
    await page.waitForSelector("#picked .hint");
  });
});

/** As from a file manager: files and folders on disk. */
async function drop(page: Page, ...files: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    const data = { items: [], files, dragOperationsMask: 1 };
    await session.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data });
    if (type === "dragOver") {
      await page.waitForSelector("#dropping", { state: "visible" });
    }
  }
  await page.waitForSelector("#dropping", { state: "hidden" });
  await session.detach();
}

test("files are dropped onto a page that was opened from disk", async () => {
  await withPage(`file://${join(DIST, "viewer.html")}`, async (page) => {
    await page.waitForSelector("#empty");
    assert.ok(await page.isVisible("#choose"));
    await drop(page, join(DATA, "cloud.bat"));
    await idle(page);
    assert.deepEqual(await shown(page, "id"), oracle.cloud);
    const { attribute, all } = wholeOf("written_dataset");
    const top = join(GOLDEN, "written_dataset.bat");
    await reloaded(page, () => drop(page, top, `${top}.leaves`));
    assert.deepEqual(await shown(page, attribute), all);
    // The leaf files without their folder, too.
    await reloaded(page, () => drop(page, top, ...readdirSync(`${top}.leaves`).map((name) => join(`${top}.leaves`, name))));
    assert.deepEqual(await shown(page, attribute), all);
    await page.getByRole("button", { name: "Copy link" }).click();
    assert.match(await notes(page), /A link cannot contain files on this computer/);
  });
  // By the button, and files that are not datasets.
  await withPage(`file://${join(DIST, "viewer.html")}`, async (page) => {
    await page.setInputFiles("#files", [join(DATA, "step_1.bat"), join(DATA, "step_0.bat"), join(DATA, "step_2.bat")]);
    await idle(page);
    assert.deepEqual(await shown(page, "id"), oracle["step_0.bat"]);
    assert.equal(await page.locator("#time").getAttribute("max"), "2");
    await page.setInputFiles("#files", [join(DATA, "oracle.json")]);
    assert.match(await notes(page), /oracle\.json: contains no \.bat file/);
  });
});

test("damage is a message and a hole; a truncated file is a message", async () => {
  await withPage(viewerOf("/data/damaged.bat"), async (page) => {
    await idle(page);
    assert.match(await notes(page), /POSITIONS 0: the checksums of 1 pages.*34[123] particles are missing/);
    const { count } = await shown(page, "");
    assert.ok(count >= oracle.cloud.count - 343 && count <= oracle.cloud.count - 341, String(count));
  });
  // If one of several leaf files is missing and one is truncated, the others are shown.
  await withPage(viewerOf("/data/holes.bat"), async (page) => {
    await idle(page);
    await page.waitForFunction(() => document.querySelectorAll(".note").length === 2);
    assert.match(await notes(page), /the file does not exist on the server \(status 404\)\. [\d,]+ particles are missing/);
    assert.match(await notes(page), /the size of the file is \d+, allowed is \d+\. [\d,]+ particles are missing/);
    assert.deepEqual(await shown(page, "id"), oracle.holes);
  });
  await withPage(viewerOf("/data/truncated.bat"), async (page) => {
    assert.match(await notes(page), /the size of the file is \d+, allowed is \d+/);
  });
  await withPage(viewerOf("/data/nothing.bat"), async (page) => {
    assert.match(await notes(page), /the file does not exist on the server \(status 404\)/);
  });
});

test("a server without ranges is told what is needed; a slow one is waited for", async () => {
  server.behaviour.ignoresRanges = true;
  await withPage(viewerOf("/data/cloud.bat"), async (page) => {
    assert.match(await notes(page), /expected 206.*parabat serve/);
  });
  server.behaviour.ignoresRanges = false;
  server.behaviour.delay = 150;
  await withPage(viewerOf("/data/cloud.bat"), async (page) => {
    await settled(page);
    assert.deepEqual(await shown(page, "id"), oracle.cloud);
    // Requests that are no longer needed are not awaited.
    server.behaviour.delay = 1e8;
    server.resetLog();
    await page.selectOption("#colour", { label: "mass (kg)" });
    while (server.log.requests === 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await reloaded(page, () => page.selectOption("#colour", { label: "|velocity|" }));
    while (server.log.aborted === 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.deepEqual(await shown(page, "id"), oracle.cloud);
  });
});

test("a connection that is lost and returns", async () => {
  await withPage(viewerOf("/data/cloud.bat", "budget=50000"), async (page) => {
    await idle(page);
    server.behaviour.gone = true;
    await page.selectOption("#colour", { label: "mass (kg)" });
    assert.match(await notes(page), /the server cannot be reached.*tried 4 times/);
    assert.ok((await page.evaluate(() => window.parabat.status())).shown > 0, "what was there stays");
    delete server.behaviour.gone;
    await page.waitForFunction(() => window.parabat.status().isIdle && document.querySelector(".note") === null);
  });
});

test("what is opened while a server cannot be reached is not replaced when it returns", async () => {
  const other = new TestServer({ "/data/": DATA });
  const address = await other.start();
  Object.assign(other.behaviour, { gone: true, crossOrigin: true });
  try {
    const url = `${server.address}/viewer/viewer.html?data=${encodeURIComponent(`${address}/data/step_0.bat`)}`;
    await withPage(url, async (page) => {
      assert.match(await notes(page), /the server cannot be reached/);
      await page.evaluate((one) => window.parabat.open(one, ""), `${server.address}/data/cloud.bat`);
      await settled(page);
      delete other.behaviour.gone;
      await page.evaluate(async () => {
        dispatchEvent(new Event("online"));
        await new Promise((resolve) => setTimeout(resolve, 0));
      });
      assert.ok((await page.evaluate(() => window.parabat.status())).isIdle);
      assert.deepEqual(await shown(page, "id"), oracle.cloud);
    });
  } finally {
    await other.stop();
  }
});

test("a step without particles keeps the ranges that are set", async () => {
  await withPage(viewerOf("/data/pause.bat.series", "filter=0;;0:mass"), async (page) => {
    await idle(page);
    assert.deepEqual(await shown(page, "id"), oracle["step_0.bat"]);
    await reloaded(page, () => page.locator("#time").fill("1"));
    assert.equal((await shown(page, "")).count, 0);
    assert.equal(await page.locator('input[aria-label^="Minimum mass"]').count(), 2);
    await reloaded(page, () => page.locator("#time").fill("2"));
    assert.deepEqual(await shown(page, "id"), oracle["step_2.bat"]);
    assert.equal(await page.locator(".note").count(), 0);
  });
});

test("a series that begins without particles shows what a link asks for as soon as there are some", async () => {
  await withPage(viewerOf("/data/late.bat.series", "filter=0;;0:mass&colour=0:mass"), async (page) => {
    await idle(page);
    assert.equal((await shown(page, "")).count, 0);
    assert.equal(await page.locator('input[aria-label^="Minimum mass"]').count(), 0);
    await reloaded(page, () => page.locator("#time").fill("1"));
    assert.deepEqual(await shown(page, "id"), oracle["step_0.bat"]);
    assert.equal(await page.locator('input[aria-label^="Minimum mass"]').count(), 2);
    const colour = (): Promise<string | null> => page.locator("#colour option:checked").textContent();
    assert.match((await colour())!, /^mass/);
    // The picture is that of a series that begins with this step.
    const camera = (): Promise<string | null> => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("camera"));
    await page.waitForFunction(() => location.hash.includes("camera="));
    const found = await camera();
    await reloaded(page, () => page.locator("#time").fill("0"));
    assert.match((await colour())!, /^mass/);
    await page.selectOption("#colour", { label: (await page.locator("#colour option").allTextContents()).find((one) => one.startsWith("id"))! });
    await reloaded(page, () => page.locator("#time").fill("1"));
    assert.match((await colour())!, /^id/);
    assert.equal(await page.locator(".note").count(), 0);
    await withPage(viewerOf("/data/steps.bat.series"), async (other) => {
      await idle(other);
      await other.waitForFunction(() => location.hash.includes("camera="));
      assert.equal(await other.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("camera")), found);
    });
  });
});

test("names of a file are text, never HTML; everything has a name for screen readers", async () => {
  await withPage(viewerOf("/data/names.bat"), async (page) => {
    await idle(page);
    assert.match((await page.textContent("#panel h1"))!, /^<img src=x onerror=/);
    await page.selectOption("#filter", { index: 1 });
    await page.locator("#picture canvas").click({ position: { x: 290, y: 300 } });
    assert.equal(await page.evaluate(() => (window as { hacked?: number }).hacked), undefined);
    assert.equal(await page.locator("#panel img").count(), 0);
    const nameless = await page.$$eval("button, input, select, canvas[tabindex], summary", (all) =>
      all
        .filter((one) => {
          const labels = (one as HTMLInputElement).labels;
          const text = one.getAttribute("aria-label") ?? (labels && labels.length > 0 ? labels[0]!.textContent : one.textContent);
          return !text?.trim();
        })
        .map((one) => one.outerHTML),
    );
    assert.deepEqual(nameless, []);
  });
});

test("parabat web publishes a folder, parabat serve shows it", async () => {
  const folder = join(WORK, "published");
  rmSync(folder, { recursive: true, force: true });
  const parabat = (...words: string[]): string => execFileSync(PYTHON, ["-m", "parabat", ...words], { encoding: "utf8" });
  assert.match(parabat("web", join(DATA, "steps.bat.series"), folder, "--viewer", join(DIST, "viewer.html")), /5 files/);
  const published = new TestServer({ "/": folder });
  await published.start();
  try {
    await withPage(`${published.address}/index.html`, async (page) => {
      await idle(page);
      assert.deepEqual(await shown(page, "id"), oracle["step_0.bat"]);
    });
    // From disk it may not read neighbouring files, and explains what to do.
    await withPage(`file://${folder}/index.html`, async (page) => {
      assert.match(await notes(page), /drop them here instead/);
      assert.ok(await page.isVisible("#empty"));
      await drop(page, join(folder, "data"));
      await idle(page);
      assert.deepEqual(await shown(page, "id"), oracle["step_0.bat"]);
      assert.equal(await page.locator("#time").getAttribute("max"), "2");
      assert.equal(await page.locator(".note").count(), 0);
    });
  } finally {
    await published.stop();
  }
  assert.throws(() => parabat("web", join(DATA, "cloud.bat"), folder, "--viewer", join(DIST, "viewer.html")), /already exists/);
  const process = spawn(PYTHON, [
    "-m",
    "parabat",
    "serve",
    join(GOLDEN, "written_dataset.bat"),
    "--port",
    "0",
    "--viewer",
    join(DIST, "viewer.html"),
  ]);
  try {
    const address = await new Promise<string>((resolve) =>
      process.stdout.once("data", (text: Buffer) => resolve(String(text).trim())),
    );
    await withPage(address, async (page) => {
      await idle(page);
      assert.deepEqual(await shown(page, wholeOf("written_dataset").attribute), wholeOf("written_dataset").all);
    });
    const ended = new Promise((resolve) => process.once("exit", resolve));
    process.kill("SIGINT");
    assert.equal(await ended, 0);
  } finally {
    process.kill("SIGKILL");
  }
});
