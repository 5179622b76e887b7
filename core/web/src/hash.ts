// SPDX-License-Identifier: BSD-3-Clause
// XXH64 and XXH3 (64 bits) with seed 0 and the default secret (FORMAT.md section 2). JavaScript has no fast 64-bit
// integers: loops over many bytes work on 32-bit halves, the rest on BigInt.

const MASK = 0xffffffffffffffffn;
const P32_1 = 0x9e3779b1n;
const P32_2 = 0x85ebca77n;
const P32_3 = 0xc2b2ae3dn;
const P64_1 = 0x9e3779b185ebca87n;
const P64_2 = 0xc2b2ae3d27d4eb4fn;
const P64_3 = 0x165667b19e3779f9n;
const P64_4 = 0x85ebca77c2b2ae63n;
const P64_5 = 0x27d4eb2f165667c5n;

// The default secret of XXH3, as published by its authors.
const SECRET = Uint8Array.from(
  (
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f" +
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c" +
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8" +
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364" +
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e" +
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
  )
    .match(/../g)!
    .map((digits) => parseInt(digits, 16)),
);

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The upper 32 bits of the product of two 32-bit integers. */
function upperOfProduct(a: number, b: number): number {
  const al = a & 0xffff;
  const ah = a >>> 16;
  const bl = b & 0xffff;
  const bh = b >>> 16;
  const lh = al * bh;
  const hl = ah * bl;
  const middle = ((al * bl) >>> 16) + (lh & 0xffff) + (hl & 0xffff);
  return (ah * bh + (lh >>> 16) + (hl >>> 16) + (middle >>> 16)) >>> 0;
}

function rotate(v: bigint, bits: bigint): bigint {
  return ((v << bits) | (v >> (64n - bits))) & MASK;
}

/** XXH64 of the bytes, with seed 0. */
export function xxh64(bytes: Uint8Array): bigint {
  const data = view(bytes);
  const length = bytes.length;
  let at = 0;
  let hash: bigint;
  if (length >= 32) {
    const lanes = stripesOf64(data, length);
    at = length - (length % 32);
    const [a, b, c, d] = lanes as [bigint, bigint, bigint, bigint];
    hash = (rotate(a, 1n) + rotate(b, 7n) + rotate(c, 12n) + rotate(d, 18n)) & MASK;
    for (const lane of lanes) {
      hash = ((hash ^ ((rotate((lane * P64_2) & MASK, 31n) * P64_1) & MASK)) * P64_1 + P64_4) & MASK;
    }
  } else {
    hash = P64_5;
  }
  hash = (hash + BigInt(length)) & MASK;
  for (; at + 8 <= length; at += 8) {
    const k = (rotate((data.getBigUint64(at, true) * P64_2) & MASK, 31n) * P64_1) & MASK;
    hash = (rotate(hash ^ k, 27n) * P64_1 + P64_4) & MASK;
  }
  if (at + 4 <= length) {
    hash = (rotate(hash ^ ((BigInt(data.getUint32(at, true)) * P64_1) & MASK), 23n) * P64_2 + P64_3) & MASK;
    at += 4;
  }
  for (; at < length; ++at) {
    hash = (rotate(hash ^ ((BigInt(bytes[at]!) * P64_5) & MASK), 11n) * P64_1) & MASK;
  }
  hash ^= hash >> 33n;
  hash = (hash * P64_2) & MASK;
  hash ^= hash >> 29n;
  hash = (hash * P64_3) & MASK;
  return hash ^ (hash >> 32n);
}

