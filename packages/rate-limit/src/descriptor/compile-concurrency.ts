import type { RateLimitConcurrency } from '@edge-gateway/core/schema';
import { keyPart } from '../rules/counter-key.ts';
import { valuePart } from '../rules/hit.ts';
import type { Slot } from '../store/in-flight.ts';
import { compileActions, type ActionsOptions } from './compile-actions.ts';
import type { Descriptor } from './descriptor.ts';
import type { DescribedRequest } from './request.ts';

/** Returns the keys that a request is in flight under. */
export type SlotsOf = (request: DescribedRequest) => Slot[];

/**
 * Compiles the `concurrency` of an option. `scope` is the virtual host or route: different ones do not share keys. A request without an
 * entry is not limited, as in {@link compileActions}, whose errors it throws.
 *
 * @example
 * const slotsOf = compileConcurrency([{ actions: [{ remoteAddress: {} }], maxInFlight: 4 }], 'gw-system.shop');
 * const release = inFlight.acquire(slotsOf(request));
 */
export function compileConcurrency(
  limits: readonly RateLimitConcurrency[],
  scope: string,
  options: Pick<ActionsOptions, 'warn'> = {},
): SlotsOf {
  const compiled = limits.map(({ actions, setActions, maxInFlight = 0 }, i) => {
    const descriptorsOf = compileActions([{ actions, setActions }], options);
    return { descriptorsOf, maxInFlight, prefix: `${keyPart(scope)}|${i}` };
  });
  return (request) =>
    compiled.flatMap(({ descriptorsOf, maxInFlight, prefix }) =>
      descriptorsOf(request).map((descriptor) => ({ key: prefix + entriesPart(descriptor), maxInFlight })),
    );
}

function entriesPart({ entries, isSet }: Descriptor): string {
  const parts = entries.map((entry) => `|${keyPart(entry.key)}${valuePart(entry)}`);
  return isSet ? `|set${parts.toSorted().join('')}` : parts.join('');
}
