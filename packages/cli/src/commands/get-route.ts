import { redact } from '@edge-gateway/core';
import type { Command } from 'commander';
import { items } from '../resources/objects.ts';
import { renderTables, widthOf, yamlDocuments } from '../output/formats.ts';
import { readObjects } from '../resources/load.ts';
import { routeTables } from '../tables/routes.ts';
import { select, type GetFlags } from '../resources/selection.ts';
import type { Terminal } from '../output/terminal.ts';
import { VIEWS } from '../tables/views.ts';

const VIEW = VIEWS.find((view) => view.kind === 'VirtualService')!;

/** `get virtualservice route [virtual service]`: its routes, one table per kind of action. */
export function addGetRoute(parent: Command, io: Terminal): void {
  const command = parent.command('route').aliases(['r', 'routes']);
  command
    .description('Show the routes of virtual services.')
    .argument('[name]', 'show only the routes of this virtual service');
  command.action(async (name: string | undefined) => {
    const flags: GetFlags = command.optsWithGlobals();
    const all = await readObjects(io, command, 'VirtualService');
    const found = select(all, VIEW, { ...flags, name: name ?? flags.name });
    const { out } = io;
    const { output } = flags;
    if (output === 'table' || output === 'wide') {
      for (const { metadata, spec } of found) {
        const tables = routeTables(spec, metadata.namespace);
        const titled = tables.map((table) => ({ ...table, title: `${metadata.name}: ${table.title}` }));
        if (titled.length > 0) out(renderTables(titled, widthOf(io, output)));
      }
      return;
    }
    const routes = redact(found.flatMap(({ spec }) => items(spec, 'virtualHost', 'routes')));
    if (output === 'json') out(JSON.stringify(routes, undefined, 2));
    else if (output === 'name')
      out(routes.map((route, i) => String((route as { name?: string }).name ?? i + 1)).join('\n'));
    else out(yamlDocuments(routes));
  });
}
