import { getHeapStatistics } from 'node:v8';
import { redact } from '@edge-gateway/core';
import { nodeKey } from '../control/snapshots.ts';
import { addressAndPort } from '../http/address.ts';
import { json } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { ProxyAdminOptions } from './proxy-options.ts';

/** Returns the endpoints about the process and its listeners. */
export function serverEndpoints(options: ProxyAdminOptions): Endpoint[] {
  return [
    {
      paths: ['/ready'],
      help: 'LIVE while requests are served, otherwise 503 and the state',
      respond: () => {
        const state = options.readiness();
        return { status: state === 'LIVE' ? 200 : 503, body: `${state}\n` };
      },
    },
    { paths: ['/server_info'], help: 'version, state, uptime and flags', respond: () => json(serverInfo(options)) },
    { paths: ['/memory'], help: 'memory in bytes', respond: () => json(memory()) },
    { paths: ['/init_dump'], help: 'targets that the start waits for', respond: () => json(initDump(options)) },
    {
      paths: ['/hot_restart_version'],
      help: 'hot restart compatibility version (there is none)',
      respond: () => ({ body: 'disabled\n' }),
    },
    {
      paths: ['/runtime'],
      help: 'runtime values (there are none)',
      respond: () => json({ entries: {}, layers: [] }),
    },
    {
      paths: ['/listeners'],
      help: 'listeners and their addresses',
      parameters: [{ name: 'format', help: 'output format', values: ['text', 'json'] }],
      respond: (parameters) =>
        parameters.get('format') === 'json' ? json(listeners(options)) : listenerLines(options),
    },
  ];
}

function serverInfo({ context, info, readiness, snapshot }: ProxyAdminOptions): object {
  const uptime = `${Math.floor((context.now() - info.startedAt) / 1000)}s`;
  return {
    version: info.version,
    ...(info.commit !== undefined && { commit: info.commit }),
    state: readiness(),
    uptime_current_epoch: uptime,
    uptime_all_epochs: uptime,
    hot_restart_version: 'disabled',
    command_line_options: redact(info.commandLineOptions),
    node: nodeOf(snapshot()?.proxy),
  };
}

/** Returns how a data plane identifies itself to a control plane. */
export function nodeOf(proxy = 'gateway-proxy'): { id: string; cluster: string; metadata: { role: string } } {
  return { id: proxy, cluster: proxy, metadata: { role: nodeKey(proxy) } };
}

/** Bytes, as strings. `pageheap_free` is heap that V8 holds without using it. */
function memory(): Record<string, string> {
  const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
  const figures = {
    allocated: heapUsed + external,
    heap_size: heapTotal + external,
    pageheap_unmapped: Math.max(0, getHeapStatistics().heap_size_limit - heapTotal),
    pageheap_free: heapTotal - heapUsed,
    total_thread_cache: 0,
    total_physical_bytes: rss,
  };
  return Object.fromEntries(Object.entries(figures).map(([name, bytes]) => [name, String(bytes)]));
}

function initDump({ snapshot, readiness }: ProxyAdminOptions): object {
  if (!['PRE_INITIALIZING', 'INITIALIZING'].includes(readiness())) return {};
  const targets = snapshot() ? ['listeners'] : ['snapshot'];
  return { unready_targets_dumps: [{ name: 'init manager Server', target_names: targets }] };
}

function listeners(options: ProxyAdminOptions): object {
  const statuses = options.listeners().map(({ name, address, port }) => ({
    name,
    local_address: { socket_address: { address, port_value: port } },
  }));
  return { listener_statuses: statuses };
}

function listenerLines(options: ProxyAdminOptions): { body: string } {
  const lines = options.listeners().map(({ name, address, port }) => `${name}::${addressAndPort(address, port)}\n`);
  return { body: lines.join('') };
}