/** The four lanes of XXH64 after all whole 32-byte stripes. */
function stripesOf64(data: DataView, length: number): bigint[] {
  const lanes = [(P64_1 + P64_2) & MASK, P64_2, 0n, -P64_1 & MASK];
  const low = new Uint32Array(lanes.map((lane) => Number(lane & 0xffffffffn)));
  const high = new Uint32Array(lanes.map((lane) => Number(lane >> 32n)));
  const p1l = Number(P64_1 & 0xffffffffn);
  const p1h = Number(P64_1 >> 32n);
  const p2l = Number(P64_2 & 0xffffffffn);
  const p2h = Number(P64_2 >> 32n);
  for (let at = 0; at + 32 <= length; at += 32) {
    for (let lane = 0; lane < 4; ++lane) {
      const wl = data.getUint32(at + 8 * lane, true);
      const wh = data.getUint32(at + 8 * lane + 4, true);
      const sum = Math.imul(wl, p2l) >>> 0;
      const added = (upperOfProduct(wl, p2l) + Math.imul(wl, p2h) + Math.imul(wh, p2l)) >>> 0;
      const l = low[lane]! + sum;
      const h = (high[lane]! + added + (l > 0xffffffff ? 1 : 0)) >>> 0;
      // Rotates by 31 bits: by 32, and one back.
      const rl = ((l >>> 1) | (h << 31)) >>> 0;
      const rh = ((h >>> 1) | ((l >>> 0) << 31)) >>> 0;
      const [nl, nh] = [rh, rl];
      low[lane] = Math.imul(nl, p1l);
      high[lane] = upperOfProduct(nl, p1l) + Math.imul(nl, p1h) + Math.imul(nh, p1l);
    }
  }
  return [0, 1, 2, 3].map((lane) => (BigInt(high[lane]!) << 32n) | BigInt(low[lane]!));
}

const SECRET_VIEW = view(SECRET);

function secret64(at: number): bigint {
  return SECRET_VIEW.getBigUint64(at, true);
}

function folded(a: bigint, b: bigint): bigint {
  const product = a * b;
  return (product ^ (product >> 64n)) & MASK;
}

function avalanche(h: bigint): bigint {
  h ^= h >> 37n;
  h = (h * 0x165667919e3779f9n) & MASK;
  return h ^ (h >> 32n);
}

function avalanche64(h: bigint): bigint {
  h ^= h >> 33n;
  h = (h * P64_2) & MASK;
  h ^= h >> 29n;
  h = (h * P64_3) & MASK;
  return h ^ (h >> 32n);
}

function swapped(v: bigint, bytes: number): bigint {
  let result = 0n;
  for (let i = 0; i < bytes; ++i) {
    result = (result << 8n) | (v & 0xffn);
    v >>= 8n;
  }
  return result;
}

function mix16(data: DataView, at: number, secret: number): bigint {
  return folded(data.getBigUint64(at, true) ^ secret64(secret), data.getBigUint64(at + 8, true) ^ secret64(secret + 8));
}

/** XXH3 of up to 240 bytes. */
function shortXxh3(data: DataView, length: number): bigint {
  const n = BigInt(length);
  if (length === 0) {
    return avalanche64(secret64(56) ^ secret64(64));
  }
  if (length <= 3) {
    const [first, middle, last] = [0, length >> 1, length - 1].map((at) => BigInt(data.getUint8(at))) as [bigint, bigint, bigint];
    const combined = (first << 16n) | (middle << 24n) | last | (n << 8n);
    const flip = BigInt((SECRET_VIEW.getUint32(0, true) ^ SECRET_VIEW.getUint32(4, true)) >>> 0);
    return avalanche64(combined ^ flip);
  }
  if (length <= 8) {
    const first = BigInt(data.getUint32(0, true));
    const last = BigInt(data.getUint32(length - 4, true));
    let h = (last + (first << 32n)) ^ (secret64(8) ^ secret64(16));
    h ^= rotate(h, 49n) ^ rotate(h, 24n);
    h = (h * 0x9fb21c651e98df25n) & MASK;
    h ^= (h >> 35n) + n;
    h = (h * 0x9fb21c651e98df25n) & MASK;
    return h ^ (h >> 28n);
  }
  if (length <= 16) {
    const low = data.getBigUint64(0, true) ^ (secret64(24) ^ secret64(32));
    const high = data.getBigUint64(length - 8, true) ^ (secret64(40) ^ secret64(48));
    return avalanche((n + swapped(low, 8) + high + folded(low, high)) & MASK);
  }
  let sum = n * P64_1;
  if (length <= 128) {
    for (let i = (length - 1) >> 5; i >= 0; --i) {
      sum += mix16(data, 16 * i, 32 * i) + mix16(data, length - 16 * (i + 1), 32 * i + 16);
    }
    return avalanche(sum & MASK);
  }
  for (let i = 0; i < 8; ++i) {
    sum += mix16(data, 16 * i, 16 * i);
  }
  sum = avalanche(sum & MASK);
  for (let i = 8; i < length >> 4; ++i) {
    sum += mix16(data, 16 * i, 16 * (i - 8) + 3);
  }
  return avalanche((sum + mix16(data, length - 16, 136 - 17)) & MASK);
}

