import type { Command } from 'commander';
import { gatewayOf } from '../gateway/connection.ts';
import type { Terminal } from '../output/terminal.ts';

/** `proxy dump`: the whole configuration of the proxy, as JSON. */
export function addProxyDump(proxy: Command, io: Terminal): void {
  const command = proxy.command('dump').description('Print the configuration dump of the proxy, with endpoints.');
  command.action(async () => {
    io.out(await gatewayOf(io, command).proxy('/config_dump?include_eds', 'POST'));
  });
}

/** `proxy stats`: the statistics of the proxy, as text. */
export function addProxyStats(proxy: Command, io: Terminal): void {
  const command = proxy.command('stats').description('Print the statistics of the proxy.');
  command.action(async () => {
    io.out(await gatewayOf(io, command).proxy('/stats'));
  });
}
