import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import {
  createLocalBucket,
  factsOf,
  type Concern,
  type Context,
  type GatewayError,
  type Handler,
  type LocalBucket,
  type Scope,
  type SnapshotSettings,
  type StatName,
} from '@edge-gateway/core';
import type { TokenBucket } from '@edge-gateway/core/schema';
import { rateLimitError } from '../error-codes.ts';
import { showLimit, type ShownLimit } from '../concern/shown-limit.ts';
import { LocalLevel, pickLocal } from './pick-local.ts';

/** Body of a rejection. */
export const LOCAL_RATE_LIMITED = 'local_rate_limited';

/** The local limit of a listener. */
type ListenerLimit = NonNullable<SnapshotSettings['httpLocalRatelimit']>;

/**
 * Limits requests by buckets in this process: that of the route, of its virtual host, or of the listener. The settings of the listener for
 * connections and headers apply to all of them.
 */
export const localRateLimitConcern: Concern<LocalLevel | ListenerLimit> = {
  name: 'localRateLimit',
  option: 'httpLocalRatelimit',
  stage: 'localRateLimit',
  pick: pickLocal,
  compile(block, context, scope) {
    const shared = scope?.settings.httpLocalRatelimit;
    if (!(block instanceof LocalLevel)) return compileListenerLimit(block, context, scope?.settings);
    return compileLocal({ limit: block.bucket, name: nameOf(block, scope), shared }, context);
  },
  compileUnrouted: (block, context, settings) => compileListenerLimit(block as ListenerLimit, context, settings),
};

/** The bucket of a listener is the same for all of its routes, and for requests without one. */
function compileListenerLimit(
  { defaultLimit: limit }: ListenerLimit,
  context: Context,
  settings: SnapshotSettings | undefined,
): Handler | undefined {
  if (!limit) return undefined;
  return compileLocal({ limit, name: settings?.listener ?? '', shared: settings?.httpLocalRatelimit }, context);
}

/** A bucket, what it belongs to, and the settings of its listener. */
interface NamedLimit {
  readonly limit: TokenBucket;
  readonly name: string;
  readonly shared: ListenerLimit | undefined;
}

function compileLocal({ limit, name, shared }: NamedLimit, context: Context): Handler {
  const {
    localRateLimitPerDownstreamConnection: isPerConnection = false,
    enableXRatelimitHeaders: hasHeaders = false,
  } = shared ?? {};
  const key = `localRateLimit|${name}|${isPerConnection}|${JSON.stringify(limit)}`;
  const bucketOf = context.state(key, () =>
    isPerConnection ? bucketsOf(limit) : sharedBucket(limit, context.processes),
  );
  const counter = (each: string) => context.metrics.counter(stat(each));
  const [enabled, enforced, ok, limited] = ['enabled', 'enforced', 'ok', 'rate_limited'].map(counter);

  /** Counts a request, or an operation of the WebSocket that it opened. Returns the error of a rejected one. */
  function charge(req: IncomingMessage): GatewayError | undefined {
    const bucket = bucketOf(req.socket);
    const isAllowed = bucket.take(context.now());
    enabled!.value++;
    if (hasHeaders) showLimit(factsOf(req), shown(bucket, isAllowed));
    if (isAllowed) {
      ok!.value++;
      return undefined;
    }
    limited!.value++;
    enforced!.value++;
    return rateLimitError('ERR_RATE_LIMIT_EXCEEDED', undefined, {
      headers: { 'content-type': 'text/plain', 'retry-after': String(Math.max(1, bucket.resetSeconds)) },
      reply: { body: LOCAL_RATE_LIMITED, details: LOCAL_RATE_LIMITED, flags: 'RL' },
    });
  }

  return function localRateLimit(req, _res, next) {
    factsOf(req).operationCharges?.push(async () => charge(req));
    next(charge(req));
  };
}

function sharedBucket(limit: TokenBucket, processes: number | undefined): (socket: Socket) => LocalBucket {
  const bucket = createLocalBucket(limit, processes);
  return () => bucket;
}

/** One bucket for each connection. */
function bucketsOf(limit: TokenBucket): (socket: Socket) => LocalBucket {
  const buckets = new WeakMap<Socket, LocalBucket>();
  return (socket) => {
    let bucket = buckets.get(socket);
    if (!bucket) buckets.set(socket, (bucket = createLocalBucket(limit)));
    return bucket;
  };
}

function shown({ maxTokens, remaining, resetSeconds }: LocalBucket, isAllowed: boolean): ShownLimit {
  return { isOver: !isAllowed, remaining, resetMs: resetSeconds * 1000, limit: String(maxTokens), resetSeconds };
}

/** Returns what the bucket belongs to. */
function nameOf(block: LocalLevel, scope: Scope | undefined): string {
  const host = scope?.virtualHost.name ?? '';
  if (!block.route) return host;
  const routes = scope?.virtualHost.routes.filter(({ options }) => options === block.route) ?? [];
  return routes.map(({ name }) => name).join(',');
}

const PREFIX = 'http_local_rate_limiter';

function stat(name: string): StatName {
  return {
    path: `${PREFIX}.http_local_rate_limit.${name}`,
    metric: `envoy_http_local_rate_limit_${name}`,
    labels: { envoy_local_http_ratelimit_prefix: PREFIX },
  };
}
