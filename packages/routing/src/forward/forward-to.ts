import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  canonicalName,
  type Context,
  createContext,
  GatewayError,
  type Handler,
  isHeaderName,
  type Next,
  onlyProtected,
  toByteString,
} from '@edge-gateway/core';
import * as f from '@edge-gateway/core/options';
import { routingError, type RoutingErrorCode } from '../error-codes.ts';
import { breaksLine } from '../http1/flat-headers.ts';
import { canonicalPath, DEFAULT_PATH_SETTINGS } from '../route/match/canonical-path.ts';
import { DEFAULT_TIMEOUT_MS } from '../upstream/cluster-settings.ts';
import { createUpstreams } from '../upstream/upstreams.ts';
import type { ForwardOutcome } from './forward.ts';
import { acceptsTrailers, isHopByHop, namedByConnection } from '../http1/hop-by-hop.ts';
import { checkOwnUpgrade } from '../check/check-head.ts';
import { compatibilityProblem } from '../check/check-version.ts';
import { parsedBody } from './parsed-body.ts';
import { parseTarget, refuse, withRoots, type Target } from './target.ts';
import { forward } from './forward-request.ts';
import { forwardUpgrade } from './upgrade/forward-upgrade.ts';

/** Default time limit of an exchange, in milliseconds. */
export const DEFAULT_FORWARD_TIMEOUT_MS = DEFAULT_TIMEOUT_MS;

/** Options of {@link forwardTo}. */
export interface ForwardToOptions {
  /** `http://host[:port][/base]`, or `https://…`, whose certificate is always verified. Credentials, a query and a fragment are not allowed. */
  readonly target: string;
  /**
   * Maximum time from the end of the request to the end of the response, in milliseconds, and before that for each pause of an upload; 0 is
   * no limit. Default 15,000.
   */
  readonly timeoutMs?: number;
  /** Request headers to set; `null` removes one. Headers that frame the message, such as `content-length`, are not allowed. Default: none. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** True forwards the client's Host header. Default false: the host of the target. */
  readonly keepHost?: boolean;
  /** True appends to received `x-forwarded-*` headers. Default false: they are replaced, because any client can send them. */
  readonly trustForwarded?: boolean;
  /** PEM file with the root certificates of an `https:` target, read once. Default: those that Node trusts. */
  readonly rootCaFile?: string;
}

const PATH_SETTINGS = { ...DEFAULT_PATH_SETTINGS, normalizePath: false, asWritten: true };

const fields = {
  target: f.text(),
  timeoutMs: f.float(undefined, { minimum: 0 }),
  headers: f.map(
    f.value<string | null>((each) => (each === null || typeof each === 'string' ? undefined : 'must be text or null')),
  ),
  keepHost: f.bool(),
  trustForwarded: f.bool(),
  rootCaFile: f.text(),
} satisfies Record<keyof ForwardToOptions, f.Schema>;
const rules: f.OptionRules = { schema: f.block(f.required('target'), fields), error: refuse };

/**
 * Returns a middleware that forwards every request to one target, for Express 4 and 5, Connect and plain `node:http`. It
 * streams; after a body parser it sends the parsed body again. The path is that of the target followed by `req.url`.
 * WebSockets require `protect`; `close` closes the connections to the target. Throws `ERR_ROUTING_FORWARD_OPTIONS` for invalid options.
 *
 * Errors go to `next(error)` with a status, before anything is written to the response: 400 for a path that is not canonical, 408 for an
 * upload that pauses for longer than `timeoutMs`, 500 `ERR_ROUTING_BODY_CONSUMED` for a body that was read and cannot be sent again, 502, 503
 * and 504 for failures of the target, and 505 for requests of a `node:http2` server.
 *
 * @example
 * const app = express();
 * app.use(express.json());
 * app.use('/api', forwardTo({ target: 'http://127.0.0.1:3000' }));
 */
