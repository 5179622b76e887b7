// SPDX-License-Identifier: BSD-3-Clause
// Compares the reader with golden files and the C++ library's answers, and tests damage. Environment:
// PARABAT_SOURCE, the root of the repository; PARABAT_ORACLE, the output of make_oracle.py.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { decodeFrame } from "../../core/web/src/frames.js";
import { low32, xxh3, xxh64 } from "../../core/web/src/hash.js";
import { BatError, open, type Damage, type Dataset } from "../../core/web/src/index.js";
import { Cache, FileBytes } from "../../core/web/src/pages.js";
import { SCALARS, closedInterval } from "../../core/web/src/scalars.js";
import { Kind } from "../../core/web/src/schema.js";
import type { ByteSource } from "../../core/web/src/source.js";
import { recordsOf, reseal, resealHeader } from "./reseal.js";
import { GOLDEN, dropped, goldenNames, readContent, readOracle, shown } from "./golden.js";

function bytesOf(values: ArrayBufferView): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

async function openPath(path: string): Promise<Dataset> {
  const { blob, name, files } = await dropped(path);
  return open(blob, { name, files });
}

async function openBytes(bytes: Uint8Array): Promise<Dataset> {
  return open(bytes);
}

function kindOf(kind: string): (error: unknown) => boolean {
  return (error) => error instanceof BatError && error.kind === kind;
}

test("a dataset without particles takes attributes that it lacks for empty", async () => {
  const dataset = await openPath(join(GOLDEN, "empty.bat"));
  assert.equal(dataset.particleCount, 0n);
  const query = { ranges: [{ attribute: "nothing", component: 2, minimum: 0, maximum: 1 }], lists: [{ attribute: "none", values: [1n] }] };
  const { count, attributes } = await dataset.read(query, { attributes: ["nothing", ...dataset.attributes.map(({ name }) => name)] });
  assert.equal(count, 0);
  assert.deepEqual([...attributes.keys()], ["nothing", ...dataset.attributes.map(({ name }) => name)]);
  assert.equal(attributes.get("nothing")!.length, 0);
  assert.deepEqual(await dataset.leafEstimate(0, query), { atLeast: 0, atMost: 0 });
  await assert.rejects(dataset.read({ ranges: [{ attribute: "nothing", minimum: 2, maximum: 1 }] }), kindOf("invalid_query"));
  const full = await openPath(join(GOLDEN, "small.bat"));
  await assert.rejects(full.read({}, { attributes: ["nothing"] }), kindOf("invalid_query"));
});

test("hashes are those of xxHash", () => {
  const text = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 131 + 7) & 255);
  // Length, XXH64 and XXH3, from Python's xxhash.
  const known: [number, bigint, bigint][] = [
    [0, 0xef46db3751d8e999n, 0x2d06800538d394c2n],
    [1, 0xa96c7f0ce858bbb7n, 0x4c5cca45d0f4811fn],
    [3, 0xbed43740ee6332bbn, 0x6e3e2670e61106acn],
    [4, 0xfa212ae44b3bb23dn, 0x5c4c63133443d03fn],
    [8, 0x994b676b71ce94ddn, 0xf9fd4dd0b04d78f5n],
    [9, 0x572b84c18b983af8n, 0x7c20df9712c26edfn],
    [16, 0x94ad0095e72b24d5n, 0x86abf6baccea0858n],
    [17, 0x1464f2eff23b5fe1n, 0xb58bf5dc5022d071n],
    [31, 0x6711d55e306b5d8fn, 0x48442fcd5518b086n],
    [32, 0x07f7b8e3bc5d6e25n, 0xe3712ed84c04a66en],
    [33, 0x09f85eeb4e1cbe9fn, 0xa4dee99b093e1f73n],
    [128, 0x0430e433b792e757n, 0x10d17f72c0ccba41n],
    [129, 0x1f9708e5a00618fan, 0x1648bdc3db49d1a2n],
    [240, 0xca0b65cc61295ca7n, 0xb6cfaf343fab81e6n],
    [241, 0x0ffefe0dfc875cf4n, 0x956cae592c67279en],
    [1000, 0x0bf0bdbcc82eb373n, 0x571d5cbfef44331bn],
    [1024, 0x5960af0c625acfb7n, 0x70bd377d9574f4bbn],
    [1025, 0xdbd366621190a655n, 0x66c4487c41e127a7n],
    [4096, 0xcf05adf75aca30cfn, 0x9ddd66c14af0daffn],
  ];
  for (const [length, ofXxh64, ofXxh3] of known) {
    assert.equal(xxh64(text(length)), ofXxh64, `XXH64 of ${length} bytes`);
    assert.equal(xxh3(text(length)), ofXxh3, `XXH3 of ${length} bytes`);
  }
  assert.equal(BigInt(low32(text(4096))), xxh3(text(4096)) & 0xffffffffn);
  // Where words are not aligned.
  assert.equal(xxh3(new Uint8Array([1, ...text(1000)]).subarray(1)), xxh3(text(1000)));
});

