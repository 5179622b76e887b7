// SPDX-License-Identifier: BSD-3-Clause
// Draws the viewer's picture for its manual: the demo's impact, cut open, with numbers next to its box and colours.
// Environment: PARABAT_WORK, CHROMIUM. Arguments: the last .bat file of testing/demo.sh, and the picture to write.

import { join, resolve } from "node:path";
import { chromium } from "playwright-core";
import { TestServer } from "./server.js";

const [path, picture] = process.argv.slice(2).map((one) => resolve(one));
const settings = new URLSearchParams({
  theme: "light",
  map: "inferno",
  range: "0,12",
  colour: "-1:velocity",
  box: "0,37,0,108,76,40",
  camera: "46,-84,60,54,50,12,0,0,1",
});

const server = new TestServer({ "/viewer/": join(process.env["PARABAT_WORK"]!, "core", "web", "dist"), "/": "/" });
await server.start();
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"]!,
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
page.setDefaultTimeout(0);
await page.goto(`${server.address}/viewer/viewer.html?data=${encodeURIComponent(path!)}#${settings.toString()}`);
await page.waitForFunction(() => window.parabat.status().isSettled);
await page.screenshot({ path: picture! });
await browser.close();
await server.stop();
