import { redact } from '@edge-gateway/core';
import type { Command } from 'commander';
import { cliError } from '../error-codes.ts';
import { gatewayOf } from '../gateway/connection.ts';
import { yamlDocuments } from '../output/formats.ts';
import { readSnapshots } from '../gateway/pages.ts';
import type { Terminal } from '../output/terminal.ts';

/** `proxy served-config`: what the control plane serves to a proxy, in the sections of discovery. */
export function addServedConfig(proxy: Command, io: Terminal): void {
  const command = proxy.command('served-config').description('Print what the control plane serves, as YAML.');
  command.action(async () => {
    const { name } = command.optsWithGlobals<{ name: string }>();
    const snapshots = await readSnapshots(gatewayOf(io, command));
    const found = snapshots.find(({ snapshot }) => snapshot.proxy === name);
    if (!found) {
      const known = snapshots.map(({ snapshot }) => snapshot.proxy).join(', ') || 'none';
      throw cliError('ERR_CLI_NOT_FOUND', `proxy ${name} not found; the control plane serves: ${known}`);
    }
    const { listeners, upstreams } = redact(found.snapshot);
    const sections: [string, unknown[]][] = [
      ['clusters', upstreams.map((upstream) => without(upstream, 'endpoints'))],
      ['eds', upstreams.map(({ name: cluster, endpoints }) => ({ cluster, endpoints }))],
      ['listeners', listeners.map((listener) => without(listener, 'virtualHosts'))],
      ['rds', listeners.map((one) => ({ name: `${one.name}-routes`, virtualHosts: one.virtualHosts }))],
    ];
    const body = sections.map(([title, values]) => `#${title}\n${yamlDocuments([values])}`).join('\n');
    io.out(`#role: ${found.node}\n\n${body}`);
  });
}

function without(value: object, key: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}
