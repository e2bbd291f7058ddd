import type { Descriptor } from '../descriptor/descriptor.ts';
import { rateLimitError } from '../error-codes.ts';
import type { Domain } from '../limiter.ts';
import type { WireRequest } from '../protocol/messages.ts';
import { fromWireDescriptor } from '../protocol/wire-descriptor.ts';

/** Most descriptors of a request, and most entries of all of them. */
const MAX_DESCRIPTORS = 1000;
const MAX_ENTRIES = 10_000;

/** What to count a request under. */
export interface CheckedRequest {
  /** `undefined` if no rules have this domain. */
  readonly domain: Domain | undefined;
  readonly descriptors: readonly Descriptor[];
}

const DOMAINS: ReadonlySet<string> = new Set<Domain>(['custom', 'basic', 'vendor.io']);

/** Returns the descriptors of a request that arrived. Throws `ERR_RATE_LIMIT_REQUEST` if it is invalid or too large. */
export function checkedRequestOf(
  { domain = '', descriptors = [], hitsAddend = 0 }: WireRequest,
  ipv6Bits: number,
): CheckedRequest {
  if (domain === '') throw invalid('domain must not be empty');
  if (descriptors.length === 0) throw invalid('descriptors must not be empty');
  if (descriptors.length > MAX_DESCRIPTORS) throw invalid(`more than ${MAX_DESCRIPTORS} descriptors`);
  let entries = 0;
  for (const descriptor of descriptors) entries += descriptor.entries?.length ?? 0;
  if (entries > MAX_ENTRIES) throw invalid(`more than ${MAX_ENTRIES} entries`);
  const known = DOMAINS.has(domain) ? (domain as Domain) : undefined;
  const wire = { domain: known ?? 'custom', cost: hitsAddend || 1, ipv6Bits };
  return { domain: known, descriptors: descriptors.map((each) => fromWireDescriptor(each, wire)) };
}

function invalid(message: string) {
  return rateLimitError('ERR_RATE_LIMIT_REQUEST', message);
}
