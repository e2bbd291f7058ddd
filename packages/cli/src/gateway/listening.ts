import { badAnswer, parseJson, type Connection } from './connection.ts';
import { cliError } from '../error-codes.ts';
import { dig, items, text } from '../resources/objects.ts';

/** An address on which a proxy listens. */
interface Listening {
  readonly name: string;
  /** As a client can use it: a wildcard is the host of the proxy's admin. */
  readonly host: string;
  readonly port: number;
  readonly protocol: 'http' | 'https';
}

/** The addresses that the proxy listens on at this moment, `http` before `https`. */
export async function readListening(connection: Connection): Promise<Listening[]> {
  const page = { base: connection.proxyAdmin, flag: '--proxy-admin', path: '/listeners?format=json' } as const;
  const response = parseJson(await connection.proxy(page.path), page);
  // Without listeners the response is an empty object.
  const statuses = JSON.stringify(response) === '{}' ? [] : dig(response, 'listener_statuses');
  if (!Array.isArray(statuses)) throw badAnswer(page);
  const tls = await tlsListeners(connection);
  return statuses
    .map((status) => toListening(status, connection.proxyAdmin, tls))
    .sort((a, b) => a.protocol.localeCompare(b.protocol) || a.port - b.port);
}

function toListening(status: unknown, admin: URL, tls: ReadonlySet<string>): Listening {
  const name = text(status, 'name');
  const address = text(status, 'local_address', 'socket_address', 'address');
  const port = Number(text(status, 'local_address', 'socket_address', 'port_value'));
  const isWildcard = ['', '::', '0.0.0.0', '[::]'].includes(address);
  const host = isWildcard ? admin.hostname : address.includes(':') ? `[${address}]` : address;
  return { name, host, port, protocol: tls.has(name) ? 'https' : 'http' };
}

/** The names of the listeners that have a TLS transport socket in the configuration dump. */
async function tlsListeners(connection: Connection): Promise<ReadonlySet<string>> {
  const dump: unknown = JSON.parse(await connection.proxy('/config_dump', 'POST'));
  const listeners = items(dump, 'configs')
    .flatMap((config) => [...items(config, 'dynamic_listeners'), ...items(config, 'static_listeners')])
    .map((one) => dig(one, 'active_state', 'listener') ?? dig(one, 'listener'));
  const isTls = (listener: unknown) =>
    items(listener, 'filter_chains').some((chain) => dig(chain, 'transport_socket') !== undefined);
  return new Set(listeners.filter(isTls).map((listener) => text(listener, 'name')));
}

/** The address that `--port` means; `ERR_CLI_NOT_FOUND` lists the known ones. */
export function chooseListening(listening: readonly Listening[], port: string): Listening {
  if (listening.length === 0) {
    const text = 'the proxy listens on no address; is there a virtual service? (gatewayctl get vs)';
    throw cliError('ERR_CLI_NOT_FOUND', text);
  }
  const found = listening.find((one) => one.protocol === port || String(one.port) === port);
  if (found) return found;
  const known = listening.map((one) => `${one.protocol} (${one.port})`).join(', ');
  throw cliError('ERR_CLI_NOT_FOUND', `named port ${port} not found; the proxy listens on: ${known}`);
}
