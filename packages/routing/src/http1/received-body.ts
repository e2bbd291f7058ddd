import type { IncomingMessage } from 'node:http';
import { bodyFilterOf } from '@edge-gateway/core';

const RECEIVED = Symbol('edge-gateway.received-body');
type Carrier = IncomingMessage & { [RECEIVED]?: Buffer | undefined };

/** Sets the whole body of a request that is not yet in its stream. */
export function setReceivedBody(req: IncomingMessage, body: Buffer): void {
  (req as Carrier)[RECEIVED] = body;
}

/** Takes the complete body of a request, if it is not yet in the stream and has no reader. The stream does not receive it. */
export function takeReceivedBody(req: IncomingMessage): Buffer | undefined {
  const body = (req as Carrier)[RECEIVED];
  if (body === undefined || req.eventNames().length > 0 || Object.hasOwn(req, 'push')) return undefined;
  if (Object.hasOwn(req, '_read') || bodyFilterOf(req)) return undefined;
  (req as Carrier)[RECEIVED] = undefined;
  return body;
}

/** Returns the body for the stream, unless it was taken. */
export function removeReceivedBody(req: IncomingMessage): Buffer | undefined {
  const body = (req as Carrier)[RECEIVED];
  if (body !== undefined) (req as Carrier)[RECEIVED] = undefined;
  return body;
}
