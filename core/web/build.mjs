// SPDX-License-Identifier: BSD-3-Clause
// Builds the reader as one ES module, the viewer as one HTML file, and the tests.
//
//   node build.mjs viewer          dist/viewer.html
//   node build.mjs reader          dist/reader.js
//   node build.mjs types           dist/types, its declarations
//   node build.mjs tests           dist/tests/*.mjs

import { build, transform } from "esbuild";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const tests = join(here, "..", "..", "testing", "web");

const viewerFolder = join(here, "viewer");

/** The licences of bundled packages, which require that they are included. */
function notices() {
  return ["three", "d3-scale-chromatic", "d3-interpolate", "d3-color", "fzstd"]
    .map((name) => `${name}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}`)
    .join("\n\n");
}

async function bundled(entry, plugins = []) {
  const { outputFiles } = await build({
    entryPoints: [join(viewerFolder, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome100", "firefox100", "safari16"],
    charset: "utf8",
    legalComments: "none",
    plugins,
  });
  return outputFiles[0].text;
}

/** The whole page in one file, so that it also works where no neighbouring file can be read. */
async function viewer() {
  const worker = await bundled("worker.ts");
  const workerText = {
    name: "worker",
    setup(build) {
      build.onResolve({ filter: /^worker:text$/ }, () => ({ path: "worker", namespace: "worker" }));
      build.onLoad({ filter: /.*/, namespace: "worker" }, () => ({ contents: worker, loader: "text" }));
    },
  };
  // A script in HTML ends at the first of these.
  const script = (await bundled("main.ts", [workerText])).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  const { code: style } = await transform(readFileSync(join(viewerFolder, "style.css"), "utf8"), { loader: "css", minify: true });
  const hash = (text) => createHash("sha256").update(text).digest("base64");
  const parts = { SCRIPT: script, STYLE: style, SCRIPT_HASH: hash(script), STYLE_HASH: hash(style) };
  const page = readFileSync(join(viewerFolder, "index.html"), "utf8")
    .replace(/@([A-Z_]+)@/g, (_, name) => parts[name])
    .replace("<head>", () => `<!--\n${notices().replaceAll("--", "- -")}\n-->\n<head>`);
  mkdirSync(join(here, "dist"), { recursive: true });
  writeFileSync(join(here, "dist", "viewer.html"), page);
}

const targets = {
  reader: () =>
    build({
      entryPoints: [join(here, "src", "index.ts")],
      outfile: join(here, "dist", "reader.js"),
      bundle: true,
      format: "esm",
      target: "es2022",
      external: ["fzstd"],
    }),
  types: () =>
    execFileSync(process.execPath, [
      join(here, "node_modules", "typescript", "bin", "tsc"),
      "--project",
      join(here, "tsconfig.reader.json"),
    ]),
  viewer,
  tests: () =>
    build({
      entryPoints: readdirSync(tests)
        .filter((name) => name.endsWith(".test.ts") || ["measure.ts", "picture.ts"].includes(name))
        .map((name) => join(tests, name)),
      outdir: join(here, "dist", "tests"),
      outExtension: { ".js": ".mjs" },
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      packages: "external",
      sourcemap: "inline",
    }),
};

for (const name of process.argv.slice(2)) {
  await targets[name]();
}