test("ends of ranges are compared as real numbers", () => {
  assert.deepEqual(closedInterval("i64", 0.5, 2.5), [1n, 2n]);
  assert.deepEqual(closedInterval("i64", -Infinity, Infinity), [-(2n ** 63n), 2n ** 63n - 1n]);
  assert.deepEqual(closedInterval("u64", -3, 2n ** 64n), [0n, 2n ** 64n - 1n]);
  assert.equal(closedInterval("i64", 0.25, 0.75), null);
  assert.equal(closedInterval("u64", 2 ** 64, Infinity), null);
  assert.deepEqual(closedInterval("f64", 2n ** 53n + 1n, 2n ** 60n), [2 ** 53 + 2, 2 ** 60]);
  assert.deepEqual(closedInterval("f64", 0, 2n ** 53n + 1n), [0, 2 ** 53]);
  assert.equal(closedInterval("f64", 2n ** 53n + 1n, 2n ** 53n + 1n), null);
  assert.deepEqual(closedInterval("f64", 10n ** 400n, Infinity), [Infinity, Infinity]);
  assert.throws(() => closedInterval("f64", NaN, 1), kindOf("invalid_query"));
  assert.throws(() => closedInterval("i64", 2, 1), kindOf("invalid_query"));
});

for (const name of goldenNames()) {
  test(`golden file ${name}: every value`, async () => {
    const path = join(GOLDEN, name + ".bat");
    const content = readContent(join(GOLDEN, name + ".json"));
    const dataset = await openPath(path);
    assert.equal(dataset.particleCount, BigInt(content.particle_count));
    assert.equal(dataset.positionType, content.position_type);
    assert.equal(dataset.step, content.step === null ? null : BigInt(content.step));
    assert.equal(dataset.time === null ? null : shown(new Float64Array([dataset.time]))[0], content.time);
    assert.deepEqual(dataset.metadata, content.metadata);
    assert.deepEqual(
      dataset.attributes.map(({ name: own, type, components }) => ({ name: own, type, components })),
      content.attributes.map(({ name: own, type, components }) => ({ name: own, type, components })),
    );
    const names = dataset.attributes.map((one) => one.name);
    const read = await dataset.read({}, { attributes: names });
    assert.equal(read.count, content.particle_count);
    assert.deepEqual(shown(read.positions), content.positions.flat());
    for (const { name: own, values } of content.attributes) {
      assert.deepEqual(shown(read.attributes.get(own)!), values.flat().map(String), own);
    }
  });
}

for (const [path, answers] of readOracle(process.env["PARABAT_ORACLE"]!)) {
  test(`${path.slice(path.lastIndexOf("/") + 1)}: answers of the C++ library`, async () => {
    const dataset = await openPath(path);
    const attributes = dataset.attributes.map(({ name }) => name);
    let some = 0;
    for (const { query, count, hash } of answers) {
      const read = await dataset.read(query, { attributes, pieceParticles: 1000 });
      const all = [read.positions, ...attributes.map((name) => read.attributes.get(name)!)].map(bytesOf);
      const found = xxh64(Buffer.concat(all)).toString(16).padStart(16, "0");
      const requested = JSON.stringify(query, (_, v: unknown) => (typeof v === "bigint" ? `${v}n` : v));
      assert.deepEqual([read.count, found], [count, hash], requested);
      const estimates = await Promise.all(dataset.leaves.map((_, leaf) => dataset.leafEstimate(leaf, query)));
      assert.ok(estimates.reduce((sum, { atLeast }) => sum + atLeast, 0) <= count, requested);
      assert.ok(estimates.reduce((sum, { atMost }) => sum + atMost, 0) >= count, requested);
      some += count > 0 && count < Number(dataset.particleCount) ? 1 : 0;
    }
    assert.ok(dataset.particleCount < 10n || some > 2, "queries that some particles match");
  });
}

