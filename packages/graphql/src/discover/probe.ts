import { credentials } from '@grpc/grpc-js';
import type { CallUpstream, Resource } from '@edge-gateway/core';
import type { ServiceSpec, UpstreamSpec } from '@edge-gateway/core/schema';
import { introspect, MAX_SCHEMA_BYTES } from '../remote/introspect.ts';
import type { Probe } from './discovery.ts';
import { reflect } from './grpc-reflection.ts';

/** Where servers keep their OpenAPI documents. */
export const OPENAPI_PATHS: readonly string[] = [
  '/openapi.json',
  '/v3/api-docs',
  '/swagger.json',
  '/swagger/docs/v1',
  '/swagger/docs/v2',
  '/v1/swagger',
  '/v2/swagger',
];
/** Where GraphQL servers are asked, unless `serviceSpec.graphql.endpoint.url` says otherwise. */
export const GRAPHQL_PATH = '/graphql';
const TIMEOUT_MS = 5000;

/**
 * Asks an upstream what it is: a GraphQL server, a service with an OpenAPI document, a gRPC service with reflection; in this order, or
 * only as what it was found before. `undefined` when it is none of them. Never rejects.
 */
export async function probeUpstream(
  { metadata, spec }: Resource<UpstreamSpec>,
  callUpstream: CallUpstream,
  known?: Probe['type'],
): Promise<Probe | undefined> {
  const ref = { name: metadata.name, namespace: metadata.namespace };
  const { serviceSpec } = spec.static ?? {};
  const ways: Record<Probe['type'], () => Promise<Probe | undefined>> = {
    graphql: async () => {
      const introspection = await introspect(callUpstream, ref, {
        path: graphqlPath(serviceSpec),
        timeoutMs: TIMEOUT_MS,
      });
      return { type: 'graphql', introspection };
    },
    openapi: () => askDocument(openApiPaths(serviceSpec), (path) => getJson(callUpstream, ref, path)),
    grpc: () => askReflection(spec),
  };
  for (const type of known ? [known] : (Object.keys(ways) as Probe['type'][])) {
    const probe = await ways[type]().catch(() => undefined);
    if (probe) return probe;
  }
  return undefined;
}

function graphqlPath(serviceSpec: ServiceSpec | undefined): string {
  return pathOf(serviceSpec?.graphql?.endpoint?.url) ?? GRAPHQL_PATH;
}

function openApiPaths(serviceSpec: ServiceSpec | undefined): readonly string[] {
  const path = pathOf(serviceSpec?.rest?.swaggerInfo?.url);
  return path === undefined ? OPENAPI_PATHS : [path];
}

function pathOf(url: string | undefined): string | undefined {
  const parsed = url ? URL.parse(url, 'http://upstream') : null;
  return parsed ? parsed.pathname + parsed.search : undefined;
}

async function askDocument(
  paths: readonly string[],
  get: (path: string) => Promise<unknown>,
): Promise<Probe | undefined> {
  for (const path of paths) {
    const document = await get(path);
    if (typeof (document as { openapi?: unknown } | null | undefined)?.openapi === 'string') {
      return { type: 'openapi', document };
    }
  }
  return undefined;
}

async function getJson(callUpstream: CallUpstream, ref: Parameters<CallUpstream>[0], path: string): Promise<unknown> {
  const headers = ['accept', 'application/json'];
  const answer = await callUpstream(ref, {
    method: 'GET',
    path,
    headers,
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_SCHEMA_BYTES,
  });
  if (answer.status !== 200) return undefined;
  try {
    return JSON.parse(answer.body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Reflection goes over a connection of its own, so far without TLS. */
async function askReflection({ static: hosts, sslConfig }: UpstreamSpec): Promise<Probe | undefined> {
  const [host] = hosts?.hosts ?? [];
  if (!host?.addr || sslConfig || hosts?.useTls) return undefined;
  const address = `${host.addr.includes(':') ? `[${host.addr}]` : host.addr}:${host.port ?? 80}`;
  const reflected = await reflect(address, { credentials: credentials.createInsecure(), timeoutMs: TIMEOUT_MS });
  return reflected.services.length > 0 ? { type: 'grpc', ...reflected } : undefined;
}
