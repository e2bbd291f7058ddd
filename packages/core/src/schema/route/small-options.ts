import {
  block,
  bool,
  duration,
  empty,
  enumeration,
  float,
  int,
  list,
  named,
  notYet,
  of,
  ref,
  text,
  type Static,
} from '../field.ts';
import { StringMatcher } from './matcher.ts';

const percent = { minimum: 0, maximum: 100, default: 0 };

const faults = block({
  abort: of(
    block({
      percentage: float('Share of requests in percent, 0 to 100.', percent),
      httpStatus: int('Response status.', { minimum: 200, maximum: 599 }),
    }),
    'Returns a response without calling the upstream.',
  ),
  delay: of(
    block({
      percentage: float('Share of requests in percent, 0 to 100.', percent),
      fixedDelay: duration('Delay; at least 1s.'),
    }),
    'Delays requests.',
  ),
});
/** Fault injection. */
export interface Faults extends Static<typeof faults> {}
export const Faults = named<Faults>('Faults', faults);

const shadowing = block({
  upstream: ref('Upstream that receives the copy; required.'),
  percentage: float('Share of requests in percent, 0 to 100.', percent),
  disableShadowHostSuffixAppend: bool('Omits `-shadow` from the host of the copy.', { default: false }),
  hostRewriteLiteral: text('Host of the copy.'),
});
/** Sends a copy of requests to another upstream and drops the response. */
export interface Shadowing extends Static<typeof shadowing> {}
export const Shadowing = named<Shadowing>('Shadowing', shadowing);

const lbHash = block({
  hashPolicies: list(
    block(
      {
        header: text('Header to hash.'),
        cookie: of(
          block({
            name: text('Cookie name.'),
            ttl: duration('Creates the cookie with this lifetime if it is missing.'),
            path: text('Path of a created cookie.'),
          }),
          'Cookie to hash.',
        ),
        sourceIp: bool('Hashes the address of the client.', { default: false }),
        terminal: bool('Stops here if there is a hash.', { default: false }),
      },
      { oneOf: [{ members: ['header', 'cookie', 'sourceIp'] }] },
    ),
    'Inputs of the hash, in order.',
  ),
});
/** Hash policies for ring hash and Maglev. */
export interface LbHash extends Static<typeof lbHash> {}
export const LbHash = named<LbHash>('LbHash', lbHash);

const enabled = block({ enabled: bool('Whether the upgrade is allowed.', { default: true }) });
const upgrade = block(
  {
    websocket: of(enabled, 'Upgrades to WebSocket.'),
    connect: of(enabled, 'Forwards CONNECT requests.', notYet),
    connectTerminate: empty('Terminates CONNECT requests and forwards their payload as TCP.', notYet),
  },
  { oneOf: [{ members: ['websocket', 'connect', 'connectTerminate'] }] },
);
/** A protocol upgrade; each kind at most once. */
export interface Upgrade extends Static<typeof upgrade> {}
export const Upgrade = named<Upgrade>('Upgrade', upgrade);

const share = { minimum: 0, maximum: 100, default: 100 };
const percentages = block({
  clientSamplePercentage: float('Share of requests traced if the client requests it, in percent.', share),
  randomSamplePercentage: float('Share of requests traced at random, in percent.', share),
  overallSamplePercentage: float('Upper bound of all traced requests, in percent.', share),
});
/** Shares of requests to trace. */
export interface TracePercentages extends Static<typeof percentages> {}
export const TracePercentages = named<TracePercentages>('TracePercentages', percentages);

const routeTracing = block({
  routeDescriptor: text('Name of the span.'),
  tracePercentages: of(TracePercentages, 'Shares of requests to trace.'),
  propagate: bool('Sends the trace context to the upstream.', { default: true }),
});
/** Tracing of one route. */
export interface RouteTracing extends Static<typeof routeTracing> {}
export const RouteTracing = named<RouteTracing>('RouteTracing', routeTracing);

const buffer = block({
  maxRequestBytes: int('Maximum request body size in bytes; above it 413.', { minimum: 1, maximum: 4294967295 }),
});
/** Buffers a request until its body is complete. */
export interface Buffer extends Static<typeof buffer> {}
export const Buffer = named<Buffer>('Buffer', buffer);

const bufferPerRoute = block(
  {
    disabled: bool('Disables buffering.', { default: false }),
    buffer: of(Buffer, 'Limits that override those of the listener.'),
  },
  { oneOf: [{ members: ['disabled', 'buffer'] }] },
);
/** Buffering at one level; without `buffer` on the listener it has no effect. */
export interface BufferPerRoute extends Static<typeof bufferPerRoute> {}
export const BufferPerRoute = named<BufferPerRoute>('BufferPerRoute', bufferPerRoute);

const fraction = block({
  defaultValue: of(
    block({
      numerator: int('Numerator of the fraction.', { minimum: 0, default: 0 }),
      denominator: enumeration(['HUNDRED', 'TEN_THOUSAND', 'MILLION'], 'Lower part of the fraction.', {
        default: 'HUNDRED',
      }),
    }),
    'Share of requests.',
  ),
  runtimeKey: text('Runtime key that may override the share.'),
});
const csrf = block({
  filterEnabled: of(fraction, 'Share of requests to check. Default: none.'),
  shadowEnabled: of(fraction, 'Share of requests to count only. Default: none.'),
  additionalOrigins: list(StringMatcher, 'Allowed origins besides the host itself.'),
});
/** Rejects mutating requests from other origins with 403. */
export interface Csrf extends Static<typeof csrf> {}
export const Csrf = named<Csrf>('Csrf', csrf);
