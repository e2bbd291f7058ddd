import type { Command } from 'commander';
import { metadataOf, save, withCreateFlags, type CreateFlags, type NewResource } from '../create/save.ts';
import { SECRET_KINDS, type SecretContent } from '../create/secret-kinds.ts';
import { asGroup, addExamples } from '../command-line/command-help.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';

/** `create secret`: one subcommand per kind of secret. */
export function addCreateSecret(create: Command, io: Terminal): void {
  const group = asGroup(create.command('secret').description('Create a secret.'));
  for (const kind of SECRET_KINDS) {
    const command = withCreateFlags(group.command(kind.command).description(kind.description));
    kind.addFlags(command);
    addExamples(command, [[`gatewayctl create secret ${kind.command} ${kind.example} -c ./resources`, kind.type]]);
    command.action(async (argument: string | undefined) => {
      const flags = command.optsWithGlobals<CreateFlags & Record<string, string | boolean | undefined>>();
      const metadata = metadataOf(argument, flags);
      const content = kind.read(io, flags);
      const text = await save(io, secretOf(metadata, kind.type, content), flags);
      const { out, err } = io;
      // Not on standard output, which must stay parseable in other formats than the table.
      if (content.generated && !flags.dryRun) err(`The generated key, shown only once: ${content.generated}`);
      out(text ?? renderTable({ columns: ['Secret', 'Type'], rows: [[metadata.name, kind.type]] }));
    });
  }
}

function secretOf(metadata: NewResource['metadata'], type: string, { data, labels }: SecretContent): NewResource {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value as string).toString('base64')]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...metadata, ...(labels && { labels }) },
    type,
    data: Object.fromEntries(encoded) as Record<string, string>,
  };
}
