import type { Command } from 'commander';
import { readResources, saveAll, shown } from '../create/from-file.ts';
import type { TargetFlags } from '../create/save.ts';
import { cliError } from '../error-codes.ts';
import { asGroup, examples, unknownSubcommand } from '../help.ts';
import type { Io } from '../io.ts';
import { createTerminal } from '../terminal.ts';
import { addCreateAuthConfig } from './create-authconfig.ts';
import { addCreateGraphQLApi } from './create-graphqlapi.ts';
import { addCreateSecret } from './create-secret.ts';

/** `create`: new resources as files in a directory, from flags or from a file. */
export function addCreate(program: Command, io: Io): void {
  const create = asGroup(program.command('create').alias('c').description('Create a resource.'))
    .option('-f, --file <file>', 'create the resources of this file; - is standard input')
    .option('-c, --config <dir>', 'directory of resources to write them into (env GATEWAY_CONFIG)')
    .option('--dry-run', 'print them, secret values included, and write nothing')
    .option('--force', 'overwrite the files of resources of the same name');
  create.addHelpText(
    'after',
    examples([
      ['gatewayctl create -f shop.yaml -c ./resources', 'each resource of it, checked, as a file in ./resources'],
      [
        'gatewayctl create secret tls shop --certchain c.pem --privatekey k.pem -c ./resources',
        'a file in ./resources',
      ],
      ['gatewayctl create secret apikey alice --apikey-generate --dry-run', 'only printed'],
    ]),
  );
  create.action(async (word: string | undefined) => {
    const flags = create.opts<CreateFileFlags>();
    if (word !== undefined) throw unknownSubcommand(create, word);
    if (flags.file === undefined) {
      throw cliError('ERR_CLI_SUBCOMMAND', 'please provide a file flag or subcommand');
    }
    await createFromFile(io, flags.file, flags);
  });
  addCreateSecret(create, io);
  addCreateAuthConfig(create, io);
  addCreateGraphQLApi(create, io);
}

interface CreateFileFlags extends TargetFlags {
  readonly file?: string;
}

async function createFromFile(io: Io, file: string, flags: TargetFlags): Promise<void> {
  const { out } = createTerminal(io);
  const resources = await readResources(io, file);
  if (flags.dryRun) return out(resources.map(({ text }) => text.replace(/^---\n/, '').trimEnd()).join('\n---\n'));
  const files = await saveAll(io, resources, flags);
  for (const [i, { key }] of resources.entries()) out(`${shown(key)}: ${files[i]}`);
}