test("steps of quality return each particle once", async () => {
  const dataset = await openPath(join(GOLDEN, "written_dataset.bat"));
  const seen = new Set<string>();
  let before = 0;
  for (const quality of [0.1, 0.35, 0.36, 0.9, 1]) {
    for await (const piece of dataset.pieces({ quality, afterQuality: before })) {
      piece.filePositions.forEach((position) => {
        assert.ok(!seen.has(`${piece.leaf}:${position}`));
        seen.add(`${piece.leaf}:${position}`);
      });
    }
    before = quality;
  }
  assert.equal(seen.size, Number(dataset.particleCount));
});

test("one particle, all its values", async () => {
  const dataset = await openPath(join(GOLDEN, "ids_64bit.bat"));
  const content = readContent(join(GOLDEN, "ids_64bit.json"));
  const { position, attributes } = await dataset.particle(0, 17);
  assert.deepEqual(shown(new Float32Array(position)), content.positions[17]);
  for (const { name, type, values } of content.attributes) {
    if (type.includes("int")) {
      assert.deepEqual(attributes.get(name)!.map(String), [values[17]].flat().map(String), name);
    }
  }
  await assert.rejects(dataset.particle(0, 90), kindOf("invalid_query"));
});

test("queries that cannot be are refused", async () => {
  const dataset = await openPath(join(GOLDEN, "all_types.bat"));
  for (const query of [
    { quality: 1.1 },
    { quality: 0.1, afterQuality: 0.2 },
    { quality: NaN },
    { box: [0, 0, 0, -1, 1, 1] },
    { box: [NaN, 0, 0, 1, 1, 1] },
    { box: [0, 0, 0] },
    { part: 1, parts: 1 },
    { ranges: [{ attribute: "nothing" }] },
    { ranges: [{ attribute: dataset.attributes[0]!.name, component: -1 }] },
    { ranges: [{ attribute: dataset.attributes[0]!.name, component: 7 }] },
  ]) {
    await assert.rejects(dataset.read(query), kindOf("invalid_query"), JSON.stringify(query));
  }
  for (const pieceParticles of [0, -1, 1.5, NaN]) {
    await assert.rejects(dataset.read({}, { pieceParticles }), kindOf("invalid_query"), String(pieceParticles));
  }
  await assert.rejects(dataset.leafPieces(1).next(), kindOf("invalid_query"));
  await assert.rejects(dataset.leafEstimate(1), kindOf("invalid_query"));
  await assert.rejects(dataset.particle(1, 0), kindOf("invalid_query"));
});

test("files that are cut short or changed are refused, never misread", async () => {
  for (const name of ["small", "written_7"]) {
    const whole = readFileSync(join(GOLDEN, name + ".bat"));
    const { attributes } = await openBytes(whole);
    const names = attributes.map((one) => one.name);
    const good = await (await openBytes(whole)).read({}, { attributes: names });
    for (let length = 0; length < whole.length; length += length < 200 ? 1 : 13) {
      await assert.rejects(openBytes(whole.subarray(0, length)), kindOf("truncated"), `${length} bytes`);
    }
    for (let at = 0; at < whole.length; at += 3) {
      const bytes = Uint8Array.from(whole);
      bytes[at]! ^= 1 << (at % 8);
      try {
        const read = await (await openBytes(bytes)).read({ box: [-9, -9, -9, 9, 9, 9] }, { attributes: names });
        const expected = await (await openBytes(whole)).read({ box: [-9, -9, -9, 9, 9, 9] }, { attributes: names });
        assert.deepEqual(read, expected, `byte ${at}`); // nothing that is read contains the byte
      } catch (error) {
        assert.ok(error instanceof BatError, `byte ${at}: ${String(error)}`);
      }
    }
    assert.equal(good.count, good.positions.length / 3);
  }
});

