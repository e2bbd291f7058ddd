import { createMetrics, hasBody, shareOf, type GatewayError } from '@edge-gateway/core';
import { bufferConcern, maxBytesOf, TOO_LARGE } from '../../route/options/buffer.ts';
import { corsConcern } from '../../route/options/cors.ts';
import { createOriginCheck, CSRF_REJECTED, csrfConcern } from '../../route/options/csrf.ts';
import { abortOf, faultConcern } from '../../route/options/faults.ts';
import { replyOf, shareText, type Effect, type EffectInput } from './effect.ts';

export function faultEffect({ blockOf }: EffectInput): Effect | undefined {
  const { abort, delay } = blockOf(faultConcern) ?? {};
  const { option } = faultConcern;
  const [aborts, delays] = [(abort?.percentage ?? 0) / 100, (delay?.percentage ?? 0) / 100];
  const parts = [
    ...(delay && delays > 0 ? [`delays ${shareText(delays)}, by ${delay.fixedDelay}`] : []),
    ...(abort && aborts > 0 ? [`aborts ${shareText(aborts)}, with ${abort.httpStatus}`] : []),
  ];
  if (parts.length === 0) return undefined;
  const effect = parts.join('; ');
  return {
    option,
    effect,
    ...(abort && aborts >= 1 && { reply: replyOf(abortOf(abort), 'every request is aborted') }),
  };
}

/** Runs the concern itself: it neither waits nor depends on chance. */
export function corsEffect({ req, facts, blockOf, context }: EffectInput): Effect | undefined {
  const block = blockOf(corsConcern);
  const handler = block && corsConcern.compile(block, { ...context, metrics: createMetrics() });
  const origin = facts.header('origin');
  if (!handler || !origin) return undefined;
  const { option } = corsConcern;
  const before = facts.responseChanges.length;
  let ended: GatewayError | undefined;
  // It writes no response.
  handler(req, undefined as never, (error) => (ended = error as GatewayError | undefined));
  const added = facts.responseChanges.slice(before);
  if (!added.some(({ name }) => name === 'access-control-allow-origin'))
    return { option, effect: `the origin ${origin} is not allowed: browsers withhold the response from its pages` };
  if (!ended) return { option, effect: `the origin ${origin} is allowed` };
  const effect = `the gateway responds to the preflight of the allowed origin ${origin}`;
  return { option, effect, reply: replyOf(ended, effect) };
}

export function csrfEffect({ facts, blockOf }: EffectInput): Effect | undefined {
  const block = blockOf(csrfConcern);
  const enforced = shareOf(block?.filterEnabled?.defaultValue);
  if (!block || (enforced === 0 && shareOf(block.shadowEnabled?.defaultValue) === 0)) return undefined;
  const verdict = createOriginCheck(block)(facts);
  const { option } = csrfConcern;
  if (verdict === 'unchecked') return undefined;
  if (verdict === 'valid') return { option, effect: 'the origin is allowed' };
  const why = verdict === 'missing' ? 'the origin is missing' : 'the origin is not allowed';
  if (enforced === 0) return { option, effect: `${why}: this is counted, not rejected` };
  if (enforced < 1) return { option, effect: `${why}: this rejects ${shareText(enforced)}` };
  return { option, effect: why, reply: replyOf(CSRF_REJECTED, why) };
}

export function bufferEffect({ req, blockOf }: EffectInput): Effect | undefined {
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
