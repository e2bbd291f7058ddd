import { hasBody } from '@edge-gateway/core';
import { DEFAULT_REPLAY_BYTES } from '../../forward/retried-exchange.ts';
import type { ForwardPolicy } from '../../route/compile/route.ts';
import { matchedLength } from '../../route/match/matcher.ts';
import { limitsForCaller } from '../../route/options/caller-limits.ts';
import { rewritePath } from '../../route/options/path-rewrite.ts';
import { shareText, type Effect, type EffectInput } from './effect.ts';

function policyOf({ entry, head, settings }: EffectInput): ForwardPolicy | undefined {
  const { action } = entry.route;
  if (action.type !== 'forward') return undefined;
  return settings.isInternal ? limitsForCaller(action.policy, [...head.headers], true) : action.policy;
}

export function rewriteEffect(input: EffectInput): Effect | undefined {
  const path = policyOf(input)?.path;
  if (!path) return undefined;
  const { head, entry } = input;
  const rewritten = rewritePath(head.path, matchedLength(entry.matcher, head.pathname), path);
  if (rewritten === undefined || rewritten === head.path) return undefined;
  return {
    option: path.regex ? 'regexRewrite' : 'prefixRewrite',
    effect: `the path becomes ${rewritten.split('?', 1)[0]}`,
  };
}

export function functionEffect({ entry }: EffectInput): Effect | undefined {
  const { action } = entry.route.source;
  const calls = action.type === 'forward' ? action.destinations.flatMap(({ rest }) => rest?.functionName ?? []) : [];
  if (calls.length === 0) return undefined;
  const effect = `the template of the function ${calls.join(' or ')} renders the request`;
  return { option: 'destinationSpec', effect };
}

/** An explanation does not read descriptors, so it does not know whether a rule matches. */
export function transcoderEffect({ entry, head, listener }: EffectInput): Effect | undefined {
  const { action } = entry.route.source;
  if (head.grpc !== undefined) return undefined;
  const destinations = action.type === 'forward' ? action.destinations : [];
  const own = destinations.flatMap(({ transcoder }) => transcoder?.upstream ?? []);
  const { services = [] } = listener.httpOptions.grpcJsonTranscoder ?? {};
  if (own.length === 0 && services.length === 0) return undefined;
  const of = own.length > 0 ? `the upstream ${own.join(' or ')}` : services.join(', ');
  return { option: 'grpcJsonTranscoder', effect: `becomes a gRPC call if an HTTP rule of ${of} matches` };
}

export function retryEffect(input: EffectInput): Effect | undefined {
  const retries = policyOf(input)?.retries;
  if (!retries || retries.conditions.size === 0 || retries.numRetries === 0) return undefined;
  const { req, listener } = input;
  const option = 'retries';
  const limit = listener.options.perConnectionBufferLimitBytes ?? DEFAULT_REPLAY_BYTES;
  const length = Number(req.headers['content-length'] ?? 0);
  if (length > limit)
    return { option, effect: `never retried: the body of ${length} bytes exceeds the limit of ${limit}` };
  const size = hasBody(req) && length === 0 ? `, unless the body exceeds ${limit} bytes` : '';
  const { numRetries } = retries;
  const times = `${numRetries} ${numRetries === 1 ? 'retry' : 'retries'}`;
  return { option, effect: `at most ${times} on ${[...retries.conditions].join(', ')}${size}` };
}

export function shadowEffect({ entry }: EffectInput): Effect | undefined {
  const { action, source } = entry.route;
  const { upstream, percentage = 0 } = source.options.shadowing ?? {};
  if (action.type !== 'forward' || !upstream?.name || percentage === 0) return undefined;
  const effect = `copies ${shareText(percentage / 100)} to upstream ${upstream.namespace}/${upstream.name}`;
  return { option: 'shadowing', effect };
}
