import { once } from 'node:events';
import { connect, type ConnectionOptions, type SecureVersion, type TLSSocket } from 'node:tls';
import type { Context, TlsConfiguration } from '@edge-gateway/core';

/** The versions that listeners support. */
export const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const satisfies readonly SecureVersion[];

export const GET = (host: string, headers = ''): string =>
  `GET / HTTP/1.1\r\nHost: ${host}\r\n${headers}Connection: close\r\n\r\n`;

/** A certificate and its key as the data of a secret. */
export const pair = ({ cert, key }: { cert: string; key: string }): Record<string, string> => ({
  'tls.crt': cert,
  'tls.key': key,
});

/** The certificate of a secret, for these server names. */
export const configuration = (
  name: string,
  sniDomains: string[] = [],
  more: TlsConfiguration['sslConfig'] = {},
): TlsConfiguration => ({
  sniDomains,
  sslConfig: { secretRef: { name, namespace: 'gw-system' }, ...more },
});

export interface Handshake {
  readonly certificate: string;
  readonly answer: string;
  readonly protocol: string | null;
  readonly alpn: string | false | null;
  readonly reused: boolean;
}

/** Makes a handshake and a request; `undefined` when the connection came to nothing. */
export async function visit(
  port: number,
  options: ConnectionOptions & { host?: string; headers?: string } = {},
): Promise<Handshake | undefined> {
  const { host = 'api.example.com', headers = '', ...rest } = options;
  const socket = connect({ port, host: '127.0.0.1', servername: host, rejectUnauthorized: false, ...rest });
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk));
  socket.on('error', () => {});
  const closed = once(socket, 'close').catch(() => {});
  const secure = await Promise.race([
    once(socket, 'secureConnect').catch(() => undefined),
    closed.then(() => undefined),
  ]);
  if (!secure) return undefined;
  const certificate = socket.getPeerX509Certificate()?.fingerprint256 ?? '';
  const facts = {
    certificate,
    protocol: socket.getProtocol(),
    alpn: socket.alpnProtocol,
    reused: socket.isSessionReused(),
  };
  socket.write(GET(host, headers));
  await closed;
  return answer === '' ? undefined : { ...facts, answer };
}

/** Returns a session that a server would resume; `undefined` if it offers none. */
export async function sessionOf(
  port: number,
  servername: string,
  maxVersion: SecureVersion,
  more: ConnectionOptions = {},
): Promise<Buffer | undefined> {
  const socket: TLSSocket = connect({
    port,
    host: '127.0.0.1',
    servername,
    rejectUnauthorized: false,
    maxVersion,
    ...more,
  });
  let session: Buffer | undefined;
  socket.on('session', (each) => (session = each));
  socket.on('error', () => {});
  socket.resume();
  await once(socket, 'secureConnect');
  session ??= socket.getSession();
  socket.write(GET(servername));
  await once(socket, 'close');
  return session;
}

/** Returns the sum of the counters and gauges of all listeners with this name. */
export function listenerStat({ metrics }: Context, name: string): number {
  return metrics
    .list()
    .filter(({ name: { path } }) => path.startsWith('listener.') && path.endsWith(`.${name}`))
    .reduce((sum, { stat }) => sum + (stat as { value: number }).value, 0);
}
