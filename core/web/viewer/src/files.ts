// SPDX-License-Identifier: BSD-3-Clause
// Files that the user drops or chooses, and which of them to open.

import { BatError, readSeries } from "../../src/index.js";
import type { Source } from "./protocol.js";

/** A step of the data that is shown. */
export interface Step {
  readonly label: string;
  readonly time: number | null;
  readonly source: Source;
}

const MAX_FILES = 200_000;
const MAX_LIST_BYTES = 64 * 1024 * 1024;

interface Dropped {
  readonly file: File | null;
  readonly entry: FileSystemEntry | null;
  /** Used if the browser provides handles: on a page opened from disk, Chromium reads folders only with them. */
  readonly handle: Promise<FileSystemHandle | null> | undefined;
}

type WithHandle = DataTransferItem & { getAsFileSystemHandle?(): Promise<FileSystemHandle | null> };

/** All files of a drop by path, including those in folders. */
export async function droppedFiles(transfer: DataTransfer): Promise<Map<string, File>> {
  // Takes all entries before the first wait, because the list is empty afterwards.
  const dropped = [...transfer.items]
    .filter(({ kind }) => kind === "file")
    .map((item: WithHandle): Dropped => {
      const handle = item.getAsFileSystemHandle?.().catch(() => null);
      return { file: item.getAsFile(), entry: item.webkitGetAsEntry(), handle };
    });
  const files = new Map<string, File>();
  for (const { file, entry, handle } of dropped) {
    if (entry?.isDirectory) {
      const folder = (await handle) ?? null;
      if (folder?.kind === "directory") {
        await walkHandle(folder as FileSystemDirectoryHandle, `${folder.name}/`, files);
      } else {
        await walkEntry(entry as FileSystemDirectoryEntry, `${entry.name}/`, files);
      }
    } else if (file !== null) {
      files.set(file.name, file);
    }
  }
  return files;
}

function needRoom(files: ReadonlyMap<string, File>): void {
  if (files.size >= MAX_FILES) {
    throw new BatError("over_budget", `more than ${MAX_FILES} files were dropped`);
  }
}

async function walkHandle(handle: FileSystemDirectoryHandle, folder: string, files: Map<string, File>): Promise<void> {
  const entries = (handle as unknown as { values(): AsyncIterable<FileSystemHandle> }).values();
  for await (const one of entries) {
    needRoom(files);
    if (one.kind === "directory") {
      await walkHandle(one as FileSystemDirectoryHandle, `${folder}${one.name}/`, files);
    } else {
      files.set(folder + one.name, await (one as FileSystemFileHandle).getFile());
    }
  }
}

async function walkEntry(entry: FileSystemDirectoryEntry, folder: string, files: Map<string, File>): Promise<void> {
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject)).catch(
      (error: unknown) => {
        throw new BatError(
          "cannot_open",
          `${folder}: the browser cannot read this folder (${(error as Error).message}); drop its files instead`,
        );
      },
    );
    if (some.length === 0) {
      return;
    }
    for (const one of some) {
      needRoom(files);
      if (one.isDirectory) {
        await walkEntry(one as FileSystemDirectoryEntry, `${folder}${one.name}/`, files);
      } else {
        const file = await new Promise<File>((resolve, reject) => (one as FileSystemFileEntry).file(resolve, reject));
        files.set(folder + one.name, file);
      }
    }
  }
}

export function chosenFiles(list: FileList): Map<string, File> {
  return new Map([...list].map((file) => [file.webkitRelativePath || file.name, file]));
}

const LEAF_NAME = /(^|\/)\d{5,}-[0-9a-f]{16}\.bat$/; // as named by writers

const NUMBERS = new Intl.Collator("en", { numeric: true });

/** The steps of the given files: those of a series' list, else all datasets in the order of their names. */
export async function stepsOf(files: ReadonlyMap<string, File>): Promise<Step[]> {
  const paths = [...files.keys()].sort(NUMBERS.compare);
  const list = paths.find((path) => path.endsWith(".series"));
  if (list !== undefined) {
    const folder = list.slice(0, list.lastIndexOf("/") + 1);
    const steps = readSeries(await textOf(files.get(list)!, list), list);
    return steps.map(({ name, time }) => {
      const path = files.has(folder + name) ? folder + name : name.slice(name.lastIndexOf("/") + 1);
      const blob = files.get(path);
      if (blob === undefined) {
        throw new BatError("not_found", `${list}: its step ${name} is missing; drop its folder as well`);
      }
      return { label: name, time, source: { blob, name: path, files } };
    });
  }
  const given = paths.filter((path) => path.endsWith(".bat") && !/\.leaves\//.test(path));
  // Leaf files dropped without their folder are not steps when their top file is also there.
  const tops = given.filter((path) => !LEAF_NAME.test(path));
  const datasets = tops.length > 0 ? tops : given;
  if (datasets.length === 0) {
    throw new BatError(
      "not_a_bat_file",
      `${paths.slice(0, 3).join(", ") || "nothing"}: contains no .bat file or .bat.series`,
    );
  }
  return datasets.map((path) => ({ label: path, time: null, source: { blob: files.get(path)!, name: path, files } }));
}

async function textOf(blob: Blob, name: string): Promise<string> {
  if (blob.size > MAX_LIST_BYTES) {
    throw new BatError("over_budget", `${name}: has ${blob.size} bytes; a list may have at most ${MAX_LIST_BYTES}`);
  }
  return blob.text();
}

/** The steps at a URL: one dataset, or those of a list. */
export async function stepsAt(address: string, base: string): Promise<Step[]> {
  let url: URL;
  try {
    url = new URL(address, base);
  } catch {
    throw new BatError("cannot_open", `${address.slice(0, 200)}: is not a valid address`);
  }
  if (url.protocol === "file:") {
    throw new BatError(
      "cannot_open",
      "a page opened from a disk cannot read the files next to it: drop them here instead",
    );
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new BatError("cannot_open", `${url.href.slice(0, 200)}: allowed are http: and https:`);
  }
  if (!url.pathname.endsWith(".series")) {
    return [{ label: nameOf(url), time: null, source: { url: url.href } }];
  }
  let response: Response;
  try {
    response = await fetch(url, { cache: "no-store" });
  } catch (error) {
    throw new BatError("unreachable", `${url.href}: ${(error as Error).message}`);
  }
  if (!response.ok) {
    throw new BatError(
      response.status === 404 ? "not_found" : "cannot_open",
      `${url.href}: the server responded with status ${response.status}`,
    );
  }
  const steps = readSeries(await textOf(await response.blob(), url.href), url.href);
  return steps.map(({ name, time }) => {
    const path = name.split("/").map(encodeURIComponent).join("/");
    return { label: name, time, source: { url: new URL(path, url).href } };
  });
}

function nameOf(url: URL): string {
  const last = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
