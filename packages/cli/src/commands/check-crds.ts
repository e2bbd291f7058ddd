import { gatewayNamespace } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { resolve } from 'node:path';
import { differingDefinitions, wantedDefinitions } from '../cluster/crds.ts';
import { openCluster, type ClusterFlags } from '../cluster/open-cluster.ts';
import { addExamples, CONNECTION_FLAGS, hideGlobalFlags } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import { CLIENT_VERSION } from './version.ts';
import { yamlText } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';

interface CheckCrdsFlags extends ClusterFlags {
  readonly version?: string;
  readonly localChart?: string;
  readonly showYaml?: boolean;
}

const BETA = 'check-crds is in beta: it does not report fields that the cluster has in addition to the expected ones.';

/** `check-crds`: does a cluster have the CRDs of this version? */
export function addCheckCrds(program: Command, io: Terminal): void {
  const command = program
    .command('check-crds')
    .description('Check that a cluster has the CRDs of this version.')
    .addOption(
      new Option('--version <version>', 'fail unless the expected CRDs are those of this version').conflicts(
        'localChart',
      ),
    )
    .option('--local-chart <dir>', 'compare with the CRDs of this chart')
    .option('--show-yaml', 'print the expected CRDs that the cluster does not have')
    // CRDs have no namespace.
    .addOption(new Option('-n, --namespace <namespace>').default(gatewayNamespace()).hideHelp());
  hideGlobalFlags(command, CONNECTION_FLAGS);
  addExamples(command, [['gatewayctl check-crds --kube-context kind-dev', 'before an upgrade of the gateway']]);
  command.action(async () => {
    const flags = command.optsWithGlobals<CheckCrdsFlags>();
    requireVersion(flags.version, io.version ?? CLIENT_VERSION);
    const chart = flags.localChart === undefined ? undefined : resolve(io.cwd, flags.localChart);
    const wanted = await wantedDefinitions(chart);
    const differing = await differingDefinitions(await openCluster(io, flags), wanted);
    if (flags.showYaml) for (const { definition } of differing) io.out(`${yamlText(definition)}---`);
    if (differing.length === 0) io.out('All CRDs are up to date');
    io.err(BETA);
    if (differing.length === 0) return;
    const lines = differing.map(({ definition, reason }) => `\t* ${definition.metadata.name} ${reason}`);
    throw cliError('ERR_CLI_CHECK_FAILED', [`${differing.length} CRDs are not up to date:`, ...lines].join('\n'));
  });
}

/** The CRDs of other versions are not part of this program. */
function requireVersion(wanted: string | undefined, own: string): void {
  if (wanted === undefined || wanted.replace(/^v/, '') === own) return;
  const remedy = 'use gatewayctl of that version, or --local-chart with its chart';
  throw cliError('ERR_CLI_USAGE', `this gatewayctl has the CRDs of version ${own}, not of ${wanted}: ${remedy}`);
}
