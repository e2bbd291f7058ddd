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
} from './field.ts';
import { StringMatcher } from './matcher.ts';

const percent = { minimum: 0, maximum: 100, default: 0 };

const faults = block({
  abort: of(
    block({
      percentage: float('Share of requests in percent, 0 to 100.', percent),
      httpStatus: int('Status to answer with.', { minimum: 200, maximum: 599 }),
    }),
    'Answers without asking the upstream.',
  ),
  delay: of(
    block({
      percentage: float('Share of requests in percent, 0 to 100.', percent),
      fixedDelay: duration('How long to wait; at least 1s.'),
    }),
    'Holds requests back.',
  ),
});
/** Faults made on purpose. */
export interface Faults extends Static<typeof faults> {}
export const Faults = named<Faults>('Faults', faults);

const shadowing = block({
  upstream: ref('Upstream that gets the copy; needed.'),
  percentage: float('Share of requests in percent, 0 to 100.', percent),
  disableShadowHostSuffixAppend: bool('Leaves `-shadow` off the host of the copy.', { default: false }),
  hostRewriteLiteral: text('Host of the copy.'),
});
/** Sends a copy of requests to another upstream and drops the answer. */
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
            ttl: duration('Makes the cookie with this lifetime when it is missing.'),
            path: text('Path of a cookie that is made.'),
          }),
          'Cookie to hash.',
        ),
        sourceIp: bool('Hashes the address of the client.', { default: false }),
        terminal: bool('Stops here when there is a hash.', { default: false }),
      },
      { oneOf: [{ members: ['header', 'cookie', 'sourceIp'] }] },
    ),
    'What the hash is made of, in order.',
  ),
});
/** What ring hash and maglev choose the endpoint by. */
export interface LbHash extends Static<typeof lbHash> {}
export const LbHash = named<LbHash>('LbHash', lbHash);

const enabled = block({ enabled: bool('Whether the upgrade is allowed.', { default: true }) });
const upgrade = block(
  {
    websocket: of(enabled, 'Upgrades to WebSocket.'),
    connect: of(enabled, 'CONNECT requests are handed on.', notYet),
    connectTerminate: empty('CONNECT requests end here and their payload is handed on as TCP.', notYet),
  },
  { oneOf: [{ members: ['websocket', 'connect', 'connectTerminate'] }] },
);
/** A protocol upgrade; each kind may be named once. */
export interface Upgrade extends Static<typeof upgrade> {}
export const Upgrade = named<Upgrade>('Upgrade', upgrade);

const share = { minimum: 0, maximum: 100, default: 100 };
const percentages = block({
  clientSamplePercentage: float('Share of requests traced when the client asks for it, in percent.', share),
  randomSamplePercentage: float('Share traced by chance, in percent.', share),
  overallSamplePercentage: float('Upper bound of all together, in percent.', share),
});
/** Shares of requests that are traced. */
export interface TracePercentages extends Static<typeof percentages> {}
export const TracePercentages = named<TracePercentages>('TracePercentages', percentages);

const routeTracing = block({
  routeDescriptor: text('Name of the span.'),
  tracePercentages: of(TracePercentages, 'Shares of requests that are traced.'),
  propagate: bool('Sends the trace context to the upstream.', { default: true }),
});
/** Tracing of one route. */
export interface RouteTracing extends Static<typeof routeTracing> {}
export const RouteTracing = named<RouteTracing>('RouteTracing', routeTracing);

const buffer = block({
  maxRequestBytes: int('Largest request body in bytes; above it 413.', { minimum: 1, maximum: 4294967295 }),
});
/** Holds a request back until its body is complete. */
export interface Buffer extends Static<typeof buffer> {}
export const Buffer = named<Buffer>('Buffer', buffer);

const bufferPerRoute = block(
  {
    disabled: bool('Switches buffering off.', { default: false }),
    buffer: of(Buffer, 'Other limits than the listener has.'),
  },
  { oneOf: [{ members: ['disabled', 'buffer'] }] },
);
/** Buffering of one place; without `buffer` on the listener it does nothing. */
export interface BufferPerRoute extends Static<typeof bufferPerRoute> {}
export const BufferPerRoute = named<BufferPerRoute>('BufferPerRoute', bufferPerRoute);

const fraction = block({
  defaultValue: of(
    block({
      numerator: int('Upper part of the fraction.', { minimum: 0, default: 0 }),
      denominator: enumeration(['HUNDRED', 'TEN_THOUSAND', 'MILLION'], 'Lower part of the fraction.', {
        default: 'HUNDRED',
      }),
    }),
    'Share of requests.',
  ),
  runtimeKey: text('Runtime key that may replace the share.'),
});
const csrf = block({
  filterEnabled: of(fraction, 'Share of requests that are checked. Default: none.'),
  shadowEnabled: of(fraction, 'Share of requests that are only counted. Default: none.'),
  additionalOrigins: list(StringMatcher, 'Origins that may call beside the own host.'),
});
/** Refuses changing requests from foreign origins with 403. */
export interface Csrf extends Static<typeof csrf> {}
export const Csrf = named<Csrf>('Csrf', csrf);
