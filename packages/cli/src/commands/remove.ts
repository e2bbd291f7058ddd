import type { Command } from 'commander';
import { addExamples, asGroup, CONNECTION_FLAGS, hideGlobalFlags } from '../command-line/command-help.ts';
import { neededName, parseIndex, withChangeFlags, type ResourceFlags } from '../edit/change-command.ts';
import { shownIdentity } from '../edit/resource-draft.ts';
import { changeResource } from '../edit/change-resource.ts';
import type { Terminal } from '../output/terminal.ts';
import { items } from '../resources/objects.ts';
import { ownerKind, rejectIndex, routesPath } from '../route/route-owner.ts';
import { routeText } from '../tables/routes.ts';

interface RemoveFlags extends ResourceFlags {
  readonly index: string;
  readonly fromRouteTable?: boolean;
}

/** `remove route`: removes a route of a virtual service or a route table of a directory. */
export function addRemove(program: Command, io: Terminal): void {
  const group = asGroup(program.command('remove').alias('rm').description('Remove from a resource of a directory.'));
  hideGlobalFlags(group, CONNECTION_FLAGS);
  const command = withChangeFlags(group.command('route').alias('r').description('Remove a route.'))
    .option('--name <name>', 'VirtualService, required')
    .option('-x, --index <index>', 'position of the route; 0 is the first', '0')
    .option('--from-route-table', 'remove from the RouteTable of --name');
  addExamples(command, [['gatewayctl remove route --name shop -x 2 -c ./resources', 'the third route']]);
  command.action(async () => {
    const flags = command.optsWithGlobals<RemoveFlags>();
    const kind = ownerKind(flags.fromRouteTable === true);
    const wanted = { kind, namespace: flags.namespace, name: neededName(flags) };
    const index = parseIndex(flags.index);
    await changeResource(io, flags, {
      of: wanted,
      change(resource, identity) {
        const routes = items(resource.get(routesPath(kind)));
        rejectIndex(identity, index, routes.length);
        resource.remove(routesPath(kind), index);
        const route = `route ${index} of ${shownIdentity(identity)}: ${routeText(routes[index], identity.namespace)}`;
        return flags.dryRun ? `would remove ${route}` : `removed ${route}`;
      },
    });
  });
}
