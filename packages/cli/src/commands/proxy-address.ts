import type { Command } from 'commander';
import { gatewayOf } from '../gateway/connection.ts';
import { chooseListening, readListening } from '../gateway/listening.ts';
import type { Terminal } from '../output/terminal.ts';

/** `proxy address` and `proxy url`: where requests go. */
export function addProxyAddress(proxy: Command, io: Terminal): void {
  const commands = [
    ['address', 'Print host:port of the proxy.'],
    ['url', 'Print the URL of the proxy.'],
  ] as const;
  for (const [name, description] of commands) {
    const command = proxy.command(name).description(description);
    command.action(async () => {
      const { port } = command.optsWithGlobals<{ port: string }>();
      const found = chooseListening(await readListening(gatewayOf(io, command)), port);
      const isNamed = port === 'http' || port === 'https';
      const scheme = name === 'url' && isNamed ? `${found.protocol}://` : '';
      io.out(`${scheme}${found.host}:${found.port}`);
    });
  }
}
