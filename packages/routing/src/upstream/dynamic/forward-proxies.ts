import { httpListenersOf, claimOwnPort, type Snapshot } from '@edge-gateway/core';
import { ForwardProxy, type ForwardProxyOptions, type ForwardProxyParts } from './forward-proxy.ts';

export type ForwardProxies = ReturnType<typeof createForwardProxies>;

/** Creates the forward proxies of all listeners. Equal blocks of successive snapshots are the same object, with one proxy. */
export function createForwardProxies(parts: Omit<ForwardProxyParts, 'namespace'>) {
  const proxies = new Map<ForwardProxyOptions, ForwardProxy>();
  const closing = new Set<Promise<void>>();
  let releases: readonly (() => void)[] = [];

  function retire(block: ForwardProxyOptions, proxy: ForwardProxy): void {
    proxies.delete(block);
    const done: Promise<void> = proxy.close().then(() => void closing.delete(done));
    closing.add(done);
  }

  function claimPorts(ports: readonly number[]): void {
    const before = releases;
    releases = ports.map((port) => claimOwnPort(port));
    for (const release of before) release();
  }

  return {
    get: (block: ForwardProxyOptions | undefined): ForwardProxy | undefined => block && proxies.get(block),
    /** Creates the proxies of the listeners of a snapshot, and closes all others after their requests. */
    apply({ listeners }: Pick<Snapshot, 'listeners'>): void {
      claimPorts(listeners.map(({ bindPort }) => bindPort));
      const blocks = new Map<ForwardProxyOptions, string>();
      for (const { httpOptions, gateway } of httpListenersOf(listeners))
        if (httpOptions.dynamicForwardProxy) blocks.set(httpOptions.dynamicForwardProxy, gateway.namespace);
      for (const [block, proxy] of proxies) {
        if (blocks.has(block)) proxy.refresh();
        else retire(block, proxy);
      }
      for (const [block, namespace] of blocks)
        if (!proxies.has(block)) proxies.set(block, new ForwardProxy(block, { ...parts, namespace }));
    },
    async close(): Promise<void> {
      claimPorts([]);
      for (const [block, proxy] of proxies) retire(block, proxy);
      await Promise.all(closing);
    },
  };
}
