import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { readBuildInfo } from '../../src/observe/build-info.ts';

describe('readBuildInfo', () => {
  const dir = mkdtempSync(join(tmpdir(), 'build-'));
  const root = pathToFileURL(`${dir}/`);
  before(() => writeFileSync(join(dir, 'package.json'), '{"version":"1.2.3"}'));
  after(() => rmSync(dir, { recursive: true }));

  it('returns the version of a package in its repository', () => {
    expect(readBuildInfo(root)).to.deep.equal({ version: '1.2.3' });
  });

  it('returns the commit of a packed package', () => {
    writeFileSync(join(dir, 'build.json'), '{"commit":"abc1234"}');
    expect(readBuildInfo(root)).to.deep.equal({ version: '1.2.3', commit: 'abc1234' });
  });

  it('throws without a package', () => {
    expect(() => readBuildInfo(new URL('none/', root))).to.throw();
  });
});
