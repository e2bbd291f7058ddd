import {
  GatewayError,
  serviceSpecOf,
  type CallUpstream,
  type Resource,
  type ResourceRef,
  type Secrets,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import type { UpstreamSpec } from '@edge-gateway/core/schema';
import { createGrpcChannel } from '../resolvers/grpc/channel.ts';
import { reflect, TooMuchReflected } from '../resolvers/grpc/reflection.ts';
import { introspect, MAX_SCHEMA_BYTES } from '../remote/introspect.ts';
import { namedPath, SERVER_PATH } from '../remote/server-path.ts';
import type { Probe } from './discovered-api.ts';
import { findDocument, type ReportPath } from './openapi/find-document.ts';

export interface ProbeContext {
  readonly callUpstream: CallUpstream;
  /** Endpoints and TLS of an upstream, for gRPC reflection. */
  readonly findUpstream: (ref: ResourceRef) => SnapshotUpstream | undefined;
  readonly secrets: Secrets;
  /** Receives documents at a path that cannot be used. */
  readonly reportPath: ReportPath;
}

/** The types of upstreams, in the order in which they are tried. */
export const PROBE_TYPES: readonly Probe['type'][] = ['graphql', 'openapi', 'grpc'];
const TIMEOUT_MS = 5000;
/** Status of calls whose response is too large. */
const TOO_LARGE = 'ERR_ROUTING_UPSTREAM_TOO_LARGE';
const OF_SCHEMAS = `(a schema has at most ${MAX_SCHEMA_BYTES} bytes)`;

/**
 * Determines the type of an upstream: a GraphQL server, a service with an OpenAPI document, a gRPC service with reflection; in this order, of the
 * given types only. `undefined` if it is none of them. Never rejects.
 */
export async function probeUpstream(
  { metadata, spec }: Resource<UpstreamSpec>,
  context: ProbeContext,
  types: readonly Probe['type'][] = PROBE_TYPES,
): Promise<Probe | undefined> {
  const ref = { name: metadata.name, namespace: metadata.namespace };
  const { callUpstream, reportPath } = context;
  const probes: Record<Probe['type'], () => Promise<Probe | undefined>> = {
    graphql: async () => {
      const asked = { path: namedPath(spec) ?? SERVER_PATH, timeoutMs: TIMEOUT_MS };
      const introspection = await introspect(callUpstream, ref, asked).catch((error: unknown) => {
        if (error instanceof GatewayError && error.code === TOO_LARGE)
          reportPath(asked.path, `${error.message} ${OF_SCHEMAS}`);
        throw error;
      });
      return { type: 'graphql', introspection };
    },
    openapi: async () => {
      const upstream = { ref, serviceSpec: serviceSpecOf(spec) };
      const document = await findDocument(upstream, callUpstream, reportPath);
      return document && { type: 'openapi', document };
    },
    grpc: () => askReflection(ref, context),
  };
  for (const type of types) {
    const probe = await probes[type]().catch(() => undefined);
    if (probe) return probe;
  }
  return undefined;
}

/** Tries one endpoint after the other, with the TLS of the upstream. */
async function askReflection(
  ref: ResourceRef,
  { findUpstream, secrets, reportPath }: ProbeContext,
): Promise<Extract<Probe, { type: 'grpc' }> | undefined> {
  const channel = createGrpcChannel(() => findUpstream(ref), { secrets, maxBytes: MAX_SCHEMA_BYTES });
  const asked = new Set<string>();
  try {
    for (const _ of findUpstream(ref)?.endpoints ?? []) {
      const { address, credentials, serverName } = channel.next();
      if (asked.has(address)) continue;
      asked.add(address);
      const options = { credentials, timeoutMs: TIMEOUT_MS, ...(serverName && { serverName }) };
      const reflected = await reflect(address, options).catch((error: unknown) => {
        if (error instanceof TooMuchReflected) reportPath(`reflection of ${address}`, error.message);
        return undefined;
      });
      if (reflected && reflected.services.length > 0) return { type: 'grpc', ...reflected };
    }
  } finally {
    channel.close();
  }
  return undefined;
}
