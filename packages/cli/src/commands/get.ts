import { gatewayNamespace, printable, redact } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { addExamples, asGroup, didYouMean } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import { gatewayOf } from '../gateway/connection.ts';
import { readUpstreamHosts } from '../gateway/upstream-hosts.ts';
import { items, type StatusObject } from '../resources/objects.ts';
import {
  OUTPUTS,
  outputOption,
  renderObjects,
  renderTables,
  widthOf,
  yamlDocuments,
  type Output,
} from '../output/formats.ts';
import { readObjects } from '../resources/load.ts';
import type { Terminal } from '../output/terminal.ts';
import { routeTables } from '../tables/routes.ts';
import { upstreamsWithHosts, VIEWS, type View } from '../tables/views.ts';

/** `get`: the resources with their status, from a running gateway or a directory. */
export function addGet(program: Command, io: Terminal): void {
  const description = 'Show resources and their status.';
  const get = asGroup(program.command('get').alias('g').description(description), 'kind');
  addExamples(get, [
    ['gatewayctl get virtualservices', 'all in the namespace of the gateway'],
    ['gatewayctl get upstream echo -o yaml', 'one, as YAML'],
    ['gatewayctl get upstreams -o wide', 'with the health of their hosts'],
    ['gatewayctl get vs -A --config ./resources', 'of a directory; needs no gateway'],
    ['gatewayctl get all -A', 'of all kinds'],
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
  addGetAll(get, io);
}

/** `get all`: a table of each kind that has resources, or one list. */
function addGetAll(get: Command, io: Terminal): void {
  const command = withListFlags(get.command('all').description('Show the resources of all kinds.'));
  command.action(async () => {
    const flags: GetFlags = command.optsWithGlobals();
    // Those of a running gateway include the proxies that it serves.
    const all = await readObjects(io, command, 'Proxy');
    const inScope = scopeOf(all, flags);
    const byView = VIEWS.map((view) => ({ view, found: inScope.filter(({ kind }) => kind === view.kind) }));
    const found = byView.flatMap((each) => each.found);
    const { output } = flags;
    if (found.length === 0) io.err(`No resources here${elsewhereHint(all)}.`);
    if (output !== 'table' && output !== 'wide') {
      if (found.length > 0 || output === 'json') io.out(renderObjects(found, output));
      return;
    }
    for (const { view, found: ofKind } of byView) {
      if (ofKind.length === 0) continue;
      const { tables } = await shownView(io, command, view);
      io.out(renderTables(tables(ofKind, all), widthOf(io, output)));
    }
  });
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
    print(io, { found, all, view: await shownView(io, command, view), output: flags.output });
  });
}

/** Adds the hosts of upstreams to the wide table of a running gateway. */
async function shownView(io: Terminal, command: Command, view: View): Promise<View> {
  const { output, config } = command.optsWithGlobals<GetFlags>();
  if (view.kind !== 'Upstream' || output !== 'wide' || config !== undefined) return view;
  return { ...view, tables: upstreamsWithHosts(await readUpstreamHosts(gatewayOf(io, command))) };
}

function printObjects(io: Terminal, { found, all, view, output }: Shown): void {
  if (output === 'table' || output === 'wide') {
    const tables = renderTables(view.tables(found, all), widthOf(io, output));
    if (tables !== '') io.out(tables);
  } else if (found.length > 0 || output === 'json') io.out(renderObjects(found, output));
  if (found.length > 0) return;
  const without = view.kind === 'Gateway' ? '; the default gateways are used' : '';
  io.err(printable(`No ${view.plural} here${elsewhereHint(all.filter(({ kind }) => kind === view.kind)) || without}.`));
}

/** Names the namespaces of these resources; empty if there are none. */
function elsewhereHint(objects: readonly StatusObject[]): string {
  const namespaces = new Set(objects.map(({ metadata }) => metadata.namespace));
  return namespaces.size > 0 ? `; there are some in: ${[...namespaces].sort().join(', ')} (-n or -A)` : '';
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
  if (output === 'json') io.out(printable(JSON.stringify(routes, undefined, 2)));
  else if (output === 'name')
    io.out(routes.map((route, i) => printable(String((route as { name?: string }).name ?? i + 1))).join('\n'));
  else io.out(yamlDocuments(routes));
}

interface GetFlags {
  readonly name?: string;
  readonly namespace: string;
  readonly allNamespaces?: boolean;
  readonly output: Output;
  readonly config?: string;
  readonly edge?: boolean;
  readonly kube?: boolean;
}

function withGetFlags(command: Command, plural: string): Command {
  command
    .description(`Show ${plural}.`)
    .argument('[name]', 'show only the resource of this name')
    .addOption(new Option('--name <name>', 'same as the argument'));
  return withListFlags(command);
}

function withListFlags(command: Command): Command {
  return command
    .addOption(new Option('-n, --namespace <namespace>', 'namespace of the resources').default(gatewayNamespace()))
    .addOption(new Option('-A, --all-namespaces', 'show resources of all namespaces'))
    .addOption(outputOption(...OUTPUTS))
    .addOption(new Option('-c, --config <dir>', 'read this directory of resources instead of a running gateway'));
}

/** Returns the resources of the namespaces that the flags request; a namespace without any is an error with a suggestion. */
function scopeOf(all: readonly StatusObject[], flags: GetFlags): StatusObject[] {
  const inScope = all.filter(({ metadata }) => flags.allNamespaces || metadata.namespace === flags.namespace);
  if (inScope.length > 0 || flags.allNamespaces || flags.namespace === gatewayNamespace()) return inScope;
  const known = [...new Set(all.map(({ metadata }) => metadata.namespace))];
  const text = `namespace "${flags.namespace}" has no resources${didYouMean(flags.namespace, known)}; choose another with -n`;
  throw cliError('ERR_CLI_NAMESPACE', text);
}

/** Returns the resources of a view that the flags request; an unknown name is an error with a suggestion. */
function select(all: readonly StatusObject[], view: View, flags: GetFlags): StatusObject[] {
  const inScope = all.filter(({ metadata }) => flags.allNamespaces || metadata.namespace === flags.namespace);
  const ofKind = inScope.filter((object) => object.kind === view.kind);
  if (flags.name !== undefined) {
    const named = ofKind.filter(({ metadata }) => metadata.name === flags.name);
    if (named.length > 0) return named;
    throw notFound(all, view, flags);
  }
  scopeOf(all, flags);
  const origin = flags.edge ? 'gw-gateway' : flags.kube ? 'gw-kube-gateway-api' : undefined;
  return origin ? ofKind.filter(({ metadata }) => metadata.labels?.['created_by'] === origin) : ofKind;
}

function notFound(all: readonly StatusObject[], view: View, { name = '', allNamespaces, namespace }: GetFlags): Error {
  const ofKind = all.filter(({ kind }) => kind === view.kind);
  const elsewhere = ofKind.filter(({ metadata }) => metadata.name === name).map(({ metadata }) => metadata.namespace);
  const near = ofKind.filter(({ metadata }) => allNamespaces || metadata.namespace === namespace);
  const names = near.map(({ metadata }) => metadata.name);
  const hint = elsewhere.length > 0 ? `; there is one in ${elsewhere.join(', ')} (-n)` : didYouMean(name, names);
  const where = allNamespaces ? '' : ` in namespace ${namespace}`;
  return cliError('ERR_CLI_NOT_FOUND', `${view.command} "${name}" not found${where}${hint}`);
}
