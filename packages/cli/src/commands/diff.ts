import { Option, type Command } from 'commander';
import { compareServed, partsOf, renderComparison } from '../comparison.ts';
import { exitStatus } from '../exit-status.ts';
import { gatewayOf } from '../gateway.ts';
import { examples } from '../help.ts';
import type { Io } from '../io.ts';
import { defaultGatewaysOf, loadOffline } from '../offline.ts';
import { readSnapshots } from '../read-snapshots.ts';
import { createTerminal } from '../terminal.ts';

interface DiffFlags {
  readonly against?: string;
  readonly exitCode?: boolean;
  readonly output: 'table' | 'json';
}

/** `diff DIR`: what a directory would change in the served configuration. */
export function addDiff(program: Command, io: Io): void {
  const command = program
    .command('diff')
    .description('Show what a directory of resources would change in the served configuration.')
    .argument('<dir>', 'directory of resources')
    .option('--against <dir>', 'compare with this directory instead of the running gateway')
    .option('--exit-code', 'exit status 1 when there are differences')
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['table', 'json']).default('table'));
  command.addHelpText(
    'after',
    examples([
      ['gatewayctl diff ./resources', 'what the running gateway would change'],
      ['gatewayctl diff ./new --against ./old --exit-code', 'without a gateway, for CI'],
    ]),
  );
  command.action(async (directory: string) => {
    const flags = command.opts<DiffFlags>();
    const terminal = createTerminal(io);
    const diffs = await terminal.progress(`Reading ${directory}`, () => compare(io, command, directory));
    if (flags.output === 'table') terminal.out(renderComparison(diffs, terminal.colors));
    else terminal.out(JSON.stringify({ differences: partsOf(diffs).length, proxies: diffs }, undefined, 2));
    if (flags.exitCode && diffs.length > 0) throw exitStatus(1);
  });
}

async function compare(io: Io, command: Command, directory: string) {
  const { against } = command.opts<DiffFlags>();
  const served =
    against === undefined
      ? (await readSnapshots(gatewayOf(io, command))).map(({ snapshot }) => snapshot)
      : [...(await loadOffline(io, against)).snapshots.values()];
  const planned = await loadOffline(io, directory, defaultGatewaysOf(served));
  return compareServed(served, [...planned.snapshots.values()]);
}
