import { DEFAULT_NAMESPACE } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { cliError } from '../error-codes.ts';
import type { StatusObject } from './objects.ts';
import { OUTPUTS, outputOption, type Output } from '../output/formats.ts';
import { didYouMean } from '../command-line/command-help.ts';
import type { View } from '../tables/views.ts';

/** The flags that every `get` command has. */
export interface GetFlags {
  readonly name?: string;
  readonly namespace: string;
  readonly allNamespaces?: boolean;
  readonly output: Output;
  readonly config?: string;
  readonly edge?: boolean;
  readonly kube?: boolean;
}

/** Adds the description, the argument and the flags of `get` to a command. */
export function withGetFlags(command: Command, plural: string): Command {
  return command
    .description(`Show ${plural}.`)
    .argument('[name]', 'show only the resource of this name')
    .addOption(new Option('--name <name>', 'same as the argument'))
    .addOption(new Option('-n, --namespace <namespace>', 'namespace of the resources').default(DEFAULT_NAMESPACE))
    .addOption(new Option('-A, --all-namespaces', 'resources of all namespaces'))
    .addOption(outputOption(...OUTPUTS))
    .addOption(new Option('-c, --config <dir>', 'read this directory of resources instead of a running gateway'));
}

/** The resources of a view that the flags ask for; a name that is not there is an error with a suggestion. */
export function select(all: readonly StatusObject[], view: View, flags: GetFlags): StatusObject[] {
  const inScope = all.filter(({ metadata }) => flags.allNamespaces || metadata.namespace === flags.namespace);
  const ofKind = inScope.filter((object) => object.kind === view.kind);
  if (flags.name !== undefined) {
    const named = ofKind.filter(({ metadata }) => metadata.name === flags.name);
    if (named.length > 0) return named;
    throw notFound(all, view, { name: flags.name, near: ofKind, flags });
  }
  if (inScope.length === 0 && flags.namespace !== DEFAULT_NAMESPACE) {
    const known = [...new Set(all.map(({ metadata }) => metadata.namespace))];
    const text = `namespace "${flags.namespace}" has no resources${didYouMean(flags.namespace, known)}; choose another with -n`;
    throw cliError('ERR_CLI_NAMESPACE', text);
  }
  const origin = flags.edge ? 'gw-gateway' : flags.kube ? 'gw-kube-gateway-api' : undefined;
  return origin ? ofKind.filter(({ metadata }) => metadata.labels?.['created_by'] === origin) : ofKind;
}

function notFound(
  all: readonly StatusObject[],
  view: View,
  at: { name: string; near: StatusObject[]; flags: GetFlags },
) {
  const { name, near, flags } = at;
  const where = flags.allNamespaces ? '' : ` in namespace ${flags.namespace}`;
  const elsewhere = all
    .filter((object) => object.kind === view.kind && object.metadata.name === name)
    .map(({ metadata }) => metadata.namespace);
  const hint =
    elsewhere.length > 0
      ? `; there is one in ${elsewhere.join(', ')} (-n)`
      : didYouMean(
          name,
          near.map(({ metadata }) => metadata.name),
        );
  return cliError('ERR_CLI_NOT_FOUND', `${view.command} "${name}" not found${where}${hint}`);
}
