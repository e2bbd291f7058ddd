import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { expect } from 'chai';
import { ROOT } from './docs/workspace.ts';
import { skipWithout } from './parts/apt.ts';

describe('the man pages', () => {
  it('are valid', async function () {
    await skipWithout(this, 'groff');
    const pages = globSync('packages/cli/man/*.1', { cwd: ROOT });
    expect(pages.length).to.be.greaterThan(20);
    const { status, stderr } = spawnSync('groff', ['-man', '-ww', '-z', ...pages], { cwd: ROOT, encoding: 'utf8' });
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  });
});
