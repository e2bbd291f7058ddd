import { sortRoutes } from '@edge-gateway/core';
import type { Command } from 'commander';
import { addExamples, asGroup, CONNECTION_FLAGS, hideGlobalFlags } from '../command-line/command-help.ts';
import { existing, neededName, printChanged, withChangeFlags, type ResourceFlags } from '../edit/change-command.ts';
import { changeResources } from '../edit/change-resources.ts';
import { count } from '../output/problem-lines.ts';
import type { Terminal } from '../output/terminal.ts';
import { dig, items } from '../resources/objects.ts';
import { ownerKind, routesPath } from '../route/route-owner.ts';

interface SortFlags extends ResourceFlags {
  readonly ofRouteTable?: boolean;
}

/** The sort rules; the first one that distinguishes two routes decides. */
const RULES = ['more methods first', 'no path < exact < regex < prefix', 'path in descending order'];

/** `route sort`: sorts the routes of a virtual service of a directory, so that specific ones come first. */
export function addRoute(program: Command, io: Terminal): void {
  const group = asGroup(program.command('route').alias('r').description('Change the routes of a resource.'));
  hideGlobalFlags(group, CONNECTION_FLAGS);
  const command = withChangeFlags(group.command('sort').alias('s').description('Sort routes, specific ones first.'))
    .option('--name <name>', 'VirtualService, required')
    .option('--of-route-table', 'sort the routes of the RouteTable of --name');
  addExamples(command, [['gatewayctl route sort --name shop -c ./resources', 'routes of the virtual service shop']]);
  command.action(async () => {
    const flags = command.optsWithGlobals<SortFlags>();
    const kind = ownerKind(flags.ofRouteTable === true);
    const wanted = { kind, namespace: flags.namespace, name: neededName(flags) };
    const { result, state } = await changeResources(io, flags, (draft) => {
      const identity = existing(draft, wanted);
      const resource = draft.edit(identity);
      const routes = items(resource.get(routesPath(kind)));
      const order = sortRoutes(routes.map((route, index) => ({ index, matchers: matchersOf(route) })));
      const indices = order.map(({ index }) => index);
      if (routes.length > 1) resource.reorder(routesPath(kind), indices);
      return { identity, written: resource.get(), length: routes.length };
    });
    const lines = [`sorting ${count(result.length, 'route')} by:`, ...RULES.map((rule) => `- ${rule}`)];
    // Keep machine-readable output parseable.
    const isTable = flags.output === 'table' || flags.output === 'wide' || !(flags.output ?? flags.dryRun);
    (isTable ? io.out : io.err)(lines.join('\n'));
    printChanged(io, flags, { ...result, state });
  });
}

type Matcher = Parameters<typeof sortRoutes>[0][number]['matchers'][number];

/** The matchers of a written route; one without matchers matches every path. */
function matchersOf(route: unknown): readonly Matcher[] {
  const written = items(route, 'matchers');
  if (written.length === 0) return [{ prefix: '/' }];
  return written.map((matcher) => (typeof matcher === 'object' && dig(matcher) ? (matcher as Matcher) : {}));
}
