import { createMetrics, silentLoggers, type ProxyRejection, type Snapshot } from '@edge-gateway/core';
import { createStateDecoder, type DecodedState, type ProxyState } from '../src/resources/index.ts';
import {
  createDiscoveryClient,
  createDiscoveryServer,
  type DiscoveryAddress,
  type DiscoveryClientOptions,
  type DiscoveryServerOptions,
} from '../src/index.ts';

export { until } from '../../../test/parts/until.ts';

/** A discovery server that listens on a free port of this machine. */
export async function startServer(options: Partial<DiscoveryServerOptions> = {}, at: Partial<DiscoveryAddress> = {}) {
  const server = createDiscoveryServer({ log: silentLoggers, metrics: createMetrics(), ...options });
  const listening = await server.listen({ address: '127.0.0.1', port: 0, ...at });
  return {
    server,
    port: listening.port,
    replaceTls: listening.replaceTls,
    publish: (state: ProxyState, update?: { readonly isPartial?: boolean }) =>
      server.update(new Map([['gateway-proxy', state]]), update),
    close: () => listening.close(),
  };
}

/** A proxy that serves nothing, but keeps what it was told to serve. */
export function startProxy(
  ports: readonly number[],
  options: Partial<DiscoveryClientOptions> & {
    readonly failing?: (state: DecodedState) => readonly ProxyRejection[];
  } = {},
) {
  const decoder = options.decoder ?? createStateDecoder();
  const metrics = createMetrics();
  const applied: Snapshot[] = [];
  let accepted = 0;
  const client = createDiscoveryClient({
    servers: ports.map((port) => ({ host: '127.0.0.1', port })),
    node: { id: `node~${ports[0]}`, proxy: 'gateway-proxy', namespace: 'gw-system' },
    *apply(state) {
      yield;
      applied.push(state.snapshot);
      return { failed: options.failing?.(state) ?? [] };
    },
    onAccepted: () => void accepted++,
    log: silentLoggers,
    metrics,
    ...options,
    decoder,
  });
  return {
    client,
    decoder,
    metrics,
    applied,
    get accepted() {
      return accepted;
    },
    get served(): Snapshot | undefined {
      return applied.at(-1);
    },
    stat: (path: string) =>
      metrics.list().find(({ name }) => name.path === path)?.stat as { value: number } | undefined,
    close: () => client.close(),
  };
}
