// SPDX-License-Identifier: BSD-3-Clause
// Builds the reader as one ES module, and the tests.
//
//   node build.mjs reader          dist/reader.js
//   node build.mjs types           dist/types, its declarations
//   node build.mjs tests           dist/tests/*.mjs

import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const tests = join(here, "..", "..", "testing", "web");

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
    execFileSync(process.execPath, [join(here, "node_modules", "typescript", "bin", "tsc"), "--project", join(here, "tsconfig.reader.json")]),
  tests: () =>
    build({
      entryPoints: readdirSync(tests)
        .filter((name) => name.endsWith(".test.ts"))
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
