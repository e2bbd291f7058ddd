import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { LONGEST, planOf } from '../scripts/test-plan.ts';
import { fits } from './docs/page.ts';
import { documentationPages, pagesWithCommands } from './docs/page-suite.ts';
import { ROOT } from './docs/workspace.ts';

/** Returns the links of a page to files of the repository. */
function linksOf(page: string) {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/```[^]*?```/g, '');
  return Array.from(text.matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g), ([written, path = '', heading]) => ({
    written,
    file: path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path),
    heading,
  }));
}

/** Returns the anchors of the headings of a page, as code hosts generate them. */
function headingsOf(file: string): ReadonlySet<string> {
  if (!file.endsWith('.md')) return new Set();
  const text = readFileSync(file, 'utf8').replaceAll(/```[^]*?```/g, '');
  const anchors = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(anchors);
}

describe('the plan of the tests', () => {
  const planned = ({ alone, others }: ReturnType<typeof planOf>): string[] =>
    [...alone, ...others].map((file) => relative(ROOT, file));
  const present = globSync('**/*.{test,e2e}.ts', { cwd: ROOT, exclude: ['**/node_modules', '.artifacts'] });

  for (const hasNetworks of [true, false])
    it(`contains each test file and each page with commands once, ${hasNetworks ? 'with' : 'without'} networks`, () => {
      const all = planned(planOf({ hasNetworks }));
      expect(new Set(all).size).to.equal(all.length);
      expect(all).to.include.members(present.filter((file) => file.endsWith('.test.ts')));
      expect(all.filter((file) => file.endsWith('.md'))).to.have.members(pagesWithCommands());
    });

  it('contains each long suite', () => {
    expect(planned(planOf({ e2e: true }))).to.include.members(present.filter((file) => file.endsWith('.e2e.ts')));
  });

  it('contains given files only, and rejects a name without a file', () => {
    const page = 'docs/quick-start.md';
    expect(planned(planOf({ only: [page] }))).to.deep.equal([page]);
    expect(() => planOf({ only: [page, 'no-such.test.ts'] })).to.throw('no file matches no-such.test.ts');
  });

  it('begins with the longest files', () => {
    const { others } = planOf({ hasNetworks: true });
    expect(others.slice(0, LONGEST.length)).to.deep.equal(LONGEST);
  });

  it('runs two pages at the same time only in networks of their own', () => {
    const { alone } = planOf({ hasNetworks: false });
    expect(alone.map((file) => relative(ROOT, file))).to.include.members(pagesWithCommands());
    expect(planOf({ hasNetworks: true }).alone.filter((file) => file.endsWith('.md'))).to.deep.equal([]);
  });
});

describe('the documentation', () => {
  it('has commands on most of its pages', () => {
    const pages = pagesWithCommands();
    expect(documentationPages()).to.include.members(pages);
    expect(pages).to.include.members(['README.md', 'docs/quick-start.md', 'docs/gatewayctl.md']);
    expect(pages.length).to.be.above(70);
  });

  it('is linked from the README, page by page', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const pages = globSync('docs/*.md', { cwd: ROOT });
    expect(pages).to.not.deep.equal([]);
    expect(pages.filter((page) => !readme.includes(`](${page}`))).to.deep.equal([]);
  });

  it('links to pages and headings that exist', () => {
    const broken = documentationPages().flatMap((page) =>
      linksOf(page)
        .filter(({ file, heading }) => !existsSync(file) || (heading && !headingsOf(file).has(heading)))
        .map(({ written }) => `${page}: ${written}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it('compares printed output, with … as a wildcard', () => {
    expect(fits('a 1 b\n', 'a … b')).to.equal(true);
    expect(fits('a 1 c\n', 'a … b')).to.equal(false);
    expect(fits('one\ntwo\nthree', 'one\n…')).to.equal(true);
    expect(fits('zero\none', 'one')).to.equal(false);
  });
});
