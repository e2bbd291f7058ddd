import type { FileHandle } from 'node:fs/promises';
import { expect } from 'chai';
import { writeAll } from '../../src/state-file/write-all.ts';

/** A file of a disk on which each write has room for so many bytes. */
function fileOf(...room: readonly number[]) {
  const left = [...room];
  const written: { readonly bytes: string; readonly at: number | null }[] = [];
  const write = async (bytes: Uint8Array, offset: number, length: number, at: number | null) => {
    const bytesWritten = Math.min(length, left.shift()!);
    written.push({ bytes: Buffer.from(bytes.subarray(offset, offset + bytesWritten)).toString(), at });
    return { bytesWritten, buffer: bytes };
  };
  return { file: { write } as unknown as FileHandle, written };
}

describe('writing all bytes', () => {
  it('continues after a write of a part, where that ended', async () => {
    const { file, written } = fileOf(3, 1, 9);
    await writeAll(file, Buffer.from('content'));
    expect(written).to.deep.equal([
      { bytes: 'con', at: null },
      { bytes: 't', at: null },
      { bytes: 'ent', at: null },
    ]);
  });

  it('continues at a position', async () => {
    const { file, written } = fileOf(3, 9);
    await writeAll(file, Buffer.from('content'), 0);
    expect(written).to.deep.equal([
      { bytes: 'con', at: 0 },
      { bytes: 'tent', at: 3 },
    ]);
  });

  it('rejects if nothing can be written', async () => {
    const { file, written } = fileOf(3, 0);
    const error = await writeAll(file, Buffer.from('content')).catch((reason: Error) => reason.message);
    expect([error, written.length]).to.deep.equal(['nothing could be written', 2]);
  });

  it('writes nothing of nothing', async () => {
    const { file, written } = fileOf();
    await writeAll(file, Buffer.alloc(0));
    expect(written).to.deep.equal([]);
  });
});
