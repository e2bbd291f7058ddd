import { styleText } from 'node:util';
import { printable, redactPath } from '@edge-gateway/core';
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

/** Returns the line of a gateway that configures no log: one JSON object, concatenated for speed. Empty values are omitted. */
export function defaultJsonLine(record: RequestRecord): string {
  const { head, route, result } = record;
  let line = `{"time":"${isoTime(record.startedAt)}"`;
  if (head.requestId !== '') line += `,"requestId":${quoted(head.requestId)}`;
  if (head.method !== '') line += `,"method":${quoted(head.method)}`;
  if (head.authority !== '') line += `,"host":${quoted(head.authority)}`;
  if (head.originalPath !== '') line += `,"path":${quoted(redactPath(head.originalPath))}`;
  line += `,"status":${result.status}`;
  if (result.flags !== '') line += `,"flags":${quoted(result.flags)}`;
  // For a response of an upstream the line contains the host instead.
  if (result.details !== '' && result.details !== VIA_UPSTREAM) line += `,"details":${quoted(result.details)}`;
  line += routePart(route, result.upstreamHost);
  line += `,"durationMs":${tenths(result.durationMs)}`;
  if (result.upstreamMs >= 0) line += `,"upstreamMs":${tenths(result.upstreamMs)}`;
  line += `,"bytesReceived":${result.bytesReceived},"bytesSent":${result.bytesSent}`;
  const userAgent = findHeader(head.headers, 'user-agent');
  if (userAgent !== undefined) line += `,"userAgent":${quoted(userAgent)}`;
  const forwardedFor = findHeader(head.headers, 'x-forwarded-for');
  if (forwardedFor !== undefined) line += `,"forwardedFor":${quoted(forwardedFor)}`;
  return `${line}}\n`;
}

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
  let text = '';
  if (routeName !== '') text += `,"route":${quoted(routeName)}`;
  if (virtualHost !== '') text += `,"virtualHost":${quoted(virtualHost)}`;
  if (upstream !== '') text += `,"upstream":${quoted(upstream)}`;
  if (upstreamHost !== '') text += `,"upstreamHost":${quoted(upstreamHost)}`;
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
const shown = (text: string): string => printable(text).replaceAll('\n', '\\n');

/** By the first digit of the status. */
const STATUS_COLORS: Readonly<Record<number, 'green' | 'cyan' | 'yellow'>> = {
  1: 'cyan',
  2: 'green',
  3: 'cyan',
  4: 'yellow',
};

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
