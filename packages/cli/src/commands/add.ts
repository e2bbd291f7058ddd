import { gatewayNamespace, keyOf } from '@edge-gateway/core';
import type { Command } from 'commander';
import { addExamples, asGroup, CONNECTION_FLAGS, hideGlobalFlags } from '../command-line/command-help.ts';
import type { Flags } from '../create/flags.ts';
import type { ResourceDraft } from '../edit/resource-draft.ts';
import { changeResource } from '../edit/change-resource.ts';
import { existing, neededName, parseIndex, withChangeFlags, type ResourceFlags } from '../edit/change-command.ts';
import type { Identity } from '../edit/resource-file.ts';
import { cliError } from '../error-codes.ts';
import { yamlText } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';
import { items, type StatusObject } from '../resources/objects.ts';
import { addRouteFlags, routeOf } from '../route/route-flags.ts';
import { ownerKind, rejectIndex, routesPath, type OwnerKind } from '../route/route-owner.ts';

interface AddFlags extends ResourceFlags {
  readonly index: string;
  readonly toRouteTable?: boolean;
}

/** `add route`: inserts a route into a virtual service or a route table of a directory. */
export function addAdd(program: Command, io: Terminal): void {
  const group = asGroup(
    program.command('add').alias('a').description('Add to a resource of a directory or a cluster.'),
  );
  hideGlobalFlags(group, CONNECTION_FLAGS);
  const command = withChangeFlags(group.command('route').alias('r').description('Add a route.'))
    .option('--name <name>', 'VirtualService; default: the one for all domains, or a new one named default')
    .option('-x, --index <index>', 'position of the route; 0 is the first', '0')
    .option('--to-route-table', 'add to the RouteTable of --name, which is created if it is missing');
  addRouteFlags(command);
  // In a cluster, this affects how virtual services are listed.
  command.addOption(command.createOption('--cluster-scoped-vs-client', 'no effect on a directory').hideHelp());
  addExamples(command, [
    ['gatewayctl add route -p /cart -u cart -c ./resources', 'first route of the service for all domains'],
    ['gatewayctl add route --name shop -e /health -u cart -x 1 --dry-run -c ./resources', 'only printed'],
  ]);
  command.action(async () => {
    const flags = command.optsWithGlobals<AddFlags & Flags>();
    const route = routeOf(flags);
    const index = parseIndex(flags.index);
    let file: string | undefined;
    await changeResource(io, flags, {
      of(draft) {
        const owner = ownerOf(draft, flags);
        const isNew = !draft.identities.some((one) => isSame(one, owner));
        file = isNew ? draft.add(keyOf(owner.kind, owner), { text: yamlText(newOwner(owner)) }) : undefined;
        return owner;
      },
      change(resource, owner) {
        const at = routesPath(owner.kind);
        rejectIndex(owner, index, items(resource.get(at)).length + 1);
        resource.insert(at, index, route);
        return file !== undefined && !flags.dryRun ? `${owner.kind} ${owner.name}: ${file}` : undefined;
      },
    });
  });
}

const isSame = (a: Identity, b: Identity): boolean =>
  a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;

const DEFAULT_NAME = 'default';

/** The virtual service or route table to add to; it may be missing. */
function ownerOf(draft: ResourceDraft, flags: AddFlags): Identity & { readonly kind: OwnerKind } {
  const kind = ownerKind(flags.toRouteTable === true);
  if (kind === 'RouteTable') return { kind, namespace: flags.namespace, name: neededName(flags) };
  if (flags.name !== undefined)
    return { ...existing(draft, { kind, namespace: flags.namespace, name: flags.name }), kind };
  const all = draft.identities.filter((one) => one.kind === kind && servesAllDomains(draft, one));
  if (all.length > 1) {
    const names = all.map(({ namespace, name }) => `${namespace}/${name}`).sort();
    throw cliError(
      'ERR_CLI_USAGE',
      `choose one of several virtual services for all domains with --name: ${names.join(', ')}`,
    );
  }
  return { ...(all[0] ?? { namespace: gatewayNamespace(), name: DEFAULT_NAME }), kind };
}

function servesAllDomains({ before }: ResourceDraft, { namespace, name }: Identity): boolean {
  const spec = before.resources.get(`VirtualService/${namespace}/${name}`)?.spec as StatusObject['spec'];
  if (spec === undefined) return false;
  const domains = items(spec, 'virtualHost', 'domains');
  return domains.length === 0 || (domains.length === 1 && domains[0] === '*');
}

function newOwner({ kind, namespace, name }: Identity): object {
  const metadata = { name, namespace };
  const head = { apiVersion: 'gateway.vendor.io/v1', kind, metadata };
  return kind === 'RouteTable'
    ? { ...head, spec: { routes: [] } }
    : { ...head, spec: { virtualHost: { domains: ['*'], routes: [] } } };
}
