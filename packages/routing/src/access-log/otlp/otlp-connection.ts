import { request as httpRequest, type RequestOptions } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import {
  createUpstreamTls,
  readTlsMaterial,
  type Context,
  type Endpoint,
  type Listener,
  type SnapshotUpstream,
  timeoutSignal,
} from '@edge-gateway/core';
import type { AccessLog as AccessLogSpec } from '@edge-gateway/core/schema';
import { routingError } from '../../error-codes.ts';
import { createGrpcChannel } from '../../grpc/grpc-channel.ts';

type CollectorSettings = NonNullable<NonNullable<AccessLogSpec['openTelemetryService']>['collector']>;

/** The connection to an OpenTelemetry collector. */
export interface OtlpConnection {
  send(message: Buffer, timeoutMs: number): Promise<void>;
  close(): void;
}

interface ConnectionParts {
  readonly gateway: Listener['gateway'];
  readonly context: Context;
}

const GRPC_METHOD = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
const HTTP_PATH = '/v1/logs';
const ADDRESS = /^(?:\[([0-9a-f:.]+)\]|([^\s/:[\]]+)):(\d{1,5})$/i;

/** Creates the connection to an endpoint: `host:port` for gRPC, a URL for HTTP. Throws `ERR_ROUTING_OPTION` for anything else. */
export function otlpConnection(collector: CollectorSettings, parts: ConnectionParts): OtlpConnection {
  const { endpoint = '' } = collector;
  if (/^https?:\/\//i.test(endpoint) && URL.canParse(endpoint)) return overHttp(new URL(endpoint), collector, parts);
  const [, v6, host = v6, port] = ADDRESS.exec(endpoint) ?? [];
  if (host === undefined) {
    throw routingError('ERR_ROUTING_OPTION', `invalid collector endpoint "${endpoint}": write host:port or a URL`);
  }
  return overGrpc({ address: host, port: Number(port), weight: 1 }, collector, parts);
}

/** A collector as an upstream, so that TLS is that of upstreams. */
function upstreamOf(endpoint: Endpoint, { sslConfig }: CollectorSettings, tls: boolean, { gateway }: ConnectionParts) {
  const { address: name } = endpoint;
  const spec = sslConfig === undefined ? {} : { sslConfig: sslConfig as SnapshotUpstream['spec']['sslConfig'] };
  return { name, ref: { name, namespace: gateway.namespace }, spec, endpoints: [endpoint], tls } as SnapshotUpstream;
}

/** Headers as an object by name, or as a list of `key` and `value`. */
function headersOf({ headers }: CollectorSettings): string[] {
  if (typeof headers !== 'object' || headers === null) return [];
  const pairs: unknown[][] = Array.isArray(headers)
    ? (headers as readonly { key?: unknown; value?: unknown }[]).map(({ key, value }) => [key, value])
    : Object.entries(headers);
  return pairs.flatMap(([name, value]) =>
    typeof name === 'string' && typeof value === 'string' ? [name.toLowerCase(), value] : [],
  );
}

function overGrpc(endpoint: Endpoint, collector: CollectorSettings, parts: ConnectionParts): OtlpConnection {
  const { authority, insecure } = collector;
  const snapshot = upstreamOf(endpoint, collector, insecure !== true, parts);
  const headers = headersOf(collector);
  const channel = createGrpcChannel({
    find: () => ({ snapshot, pick: () => endpoint }),
    secrets: parts.context.secrets,
    ...(authority && { authority }),
  });
  return {
    async send(message, timeoutMs) {
      await channel.unary(GRPC_METHOD, message, { headers, timeoutMs });
    },
    close: channel.close,
  };
}

function overHttp(url: URL, collector: CollectorSettings, parts: ConnectionParts): OtlpConnection {
  const isTls = url.protocol === 'https:';
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  const endpoint = { address: host, port: Number(url.port) || (isTls ? 443 : 80), weight: 1 };
  const upstream = upstreamOf(endpoint, collector, isTls, parts);
  const headers: Record<string, string> = { 'content-type': 'application/x-protobuf', host: url.host };
  if (collector.authority) headers['host'] = collector.authority;
  const written = headersOf(collector);
  for (let i = 0; i < written.length; i += 2) headers[written[i]!] = written[i + 1]!;
  const path = url.pathname === '/' ? HTTP_PATH : url.pathname;

  const agents = createAgents();
  let open = new AbortController();

  function tlsOptions(): RequestOptions & { servername?: string } {
    if (!isTls) return {};
    const material = readTlsMaterial(upstream, parts.context.secrets);
    const agent = agents.for(material);
    const tls = createUpstreamTls(upstream, material);
    const name = tls.serverName(endpoint) ?? (isIP(host) ? undefined : host);
    const { secureContext, checkServerIdentity } = tls;
    return { agent, secureContext, checkServerIdentity, ...(name && { servername: name }) } as RequestOptions;
  }

  return {
    send(message, timeoutMs) {
      return new Promise((resolve, reject) => {
        const signal = AbortSignal.any([timeoutSignal(timeoutMs), open.signal]);
        const length = { 'content-length': String(message.length) };
        const options = { host, port: endpoint.port, path, method: 'POST', signal, ...tlsOptions() };
        const request = (isTls ? httpsRequest : httpRequest)(
          { ...options, headers: { ...headers, ...length } },
          (res) => {
            const { statusCode = 0 } = res;
            res.resume();
            if (statusCode >= 200 && statusCode <= 299) resolve();
            else reject(new Error(`the collector responded with status ${statusCode}`));
          },
        );
        request.on('error', reject).end(message);
      });
    },
    close() {
      open.abort();
      open = new AbortController();
      agents.close();
    },
  };
}

/** Creates the agents of one collector. Connections are not shared with other collectors, nor kept when the certificates change. */
function createAgents() {
  let agent: Agent | undefined;
  let used: unknown;
  return {
    for(material: unknown): Agent {
      if (agent && isDeepStrictEqual(material, used)) return agent;
      agent?.destroy();
      used = material;
      return (agent = new Agent({ keepAlive: true }));
    },
    close(): void {
      agent?.destroy();
      agent = undefined;
    },
  };
}
