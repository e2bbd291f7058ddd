import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import type { Logger } from '../observe/logger.ts';
import { coreError } from '../error-codes.ts';
import { respondToError } from './respond-to-error.ts';
import { createUpgradeResponse } from './upgrade-response.ts';

type Upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

const upgrades = new WeakSet<IncomingMessage>();

/** Records that a chain of `protect` has accepted this upgrade. */
export function markProtected(req: IncomingMessage): void {
  upgrades.add(req);
}

/**
 * Returns an `upgrade` that accepts only upgrades that a chain of `protect` has accepted, and rejects all others with
 * `ERR_CORE_UPGRADE` 403. An application's handlers do not run for upgrades: without this, `server.on('upgrade', api.upgrade)` would
 * accept every client.
 */
export function onlyProtected(upgrade: Upgrade, log: Logger): Upgrade {
  return (req, socket, head) => {
    if (upgrades.has(req)) return upgrade(req, socket, head);
    log.error(
      {},
      'upgrade rejected: the handlers of the application did not run for it; use protect(...handlers).upgrade',
    );
    respondToError(coreError('ERR_CORE_UPGRADE'), req, createUpgradeResponse(req, socket as Socket));
  };
}
