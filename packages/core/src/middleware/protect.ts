import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Handler } from '../contract/concern.ts';
import { factsOf } from '../contract/facts.ts';
import { coreError } from '../error-codes.ts';
import type { Logger } from '../observe/logger.ts';
import { respondToError } from './respond-to-error.ts';
import { runAll, type Middleware } from './run-middleware.ts';
import { createUpgradeResponse, releaseSocket } from './upgrade-response.ts';

export type { Middleware } from './run-middleware.ts';

/** A chain of handlers for requests and upgrades. `upgrade` needs no `this`: `server.on('upgrade', chain.upgrade)`. */
export interface ProtectedHandler extends Handler {
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  drain(): void;
  close(): Promise<void>;
}

/**
 * Creates one chain of handlers for requests and for upgrades (WebSockets). A request passes through them in order, as with
 * `app.use(...handlers)`. An upgrade passes through all but the last in the same way, and then goes to `upgrade` of the last one: the response of a
 * rejecting handler is written to the socket, which is then closed. If the last handler has no `upgrade`, the response is 403
 * `ERR_CORE_UPGRADE`. `drain` and `close` call those of every handler.
 *
 * Throws `ERR_CORE_MIDDLEWARE` without handlers, or if one is not a function. Errors that handlers pass to `next` go to the
 * `next` of the chain; for an upgrade the chain responds itself, because there is no error handler.
 *
 * @example
 * const guarded = protect(jwt({ providers }), rbac({ policies }), graphqlApi({ schemaDefinition, remote, upstreams }));
 * app.use('/graphql', guarded);
 * acceptUpgrades(app.listen(8080), { '/graphql': guarded });
 */
export function protect(...handlers: readonly (Handler | Middleware)[]): ProtectedHandler {
  check(handlers);
  const all = handlers as readonly Handler[];
  const guards = all.slice(0, -1);
  const last = all.at(-1)!;
  const chain: Handler = function protectedHandler(req, res, next) {
    runAll(all, { req, res }, next);
  };
  return Object.assign(chain, {
    upgrade(req: IncomingMessage, duplex: Duplex, head: Buffer): void {
      const socket = duplex as Socket;
      const res = createUpgradeResponse(req, socket);
      if (!res) return;
      if (last.upgrade) factsOf(req).operationCharges ??= [];
      // A handler without `upgrade` may be a guard itself.
      const before = (last.upgrade ? guards : all).map((guard) => contained(guard, socket));
      runAll(before, { req, res }, (error) => {
        if (error !== undefined) return respondToError(error, req, res);
        if (res.headersSent || socket.destroyed) return undefined;
        if (!last.upgrade) return respondToError(coreError('ERR_CORE_UPGRADE'), req, res);
        releaseSocket(res, socket);
        acceptedUpgrades.add(req);
        return handleUpgrade(last, req, socket, head);
      });
    },
    drain(): void {
      for (const handler of all) handler.drain?.();
    },
    async close(): Promise<void> {
      await Promise.all(all.map((handler) => handler.close?.()));
    },
  });
}

/** What a handler throws after it called `next` ends this connection, and not the process. */
function contained(handler: Handler, socket: Socket): Middleware {
  return (req, res, next) => {
    let called = false;
    try {
      return handler(req, res, (error) => {
        called = true;
        next(error);
      });
    } catch (error) {
      if (!called) throw error;
      socket.destroy();
      return undefined;
    }
  };
}

/** Errors are handled here, because an uncaught one would end the process. */
function handleUpgrade(handler: Handler, req: IncomingMessage, socket: Socket, head: Buffer): void {
  const before = socket.bytesWritten;
  try {
    handler.upgrade!(req, socket, head);
  } catch (error) {
    if (socket.writable && socket.bytesWritten === before) refuseUpgrade(error, req, socket);
    else socket.destroy();
  }
}

function refuseUpgrade(error: unknown, req: IncomingMessage, socket: Socket): void {
  const res = createUpgradeResponse(req, socket);
  if (res) respondToError(error, req, res);
}

function check(handlers: readonly unknown[]): void {
  if (handlers.length === 0) throw coreError('ERR_CORE_MIDDLEWARE', 'protect: at least one handler is needed');
  for (const [i, handler] of handlers.entries()) {
    if (typeof handler === 'function') continue;
    throw coreError('ERR_CORE_MIDDLEWARE', `protect: handler ${i + 1} is not a function`);
  }
}

/** Upgrades that a chain has accepted. */
const acceptedUpgrades = new WeakSet<IncomingMessage>();

/**
 * Returns an `upgrade` that accepts only upgrades that a chain of `protect` has accepted, and rejects all others with
 * `ERR_CORE_UPGRADE` 403. An application's handlers do not run for upgrades: without this, `server.on('upgrade', api.upgrade)` would
 * accept every client.
 */
export function onlyProtected(upgrade: ProtectedHandler['upgrade'], log: Logger): ProtectedHandler['upgrade'] {
  return (req, socket, head) => {
    if (acceptedUpgrades.has(req)) return upgrade(req, socket, head);
    log.error(
      {},
      'upgrade rejected: the handlers of the application did not run for it; use protect(...handlers).upgrade',
    );
    refuseUpgrade(coreError('ERR_CORE_UPGRADE'), req, socket as Socket);
  };
}