export function forwardTo(written: ForwardToOptions, context: Context = createContext()): Handler {
  const options = f.checkOptions('forwardTo', written, rules);
  const target = parseTarget(options.target, options.rootCaFile);
  const timeoutMs = options.timeoutMs ?? DEFAULT_FORWARD_TIMEOUT_MS;
  const changed = new Map(
    Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value && toByteString(value)]),
  );
  for (const [name, value] of changed) checkHeader(name, value);
  const upstreams = createUpstreams(withRoots(context, target));
  upstreams.apply([target.upstream]);
  const upstream = upstreams.get(target.upstream.name)!;
  const headersOf = (req: IncomingMessage): string[] => requestHeaders(req, { options, target, changed });

  const handler: Handler = function forwardToTarget(req, res, next) {
    const problem = compatibilityProblem(req);
    if (problem) return next(problem);
    try {
      forward(req, res, upstream, {
        method: req.method ?? 'GET',
        path: pathOf(req, target),
        headers: headersOf(req),
        body: parsedBody(req),
        timeoutMs,
        onResponseHead: (_status, headers) => headers,
        onDone: (outcome) => report(outcome, next),
      });
    } catch (error) {
      next(error);
    }
  };
  const upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    rejectBadUpgrade(req);
    const { now } = context;
    forwardUpgrade(req, socket, head, { upstream, path: pathOf(req, target), headers: headersOf(req), timeoutMs, now });
  };
  handler.upgrade = onlyProtected(upgrade, context.log.get('websocket'));
  handler.close = () => upstreams.close();
  return handler;
}

function report({ failure }: ForwardOutcome, next: Next): void {
  if (failure) next(new GatewayError(failure.message, failure));
}

function rejectBadUpgrade(req: IncomingMessage): void {
  const refused = checkOwnUpgrade(req);
  if (!refused) return;
  const { code, status, message, headers: [name, value = ''] = [] } = refused;
  throw new GatewayError(message, { code, status, headers: name === undefined ? {} : { [name]: value } });
}

function pathOf(req: IncomingMessage, { basePath }: Target): string {
  const canonical = canonicalPath(req.url ?? '/', PATH_SETTINGS);
  if ('path' in canonical) return basePath + canonical.path;
  const code: RoutingErrorCode = 'refuse' in canonical ? canonical.refuse : 'ERR_ROUTING_BAD_PATH';
  throw routingError(code);
}

interface HeaderRules {
  readonly options: ForwardToOptions;
  readonly target: Target;
  readonly changed: ReadonlyMap<string, string | null>;
}

function requestHeaders(req: IncomingMessage, { options, target, changed }: HeaderRules): string[] {
  const forwarded = forwardedHeaders(req, options.trustForwarded ?? false);
  const named = namedByConnection(req.headers.connection ?? '');
  const ours = new Set([...named, ...changed.keys(), ...Object.keys(forwarded), 'host']);
  const host = (options.keepHost && req.headers.host) || target.host;
  const headers = changed.has('host') ? [] : ['host', host];
  const raw = req.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    // Some servers treat both spellings as the same name.
    if (!isHopByHop(name) && !ours.has(name.toLowerCase()) && !ours.has(canonicalName(name)))
      headers.push(raw[i]!, raw[i + 1]!);
  }
  if (acceptsTrailers(String(req.headers['te'] ?? ''))) headers.push('te', 'trailers');
  for (const [name, value] of Object.entries(forwarded)) if (!changed.has(name)) headers.push(name, value);
  for (const [name, value] of changed) if (value !== null) headers.push(name, value);
  return headers;
}

function forwardedHeaders(req: IncomingMessage, trusted: boolean): Record<string, string> {
  const before = (name: string): string | undefined =>
    trusted ? (req.headers[name] as string | undefined) : undefined;
  const address = req.socket.remoteAddress ?? '';
  const chain = before('x-forwarded-for');
  return {
    'x-forwarded-for': chain === undefined ? address : `${chain}, ${address}`,
    'x-forwarded-proto': before('x-forwarded-proto') ?? ('encrypted' in req.socket ? 'https' : 'http'),
    'x-forwarded-host': before('x-forwarded-host') ?? req.headers.host ?? '',
  };
}

function checkHeader(name: string, value: string | null): void {
  const framing = isHopByHop(name) || name === 'content-length';
  if (!isHeaderName(name) || framing || (value !== null && breaksLine(value))) {
    throw refuse(`the header ${JSON.stringify(name)} cannot be set`);
  }
}
