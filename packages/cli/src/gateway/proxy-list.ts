import { formatOrigin, type ProxyStatus } from '@edge-gateway/core';
import { items, text } from '../resources/objects.ts';
import { badAnswer, type Connection } from './connection.ts';

/** Reads the connected proxies. Throws `ERR_CLI_BAD_ANSWER` if the page has another shape. */
export async function readProxies(connection: Connection): Promise<ProxyStatus[]> {
  const response = await connection.control('/proxies');
  const isList = Array.isArray(response) && items(response).every((one) => text(one, 'node') && text(one, 'proxy'));
  if (isList) return response as ProxyStatus[];
  throw badAnswer({ base: connection.server, flag: '--server', path: '/proxies' });
}

/** Returns whether a proxy serves the newest version, and why not. */
export function syncState({ current, version, nack }: ProxyStatus): string {
  if (nack) return `NACK: ${rejectionOf(nack)}`;
  if (version === '') return 'waiting for its first version';
  return current ? 'in sync' : 'behind';
}

/** Returns true if a proxy serves the newest version, and accepted all of it. */
export const isInSync = ({ current, nack }: ProxyStatus): boolean => current && nack === undefined;

function rejectionOf({ type, resource, field, message, origin }: NonNullable<ProxyStatus['nack']>): string {
  const kind = type.slice(type.lastIndexOf('.') + 1);
  const what = [kind, resource, field && `at ${field}`].filter(Boolean).join(' ');
  return `${what}: ${message}${origin ? ` (${formatOrigin(origin)})` : ''}`;
}

/** Returns a line for each proxy that does not serve the newest version; none if the gateway does not list its proxies. */
export async function syncProblems(connection: Connection): Promise<string[]> {
  const proxies = await readProxies(connection).catch(() => []);
  return proxies
    .filter((one) => !isInSync(one))
    .map((one) => `Proxy ${one.proxy} of ${one.node} is not in sync: ${syncState(one)}`);
}
