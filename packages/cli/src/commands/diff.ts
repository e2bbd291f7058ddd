import { resolve } from 'node:path';
import { issueData, type ControlPlaneState, type Problem } from '@edge-gateway/core';
import type { Command } from 'commander';
import { compareServed, partsOf, renderComparison, type ProxyDiff } from '../diff/comparison.ts';
import { gatewayOf, type Connection } from '../gateway/connection.ts';
import { addExamples, exitStatus } from '../command-line/command-help.ts';
import { keepServed, withKept } from '../diff/keep-served.ts';
import { defaultGatewaysOf, loadOffline } from '../resources/load.ts';
import { loadAfter } from '../diff/load-after.ts';
import { entries, idOf, items } from '../resources/objects.ts';
import { countLine, countsOf, problemLines, shownProblems, validationOf } from '../output/problem-lines.ts';
import { readSnapshot, readSnapshots } from '../gateway/pages.ts';
import { outputOption } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';

interface DiffFlags {
  readonly against?: string;
  readonly exitCode?: boolean;
  readonly output: 'table' | 'json';
}

/** `diff DIR`: what a directory would change in the served configuration. */
export function addDiff(program: Command, io: Terminal): void {
  const command = program
    .command('diff')
    .description('Show what a directory of resources would change in the served configuration.')
    .argument('<dir>', 'directory of resources')
    .option('--against <dir>', 'compare with this directory instead of the running gateway')
    .option('--exit-code', 'exit with status 1 if there are differences')
    .addOption(outputOption('table', 'json'));
  addExamples(command, [
    ['gatewayctl diff ./resources', 'what the running gateway would change'],
    ['gatewayctl diff ./new --against ./old --exit-code', 'needs no gateway, for CI'],
  ]);
  command.action(async (directory: string) => {
    const flags = command.opts<DiffFlags>();
    const compared = await io.progress(`Reading ${directory}`, () => compare(io, command, directory));
    const { diffs, problems } = compared;
    const counts = countsOf(problems);
    if (flags.output === 'table') printTable(io, compared);
    else {
      const differences = partsOf(diffs).length;
      io.out(
        JSON.stringify({ differences, ...counts, problems: problems.map(issueData), proxies: diffs }, undefined, 2),
      );
    }
    if (counts.errors > 0 || (flags.exitCode && diffs.length > 0)) throw exitStatus(1);
  });
}

const KEPT_VERSION = ' Rejected resources keep their last good version, as in a running gateway.';

interface Compared {
  readonly diffs: readonly ProxyDiff[];
  readonly problems: readonly Problem[];
  /** What stays in use in spite of the problems, as a sentence; empty if nothing does. */
  readonly kept: string;
}

function printTable({ out, outWrapped, colors }: Terminal, { diffs, problems, kept }: Compared): void {
  out(renderComparison(diffs, colors));
  if (problems.length === 0) return;
  outWrapped(['', 'Problems', ...problemLines(problems, colors), `${countLine(problems)}.${kept}`].join('\n'));
}

async function compare(io: Terminal, command: Command, directory: string): Promise<Compared> {
  const { against } = command.opts<DiffFlags>();
  const connection = against === undefined ? gatewayOf(io, command) : undefined;
  const served = connection
    ? (await readSnapshots(connection)).map(({ snapshot }) => snapshot)
    : [...(await loadOffline(io, against!)).snapshots.values()];
  const defaultGateways = defaultGatewaysOf(served);
  let planned = await loadOffline(io, directory, defaultGateways);
  if (validationOf(planned).length > 0) {
    const held = connection ? { resources: await readInUse(connection) } : { directory: resolve(io.cwd, against!) };
    planned = await loadAfter(held, resolve(io.cwd, directory), defaultGateways);
  }
  const snapshots = [...planned.snapshots.values()];
  const kept = keepServed(snapshots, connection ? served : []);
  const problems = withKept(validationOf(planned), snapshots, kept.isKept);
  return {
    diffs: compareServed(served, kept.snapshots),
    problems: shownProblems(io, problems),
    kept: keptBy(planned, problems),
  };
}

/** A reference to a missing resource rejects nothing, although `diff` counts it as an error. */
function keptBy({ issues }: ControlPlaneState, problems: readonly Problem[]): string {
  if (issues.some(({ severity }) => severity === 'error')) return KEPT_VERSION;
  const broken = problems.filter(({ code }) => code === 'MISSING_REFERENCE');
  const kept = broken.filter(({ effect }) => effect === 'keeps-last-good').length;
  if (kept === 0) return '';
  if (broken.length === 1) return ' The route keeps its last good destination, as in a running gateway.';
  return ` ${kept} of ${broken.length} broken references ${kept === 1 ? 'keeps' : 'keep'} what was last good, as in a running gateway.`;
}

/** Returns the resources that a running gateway uses, including last good versions of rejected ones. */
async function readInUse(connection: Connection): Promise<readonly unknown[]> {
  const [{ data }, edge] = await Promise.all([readSnapshot(connection, 'input'), connection.snapshot('edge')]);
  const inUse = new Set(entries(edge.data).flatMap(([, resources]) => items(resources).map(idOf)));
  return data.filter((resource) => inUse.has(idOf(resource)));
}
