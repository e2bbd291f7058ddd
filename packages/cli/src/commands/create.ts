import type { Command } from 'commander';
import { readResources, saveAll, shown } from '../create/from-file.ts';
import type { TargetFlags } from '../create/save.ts';
import { cliError } from '../error-codes.ts';
import { asGroup, addExamples, hideGlobalFlags, unknownSubcommand } from '../command-line/command-help.ts';
import type { Terminal } from '../output/terminal.ts';
import { addCreateAuthConfig } from './create-authconfig.ts';
import { addCreateGraphQLApi } from './create-graphqlapi.ts';
import { addCreateSecret } from './create-secret.ts';

/** Flags for the addresses of a gateway, which `create` does not connect to. */
const ADDRESSES = ['--server', '--proxy-admin'];

/** `create`: new resources as files in a directory, from flags or from a file. */
export function addCreate(program: Command, io: Terminal): void {
  const create = asGroup(program.command('create').alias('c').description('Create a resource.'))
    .option('-f, --file <file>', 'create the resources in this file; - is standard input')
    .option('-c, --config <dir>', 'directory to write to (env GATEWAY_CONFIG)')
    .option('--dry-run', 'print the resources with their secret values, write nothing')
    .option('--force', 'overwrite existing files of the same resources');
  addExamples(create, [
    ['gatewayctl create -f shop.yaml -c ./resources', 'check each resource, write it to ./resources'],
    [
      'gatewayctl create secret tls shop --certchain c.pem --privatekey k.pem -c ./resources',
      'write a Secret to ./resources',
    ],
    ['gatewayctl create secret apikey alice --apikey-generate --dry-run', 'print only'],
  ]);
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
  hideGlobalFlags(create, ADDRESSES);
  for (const command of create.commands)
    for (const each of [command, ...command.commands]) hideGlobalFlags(each, ['--file', ...ADDRESSES]);
}

interface CreateFileFlags extends TargetFlags {
  readonly file?: string;
}

async function createFromFile(io: Terminal, file: string, flags: TargetFlags): Promise<void> {
  const { out } = io;
  const resources = await readResources(io, file);
  if (flags.dryRun) return out(resources.map(({ text }) => text.replace(/^---\n/, '').trimEnd()).join('\n---\n'));
  const files = await saveAll(io, resources, flags);
  for (const [i, { key }] of resources.entries()) out(`${shown(key)}: ${files[i]}`);
}
