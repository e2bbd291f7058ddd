import { gunzipSync, gzipSync } from 'node:zlib';

/** Longest JSON text of a compressed spec, in bytes. */
export const MAX_SPEC_BYTES = 64 * 1024 * 1024;

/** Returns a spec as JSON, compressed by gzip and as base64. */
export function compressSpec(spec: object): string {
  return gzipSync(JSON.stringify(spec)).toString('base64');
}

/**
 * Returns the spec that {@link compressSpec} compressed. Throws an `Error` with the reason for a text that is not base64, data that cannot
 * be decompressed, more than 64 MiB of it, or anything but a JSON object.
 */
export function inflateSpec(text: string): Readonly<Record<string, unknown>> {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== text.replace(/\s/g, '')) throw new Error('it is not base64');
  const spec = parsed(inflated(bytes));
  if (typeof spec !== 'object' || spec === null || Array.isArray(spec)) throw new Error('it is not a JSON object');
  return spec as Readonly<Record<string, unknown>>;
}

function inflated(bytes: Buffer): string {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_SPEC_BYTES }).toString('utf8');
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new Error(isTooLong ? 'it is longer than 64 MiB' : 'it cannot be decompressed by gzip', { cause: error });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error('it is not JSON', { cause });
  }
}
