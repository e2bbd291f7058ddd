import type { Command } from 'commander';
import { addExamples, asGroup } from '../command-line/command-help.ts';
import type { Flags } from '../create/flags.ts';
import {
  addStaticUpstreamFlags,
  addVirtualServiceFlags,
  staticUpstreamSpec,
  upstreamGroupSpec,
  virtualServiceSpec,
  weightedUpstreams,
  type WeightedUpstream,
} from '../create/routing-resources.ts';
import { metadataOf, save, withCreateFlags, type CreateFlags, type NewResource } from '../create/save.ts';
import { cliError } from '../error-codes.ts';
import { renderTables } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';
import { loadOffline } from '../resources/load.ts';
import type { StatusObject } from '../resources/objects.ts';
import { VIEWS } from '../tables/views.ts';

type AllFlags = CreateFlags & Flags;

/** `create virtualservice`, `create upstream static` and `create upstreamgroup`. */
export function addCreateRouting(create: Command, io: Terminal): void {
  addCreateVirtualService(create, io);
  addCreateUpstream(create, io);
  addCreateUpstreamGroup(create, io);
}

function addCreateVirtualService(create: Command, io: Terminal): void {
  const command = create.command('virtualservice').aliases(['vs', 'virtualservices']);
  withCreateFlags(command.description('Create a virtual service without routes.'));
  addVirtualServiceFlags(command);
  const call = 'gatewayctl create virtualservice shop --domains shop.example -c ./resources';
  addExamples(command, [[call, 'then: gatewayctl add route --name shop …']]);
  command.action(async (argument: string | undefined) => {
    const flags = command.optsWithGlobals<AllFlags>();
    const metadata = metadataOf(argument, flags);
    const spec = virtualServiceSpec(flags, metadata.name);
    await saveAndPrint(io, { apiVersion: 'gateway.vendor.io/v1', kind: 'VirtualService', metadata, spec }, flags);
  });
}

function addCreateUpstream(create: Command, io: Terminal): void {
  const group = asGroup(create.command('upstream').aliases(['us', 'upstreams']).description('Create an upstream.'));
  const command = withCreateFlags(group.command('static').description('Create an upstream with fixed hosts.'));
  addStaticUpstreamFlags(command);
  const call = 'gatewayctl create upstream static cart --static-hosts 10.0.0.1:8080,10.0.0.2:8080 -c ./resources';
  addExamples(command, [[call, 'two hosts']]);
  command.action(async (argument: string | undefined) => {
    const flags = command.optsWithGlobals<AllFlags>();
    const metadata = metadataOf(argument, flags);
    const spec = staticUpstreamSpec(flags);
    await saveAndPrint(io, { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata, spec }, flags);
  });
}

function addCreateUpstreamGroup(create: Command, io: Terminal): void {
  const command = create.command('upstreamgroup').aliases(['ug', 'upstreamgroups']);
  withCreateFlags(command.description('Create a group of weighted upstreams.'));
  command.option('--weighted-upstreams <pairs>', 'upstreams with weights, namespace.name=weight,…; default weight: 1');
  const call =
    'gatewayctl create upstreamgroup cart --weighted-upstreams gw-system.v1=90,gw-system.v2=10 -c ./resources';
  addExamples(command, [[call, 'a canary']]);
  command.action(async (argument: string | undefined) => {
    const flags = command.optsWithGlobals<AllFlags>();
    const metadata = metadataOf(argument, flags);
    const upstreams = weightedUpstreams(flags);
    await rejectUnknown(io, upstreams, flags);
    const spec = upstreamGroupSpec(upstreams);
    await saveAndPrint(io, { apiVersion: 'gw.vendor.io/v1', kind: 'UpstreamGroup', metadata, spec }, flags);
  });
}

/** An upstream group is rejected as a whole if it refers to a missing upstream. */
async function rejectUnknown(io: Terminal, upstreams: readonly WeightedUpstream[], flags: AllFlags): Promise<void> {
  const directory = flags.config ?? io.env['GATEWAY_CONFIG'];
  // Without a directory, nothing is written either.
  if (!directory) return;
  const { resources, rejected } = await loadOffline(io, directory);
  for (const { namespace, name } of upstreams) {
    const key = `Upstream/${namespace}/${name}` as const;
    if (!resources.has(key) && !rejected.has(key))
      throw cliError(
        'ERR_CLI_NOT_FOUND',
        `--weighted-upstreams: Upstream ${namespace}/${name} not found in ${directory}`,
      );
  }
}

async function saveAndPrint(io: Terminal, resource: NewResource, flags: CreateFlags): Promise<void> {
  const { tables } = VIEWS.find(({ kind }) => kind === resource.kind)!;
  const table = (written: StatusObject) => renderTables(tables([written], []), io.width);
  io.out(await save(io, resource, { flags, table }));
}