test("what frames and models of compressed chunks cannot be is refused", async () => {
  const whole = Uint8Array.from(readFileSync(join(GOLDEN, "written_chunks_small.bat")));
  assert.deepEqual(reseal(whole.slice()), whole);
  const attributes = (await openBytes(whole)).attributes.map(({ name }) => name);
  const good = await (await openBytes(whole)).read({}, { attributes });
  let [refused, other] = [0, 0];
  for (const { kind, offset, bytes } of recordsOf(whole)) {
    if (kind !== Kind.POSITIONS && kind !== Kind.ATTRIBUTE && kind !== Kind.CHUNK_TABLE) {
      continue;
    }
    for (let at = offset; at < offset + bytes; at += 1 + (at % 3)) {
      const changed = whole.slice();
      changed[at]! ^= 1 << ((at * 5) % 8);
      try {
        const read = await (await openBytes(reseal(changed))).read({}, { attributes });
        assert.equal(read.count, good.count);
        ++other;
      } catch (error) {
        assert.ok(error instanceof BatError && error.kind === "corrupt", `byte ${at}: ${String(error)}`);
        ++refused;
      }
    }
  }
  assert.ok(refused > 20 && other > 20, `${refused} refused, ${other} read`);
});

test("blocks of a Zstandard frame hold what the frame says", () => {
  const block = (size: number, type: number): number[] => {
    const header = 1 | (type << 1) | (size << 3);
    return [header & 255, (header >> 8) & 255, header >> 16];
  };
  // Planes of bytes without prediction; a single-segment frame that declares 8 bytes.
  const decoded = (blocks: number[]): number[] => {
    const frame = Uint8Array.from([2, 0, 0x28, 0xb5, 0x2f, 0xfd, 0x20, 8, ...blocks]);
    return [...(decodeFrame({ step: 0, streams: [] }, frame, SCALARS[2]!, 1, 8) as Uint8Array)];
  };
  for (const last of [8, 0xaa, 0x55]) {
    assert.deepEqual(decoded([...block(8, 0), 1, 2, 3, 4, 5, 6, 7, last]), [1, 2, 3, 4, 5, 6, 7, last]);
  }
  assert.throws(() => decoded([...block(4, 0), 1, 2, 3, 4]), /less than 8 bytes/);
  assert.throws(() => decoded([...block(200, 1), 7]), /more than 8 bytes/);
  assert.throws(() => decoded([...block(9, 0), 1, 2, 3, 4, 5, 6, 7, 8, 9]), /more than 8 bytes/);
});

test("a file that says to be huge makes nothing huge", async () => {
  // A terabyte section in a file that pretends to have it.
  for (const kind of [Kind.SHALLOW_TREE, Kind.METADATA, Kind.SCHEMA, Kind.LEVELS]) {
    const whole = Uint8Array.from(readFileSync(join(GOLDEN, "small.bat")));
    const size = 2 ** 40;
    const data = new DataView(whole.buffer);
    const record = recordsOf(whole).find((one) => one.kind === kind)!;
    data.setBigUint64(16, BigInt(size), true);
    data.setBigUint64(record.at + 24, BigInt(size - 4096), true);
    data.setBigUint64(record.at + 32, BigInt(size - 4096), true);
    resealHeader(whole);
    let maximum = 0;
    const source: ByteSource = {
      name: "huge",
      first: (count) => Promise.resolve({ bytes: whole.slice(0, count), size }),
      read: (begin, end) => {
        maximum = Math.max(maximum, end - begin);
        const bytes = new Uint8Array(end - begin);
        bytes.set(whole.subarray(begin, end));
        return Promise.resolve(bytes);
      },
      beside: () => source,
    };
    const reading = open(source, { memoryBytes: 2 ** 24 }).then((dataset) => dataset.read({ box: [0, 0, 0, 1, 1, 1] }));
    if (kind === Kind.METADATA) {
      assert.ok((await reading).count > 0); // not needed
      continue;
    }
    await assert.rejects(
      reading,
      (error) => error instanceof BatError && (error.kind === "over_budget" || error.kind === "corrupt"),
      String(kind),
    );
    assert.ok(maximum <= 2 ** 24, `${maximum} bytes at once`);
  }
});

