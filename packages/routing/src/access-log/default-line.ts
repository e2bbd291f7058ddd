import { findHeader } from '../flat-headers.ts';
import { compileFormat, type Format } from '../format/format.ts';
import { VIA_UPSTREAM, type RequestRecord } from '../format/record.ts';
import { redactPath } from '@edge-gateway/core';

/** The line of a text log that names no format (reference: security-graphql 7.5). */
export const DEFAULT_TEXT: Format = compileFormat(
  '[%START_TIME%] "%REQ(X-ENVOY-ORIGINAL-METHOD?:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" ' +
    '%RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% ' +
    '"%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"\n',
  'log',
);

/** The line of a gateway that configures no log: one JSON object. What has no value is left out. */
export function defaultJsonLine(record: RequestRecord): string {
  const line = {
    time: new Date(record.startedAt).toISOString(),
    requestId: record.requestId || undefined,
    method: record.method,
    host: record.authority,
    path: redactPath(record.originalPath),
    status: record.status,
    flags: record.flags || undefined,
    // Of an upstream's answer the line names the host.
    details: record.details === VIA_UPSTREAM ? undefined : record.details || undefined,
    route: record.routeName || undefined,
    virtualHost: record.virtualHost || undefined,
    upstream: record.upstream || undefined,
    upstreamHost: record.upstreamHost || undefined,
    durationMs: Math.round(record.durationMs * 10) / 10,
    upstreamMs: record.upstreamMs < 0 ? undefined : Math.round(record.upstreamMs * 10) / 10,
    bytesReceived: record.bytesReceived,
    bytesSent: record.bytesSent,
    userAgent: findHeader(record.headers, 'user-agent'),
    forwardedFor: findHeader(record.headers, 'x-forwarded-for'),
  };
  return `${JSON.stringify(line)}\n`;
}
