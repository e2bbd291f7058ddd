import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

const SOURCE = new URL('../../src/state-file/compile-cache.ts', import.meta.url);
/** The directory that Node.js uses afterwards. */
const PROGRAM = `
  import { getCompileCacheDir } from 'node:module';
  import { keepCompiledCode } from ${JSON.stringify(SOURCE.href)};
  keepCompiledCode(process.env);
  console.log(getCompileCacheDir());
  await import('./loaded.mjs');
`;

describe('the cache of compiled code', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'compile-cache-'));
    writeFileSync(join(folder, 'program.mjs'), PROGRAM);
    writeFileSync(join(folder, 'loaded.mjs'), 'console.log("loaded");');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Returns the cache directory of a program that was started with these variables, inside the folder. */
  function directoryOf(env: NodeJS.ProcessEnv): string {
    const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'program.mjs')], {
      env: { HOME: join(folder, 'home'), ...env },
      encoding: 'utf8',
    });
    const [directory = '', loaded] = stdout.split('\n');
    expect(loaded, stderr).to.equal('loaded');
    return directory.replace(`${folder}/`, '');
  }
  const inside = (name: string): string => join(folder, name);

  it('is below XDG_CACHE_HOME, for its owner only, and contains the modules', () => {
    expect(directoryOf({ XDG_CACHE_HOME: inside('cache') })).to.match(/^cache\/edge-gateway\/v/);
    expect(statSync(inside('cache/edge-gateway')).mode & 0o777).to.equal(0o700);
    const [version] = readdirSync(inside('cache/edge-gateway'));
    expect(readdirSync(inside(`cache/edge-gateway/${version}`))).not.to.deep.equal([]);
  });

  it('is below ~/.cache by default', () => {
    mkdirSync(inside('home'));
    expect(directoryOf({})).to.match(/^home\/\.cache\/edge-gateway\/v/);
  });

  it('is the directory of the systemd unit', () => {
    expect(directoryOf({ CACHE_DIRECTORY: `${inside('unit')}:${inside('other')}` })).to.match(/^unit\/v/);
  });

  it('is left to the variables of Node.js', () => {
    const own = { XDG_CACHE_HOME: inside('cache') };
    expect(directoryOf({ ...own, NODE_COMPILE_CACHE: inside('node') })).to.match(/^node\/v/);
    expect(directoryOf({ ...own, NODE_DISABLE_COMPILE_CACHE: '1' })).to.equal('undefined');
    expect(existsSync(inside('cache'))).to.equal(false);
  });

  it('is not used without a home directory, or where a file is in the way', () => {
    expect(directoryOf({ HOME: inside('absent') })).to.equal('undefined');
    writeFileSync(inside('cache'), '');
    expect(directoryOf({ XDG_CACHE_HOME: inside('cache') })).to.equal('undefined');
    expect(directoryOf({ CACHE_DIRECTORY: inside('cache') })).to.equal('undefined');
  });

  it('is not used if other users can write to it, or replace it', () => {
    mkdirSync(inside('cache/edge-gateway'), { recursive: true });
    chmodSync(inside('cache/edge-gateway'), 0o770);
    expect(directoryOf({ XDG_CACHE_HOME: inside('cache') })).to.equal('undefined');
    chmodSync(inside('cache/edge-gateway'), 0o700);
    chmodSync(inside('cache'), 0o777);
    expect(directoryOf({ XDG_CACHE_HOME: inside('cache') })).to.equal('undefined');
    chmodSync(inside('cache'), 0o1777);
    expect(directoryOf({ XDG_CACHE_HOME: inside('cache') })).to.match(/^cache\/edge-gateway\/v/);
  });

  it('is not used through a link', () => {
    mkdirSync(inside('cache'));
    mkdirSync(inside('own'));
    symlinkSync(inside('own'), inside('cache/edge-gateway'));
    expect(directoryOf({ XDG_CACHE_HOME: inside('cache') })).to.equal('undefined');
  });
});
