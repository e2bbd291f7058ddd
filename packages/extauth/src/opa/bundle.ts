import { gunzipSync } from 'node:zlib';

/** Most bytes of an unpacked bundle. */
const MAX_BYTES = 64 * 1024 * 1024;
const BLOCK = 512;
const WASM = Buffer.from('\0asm', 'latin1');
const GZIP = Buffer.from([0x1f, 0x8b]);

/** A compiled policy with its data. */
export interface Bundle {
  readonly wasm: Uint8Array;
  /** JSON of an object. */
  readonly data?: ArrayBuffer;
}

/**
 * Reads a compiled policy: a `.wasm` file, or a bundle as `opa build -t wasm` writes it, a compressed tar archive with
 * `policy.wasm` and `data.json`. Throws a text for users.
 */
export function readBundle(bytes: Buffer): Bundle {
  if (bytes.subarray(0, WASM.length).equals(WASM)) return { wasm: bytes };
  if (!bytes.subarray(0, GZIP.length).equals(GZIP)) throw new Error('must be a .wasm file or a .tar.gz bundle');
  const files = filesOf(unpacked(bytes));
  const wasm = files.get('policy.wasm');
  if (!wasm) throw new Error('the bundle has no policy.wasm: make it with opa build -t wasm');
  const data = files.get('data.json');
  return { wasm, ...(data && { data: dataOf(data) }) };
}

function unpacked(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch {
    throw new Error('the bundle cannot be decompressed');
  }
}

/** Returns the JSON as it is, so that numbers keep their digits. */
function dataOf(bytes: Buffer): ArrayBuffer {
  const data: unknown = JSON.parse(bytes.toString('utf8'));
  if (typeof data !== 'object' || data === null) throw new Error('data.json of the bundle is not an object');
  return new Uint8Array(bytes).buffer;
}

/** Returns the regular files of a tar archive by their name without a leading slash. */
function filesOf(archive: Buffer): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; at + BLOCK <= archive.length;) {
    const header = archive.subarray(at, at + BLOCK);
    if (header[0] === 0) break;
    const size = Number.parseInt(textOf(header.subarray(124, 136)).trim() || '0', 8);
    const end = at + BLOCK + size;
    if (!(size >= 0) || end > archive.length) throw new Error('the bundle is incomplete');
    const type = String.fromCharCode(header[156]!);
    if (type === '0' || type === '\0') {
      files.set(textOf(header.subarray(0, 100)).replace(/^\.?\/+/, ''), archive.subarray(at + BLOCK, end));
    }
    at = at + BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.subarray(0, end < 0 ? bytes.length : end).toString('utf8');
}
