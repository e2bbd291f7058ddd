import { setTimeout as wait } from 'node:timers/promises';
import type { ClusterClient, ClusterObject } from '@edge-gateway/kubernetes';
import { GatewayProcess } from '../../apps/gateway/test/gateway-process.ts';
import { startProxy } from '../../apps/gateway/test/planes/planes.ts';

const POLL_MS = 200;

interface ProxiesOptions {
  readonly client: ClusterClient;
  readonly className: string;
  readonly xdsPort: number;
  /** Returns the address of the next proxy. */
  nextAddress(): string;
}

/** Runs a proxy for each Gateway of a class, at an address of its own, which a Service names. */
export function runProxies({ client, className, xdsPort, nextAddress }: ProxiesOptions): { close(): Promise<void> } {
  const proxies = new Map<string, GatewayProcess>();
  const closing = new AbortController();

  async function start({ metadata: { name, namespace = '', uid = '' } }: ClusterObject): Promise<void> {
    const address = nextAddress();
    const proxy = new GatewayProcess();
    proxies.set(uid, proxy);
    const labels = { 'gateway.networking.k8s.io/gateway-name': name };
    const metadata = { name: `proxy-${proxies.size}-${address.replaceAll('.', '-')}`, labels };
    const spec = { externalIPs: [address], ports: [{ port: 80 }] };
    const body = { apiVersion: 'v1', kind: 'Service', metadata, spec };
    await client.send({ method: 'POST', path: `/api/v1/namespaces/${namespace}/services`, body });
    // The last flag of a name wins.
    const flags = ['--proxy-name', `${namespace}.${name}`, '--bind-address', address];
    // Gateways may be deleted before their proxy is ready.
    startProxy(proxy, [xdsPort], ...flags).catch(() => undefined);
  }

  async function follow(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        const path = '/apis/gateway.networking.k8s.io/v1/gateways';
        const { items } = await client.send<{ items: ClusterObject[] }>({ path });
        const uids = new Set(items.map(({ metadata }) => metadata.uid));
        for (const [uid, proxy] of proxies) {
          if (uids.has(uid)) continue;
          proxies.delete(uid);
          await proxy.close();
        }
        for (const gateway of items) {
          const { gatewayClassName } = gateway['spec'] as { gatewayClassName?: string };
          if (gatewayClassName === className && !proxies.has(gateway.metadata.uid ?? '')) await start(gateway);
        }
      } catch (error) {
        console.log(`proxies: ${(error as Error).message}`);
      }
      await wait(POLL_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  const following = follow();
  return {
    async close() {
      closing.abort();
      await following;
      await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
    },
  };
}
