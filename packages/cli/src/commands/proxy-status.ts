import { printable, type ProxyStatus } from '@edge-gateway/core';
import type { Command } from 'commander';
import { exitStatus, hideGlobalFlags } from '../command-line/command-help.ts';
import { gatewayOf } from '../gateway/connection.ts';
import { isInSync, readProxies, syncState } from '../gateway/proxy-list.ts';
import { outputOption, widthOf, yamlText } from '../output/formats.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';

interface StatusFlags {
  readonly exitCode?: boolean;
  readonly output: 'table' | 'wide' | 'json' | 'yaml';
}

/** `proxy status`: which version each connected proxy serves, and whether it is the newest one. */
export function addProxyStatus(proxy: Command, io: Terminal): Command {
  const command = proxy
    .command('status')
    .description('Print the version that each connected proxy serves, and whether it is the newest one.')
    .option('--exit-code', 'exit status 1 if a proxy does not serve the newest version')
    .addOption(outputOption('table', 'wide', 'json', 'yaml'));
  hideGlobalFlags(command, ['--name', '--port', '--proxy-admin']);
  return command.action(async () => {
    const { exitCode, output } = command.opts<StatusFlags>();
    const proxies = await readProxies(gatewayOf(io, command));
    if (output === 'json') io.out(JSON.stringify(proxies, undefined, 2));
    else if (output === 'yaml') io.out(yamlText(proxies));
    else io.out(tableOf(proxies, widthOf(io, output), output === 'wide'));
    if (exitCode && !proxies.every(isInSync)) throw exitStatus(1);
  });
}

function tableOf(proxies: readonly ProxyStatus[], width: number, isWide: boolean): string {
  const columns = ['Proxy', 'Node', 'Address', 'Version', 'Age', ...(isWide ? TRAFFIC_COLUMNS : []), 'Status'];
  const rows = proxies.map((one) => {
    const traffic = isWide ? trafficCells(one) : [];
    return [one.proxy, one.node, one.address, one.version, ageText(one.age), ...traffic, syncState(one)].map(printable);
  });
  return renderTable({ columns, rows }, width);
}

const TRAFFIC_COLUMNS = ['Requests/s', '5xx', 'p99', 'Unhealthy'];

/** Returns what a proxy reported last: requests per second, server errors, latency, and unhealthy endpoints. */
function trafficCells({ traffic }: ProxyStatus): readonly string[] {
  if (!traffic) return ['', '', '', ''];
  if (traffic.isStale) return ['stale', '', '', ''];
  const { total, seconds, upstreams } = traffic;
  return [
    (total.requests / seconds).toFixed(1),
    total.requests === 0 ? '' : `${((100 * total.serverErrors) / total.requests).toFixed(1)} %`,
    total.p99 === undefined ? '' : `${total.p99.toPrecision(3)} ms`,
    String(upstreams.reduce((sum, each) => sum + each.unhealthy, 0)),
  ];
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;

/** Seconds in their two largest units, e.g. `3h5m`. */
function ageText(age: number): string {
  const seconds = Math.max(0, Math.floor(age));
  const first = UNITS.findIndex(([, unit]) => seconds >= unit);
  if (first < 0) return '0s';
  const parts = UNITS.slice(first, first + 2).map(([name, unit], i) => {
    const above = i === 0 ? Infinity : UNITS[first]![1];
    return [Math.floor((seconds % above) / unit), name] as const;
  });
  return parts.flatMap(([count, name]) => (count > 0 ? [`${count}${name}`] : [])).join('');
}