function words(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.slice(0, bytes.length & ~3).buffer);
}

const SECRET_WORDS = words(SECRET);
const LAST_SECRET_WORDS = words(SECRET.slice(SECRET.length - 64 - 7));
const SCRAMBLING_WORDS = words(SECRET.slice(SECRET.length - 64));
const FIRST_LANES = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1];
const FIRST_LOW = new Uint32Array(FIRST_LANES.map((lane) => Number(lane & 0xffffffffn)));
const FIRST_HIGH = new Uint32Array(FIRST_LANES.map((lane) => Number(lane >> 32n)));

function accumulate(low: Uint32Array, high: Uint32Array, data: Uint32Array, at: number, secret: Uint32Array, s: number): void {
  for (let lane = 0; lane < 8; ++lane) {
    const dl = data[at + 2 * lane]!;
    const dh = data[at + 2 * lane + 1]!;
    const kl = (dl ^ secret[s + 2 * lane]!) >>> 0;
    const kh = (dh ^ secret[s + 2 * lane + 1]!) >>> 0;
    const other = lane ^ 1;
    const sum = low[other]! + dl;
    low[other] = sum;
    high[other] = high[other]! + dh + (sum > 0xffffffff ? 1 : 0);
    const own = low[lane]! + (Math.imul(kl, kh) >>> 0);
    low[lane] = own;
    high[lane] = high[lane]! + upperOfProduct(kl, kh) + (own > 0xffffffff ? 1 : 0);
  }
}

function scramble(low: Uint32Array, high: Uint32Array): void {
  for (let lane = 0; lane < 8; ++lane) {
    const l = (low[lane]! ^ (high[lane]! >>> 15) ^ SCRAMBLING_WORDS[2 * lane]!) >>> 0;
    const h = (high[lane]! ^ SCRAMBLING_WORDS[2 * lane + 1]!) >>> 0;
    low[lane] = Math.imul(l, 0x9e3779b1);
    high[lane] = upperOfProduct(l, 0x9e3779b1) + Math.imul(h, 0x9e3779b1);
  }
}

/** XXH3 (64 bits) of the bytes, with seed 0 and the default secret. */
export function xxh3(bytes: Uint8Array): bigint {
  const length = bytes.length;
  if (length <= 240) {
    return shortXxh3(view(bytes), length);
  }
  const data = bytes.byteOffset % 4 === 0 ? new Uint32Array(bytes.buffer, bytes.byteOffset, length >> 2) : words(bytes);
  const low = FIRST_LOW.slice();
  const high = FIRST_HIGH.slice();
  const stripes = (length - 1) >> 6;
  for (let stripe = 0; stripe < stripes; ++stripe) {
    accumulate(low, high, data, stripe << 4, SECRET_WORDS, (stripe & 15) << 1);
    if ((stripe & 15) === 15) {
      scramble(low, high);
    }
  }
  accumulate(low, high, words(bytes.slice(length - 64)), 0, LAST_SECRET_WORDS, 0);
  let sum = BigInt(length) * P64_1;
  for (let i = 0; i < 4; ++i) {
    const [a, b] = [2 * i, 2 * i + 1].map((lane) => (BigInt(high[lane]!) << 32n) | BigInt(low[lane]!)) as [bigint, bigint];
    sum += folded(a ^ secret64(11 + 16 * i), b ^ secret64(19 + 16 * i));
  }
  return avalanche(sum & MASK);
}

/** The `low32` hash of a page (FORMAT.md section 2). */
export function low32(page: Uint8Array): number {
  return Number(xxh3(page) & 0xffffffffn);
}
