import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context, Next, Scope } from './concern.ts';
import type { RetryPolicy } from '../upstream/retry-policy.ts';
import type { RouteAction } from './snapshot.ts';

/**
 * Writes the head of an answer, with the changes that the route makes to it. `headers` are flat; after it the body is written
 * to the response as it comes, and ended.
 */
export type WriteHead = (status: number, headers: readonly string[]) => void;

/** A request that an action answers. */
export interface ActionExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly writeHead: WriteHead;
  /** True if a policy of the route restricts access, so that results may differ by client. */
  readonly guarded?: boolean;
  /** How requests to upstreams are tried again, where the route or its virtual host says so. */
  readonly retries?: RetryPolicy | undefined;
}

/**
 * Ends requests in place of an upstream. It writes each head through `writeHead`, or gives an error to `next`; it never calls
 * `next` without one. `close` lets go of what it holds, when the last request is over.
 */
export interface Responder {
  (exchange: ActionExchange, next: Next): void;
  /** Gives the status of its answer where it refuses. */
  upgrade?(req: IncomingMessage, socket: Duplex, head: Buffer): number | undefined;
  /** The process ends soon: ends what has no end of its own (subscriptions), so that clients go on elsewhere. */
  drain?(): void;
  close?(): void | Promise<void>;
}

/**
 * A route action that a package brings: what `action` leads to. `compile` is pure and synchronous; where it throws, the route
 * answers 500.
 */
export interface ActionKind {
  readonly action: RouteAction['type'];
  compile(action: RouteAction, context: Context, scope: Scope): Responder;
}
