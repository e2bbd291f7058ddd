import type { Command } from 'commander';
import { asGroup, examples } from '../help.ts';
import type { Io } from '../io.ts';
import { addProxyAddress } from './proxy-address.ts';
import { addProxyLogs } from './proxy-logs.ts';
import { addProxyDump, addProxyStats } from './proxy-pages.ts';
import { addServedConfig } from './served-config.ts';

/** `proxy`: what the running data plane says of itself. */
export function addProxy(program: Command, io: Io): void {
  const proxy = asGroup(program.command('proxy').alias('p').description('Ask the proxy of a running gateway.'));
  proxy
    .option('--name <name>', 'name of the proxy', 'gateway-proxy')
    .option('--port <port>', 'http, https, or the number of a port', 'http');
  proxy.addHelpText(
    'after',
    examples([
      ['curl $(gatewayctl proxy url)/', 'where requests go'],
      ['gatewayctl proxy dump', 'everything the proxy is configured with'],
    ]),
  );
  addProxyAddress(proxy, io);
  addProxyDump(proxy, io);
  addProxyStats(proxy, io);
  addProxyLogs(proxy, io);
  addServedConfig(proxy, io);
}