test("a damaged page is told and leaves a hole", async () => {
  const whole = Uint8Array.from(readFileSync(join(GOLDEN, "several_pages.bat")));
  const sound = await (await openBytes(whole)).read({}, { attributes: ["id"] }).catch(() => null);
  const dataset = await openBytes(whole);
  const content = readContent(join(GOLDEN, "several_pages.json"));
  assert.ok(sound === null || sound.count === content.particle_count);
  // Positions are the first column: 12 bytes each, from byte 128 or 4096 on. Finds them by their
  // content.
  const first = Buffer.from(bytesOf((await dataset.read({})).positions.slice(0, 30)));
  const at = Buffer.from(whole).indexOf(first);
  whole[at + 4096 + 5]! ^= 1;
  const damage: Damage[] = [];
  const damaged = await openBytes(whole);
  const left = await damaged.read({}, { onDamage: (one) => damage.push(one) });
  const lost = Math.ceil(8192 / 12) - Math.floor(4096 / 12);
  assert.equal(left.count, content.particle_count - lost);
  assert.equal(damage.length, 1);
  assert.equal(damage[0]!.particles, lost);
  assert.match(damage[0]!.message, /POSITIONS 0.*between bytes 4096 and 8192/);
  await assert.rejects(damaged.read({}), kindOf("corrupt"));
});

test("a file that asks for more memory than allowed is refused before it is there", async () => {
  const path = join(GOLDEN, "written_3000.bat");
  const { blob, name } = await dropped(path);
  const dataset = await open(blob, { name, memoryBytes: 40000 });
  await assert.rejects(dataset.read({}, { attributes: dataset.attributes.map((one) => one.name) }), kindOf("over_budget"));
});

test("a few particles of each chunk do not take the memory of all chunks", async () => {
  const path = join(process.env["PARABAT_WORK"]!, "constant.bat");
  const code =
    "import sys, numpy, parabat; n = 200000; parabat.write(sys.argv[1], numpy.zeros((n, 3), 'f4'), " +
    "{'c': numpy.ones((n, 9))}, compression='lossless', chunk_particles=1000)";
  execFileSync(process.env["PARABAT_PYTHON"]!, ["-c", code, path]);
  const [memoryBytes, cacheBytes] = [2e6, 1e6];
  const dataset = await open(readFileSync(path), { memoryBytes, cacheBytes });
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  const before = process.memoryUsage().arrayBuffers;
  let maximum = 0;
  let calls = 0;
  const { set } = Cache.prototype;
  Cache.prototype.set = function (...given): void {
    set.apply(this, given);
    if (++calls % 20 === 0) {
      collect();
      maximum = Math.max(maximum, process.memoryUsage().arrayBuffers - before);
    }
  };
  try {
    const each = Uint32Array.from({ length: 200 }, (_, chunk) => chunk * 1000);
    const { c } = Object.fromEntries(await dataset.values(0, each, ["c"]));
    assert.ok(c!.length === 1800 && c!.every((v) => v === 1));
  } finally {
    Cache.prototype.set = set;
  }
  assert.ok(calls >= 200 && maximum < memoryBytes + cacheBytes, `${maximum} bytes after ${calls} entries of the cache`);
});

test("signalling NaN keep their bits in chunks and aliases", async () => {
  const path = join(process.env["PARABAT_WORK"]!, "signalling.bat");
  const code =
    "import sys, numpy, parabat; n = 6000; r = numpy.random.default_rng(1); " +
    "b = 0x7f800001 + numpy.arange(3 * n, dtype='u4').reshape(n, 3) % 4; " +
    "d = (numpy.uint64(0x7ff0000000000000) + (b - 0x7f800000).astype('u8')).view('f8'); p = r.random((n, 3)).astype('f4'); " +
    "p[:, 0] = b[:, 0].copy().view('f4'); " +
    "parabat.write(sys.argv[1], p, {'v': b.view('f4'), 'd': d, 'x': p[:, 0].copy(), 'key': r.random(n)}, " +
    "compression='lossless', chunk_particles=256, repeats='link')";
  execFileSync(process.env["PARABAT_PYTHON"]!, ["-c", code, path]);
  const dataset = await open(readFileSync(path));
  assert.equal(dataset.attributes.find(({ name }) => name === "x")!.aliasOf, "");
  const attributes = ["v", "d", "x"];
  const read = await dataset.read({ ranges: [{ attribute: "key", maximum: 0.1 }] }, { attributes });
  assert.ok(read.count > 50 && read.count < 1000);
  for (const name of attributes) {
    const other = shown(read.attributes.get(name)!).filter((bits) => !/^(7f80000|7ff000000000000)[1-4]$/.test(bits));
    assert.deepEqual(other.slice(0, 5), [], name);
  }
});

