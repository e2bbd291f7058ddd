import type { FileHandle } from 'node:fs/promises';

/**
 * Writes all bytes at a position; default: where the last write ended. A write that reaches the end of the disk writes a part of them and reports no
 * error: that of the next one is thrown.
 */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position?: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const at = position === undefined ? null : position + done;
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at);
    if (bytesWritten === 0) throw new Error('nothing could be written');
    done += bytesWritten;
  }
}
