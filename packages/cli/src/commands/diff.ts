import { resolve } from 'node:path';
import { issueData, type Problem } from '@edge-gateway/core';
import type { Command } from 'commander';
import { compareServed, partsOf, renderComparison, type ProxyDiff } from '../diff/comparison.ts';
import { gatewayOf, type Connection } from '../gateway/connection.ts';
import { addExamples, exitStatus } from '../command-line/command-help.ts';
import { predictServed } from '../diff/predict-served.ts';
import { keptSentence, withOutcomes } from '../diff/outcomes.ts';
import { defaultGatewaysOf, loadOffline } from '../resources/load.ts';
import { loadAfter, type Held } from '../diff/load-after.ts';
import { entries, idOf, items } from '../resources/objects.ts';
import { countLine, countsOf, problemLines, shownProblems, validationOf } from '../output/problem-lines.ts';
import { readProblems, readSnapshot, readSnapshots } from '../gateway/pages.ts';
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
  const planned = await loadOffline(io, directory, defaultGateways);
  if (validationOf(planned).length === 0)
    return { diffs: compareServed(served, [...planned.snapshots.values()]), problems: [], kept: '' };
  const held = connection ? await readHeld(connection) : { directory: resolve(io.cwd, against!) };
  const after = await loadAfter(held, resolve(io.cwd, directory), defaultGateways);
  const { snapshots, uncertain } = connection
    ? predictServed(after, served)
    : { snapshots: [...after.state.snapshots.values()], uncertain: [] };
  const outcome = { state: after.state, snapshots, known: 'problems' in held ? held.problems : [] };
  const problems = withOutcomes(validationOf(after.state), outcome);
  const unknown = uncertain.map((host) => ` It is not known which last good routes ${host} would keep.`);
  return {
    diffs: compareServed(served, snapshots),
    problems: shownProblems(io, problems),
    kept: keptSentence(outcome, planned, problems) + unknown.join(''),
  };
}

/** Returns the resources that a running gateway uses, including last good versions of rejected ones, and its problems. */
async function readHeld(connection: Connection): Promise<Held> {
  const [{ data }, edge, problems] = await Promise.all([
    readSnapshot(connection, 'input'),
    connection.snapshot('edge'),
    readProblems(connection),
  ]);
  const inUse = new Set(entries(edge.data).flatMap(([, resources]) => items(resources).map(idOf)));
  return { resources: data.filter((resource) => inUse.has(idOf(resource))), problems };
}