test("many records of a section table are refused before they are read", async () => {
  const whole = Uint8Array.from(readFileSync(join(GOLDEN, "small.bat")));
  const count = 2 ** 16;
  const size = whole.length + 64 * count;
  const data = new DataView(whole.buffer);
  data.setBigUint64(16, BigInt(size), true);
  data.setBigUint64(48, BigInt(whole.length), true);
  data.setUint32(56, count, true);
  data.setBigUint64(120, xxh64(whole.subarray(0, 120)), true);
  let read = 0;
  const source: ByteSource = {
    name: "many",
    first: (bytes) => Promise.resolve({ bytes: whole.slice(0, bytes), size }),
    read: (begin, end) => {
      read += end - begin;
      return Promise.resolve(new Uint8Array(end - begin));
    },
    beside: () => source,
  };
  await assert.rejects(open(source, { memoryBytes: 2 ** 24 }), kindOf("over_budget"));
  assert.equal(read, 0);
});

test("many leaf files are refused before memory is taken for them", async () => {
  const { blob, name, files } = await dropped(join(GOLDEN, "written_dataset.bat"));
  const leaves = (await open(blob, { name, files })).leaves.length;
  await open(blob, { name, files, memoryBytes: 2 ** 17 });
  await assert.rejects(open(blob, { name, files, memoryBytes: leaves * 768 }), kindOf("over_budget"));
});

test("bytes between ranges are not read where they are more than the memory allowed", async () => {
  const whole = new Uint8Array(4096 * 1000);
  let read = 0;
  const source: ByteSource = {
    name: "gaps",
    first: () => Promise.reject(new Error("not asked")),
    read: (begin, end) => {
      read += end - begin;
      return Promise.resolve(whole.slice(begin, end));
    },
    beside: () => source,
  };
  const ranges = Array.from({ length: 100 }, (_, i): [number, number] => [i * 9 * 4096, (i * 9 + 1) * 4096]);
  const memory = 150 * 4096;
  const found = await new FileBytes(source, whole.length, memory).read(ranges);
  assert.ok(found.every((bytes) => bytes.length === 4096));
  assert.ok(read <= memory, `${read} bytes, allowed are ${memory}`);
});

test("a dataset without one of its leaf files", async () => {
  const { blob, name, files } = await dropped(join(GOLDEN, "written_dataset.bat"));
  const removed = [...files.keys()].sort()[2]!;
  files.delete(removed);
  const dataset = await open(blob, { name, files });
  assert.ok((await dataset.read({ part: 0, parts: 4 })).count > 0);
  await assert.rejects(dataset.read({}), kindOf("not_found"));
  // And with another file in its place.
  files.set(removed, files.get([...files.keys()].sort()[0]!)!);
  await assert.rejects((await open(blob, { name, files })).read({}), kindOf("corrupt"));
});

test("reads at the same time do not disturb each other", async () => {
  for (const name of ["written_chunks", "written_3000"]) {
    const dataset = await openPath(join(GOLDEN, name + ".bat"));
    const attributes = dataset.attributes.map((one) => one.name);
    const alone = await (await openPath(join(GOLDEN, name + ".bat"))).read({}, { attributes });
    const [half, whole, one, again] = await Promise.all([
      dataset.read({ quality: 0.5 }, { attributes: attributes.slice(0, 1) }),
      dataset.read({}, { attributes }),
      dataset.read({}, { attributes: attributes.slice(0, 1), withoutPositions: true }),
      dataset.read({}, { attributes }),
    ]);
    assert.deepEqual(whole, alone);
    assert.deepEqual(again, alone);
    assert.deepEqual(one.attributes.get(attributes[0]!), alone.attributes.get(attributes[0]!));
    assert.deepEqual(half.positions, alone.positions.slice(0, half.positions.length));
  }
});
