import type { Command } from 'commander';
import { asGroup, addExamples, hideGlobalFlags } from '../command-line/command-help.ts';
import { addProxyAddress } from './proxy-address.ts';
import { addProxyLogs } from './proxy-logs.ts';
import { addProxyDump, addProxyStats } from './proxy-pages.ts';
import { addServedConfig } from './served-config.ts';
import type { Terminal } from '../output/terminal.ts';

/** Flags of `proxy` that some of its subcommands do not read. */
const UNUSED_FLAGS: Readonly<Record<string, readonly string[]>> = {
  address: ['--name'],
  url: ['--name'],
  'served-config': ['--port'],
};

/** `proxy`: queries the running data plane. */
export function addProxy(program: Command, io: Terminal): void {
  const proxy = asGroup(program.command('proxy').alias('p').description('Query the proxy of a running gateway.'));
  proxy
    .option('--name <name>', 'name of the proxy', 'gateway-proxy')
    .option('--port <port>', 'listener: http, https, or a port number', 'http');
  addExamples(proxy, [
    ['curl $(gatewayctl proxy url)/', 'where requests go'],
    ['gatewayctl proxy dump', 'the complete configuration of the proxy'],
  ]);
  addProxyAddress(proxy, io);
  addProxyDump(proxy, io);
  addProxyStats(proxy, io);
  addProxyLogs(proxy, io);
  addServedConfig(proxy, io);
  // Each subcommand shows the flags that it reads.
  for (const command of proxy.commands) hideGlobalFlags(command, UNUSED_FLAGS[command.name()] ?? ['--name', '--port']);
}
