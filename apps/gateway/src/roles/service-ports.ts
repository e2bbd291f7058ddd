import type { Component } from '@edge-gateway/admin';
import { startTimer, type ListeningServer, type ServerTls } from '@edge-gateway/core';
import type { PortFlag } from '../command-line/role.ts';
import { portError } from './port-error.ts';

/** One port of a service. */
export interface ServicePort {
  readonly flag: Pick<PortFlag, 'flag' | 'what'>;
  readonly port: number;
  listen(at: {
    readonly address: string;
    readonly port: number;
    readonly tls?: ServerTls | undefined;
  }): Promise<ListeningServer>;
}

/** The open ports of a service. */
export interface ServicePorts {
  /** In the order of the ports. */
  readonly servers: readonly ListeningServer[];
  components(): readonly Component[];
  drain(limitMs: number): Promise<void>;
  close(): void;
}

/** Opens the ports of a service. Rejects with `ERR_GATEWAY_PORT` if one of them cannot be opened; then none is open. */
export async function openServicePorts(
  name: string,
  { address, tls }: { readonly address: string; readonly tls?: ServerTls | undefined },
  ports: readonly ServicePort[],
): Promise<ServicePorts> {
  const servers: ListeningServer[] = [];
  let isDraining = false;
  const close = (): void => {
    for (const server of servers) server.close();
  };
  for (const { flag, port, listen } of ports) {
    try {
      servers.push(await listen({ address, port, tls }));
    } catch (cause) {
      close();
      const remedy = `${flag.flag} N (0 picks a free port)`;
      throw portError({ port, address, what: flag.what, remedy, addressRemedy: '--address', cause });
    }
  }
  return {
    servers,
    components: () =>
      servers.map(({ port }) => ({
        name: `${name}-${address}-${port}`,
        kind: 'listener',
        state: isDraining ? 'draining' : 'ready',
      })),
    async drain(limitMs) {
      isDraining = true;
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<void>((resolve) => (timer = startTimer(resolve, limitMs)));
      await Promise.race([Promise.all(servers.map((server) => server.drain())), limit]);
      clearTimeout(timer);
    },
    close,
  };
}
