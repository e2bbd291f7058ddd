import { json } from '../http/answer.ts';
import { isIPv6 } from 'node:net';
import type { EndpointFactory } from './endpoint.ts';

/** `/listeners`: the addresses listened on at this moment. */
export const listeners: EndpointFactory = (options) => ({
  paths: ['/listeners'],
  help: 'listeners and their addresses',
  parameters: [{ name: 'format', help: 'output format', values: ['text', 'json'] }],
  answer: (parameters) => {
    const open = options.listeners();
    if (parameters.get('format') !== 'json') {
      const lines = open.map(({ name, address, port }) => `${name}::${addressAndPort(address, port)}\n`);
      return { body: lines.join('') };
    }
    const statuses = open.map(({ name, address, port }) => ({
      name,
      local_address: { socket_address: { address, port_value: port } },
    }));
    return json({ listener_statuses: statuses });
  },
});

/** `127.0.0.1:80`, `[::]:80`. */
export function addressAndPort(address: string, port: number): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}
