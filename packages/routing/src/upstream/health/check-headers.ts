import type { Context, ResourceRef } from '@edge-gateway/core';
import type { HealthCheck } from './health-spec.ts';
import { NO_METADATA, NO_RESULT, NO_ROUTE, type RequestRecord } from '../../format/record.ts';
import { applyHeaderOps, compileHeaderManipulation } from '../../route/options/header-manipulation.ts';

type HttpCheck = NonNullable<HealthCheck['httpHealthCheck']>;

export interface HeaderChanges {
  readonly requestHeadersToAdd?: HttpCheck['requestHeadersToAdd'];
  readonly requestHeadersToRemove?: HttpCheck['requestHeadersToRemove'];
}

/** Methods whose requests declare the length of their body, here 0. */
const BODY_METHODS = new Set(['POST', 'PUT', 'PATCH']);

/** By this name, upstreams can tell checks from requests of clients. */
const USER_AGENT = 'Envoy/HC';

/**
 * Returns the headers of a check. Secrets are read now; those without a namespace are in that of the upstream. Throws
 * `ERR_ROUTING_OPTION` if one does not exist.
 */
export function checkHeaders(
  request: { readonly host: string; readonly method: string },
  changes: HeaderChanges,
  { context, ref }: { readonly context: Context; readonly ref: ResourceRef },
): string[] {
  const { host, method } = request;
  const headers = ['host', host, 'user-agent', USER_AGENT];
  if (BODY_METHODS.has(method)) headers.push('content-length', '0');
  const requestHeadersToAdd = changes.requestHeadersToAdd?.map(({ headerSecretRef: secret, ...rest }) =>
    secret ? { ...rest, headerSecretRef: { ...secret, namespace: secret.namespace || ref.namespace } } : rest,
  );
  const { requestHeadersToRemove } = changes;
  const { request: ops } = compileHeaderManipulation({ requestHeadersToAdd, requestHeadersToRemove }, context);
  if (ops.length > 0) applyHeaderOps(headers, ops, recordOf(host, context.now()));
  return headers;
}

/** Operators in values see no request: those that need one are empty. */
function recordOf(authority: string, startedAt: number): RequestRecord {
  return {
    startedAt,
    connection: {
      protocol: 'HTTP/1.1',
      directAddress: '',
      directPort: 0,
      peerAddress: '',
      peerPort: 0,
      localAddress: '',
      localPort: 0,
      tls: false,
      clientVerified: false,
      serverName: '',
      tlsVersion: '',
      id: 0,
      tlsCipher: '',
      clientCertificate: undefined,
    },
    head: {
      method: 'GET',
      authority,
      path: '/',
      pathname: '/',
      originalPath: '/',
      headers: [],
      requestId: '',
      clientAddress: '',
    },
    route: NO_ROUTE,
    result: NO_RESULT,
    metadata: NO_METADATA,
  };
}
