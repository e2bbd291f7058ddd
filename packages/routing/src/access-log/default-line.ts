import { findHeader } from '../http1/flat-headers.ts';
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

/** The line of a gateway that configures no log: one JSON object, put together by hand. Empty values are omitted. */
export function defaultJsonLine(record: RequestRecord): string {
  const { requestId, flags, details, upstreamMs } = record;
  let line = `{"time":"${isoTime(record.startedAt)}"`;
  if (requestId !== '') line += `,"requestId":${quoted(requestId)}`;
  if (record.method !== '') line += `,"method":${quoted(record.method)}`;
  if (record.authority !== '') line += `,"host":${quoted(record.authority)}`;
  if (record.originalPath !== '') line += `,"path":${quoted(redactPath(record.originalPath))}`;
  line += `,"status":${record.status}`;
  if (flags !== '') line += `,"flags":${quoted(flags)}`;
  // For a response of an upstream the line contains the host instead.
  if (details !== '' && details !== VIA_UPSTREAM) line += `,"details":${quoted(details)}`;
  if (record.routeName !== '') line += `,"route":${quoted(record.routeName)}`;
  if (record.virtualHost !== '') line += `,"virtualHost":${quoted(record.virtualHost)}`;
  if (record.upstream !== '') line += `,"upstream":${quoted(record.upstream)}`;
  if (record.upstreamHost !== '') line += `,"upstreamHost":${quoted(record.upstreamHost)}`;
  line += `,"durationMs":${tenths(record.durationMs)}`;
  if (upstreamMs >= 0) line += `,"upstreamMs":${tenths(upstreamMs)}`;
  line += `,"bytesReceived":${record.bytesReceived},"bytesSent":${record.bytesSent}`;
  const userAgent = findHeader(record.headers, 'user-agent');
  if (userAgent !== undefined) line += `,"userAgent":${quoted(userAgent)}`;
  const forwardedFor = findHeader(record.headers, 'x-forwarded-for');
  if (forwardedFor !== undefined) line += `,"forwardedFor":${quoted(forwardedFor)}`;
  return `${line}}\n`;
}

const tenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;

/** Anything but printable ASCII without quotation marks and backslashes. */
const SPECIAL = /[^ !#-[\]-~]/;

function quoted(text: string): string {
  return SPECIAL.test(text) ? JSON.stringify(text) : `"${text}"`;
}

let second = -1;
let untilSecond = '';

/** Most requests begin in the same second as the one before. */
function isoTime(milliseconds: number): string {
  const fraction = milliseconds % 1000;
  if (milliseconds - fraction !== second) {
    second = milliseconds - fraction;
    untilSecond = new Date(second).toISOString().slice(0, 20);
  }
  return `${untilSecond}${String(Math.floor(fraction)).padStart(3, '0')}Z`;
}
