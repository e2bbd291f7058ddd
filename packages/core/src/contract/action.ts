import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context, Next, Scope } from './concern.ts';
import type { RetryPolicy } from '../upstream/retry-policy.ts';
import type { RouteAction } from './snapshot.ts';

/**
 * Writes the head of a response, with the header changes of the route. `headers` are flat; then the body is written
 * to the response as it arrives, and ended.
 */
export type WriteHead = (status: number, headers: readonly string[]) => void;

/** A request that an action responds to. */
export interface ActionExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly writeHead: WriteHead;
  /** True if a policy of the route restricts access, so that results may differ by client. */
  readonly guarded?: boolean;
  /** Retry policy of the route or its virtual host for requests to upstreams. */
  readonly retries?: RetryPolicy | undefined;
}

/**
 * Responds to requests instead of an upstream. It writes each head with `writeHead`, or passes an error to `next`; it never calls
 * `next` without one. `close` releases its resources after the last request.
 */
export interface Responder {
  (exchange: ActionExchange, next: Next): void;
  /** Returns the status of its response if it rejects the upgrade. */
  upgrade?(req: IncomingMessage, socket: Duplex, head: Buffer): number | undefined;
  /** Ends what has no end of its own (subscriptions) because the process stops soon, so that clients reconnect elsewhere. */
  drain?(): void;
  close?(): void | Promise<void>;
}

/**
 * A route action that a package implements, for the type `action`. `compile` is pure and synchronous; if it throws, the route
 * returns 500.
 */
export interface ActionKind {
  readonly action: RouteAction['type'];
  compile(action: RouteAction, context: Context, scope: Scope): Responder;
}
