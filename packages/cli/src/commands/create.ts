import type { Command } from 'commander';
import { asGroup, examples } from '../help.ts';
import type { Io } from '../io.ts';
import { addCreateAuthConfig } from './create-authconfig.ts';
import { addCreateGraphQLApi } from './create-graphqlapi.ts';
import { addCreateSecret } from './create-secret.ts';

/** `create`: new resources as files in a directory. */
export function addCreate(program: Command, io: Io): void {
  const create = asGroup(program.command('create').alias('c').description('Create a resource.'));
  create.addHelpText(
    'after',
    examples([
      [
        'gatewayctl create secret tls shop --certchain c.pem --privatekey k.pem -c ./resources',
        'a file in ./resources',
      ],
      ['gatewayctl create secret apikey alice --apikey-generate --dry-run', 'only printed'],
    ]),
  );
  addCreateSecret(create, io);
  addCreateAuthConfig(create, io);
  addCreateGraphQLApi(create, io);
}
