import { isSecretName, readNetwork } from '@edge-gateway/core';
import { GENERIC_KEY, SET_MARKER, type Descriptor, type Entry } from '../descriptor/descriptor.ts';
import { rateLimitError } from '../error-codes.ts';
import type { Domain } from '../limiter.ts';
import { UNIT_MS, type Limit } from '../rules/limit.ts';
import type { WireDescriptor } from './messages.ts';
import { UNIT_NUMBERS, unitOfNumber } from './units.ts';

/** Returns a descriptor as rate limit servers receive it: in sets a marker is first, after the entry that names a resource. */
export function toWireDescriptor({ entries, isSet, limit, cost = 1 }: Descriptor, domain: Domain): WireDescriptor {
  const texts = entries.map(({ key, value }) => ({ key, value }));
  if (isSet) texts.splice(domain === 'vendor.io' ? 1 : 0, 0, MARKER);
  return {
    entries: texts,
    ...(limit && { limit: { requestsPerUnit: limit.requests, unit: UNIT_NUMBERS[limit.unit] } }),
    ...(cost !== 1 && { hitsAddend: { value: cost } }),
  };
}

const MARKER = { key: GENERIC_KEY, value: SET_MARKER };

/** Returns a descriptor that arrived. Throws `ERR_RATE_LIMIT_REQUEST` for limits with unknown units, and for refunds. */
export function fromWireDescriptor(
  { entries = [], limit, hitsAddend, isNegativeHits }: WireDescriptor,
  { domain, cost, ipv6Bits }: { readonly domain: Domain; readonly cost: number; readonly ipv6Bits: number },
): Descriptor {
  if (isNegativeHits) throw rateLimitError('ERR_RATE_LIMIT_REQUEST', 'is_negative_hits: refunds are not supported');
  const marker = domain === 'vendor.io' ? 1 : 0;
  const isSet = entries[marker]?.key === GENERIC_KEY && entries[marker].value === SET_MARKER;
  const kept = isSet ? entries.filter((_, i) => i !== marker) : entries;
  return {
    entries: kept.map(({ key = '', value = '' }) => new WireEntry(key, valueOf(key, value, ipv6Bits))),
    isSet,
    limit: limit ? limitOf(limit) : undefined,
    cost: hitsAddend ? Math.min(hitsAddend.value ?? 0, Number.MAX_SAFE_INTEGER) : cost,
  };
}

/** Returns the network of a client address; any other value as it is. */
function valueOf(key: string, value: string, ipv6Bits: number): string {
  return key === 'remote_address' ? (readNetwork(value, ipv6Bits) ?? value) : value;
}

/** Only the key shows whether a value is a secret; it is read for values that are part of a counter. */
class WireEntry implements Entry {
  readonly key: string;
  readonly value: string;

  constructor(key: string, value: string) {
    this.key = key;
    this.value = value;
  }

  get isSecret(): boolean {
    return isSecretName(this.key);
  }
}

function limitOf({ requestsPerUnit: requests = 0, unit: number = 0 }: NonNullable<WireDescriptor['limit']>): Limit {
  const unit = unitOfNumber(number);
  if (!unit) throw rateLimitError('ERR_RATE_LIMIT_REQUEST', `limit.unit: invalid unit ${number}`);
  return { requests, unit, unitMs: UNIT_MS[unit], algorithm: 'FIXED_WINDOW', burst: requests };
}
