import type { Command } from 'commander';
import { addAuthFlags, authSteps, type AuthFlags } from '../create/auth-steps.ts';
import { metadataOf, save, withCreateFlags, type CreateFlags, type NewResource } from '../create/save.ts';
import { addExamples } from '../command-line/command-help.ts';
import { tableOf } from '../tables/columns.ts';
import { AUTH_CONFIG } from '../tables/policies.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';

/** `create authconfig`: a login, API keys, policies, or several of them one after the other. */
export function addCreateAuthConfig(create: Command, io: Terminal): void {
  const command = withCreateFlags(create.command('authconfig').alias('ac').description('Create an auth config.'));
  addAuthFlags(command);
  addExamples(command, [
    [
      'gatewayctl create authconfig keys --enable-apikey-auth --apikey-label-selector team=shop -c ./resources',
      'API keys',
    ],
  ]);
  command.action(async (argument: string | undefined) => {
    const flags = command.optsWithGlobals<CreateFlags & AuthFlags>();
    const metadata = metadataOf(argument, flags);
    const resource: NewResource = {
      apiVersion: 'enterprise.gw.vendor.io/v1',
      kind: 'AuthConfig',
      metadata,
      spec: { configs: authSteps(flags, metadata.namespace) },
    };
    const text = await save(io, resource, flags);
    io.out(text ?? renderTable(tableOf(AUTH_CONFIG, [resource])));
  });
}
