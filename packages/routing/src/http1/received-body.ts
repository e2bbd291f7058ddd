import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { bodyFilterOf } from '@edge-gateway/core';

const RECEIVED = Symbol('edge-gateway.received-body');
/** Stands for a body that was taken. */
export const TAKEN = Symbol('edge-gateway.taken-body');
type Carrier = IncomingMessage & { [RECEIVED]?: Buffer | typeof TAKEN | undefined };

/** Methods that middleware replaces to see the body when it is read. */
const OBSERVING = ['_read', 'on', 'addListener', 'emit', 'read'];

/** The method of streams filters the names, and takes long. */
const { eventNames } = EventEmitter.prototype;

/** Sets the whole body of a request that is not yet in its stream. */
export function setReceivedBody(req: IncomingMessage, body: Buffer): void {
  (req as Carrier)[RECEIVED] = body;
}

/** Takes the complete body of a request, if it is not yet in the stream and has no reader. The stream does not receive it. */
export function takeReceivedBody(req: IncomingMessage): Buffer | undefined {
  const body = (req as Carrier)[RECEIVED];
  if (!Buffer.isBuffer(body) || eventNames.call(req).length > 0 || Object.hasOwn(req, 'push')) return undefined;
  if (OBSERVING.some((name) => Object.hasOwn(req, name)) || bodyFilterOf(req)) return undefined;
  (req as Carrier)[RECEIVED] = TAKEN;
  return body;
}

/** Returns the body for the stream, or {@link TAKEN}. */
export function removeReceivedBody(req: IncomingMessage): Buffer | typeof TAKEN | undefined {
  const body = (req as Carrier)[RECEIVED];
  if (body !== undefined) (req as Carrier)[RECEIVED] = undefined;
  return body;
}
