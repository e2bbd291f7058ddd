import fs, {
  chmodSync,
  chownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PRIVATE, replaceFile } from '../../src/edit/replace-file.ts';

describe('replaceFile', () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'replace-file-'))));
  afterEach(() => rmSync(dir, { recursive: true }));
  const at = (name: string) => join(dir, name);
  const modeOf = (name: string) => statSync(at(name)).mode & 0o7777;

  it('creates a file that only its owner can read', () => {
    replaceFile(at('a'), 'text', { shown: 'a' });
    expect([readFileSync(at('a'), 'utf8'), modeOf('a')]).to.deep.equal(['text', 0o600]);
  });

  it('has the content on disk before it replaces the file', () => {
    const { fsyncSync, renameSync } = fs;
    const steps: string[] = [];
    fs.fsyncSync = (descriptor) => {
      steps.push(`synced ${fstatSync(descriptor).size} bytes`);
      fsyncSync(descriptor);
    };
    fs.renameSync = (from, to) => {
      steps.push('renamed');
      renameSync(from, to);
    };
    syncBuiltinESMExports();
    try {
      replaceFile(at('a'), 'text', { shown: 'a' });
    } finally {
      Object.assign(fs, { fsyncSync, renameSync });
      syncBuiltinESMExports();
    }
    expect(steps).to.deep.equal(['synced 4 bytes', 'renamed']);
  });

  it('keeps the mode of a file, unless another one is given, and leaves no other file', () => {
    for (const mode of [0o640, 0o444, 0o755, 0o2750]) {
      writeFileSync(at('a'), 'old');
      chmodSync(at('a'), mode);
      replaceFile(at('a'), 'new', { shown: 'a' });
      expect([readFileSync(at('a'), 'utf8'), modeOf('a')]).to.deep.equal(['new', mode]);
      chmodSync(at('a'), 0o644);
    }
    replaceFile(at('a'), 'secret', { shown: 'a', mode: PRIVATE });
    expect(modeOf('a')).to.equal(0o600);
    expect(readdirSync(dir)).to.deep.equal(['a']);
  });

  it('keeps the owner of a file where it may', () => {
    writeFileSync(at('a'), 'old');
    const isRoot = process.geteuid!() === 0;
    if (isRoot) chownSync(at('a'), 12_345, 12_346);
    const { uid, gid } = statSync(at('a'));
    expect(uid).to.equal(isRoot ? 12_345 : process.geteuid!());
    replaceFile(at('a'), 'new', { shown: 'a' });
    expect(statSync(at('a'))).to.include({ uid, gid });
  });

  it('replaces the file behind a symbolic link', () => {
    writeFileSync(at('real'), 'old');
    symlinkSync('real', at('link'));
    replaceFile(at('link'), 'new', { shown: 'link' });
    expect(lstatSync(at('link')).isSymbolicLink()).to.equal(true);
    expect(readFileSync(at('real'), 'utf8')).to.equal('new');
  });

  it('reports a directory that is missing, and leaves nothing behind', () => {
    expect(() => replaceFile(at('none/a'), 'text', { shown: 'none/a' }))
      .to.throw('none/a: no such file or directory')
      .with.property('code', 'ERR_CLI_FILE');
    expect(readdirSync(dir)).to.deep.equal([]);
  });

  it('keeps the mode of a file also with a narrow umask', () => {
    writeFileSync(at('a'), 'old');
    chmodSync(at('a'), 0o664);
    const umask = process.umask(0o077);
    try {
      replaceFile(at('a'), 'new', { shown: 'a' });
    } finally {
      process.umask(umask);
    }
    expect(modeOf('a')).to.equal(0o664);
  });

  it('leaves no file if the other one cannot be replaced', () => {
    mkdirSync(at('folder'));
    expect(() => replaceFile(at('folder'), 'new', { shown: 'folder' })).to.throw(/^folder: /);
    expect(readdirSync(dir)).to.deep.equal(['folder']);
  });
});
