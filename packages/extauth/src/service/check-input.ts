import { isHeaderName, isHeaderValue, plainAddress, toByteString, type AuthRequest } from '@edge-gateway/core';
import { fromStruct, type ProtoStruct } from '@edge-gateway/core/grpc';
import { clientError } from '../chain/failure.ts';
import type { CheckRequest, HeaderText, Peer } from '../grpc/protocol.ts';

/** A message as it arrives: every part may be missing. */
type Arrived<T> = T extends readonly (infer Part)[]
  ? readonly Arrived<Part>[]
  : T extends Buffer
    ? T
    : T extends object
      ? { readonly [Name in keyof T]?: Arrived<T[Name]> | null | undefined }
      : T;

export type ArrivedCheck = Arrived<CheckRequest>;

/** Context extension that names the AuthConfig, as `<namespace>.<name>`. */
const CONFIG_ID = 'config_id';
const METHOD = /^[A-Z][A-Z0-9-]{0,31}$/;

/** Returns the AuthConfig that a request of Envoy names; empty if it names none. */
export function configIdOf({ attributes }: ArrivedCheck): string {
  const extensions = attributes?.contextExtensions ?? {};
  return Object.hasOwn(extensions, CONFIG_ID) ? (extensions[CONFIG_ID] ?? '') : '';
}

/**
 * Returns the request in a message of Envoy. Its client is the peer of Envoy's connection. Throws `ERR_EXTAUTH_REQUEST` if the message has no
 * HTTP request, or one that no HTTP client can send.
 */
export function authRequestOfCheck({ attributes }: ArrivedCheck, signal: AbortSignal): AuthRequest {
  const { source, destination, request, metadataContext, tlsSession, contextExtensions } = attributes ?? {};
  const http = request?.http;
  if (!http) throw clientError('the check has no HTTP request', 400);
  const texts = http.headerMap?.headers ?? Object.entries(http.headers ?? {}).map(([key, value]) => ({ key, value }));
  const { flat, pseudo } = headersOf(texts);
  const method = (http.method || pseudo.get(':method') || '').toUpperCase();
  const path = toByteString(http.path || pseudo.get(':path') || '');
  if (!METHOD.test(method)) throw clientError('the check has no valid method', 400);
  if (!path.startsWith('/')) throw clientError('the path does not begin with a slash', 400);
  const header = headerReader(flat);
  const { address: clientAddress, port: clientPort } = socketOf(source);
  const { address: localAddress, port: localPort } = socketOf(destination);
  const scheme = (http.scheme || pseudo.get(':scheme')) === 'https' ? 'https' : 'http';
  const body = bodyOf(http);
  const tls = tlsSession && {
    serverName: tlsSession.sni ?? '',
    client: source?.principal ?? '',
    server: destination?.principal ?? '',
  };
  return {
    requestId: header('x-request-id') || http.id || '',
    method,
    scheme,
    host: toByteString(http.host || pseudo.get(':authority') || '') || header('host') || '',
    path,
    header,
    headers: () => flat,
    clientAddress,
    connection: {
      clientAddress,
      clientPort,
      scheme,
      protocol: http.protocol || 'HTTP/1.1',
      localAddress,
      localPort,
    },
    ...(tls && { tls: () => tls }),
    ...(body && { body }),
    ...(body && http.rawBody?.length && { packAsBytes: true }),
    state: {},
    ...(contextExtensions && { contextExtensions: { ...contextExtensions } as Record<string, string> }),
    metadata: new Map(
      Object.entries(metadataContext?.filterMetadata ?? {}).map(([name, struct]) => [
        name,
        fromStruct((struct ?? {}) as ProtoStruct),
      ]),
    ),
    signal,
  };
}

/** Returns the headers flat in lower case, and the pseudo-headers. */
function headersOf(texts: readonly Arrived<HeaderText>[]) {
  const flat: string[] = [];
  const pseudo = new Map<string, string>();
  for (const { key = '', value, rawValue } of texts) {
    const name = (key ?? '').toLowerCase();
    const text = value || !rawValue ? toByteString(value ?? '') : Buffer.from(rawValue).toString('latin1');
    if (name.startsWith(':')) pseudo.set(name, text);
    else if (isHeaderName(name) && isHeaderValue(text)) flat.push(name, text);
    else throw clientError('the check has an invalid header', 400);
  }
  return { flat, pseudo };
}

/** Returns a reader with the values of equal names joined once, so that a request with many headers is read in linear time. */
function headerReader(flat: readonly string[]): (name: string) => string | undefined {
  let joined: Map<string, string> | undefined;
  return (name) => {
    if (!joined) {
      joined = new Map();
      for (let i = 0; i < flat.length; i += 2) {
        const before = joined.get(flat[i]!);
        const separator = flat[i] === 'cookie' ? '; ' : ', ';
        joined.set(flat[i]!, before === undefined ? flat[i + 1]! : before + separator + flat[i + 1]!);
      }
    }
    return joined.get(name.toLowerCase());
  };
}

function socketOf(peer: Arrived<Peer> | null | undefined): { readonly address: string; readonly port: number } {
  const { address, portValue } = peer?.address?.socketAddress ?? {};
  return { address: plainAddress(address ?? ''), port: portValue ?? 0 };
}

function bodyOf({ rawBody, body }: { readonly rawBody?: Buffer | null; readonly body?: string | null }) {
  if (rawBody?.length) return Buffer.from(rawBody);
  return body ? Buffer.from(body, 'utf8') : undefined;
}
