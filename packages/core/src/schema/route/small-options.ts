import * as f from '../field.ts';
import { StringMatcher } from './matcher.ts';

const percent = { minimum: 0, maximum: 100, default: 0 };

const faults = f.block({
  abort: f.group('Returns a response without calling the upstream.', {
    percentage: f.float('Share of requests in percent, 0 to 100.', percent),
    httpStatus: f.int('Response status, 200 to 599; required.', { minimum: 200, maximum: 599 }),
  }),
  delay: f.group('Delays requests; a delayed one may also be aborted.', {
    percentage: f.float('Share of requests in percent, 0 to 100.', percent),
    fixedDelay: f.duration('Delay, at least 1s and at most 24 days; required.'),
  }),
});
/** Fault injection. */
export interface Faults extends f.Static<typeof faults> {}
export const Faults = f.named<Faults>('Faults', faults);

const shadowing = f.block({
  upstream: f.ref('Upstream that receives the copy; required. Default namespace: that of the resource.'),
  percentage: f.float('Share of requests in percent, 0 to 100.', percent),
  disableShadowHostSuffixAppend: f.flag('Omits `-shadow` from the host of the copy.'),
  hostRewriteLiteral: f.text('Host of the copy, without `-shadow`. Unset: that of the request with `-shadow`.'),
});
/** Sends a copy of requests to another upstream and drops the response. */
export interface Shadowing extends f.Static<typeof shadowing> {}
export const Shadowing = f.named<Shadowing>('Shadowing', shadowing);

const lbHash = f.block({
  hashPolicies: f.groups('Inputs of the hash, in order.', f.oneOf(['header', 'cookie', 'sourceIp']), {
    header: f.text('Header to hash; requests without it have no hash of this policy.'),
    cookie: f.group('Cookie to hash.', {
      name: f.text('Cookie name.'),
      ttl: f.duration('Creates the cookie with this lifetime if it is missing; 0s: until the browser is closed.'),
      path: f.text('Path of a created cookie.'),
    }),
    sourceIp: f.flag('Hashes the address of the client.'),
    terminal: f.flag('Stops here if there is a hash.'),
  }),
});
/** Hash policies for ring hash and Maglev. */
export interface LbHash extends f.Static<typeof lbHash> {}
export const LbHash = f.named<LbHash>('LbHash', lbHash);

const enabled = f.block({ enabled: f.bool('Whether the upgrade is allowed.', { default: true }) });
const upgrade = f.block(f.exclusive, {
  websocket: f.of(enabled, 'Upgrades to WebSocket.'),
  connect: f.of(enabled, 'Forwards CONNECT requests to an HTTP proxy. Requires `connectMatcher`.'),
  connectTerminate: f.of(
    enabled,
    'Terminates CONNECT requests and forwards their data as a TCP connection. Only on routes; cannot be combined with `connect`.',
  ),
});
/** A protocol upgrade; each kind at most once. */
export interface Upgrade extends f.Static<typeof upgrade> {}
export const Upgrade = f.named<Upgrade>('Upgrade', upgrade);

const share = { minimum: 0, maximum: 100, default: 100 };
const percentages = f.block({
  clientSamplePercentage: f.float('Share of requests traced if the client requests it, in percent.', share),
  randomSamplePercentage: f.float('Share of requests traced at random, in percent.', share),
  overallSamplePercentage: f.float('Upper bound of all traced requests, in percent.', share),
});
/** Shares of requests to trace. */
export interface TracePercentages extends f.Static<typeof percentages> {}
export const TracePercentages = f.named<TracePercentages>('TracePercentages', percentages);

const routeTracing = f.block({
  routeDescriptor: f.text('Name of the span.'),
  tracePercentages: f.of(TracePercentages, 'Shares of requests to trace.'),
  propagate: f.bool('Sends the trace context to the upstream.', { default: true }),
});
/** Tracing of one route. */
export interface RouteTracing extends f.Static<typeof routeTracing> {}
export const RouteTracing = f.named<RouteTracing>('RouteTracing', routeTracing);

const buffer = f.block({
  maxRequestBytes: f.int('Maximum request body size in bytes; above it 413.', { minimum: 1, maximum: 4294967295 }),
});
/** Buffers a request until its body is complete. */
export interface Buffer extends f.Static<typeof buffer> {}
export const Buffer = f.named<Buffer>('Buffer', buffer);

const bufferPerRoute = f.block(f.exclusive, {
  disabled: f.flag('Disables buffering.'),
  buffer: f.of(Buffer, 'Limits that override those of the listener.'),
});
/** Buffering at one level; without `buffer` on the listener it has no effect. */
export interface BufferPerRoute extends f.Static<typeof bufferPerRoute> {}
export const BufferPerRoute = f.named<BufferPerRoute>('BufferPerRoute', bufferPerRoute);

const fraction = f.block({
  defaultValue: f.group('Share of requests.', {
    numerator: f.count('Numerator of the fraction.', { default: 0 }),
    denominator: f.choice(['HUNDRED', 'TEN_THOUSAND', 'MILLION'], 'Lower part of the fraction.'),
  }),
  runtimeKey: f.text('Runtime key that may override the share.'),
});
const csrf = f.block({
  filterEnabled: f.of(fraction, 'Share of requests to check. Default: none.'),
  shadowEnabled: f.of(fraction, 'Share of requests to count only. Default: none.'),
  additionalOrigins: f.list(
    StringMatcher,
    'Allowed hosts, with their port if it is not the default one, besides the host itself.',
  ),
});
/** Rejects mutating requests from other origins with 403. */
export interface Csrf extends f.Static<typeof csrf> {}
export const Csrf = f.named<Csrf>('Csrf', csrf);
