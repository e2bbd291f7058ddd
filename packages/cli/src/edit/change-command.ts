import { gatewayNamespace, redact, type ControlPlaneState } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { didYouMean, CONNECTION_FLAGS, hideGlobalFlags } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import { renderObjects, renderTables, widthOf, yamlText, type Output } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';
import { objectsOf } from '../resources/load.ts';
import { VIEWS } from '../tables/views.ts';
import type { ChangeFlags } from './change-resources.ts';
import { shownIdentity, type ResourceDraft } from './resource-draft.ts';
import type { Identity } from './resource-file.ts';

/** The flags of a command that changes one resource. */
export interface ResourceFlags extends ChangeFlags {
  readonly name?: string;
  readonly namespace: string;
  readonly output?: Output;
}

/** Adds the flags of {@link ResourceFlags}, except `--name`. */
export function withChangeFlags(command: Command): Command {
  hideGlobalFlags(command, CONNECTION_FLAGS);
  return command
    .option('-c, --config <dir>', 'directory of the resources (env GATEWAY_CONFIG)')
    .addOption(new Option('-n, --namespace <namespace>', 'namespace of the resource').default(gatewayNamespace()))
    .option('--dry-run', 'print the resulting resource, write nothing')
    .option('--force', 'write the change even if a gateway would reject it')
    .addOption(
      new Option('-o, --output <format>', 'output format; default: table, with --dry-run kube-yaml').choices([
        'table',
        'wide',
        'yaml',
        'json',
        'kube-yaml',
        'name',
      ]),
    );
}

/** Returns the value of `--name`; throws `ERR_CLI_USAGE` if it is missing. */
export function neededName({ name }: ResourceFlags): string {
  if (name) return name;
  throw cliError('ERR_CLI_USAGE', 'missing --name');
}

/** Returns the identity if the directory contains it; throws `ERR_CLI_NOT_FOUND` with the nearest name if not. */
export function existing({ identities }: ResourceDraft, wanted: Identity): Identity {
  const ofKind = identities.filter(({ kind }) => kind === wanted.kind);
  const here = ofKind.filter(({ namespace }) => namespace === wanted.namespace);
  if (here.some(({ name }) => name === wanted.name)) return wanted;
  const elsewhere = ofKind.filter(({ name }) => name === wanted.name).map(({ namespace }) => namespace);
  const names = here.map(({ name }) => name);
  const hint =
    elsewhere.length > 0 ? `; there is one in ${elsewhere.sort().join(', ')} (-n)` : didYouMean(wanted.name, names);
  throw cliError('ERR_CLI_NOT_FOUND', `${shownIdentity(wanted)} not found${hint}`);
}

/** Parses the index of a route; `limit` is checked by the caller. */
export function parseIndex(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw cliError('ERR_CLI_USAGE', `--index must be a number from 0, not '${text}'`);
}

/** Prints a resource after its change. `written` is the resource as it is in the file. */
export function printChanged(
  io: Terminal,
  flags: ResourceFlags,
  change: { readonly identity: Identity; readonly written: unknown; readonly state: ControlPlaneState },
): void {
  const { identity, written, state } = change;
  const output = flags.output ?? (flags.dryRun ? 'kube-yaml' : 'table');
  if (flags.dryRun && (output === 'kube-yaml' || output === 'yaml')) return io.out(yamlText(redact(written)));
  const all = objectsOf(state);
  const found = all.filter(
    ({ kind, metadata }) =>
      kind === identity.kind && metadata.name === identity.name && metadata.namespace === identity.namespace,
  );
  if (output !== 'table' && output !== 'wide') return io.out(renderObjects(found, output));
  const view = VIEWS.find(({ kind }) => kind === identity.kind)!;
  io.out(renderTables(view.tables(found, all), widthOf(io, output)));
}
