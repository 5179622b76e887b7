// SPDX-License-Identifier: BSD-3-Clause
// @parabat/reader as a package: the output of npm pack is installed elsewhere, compiled with its declarations,
// and used.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { GOLDEN } from "./golden.js";

const WORK = process.env["PARABAT_WORK"]!;
const WEB = join(WORK, "core", "web");

const PROGRAM = `
import { readFileSync } from "node:fs";
import { BatError, open, type Column, type Dataset } from "@parabat/reader";

const dataset: Dataset = await open(readFileSync(process.argv[2]!));
const controller = new AbortController();
const { count, attributes } = await dataset.read(
  { quality: 1, ranges: [{ attribute: "id", minimum: 0n }] },
  { attributes: ["id"], signal: controller.signal },
);
const ids: Column = attributes.get("id")!;
console.log(count, ids.length, dataset.particleCount === BigInt(count));
controller.abort();
const aborted: string = await dataset.read({}, { signal: controller.signal }).then(() => "read", (error: Error) => error.name);
const refused: unknown = await dataset.read({ quality: 2 }).catch((error: unknown) => error);
console.log(aborted, refused instanceof BatError && refused.kind);
`;

test("the package has the module and its declarations, and no more", () => {
  const folder = join(WORK, "package");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "node_modules", "@parabat"), { recursive: true });
  const npm = (...words: string[]): string => execFileSync("npm", words, { cwd: WEB, encoding: "utf8" });
  const [packed] = JSON.parse(npm("pack", "--ignore-scripts", "--json", "--pack-destination", folder)) as [
    { filename: string; files: { path: string }[] },
  ];
  const names = packed.files.map(({ path }) => path);
  assert.deepEqual(
    names.filter((name) => !name.startsWith("dist/types/")).sort(),
    ["README.md", "dist/reader.js", "package.json"],
  );
  assert.ok(names.includes("dist/types/index.d.ts"));
  execFileSync("tar", ["-xf", join(folder, packed.filename.replace("@", "").replace("/", "-")), "-C", folder]);
  const installed = join(folder, "node_modules", "@parabat", "reader");
  cpSync(join(folder, "package"), installed, { recursive: true });
  // Its only dependency, and the packages that compile the program.
  symlinkSync(join(WEB, "node_modules", "fzstd"), join(folder, "node_modules", "fzstd"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "use.ts"), PROGRAM);
  const tsc = join(WEB, "node_modules", "typescript", "bin", "tsc");
  const options = "--strict --target es2022 --module nodenext --lib es2022,dom --types node";
  const types = ["--typeRoots", join(WEB, "node_modules", "@types")];
  execFileSync(process.execPath, [tsc, ...options.split(" "), ...types, "use.ts"], { cwd: folder, stdio: "inherit" });
  const reported = execFileSync(process.execPath, ["use.js", join(GOLDEN, "written_3000.bat")], { cwd: folder, encoding: "utf8" });
  assert.equal(reported, "3000 3000 true\nAbortError invalid_query\n");
});
