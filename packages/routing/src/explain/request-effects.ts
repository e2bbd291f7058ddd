import type { IncomingMessage } from 'node:http';
import { hasBody, type Concern, type Context, type Facts, type GatewayError } from '@edge-gateway/core';
import { bufferConcern, maxBytesOf, TOO_LARGE } from '../route/options/buffer.ts';
import type { ExplainedReply, OptionEffect } from './explanation.ts';

/** The request and the options that apply to it. */
export interface EffectInput {
  readonly req: IncomingMessage;
  readonly facts: Facts;
  readonly context: Context;
  /** Returns the block of a concern that applies. */
  blockOf<B>(concern: Concern<B>): B | undefined;
}

/** The effect of an option; with its response if it ends the request. */
export interface Effect extends OptionEffect {
  readonly reply?: ExplainedReply;
}

/** Returns the effect of one option on a request; `undefined` if it has none. */
export type EffectRule = (input: EffectInput) => Effect | undefined;

/** Of options that apply before access is checked. */
export const FIRST_EFFECTS: readonly EffectRule[] = [];
/** Of options that apply just before the request is forwarded. */
export const LAST_EFFECTS: readonly EffectRule[] = [bufferEffect];

function bufferEffect({ req, blockOf }: EffectInput): Effect | undefined {
  const block = blockOf(bufferConcern);
  const limit = block && maxBytesOf(block);
  if (limit === undefined || !hasBody(req)) return undefined;
  const { option } = bufferConcern;
  const length = req.headers['content-length'];
  if (length === undefined) return { option, effect: `a body of more than ${limit} bytes is rejected` };
  if (Number(length) <= limit) return { option, effect: `the body of ${length} bytes is within the limit of ${limit}` };
  const effect = `the body of ${length} bytes exceeds the limit of ${limit}`;
  return { option, effect, reply: replyOf(TOO_LARGE, effect) };
}

function replyOf({ code, status, reply, message }: GatewayError, why: string): ExplainedReply {
  return { status, body: reply?.body ?? message, reason: `${code}: ${why}` };
}
