import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

  for (const page of ['express', 'fastify', 'hono', 'nest'])
    it(`name the packages to install, in docs/${page}.md`, () => {
      const path = join(ROOT, 'docs', `${page}.md`);
      const programs = readPage(path).filter(({ language }) => language === 'ts');
      const imports = programs.flatMap(({ text }) => [...text.matchAll(/^(?:import|.*from) '([^'.][^']*)'/gm)]);
      const packages = imports.map(([, name]) => /^(?:@[^/]+\/)?[^/]+/.exec(name!)![0]);
      const prose = readFileSync(path, 'utf8');
      for (const name of new Set(packages.filter((each) => !each.startsWith('node:')))) {
        const own = /^@edge-gateway\/(.+)/.exec(name)?.[1];
        if (own) expect(prose).to.match(new RegExp(`install the packages[^.]*\\.md#install[^.]*\`${own}\``));
        else expect(prose, name).to.match(new RegExp(`npm install (?:[^\`]* )?${name}[ \`]`));
      }
    });
});
