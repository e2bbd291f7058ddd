import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { UnusableFile } from '../../src/source/read-file.ts';
import { mustBeOwn, readStateFile } from '../../src/state-file/read-state-file.ts';

describe('a file that only this process writes', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'read-state-'));
    path = join(folder, 'state');
    writeFileSync(path, 'content', { mode: 0o600 });
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const read = (from = path, maxBytes = 7) => readStateFile(from, maxBytes)?.toString();
  const own = process.geteuid!();

  it('is read, and may be missing', () => {
    expect(read()).to.equal('content');
    expect(read(join(folder, 'missing'))).to.equal(undefined);
  });

  it('is rejected if it is too large, a directory, or cannot be read', () => {
    expect(() => read(path, 6)).to.throw(UnusableFile, 'is larger than 6 bytes');
    expect(() => read(folder)).to.throw(UnusableFile, 'is a directory');
    expect(() => read(join(path, 'state'))).to.throw(UnusableFile, /^cannot be read: ENOTDIR$/);
    expect(() => read(`${path}\0`)).to.throw(UnusableFile, /^cannot be read: ERR_INVALID_ARG_VALUE$/);
  });

  for (const mode of [0o620, 0o602, 0o666])
    it(`is rejected with the mode ${mode.toString(8)}`, () => {
      chmodSync(path, mode);
      const shown = `can be written by other users (mode 0${mode.toString(8)}): remove it, or set its mode to 0600`;
      expect(() => read()).to.throw(UnusableFile, shown);
    });

  it('may be readable by others', () => {
    chmodSync(path, 0o644);
    expect(read()).to.equal('content');
  });

  it('is rejected if another user owns it, who is not root', () => {
    expect(() => mustBeOwn({ mode: 0o600, uid: own + 1 })).to.throw(UnusableFile, /^belongs to another user$/);
    mustBeOwn({ mode: 0o600, uid: own });
    mustBeOwn({ mode: 0o600, uid: 0 });
  });

  it('is accepted without a check of its owner and mode where the system has none', () => {
    const { geteuid, platform } = process;
    process.geteuid = undefined as never;
    try {
      mustBeOwn({ mode: 0o600, uid: own + 1 });
      Object.defineProperty(process, 'platform', { value: 'win32' });
      mustBeOwn({ mode: 0o666, uid: own });
    } finally {
      process.geteuid = geteuid!;
      Object.defineProperty(process, 'platform', { value: platform });
    }
  });
});
