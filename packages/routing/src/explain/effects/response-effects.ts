import { createMetrics } from '@edge-gateway/core';
import { chooseEncoding } from '../../compress/accept-encoding.ts';
import { compressConcern } from '../../compress/compress.ts';
import { compressorsOf } from '../../compress/encoding.ts';
import { createActionChoice, dlpConcern } from '../../dlp/dlp.ts';
import { RequestMessage } from '../../transform/message.ts';
import type { Effect, EffectInput } from './effect.ts';

export function compressEffect({ req, blockOf }: EffectInput): Effect | undefined {
  const block = blockOf(compressConcern);
  if (!block) return undefined;
  const { option } = compressConcern;
  const accepted = [req.headers['accept-encoding'] ?? ''].flat().join(',');
  const encoding = chooseEncoding(accepted, compressorsOf(block).keys());
  if (!encoding) return { option, effect: 'the response is not compressed: accept-encoding names no encoding for it' };
  return { option, effect: `the response is compressed with ${encoding}, if its type, size and headers allow it` };
}

const PLACES = {
  RESPONSE_BODY: 'the response body',
  ACCESS_LOGS: 'the access log',
  ALL: 'the response and the access log',
} as const;

export function maskEffect({ req, blockOf }: EffectInput): Effect | undefined {
  const block = blockOf(dlpConcern);
  const actions = block && createActionChoice(block, createMetrics())(new RequestMessage(req));
  if (!actions || (actions.masks.length === 0 && !actions.masksKeys)) return undefined;
  return { option: dlpConcern.option, effect: `masks values in ${PLACES[block.enabledFor ?? 'RESPONSE_BODY']}` };
}
