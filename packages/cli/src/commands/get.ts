import { redact } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { asGroup, addExamples } from '../command-line/command-help.ts';
import { items, type StatusObject } from '../resources/objects.ts';
import { renderObjects, renderTables, widthOf, yamlDocuments } from '../output/formats.ts';
import { readObjects } from '../resources/load.ts';
import { select, withGetFlags, type GetFlags } from '../resources/selection.ts';
import type { Terminal } from '../output/terminal.ts';
import { routeTables } from '../tables/routes.ts';
import { VIEWS, type View } from '../tables/views.ts';

/** `get`: the resources with their status, from a running gateway or a directory. */
export function addGet(program: Command, io: Terminal): void {
  const description = 'Show resources and their status.';
  const get = asGroup(program.command('get').alias('g').description(description), 'kind');
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
    showOn(command, io, view, printObjects);
    if (view.kind === 'VirtualService') {
      const route = command
        .command('route')
        .aliases(['r', 'routes'])
        .description('Show the routes of virtual services.');
      route.argument('[name]', 'show only the routes of this virtual service');
      showOn(route, io, view, printRoutes);
    }
  }
}

interface Shown {
  readonly found: readonly StatusObject[];
  readonly all: readonly StatusObject[];
  readonly view: View;
  readonly output: GetFlags['output'];
}

function showOn(command: Command, io: Terminal, view: View, print: (io: Terminal, shown: Shown) => void): void {
  command.action(async (name: string | undefined) => {
    const flags: GetFlags = command.optsWithGlobals();
    const all = await readObjects(io, command, view.kind);
    const found = select(all, view, { ...flags, name: name ?? flags.name });
    print(io, { found, all, view, output: flags.output });
  });
}

function printObjects(io: Terminal, { found, all, view, output }: Shown): void {
  if (output === 'table' || output === 'wide') io.out(renderTables(view.tables(found, all), widthOf(io, output)));
  else if (found.length > 0 || output === 'json') io.out(renderObjects(found, output));
  if (found.length > 0) return;
  const elsewhere = new Set(all.filter(({ kind }) => kind === view.kind).map(({ metadata }) => metadata.namespace));
  const hint = elsewhere.size > 0 ? `; there are some in: ${[...elsewhere].sort().join(', ')} (-n or -A)` : '';
  io.err(`No ${view.plural} here${hint}.`);
}

function printRoutes(io: Terminal, { found, output }: Shown): void {
  if (output === 'table' || output === 'wide') {
    for (const { metadata, spec } of found) {
      const tables = routeTables(spec, metadata.namespace);
      const titled = tables.map((table) => ({ ...table, title: `${metadata.name}: ${table.title}` }));
      if (titled.length > 0) io.out(renderTables(titled, widthOf(io, output)));
    }
    return;
  }
  const routes = redact(found.flatMap(({ spec }) => items(spec, 'virtualHost', 'routes')));
  if (output === 'json') io.out(JSON.stringify(routes, undefined, 2));
  else if (output === 'name')
    io.out(routes.map((route, i) => String((route as { name?: string }).name ?? i + 1)).join('\n'));
  else io.out(yamlDocuments(routes));
}
