import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { GatewayError } from '../../src/errors.ts';
import { readKeyFile } from '../../src/state-file/key-file.ts';

describe('a key file', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'key-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  function written(bytes: number): string {
    const path = join(folder, 'key');
    writeFileSync(path, Buffer.alloc(bytes, 7));
    return path;
  }
  const problemOf = (path: string): string => {
    try {
      readKeyFile(path);
      return '';
    } catch (error) {
      expect(error).to.be.instanceOf(GatewayError).with.property('code', 'ERR_CORE_KEY_FILE');
      const { message, cause } = error as GatewayError;
      return message.replace(`key file ${path}: `, cause === undefined ? '' : 'by a cause: ');
    }
  };

  for (const bytes of [32, 4096])
    it(`may have ${bytes} bytes`, () => expect(readKeyFile(written(bytes))).to.deep.equal(Buffer.alloc(bytes, 7)));

  it('is rejected with the reason', () => {
    expect(problemOf(written(31))).to.equal('a key must have at least 32 bytes');
    expect(problemOf(written(4097))).to.equal('by a cause: is larger than 4096 bytes');
    expect(problemOf(folder)).to.equal('by a cause: is a directory');
    expect(problemOf(join(folder, 'missing'))).to.equal('by a cause: does not exist');
    expect(problemOf(join(written(32), 'key'))).to.equal('by a cause: cannot be read: ENOTDIR');
  });
});
