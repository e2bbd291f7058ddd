import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { applyDiff, fits, readPage, type Block } from './docs/page.ts';
import { ROOT, Workspace, type Outcome } from './docs/workspace.ts';
import { skipWithout } from './parts/apt.ts';
import { skipWithoutOpa } from './parts/opa.ts';
import { installedEnvoy } from './parts/envoy.ts';

const PAGES = globSync(['README.md', 'packages/*/README.md', 'apps/*/README.md', 'docs/*.md'], {
  cwd: ROOT,
}).toSorted();

/** Programs that a page needs on the machine. */
const PROGRAMS: Readonly<Record<string, (test: Mocha.Context) => Promise<unknown>>> = {
  'docs/ldap.md': async (test) => {
    await skipWithout(test, 'ldapadd', 'ldap-utils');
    process.env.PATH = `${process.env.PATH}:/usr/sbin`;
    await skipWithout(test, 'slapd');
  },
  'docs/opa.md': skipWithoutOpa,
};

function failure(block: Block, done: Outcome): string | undefined {
  const wanted = Number(block.directives.get('exit') ?? 0);
  if (done.code !== wanted) return `exit code ${done.code} instead of ${wanted}\n${done.output}${done.errors}`;
  if (block.expected !== undefined && !fits(done.output, block.expected)) {
    return `output:\n${done.output}${done.errors}\ninstead of:\n${block.expected}`;
  }
  return undefined;
}

async function runCommands(workspace: Workspace, block: Block): Promise<void> {
  if (block.directives.has('background')) return workspace.start(block.text.trim());
  const giveUp = Date.now() + 60_000;
  for (;;) {
    const failed = failure(block, await workspace.run(block.text));
    if (failed === undefined) return;
    if (!block.directives.has('until') || Date.now() > giveUp) throw new Error(failed);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function runBlock(workspace: Workspace, block: Block): Promise<void> {
  const file = block.text.match(/^(?:#|\/\/|<!--) file: (\S+)(?: -->)?\n/)?.[1];
  const replaced = block.directives.get('replace');
  if (replaced) workspace.write(replaced, applyDiff(workspace.read(replaced), block.text));
  else if (file) workspace.write(file, block.text);
  else if (block.language === 'sh') await runCommands(workspace, block);
  else if (block.language === 'ts' || block.language === 'js')
    throw new Error('a program needs a first line "// file: NAME"');
}

describe('the documentation', () => {
  for (const page of PAGES) {
    const blocks = readPage(join(ROOT, page)).filter((block) => !block.directives.has('not run'));
    if (!blocks.some((block) => ['sh', 'ts', 'js', 'diff'].includes(block.language))) continue;

    it(`${page} works as printed`, async function () {
      await PROGRAMS[page]?.(this);
      this.timeout(900_000);
      const workspace = new Workspace();
      try {
        if (blocks.some(({ text }) => text.startsWith('envoy ')))
          workspace.addProgram('envoy', `'${await installedEnvoy()}' --disable-hot-restart`);
        for (const block of blocks) {
          await runBlock(workspace, block).catch((error: Error) => {
            throw new Error(`${relative(ROOT, join(ROOT, page))}:${block.line}: ${error.message}\n${block.text}`);
          });
        }
      } finally {
        await workspace.close();
      }
    });
  }

  it('compares printed output, with … as a wildcard', () => {
    expect(fits('a 1 b\n', 'a … b')).to.equal(true);
    expect(fits('a 1 c\n', 'a … b')).to.equal(false);
    expect(fits('one\ntwo\nthree', 'one\n…')).to.equal(true);
    expect(fits('zero\none', 'one')).to.equal(false);
  });
});
