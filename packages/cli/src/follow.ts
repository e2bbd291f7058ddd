import { open } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { fileError } from './error-codes.ts';

const POLL_MS = 50;

/**
 * Hands over what a file holds, then what is added to it until the signal comes; a file that was cut or replaced by a
 * shorter one is read from its start again. Without `signal` it ends at the end of the file.
 */
export async function followFile(file: string, onChunk: (chunk: Buffer) => void, signal?: AbortSignal): Promise<void> {
  let offset = 0;
  for (;;) {
    offset = await readFrom(file, offset, onChunk);
    if (!signal || signal.aborted) return;
    await wait(POLL_MS, undefined, { signal }).catch(() => {});
  }
}

async function readFrom(file: string, from: number, onChunk: (chunk: Buffer) => void): Promise<number> {
  try {
    await using handle = await open(file);
    const { size } = await handle.stat();
    let offset = size < from ? 0 : from;
    const buffer = Buffer.allocUnsafe(65_536);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
      if (bytesRead === 0) return offset;
      onChunk(Buffer.from(buffer.subarray(0, bytesRead)));
      offset += bytesRead;
    }
  } catch (error) {
    throw fileError(file, error);
  }
}
