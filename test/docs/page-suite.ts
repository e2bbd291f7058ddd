import { globSync } from 'node:fs';
import { join } from 'node:path';
import { skipWithout } from '../parts/apt.ts';
import { installedEnvoy } from '../parts/envoy.ts';
import { skipWithoutOpa } from '../parts/opa.ts';
import { fits, applyDiff, readPage, type Block } from './page.ts';
import { ROOT, Workspace, type Outcome } from './workspace.ts';

/** Languages of blocks that run, or that others need to run. */
const RUN = new Set(['sh', 'ts', 'js', 'diff']);

/** Programs that a page needs on the machine. */
const PROGRAMS: Readonly<Record<string, (test: Mocha.Context) => Promise<unknown>>> = {
  'docs/ldap.md': async (test) => {
    await skipWithout(test, 'ldapadd', 'ldap-utils');
    process.env.PATH = `${process.env.PATH}:/usr/sbin`;
    await skipWithout(test, 'slapd');
  },
  'docs/opa.md': skipWithoutOpa,
  'docs/rate-limits-redis.md': (test) => skipWithout(test, 'redis-server'),
};

/** Returns the pages of the documentation, relative to the root of the repository. */
export function documentationPages(): string[] {
  return globSync(['README.md', 'packages/*/README.md', 'apps/*/README.md', 'docs/*.md'], { cwd: ROOT }).toSorted();
}

/** Returns the pages with commands, those with the most commands first. */
export function pagesWithCommands(): string[] {
  const counted = documentationPages().map((page) => [page, commandsOf(page).length] as const);
  return counted
    .filter(([, count]) => count > 0)
    .toSorted(([, one], [, other]) => other - one)
    .map(([page]) => page);
}

function shownBlocks(page: string): Block[] {
  return readPage(join(ROOT, page)).filter(({ directives }) => !directives.has('not run'));
}

function commandsOf(page: string): Block[] {
  return shownBlocks(page).filter(({ language }) => RUN.has(language));
}

/** Declares the test that runs the commands of a page as a reader would. */
export function describePage(page: string): void {
  describe('the documentation', () => {
    it(`${page} works as printed`, async function () {
      await PROGRAMS[page]?.(this);
      this.timeout(900_000);
      const blocks = shownBlocks(page);
      const workspace = await Workspace.create();
      if (page !== 'README.md') workspace.shortenNpx();
      try {
        if (blocks.some(({ text }) => text.startsWith('envoy ')))
          workspace.addProgram('envoy', `'${await installedEnvoy()}' --disable-hot-restart`);
        for (const block of blocks) {
          await runBlock(workspace, block).catch((error: Error) => {
            throw new Error(`${page}:${block.line}: ${error.message}\n${block.text}`);
          });
        }
      } finally {
        await workspace.close();
      }
    });
  });
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

function failure(block: Block, done: Outcome): string | undefined {
  const wanted = Number(block.directives.get('exit') ?? 0);
  if (done.code !== wanted) return `exit code ${done.code} instead of ${wanted}\n${done.output}${done.errors}`;
  if (block.expected !== undefined && !fits(done.output, block.expected)) {
    return `output:\n${done.output}${done.errors}\ninstead of:\n${block.expected}`;
  }
  return undefined;
}
