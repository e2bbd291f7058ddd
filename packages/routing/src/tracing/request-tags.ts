import { hostname } from 'node:os';
import { isToken, REDACTED_IN_LOG, redactPath } from '@edge-gateway/core';
import { grpcField } from '../format/grpc-status.ts';
import type { RequestRecord } from '../format/record.ts';
import { findHeader } from '../http1/flat-headers.ts';
import type { Span } from './span.ts';

const MAX_PATH_CHARS = 256;
const NONE = '-';
const NODE = hostname();

/** Adds Envoy's tags of a finished request. */
export function tagRequest(span: Span, record: RequestRecord): void {
  const { head, connection, result } = record;
  span.tag('node_id', NODE);
  span.tag('component', 'proxy');
  if (head.requestId !== '') span.tag('guid:x-request-id', head.requestId);
  const clientTraceId = findHeader(head.headers, 'x-client-trace-id');
  if (clientTraceId !== undefined) span.tag('guid:x-client-trace-id', clientTraceId);
  const path = redactPath(head.originalPath).slice(0, MAX_PATH_CHARS);
  span.tag('http.url', `${connection.tls ? 'https' : 'http'}://${head.authority}${path}`);
  span.tag('http.method', head.method);
  span.tag('downstream_cluster', findHeader(head.headers, 'x-envoy-downstream-service-cluster') ?? NONE);
  span.tag('user_agent', findHeader(head.headers, 'user-agent') ?? NONE);
  span.tag('http.protocol', connection.protocol);
  span.tag('peer.address', connection.directAddress);
  span.tag('request_size', String(result.bytesReceived));
  span.tag('response_size', String(result.bytesSent));
  tagGrpc(span, record);
  tagResponse(span, { status: result.status, flags: result.flags });
  if (record.route.upstream !== '') tagUpstream(span, record.route.upstream, result.upstreamHost);
}

/** Adds the tags of a response, or of its absence. */
export function tagResponse(span: Span, { status, flags }: { readonly status: number; readonly flags: string }): void {
  span.tag('http.status_code', String(status));
  span.tag('response_flags', flags === '' ? NONE : flags);
  span.failed = status === 0 || status >= 500;
  if (span.failed) span.tag('error', 'true');
}

/** Adds the tags of the upstream that a request was sent to. */
export function tagUpstream(span: Span, cluster: string, host: string): void {
  span.tag('upstream_cluster', cluster);
  span.tag('upstream_cluster.name', cluster);
  if (host !== '') span.tag('upstream_address', host);
}

function tagGrpc(span: Span, { head, result }: RequestRecord): void {
  const type = findHeader(head.headers, 'content-type');
  if (!type?.startsWith('application/grpc')) return;
  span.tag('grpc.path', redactPath(head.originalPath));
  span.tag('grpc.authority', head.authority);
  span.tag('grpc.content_type', type);
  const timeout = findHeader(head.headers, 'grpc-timeout');
  if (timeout !== undefined) span.tag('grpc.timeout', timeout);
  const status = grpcField(result, 'grpc-status');
  if (status !== undefined) span.tag('grpc.status_code', status);
  const message = grpcField(result, 'grpc-message');
  if (message !== undefined) span.tag('grpc.message', isToken(message) ? REDACTED_IN_LOG : message);
}
