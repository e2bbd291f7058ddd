import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readPage } from './docs/page.ts';
import { ROOT } from './docs/workspace.ts';

const PAGES = globSync(['README.md', 'docs/*.md', 'packages/*/README.md', 'apps/*/README.md'], { cwd: ROOT });
/** Inside the repository, so that imports are found. */
const FOLDER = join(ROOT, '.artifacts', 'programs');

describe('programs in the documentation', () => {
  before(() => rmSync(FOLDER, { recursive: true, force: true }));

  it('type-check against the packages', () => {
    let programs = 0;
    for (const page of PAGES) {
      for (const { language, text, line } of readPage(join(ROOT, page))) {
        if (language !== 'ts') continue;
        const file = join(FOLDER, page.replaceAll(/[/.]/g, '-'), `line-${line}.ts`);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
        programs++;
      }
    }
    expect(programs).to.be.greaterThan(10);
    // As a reader's project would have it, not as ours.
    const lenient = {
      noImplicitAny: false,
      noImplicitReturns: false,
      noUnusedLocals: false,
      noUnusedParameters: false,
      experimentalDecorators: true,
    };
    const compilerOptions = { ...lenient, rootDir: '../..' };
    const config = { extends: '../../tsconfig.test.json', compilerOptions, include: ['**/*.ts'] };
    writeFileSync(join(FOLDER, 'tsconfig.json'), JSON.stringify(config));
    const { status, stdout } = spawnSync('tsc', ['-p', FOLDER], { encoding: 'utf8' });
    expect(stdout.trim()).to.equal('');
    expect(status).to.equal(0);
  });
});
