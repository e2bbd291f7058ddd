import { toStruct } from '@edge-gateway/core/grpc';
import type { Descriptor } from '../descriptor/descriptor.ts';
import { strictestOutcome, type Decision, type RuleOutcome } from '../limiter.ts';
import { MAX_UINT32, OK, OVER_LIMIT, type WireResponse, type WireStatus } from '../protocol/messages.ts';
import { UNIT_NUMBERS } from '../protocol/units.ts';

/**
 * Returns the response to a request: the status of each descriptor, which is that of its strictest rule, and then those of its further
 * rules. Rules that only count have no limit there, because proxies send it to clients; `dynamic_metadata` names those over their limit.
 */
export function checkResponseOf(decision: Decision, descriptors: readonly Descriptor[]): WireResponse {
  const { isAllowed, outcomes } = decision;
  const overallCode = isAllowed ? OK : OVER_LIMIT;
  const dynamicMetadata = metadataOf(outcomes);
  const enforced = outcomes.filter(({ isShadow }) => !isShadow);
  const statuses =
    enforced.length === 1 && descriptors.length === 1 ? [statusOf(enforced[0]!)] : statusesOf(enforced, descriptors);
  return { overallCode, statuses, ...(dynamicMetadata && { dynamicMetadata }) };
}

const UNLIMITED: WireStatus = { code: OK };

function statusesOf(outcomes: readonly RuleOutcome[], descriptors: readonly Descriptor[]): WireStatus[] {
  const byDescriptor = Map.groupBy(outcomes, ({ descriptor }) => descriptor);
  const further: WireStatus[] = [];
  const first = descriptors.map((descriptor) => {
    const own = byDescriptor.get(descriptor);
    if (!own) return UNLIMITED;
    const strictest = strictestOutcome({ isAllowed: true, outcomes: own })!;
    for (const each of own) if (each !== strictest) further.push(statusOf(each));
    return statusOf(strictest);
  });
  return [...first, ...further];
}

function statusOf({ rule, limit, isOver, remaining, resetMs }: RuleOutcome): WireStatus {
  return {
    code: isOver ? OVER_LIMIT : OK,
    currentLimit: { requestsPerUnit: limit.requests, unit: UNIT_NUMBERS[limit.unit], name: wireName(rule) },
    limitRemaining: Math.min(remaining, MAX_UINT32),
    // Proxies send clients whole seconds, after which requests are allowed again.
    durationUntilReset: { seconds: Math.ceil(resetMs / 1000) },
  };
}

/** Rules over their limit, under the names that access logs of a gateway use. */
function metadataOf(outcomes: readonly RuleOutcome[]) {
  const names = (isShadow: boolean): string | undefined =>
    outcomes
      .filter((outcome) => outcome.isOver && outcome.isShadow === isShadow)
      .map(({ rule }) => wireName(rule))
      .join(',') || undefined;
  if (!outcomes.some(({ isOver }) => isOver)) return undefined;
  return toStruct({ over_limit: names(false), shadow_over_limit: names(true) });
}

/** Proxies quote names in a header of responses, so they must not end the quotes or the header. */
function wireName(rule: string): string {
  return UNQUOTABLE.test(rule) ? rule.replaceAll(new RegExp(UNQUOTABLE, 'gu'), '_') : rule;
}

const UNQUOTABLE = /[^\x20-\x7e]|["\\,]/u;
