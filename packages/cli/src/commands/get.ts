import { Option, type Command } from 'commander';
import { asGroup, addExamples } from '../command-line/command-help.ts';
import type { StatusObject } from '../resources/objects.ts';
import { renderObjects, renderTables, widthOf, type Output } from '../output/formats.ts';
import { readObjects } from '../resources/load.ts';
import { select, withGetFlags, type GetFlags } from '../resources/selection.ts';
import type { Terminal } from '../output/terminal.ts';
import { VIEWS, type View } from '../tables/views.ts';
import { addGetRoute } from './get-route.ts';

/** `get`: the resources with their status, from a running gateway or a directory. */
export function addGet(program: Command, io: Terminal): void {
  const get = asGroup(program.command('get').alias('g').description('Show resources and their status.'), 'kind');
  addExamples(get, [
    ['gatewayctl get virtualservices', 'all in the namespace gw-system'],
    ['gatewayctl get upstream echo -o yaml', 'one, as YAML'],
    ['gatewayctl get vs -A --config ./resources', 'of a directory; needs no gateway'],
  ]);
  for (const view of VIEWS) {
    const command = withGetFlags(get.command(view.command), view.plural).aliases(view.aliases);
    if (view.kind === 'Proxy') {
      command.option('--edge', 'only those made from Gateway resources');
      // Such proxies do not exist yet.
      command.addOption(new Option('--kube', 'only those made from Kubernetes Gateway API resources').hideHelp());
    }
    command.action(async (name: string | undefined) => {
      const flags: GetFlags = command.optsWithGlobals();
      const all = await readObjects(io, command, view.kind);
      const found = select(all, view, { ...flags, name: name ?? flags.name });
      print(io, { found, all, view, output: flags.output });
    });
    if (view.kind === 'VirtualService') addGetRoute(command, io);
  }
}

interface Shown {
  readonly found: readonly StatusObject[];
  readonly all: readonly StatusObject[];
  readonly view: View;
  readonly output: Output;
}

function print(io: Terminal, { found, all, view, output }: Shown): void {
  if (output === 'table' || output === 'wide') io.out(renderTables(view.tables(found, all), widthOf(io, output)));
  else if (found.length > 0 || output === 'json') io.out(renderObjects(found, output));
  if (found.length > 0) return;
  const elsewhere = [
    ...new Set(all.filter(({ kind }) => kind === view.kind).map(({ metadata }) => metadata.namespace)),
  ];
  const hint = elsewhere.length > 0 ? `; there are some in: ${elsewhere.sort().join(', ')} (-n or -A)` : '';
  io.err(`No ${view.plural} here${hint}.`);
}
