import { gatewayNamespace, printable, redact } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { addExamples, asGroup, CONNECTION_FLAGS, hideGlobalFlags } from '../command-line/command-help.ts';
import { existing } from '../edit/change-command.ts';
import { changeResources, type ChangeFlags } from '../edit/change-resources.ts';
import { cliError } from '../error-codes.ts';
import { yamlText } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';
import { VIEWS, type View } from '../tables/views.ts';

interface DeleteFlags extends ChangeFlags {
  readonly name?: string;
  readonly namespace: string;
}

/** `delete`: removes resources of a directory or a cluster. */
export function addDelete(program: Command, io: Terminal): void {
  const group = asGroup(
    program.command('delete').alias('d').description('Delete a resource of a directory or a cluster.'),
    'kind',
  );
  hideGlobalFlags(group, CONNECTION_FLAGS);
  addExamples(group, [['gatewayctl delete upstream cart -c ./resources', 'rejected as long as a route refers to it']]);
  for (const view of VIEWS) {
    const command = group.command(view.command).aliases(view.aliases).description(`Delete one of the ${view.plural}.`);
    command
      .argument('[name]', 'name of the resource')
      .addOption(new Option('--name <name>', 'same as the argument'))
      .option('-c, --config <dir>', 'directory of the resources (env GATEWAY_CONFIG)')
      .addOption(new Option('-n, --namespace <namespace>', 'namespace of the resource').default(gatewayNamespace()))
      .option('--dry-run', 'print the resource that would be deleted, delete nothing')
      .option('--force', 'delete it even if other resources refer to it')
      .action(async (argument: string | undefined) => {
        const flags = command.optsWithGlobals<DeleteFlags>();
        await deleteOne(io, view, { ...flags, name: nameOf(argument, flags) });
      });
    hideGlobalFlags(command, CONNECTION_FLAGS);
  }
}

function nameOf(argument: string | undefined, { name }: DeleteFlags): string {
  if (argument !== undefined && name !== undefined && argument !== name)
    throw cliError('ERR_CLI_USAGE', `the resource cannot be called both ${argument} and ${name}`);
  const found = argument ?? name;
  if (found) return found;
  throw cliError('ERR_CLI_USAGE', 'missing name: pass it as argument or with --name');
}

async function deleteOne(io: Terminal, view: View, flags: DeleteFlags & { readonly name: string }): Promise<void> {
  const { namespace, name } = flags;
  const { result } = await changeResources(io, flags, (draft) => {
    const identity = existing(draft, { kind: view.kind, namespace, name });
    const written = draft.edit(identity).get();
    draft.remove(identity);
    return written;
  });
  if (flags.dryRun) {
    // Not on standard output, which must stay parseable.
    io.err(printable(`${view.command} ${name} would be deleted`));
    io.out(yamlText(redact(result)));
  } else io.write(`${view.command} ${name} deleted`);
}
