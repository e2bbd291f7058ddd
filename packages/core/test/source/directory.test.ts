import { execFileSync } from 'node:child_process';
import fs, {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { skip } from '../../../../test/parts/skip.ts';
import { directorySource, type DirectoryOptions } from '../../src/source/directory.ts';
import type { Source, WrittenResource } from '../../src/source/source.ts';
import { sourceContract, textSourceContract, type SourceFixture } from './source-contract.ts';
import { until } from '../../../../test/parts/until.ts';

const temporary = (): string => mkdtempSync(join(tmpdir(), 'resources-'));
const upstream = (name: string): string => `kind: Upstream\nmetadata: {name: ${name}}\n`;

async function createFixture(texts: Record<string, string>): Promise<SourceFixture> {
  const directory = temporary();
  const fileOf = (name: string): string => join(directory, `${name}.yaml`);
  for (const [name, text] of Object.entries(texts)) writeFileSync(fileOf(name), text);
  return {
    source: directorySource(directory),
    put: (name, text) => writeFileSync(fileOf(name), text),
    remove: (name) => unlinkSync(fileOf(name)),
    unit: fileOf,
    dispose: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

sourceContract('directorySource', createFixture);
textSourceContract('directorySource', createFixture);

describe('directorySource', () => {
  let directory: string;
  let source: Source;
  let held: Map<string, readonly WrittenResource[]>;
  let codes: string[];
  const sockets: Server[] = [];

  const path = (...steps: string[]): string => join(directory, ...steps);
  const nameIn = (...steps: string[]): unknown =>
    (held.get(path(...steps))?.[0]?.value as { metadata: { name: string } } | undefined)?.metadata.name;
  const codeIn = (...steps: string[]): string | undefined => held.get(path(...steps))?.[0]?.issues[0]?.code;

  async function start(options?: DirectoryOptions): Promise<void> {
    source = directorySource(directory, options);
    await source.start((change) => {
      for (const [unit, written] of change) {
        codes.push(...written.flatMap(({ issues }) => issues.map(({ code }) => code)));
        if (written.length > 0) held.set(unit, written);
        else held.delete(unit);
      }
    });
  }

  beforeEach(() => {
    directory = temporary();
    held = new Map();
    codes = [];
  });
  afterEach(async () => {
    await source.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('reads yaml, yml and json files at any depth, and no others', async () => {
    mkdirSync(path('deep/er'), { recursive: true });
    mkdirSync(path('.git'));
    for (const name of [
      'a.yaml',
      'b.yml',
      'deep/er/c.yaml',
      '.hidden.yaml',
      '.git/d.yaml',
      'e.yaml~',
      'f.txt',
      '.g.yaml.swp',
    ])
      writeFileSync(path(name), upstream('x'));
    writeFileSync(path('h.json'), '{"kind": "Upstream"}');
    await start({ watch: false });
    expect([...held.keys()].sort()).to.deep.equal([
      path('a.yaml'),
      path('b.yml'),
      path('deep/er/c.yaml'),
      path('h.json'),
    ]);
  });

  it('reads once without watch', async () => {
    writeFileSync(path('a.yaml'), upstream('a'));
    await start({ watch: false });
    writeFileSync(path('a.yaml'), upstream('b'));
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(nameIn('a.yaml')).to.equal('a');
  });

  it('fails to start without its directory', async () => {
    source = directorySource(path('missing'));
    const error = await source.start(() => {}).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'ERR_CORE_DIRECTORY_UNREADABLE' });
  });

  it('rejects a file above the size limit', async () => {
    writeFileSync(path('a.yaml'), `# ${'x'.repeat(200)}\n`);
    await start({ watch: false, maxFileBytes: 100 });
    expect(codeIn('a.yaml')).to.equal('FILE_TOO_LARGE');
  });

  it('reports an unreadable file once, and reads it when permissions allow', async function () {
    if (!process.geteuid || !process.seteuid) return skip(this, 'Windows has no file modes');
    const root = process.geteuid() === 0;
    chmodSync(directory, 0o755);
    writeFileSync(path('a.yaml'), upstream('a'));
    chmodSync(path('a.yaml'), 0o000);
    if (root) process.seteuid(65534);
    try {
      await start();
    } finally {
      if (root) process.seteuid(0);
    }
    expect(held.get(path('a.yaml'))).to.have.length(1);
    expect(held.get(path('a.yaml'))![0]!.issues[0]).to.include({
      code: 'UNREADABLE',
      message: 'permission denied',
    });
    chmodSync(path('a.yaml'), 0o644);
    await until(() => nameIn('a.yaml') === 'a');
  });

  it('follows new and moved folders', async () => {
    await start();
    mkdirSync(path('one/two'), { recursive: true });
    writeFileSync(path('one/two/a.yaml'), upstream('a'));
    await until(() => nameIn('one/two/a.yaml') === 'a');
    renameSync(path('one'), path('three'));
    await until(() => nameIn('three/two/a.yaml') === 'a' && !held.has(path('one/two/a.yaml')));
    rmSync(path('three'), { recursive: true });
    await until(() => held.size === 0);
  });

  it('reads a file that an editor replaces by renaming', async () => {
    writeFileSync(path('a.yaml'), upstream('a'));
    await start();
    writeFileSync(path('.a.yaml.swp'), upstream('b'));
    renameSync(path('.a.yaml.swp'), path('a.yaml'));
    await until(() => nameIn('a.yaml') === 'b');
  });

  it('waits for a file that is written in parts', async () => {
    await start();
    // It waits for 300 ms: a machine on which the writing took longer has to do it again.
    for (let tookMs = Infinity; tookMs > 200;) {
      writeFileSync(path('a.yaml'), upstream('a'));
      await until(() => nameIn('a.yaml') === 'a');
      codes.length = 0;
      const from = performance.now();
      writeFileSync(path('a.yaml'), '');
      for (const part of ['kind: "Upstr', 'eam"\nmetadata: {na', 'me: b', '}\n']) {
        await appendFile(path('a.yaml'), part);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      tookMs = performance.now() - from;
      await until(() => nameIn('a.yaml') === 'b');
    }
    expect(codes).to.deep.equal([]);
  });

  it('reports a file that stays empty', async () => {
    writeFileSync(path('a.yaml'), upstream('a'));
    await start();
    writeFileSync(path('a.yaml'), '');
    await until(() => codeIn('a.yaml') === 'EMPTY_FILE');
  });

  it('is not starved by a file that is touched all the time', async () => {
    writeFileSync(path('a.yaml'), upstream('a'));
    await start();
    let touches = 0;
    for (; nameIn('a.yaml') === 'a' || touches < 1000; touches++) {
      writeFileSync(path('a.yaml'), upstream(`a${touches}`));
      utimesSync(path('a.yaml'), new Date(), new Date());
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => nameIn('a.yaml') === `a${touches - 1}`);
  });

  it('follows the swap of a mounted configuration', async () => {
    const mount = (version: string, name: string): void => {
      mkdirSync(path(version));
      writeFileSync(path(version, 'a.yaml'), upstream(name));
      symlinkSync(version, path('..data_tmp'));
      renameSync(path('..data_tmp'), path('..data'));
    };
    mount('..2026_1', 'a');
    symlinkSync('..data/a.yaml', path('a.yaml'));
    await start();
    expect([...held.keys()]).to.deep.equal([path('a.yaml')]);
    mount('..2026_2', 'b');
    rmSync(path('..2026_1'), { recursive: true });
    await until(() => nameIn('a.yaml') === 'b');
    expect(codes).to.deep.equal([]);
  });

  it('follows links to other files and folders, without loops', async () => {
    const elsewhere = temporary();
    try {
      writeFileSync(join(elsewhere, 'a.yaml'), upstream('a'));
      mkdirSync(join(elsewhere, 'folder'));
      writeFileSync(join(elsewhere, 'folder/b.yaml'), upstream('b'));
      symlinkSync(join(elsewhere, 'a.yaml'), path('a.yaml'));
      symlinkSync(join(elsewhere, 'folder'), path('linked'));
      symlinkSync(directory, join(elsewhere, 'folder/back'));
      symlinkSync('.', path('self'));
      await start();
      expect([...held.keys()].sort()).to.deep.equal([path('a.yaml'), path('linked/b.yaml')]);
      writeFileSync(join(elsewhere, 'folder/b.yaml'), upstream('c'));
      await until(() => nameIn('linked/b.yaml') === 'c');
      writeFileSync(join(elsewhere, 'folder/d.yaml'), upstream('d'));
      await until(() => nameIn('linked/d.yaml') === 'd');
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  it('survives the removal of the directory during a poll', async () => {
    const elsewhere = temporary();
    const { realpathSync } = fs;
    try {
      writeFileSync(join(elsewhere, 'a.yaml'), upstream('a'));
      symlinkSync(join(elsewhere, 'a.yaml'), path('a.yaml'));
      await start();
      let looks = 0;
      // The first look at the directory finds it, the second does not.
      fs.realpathSync = Object.assign((...args: Parameters<typeof realpathSync>) => {
        if (args[0] === directory && looks++ % 2 === 1) throw Object.assign(new Error('gone'), { code: 'ENOENT' });
        return realpathSync(...args);
      }, realpathSync);
      syncBuiltinESMExports();
      await until(() => looks >= 4);
    } finally {
      fs.realpathSync = realpathSync;
      syncBuiltinESMExports();
      rmSync(elsewhere, { recursive: true });
    }
    writeFileSync(path('b.yaml'), upstream('b'));
    await until(() => nameIn('b.yaml') === 'b');
  });

  it('follows links to files that it also reads, or ignores', async () => {
    mkdirSync(path('.hidden'));
    writeFileSync(path('.hidden/a.yaml'), upstream('a'));
    writeFileSync(path('b.yaml'), upstream('b'));
    symlinkSync('.hidden/a.yaml', path('a.yaml'));
    symlinkSync('b.yaml', path('c.yaml'));
    await start();
    writeFileSync(path('.hidden/a.yaml'), upstream('changed'));
    writeFileSync(path('b.yaml'), upstream('changed'));
    await until(() => ['a.yaml', 'b.yaml', 'c.yaml'].every((name) => nameIn(name) === 'changed'));
  });

  it('reports a dangling link until its target exists', async () => {
    await start();
    symlinkSync('target', path('a.yaml'));
    await until(() => codeIn('a.yaml') === 'UNREADABLE');
    writeFileSync(path('target'), upstream('a'));
    await until(() => nameIn('a.yaml') === 'a');
  });

  it('keeps its resources while its directory is missing, and continues when it is back', async () => {
    writeFileSync(path('a.yaml'), upstream('a'));
    writeFileSync(path('b.yaml'), upstream('b'));
    await start();
    const problem = (): string | undefined => held.get(directory)?.[0]?.issues[0]?.message;
    renameSync(directory, `${directory}.away`);
    await until(() => problem() === 'the directory cannot be found: its last resources stay in use');
    expect([nameIn('a.yaml'), nameIn('b.yaml')]).to.deep.equal(['a', 'b']);
    mkdirSync(directory);
    writeFileSync(path('a.yaml'), upstream('c'));
    await until(() => nameIn('a.yaml') === 'c' && !held.has(path('b.yaml')));
    expect(problem()).to.equal(undefined);
    writeFileSync(path('a.yaml'), upstream('d'));
    await until(() => nameIn('a.yaml') === 'd');
    rmSync(`${directory}.away`, { recursive: true });
  });

  it('continues when its directory is deleted and created again', async () => {
    writeFileSync(path('a.yaml'), upstream('a'));
    await start();
    for (const name of ['b', 'c']) {
      rmSync(directory, { recursive: true });
      mkdirSync(directory);
      writeFileSync(path('a.yaml'), upstream(name));
      await until(() => nameIn('a.yaml') === name);
    }
  });

  it('distinguishes files from a folder named like one and from a pipe', async () => {
    mkdirSync(path('folder.yaml'));
    writeFileSync(path('folder.yaml/a.yaml'), upstream('a'));
    execFileSync('mkfifo', [path('pipe.yaml')]);
    await start({ watch: false });
    expect([...held.keys()].toSorted()).to.deep.equal([path('folder.yaml/a.yaml'), path('pipe.yaml')]);
    expect(held.get(path('pipe.yaml'))![0]!.issues[0]).to.include({
      code: 'UNREADABLE',
      message: 'it is a named pipe',
    });
  });

  const REPLACEMENTS: Record<string, readonly [put: (file: string) => void, message: string]> = {
    'a named pipe': [(file) => execFileSync('mkfifo', [file]), 'it is a named pipe'],
    'a folder': [(file) => mkdirSync(file), 'it is a directory'],
    'a link to a device': [(file) => symlinkSync('/dev/null', file), 'it is a device'],
    'a link to a folder': [(file) => symlinkSync(temporary(), file), 'it is a directory'],
    'a socket': [
      (file) => {
        const server = createServer().listen(file);
        sockets.push(server);
      },
      'it is a socket',
    ],
  };
  for (const [what, [put, message]] of Object.entries(REPLACEMENTS)) {
    it(`reports a file that is replaced by ${what}, and reads it when it is a file again`, async () => {
      writeFileSync(path('a.yaml'), upstream('a'));
      await start();
      const removals: string[] = [];
      const known = held;
      held = Object.assign(new Map(known), { delete: (unit: string) => (removals.push(unit), true) });
      unlinkSync(path('a.yaml'));
      put(path('a.yaml'));
      await until(() => held.get(path('a.yaml'))?.[0]?.issues[0]?.message === message);
      expect(codeIn('a.yaml')).to.equal('UNREADABLE');
      expect(removals).to.deep.equal([]);
      for (const server of sockets.splice(0)) server.close();
      rmSync(path('a.yaml'), { recursive: true, force: true });
      writeFileSync(path('a.yaml'), upstream('b'));
      await until(() => nameIn('a.yaml') === 'b');
    });
  }

  it('keeps files below a folder that becomes unreadable, and below a link that cannot be followed', async function () {
    if (!process.geteuid || !process.seteuid) return skip(this, 'Windows has no file modes');
    const root = process.geteuid() === 0;
    const elsewhere = temporary();
    chmodSync(directory, 0o755);
    for (const folder of ['sub', 'sub/deep', 'other']) mkdirSync(path(folder));
    mkdirSync(join(elsewhere, 'linked'));
    symlinkSync(join(elsewhere, 'linked'), path('link'));
    const files = [path('sub/a.yaml'), path('sub/deep/b.yaml'), path('other/c.yaml'), path('link/d.yaml')];
    for (const file of files) writeFileSync(file, upstream('a'));
    chmodSync(elsewhere, 0o755);
    if (root) process.seteuid(65534);
    try {
      await start();
      expect([...held.keys()].toSorted()).to.deep.equal(files.toSorted());
      if (root) process.seteuid(0);
      chmodSync(path('sub'), 0);
      chmodSync(elsewhere, 0);
      unlinkSync(path('other/c.yaml'));
      if (root) process.seteuid(65534);
      await until(() => codes.filter((code) => code === 'UNREADABLE').length >= 2 && !held.has(path('other/c.yaml')));
      // Broken files are waited for: what is broken longer would be delivered by then.
      for (const file of [path('other/x.yaml'), path('other/y.yaml')]) {
        if (root) process.seteuid(0);
        writeFileSync(file, 'a: [');
        if (root) process.seteuid(65534);
        await until(() => held.has(file));
      }
      for (const file of ['sub/a.yaml', 'sub/deep/b.yaml', 'link/d.yaml']) expect(nameIn(file), file).to.equal('a');
    } finally {
      if (root) process.seteuid(0);
      for (const folder of [path('sub'), elsewhere]) chmodSync(folder, 0o755);
    }
    await until(() => !held.has(path('sub')) && !held.has(path('link')));
    unlinkSync(path('sub/deep/b.yaml'));
    await until(() => !held.has(path('sub/deep/b.yaml')));
    expect(nameIn('sub', 'a.yaml')).to.equal('a');
    rmSync(elsewhere, { recursive: true });
  });

  it('delivers nothing and watches nothing after it was closed while it starts', async () => {
    for (let i = 0; i < 20; i++) writeFileSync(path(`${i}.yaml`), upstream(`u${i}`));
    const { watch } = fs;
    let open = 0;
    fs.watch = ((...args: Parameters<typeof watch>) => {
      open++;
      return watch(...args).once('close', () => open--);
    }) as typeof watch;
    syncBuiltinESMExports();
    try {
      source = directorySource(directory);
      let changes = 0;
      const starting = source.start(() => changes++);
      await source.close();
      await starting;
      await until(() => open === 0);
      expect(changes).to.equal(0);
    } finally {
      fs.watch = watch;
      syncBuiltinESMExports();
    }
  });
});
