import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { replaceFile, temporaryPath } from '../../src/state-file/replace-file.ts';

const textOf = (path: string): string => readFileSync(path, 'utf8');
const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('replacing a file', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'replace-'));
    path = join(folder, 'state');
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const write = (text: string) => replaceFile(path, (file) => file.writeFile(text));

  it('writes it for its owner only, and leaves nothing else', async () => {
    writeFileSync(path, 'old', { mode: 0o666 });
    await write('new');
    expect([textOf(path), modeOf(path), readdirSync(folder)]).to.deep.equal(['new', 0o600, ['state']]);
  });

  it('sets the mode also where the umask forbids its owner to read', async () => {
    const before = process.umask(0o777);
    try {
      await write('new');
    } finally {
      process.umask(before);
    }
    expect(modeOf(path)).to.equal(0o600);
  });

  it('creates missing parents, for their owner only', async () => {
    path = join(folder, 'a', 'b', 'state');
    await write('new');
    expect(textOf(path)).to.equal('new');
    expect([modeOf(join(folder, 'a')), modeOf(join(folder, 'a', 'b'))]).to.deep.equal([0o700, 0o700]);
  });

  it('rejects with the error of a parent that is a file, or cannot have entries', async () => {
    writeFileSync(join(folder, 'file'), '');
    const errorAt = async (parent: string): Promise<unknown> => {
      path = join(parent, 'state');
      return write('new').catch(({ code }: NodeJS.ErrnoException) => code);
    };
    expect(await errorAt(join(folder, 'file'))).to.equal('ENOTDIR');
    expect(await errorAt(join(folder, 'file', 'folder'))).to.equal('ENOTDIR');
    expect(await errorAt('/proc/folder/of')).to.equal('ENOENT');
  });

  it('keeps the old content if the new one cannot be written, and removes the part of it', async () => {
    writeFileSync(path, 'old');
    const full = new Error('the disk is full');
    const failed = replaceFile(path, async (file) => {
      await file.writeFile('a part');
      throw full;
    });
    expect(await failed.catch((error: unknown) => error)).to.equal(full);
    expect([textOf(path), readdirSync(folder)]).to.deep.equal(['old', ['state']]);
  });

  it('removes what it wrote if that cannot take the place of the old file', async () => {
    mkdirSync(path);
    expect(await write('new').catch(({ code }: NodeJS.ErrnoException) => code)).to.equal('EISDIR');
    expect(readdirSync(folder)).to.deep.equal(['state']);
  });

  it('does not follow a link where it writes', async () => {
    writeFileSync(join(folder, 'other'), 'untouched');
    symlinkSync(join(folder, 'other'), temporaryPath(path, process.pid));
    await write('new');
    expect([textOf(path), textOf(join(folder, 'other'))]).to.deep.equal(['new', 'untouched']);
    expect(readdirSync(folder).sort()).to.deep.equal(['other', 'state']);
  });

  it('has the new content on disk before it replaces the old one, and the new name afterwards', async () => {
    writeFileSync(path, 'old');
    const steps: string[] = [];
    await replaceFile(path, async (file) => {
      const sync = file.sync.bind(file);
      file.sync = async () => {
        await sync();
        steps.push(`content, with ${textOf(path)}`);
      };
      const close = file.close.bind(file);
      file.close = async () => {
        steps.push('closed');
        await close();
      };
      const { constructor } = file as unknown as { constructor: { prototype: typeof file } };
      const { sync: syncFolder } = constructor.prototype;
      constructor.prototype.sync = async function synced(this: typeof file) {
        constructor.prototype.sync = syncFolder;
        steps.push(`folder, with ${textOf(path)}, ${(await this.stat()).isDirectory()}`);
        return syncFolder.call(this);
      };
      await file.writeFile('new');
    });
    expect(steps).to.deep.equal(['content, with old', 'closed', 'folder, with new, true']);
  });
});
