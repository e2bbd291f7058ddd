import type { Command } from 'commander';
import { addAuthFlags, authSteps } from '../create/auth-steps.ts';
import type { Flags, SecretContent } from '../create/flags.ts';
import {
  metadataOf,
  readResources,
  save,
  saveAll,
  shown,
  withCreateFlags,
  type CreateFlags,
  type NewResource,
} from '../create/save.ts';
import { SECRET_KINDS } from '../create/secret-kinds.ts';
import {
  asGroup,
  CONNECTION_FLAGS,
  addExamples,
  hideGlobalFlags,
  missingSubcommand,
  unknownSubcommand,
} from '../command-line/command-help.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import type { StatusObject } from '../resources/objects.ts';
import { tableOf } from '../tables/columns.ts';
import { AUTH_CONFIG } from '../tables/policies.ts';
import { addCreateGraphQLApi } from './create-graphqlapi.ts';
import { addCreateRouting } from './create-routing.ts';

/** `create`: new resources as files in a directory, from flags or from a file. */
export function addCreate(program: Command, io: Terminal): void {
  const create = asGroup(program.command('create').alias('c').description('Create a resource.'))
    .usage('[options] <subcommand> | -f <file>')
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
    if (word !== undefined) throw unknownSubcommand(create, word);
    await createFromFile(io, create);
  });
  addCreateRouting(create, io);
  addCreateSecret(create, io);
  addCreateAuthConfig(create, io);
  addCreateGraphQLApi(create, io);
  hideGlobalFlags(create, CONNECTION_FLAGS);
  for (const command of create.commands)
    for (const each of [command, ...command.commands]) hideGlobalFlags(each, ['--file', ...CONNECTION_FLAGS]);
}

async function createFromFile(io: Terminal, create: Command) {
  const flags = create.optsWithGlobals<Partial<CreateFlags>>();
  if (flags.file === undefined) throw missingSubcommand(create, 'please provide a file flag or subcommand');
  const resources = await readResources(io, flags.file);
  if (flags.dryRun) return io.out(resources.map(({ text }) => text.replace(/^---\n/, '').trimEnd()).join('\n---\n'));
  const { files } = await saveAll(io, resources, flags);
  for (const [i, { key }] of resources.entries()) io.out(`${shown(key)}: ${files[i]}`);
}

function addCreateSecret(create: Command, io: Terminal): void {
  const group = asGroup(create.command('secret').description('Create a secret.'));
  for (const kind of SECRET_KINDS) {
    const command = withCreateFlags(group.command(kind.command).description(kind.description));
    for (const [names, description] of kind.options) command.option(names, description);
    addExamples(command, [[`gatewayctl create secret ${kind.command} ${kind.example} -c ./resources`, kind.type]]);
    command.action(async (argument: string | undefined) => {
      const flags = command.optsWithGlobals<CreateFlags & Flags>();
      const metadata = metadataOf(argument, flags);
      const content = kind.read(io, flags);
      const table = () => renderTable({ columns: ['Secret', 'Type'], rows: [[metadata.name, kind.type]] });
      const text = await save(io, secretOf(metadata, kind.type, content), { flags, table });
      // Not on standard output, which must stay parseable in other formats than the table.
      if (content.generated && !flags.dryRun) io.err(`The generated key, shown only once: ${content.generated}`);
      io.out(text);
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

/** `create authconfig`: a login, API keys, policies, or several of them one after the other. */
function addCreateAuthConfig(create: Command, io: Terminal): void {
  const command = withCreateFlags(create.command('authconfig').alias('ac').description('Create an auth config.'));
  addAuthFlags(command);
  const example = 'keys --enable-apikey-auth --apikey-label-selector team=shop -c ./resources';
  addExamples(command, [[`gatewayctl create authconfig ${example}`, 'API keys']]);
  command.action(async (argument: string | undefined) => {
    const flags = command.optsWithGlobals<CreateFlags & Flags>();
    const metadata = metadataOf(argument, flags);
    const spec = { configs: authSteps(flags, metadata.namespace) };
    const resource = { apiVersion: 'enterprise.gw.vendor.io/v1', kind: 'AuthConfig', metadata, spec } as const;
    const table = (written: StatusObject) => renderTable(tableOf(AUTH_CONFIG, [written]));
    io.out(await save(io, resource, { flags, table }));
  });
}
