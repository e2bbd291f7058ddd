import { styleText } from 'node:util';
import { fromByteString, printable, redactPath } from '@edge-gateway/core';
import { findHeader } from '../http1/flat-headers.ts';
import { compileFormat, type Format } from '../format/format.ts';
import { VIA_UPSTREAM, type RequestRecord } from '../format/record.ts';

/** The default format of a text log (reference: security-graphql 7.5). */
export const DEFAULT_TEXT: Format = compileFormat(
  '[%START_TIME%] "%REQ(X-ENVOY-ORIGINAL-METHOD?:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" ' +
    '%RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% ' +
    '"%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"\n',
  'log',
);

/**
 * Returns the line of a gateway that configures no log: one JSON object, concatenated for speed, from as few parts as possible. Empty values
 * are omitted.
 */
export function defaultJsonLine({ startedAt, head, route, result }: RequestRecord): string {
  const { status, durationMs, upstreamMs, bytesReceived, bytesSent } = result;
  const upstream = upstreamMs >= 0 ? `,"upstreamMs":${tenths(upstreamMs)}` : '';
  return (
    `${timePart(startedAt)}${headPart(head)},"status":${status}${outcomePart(result)}${routePart(route, result.upstreamHost)}` +
    `,"durationMs":${tenths(durationMs)}${upstream},"bytesReceived":${bytesReceived},"bytesSent":${bytesSent}${clientPart(head.headers)}}\n`
  );
}

function headPart({ requestId, method, authority, originalPath }: RequestRecord['head']): string {
  if (requestId !== '' && method !== '' && authority !== '' && originalPath !== '')
    return `,"requestId":"${escaped(requestId)}","method":"${escaped(method)}","host":"${escaped(authority)}","path":"${escaped(redactPath(originalPath))}"`;
  const path = redactPath(originalPath);
  return (
    field(',"requestId":"', requestId) +
    field(',"method":"', method) +
    field(',"host":"', authority) +
    field(',"path":"', path)
  );
}

function outcomePart({ flags, details }: RequestRecord['result']): string {
  // For a response of an upstream the line contains the host instead.
  return field(',"flags":"', flags) + (details === VIA_UPSTREAM ? '' : field(',"details":"', details));
}

function clientPart(headers: readonly string[]): string {
  const userAgent = findHeader(headers, 'user-agent');
  const forwardedFor = findHeader(headers, 'x-forwarded-for');
  const agent = userAgent === undefined ? '' : `,"userAgent":"${escaped(userAgent)}"`;
  return forwardedFor === undefined ? agent : `${agent},"forwardedFor":"${escaped(forwardedFor)}"`;
}

/** `key` is everything before the value. */
const field = (key: string, value: string): string => (value === '' ? '' : `${key}${escaped(value)}"`);

/** The part of a line with route and upstream. */
interface RoutePart {
  readonly virtualHost: string;
  readonly upstream: string;
  readonly upstreamHost: string;
  readonly text: string;
}

/** The last part by route name: most lines of a route have the same one. */
const routeParts = new Map<string, RoutePart>();
const MAX_ROUTE_PARTS = 1_000;

function routePart({ routeName, virtualHost, upstream }: RequestRecord['route'], upstreamHost: string): string {
  const known = routeParts.get(routeName);
  if (known?.virtualHost === virtualHost && known.upstream === upstream && known.upstreamHost === upstreamHost)
    return known.text;
  const given = JSON.stringify({
    route: routeName || undefined,
    virtualHost: virtualHost || undefined,
    upstream: upstream || undefined,
    upstreamHost: upstreamHost || undefined,
  });
  const text = given === '{}' ? '' : `,${given.slice(1, -1)}`;
  if (known || routeParts.size < MAX_ROUTE_PARTS)
    routeParts.set(routeName, { virtualHost, upstream, upstreamHost, text });
  return text;
}

/** The parts of a standard stream that distinguish a terminal. */
export interface Terminal {
  readonly isTTY?: boolean;
  hasColors?(): boolean;
}

/** Returns the form of the lines of a gateway that configures no log: readable text on a terminal, otherwise JSON. */
export function defaultLineFor(terminal: Terminal): (record: RequestRecord) => string {
  if (!terminal.isTTY) return defaultJsonLine;
  const colors = terminal.hasColors?.() ?? false;
  return (record) => readableAccessLine(record, { colors });
}

/** Returns the line of a request for a terminal: local time, method, host and path, status, duration, flags and details. */
function readableAccessLine(record: RequestRecord, { colors }: { readonly colors: boolean }): string {
  const { method, authority, originalPath } = record.head;
  const { status, durationMs, flags, details } = record.result;
  const style = (format: Parameters<typeof styleText>[0], text: string): string =>
    colors ? styleText(format, text, { validateStream: false }) : text;
  const parts = [
    style('gray', new Date(record.startedAt).toTimeString().slice(0, 8)),
    shown(method),
    shown(authority + redactPath(originalPath)),
    style(STATUS_COLORS[Math.floor(status / 100)] ?? 'red', String(status)),
    `${tenths(durationMs)}ms`,
    flags,
    details === VIA_UPSTREAM ? '' : shown(details),
  ];
  return `${parts.filter((part) => part !== '').join(' ')}\n`;
}

/** Returns a text on one line, without control characters. */
const shown = (bytes: string): string => printable(fromByteString(bytes)).replaceAll('\n', '\\n');

/** By the first digit of the status. */
const STATUS_COLORS: Readonly<Record<number, 'green' | 'cyan' | 'yellow'>> = {
  1: 'cyan',
  2: 'green',
  3: 'cyan',
  4: 'yellow',
};

/** Returns milliseconds with one decimal, if it is not 0. Whole numbers are converted to text faster. */
function tenths(milliseconds: number): string {
  const all = Math.round(milliseconds * 10);
  const rest = all % 10;
  return rest === 0 ? `${all / 10}` : `${(all - rest) / 10}.${rest}`;
}

/** Anything but printable ASCII without quotation marks and backslashes. */
const SPECIAL = /[^ !#-[\]-~]/;

/** Escapes the text of a byte string for a string in JSON. */
function escaped(bytes: string): string {
  return SPECIAL.test(bytes) ? JSON.stringify(fromByteString(bytes)).slice(1, -1) : bytes;
}

let lastTime = -1;
let lastTimePart = '';

/** Under load, many requests begin in the same millisecond. */
function timePart(milliseconds: number): string {
  if (milliseconds !== lastTime) {
    lastTime = milliseconds;
    lastTimePart = `{"time":"${new Date(milliseconds).toISOString()}"`;
  }
  return lastTimePart;
}
